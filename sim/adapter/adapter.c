/* adapter.c: see adapter.h. */
#include "adapter.h"

#include "adapter_record.h"
#include "check.h"
#include "engine.h"
#include "model.h"
#include "panic.h"
#include "service_version.h"
#include "world.h"

#define ARENA_BYTES_MAX ((size_t)512 << 20)

static struct trace_bytes bytes(struct slice s) {
    return (struct trace_bytes){s.ptr, (uint32_t)s.len};
}

void adapter_init(struct adapter *a, struct world *w) {
    *a = (struct adapter){.w = w, .model = model_new(), .check = check_new()};
    arena_init(&a->arena, 4096, ARENA_BYTES_MAX);
}

void adapter_fini(struct adapter *a) {
    model_free(a->model);
    check_free(a->check);
    arena_fini(&a->arena);
}

/* ---- handing over ---- */

static void judge(struct adapter *a, struct trace_entry *e) {
    if (!trace_is_record(e->kind)) e->time_ms = world_wall(a->w).ms;
    if (!check_entry(a->check, e)) world_red(a->w, "check", "%s", check_finding(a->check));
}

void adapter_judge(struct adapter *a, struct trace_entry *e) {
    judge(a, e);
}

/* A history keeps what leaves memory; clients may ask it later how a parent ended. */
static void remember(struct adapter *a, uint64_t flow) {
    struct known_flow *known = world_flow(a->w, (flow_id){flow});
    struct trace_job_state job;
    if (known == NULL || !model_job(a->model, flow, 0, &job)) return;
    for (int s = JOB_SUCCEEDED; s < (int)JOB_STATE_COUNT; s++) {
        if (adapter_state((enum job_state)s) == job.state) known->first = (enum job_state)s;
    }
    known->forgotten = true;
}

static void teach(struct adapter *a, const struct trace_entry *e, bool judging) {
    char text[MODEL_TEXT_BYTES];
    struct trace_entry undo = {.kind = TW_UNDO};
    if (e->kind == TR_FORGOTTEN) remember(a, e->as.job.flow);
    if (!model_apply(a->model, e, text)) {
        world_red(a->w, "model", "LSN %lu: %s", (unsigned long)e->lsn, text);
    }
    ledger_record(&a->w->server.ledger, e, judging);
    uint64_t fatal = e->kind == TR_ENDED ? e->as.attempt.flow : e->kind == TR_VERDICT ? e->as.verdict.flow : 0;
    struct trace_flow_now flow;
    if (fatal && model_flow(a->model, fatal, &flow) && flow.unwinding == TZ_STOPPING)
        ledger_called_off(&a->w->server.ledger, fatal);
    for (uint32_t i = 0; i < a->w->server.ledger.entries.count; i++) {
        struct ledger_entry *open = vec_at(&a->w->server.ledger.entries, i);
        struct trace_job_state job; /* services are stopped without a record for each attempt */
        if (!model_job(a->model, open->job.flow.v, open->job.ordinal, &job)) continue;
        if (job.stop != TX_NONE) open->stopping = true;
    }
    a->told_lsn = e->lsn;
    struct trace_entry version = {.kind = TW_VERSION};
    while (model_version_made(a->model, &version.as.version)) {
        if (judging) judge(a, &version);
    }
    while (model_made(a->model, &undo.as.undo)) {
        if (judging) judge(a, &undo);
    }
}

/* ---- records ---- */

static void note_record(struct adapter *a, const struct trace_entry *e) {
    WORLD_NOTE(a->w, e->lsn, e->kind, e->sum, "record %lu: %s", (unsigned long)e->lsn,
               adapter_record_text(e, (char[160]){0}, 160));
}

enum adapter_telling { TELL_LIVE, TELL_REPLAYED, TELL_MODEL };

static void tell_batch(struct adapter *a, const struct batch *b, enum adapter_telling telling) {
    struct cursor c = cursor_of(b->records);
    uint64_t lsn = b->first_lsn;
    int64_t time_ms = b->time.ms;
    arena_reset(&a->arena);
    for (; cursor_left(&c) > 0; lsn++) {
        struct trace_entry e = {.lsn = lsn, .time_ms = time_ms, .epoch = b->epoch, .seed = b->seed};
        e.replayed = telling == TELL_REPLAYED;
        const char *wrong = adapter_record(&c, &a->arena, &e);
        if (wrong) world_red(a->w, "record", "LSN %lu: %s", (unsigned long)lsn, wrong);
        if (e.kind == TR_FORGOTTEN && telling == TELL_LIVE) {
            e.as.job.keep_ms = a->w->plan.limits.retention_ms;
            e.as.job.dead_keep_ms = a->w->plan.limits.dead_letter_ms;
            e.as.job.projected_lsn = a->w->server.projected_lsn;
        }
        if (e.kind == TR_SCHEDULE) { /* what the rules depend on and the record does not say */
            e.as.schedule.late_ms = a->w->plan.limits.schedule_late_ms;
            e.as.schedule.catch_up_max = (uint32_t)a->w->plan.limits.schedule_catch_up_max;
            e.as.schedule.waiting_max = (uint32_t)a->w->plan.limits.schedule_waiting_max;
        }
        if (e.kind == TR_MEMO_KEPT || e.kind == TR_MEMO_DROPPED) {
            e.as.memo.standard_ms = a->w->plan.limits.memo_ms;
            e.as.memo.most = (uint32_t)a->w->plan.limits.memo_tenant_max;
        }
        if (e.kind == TR_CLOCK) time_ms += e.as.clock.by_ms;
        if (telling == TELL_LIVE) note_record(a, &e);
        if (telling != TELL_MODEL) judge(a, &e);
        if (telling != TELL_REPLAYED) teach(a, &e, telling == TELL_LIVE);
    }
    if (lsn != b->last_lsn + 1)
        world_red(a->w, "batch", "holds %lu records, names %lu", (unsigned long)(lsn - b->first_lsn),
                  (unsigned long)(b->last_lsn + 1 - b->first_lsn));
}

void adapter_batch(struct adapter *a, const struct batch *b, bool replayed) {
    tell_batch(a, b, replayed ? TELL_REPLAYED : TELL_LIVE);
}

void adapter_durable(struct adapter *a, uint64_t lsn) {
    judge(a, &(struct trace_entry){.kind = TW_DURABLE, .as.durable = {lsn}});
}

void adapter_crashed(struct adapter *a) {
    judge(a, &(struct trace_entry){.kind = TW_CRASHED});
}

/* The model knows no way back: when records were lost it starts anew with those that were not. */
void adapter_restarted(struct adapter *a, uint64_t epoch, uint64_t head) {
    judge(a, &(struct trace_entry){.kind = TW_RESTARTED, .as.restarted = {epoch, head}});
    if (a->told_lsn == head) return;
    model_free(a->model);
    a->model = model_new();
    a->told_lsn = 0;
    ledger_clear(&a->w->server.ledger);
    const struct simlog *log = &a->w->server.log;
    for (uint32_t i = 0; i < log->batches.count; i++) tell_batch(a, vec_at(&log->batches, i), TELL_MODEL);
    ENSURE(a->told_lsn == head);
}

void adapter_released(struct adapter *a, const struct effect *e, uint64_t epoch) {
    static const enum trace_effect effects[] = {
        [EFFECT_ANSWER] = TE_ANSWER,   [EFFECT_EVENT] = TE_EVENT,         [EFFECT_ASSIGN] = TE_ASSIGN,
        [EFFECT_STOP] = TE_STOP,       [EFFECT_DROP] = TE_DROP,           [EFFECT_QUESTION] = TE_QUESTION,
        [EFFECT_CHANGED] = TE_CHANGED, [EFFECT_PUBLISHED] = TE_PUBLISHED, [EFFECT_SLOTS_WANTED] = TE_SLOTS,
        [EFFECT_TOKEN_ENDED] = TE_TOKEN_ENDED,
    };
    judge(a, &(struct trace_entry){.kind = TW_RELEASED, .as.released = {effects[e->kind], e->lsn, epoch}});
}

/* ---- talk ---- */

static enum trace_ask ask_of(enum command_kind kind) {
    switch (kind) {
    case CMD_SUBMIT: return TQ_SUBMIT;
    case CMD_ADD: return TQ_ADD;
    case CMD_CANCEL: return TQ_CANCEL;
    case CMD_RETRY: return TQ_RETRY;
    case CMD_DISCARD: return TQ_DISCARD;
    case CMD_RERUN: return TQ_RERUN;
    case CMD_FORGET: return TQ_FORGET;
    case CMD_ATTACH: return TQ_ATTACH;
    case CMD_STARTED: return TQ_STARTED;
    case CMD_DONE: return TQ_DONE;
    case CMD_VERDICT: return TQ_VERDICT;
    case CMD_HEALTH: return TQ_HEALTH;
    case CMD_READ: return TQ_READ;
    case CMD_PAUSE:
    case CMD_DETACH:
    case CMD_HEARTBEAT:
    case CMD_PROGRESS:
    case CMD_DRAIN:
    case CMD_POOL:
    case CMD_TOPIC:
    case CMD_TENANT:
    case CMD_STORE:
    case CMD_LIMIT:
    case CMD_POLICY:
    case CMD_CHECKPOINT:
    case CMD_SERVICE:
    case CMD_PROJECTED:
    case CMD_SCHEDULE:
    case CMD_SCHEDULE_REMOVE:
    case CMD_SCHEDULE_PAUSE:
    case CMD_SCHEDULE_BACKFILL:
    case CMD_SCHEDULE_RUN:
    case CMD_SCHEDULE_SLOTS:
    case CMD_IDENTITY:
    case CMD_COUNT: break;
    }
    return TQ_OTHER;
}

static void asked_attempt(struct trace_asked *q, const struct cmd_attempt *c) {
    q->flow = c->job.flow.v;
    q->ordinal = c->job.ordinal;
    q->attempt = c->attempt;
    q->outcome = adapter_outcome(c->outcome);
    q->worker = bytes(c->worker);
    q->incarnation = c->incarnation;
    q->healthy = c->healthy;
}

void adapter_asked(struct adapter *a, uint64_t call, const struct command *cmd, wall_time decided) {
    struct trace_entry e = {.kind = TA_ASKED};
    struct trace_asked *q = &e.as.asked;
    q->call = call;
    q->decided_ms = decided.ms;
    q->ask = ask_of(cmd->kind);
    q->tenant = bytes(cmd->tenant);
    e.principal = bytes(cmd->principal);
    switch (q->ask) {
    case TQ_SUBMIT:
        q->key = bytes(cmd->as.submit.key);
        q->key_hash = bytes(cmd->as.submit.key_hash);
        q->job_count = cmd->as.submit.jobs.job_count;
        q->source = bytes(cmd->as.submit.source.hash);
        break;
    case TQ_ADD:
        q->flow = cmd->as.add.flow.v;
        q->job_count = cmd->as.add.jobs.job_count;
        break;
    case TQ_CANCEL:
        q->flow = cmd->as.cancel.flow.v;
        q->ordinal = cmd->as.cancel.whole ? TRACE_NO_JOB : cmd->as.cancel.ordinal;
        break;
    case TQ_RETRY:
    case TQ_DISCARD:
        q->flow = cmd->as.job.flow.v;
        q->ordinal = cmd->as.job.ordinal;
        break;
    case TQ_RERUN:
    case TQ_FORGET: q->flow = cmd->as.flow.v; break;
    case TQ_HEALTH:
    case TQ_STARTED:
    case TQ_DONE: asked_attempt(q, &cmd->as.attempt); break;
    case TQ_ATTACH:
        q->worker = bytes(cmd->as.attach.worker);
        q->incarnation = cmd->as.attach.incarnation;
        break;
    case TQ_VERDICT:
    case TQ_READ:
    case TQ_OTHER:
    case TQ_COUNT: break;
    }
    if (call != 0 || q->ask == TQ_HEALTH) judge(a, &e); /* health is not answered */
}

enum trace_answer adapter_answer(enum err err) {
    if (err == ERR_OK) return TN_OK;
    if (err == ERR_CONFLICT) return TN_CONFLICT;
    if (err == ERR_STALE) return TN_STALE;
    if (err == ERR_STATE) return TN_STATE;
    if (err == ERR_NOT_FOUND) return TN_MISSING;
    return err_is_retryable(err) ? TN_BUSY : TN_REFUSED;
}

void adapter_answered(struct adapter *a, const struct msg *m) {
    judge(a, &(struct trace_entry){
                 .kind = TA_ANSWERED,
                 .as.answered = {.call = m->call,
                                 .answer = adapter_answer(m->reply.err),
                                 .lsn = m->lsn,
                                 .flow = m->reply.flow.v,
                                 .job_count = m->reply.job_count,
                                 .repeated = m->reply.repeated,
                                 .epoch = m->reply.epoch},
             });
    for (uint32_t i = 0; i < m->job_count; i++) {
        const struct seen_job *job = &m->jobs[i];
        judge(a, &(struct trace_entry){
                     .kind = TW_SEEN,
                     .as.seen = {m->lsn, job->ref.flow.v, job->ref.ordinal, adapter_state(job->state)},
                 });
    }
}

/* ---- comparison ---- */

/* The reason that people are told must fit what holds the job up. NULL when it does. */
static const char *why_misfit(const struct job_view *job, enum block block) {
    bool settling = block == BLOCK_SETTLING;
    switch (job->state) {
    case JOB_WAITING:
        if (block == BLOCK_CHILDREN) return NULL;
        if (job->item != UINT32_MAX && (block == BLOCK_PARALLEL || block == BLOCK_PARENTS)) return NULL;
        if (block == BLOCK_VERSION) return job->parents_open == 1 ? NULL : "it waits behind no version";
        if (block == BLOCK_STAGE) return job->options->stage != FLOW_STAGE_MAIN ? NULL : "it is a main job";
        if (job->parents_open > 0) return block == BLOCK_PARENTS || settling ? NULL : "it waits for parents";
        if (block == BLOCK_OUTSIDE) return job->begun ? NULL : "nothing was begun outside";
        return block == BLOCK_TIME || settling ? NULL : "it waits for a time";
    case JOB_HELD:
    case JOB_CHECKING: return block == BLOCK_QUESTION || block == BLOCK_HEALTH ? NULL : "a question is open";
    case JOB_READY:
        /* asked when the server is still: whoever could have been placed has been placed */
        if (block == BLOCK_QUEUE) return "a worker is free and it was not given to it";
        return block >= BLOCK_PAUSED || settling ? NULL : "it waits for a worker";
    case JOB_DISPATCHED:
        if (job->stop == STOP_NONE) return block == BLOCK_START ? NULL : "it has not started";
        return block == BLOCK_STOPPING ? NULL : "it is being stopped";
    case JOB_RUNNING:
        if (job->stop == STOP_NONE) return block == BLOCK_NOTHING ? NULL : "it is running";
        return block == BLOCK_STOPPING ? NULL : "it is being stopped";
    case JOB_SUCCEEDED:
    case JOB_FAILED:
    case JOB_TIMED_OUT:
    case JOB_CANCELLED:
    case JOB_DENIED:
    case JOB_QUARANTINED:
    case JOB_SKIPPED: return block == BLOCK_NOTHING ? NULL : "it is over";
    case JOB_STATE_COUNT: break;
    }
    return "it is in no state";
}

struct comparison {
    struct adapter *a;
    const struct engine *engine;
    const struct state *state;
    struct vec flows, jobs, services;
};

/* A result says who made it, unless somebody redacted it since. */
static void check_given(struct world *w, const struct job_view *job) {
    char by[64];
    int len = snprintf(by, sizeof by, "{\"by\":\"%lu/%u\"}", (unsigned long)job->from.flow.v, job->from.ordinal);
    if (job->from.flow.v == 0 || slice_eq(job->result, SLICE("{}"))) return;
    if (!slice_eq(job->result, slice_of(by, (size_t)len)))
        world_red(w, "memo", "%lu/%u was given another result than that of %lu/%u: %.*s",
                  (unsigned long)job->ref.flow.v, job->ref.ordinal, (unsigned long)job->from.flow.v, job->from.ordinal,
                  SLICE_FMT(job->result));
}

static void compare_job(void *ctx, const struct job_view *job) {
    struct comparison *c = ctx;
    struct trace_job_state *s = vec_push(&c->jobs);
    struct question_view q;
    struct why_job why;
    struct world *w = c->a->w;
    bool known = view_why(c->state, engine_live(c->engine), &w->plan.limits, job->ref, &why);
    const char *misfit = known ? why_misfit(job, why.block) : "nobody knows it";
    if (misfit && !engine_has_work(c->engine)) {
        world_red(w, "why", "%lu/%u: %s, and the reason given is \"%s\"", (unsigned long)job->ref.flow.v,
                  job->ref.ordinal, misfit, known ? block_word(why.block) : "none");
    }
    *s = (struct trace_job_state){
        .flow = job->ref.flow.v,
        .ordinal = job->ref.ordinal,
        .state = adapter_state(job->state),
        .cause = adapter_cause(job->cause),
        .attempt = job->attempt,
        .used = job->used,
        .due_ms = job->due.ms,
        .since_ms = job->since.ms,
        .parents_open = job->parents_open,
        .root = job->root,
        .stop = adapter_stop(job->stop),
        .dead_letter = job->dead_letter,
        .undoes = job->undoes + 1, /* none is the largest number */
        .from_flow = job->from.flow.v,
        .from_ordinal = job->from.ordinal,
    };
    check_given(w, job);
    if (job->question.v == 0 || !view_question(c->state, job->question, &q)) return;
    s->has_question = true;
    s->gate = adapter_gate(q.gate);
    s->revision = q.revision;
}

/* All of them, also those that have not begun and those that left nothing behind. */
static void compare_children(void *ctx, const struct job_view *job) {
    struct comparison *c = ctx;
    struct expansion_view x;
    struct job_view child;
    compare_job(c, job);
    if (!view_expansion(c->state, job->ref, &x)) return;
    for (uint32_t i = 0; i < x.count; i++) {
        ENSURE(view_job(c->state, (struct job_ref){job->ref.flow, x.first + i}, &child));
        compare_job(c, &child);
    }
}

static void compare_flow(void *ctx, flow_id id) {
    struct comparison *c = ctx;
    struct flow_view flow;
    ENSURE(view_flow(c->state, id, &flow));
    *(struct trace_flow_now *)vec_push(&c->flows) =
        (struct trace_flow_now){.flow = id.v,
                                .state = adapter_flow_state(flow.state),
                                .settling = flow.settling,
                                .more = flow.more,
                                .job_count = flow.job_count,
                                .unwinding = adapter_unwinding(flow.unwinding),
                                .undo_count = flow.undo_count,
                                .stage = adapter_stage(flow.stage),
                                .called = adapter_stage(flow.called),
                                .timed_out = flow.timed_out,
                                .late = flow.late,
                                .source = bytes(flow.source.hash)};
    view_each_job(c->state, id, compare_children, c);
}

static void compare_service(void *ctx, const struct service_view *v) {
    struct comparison *c = ctx;
    struct why_job why;
    bool known = view_why_service(c->state, engine_live(c->engine), &c->a->w->plan.limits, v->tenant, v->name, &why);
    if (!known || (why.block == BLOCK_NOTHING && !v->healthy))
        world_red(c->a->w, "why", "service %.*s is not healthy and no reason is given", SLICE_FMT(v->name));
    struct trace_service_now *now = vec_push(&c->services);
    *now = (struct trace_service_now){
        .tenant = bytes(v->tenant),
        .name = bytes(v->name),
        .desired = adapter_desired(v->desired),
        .current = v->runner.flow.v,
        .deploying = v->deploying,
        .healthy = v->healthy,
        .since_ms = v->since.ms,
    };
    REQUIRE(v->version_count <= TRACE_VERSIONS_MAX);
    for (uint32_t i = 0; i < v->version_count; i++)
        now->versions[now->version_count++] =
            (struct trace_version_now){v->versions[i].flow, v->versions[i].deployer.flow.v,
                                       v->versions[i].deployer.ordinal, (enum trace_version_state)v->versions[i].state};
}

static void compare_schedule(void *ctx, const struct schedule_view *v) {
    *(struct trace_schedule_now *)vec_push(ctx) = (struct trace_schedule_now){
        .tenant = bytes(v->tenant),
        .name = bytes(v->name),
        .after_ms = v->after.ms,
        .paused = v->paused,
        .flow = v->flow.v,
        .waiting = v->waiting,
        .fired = v->fired,
        .missed = v->missed,
        .skipped = v->skipped,
        .excluded = v->excluded,
    };
}

static void compare_schedules(struct adapter *a, const struct engine *e) {
    char text[MODEL_TEXT_BYTES];
    struct vec schedules;
    vec_init(&schedules, sizeof(struct trace_schedule_now));
    view_each_schedule(engine_state(e), compare_schedule, &schedules);
    if (!model_compare_schedules(a->model, (struct trace_schedule_now *)(void *)schedules.at, schedules.count, text))
        world_red(a->w, "model", "at LSN %lu: %s", (unsigned long)engine_lsn(e), text);
    vec_fini(&schedules);
}

static void compare_memo(void *ctx, const struct memo_view *v) {
    *(struct trace_memo *)vec_push(ctx) = (struct trace_memo){
        .from_flow = v->from.flow.v,
        .from_ordinal = v->from.ordinal,
        .tenant = bytes(v->tenant),
        .key = bytes(v->key),
        .expires_ms = v->expires.ms,
    };
}

static void compare_memos(struct adapter *a, const struct engine *e) {
    char text[MODEL_TEXT_BYTES];
    struct vec memos;
    vec_init(&memos, sizeof(struct trace_memo));
    view_each_memo(engine_state(e), compare_memo, &memos);
    if (!model_compare_memos(a->model, (struct trace_memo *)(void *)memos.at, memos.count, text))
        world_red(a->w, "model", "at LSN %lu: %s", (unsigned long)engine_lsn(e), text);
    vec_fini(&memos);
}

void adapter_compare(struct adapter *a, const struct engine *e) {
    char text[MODEL_TEXT_BYTES];
    if (a->told_lsn != engine_lsn(e)) return;
    struct comparison c = {.a = a, .engine = e, .state = engine_state(e)};
    vec_init(&c.services, sizeof(struct trace_service_now));
    view_each_service(c.state, compare_service, &c);
    vec_init(&c.flows, sizeof(struct trace_flow_now));
    vec_init(&c.jobs, sizeof(struct trace_job_state));
    view_each_flow(c.state, compare_flow, &c);
    bool same = model_compare(a->model, (struct trace_flow_now *)(void *)c.flows.at, c.flows.count,
                              (struct trace_job_state *)(void *)c.jobs.at, c.jobs.count, text);
    same = same &&
           model_compare_services(a->model, (struct trace_service_now *)(void *)c.services.at, c.services.count, text);
    if (!same) world_red(a->w, "model", "at LSN %lu: %s", (unsigned long)engine_lsn(e), text);
    vec_fini(&c.flows);
    vec_fini(&c.jobs);
    vec_fini(&c.services);
    compare_schedules(a, e);
    compare_memos(a, e);
}

struct quiet {
    struct adapter *a;
    const struct engine *e;
};

static void quiet_job(void *ctx, const struct job_view *job) {
    struct quiet *q = ctx;
    struct why_job why = {0};
    judge(q->a, &(struct trace_entry){
                    .kind = TW_SEEN,
                    .as.seen = {engine_lsn(q->e), job->ref.flow.v, job->ref.ordinal, adapter_state(job->state)}});
    if (job_state_is_terminal(job->state)) return;
    bool known = view_why(engine_state(q->e), engine_live(q->e), &q->a->w->plan.limits, job->ref, &why);
    judge(q->a,
          &(struct trace_entry){.kind = TW_WHY,
                                .as.why = {job->ref.flow.v, job->ref.ordinal, known && why.block != BLOCK_NOTHING}});
}

static void quiet_flow(void *ctx, flow_id id) {
    view_each_job(engine_state(((struct quiet *)ctx)->e), id, quiet_job, ctx);
}

void adapter_quiet(struct adapter *a, const struct engine *e) {
    view_each_flow(engine_state(e), quiet_flow, &(struct quiet){a, e});
    judge(a, &(struct trace_entry){.kind = TW_QUIET});
    char text[MODEL_TEXT_BYTES];
    const struct limits *l = &a->w->plan.limits;
    int64_t settled_ms = a->w->server.last_ms - l->schedule_retry_ms - 1000;
    if (a->told_lsn == engine_lsn(e) && !model_schedules_done(a->model, settled_ms, text))
        world_red(a->w, "model", "at the end: %s", text);
}
