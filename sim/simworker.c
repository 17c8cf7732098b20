/* simworker.c: see simworker.h. */
#include "simworker.h"

#include <stdio.h>
#include <stdlib.h>

#include "panic.h"
#include "world.h"

#define LEASE_MARGIN_US 1000
#define TOMBS_MAX 4096u
#define BEATS_OPEN_MAX 2u

static void beat(void *ctx, uint64_t life);
static void process_end(void *ctx, uint64_t serial);
static void start_processes(struct simworker *v);

struct slice simworker_name(struct arena *arena, uint32_t node) {
    char text[8];
    int len = snprintf(text, sizeof text, "w%u", node);
    return arena_slice(arena, slice_of(text, (size_t)len));
}

uint32_t simworker_node(struct slice name) {
    REQUIRE(name.len == 2 && name.ptr[0] == 'w');
    return (uint32_t)(name.ptr[1] - '0');
}

static int64_t now_us(const struct simworker *v) {
    return v->w->queue.now_us;
}

static bool is_machine_stopped(const struct simworker *v) {
    return v->machine_until_us > now_us(v);
}

static bool is_stopped(const struct simworker *v) {
    return v->stopped_until_us > now_us(v) || is_machine_stopped(v);
}

static int64_t awake_us(const struct simworker *v) {
    return v->stopped_until_us > v->machine_until_us ? v->stopped_until_us : v->machine_until_us;
}

static struct holding *holding_find(struct simworker *v, struct job_ref job, uint32_t attempt) {
    for (uint32_t i = 0; i < v->held.count; i++) {
        struct holding *h = vec_at(&v->held, i);
        if (h->job.flow.v == job.flow.v && h->job.ordinal == job.ordinal && h->attempt == attempt) return h;
    }
    return NULL;
}

static bool is_buried(const struct simworker *v, struct job_ref job, uint32_t attempt) {
    for (uint32_t i = 0; i < v->tombs.count; i++) {
        const struct tomb *t = vec_at(&v->tombs, i);
        if (t->job.flow.v == job.flow.v && t->job.ordinal == job.ordinal && t->attempt == attempt)
            return true;
    }
    return false;
}

static void bury(struct simworker *v, struct job_ref job, uint32_t attempt) {
    if (is_buried(v, job, attempt)) return;
    if (v->tombs.count >= TOMBS_MAX) v->tombs.count = 0; /* by then nothing so old is on its way */
    *(struct tomb *)vec_push(&v->tombs) = (struct tomb){job, attempt};
}

static void forget(struct simworker *v, struct holding *h) {
    bury(v, h->job, h->attempt);
    *h = *(struct holding *)vec_at(&v->held, v->held.count - 1);
    v->held.count--;
}

/* ---- talking ---- */

static struct msg *message(struct simworker *v, enum command_kind kind) {
    struct msg *m = simnet_msg(&v->w->net, MSG_COMMAND, v->node, NET_SERVER);
    m->session = v->session;
    m->request = ++v->request;
    m->cmd.kind = kind;
    m->cmd.principal = simworker_name(&m->arena, v->node);
    return m;
}

static void send(struct simworker *v, struct msg *m) {
    struct msg **slot = &v->sent[v->sent_count++ % WORKER_SENT_MAX];
    simnet_unref(&v->w->net, *slot);
    m->refs++;
    *slot = m;
    simnet_send(&v->w->net, m);
}

static void send_attempt(struct simworker *v, enum command_kind kind, const struct holding *h) {
    struct msg *m = message(v, kind);
    m->cmd.as.attempt = (struct cmd_attempt){
        .worker = m->cmd.principal,
        .incarnation = v->incarnation,
        .job = h->job,
        .attempt = h->attempt,
        .percent = 50,
        .outcome = h->outcome,
        .exit_code = h->exit_code,
        .signal = h->signal,
        .healthy = h->healthy,
    };
    bool silent = h->job.ordinal >= FIRST_CHILD_ORDINAL && h->job.ordinal % 2; /* such children leave nothing behind */
    if (kind == CMD_DONE && h->outcome == OUTCOME_OK && !silent) {
        char by[64]; /* a result says whose it is: it may be given to others */
        int len = snprintf(by, sizeof by, "{\"by\":\"%lu/%u\"}", (unsigned long)h->job.flow.v, h->job.ordinal);
        m->cmd.as.attempt.result = arena_slice(&m->arena, slice_of(by, (size_t)len));
        m->cmd.as.attempt.log_bytes = 100;
    }
    send(v, m);
}

static void attach(struct simworker *v) {
    v->session++;
    struct msg *m = message(v, CMD_ATTACH);
    struct held_attempt *list = ARENA_ARRAY(&m->arena, struct held_attempt, v->held.count + 1);
    for (uint32_t i = 0; i < v->held.count; i++) {
        const struct holding *h = vec_at(&v->held, i);
        list[i] = (struct held_attempt){h->job, h->attempt, h->phase};
    }
    m->cmd.as.attach = (struct cmd_attach){
        .worker = m->cmd.principal,
        .incarnation = v->incarnation,
        .info = v->info,
        .held = list,
        .held_count = v->held.count,
    };
    v->attached = false;
    v->beats_open = 0;
    v->attach_request = m->request;
    v->attach_sent_us = now_us(v);
    WORLD_NOTE(v->w, v->node, v->incarnation, v->held.count, "worker %u: attaches, incarnation %lu, holds %u",
               v->node, (unsigned long)v->incarnation, v->held.count);
    send(v, m);
}

static void heartbeat(struct simworker *v, enum command_kind kind) {
    struct msg *m = message(v, kind);
    m->cmd.as.worker = (struct cmd_worker){
        .worker = m->cmd.principal,
        .incarnation = v->incarnation,
        .credit = v->info.slots,
        .cpu_percent = rng_below(&v->rng, 101),
    };
    if (kind == CMD_HEARTBEAT) {
        v->beats_open++;
        v->beat_request = m->request;
        v->beat_sent_us = now_us(v);
    }
    send(v, m);
}

static void repeat_old(struct simworker *v) {
    struct msg *old = v->sent[rng_below(&v->rng, WORKER_SENT_MAX)];
    if (old == NULL) return;
    WORLD_NOTE(v->w, v->node, old->cmd.kind, old->request, "worker %u: repeats an old message (%d)", v->node,
               (int)old->cmd.kind);
    struct msg *m = simnet_msg(&v->w->net, MSG_COMMAND, v->node, NET_SERVER);
    struct arena own = m->arena;
    m->cmd = old->cmd; /* its slices live as long as the old message does */
    m->arena = own;
    m->session = old->session;
    m->request = 0; /* nobody waits for the answer */
    m->stale = true;
    old->refs++; /* kept until the world ends: the copy points into it */
    simnet_send(&v->w->net, m);
}

/* Of a service: again while nobody heard it, and now and then anyway; among faults it may also change. */
static void report_health(struct simworker *v, struct holding *h) {
    if (!v->w->quiet && rng_below(&v->rng, 8) == 0) {
        h->healthy = !h->healthy;
        h->health_acked = false;
    } else if (v->w->quiet && !h->healthy) {
        h->healthy = true;
        h->health_acked = false;
    }
    if (!h->health_acked || rng_below(&v->rng, 4) == 0) send_attempt(v, CMD_HEALTH, h);
}

static void resend(struct simworker *v) {
    for (uint32_t i = 0; i < v->held.count; i++) {
        struct holding *h = vec_at(&v->held, i);
        if (h->phase == HELD_FINISHED)
            send_attempt(v, CMD_DONE, h);
        else if (h->phase == HELD_RUNNING && !h->started_acked)
            send_attempt(v, CMD_STARTED, h);
        else if (h->phase == HELD_RUNNING && h->has_health)
            report_health(v, h);
        else if (h->phase == HELD_RUNNING && rng_below(&v->rng, 8) == 0)
            send_attempt(v, CMD_PROGRESS, h);
    }
}

/* ---- processes ---- */

static void process_over(struct simworker *v, struct holding *h, const char *how) {
    ENSURE(h->process == PROCESS_LIVE);
    ENSURE(v->live > 0);
    h->process = PROCESS_OVER;
    v->live--;
    WORLD_NOTE(v->w, v->node, h->job.flow.v * 4096 + h->job.ordinal, h->attempt,
               "worker %u: process %lu/%u#%u %s", v->node, (unsigned long)h->job.flow.v, h->job.ordinal,
               h->attempt, how);
    adapter_process(&v->w->adapter, v, h, false);
}

/* The worker notices an end and writes it to its spool. */
static void finish(struct simworker *v, struct holding *h, enum outcome outcome, uint32_t exit_code,
                   uint32_t sig) {
    h->phase = HELD_FINISHED;
    h->outcome = outcome;
    h->exit_code = exit_code;
    h->signal = sig;
    if (v->attached) send_attempt(v, CMD_DONE, h);
}

static int64_t body_number(struct slice body, const char *key, int64_t otherwise) {
    size_t len = strlen(key);
    for (size_t i = 0; i + len < body.len; i++) {
        if (memcmp(body.ptr + i, key, len) != 0 || (i > 0 && body.ptr[i - 1] != ' ')) continue;
        int64_t value = 0;
        for (i += len; i < body.len && body.ptr[i] >= '0' && body.ptr[i] <= '9'; i++)
            value = value * 10 + body.ptr[i] - '0';
        return value;
    }
    return otherwise;
}

/* "undo=NAME" at the end of a body. */
static void holding_read_undo(struct holding *h, struct slice body) {
    static const char key[] = " undo=";
    for (size_t i = 0; i + sizeof key - 1 < body.len; i++) {
        if (memcmp(body.ptr + i, key, sizeof key - 1) != 0) continue;
        size_t from = i + sizeof key - 1, len = body.len - from;
        REQUIRE(len <= sizeof h->undoes);
        memcpy(h->undoes, body.ptr + from, len);
        h->undoes_len = (uint32_t)len;
        return;
    }
}

/* How the process will end is known to the simulation from the start. */
static void holding_read_body(struct holding *h, struct slice body) {
    holding_read_undo(h, body);
    h->run_us = body_number(body, "ms=", 10) * 1000;
    h->health_us = body_number(body, "health=", -1) * 1000;
    h->exit_code = (uint32_t)body_number(body, "exit=", 0);
    if (h->job.ordinal >= FIRST_CHILD_ORDINAL && h->job.ordinal % 3) h->exit_code = 0; /* not all children are alike */
    if (h->attempt <= (uint32_t)body_number(body, "flaky=", 0)) h->exit_code = 1;
}

static void health_comes(void *ctx, uint64_t serial);

static void process_start(struct simworker *v, struct holding *h) {
    h->phase = HELD_RUNNING;
    h->process = PROCESS_LIVE;
    v->live++;
    WORLD_NOTE(v->w, v->node, h->job.flow.v * 4096 + h->job.ordinal, h->attempt,
               "worker %u: process %lu/%u#%u begins", v->node, (unsigned long)h->job.flow.v, h->job.ordinal,
               h->attempt);
    adapter_process(&v->w->adapter, v, h, true);
    if (v->attached) send_attempt(v, CMD_STARTED, h);
    equeue_in(&v->w->queue, h->run_us, process_end, v, h->serial);
    if (h->health_us > 0) equeue_in(&v->w->queue, h->health_us, health_comes, v, h->serial);
}

static void start_processes(struct simworker *v) {
    for (uint32_t i = 0; i < v->held.count && v->live < v->info.slots; i++) {
        struct holding *h = vec_at(&v->held, i);
        if (h->phase != HELD_ASSIGNED) continue;
        if (h->exclusive && now_us(v) >= v->lease_until_us) continue;
        process_start(v, h);
    }
}

/* Reaps children that ended while the worker process was stopped. */
static void reap(struct simworker *v) {
    for (uint32_t i = 0; i < v->held.count; i++) {
        struct holding *h = vec_at(&v->held, i);
        if (h->phase != HELD_RUNNING || h->process != PROCESS_OVER) continue;
        if (h->signal != 0)
            finish(v, h, h->stopping ? OUTCOME_STOPPED : OUTCOME_EXIT, 0, h->signal);
        else
            finish(v, h, h->exit_code == 0 ? OUTCOME_OK : OUTCOME_EXIT, h->exit_code, 0);
    }
    start_processes(v);
}

static struct holding *holding_by_serial(struct simworker *v, uint64_t serial) {
    for (uint32_t i = 0; i < v->held.count; i++) {
        struct holding *h = vec_at(&v->held, i);
        if (h->serial == serial) return h;
    }
    return NULL;
}

static void health_comes(void *ctx, uint64_t serial) {
    struct simworker *v = ctx;
    struct holding *h = holding_by_serial(v, serial);
    if (!v->alive || h == NULL || h->process != PROCESS_LIVE) return;
    if (is_stopped(v)) {
        equeue_at(&v->w->queue, awake_us(v) + 1, health_comes, v, serial);
        return;
    }
    h->has_health = h->healthy = true;
    if (v->attached) send_attempt(v, CMD_HEALTH, h);
}

static void process_end(void *ctx, uint64_t serial) {
    struct simworker *v = ctx;
    struct holding *h = holding_by_serial(v, serial);
    if (!v->alive || h == NULL || h->process != PROCESS_LIVE) return;
    if (is_machine_stopped(v)) {
        equeue_at(&v->w->queue, v->machine_until_us + 1 + h->run_us / 2, process_end, v, serial);
        return;
    }
    process_over(v, h, "ends");
    if (!is_stopped(v)) reap(v);
}

static void process_kill(struct simworker *v, struct holding *h, const char *how) {
    h->signal = 9;
    process_over(v, h, how);
}

static void stop_end(void *ctx, uint64_t serial) {
    struct simworker *v = ctx;
    struct holding *h = holding_by_serial(v, serial);
    if (!v->alive || h == NULL || h->process != PROCESS_LIVE) return;
    if (is_stopped(v)) {
        equeue_at(&v->w->queue, awake_us(v) + 1, stop_end, v, serial);
        return;
    }
    process_kill(v, h, "is stopped");
    reap(v);
}

/* ---- the keeper ---- */

static void keeper(void *ctx, uint64_t life) {
    struct simworker *v = ctx;
    if (!v->alive || life != v->life) return;
    if (is_machine_stopped(v)) {
        equeue_at(&v->w->queue, v->machine_until_us + 1, keeper, v, life);
        return;
    }
    if (now_us(v) < v->lease_until_us) return; /* renewed: a later keeper event is planned */
    for (uint32_t i = 0; i < v->held.count; i++) {
        struct holding *h = vec_at(&v->held, i);
        if (h->exclusive && h->process == PROCESS_LIVE) process_kill(v, h, "is killed by the keeper");
    }
    if (!is_stopped(v)) reap(v);
}

static void lease_renew(struct simworker *v, int64_t sent_us, int64_t lease_ms) {
    int64_t until = sent_us + lease_ms * 1000 - LEASE_MARGIN_US;
    if (until <= v->lease_until_us) return;
    v->lease_until_us = until;
    equeue_at(&v->w->queue, until, keeper, v, v->life);
    start_processes(v);
}

/* ---- hearing ---- */

static void hear_assign(struct simworker *v, const struct msg *m) {
    struct holding *known = holding_find(v, m->attempt.job, m->attempt.attempt);
    if (m->attempt.incarnation != v->incarnation || is_buried(v, m->attempt.job, m->attempt.attempt)) return;
    if (known) return; /* DONE and STARTED are repeated anyway */
    struct holding *h = vec_push(&v->held);
    *h = (struct holding){
        .job = m->attempt.job,
        .attempt = m->attempt.attempt,
        .fence = m->attempt.fence,
        .serial = ++v->serial,
        .phase = HELD_ASSIGNED,
        .exclusive = m->exclusive,
    };
    holding_read_body(h, m->body);
    if (rng_below(&v->rng, 100) == 0 && !v->w->quiet) {
        finish(v, h, OUTCOME_REFUSED, 0, 0);
        return;
    }
    start_processes(v);
}

static void hear_stop(struct simworker *v, const struct msg *m) {
    struct holding *h = holding_find(v, m->attempt.job, m->attempt.attempt);
    if (m->attempt.incarnation != v->incarnation) return;
    if (h == NULL && is_buried(v, m->attempt.job, m->attempt.attempt)) return;
    if (h == NULL) { /* the stop overtook its assignment: confirm, and never start it */
        h = vec_push(&v->held);
        *h = (struct holding){.job = m->attempt.job, .attempt = m->attempt.attempt, .phase = HELD_ASSIGNED};
        h->serial = ++v->serial;
    }
    if (h->phase == HELD_ASSIGNED) finish(v, h, OUTCOME_STOPPED, 0, 0);
    if (h->phase != HELD_RUNNING || h->stopping) return;
    h->stopping = true;
    int64_t grace_us = rng_range(&v->rng, 0, v->w->plan.limits.kill_grace_ms * 1000);
    equeue_in(&v->w->queue, grace_us, stop_end, v, h->serial);
}

static void hear_drop(struct simworker *v, const struct msg *m) {
    struct holding *h = holding_find(v, m->attempt.job, m->attempt.attempt);
    if (h == NULL) return;
    if (h->process == PROCESS_LIVE) process_kill(v, h, "is dropped");
    forget(v, h);
    start_processes(v);
}

static void hear_attempt_answer(struct simworker *v, const struct msg *m) {
    struct holding *h = holding_find(v, m->attempt.job, m->attempt.attempt);
    if (h == NULL || err_is_retryable(m->reply.err) || m->reply.err == ERR_UNAUTHENTICATED) return;
    if (m->asked == CMD_DONE) {
        if (h->phase == HELD_FINISHED) forget(v, h); /* taken, or nobody wants it any more */
    } else if (m->reply.err == ERR_OK) {
        h->started_acked = true;
    } else if (h->phase == HELD_RUNNING) { /* it is no longer ours */
        if (h->process == PROCESS_LIVE) process_kill(v, h, "is not wanted");
        forget(v, h);
        start_processes(v);
    }
}

static void hear_answer(struct simworker *v, struct msg *m) {
    if (m->call != 0) adapter_answered(&v->w->adapter, m);
    if (m->reply.err == ERR_OK) v->beats_open = 0;
    if (m->asked == CMD_ATTACH && m->request == v->attach_request && m->reply.err == ERR_OK) {
        v->attached = true;
        if (m->reply.epoch > v->epoch) v->epoch = m->reply.epoch;
        lease_renew(v, v->attach_sent_us, m->reply.lease_ms);
        resend(v);
    } else if (m->asked == CMD_HEARTBEAT && m->reply.err != ERR_OK) {
        if (!err_is_retryable(m->reply.err)) v->attached = false;
    } else if (m->asked == CMD_HEARTBEAT && m->request == v->beat_request) {
        lease_renew(v, v->beat_sent_us, m->reply.lease_ms);
    } else if (m->asked == CMD_HEALTH && m->reply.err == ERR_OK) {
        struct holding *h = holding_find(v, m->attempt.job, m->attempt.attempt);
        if (h) h->health_acked = true;
    } else if (m->asked == CMD_DONE || m->asked == CMD_STARTED) {
        hear_attempt_answer(v, m);
    }
    if (m->reply.err == ERR_UNAUTHENTICATED && m->session == v->session)
        v->attached = false; /* connection reset */
}

void simworker_receive(struct simworker *v, struct msg *m) {
    if (!v->alive) return;
    if (is_stopped(v)) { /* it waits in the socket */
        m->refs++;
        *(struct msg **)vec_push(&v->waiting) = m;
        return;
    }
    if (m->session != v->session) return; /* of a connection that was given up */
    if (m->epoch < v->epoch) {
        WORLD_NOTE(v->w, v->node, m->epoch, v->epoch, "worker %u: refuses epoch %lu", v->node,
                   (unsigned long)m->epoch);
        return;
    }
    v->epoch = m->epoch;
    switch (m->kind) {
    case MSG_ASSIGN: hear_assign(v, m); break;
    case MSG_STOP: hear_stop(v, m); break;
    case MSG_DROP: hear_drop(v, m); break;
    case MSG_ANSWER: hear_answer(v, m); break;
    case MSG_COMMAND:
    case MSG_QUESTION: PANIC("no message for a worker");
    }
}

static void beat(void *ctx, uint64_t life) {
    struct simworker *v = ctx;
    const struct plan *p = &v->w->plan;
    if (!v->alive || life != v->life) return;
    if (is_stopped(v)) {
        equeue_at(&v->w->queue, awake_us(v) + 1, beat, v, life);
        return;
    }
    int64_t attach_again_us = p->limits.heartbeat_ms * 2000;
    if (v->beats_open > BEATS_OPEN_MAX) v->attached = false; /* the connection is dead, open another one */
    if (!v->attached) {
        if (now_us(v) - v->attach_sent_us >= attach_again_us || v->attach_sent_us == 0) attach(v);
    } else if (rng_chance(&v->rng, (uint32_t)p->goodbye_ppm)) {
        if (rng_below(&v->rng, 2)) heartbeat(v, CMD_DETACH);
        attach(v);
    } else {
        heartbeat(v, CMD_HEARTBEAT);
        resend(v);
    }
    if (rng_chance(&v->rng, (uint32_t)p->stale_ppm)) repeat_old(v);
    start_processes(v);
    equeue_in(&v->w->queue, p->limits.heartbeat_ms * 1000, beat, v, life);
}

/* ---- life and death ---- */

void simworker_start(struct simworker *v) {
    REQUIRE(!v->alive);
    v->alive = true;
    v->incarnation++;
    v->life++;
    v->attached = false;
    v->attach_sent_us = 0;
    v->lease_until_us = 0;
    v->tombs.count = 0;
    beat(v, v->life);
}

static void come_back(void *ctx, uint64_t life) {
    struct simworker *v = ctx;
    if (v->alive || life != v->life) return;
    simworker_start(v);
}

static void waiting_drop(struct simworker *v) {
    for (uint32_t i = 0; i < v->waiting.count; i++)
        simnet_unref(&v->w->net, *(struct msg **)vec_at(&v->waiting, i));
    v->waiting.count = 0;
}

void simworker_kill(struct simworker *v, int64_t away_ms) {
    if (!v->alive || is_machine_stopped(v)) return;
    WORLD_NOTE(v->w, v->node, 80, away_ms, "worker %u: is killed for %ld ms", v->node, (long)away_ms);
    for (uint32_t i = 0; i < v->held.count;) {
        struct holding *h = vec_at(&v->held, i);
        if (h->process == PROCESS_LIVE) process_kill(v, h, "dies with its worker");
        if (h->phase == HELD_FINISHED) {
            h->restored = true;
            i++;
        } else {
            forget(v, h);
        }
    }
    waiting_drop(v);
    v->alive = v->attached = false;
    v->stopped_until_us = 0;
    v->life++;
    equeue_in(&v->w->queue, away_ms * 1000, come_back, v, v->life);
}

static void wake(void *ctx, uint64_t life) {
    struct simworker *v = ctx;
    if (!v->alive || life != v->life || is_stopped(v)) return;
    struct vec waiting = v->waiting;
    vec_init(&v->waiting, sizeof(struct msg *));
    for (uint32_t i = 0; i < waiting.count; i++) {
        struct msg *m = *(struct msg **)vec_at(&waiting, i);
        simworker_receive(v, m);
        simnet_unref(&v->w->net, m);
    }
    vec_fini(&waiting);
    reap(v);
}

static void machine_wakes(void *ctx, uint64_t life) {
    struct simworker *v = ctx;
    if (is_machine_stopped(v)) return;
    adapter_machine(&v->w->adapter, v, false);
    wake(ctx, life);
}

void simworker_stop(struct simworker *v, int64_t ms) {
    if (!v->alive || is_stopped(v)) return;
    WORLD_NOTE(v->w, v->node, 81, ms, "worker %u: stands still for %ld ms", v->node, (long)ms);
    v->stopped_until_us = now_us(v) + ms * 1000;
    equeue_at(&v->w->queue, v->stopped_until_us, wake, v, v->life);
}

void simworker_stop_machine(struct simworker *v, int64_t ms) {
    if (!v->alive || is_stopped(v)) return;
    WORLD_NOTE(v->w, v->node, 82, ms, "worker %u: its machine stands still for %ld ms", v->node, (long)ms);
    v->machine_until_us = now_us(v) + ms * 1000;
    adapter_machine(&v->w->adapter, v, true);
    equeue_at(&v->w->queue, v->machine_until_us, machine_wakes, v, v->life);
}

void simworker_calm(struct simworker *v) {
    v->attached = false;
    v->attach_sent_us = 0;
}

void simworker_init(struct simworker *v, struct world *w, uint32_t node, struct rng rng) {
    *v = (struct simworker){.w = w, .node = node, .rng = rng};
    vec_init(&v->held, sizeof(struct holding));
    vec_init(&v->tombs, sizeof(struct tomb));
    vec_init(&v->waiting, sizeof(struct msg *));
}

void simworker_fini(struct simworker *v) {
    waiting_drop(v);
    for (uint32_t i = 0; i < WORKER_SENT_MAX; i++) simnet_unref(&v->w->net, v->sent[i]);
    vec_fini(&v->held);
    vec_fini(&v->tombs);
    vec_fini(&v->waiting);
}
