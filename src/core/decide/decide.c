/* decide.c: the table of commands, and what all of them share. See decide.h. */
#include "decide.h"

#include <stdarg.h>

#include "attempt.h"
#include "flow.h"
#include "panic.h"
#include "question.h"
#include "service.h"

typedef enum err (*decide_fn)(struct decision *d, const struct command *cmd);

static enum err decide_read(struct decision *d, const struct command *cmd) {
    (void)d, (void)cmd;
    return ERR_OK;
}

static const decide_fn table[CMD_COUNT] = {
    [CMD_SUBMIT] = decide_submit,
    [CMD_ADD] = decide_add,
    [CMD_CANCEL] = decide_cancel,
    [CMD_PAUSE] = decide_pause,
    [CMD_RETRY] = decide_retry,
    [CMD_DISCARD] = decide_discard,
    [CMD_RERUN] = decide_rerun,
    [CMD_FORGET] = decide_forget,
    [CMD_ATTACH] = decide_attach,
    [CMD_DETACH] = decide_detach,
    [CMD_HEARTBEAT] = decide_heartbeat,
    [CMD_STARTED] = decide_started,
    [CMD_PROGRESS] = decide_progress,
    [CMD_DONE] = decide_done,
    [CMD_DRAIN] = decide_drain,
    [CMD_VERDICT] = decide_verdict,
    [CMD_POOL] = decide_pool,
    [CMD_TOPIC] = decide_topic,
    [CMD_TENANT] = decide_tenant,
    [CMD_READ] = decide_read,
    [CMD_STORE] = decide_store,
    [CMD_LIMIT] = decide_limit,
    [CMD_POLICY] = decide_policy,
    [CMD_SERVICE] = decide_service,
    [CMD_HEALTH] = decide_health,
    [CMD_CHECKPOINT] = decide_checkpoint,
    [CMD_PROJECTED] = decide_projected,
    [CMD_SCHEDULE] = decide_schedule,
    [CMD_SCHEDULE_REMOVE] = decide_schedule_remove,
    [CMD_SCHEDULE_PAUSE] = decide_schedule_pause,
    [CMD_SCHEDULE_BACKFILL] = decide_schedule_backfill,
    [CMD_SCHEDULE_RUN] = decide_schedule_run,
    [CMD_SCHEDULE_SLOTS] = decide_schedule_slots,
    [CMD_IDENTITY] = decide_identity,
};

void decide(struct decision *d, const struct command *cmd) {
    REQUIRE((unsigned)cmd->kind < CMD_COUNT);
    REQUIRE(table[cmd->kind] != NULL);
    REQUIRE(d->records->count == 0);
    enum err e = ERR_OK;
    if (cmd->principal.len > (size_t)d->limits->name_bytes_max || cmd->tenant.len > (size_t)d->limits->name_bytes_max)
        e = refuse(d, ERR_INVALID, "the caller's name is too long");
    else
        e = table[cmd->kind](d, cmd);
    d->reply->err = e;
    if (e != ERR_OK) d->records->count = 0;
    if (e == ERR_STALE) d->stale++;
}

struct record *decide_record(struct decision *d, enum record_kind kind, const struct command *cmd) {
    REQUIRE((unsigned)kind < REC_KIND_END);
    struct record *r = vec_push(d->records);
    r->kind = kind;
    r->version = RECORD_VERSION;
    if (cmd) {
        r->body.head.principal = cmd->principal;
        r->body.head.caller = cmd->caller;
    }
    return r;
}

const char *decide_kind_phrase(uint8_t kind) {
    static const char *const phrases[KIND_COUNT] = {"unknown",  "a person", "a service",
                                                    "an agent", "a worker", "a job"};
    REQUIRE(kind < KIND_COUNT);
    return phrases[kind];
}

enum err refuse(struct decision *d, enum err e, const char *format, ...) {
    REQUIRE(e != ERR_OK);
    va_list args;
    va_start(args, format);
    (void)why_vset(&d->reply->why, e, format, args);
    va_end(args);
    return e;
}

void decide_effect(struct decision *d, enum effect_kind kind, const struct attempt_effect *a) {
    REQUIRE(a->worker != 0);
    struct effect effect = {.kind = kind, .lsn = d->state->lsn, .as.attempt = *a};
    effects_push(d->effects, &effect);
}

void decide_ask(struct decision *d, const struct question *q) {
    REQUIRE(q->id != 0);
    struct effect effect = {
        .kind = EFFECT_QUESTION, .lsn = d->state->lsn, .as.question = question_effect_of(d->state, q)};
    effects_push(d->effects, &effect);
}

void decide_lost(struct decision *d, uint32_t run, struct slice reason) {
    const struct run *r = run_at(d->state, run);
    REQUIRE(r->job != 0);
    struct job_ref ref = job_ref_of(d->state, job_at(d->state, r->job));
    struct rec_ended *rec = &decide_record(d, REC_ENDED, NULL)->body.as_REC_ENDED;
    rec->flow = ref.flow.v;
    rec->ordinal = ref.ordinal;
    rec->attempt = r->attempt;
    rec->outcome = OUTCOME_LOST;
    rec->reason = reason;
}

static enum err check_name(struct decision *d, struct slice name, const char *what, int64_t most, const char *limit) {
    if (name.len == 0) return refuse(d, ERR_INVALID, "%s must have a name", what);
    if (name.len > (size_t)most)
        return refuse(d, ERR_LIMIT, "%s name is longer than %lld bytes (%s)", what, (long long)most, limit);
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] < 0x20 || name.ptr[i] == 0x7f)
            return refuse(d, ERR_INVALID, "%s name has a control character at byte %zu", what, i);
    return ERR_OK;
}

enum err decide_name(struct decision *d, struct slice name, const char *what) {
    return check_name(d, name, what, d->limits->name_bytes_max, "name_bytes_max");
}

enum err decide_key(struct decision *d, struct slice key) {
    return check_name(d, key, "an idempotency key's", d->limits->key_bytes_max, "key_bytes_max");
}

enum err decide_flow(struct decision *d, const struct command *cmd, flow_id id, uint32_t *ret) {
    const struct state *s = d->state;
    uint32_t flow = flow_find(s, id);
    bool visible = flow && (cmd->tenant.len == 0 ||
                            slice_eq(cmd->tenant, bytes_slice(tenant_at(s, flow_at(s, flow)->tenant)->name)));
    char text[FLOW_TEXT_BYTES] = "f?";
    if (id.v) flow_text(s->shard, id, text);
    if (!visible) return refuse(d, ERR_NOT_FOUND, "there is no flow %s", text);
    uint32_t service = service_of_flow(s, flow_at(s, flow));
    if (service)
        return refuse(d, ERR_STATE, "flow %s is a version of service %.*s: use the service's name", text,
                      SLICE_FMT(service_name(service_at(s, service))));
    *ret = flow;
    return ERR_OK;
}

enum err decide_not_unwound(struct decision *d, const struct flow *f, const char *so) {
    if (f->unwinding == UNWIND_NONE) return ERR_OK;
    const char *how = f->unwinding == UNWIND_DONE ? "was unwound" : "is being unwound";
    return refuse(d, ERR_STATE, "the flow failed and %s: %s", how, so);
}

enum err decide_settled_job(struct decision *d, const struct command *cmd, struct job_ref ref, uint32_t *ret) {
    uint32_t flow = 0;
    enum err e = decide_flow(d, cmd, ref.flow, &flow);
    if (e != ERR_OK) return e;
    const struct flow *f = flow_at(d->state, flow);
    uint32_t job = job_find(d->state, ref);
    if (job == 0) return decide_no_struct(d, f, ref.ordinal);
    if (flow_is_settling(f))
        return refuse(d, ERR_BUSY, "an earlier change of the flow is still being processed: try again");
    *ret = job;
    return ERR_OK;
}
