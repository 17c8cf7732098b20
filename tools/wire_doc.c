/* wire_doc.c: writes docs/formats/wire.md from the tables of src/proto.
 *
 *     wire_doc < docs/formats/wire.head.md */
#include <stdio.h>

#include "tlvdoc.h"
#include "wire.h"

/* clang-format off */
static const struct remark remarks[] = {
    {"hello.version_min", "of frames, that the caller speaks"},
    {"hello.token", "empty: the socket vouches for the caller (peer uid, client certificate)"},
    {"hello.tenant", "to act for; empty: that of the token or certificate"},
    {"welcome.lsn", "§5"},
    {"welcome.version", "of frames, chosen by the server"},
    {"welcome.epoch", "of the server as owner of its journal"},
    {"welcome.now_ms", "wall clock of the server"},
    {"welcome.frame_bytes_max", "of the body of a frame to the server"},
    {"welcome.lease_ms", "workers: silence after which their attempts are given away"},
    {"error.code", "a word of §7"},
    {"error.message", "for people: a sentence that names what was wrong"},
    {"error.retry_after_ms", "0: sending it again does not help"},
    {"error.version", "conflict in the store: the version that is there"},
    {"busy.retry_after_ms", "the same request may be sent again after it"},
    {"accepted.repeated", "it was so already"},
    {"accepted.results", "of a request about several things: what became of each, in its order"},
    {"ping.number", "comes back with the pong"},
    {"stop.request", "id of a request that is answered by a stream; the last frame of that is still sent"},
    {"submit.flows", "each is accepted or refused on its own"},
    {"submitted.flows", "in the order of the request"},
    {"submitted_flow.flow", "its id; empty: refused, see code and message"},
    {"submitted_flow.job_count", "jobs of the flow now"},
    {"submitted_flow.repeated", "answered from its idempotency key"},
    {"flow.name", "need not be unique"},
    {"flow.key", "idempotency key, unique per tenant; the same key with the same flow gets the same answer"},
    {"flow.key_ms", "how long the key is remembered; 0: the standard time"},
    {"flow.trace", "W3C trace context"},
    {"flow.spec", "in place of `part`: a flow file in JSON"},
    {"flow.params", "of the flow file: a JSON object"},
    {"jobs.options", "each different set once; jobs refer to them by position"},
    {"jobs.more", "further parts follow by `add_jobs`: the flow does not end before the last"},
    {"job.options", "position in the list of option sets"},
    {"job.parents", "positions in the list of jobs of this message"},
    {"job.parent_names", "jobs of earlier parts by name, jobs of other flows as targets"},
    {"job.body", "a [`run`](#run) message; opaque to the engine"},
    {"job.undo_options", "of its compensation: position + 1; 0: it has none"},
    {"job.undo_body", "of its compensation: a [`run`](#run) message"},
    {"options.priority", "above (or below) normal: −1 low, 0 normal, 1 high"},
    {"options.attempts_max", "in all; 0: 4, one and three retries"},
    {"options.backoff_base_ms", "0: the standard, so in the next two"},
    {"options.backoff_jitter_ms", "1: none"},
    {"options.delay_from_submit", "the delay counts from the submit, else from readiness"},
    {"options.not_before_ms", "wall time; 0: at once"},
    {"options.deadline_ms", "wall time; 0: none"},
    {"options.start_within_ms", "0: any time"},
    {"options.dispatch_timeout_ms", "0: the standard"},
    {"options.run_timeout_ms", "0: none"},
    {"options.affinity", "prefers the worker of its parent"},
    {"options.prefer_ms", "after which preferences are dropped"},
    {"options.gates", "bits: 1 condition, 2 render, 4 policy, 8 approval, 16 external, 32 output, 64 expansion"},
    {"options.approval_ms", "how long an approval stays open; 0: the standard"},
    {"options.quorum", "voices an approval needs; 0: 1"},
    {"options.four_eyes", "the submitter may not approve"},
    {"options.policy_open", "no answer from the policy means allow"},
    {"options.fatal_exits", "exit codes after which there is no retry"},
    {"options.max_parallel", "foreach: children under way at once; 0: the standard"},
    {"options.fail_fast", "foreach: call the rest off as soon as it cannot succeed any more"},
    {"options.allow_count", "foreach: children that may end badly"},
    {"options.allow_percent", "foreach: or their share of all, rounded down"},
    {"options.restart_base_ms", "services: before the first restart, doubles with each; 0: the standard, so to the end"},
    {"options.restart_reset_ms", "services: healthy for so long, and the next restart counts as the first"},
    {"options.healthy_within_ms", "services: from the deployment; else back to the version before"},
    {"options.stop_within_ms", "services: how long a worker may take to confirm that it stopped"},
    {"job.child_options", "foreach: of its children: position + 1; 0: its own"},
    {"job.service", "kind service: the one it deploys"},
    {"job.cache_key", "a hash of all that its result depends on; empty: it always runs"},
    {"options.cache_ms", "how long its result may be used again; 0: the standard time"},
    {"demand.pool", "pool or topic, not both; neither: the default pool"},
    {"demand.keys", "concurrency keys, all taken at once"},
    {"demand.rates", "a token of each per attempt"},
    {"targets.targets", "flows or jobs; of `token_revoke`: ids of tokens"},
    {"pause.name", "a flow as target, a pool or a tenant"},
    {"verdict.question", "0: the one that `job` stands before; with quarantine and a job that has succeeded: a late word on its output"},
    {"verdict.verdict", "approve is allow, reject is deny; fail: it could not be evaluated"},
    {"verdict.revision", "of the question, as it was seen; fences the answer"},
    {"verdict.hash", "of what was seen; another one is refused"},
    {"verdict.payload", "constraints, a rendered body or a redacted result"},
    {"verdict.again_ms", "wall time, with again"},
    {"verdict.policy", "version of the rules that answered"},
    {"verdict.fatal", "with deny or quarantine: the flow's saga unwinds"},
    {"verdict.items", "with the yes to an expansion: of the blob that holds the items"},
    {"complete.output", "JSON: the result of the job"},
    {"get.details", "of a flow: its jobs; of a job: parents, spec and attempts"},
    {"got.jobs", "the job; or jobs of the flow, in several frames if need be"},
    {"list.most", "things on a page; 0: the standard"},
    {"list.cursor", "of the page before; opaque"},
    {"list.flow", "only of this one"},
    {"list.name", "begins with"},
    {"list.states", "one of these"},
    {"list.labels", "all of these"},
    {"list.text", "words in names, labels and error texts"},
    {"listed.partial", "of flows: the history is being made anew, old ones may be missing yet"},
    {"listed.cursor", "of the next page; empty: this was the last"},
    {"flow_view.states", "how many jobs are in each state that has any"},
    {"flow_view.archived", "it has left memory; this is from the history"},
    {"job_view.job", "flow/name; of a flow in `waited`: the flow"},
    {"job_view.root", "the job that dragged it down"},
    {"job_view.parents", "with details only, so the next three"},
    {"job_view.body", "a [`run`](#run) message"},
    {"question_view.hash", "of `body`, to be sent back with the verdict"},
    {"question_view.body", "what is to be decided on: a rendered [`run`](#run) message"},
    {"reason.code", "the one reason, as a word"},
    {"reason.text", "the same as a sentence"},
    {"reason.until_ms", "wall time at which it ends by itself; 0: never"},
    {"wait.any", "the first that is over suffices"},
    {"wait.timeout_ms", "0: for ever"},
    {"waited.over", "what is over now; further frames follow until all, or one, or the time is"},
    {"subscribe.after_lsn", "with `after_ordinal`: the last event that the client has; 0: from now on"},
    {"subscribe.from_start", "as far back as the archive reaches"},
    {"subscribe.state_first", "begins with the present state of the targets, as events"},
    {"events.gap", "some before these are lost to this client: they are older than the archive, or it was too slow"},
    {"event.lsn", "with `ordinal` its name for ever, and where to resume"},
    {"event.kind", "flow, job, worker, service"},
    {"event.due_ms", "of a retry: when"},
    {"logs.attempt", "0: the last"},
    {"logs.tail_bytes", "in place of the offset: this many from the end"},
    {"logs.most", "bytes; 0: all"},
    {"log_data.cut_bytes", "left out of the log because it grew too long"},
    {"log_data.over", "the attempt has ended, and this was all"},
    {"log_piece.offset", "counts the bytes of all streams of the attempt together"},
    {"log_piece.stream", "note: of the worker itself"},
    {"log_piece.time_ms", "wall clock of the worker"},
    {"blob_begin.hash", "SHA-256; empty: known only at the end, so with `bytes`"},
    {"blob_part.offset", "as in the last `blob_state`"},
    {"blob_end.hash", "another one is refused, and nothing stored"},
    {"blob_state.offset", "where the next part begins"},
    {"blob_state.stored", "it is durable; after a begin: it was there already"},
    {"blob_get.most", "bytes; 0: to the end"},
    {"blob_data.bytes", "of the whole blob"},
    {"kv_change.flow", "its namespace; empty: that of the tenant"},
    {"kv_change.entries", "set, delete: all or none"},
    {"kv_change.condition", "set, delete: holds for each entry, or nothing is changed"},
    {"kv_change.version", "if_version; 0: it is not there"},
    {"kv_change.key", "all other operations; publish: the channel"},
    {"kv_change.value", "if_value, publish"},
    {"kv_change.expires_ms", "set, expire: wall time; 0: never"},
    {"kv_change.keep_expiry", "set: the key keeps the one it had"},
    {"kv_changed.number", "keys deleted; members that are new or gone; the number after an increase; watchers of a channel"},
    {"kv_changed.version", "of the first key now"},
    {"kv_get.keys", "empty: a page of the keys that begin with `prefix` and come behind `after`"},
    {"kv_get.members", "of the set that is the one key: those behind `after`"},
    {"kv_items.items", "a key that is not there is left out"},
    {"kv_items.after", "of the next page; empty: there is none"},
    {"kv_item.kind", "text, number, set"},
    {"kv_item.number", "of a set: how many members"},
    {"kv_event.key", "or channel; empty: the whole namespace is gone"},
    {"kv_event.version", "0: the key is gone"},
    {"kv_event.gap", "some were left out: read again"},
    {"token_new.name", "of the principal that it stands for"},
    {"token_given.token", "shown this once; the server keeps its hash"},
    {"schedule_set.expression", "cron or interval, with a time zone"},
    {"schedule_set.flow", "what is submitted, without key"},
    {"schedule_change.since_ms", "backfill: slots from here on, and before `until_ms`"},
    {"topic.pools", "in order of preference; empty: the mapping is removed"},
    {"tenant.weight", "share under load; 0: 1"},
    {"limit.width", "key: attempts open at once; 0: none"},
    {"limit.rate_milli", "rate: tokens in 1,000 s"},
    {"limit.running", "tenant: attempts open at once; 0: no limit, so in the next two"},
    {"drain.undo", "it takes jobs again"},
    {"attach.worker", "the id it keeps on its own disk"},
    {"attach.incarnation", "rises with each start of the worker; fences everything it says"},
    {"attach.epoch_seen", "the highest; a server of a lower one must go away"},
    {"attach.held", "everything it holds: what is not in the list is not there"},
    {"attached.epoch", "fences everything the server says"},
    {"heartbeat.sent_ms", "clock of the worker; comes back"},
    {"lease.sent_ms", "of the heartbeat: the lease runs from when that was sent"},
    {"load.credit", "attempts it is willing to hold in all"},
    {"assignment.fence", "rises over all attempts of all jobs; `$REEVE_FENCE`"},
    {"assignment.job", "flow/name, for people and `$REEVE_JOB`"},
    {"assignment.body", "a [`run`](#run) message, rendered"},
    {"assignment.env", "what the server adds to the environment"},
    {"assignment.token", "with which the job may call the server; ends with the attempt"},
    {"assignment.constraints", "put on it by a verdict"},
    {"assignment.inputs", "results of its parents"},
    {"assignment.compensation", "it undoes another job"},
    {"assignment.refusal", "not empty: it cannot be run, and why; the worker reports it as refused"},
    {"stopped.cause", "drop: it is not, or no longer, this worker's: kill it and say nothing"},
    {"attempts.attempts", "that have started"},
    {"log_batch.pieces", "by offset, without gaps"},
    {"log_mark.offset", "everything before it is durable: the worker may forget it"},
    {"end.outcome", "stopped: was stopped, or never started; refused: could not be started"},
    {"end.fatal", "a failure that no further attempt can mend"},
    {"end.result", "JSON, small"},
    {"end.result_hash", "of a blob, when the result is large"},
    {"end.log_bytes", "all of the log was sent before"},
    {"end.started_ms", "wall clock of the worker, so the next"},
    {"end_ack.code", "empty: recorded; else a word of §7, and it will never be"},
    {"end_ack.repeated", "it was recorded before"},
    {"result.target", "as it was asked for, or in full"},
    {"result.code", "a word of §7; empty: done"},
    {"name.name", "a name, or a target"},
    {"worker_view.tenant", "whose jobs it is given; empty: of all"},
    {"run.argv", "the command; of a script: its arguments"},
    {"run.shell", "in place of `argv`: for `/bin/sh -c`"},
    {"run.script", "small, in place; larger ones are blobs"},
    {"run.script_name", "its ending chooses the interpreter, else the first line of the script does"},
    {"run.workdir", "empty: the workspace"},
    {"run.sleep_ms", "kind sleep"},
    {"run.exit_code", "kind fail"},
    {"run.log_bytes_max", "0: the standard"},
    {"run.kill_grace_ms", "0: the standard"},
    {"run.labels", "for people and searches"},
    {"run.sandbox", "bits: 1 it has one, 2 without network, 4 without the machine's files; 0: none"},
    {"run.sandbox_read", "absolute paths that it may read all the same"},
    {"run.sandbox_write", "or change"},
    {"run.when", "an expression: unless it is true the job is skipped"},
    {"run.foreach", "an expression: a list, and the job is made for each item"},
    {"run.message", "kind gate: what the person is asked"},
    {"run.params", "JSON object: parameters of the flow, for expressions that name some"},
    {"file.path", "in the workspace"},
    {"artifact.path", "in the workspace; `*` and `?` match"},
    {"artifact.optional", "it may be missing"},
    {"run.inputs", "artifacts of parents, put into the workspace before the start"},
    {"take.path", "in the workspace"},
    {"take.job", "a parent, by its name in the flow"},
    {"take.name", "of its artifact"},
    {"job_view.artifacts", "files that its last attempt left; with details"},
    {"input.artifacts", "files that the parent left"},
};
/* clang-format on */

static const char *sender_word(enum wire_sender sender) {
    switch (sender) {
    case WIRE_FROM_ANY: return "any";
    case WIRE_FROM_CLIENT: return "client";
    case WIRE_FROM_WORKER: return "worker";
    case WIRE_FROM_SERVER: return "server";
    case WIRE_SENDER_COUNT: break;
    }
    return "?";
}

static void print_errors(void) {
    printf("\n## 7. Errors\n\n`code` is one of these words; `message` is for people and not to be parsed.\n\n");
    printf("| code | meaning | worth another try |\n| --- | --- | --- |\n");
    for (int e = ERR_OK + 1; e < ERR_COUNT; e++)
        printf("| `%s` | %s | %s |\n", err_word(e), err_meaning(e), err_is_retryable(e) ? "yes" : "no");
}

static void print_opcodes(void) {
    printf("\n## 8. Messages\n\n");
    printf("| opcode | message | from | lane | answer | what it says |\n| ---: | --- | --- | ---: | --- | --- |\n");
    for (int op = 0; op < 256; op++) {
        const struct wire_info *info = wire_info((uint8_t)op);
        if (!info) continue;
        printf("| %d | [`%s`](#%s) | %s | %d | ", op, info->word, info->word, sender_word(info->sender),
               info->lane + 1);
        if (info->answer) printf("`%s`", wire_word(info->answer));
        printf(" | %s |\n", info->text);
    }
}

int main(void) {
    tlvdoc_begin("wire_doc", remarks, sizeof remarks / sizeof *remarks);
    print_errors();
    print_opcodes();
    for (int op = 0; op < 256; op++) {
        const struct wire_info *info = wire_info((uint8_t)op);
        if (!info) continue;
        printf("\n### %s\n\n", info->word);
        tlvdoc_fields(info->desc->name, info->desc, 0);
    }
    tlvdoc_later(&wire_run_desc); /* inside the bytes of job.body */
    tlvdoc_nested();
    return tlvdoc_end() ? 0 : 1;
}
