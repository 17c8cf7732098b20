/* reason_view.c: see reason_view.h. */
#include "reason_view.h"

#include <stdio.h>

#include "server_view.h"
#include "utf8.h"

#define MESSAGE_SHOWN_BYTES 1024u

/* Who has to answer, and whether anyone here does. */
static const char *const gate_texts[GATE_COUNT] = {
    [GATE_CONDITION] = "its `when` is about to be evaluated",
    [GATE_EXPANSION] = "its `foreach` is about to be evaluated, or waits for room for its items",
    [GATE_RENDER] = "its templates are about to be filled in",
    [GATE_POLICY] = "a policy must allow it, but this server asks none yet",
    [GATE_APPROVAL] = "waiting for approval",
    [GATE_EXTERNAL] = "waiting for completion from outside",
    [GATE_OUTPUT] = "its output must be checked, but this server has no checker yet",
    [GATE_SERVICE] = "the service that it deploys is not healthy yet",
};

/* "TEXT: MORE" */
static struct slice with_more(struct server *s, struct slice text, struct slice more) {
    if (more.len == 0) return text;
    size_t len = text.len + 2 + more.len;
    char *both = arena_alloc(&s->frame_arena, len + 1);
    snprintf(both, len + 1, "%.*s: %.*s", SLICE_FMT(text), SLICE_FMT(more));
    return slice_of(both, len);
}

/* ---- what is missing ---- */

/* As flow files write it. */
static void put_bytes(struct buf *b, uint64_t bytes) {
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    uint32_t unit = 0;
    uint64_t whole = bytes;
    for (; unit < 4 && whole >= 1024 && whole % 1024 == 0; unit++) whole /= 1024;
    if (whole < 10000)
        buf_printf(b, "%llu%s", (unsigned long long)whole, units[unit]);
    else
        buf_printf(b, "%.1fGiB", (double)bytes / (double)(1u << 30));
}

static void put_amount(struct buf *b, enum lack_kind kind, uint64_t amount) {
    if (kind == LACK_MEMORY)
        put_bytes(b, amount);
    else if (kind == LACK_CPU && amount % 1000 != 0)
        buf_printf(b, "%llu.%03llu", (unsigned long long)amount / 1000, (unsigned long long)amount % 1000);
    else
        buf_printf(b, "%llu", (unsigned long long)(kind == LACK_CPU ? amount / 1000 : amount));
}

static void put_lack(struct buf *b, uint32_t *named, const struct lack *lack) {
    buf_put_slice(b, (*named)++ == 0 ? SLICE("") : SLICE(", "));
    buf_put_slice(b, lack->name);
    if (lack->kind == LACK_LABEL) buf_printf(b, "=%.*s", SLICE_FMT(lack->value));
    if (lack->wanted > 0) buf_put_u8(b, ':'), put_amount(b, lack->kind, lack->wanted);
    if (lack->offered > 0)
        buf_put_slice(b, SLICE(" (it has ")), put_amount(b, lack->kind, lack->offered), buf_put_u8(b, ')');
}

/* Everything that the job asks of a worker: which of it is missing depends on the worker that one looks at. */
static void put_demand(struct buf *b, const struct demand *d) {
    const struct name_item *names = d->capabilities.at;
    const struct label *labels = d->labels.at;
    const struct resource *resources = d->resources.at;
    const struct lack sizes[] = {{.kind = LACK_CPU, .name = SLICE("cpu"), .wanted = d->cpu_milli},
                                 {.kind = LACK_MEMORY, .name = SLICE("memory"), .wanted = d->memory_bytes},
                                 {.kind = LACK_GPUS, .name = SLICE("gpus"), .wanted = d->gpus}};
    uint32_t named = 0;
    for (uint32_t i = 0; i < d->capabilities.count; i++)
        put_lack(b, &named, &(struct lack){.kind = LACK_CAPABILITY, .name = names[i].name});
    for (uint32_t i = 0; i < d->labels.count; i++)
        put_lack(b, &named, &(struct lack){.kind = LACK_LABEL, .name = labels[i].key, .value = labels[i].value});
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i].wanted > 0) put_lack(b, &named, &sizes[i]);
    for (uint32_t i = 0; i < d->resources.count; i++)
        put_lack(b, &named,
                 &(struct lack){.kind = LACK_RESOURCE, .name = resources[i].name, .wanted = resources[i].amount});
}

/* "; nearest: gpu1-3e889a lacks gpus:1" */
static void put_nearest(struct server *s, struct buf *b, struct job_ref job) {
    const struct live *live = engine_live(server_shard(s)->engine);
    struct nearest_view nearest;
    struct worker_view worker;
    uint32_t named = 0;
    if (!view_nearest(server_state(s), live, s->limits, job, &nearest)) return;
    if (!view_worker(server_state(s), live, nearest.worker, &worker)) return;
    buf_printf(b, "; nearest: %.*s lacks ", SLICE_FMT(worker.id));
    for (uint32_t i = 0; i < nearest.count && i < LACKS_MAX; i++) put_lack(b, &named, &nearest.lacks[i]);
    if (nearest.count > LACKS_MAX) buf_printf(b, " and %u more", nearest.count - LACKS_MAX);
}

static struct slice missing(struct server *s, const struct job_view *job, enum block block) {
    const struct demand *d = &job->options->demand;
    struct slice text = slice_str(block_text(block)), more = {0};
    struct buf b;
    buf_init(&b, WIRE_TEXT_MAX / 2);
    if (block == BLOCK_NO_WORKERS) {
        buf_put_slice(&b, d->pool.len > 0 ? d->pool : d->topic);
    } else {
        put_demand(&b, d);
        put_nearest(s, &b, job->ref);
    }
    if (!b.full) more = arena_slice(&s->frame_arena, buf_slice(&b));
    buf_fini(&b);
    return with_more(s, text, more);
}

/* ---- the other reasons ---- */

static void reason_of_question(struct server *s, const struct why_job *reason, struct wire_reason *ret) {
    struct question_view q;
    if (!view_question(server_state(s), reason->question, &q)) return;
    ret->gate = slice_str(gate_words[q.gate]);
    ret->text = slice_str(gate_texts[q.gate]);
}

/* What an external job waits for, in the words of its author, and when it is asked. */
static void reason_of_external(struct server *s, const struct job_view *job, const struct why_job *reason,
                               struct wire_reason *ret) {
    struct wire_run run;
    struct why ignored;
    if (reason->poll.ms != TIME_NEVER) ret->poll_ms = reason->poll.ms;
    if (tlv_decode(&wire_run_desc, job->body, TLV_SKIP_UNKNOWN, &s->frame_arena, &run, &ignored) != ERR_OK) return;
    ret->text = with_more(s, ret->text, utf8_cut(run.message, MESSAGE_SHOWN_BYTES));
}

/* The pause before a retry: how the attempt before it ended. */
static void reason_of_retry(struct server *s, const struct job_view *job, struct wire_reason *ret) {
    struct wire_job_view shown;
    struct buf b;
    if (job->used == 0) return;
    server_view_job(s, job, false, &shown);
    buf_init(&b, WIRE_TEXT_MAX);
    buf_printf(&b, "attempt %u failed (", job->attempt);
    if (shown.exit_code != 0)
        buf_printf(&b, "exit code %u", shown.exit_code);
    else if (shown.signal != 0)
        buf_printf(&b, "signal %u", shown.signal);
    else
        buf_put_slice(&b, shown.cause);
    if (shown.reason.len > 0) buf_printf(&b, ": %.*s", SLICE_FMT(shown.reason));
    buf_put_slice(&b, SLICE("); waiting to retry"));
    if (!b.full) ret->text = arena_slice(&s->frame_arena, buf_slice(&b));
    buf_fini(&b);
}

/* Which of them is paused, and how it goes on. */
static void reason_of_pause(struct server *s, const struct job_view *job, struct wire_reason *ret) {
    struct slice pool = job->options->demand.pool;
    struct flow_view flow;
    struct buf b;
    if (!view_flow(server_state(s), job->ref.flow, &flow)) return;
    buf_init(&b, WIRE_TEXT_MAX);
    if (flow.paused)
        buf_printf(&b, "its flow is paused; `reeve resume %.*s` resumes it",
                   SLICE_FMT(server_view_flow_name(s, job->ref.flow)));
    else if (view_pool_is_paused(server_state(s), pool))
        buf_printf(&b, "its pool is paused; `reeve resume --pool %.*s` resumes it", SLICE_FMT(pool));
    if (!b.full && b.len > 0) ret->text = arena_slice(&s->frame_arena, buf_slice(&b));
    buf_fini(&b);
}

static void reason_of_parents(struct server *s, const struct why_job *reason, struct wire_reason *ret) {
    struct job_view parent;
    if (reason->parent.ordinal == UINT32_MAX || !view_job(server_state(s), reason->parent, &parent)) return;
    ret->parent = server_view_job_name(s, &parent);
    ret->text = with_more(s, ret->text, ret->parent);
}

static void reason_of_block(struct server *s, const struct job_view *job, const struct why_job *reason,
                            struct wire_reason *ret) {
    const struct live *live = engine_live(server_shard(s)->engine);
    struct worker_view worker;
    enum block b = reason->block;
    if (b == BLOCK_QUESTION) reason_of_question(s, reason, ret);
    if (b == BLOCK_CAPABILITY || b == BLOCK_NO_WORKERS) ret->text = missing(s, job, b);
    if (b == BLOCK_HEALTH)
        ret->text = with_more(s, ret->text, view_trouble(server_state(s), job->ref, &s->frame_arena));
    if (b == BLOCK_NOTHING) ret->text = with_more(s, ret->text, view_words(server_state(s), live, job->ref));
    if (b == BLOCK_KEY_LIMIT || b == BLOCK_RATE_LIMIT) ret->text = with_more(s, ret->text, reason->limit);
    if (b == BLOCK_OUTSIDE || slice_eq(ret->gate, SLICE("external"))) reason_of_external(s, job, reason, ret);
    if (b == BLOCK_TIME) reason_of_retry(s, job, ret);
    if (b == BLOCK_PAUSED) reason_of_pause(s, job, ret);
    if (b == BLOCK_PARENTS) reason_of_parents(s, reason, ret);
    if ((b == BLOCK_STOPPING || b == BLOCK_START) && view_worker(server_state(s), NULL, reason->worker, &worker))
        ret->worker = worker.id;
}

/* Those that end by themselves at a time that says something. */
static bool ends_by_itself(enum block b) {
    return b == BLOCK_TIME || b == BLOCK_PREFERENCE || b == BLOCK_QUESTION || b == BLOCK_RATE_LIMIT ||
           b == BLOCK_OUTSIDE;
}

void reason_view(struct server *s, const struct job_view *job, struct wire_reason *ret) {
    struct why_job reason;
    struct wire_job_view shown;
    (void)view_why(server_state(s), engine_live(server_shard(s)->engine), s->limits, job->ref, &reason);
    *ret = (struct wire_reason){.lsn = engine_lsn(server_shard(s)->engine),
                                .job = server_view_job_name(s, job),
                                .state = slice_str(job_state_word(job->state)),
                                .code = slice_str(block_word(reason.block)),
                                .text = slice_str(block_text(reason.block)),
                                .parents_open = reason.parents_open,
                                .limit = reason.limit,
                                .question = reason.question.v};
    reason_of_block(s, job, &reason, ret);
    if (ends_by_itself(reason.block) && reason.until.ms != TIME_NEVER) ret->until_ms = reason.until.ms;
    if (!job_state_is_terminal(job->state)) return;
    server_view_job(s, job, false, &shown);
    ret->text = reason_view_end(s, &shown);
    ret->parent = shown.root;
}

/* ---- the end ---- */

static const char *const cause_texts[JOB_CAUSE_COUNT] = {
    [CAUSE_LOST] = "its worker was lost",
    [CAUSE_UPSTREAM] = "a job that it needs did not succeed",
    [CAUSE_NO_WORKER] = "no worker took it in time",
    [CAUSE_REJECTED] = "its worker could not start it",
    [CAUSE_DISPATCH] = "its worker did not start it in time",
    [CAUSE_RUN_TIMEOUT] = "it ran longer than its timeout",
    [CAUSE_DEADLINE] = "its deadline has passed",
    [CAUSE_VERDICT] = "it was rejected",
    [CAUSE_NO_VERDICT] = "it was not approved in time",
    [CAUSE_REQUEST] = "cancelled by request",
    [CAUSE_SAGA] = "its flow failed and was compensated",
    [CAUSE_UNHEALTHY] = "the service that it deploys did not become healthy in time (`reeve logs` of the job shows "
                        "the output of the service)",
    [CAUSE_REPLACED] = "a later deployment of the same service replaced it",
    [CAUSE_CHILDREN] = "more of its items failed than it allows",
    [CAUSE_FLOW_TIMEOUT] = "the time of its flow was over (timeout)",
    [CAUSE_OUTCOME] = "the jobs of its flow came to another end than it is for",
};

/* By people a job is denied; what the server finds itself skips it or fails it. */
static const char *verdict_text(const struct wire_job_view *v) {
    if (slice_eq(v->state, SLICE("skipped"))) return "its `when` is false";
    return slice_eq(v->state, SLICE("failed")) ? "an expression of it failed" : cause_texts[CAUSE_VERDICT];
}

static const char *cause_text(const struct wire_job_view *v) {
    if (slice_eq(v->cause, slice_str(job_cause_words[CAUSE_VERDICT]))) return verdict_text(v);
    for (int cause = 0; cause < JOB_CAUSE_COUNT; cause++)
        if (cause_texts[cause] != NULL && slice_eq(v->cause, slice_str(job_cause_words[cause])))
            return cause_texts[cause];
    return NULL;
}

struct slice reason_view_end(struct server *s, const struct wire_job_view *v) {
    struct buf b;
    buf_init(&b, WIRE_TEXT_MAX);
    buf_printf(&b, "the job has finished: %.*s", SLICE_FMT(v->state));
    if (v->signal != 0)
        buf_printf(&b, ", killed by signal %u", v->signal);
    else if (v->exit_code != 0)
        buf_printf(&b, ", exit code %u", v->exit_code);
    const char *cause = cause_text(v);
    if (cause != NULL) buf_printf(&b, ", %s", cause);
    if (v->root.len > 0) buf_printf(&b, " (%.*s)", SLICE_FMT(v->root));
    bool is_good = slice_eq(v->state, SLICE("succeeded"));
    if (v->attempt > 1 && !is_good) buf_printf(&b, ", in attempt %u of %u", v->attempt, v->attempts_max);
    if (v->reason.len > 0) buf_printf(&b, ": %.*s", SLICE_FMT(v->reason));
    struct slice text = b.full ? v->reason : arena_slice(&s->frame_arena, buf_slice(&b));
    buf_fini(&b);
    return text;
}
