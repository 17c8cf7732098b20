/* simserver.c: see simserver.h. */
#include "simserver.h"

#include "panic.h"
#include "simstore.h"
#include "simschedule.h"
#include "world.h"

#define INBOX_MAX 100000u
#define FULL_RETRY_US 20000
#define RESTART_US_MIN 1000

struct call { /* a command on its way through the engine */
    uint64_t token;
    uint32_t node;
    uint64_t request;
    uint64_t lsn; /* of the state after it was decided: nothing older may be shown */
    enum command_kind kind;
    struct job_ref job; /* of a worker's word about an attempt */
    uint32_t attempt;
    struct msg *answer; /* of a read: what it saw */
};

static void pass(void *ctx, uint64_t generation);
static void append_end(void *ctx, uint64_t generation);

/* ---- time ---- */

mono_time simserver_mono(const struct simserver *s) {
    return (mono_time){s->w->queue.now_us / 1000 + 5000};
}

static wall_time clock_wall(struct clock *c) {
    struct simserver *s = (struct simserver *)((char *)c - offsetof(struct simserver, clock));
    return world_wall(s->w);
}

static mono_time clock_mono(struct clock *c) {
    struct simserver *s = (struct simserver *)((char *)c - offsetof(struct simserver, clock));
    return simserver_mono(s);
}

static uint64_t clock_random(struct clock *c) {
    struct simserver *s = (struct simserver *)((char *)c - offsetof(struct simserver, clock));
    return rng_u64(&s->rng);
}

void simserver_inputs(struct simserver *s, struct inputs *ret) {
    struct why why = {{0}};
    uint64_t room = 0;
    if (file_space(s->journal, &room, &why) != ERR_OK) room = 0;
    mono_time mono = simserver_mono(s);
    *ret = (struct inputs){
        .wall = batch_clock_now(&s->batch_clock, world_wall(s->w), mono),
        .mono = mono,
        .random = rng_u64(&s->rng),
        .journal_free_bytes = room,
    };
}

static bool is_frozen(struct simserver *s, event_fn again, uint64_t generation) {
    if (s->frozen_until_us <= s->w->queue.now_us) return false;
    equeue_at(&s->w->queue, s->frozen_until_us, again, s, generation);
    return true;
}

static void plan_pass(struct simserver *s, int64_t delay_us) {
    if (s->pass_planned) return;
    s->pass_planned = true;
    equeue_in(&s->w->queue, delay_us, pass, s, s->generation);
}

static void tick(void *ctx, uint64_t generation) {
    struct simserver *s = ctx;
    if (!s->up || generation != s->generation) return;
    if (is_frozen(s, tick, generation)) return;
    if (s->w->queue.now_us < s->tick_at_us) return; /* a later plan replaced this one */
    s->tick_at_us = 0;
    plan_pass(s, 0);
}

/* Wall time of the batches runs close to virtual time, so a due time is aimed at directly; a tick that comes too early
 * finds nothing due and aims again. */
static void plan_tick(struct simserver *s) {
    int64_t now_ms = s->w->queue.now_us / 1000;
    int64_t wait = INT64_MAX;
    wall_time due = engine_next_due(s->engine);
    mono_time lease = engine_next_lease(s->engine);
    if (due.ms != TIME_NEVER) wait = due.ms - s->batch_clock.last.ms;
    if (lease.ms != TIME_NEVER && lease.ms - simserver_mono(s).ms < wait)
        wait = lease.ms - simserver_mono(s).ms;
    if (engine_has_work(s->engine)) wait = 0;
    if (wait == INT64_MAX) return;
    if (wait < 1) wait = engine_has_work(s->engine) && !s->appending ? 0 : 1;
    if (wait > 3600000) wait = 3600000;
    int64_t at = wait == 0 ? s->w->queue.now_us + 100 : (now_ms + wait) * 1000;
    if (s->tick_at_us != 0 && s->tick_at_us <= at) return;
    s->tick_at_us = at;
    equeue_at(&s->w->queue, at, tick, s, s->generation);
}

/* ---- commands ---- */

static void copy_jobs(void *ctx, const struct job_view *job) {
    struct msg *m = ctx;
    m->jobs[m->job_count++] = (struct seen_job){job->ref, job->state};
}

static void count_job(void *ctx, const struct job_view *job) {
    (void)job;
    (*(uint32_t *)ctx)++;
}

struct question_copy {
    struct msg *m;
    const struct state *state;
};

static void copy_question(void *ctx, const struct question_view *q) {
    struct question_copy *copy = ctx;
    struct job_view job;
    if (!view_job(copy->state, q->job, &job)) return;
    copy->m->questions[copy->m->question_count++] =
        (struct seen_question){.id = q->id,
                               .revision = q->revision,
                               .gate = q->gate,
                               .hash = arena_slice(&copy->m->arena, q->hash),
                               .job_kind = job.options->kind,
                               .job = q->job};
}

static void count_question(void *ctx, const struct question_view *q) {
    (void)q;
    (*(uint32_t *)ctx)++;
}

/* What a reader would be shown at this moment; it leaves with the answer. */
static struct msg *look(struct simserver *s, const struct msg *ask) {
    struct msg *m = simnet_msg(&s->w->net, MSG_ANSWER, NET_SERVER, ask->from);
    const struct state *state = engine_state(s->engine);
    uint32_t count = 0;
    struct flow_view flow;
    switch (ask->read) {
    case READ_NOTHING: break;
    case READ_FLOW:
        m->found = view_flow(state, ask->read_flow, &flow);
        if (!m->found) break;
        m->jobs = ARENA_ARRAY(&m->arena, struct seen_job, flow.job_count + 1);
        view_each_job(state, ask->read_flow, copy_jobs, m);
        break;
    case READ_QUESTIONS:
        view_each_question(state, count_question, &count);
        m->questions = ARENA_ARRAY(&m->arena, struct seen_question, count + 1);
        view_each_question(state, copy_question, &(struct question_copy){m, state});
        break;
    case READ_DEAD:
        view_each_dead_letter(state, count_job, &count);
        m->jobs = ARENA_ARRAY(&m->arena, struct seen_job, count + 1);
        view_each_dead_letter(state, copy_jobs, m);
        break;
    case READ_STORE: simstore_look(s, ask, m); break;
    }
    return m;
}

/* What the ledger must know to judge: when a worker was last heard, and what it says it holds. */
static void note_worker(struct simserver *s, uint32_t node, const struct command *cmd) {
    bool attaches = cmd->kind == CMD_ATTACH && cmd->as.attach.incarnation >= s->incarnations[node];
    bool present = s->attached[node] && cmd->as.worker.incarnation == s->incarnations[node];
    bool beats = cmd->kind == CMD_HEARTBEAT && present;
    if (cmd->kind == CMD_DETACH) s->attached[simworker_node(cmd->as.worker.worker)] = false;
    if (attaches) {
        s->incarnations[node] = cmd->as.attach.incarnation;
        s->attached[node] = true;
        ledger_attached(&s->ledger, node, &cmd->as.attach);
    }
    if (!attaches && !beats) return;
    int64_t now_ms = simserver_mono(s).ms;
    if (now_ms - s->heard_ms[node] >= s->w->plan.limits.lease_ms) s->lapsed[node] = true;
    s->heard_ms[node] = now_ms;
}

static void command(struct simserver *s, struct msg *m) {
    struct command cmd = m->cmd;
    uint32_t index = 0;
    if (m->from != NET_SERVER) {
        index = pool_alloc(&s->calls);
        ENSURE(index != 0);
        struct call *call = pool_at(&s->calls, index);
        cmd.token = ++s->call_last;
        *call = (struct call){.token = cmd.token, .node = m->from, .request = m->request, .kind = cmd.kind};
        if (cmd.kind == CMD_STARTED || cmd.kind == CMD_PROGRESS || cmd.kind == CMD_DONE ||
            cmd.kind == CMD_HEALTH) {
            call->job = cmd.as.attempt.job;
            call->attempt = cmd.as.attempt.attempt;
        }
        map_put(&s->call_by_token, cmd.token, index);
    }
    WORLD_NOTE(s->w, m->from, cmd.kind, cmd.token, "server: node %u asks %d (call %lu)", m->from,
               (int)cmd.kind, (unsigned long)cmd.token);
    adapter_asked(&s->w->adapter, cmd.token, &cmd, engine_now(s->engine));
    uint64_t before = engine_lsn(s->engine);
    engine_command(s->engine, &cmd);
    if (cmd.kind == CMD_PROJECTED && cmd.as.lsn > s->projected_lsn) s->projected_lsn = cmd.as.lsn;
    if (index != 0) {
        struct call *call = pool_at(&s->calls, index);
        call->lsn = engine_lsn(s->engine);
        simstore_decided(s, cmd.token, m, before);
        if (cmd.kind == CMD_READ) call->answer = look(s, m);
    }
    note_worker(s, m->from, &cmd);
}

static bool is_fast_lane(const struct msg *m) {
    return m->from == NET_SERVER || m->cmd.kind == CMD_VERDICT || m->cmd.kind == CMD_ATTACH ||
           m->cmd.kind == CMD_HEARTBEAT || m->cmd.kind == CMD_STARTED || m->cmd.kind == CMD_PROGRESS ||
           m->cmd.kind == CMD_HEALTH || m->cmd.kind == CMD_DONE || m->cmd.kind == CMD_DETACH;
}

static void inbox_take(struct simserver *s, bool fast) {
    struct msg **at = (struct msg **)(void *)s->inbox.at;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->inbox.count; i++) {
        struct msg *m = at[i];
        if (is_fast_lane(m) != fast || engine_is_full(s->engine)) {
            at[kept++] = m;
            continue;
        }
        command(s, m);
        simnet_unref(&s->w->net, m);
    }
    s->inbox.count = kept;
}

static void pass(void *ctx, uint64_t generation) {
    struct simserver *s = ctx;
    if (!s->up || generation != s->generation) return;
    if (is_frozen(s, pass, generation)) return;
    s->pass_planned = false;
    struct inputs in;
    simserver_inputs(s, &in);
    engine_begin(s->engine, &in);
    inbox_take(s, true);
    inbox_take(s, false);
    engine_finish(s->engine);
    simserver_pump(s);
}

void simserver_receive(struct simserver *s, struct msg *m) {
    if (!s->up || s->inbox.count >= INBOX_MAX) return; /* nobody listens */
    bool of_worker = m->from >= 1 && m->from <= s->w->plan.workers;
    struct session *session = &s->sessions[m->from];
    if (of_worker && !m->stale) {
        if (m->session < session->number) return; /* a connection that was replaced */
        if (m->cmd.kind == CMD_ATTACH && m->session > session->number) {
            *session = (struct session){m->session, m->cmd.as.attach.incarnation, false};
        } else if (m->session > session->number || session->closed) {
            struct msg *reset = simnet_msg(&s->w->net, MSG_ANSWER, NET_SERVER, m->from);
            reset->asked = m->cmd.kind;
            reset->session = m->session;
            reset->epoch = s->epoch;
            reset->reply.err = ERR_UNAUTHENTICATED;
            simnet_send(&s->w->net, reset);
            return;
        }
    }
    m->refs++;
    *(struct msg **)vec_push(&s->inbox) = m;
    plan_pass(s, rng_range(&s->rng, 0, 500));
}

void simserver_hang_up(struct simserver *s, uint32_t node) {
    struct session *session = &s->sessions[node];
    if (!s->up || session->number == 0 || session->closed) return;
    session->closed = true;
    struct msg *m = simnet_msg(&s->w->net, MSG_COMMAND, NET_SERVER, NET_SERVER);
    m->cmd.kind = CMD_DETACH;
    m->cmd.as.worker.worker = simworker_name(&m->arena, node);
    m->cmd.as.worker.incarnation = session->incarnation;
    *(struct msg **)vec_push(&s->inbox) = m;
    plan_pass(s, 0);
}

void simserver_history(struct simserver *s, uint64_t lag) {
    if (!s->up || s->durable_lsn <= lag) return;
    struct msg *m = simnet_msg(&s->w->net, MSG_COMMAND, NET_SERVER, NET_SERVER);
    m->cmd.kind = CMD_PROJECTED;
    m->cmd.as.lsn = s->durable_lsn - lag;
    simserver_receive(s, m);
    simnet_unref(&s->w->net, m);
}

/* ---- effects ---- */

static void send_answer(struct simserver *s, const struct effect *e) {
    uint32_t index = map_del(&s->call_by_token, e->as.answer.token);
    if (index == 0)
        world_red(s->w, "answer", "token %lu is answered, nobody waits", (unsigned long)e->as.answer.token);
    struct call *call = pool_at(&s->calls, index);
    if (call->lsn > s->durable_lsn) {
        world_red(s->w, "early_answer", "call %lu was decided at LSN %lu, durable is %lu",
                  (unsigned long)call->token, (unsigned long)call->lsn, (unsigned long)s->durable_lsn);
    }
    struct msg *m = call->answer ? call->answer : simnet_msg(&s->w->net, MSG_ANSWER, NET_SERVER, call->node);
    m->asked = call->kind;
    m->call = call->token;
    m->request = call->request;
    m->lsn = call->lsn;
    m->attempt.job = call->job;
    m->attempt.attempt = call->attempt;
    m->session = s->sessions[call->node].number;
    m->epoch = s->epoch;
    m->reply = *e->as.answer.reply;
    WORLD_NOTE(s->w, call->node, m->reply.err, m->reply.flow.v, "server: answers call %lu of node %u: %s %s",
               (unsigned long)call->token, call->node, err_word(m->reply.err), m->reply.why.text);
    pool_free(&s->calls, index);
    simnet_send(&s->w->net, m);
}

static void send_attempt(struct simserver *s, const struct effect *e) {
    struct worker_view worker;
    struct job_view job;
    const struct attempt_effect *a = &e->as.attempt;
    if (!view_worker(engine_state(s->engine), engine_live(s->engine), a->worker, &worker)) return;
    uint32_t node = simworker_node(worker.id);
    bool open = view_attempt(engine_state(s->engine), a, &job);
    WORLD_NOTE(s->w, node * 8 + e->kind, a->job.flow.v, a->attempt, "server: %s %lu/%u#%u at worker %u",
               e->kind == EFFECT_ASSIGN ? "assigns"
               : e->kind == EFFECT_STOP ? "stops"
                                        : "drops",
               (unsigned long)a->job.flow.v, a->job.ordinal, a->attempt, node);
    ledger_sent(&s->ledger, a->job, a->attempt);
    if (e->kind == EFFECT_ASSIGN && !open) return;
    enum msg_kind kind = e->kind == EFFECT_ASSIGN ? MSG_ASSIGN : e->kind == EFFECT_STOP ? MSG_STOP : MSG_DROP;
    struct msg *m = simnet_msg(&s->w->net, kind, NET_SERVER, node);
    m->session = s->sessions[node].number;
    m->epoch = s->epoch;
    m->attempt = *a;
    if (kind == MSG_ASSIGN) {
        m->body = arena_slice(&m->arena, job.body);
        m->exclusive = job.options->exclusive;
    }
    simnet_send(&s->w->net, m);
}

static void send_question(struct simserver *s, const struct effect *e) {
    struct question_view q;
    if (!view_question(engine_state(s->engine), e->as.question.question, &q)) return;
    uint32_t node = s->w->node_count - 1;
    struct msg *m = simnet_msg(&s->w->net, MSG_QUESTION, NET_SERVER, node);
    m->questions = ARENA_ARRAY(&m->arena, struct seen_question, 1);
    copy_question(&(struct question_copy){m, engine_state(s->engine)}, &q);
    WORLD_NOTE(s->w, q.id.v, q.revision, q.gate, "server: asks question %lu.%u (gate %d) about %lu/%u",
               (unsigned long)q.id.v, q.revision, (int)q.gate, (unsigned long)q.job.flow.v, q.job.ordinal);
    simnet_send(&s->w->net, m);
}

static void note_event(struct simserver *s, const struct effect *e) {
    const struct event *v = &e->as.event;
    if (v->kind != EVENT_JOB) return;
    WORLD_NOTE(s->w, v->job.flow.v, v->job.ordinal, v->to, "event: %lu/%u %s -> %s (%s)#%u",
               (unsigned long)v->job.flow.v, v->job.ordinal, job_state_word(v->from), job_state_word(v->to),
               job_cause_word(v->cause), v->attempt);
}

static bool crash_at_effect(struct simserver *s) {
    if (!rng_chance(&s->rng, (uint32_t)s->w->plan.effect_crash_ppm / 2)) return false;
    simserver_crash(s, rng_below(&s->rng, 2) ? CRASH_KILL : CRASH_POWER);
    return true;
}

/* Lets out everything that may leave. Returns false when the server died on the way. */
static bool release(struct simserver *s) {
    struct effect e;
    while (engine_effect(s->engine, &e)) {
        if (e.kind != EFFECT_EVENT && crash_at_effect(s)) return false;
        if (e.lsn > s->durable_lsn) {
            world_red(s->w, "early_effect", "effect %d of LSN %lu leaves, durable is %lu", (int)e.kind,
                      (unsigned long)e.lsn, (unsigned long)s->durable_lsn);
        }
        adapter_released(&s->w->adapter, &e, s->epoch);
        switch (e.kind) {
        case EFFECT_ANSWER: send_answer(s, &e); break;
        case EFFECT_EVENT: note_event(s, &e); break;
        case EFFECT_ASSIGN:
        case EFFECT_STOP:
        case EFFECT_DROP: send_attempt(s, &e); break;
        case EFFECT_QUESTION: send_question(s, &e); break;
        case EFFECT_CHANGED:
        case EFFECT_PUBLISHED: simstore_released(s, &e); break;
        case EFFECT_SLOTS_WANTED: simschedule_wanted(s, &e.as.slots); break;
        }
        if (e.kind != EFFECT_EVENT && crash_at_effect(s)) return false;
    }
    return true;
}

/* ---- append ---- */

/* Runs the real append. Returns false when the server died of it. */
static bool append_write(struct simserver *s, int64_t *ret_slow_us) {
    struct why why = {{0}};
    bool armed = rng_chance(&s->rng, (uint32_t)s->w->plan.append_crash_ppm);
    if (armed) simdisk_arm(s->disk, SIMDISK_ANY, SIMDISK_POWER, rng_below(&s->rng, 8));
    enum journal_outcome outcome =
        s->journal->ops->append(s->journal, s->epoch, s->durable_lsn, &s->batch, &why);
    if (armed) simdisk_arm(s->disk, SIMDISK_ANY, SIMDISK_FINE, 0);
    s->power_doubt |= armed;
    *ret_slow_us = (int64_t)simdisk_slow_ms_take(s->disk) * 1000;
    WORLD_NOTE(s->w, s->batch.first_lsn, s->batch.last_lsn, outcome,
               "journal: append %lu..%lu, outcome %d %s", (unsigned long)s->batch.first_lsn,
               (unsigned long)s->batch.last_lsn, (int)outcome, why.text);
    switch (outcome) {
    case JOURNAL_DURABLE: s->append_written = true; return true;
    case JOURNAL_FULL: return true;
    case JOURNAL_FAILED: simserver_crash(s, armed ? CRASH_POWER : CRASH_KILL); return false;
    case JOURNAL_FENCED:
    case JOURNAL_UNKNOWN: break;
    }
    world_red(s->w, "append", "a file has one owner, and yet outcome %d: %s", (int)outcome, why.text);
}

static void append_start(struct simserver *s) {
    if (s->appending || !engine_batch(s->engine, &s->batch)) return;
    ENSURE(s->batch.first_lsn == s->durable_lsn + 1);
    adapter_batch(&s->w->adapter, &s->batch, false);
    memset(s->lapsed, 0, sizeof s->lapsed);
    simlog_begin(&s->log, &s->batch);
    s->appending = true;
    s->append_written = false;
    s->append_early = rng_below(&s->rng, 2);
    int64_t slow_us = 0;
    if (s->append_early && !append_write(s, &slow_us)) return;
    equeue_in(&s->w->queue, slow_us + rng_range(&s->rng, 10, s->w->plan.append_us), append_end, s,
              s->generation);
}

static void append_end(void *ctx, uint64_t generation) {
    struct simserver *s = ctx;
    int64_t slow_us = 0;
    if (!s->up || generation != s->generation) return;
    if (is_frozen(s, append_end, generation)) return;
    ENSURE(s->appending);
    if (!s->append_written && !append_write(s, &slow_us)) return;
    if (!s->append_written) { /* full: everything waits, nothing is lost */
        equeue_in(&s->w->queue, FULL_RETRY_US, append_end, s, generation);
        return;
    }
    s->appending = false;
    s->durable_lsn = s->batch.last_lsn;
    simlog_commit(&s->log);
    adapter_durable(&s->w->adapter, s->durable_lsn);
    engine_durable(s->engine, s->durable_lsn);
    simserver_pump(s);
}

void simserver_pump(struct simserver *s) {
    uint64_t generation = s->generation;
    if (!release(s)) return;
    append_start(s);
    if (generation != s->generation) return; /* the append was its end */
    if (s->inbox.count > 0 && !engine_is_full(s->engine)) plan_pass(s, 100);
    plan_tick(s);
}

bool simserver_is_still(const struct simserver *s) {
    return s->up && !s->appending && engine_lsn(s->engine) == s->durable_lsn;
}

/* ---- life and death ---- */

static void calls_drop(struct simserver *s) {
    for (uint32_t i = 0; s->call_by_token.count > 0 && i <= s->call_by_token.mask; i++) {
        uint32_t index = s->call_by_token.entries[i].value;
        if (index == 0) continue;
        simnet_unref(&s->w->net, ((struct call *)pool_at(&s->calls, index))->answer);
        pool_free(&s->calls, index);
    }
    map_fini(&s->call_by_token);
    map_init(&s->call_by_token);
    for (uint32_t i = 0; i < s->inbox.count; i++)
        simnet_unref(&s->w->net, *(struct msg **)vec_at(&s->inbox, i));
    s->inbox.count = 0;
}

static void close_all(struct simserver *s) {
    calls_drop(s);
    engine_free(s->engine);
    if (s->journal) s->journal->ops->close(s->journal);
    s->engine = NULL;
    s->journal = NULL;
    s->up = false;
    s->generation++;
    s->appending = s->pass_planned = false;
    s->tick_at_us = 0;
    s->frozen_until_us = 0;
    memset(s->sessions, 0, sizeof s->sessions);
}

static void restart(void *ctx, uint64_t generation) {
    struct simserver *s = ctx;
    if (s->up || generation != s->generation) return;
    simserver_start(s);
}

void simserver_crash(struct simserver *s, enum crash_kind kind) {
    if (!s->up && s->journal == NULL) return;
    WORLD_NOTE(s->w, kind, s->durable_lsn, s->generation, "server: dies (%s), durable %lu, applied %lu",
               kind == CRASH_KILL ? "kill -9" : "power cut", (unsigned long)s->durable_lsn,
               (unsigned long)(s->engine ? engine_lsn(s->engine) : 0));
    if (s->up) adapter_crashed(&s->w->adapter);
    s->crash_count++;
    if (s->power_doubt) kind = CRASH_POWER;
    s->power_doubt = false;
    close_all(s);
    if (kind == CRASH_KILL)
        simdisk_kill(s->disk);
    else
        simdisk_crash(s->disk, (enum simdisk_crash_policy)rng_below(&s->rng, 4));
    int64_t away_us = RESTART_US_MIN + rng_skewed(&s->rng, s->w->plan.lease_ms * 3000);
    if (s->w->quiet) away_us = RESTART_US_MIN;
    equeue_in(&s->w->queue, away_us, restart, s, s->generation);
}

void simserver_freeze(struct simserver *s, int64_t ms) {
    if (!s->up) return;
    WORLD_NOTE(s->w, 77, ms, 0, "server: stands still for %ld ms", (long)ms);
    s->frozen_until_us = s->w->queue.now_us + ms * 1000;
}

/* A disk call outside the append failed: the process stops. Returns true so that callers can end with it. */
bool simserver_disk_failed(struct simserver *s, enum err err, const char *what, const char *text) {
    WORLD_NOTE(s->w, 78, err, 0, "server: %s failed: %s", what, text);
    if (err == ERR_CORRUPT) world_red(s->w, "corrupt", "%s: %s", what, text);
    simserver_crash(s, CRASH_KILL);
    return true;
}

void simserver_start(struct simserver *s) {
    s->generation++;
    if (!simserver_recover(s)) return;
    s->up = true;
    s->refused_opens = 0;
    s->projected_lsn = 0;
    s->opened_ms = simserver_mono(s).ms;
    for (uint32_t i = 0; i < NET_NODES_MAX; i++) s->heard_ms[i] = s->opened_ms;
    memset(s->lapsed, 0, sizeof s->lapsed);
    memset(s->attached, 0, sizeof s->attached);
    ledger_restarted(&s->ledger);
    simserver_pump(s);
}

void simserver_init(struct simserver *s, struct world *w, struct rng rng) {
    *s = (struct simserver){.w = w, .rng = rng};
    s->disk = simdisk_new(rng_u64(&s->rng));
    s->clock = (struct clock){clock_wall, clock_mono, clock_random};
    simlog_init(&s->log);
    ledger_init(&s->ledger, s);
    vec_init(&s->inbox, sizeof(struct msg *));
    pool_init(&s->calls, sizeof(struct call), INBOX_MAX);
    map_init(&s->call_by_token);
}

void simserver_fini(struct simserver *s) {
    close_all(s);
    simlog_fini(&s->log);
    ledger_fini(&s->ledger);
    vec_fini(&s->inbox);
    pool_fini(&s->calls);
    map_fini(&s->call_by_token);
    simdisk_free(s->disk);
}
