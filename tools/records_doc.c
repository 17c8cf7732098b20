/* records_doc.c: writes docs/formats/records.md and docs/formats/snapshot-objects.md from the tables of the core.
 *
 *     records_doc records  < docs/src/records.head.md
 *     records_doc objects  < docs/src/snapshot-objects.head.md
 *
 * The head is written by hand and copied as it is; what follows comes from the tables, so that no field can be missing.
 * A remark below that fits no field of the document stops the program: remarks cannot outlive what they are about. */
#include <stdio.h>
#include <string.h>

#include "objects.h"
#include "record.h"
#include "state.h"
#include "tlvdoc.h"

/* clang-format off */
static const struct remark record_remarks[] = {
    {"opened.build", "version of the program that took over"},
    {"submitted.flow", "number of the flow; rises by one per submit"},
    {"submitted.name", "need not be unique"},
    {"submitted.key", "idempotency key, unique per tenant; empty: none"},
    {"submitted.key_hash", "SHA-256 of the submitted body"},
    {"submitted.key_expires_ms", "wall time"},
    {"submitted.more", "further parts follow by `added`: the flow does not end before the last"},
    {"submitted.profiles", "option sets; jobs refer to them by position"},
    {"submitted.jobs", "ordinals count from 0 in this order"},
    {"submitted.source", "SHA-256 of the blob that keeps the file the flow was submitted from: a `source` of the wire, durable before this record; empty: none"},
    {"submitted.source_name", "of that file"},
    {"submitted.source_bytes", "of that file; 0: not known"},
    {"submitted.params", "as they were given: a JSON object"},
    {"submitted.again_of", "the flow whose file this one ran again; 0: none"},
    {"added.more", "replaces the flow's own"},
    {"added.jobs", "ordinals go on where the flow's jobs end"},
    {"added.constraints", "that the jobs have from the one that added them; empty: none"},
    {"cancelled.whole", "the flow, not one job"},
    {"cancelled.confirm_ms", "how long workers may take to confirm that a running attempt was stopped"},
    {"paused.flow", "with scope flow"},
    {"paused.name", "of the pool or tenant"},
    {"paused.on", "false: it goes on"},
    {"worker.worker", "the id it keeps on its own disk"},
    {"worker.incarnation", "rises with each start of the worker"},
    {"assigned.attempt", "one more than the last of this job"},
    {"assigned.incarnation", "of the worker at this moment: fences what it says later"},
    {"stopping.stop", "decides what the end counts as"},
    {"stopping.confirm_ms", "after which the attempt counts as lost"},
    {"ended.outcome", "lost: its worker is gone or never confirmed a stop; stopped: the worker confirms that it was stopped or never started; refused: the worker could not start it"},
    {"ended.fatal", "no retry"},
    {"ended.result", "JSON, small"},
    {"ended.result_hash", "of a blob, when the result is large"},
    {"ended.log_bytes", "durable on the server before this record"},
    {"ended.log_cut_bytes", "left out of the log"},
    {"due.due", "start: delay, earliest start or backoff is over; deadline: too late; start_within: no worker in time"},
    {"verdict.question", "0: a late quarantine of a job that has succeeded"},
    {"verdict.revision", "of the question, as the answerer saw it"},
    {"verdict.hash", "of what they saw"},
    {"verdict.payload", "constraints, a rendered body or a redacted result"},
    {"verdict.payload_hash", "SHA-256 of a rendered body"},
    {"verdict.again_ms", "wall time, with again"},
    {"verdict.policy", "version of the rules that answered"},
    {"key_expired.key", "of the tenant in the head"},
    {"pool.capabilities", "ascending; empty: whatever its workers offer"},
    {"topic.pools", "in order of preference; empty: the mapping is removed"},
    {"tenant.weight", "share under load; 0 means 1"},
    {"store_set.flow", "whose namespace; 0: that of the tenant in the head"},
    {"store_set.entries", "ascending by key, no two alike"},
    {"store_deleted.keys", "ascending, no two alike"},
    {"store_members.added", "ascending; those that are new alone"},
    {"store_members.removed", "ascending; those that are there alone; a set without members is gone"},
    {"store_expiry.expires_ms", "wall time; 0: never"},
    {"store_entry.kind", "text or number"},
    {"store_entry.expires_ms", "wall time; 0: never"},
    {"limit.name", "of the key or rate; the tenant is in the head"},
    {"limit.clear", "no longer set: a key is 1 wide, a rate and a tenant are free"},
    {"limit.width", "key: attempts open at once; 0: none"},
    {"limit.rate_milli", "rate: tokens in 1,000 s, at least 1"},
    {"limit.burst", "rate: tokens when it is full, at least 1"},
    {"limit.running", "tenant: attempts open at once; 0: no limit"},
    {"limit.queued", "tenant: jobs that have not ended; 0: no limit"},
    {"limit.bytes", "tenant: of the messages of those jobs; 0: no limit"},
    {"expanded.ordinal", "of the foreach job, the template of its children"},
    {"expanded.question", "the expansion question that is answered"},
    {"expanded.revision", "of the question, as the answerer saw it"},
    {"expanded.hash", "of what was evaluated"},
    {"expanded.items", "SHA-256 of the blob that holds the items; empty without any"},
    {"expanded.count", "1,000,000 at most; child i has ordinal 2^31 + i + the children of the flow before"},
    {"foreign.seen", "how it had ended when the record was made; waiting: it was open"},
    {"job.profile", "position in the record's list of option sets"},
    {"job.parents", "ordinals in this flow, ascending, each below the job's own"},
    {"job.foreign", "parents in other flows"},
    {"job.body", "the spec as the worker gets it; opaque to the engine"},
    {"job.body_hash", "SHA-256 of what an approver is shown; needed when the job has gates"},
    {"demand.pool", "exactly one of pool and topic is set"},
    {"demand.capabilities", "ascending, no two alike"},
    {"demand.labels", "ascending by key, no two keys alike"},
    {"demand.resources", "ascending by name, no two alike"},
    {"demand.keys", "concurrency keys: ascending, no two alike; an attempt takes all of them"},
    {"demand.rates", "ascending, no two alike; an attempt takes a token of each"},
    {"options.priority", "higher goes first"},
    {"options.retries", "further attempts after the first"},
    {"options.delay_from_submit", "no longer written: `not_before_ms` holds the time itself"},
    {"options.delay_ms", "counts from readiness"},
    {"options.not_before_ms", "wall time; 0: at once"},
    {"options.deadline_ms", "wall time; 0: none"},
    {"options.start_within_ms", "0: any time"},
    {"options.run_timeout_ms", "0: none"},
    {"options.affinity", "to the worker of the parent with the highest ordinal that had one still known"},
    {"options.prefer_ms", "after which preferences are dropped"},
    {"options.gates", "bits: 1 condition, 2 render, 4 policy, 8 approval, 16 external, 32 output"},
    {"options.approval_ms", "how long an approval or external question stays open; 0: for ever"},
    {"options.quorum", "voices an approval needs, at least 1"},
    {"options.four_eyes", "the submitter of the flow may not vote"},
    {"options.policy_open", "for whoever asks the policy: no answer means allow"},
    {"options.approval_role", "for whoever checks the voter"},
    {"options.fatal_exits", "exit codes after which there is no retry"},
    {"options.max_parallel", "foreach: children under way at once"},
    {"options.fail_fast", "foreach: the rest is called off as soon as it cannot succeed any more"},
    {"options.allow_count", "foreach: children that may end badly"},
    {"options.allow_percent", "foreach: the same as a share of all, rounded down"},
    {"worker_info.permanent", "known also while it is away"},
    {"worker_info.tenant", "the only one whose jobs it is given; empty: of all"},
};

static const struct remark object_remarks[] = {
    {"header.epoch", "of the last batch folded in"},
    {"header.lsn", "of the last record folded in"},
    {"header.now_ms", "time of the last batch"},
    {"header.flow_last", "highest number given to a flow"},
    {"header.question_last", "highest number given to a question"},
    {"header.worker_last", "highest number given to a worker"},
    {"pool.record", "the message of its last `pool` record; empty: only ever paused"},
    {"topic.record", "the message of its last `topic` record"},
    {"limit.level", "rate: what it held at `filled_ms`, in millionths of a token"},
    {"worker.number", "never reused"},
    {"worker.record", "the message of its last `worker` record"},
    {"flow.rules", "rules version it was born under"},
    {"flow.state", "0 running, 1 succeeded, 2 failed, 3 cancelled"},
    {"flow.sweep", "pass over all jobs that is under way: 0 none, 1 cancel, 2 rerun, 3 retry, 4 resume"},
    {"flow.sweep_next", "ordinal it goes on with"},
    {"flow.sweep_root", "retry: ordinal of the job whose victims are reset"},
    {"flow.sweep_confirm_ms", "cancel: as in the record"},
    {"flow.work", "ordinals of ended jobs whose children have still to be told, oldest first"},
    {"flow.work_edge", "children of the first of them that have been told"},
    {"flow.head", "a `flow_head` message"},
    {"flow.foreign", "edges from open jobs of this flow to jobs of others"},
    {"flow.seen", "how parents in other flows ended, told after the child was recorded"},
    {"flow.job_count", "jobs that follow in `jobs` objects"},
    {"jobs.profiles", "option sets of the jobs in this object"},
    {"jobs.jobs", "ordinals go on from the object before"},
    {"profile.options", "an `options` message (records.md)"},
    {"job.text", "the `job` message of its record (records.md)"},
    {"job.profile", "position in this object's list"},
    {"job.flags", "bits: 1 its time was computed, 2 ended and its children not all told, 4 on the dead-letter list, 64 quarantined after its children were told, 128 a policy asked for an approval; no others"},
    {"job.gates", "questions passed; bits as in `options.gates`"},
    {"job.attempt", "number of the last attempt"},
    {"job.done_attempt", "last attempt that ended by its worker's word"},
    {"job.used", "failed attempts of the present budget"},
    {"job.worker", "number of the worker that had it last"},
    {"job.root", "ordinal + 1 of the job that dragged it down; 0: none"},
    {"job.since_ms", "in this state"},
    {"job.due_ms", "when it may go on, if waiting and its time was computed"},
    {"job.parents_open", "edges not yet satisfied"},
    {"job.body", "rendered, if it was"},
    {"run.worker", "its number"},
    {"run.incarnation", "of the worker when it was assigned"},
    {"run.fence", "LSN of its `assigned` record"},
    {"run.stop", "as in `stopping`"},
    {"run.assigned_ms", "0 under rules 1"},
    {"run.started_ms", "0: it has not said so, or rules 1"},
    {"job.attempts", "the last 16 that are over, oldest first; none under rules 1"},
    {"attempt.worker", "its number"},
    {"attempt.stop", "why it was told to stop, as in `stopping`"},
    {"attempt.started_ms", "0: it never was"},
    {"attempt.reason", "the first 256 bytes of what the worker said"},
    {"run.confirm_ms", "until when the worker may confirm the stop"},
    {"question.gate", "as in `verdict`"},
    {"question.deadline_ms", "0: none"},
    {"question.again_ms", "not to be asked before"},
    {"question.voters", "with a quorum above 1: hash64 of each voter's name, seed 0; 8 bytes each, little-endian"},
    {"key.hash", "of the submitted body"},
    {"key.job_count", "of the first answer"},
    {"end.objects", "before this one"},
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define HEAD_TAGS 3u

/* Every record begins with the same three fields, which the head of the document explains once. */
static bool has_head(const struct tlv_desc *d) {
    static const char *const names[HEAD_TAGS] = {"principal", "tenant", "trace"};
    for (uint32_t i = 0; i < HEAD_TAGS; i++) {
        if (i >= d->field_count || d->fields[i].tag != i + 1) return false;
        if (strcmp(d->fields[i].name, names[i]) != 0) return false;
    }
    return true;
}

/* ---- the two documents ---- */

static int print_records(void) {
    printf("| kind | version | record | what it says |\n| ---: | ---: | --- | --- |\n");
#define X(kind, number, type, word, text) \
    printf("| %d | %u | [`%s`](#%s) | %s |\n", number, RECORD_VERSION, word, word, text);
    RECORD_TABLE(X)
#undef X
    for (int kind = 0; kind < REC_KIND_END; kind++) {
        const struct tlv_desc *d = record_desc((enum record_kind)kind);
        if (d == NULL) continue;
        const char *word = record_word((enum record_kind)kind);
        if (!has_head(d)) {
            fprintf(stderr, "records_doc: %s does not begin with principal, tenant and trace\n", word);
            return 1;
        }
        printf("\n### %s\n\n", word);
        tlvdoc_fields(word, d, HEAD_TAGS);
    }
    tlvdoc_nested();
    return 0;
}

static int print_objects(void) {
    printf("| kind | object | what it is |\n| ---: | --- | --- |\n");
#define X(kind, number, type, word, text) printf("| %d | [`%s`](#%s) | %s |\n", number, word, word, text);
    OBJECT_TABLE(X)
#undef X
    for (int kind = 0; kind < OBJ_KIND_END; kind++) {
        const struct tlv_desc *d = object_desc((enum object_kind)kind);
        if (d == NULL) continue;
        printf("\n### %s\n\n", d->name);
        tlvdoc_fields(d->name, d, 0);
    }
    tlvdoc_later(&flow_head_desc); /* inside the bytes of flow.head */
    tlvdoc_nested();
    return 0;
}

int main(int argc, char **argv) {
    bool records = argc == 2 && strcmp(argv[1], "records") == 0;
    bool objects = argc == 2 && strcmp(argv[1], "objects") == 0;
    if (!records && !objects) {
        fprintf(stderr, "usage: records_doc records|objects <HEAD >DOCUMENT\n");
        return 2;
    }
    if (records) {
        tlvdoc_begin("records_doc", record_remarks, COUNT(record_remarks));
    } else {
        tlvdoc_begin("records_doc", object_remarks, COUNT(object_remarks));
    }
    int status = records ? print_records() : print_objects();
    return status == 0 && tlvdoc_end() ? 0 : 1;
}
