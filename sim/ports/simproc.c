/* simproc.c: see simproc.h. */
#include "simproc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "panic.h"
#include "record.h"
#include "world.h"

#define UNDOES_BYTES 24u
#define PIECES_MAX 4u

struct process {
    proc_id id;
    struct proc_handler handler;
    struct trace_process who; /* its slices point into this struct */
    char worker[16], undoes[UNDOES_BYTES], space[128];
    int64_t run_us;
    int64_t well_us; /* of a service: when it becomes well; INT64_MAX = never */
    bool is_probe;   /* it looks whether the service of the same attempt is well; no judge hears of it */
    bool stubborn; /* does not mind a TERM */
    bool live;
    bool paused;     /* its output is not read: it waits */
    uint32_t pieces; /* of output, still to come */
    uint32_t exit_code, signal;
    int64_t kill_at_us;
};

static struct process *process_of(const struct simproc *s, uint64_t id) {
    for (uint32_t i = 0; i < s->processes.count; i++) {
        struct process *p = *(struct process **)vec_at(&s->processes, i);
        if (p->id.v == id) return p;
    }
    return NULL;
}

static struct equeue *queue_of(const struct simproc *s) {
    return &s->host->w->queue;
}

static void forget(struct simproc *s, struct process *p) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->processes.count; i++) {
        struct process *q = *(struct process **)vec_at(&s->processes, i);
        if (q != p) *(struct process **)vec_at(&s->processes, kept++) = q;
    }
    s->processes.count = kept;
    free(p);
}

/* ---- ends ---- */

static void tell_end(struct simproc *s, struct process *p) {
    struct proc_usage usage = {.cpu_ms = 1, .memory_bytes_max = 4096};
    struct proc_handler handler = p->handler;
    proc_id id = p->id;
    uint32_t exit_code = p->exit_code, number = p->signal;
    forget(s, p);
    handler.ended(handler.ctx, id, exit_code, number, &usage);
    workerhost_wake(s->host);
}

static void tell_later(void *ctx, uint64_t id) {
    struct simproc *s = ctx;
    struct process *p = process_of(s, id);
    if (p == NULL || p->live || workerhost_is_still(s->host)) return; /* simproc_awake comes back to it */
    tell_end(s, p);
}

/* The keeper reaps at once; the worker hears of it when it can. */
static void over(struct simproc *s, struct process *p, const char *how) {
    ENSURE(p->live);
    p->live = false;
    WORLD_NOTE(s->host->w, s->host->node, p->who.flow * 4096 + p->who.ordinal, p->who.attempt,
               "worker %u: process %lu/%u#%u %s", s->host->node, (unsigned long)p->who.flow, p->who.ordinal,
               p->who.attempt, how);
    struct trace_entry e = {.kind = TW_PROCESS_END, .as.process = p->who};
    if (!p->is_probe) adapter_judge(&s->host->w->adapter, &e);
    equeue_in(queue_of(s), rng_range(&s->rng, 10, 1000), tell_later, s, p->id.v);
}

static void kill_process(struct simproc *s, struct process *p, uint32_t number, const char *how) {
    p->signal = number;
    p->exit_code = 0;
    over(s, p, how);
}

/* What it leaves for its children says whose it is: it may be given to others. Some children leave nothing. */
static void leave_result(struct simproc *s, const struct process *p) {
    char by[64];
    bool silent = p->who.ordinal >= FIRST_CHILD_ORDINAL && p->who.ordinal % 2;
    if (p->exit_code != 0 || silent || p->is_probe) return;
    int len = snprintf(by, sizeof by, "{\"by\":\"%lu/%u\"}", (unsigned long)p->who.flow, p->who.ordinal);
    simspace_put(&s->host->space, p->space, "output.json", slice_of(by, (size_t)len));
}

static void ends(void *ctx, uint64_t id) {
    struct simproc *s = ctx;
    struct process *p = process_of(s, id);
    if (p == NULL || !p->live) return;
    if (workerhost_machine_us(s->host) > queue_of(s)->now_us) {
        equeue_at(queue_of(s), workerhost_machine_us(s->host) + 1 + p->run_us / 2, ends, s, id);
        return;
    }
    if (p->paused) { /* it hangs in a write */
        equeue_in(queue_of(s), 1000, ends, s, id);
        return;
    }
    leave_result(s, p);
    over(s, p, "ends");
}

/* ---- output ---- */

static void output(void *ctx, uint64_t id) {
    struct simproc *s = ctx;
    struct process *p = process_of(s, id);
    char text[3000];
    if (p == NULL || !p->live || p->pieces == 0 || p->paused) return;
    if (workerhost_is_still(s->host)) return; /* the pipe holds it */
    p->pieces--;
    size_t len = 1 + (size_t)rng_skewed(&s->rng, sizeof text - 1);
    memset(text, 'a' + (int)(id % 26), len);
    p->handler.output(p->handler.ctx, p->id, rng_below(&s->rng, 4) ? PROC_OUT : PROC_ERR, slice_of(text, len));
    workerhost_wake(s->host);
    p = process_of(s, id);
    if (p != NULL && p->pieces > 0)
        equeue_in(queue_of(s), rng_range(&s->rng, 0, p->run_us / PIECES_MAX), output, s, id);
}

/* ---- health ---- */

/* Among faults a probe may fail for nothing, or hang. */
static void probe_orders(struct simproc *s, struct process *p) {
    const struct world *w = s->host->w;
    bool well = false;
    for (uint32_t i = 0; i < s->processes.count; i++) {
        const struct process *q = *(struct process **)vec_at(&s->processes, i);
        bool is_it = !q->is_probe && q->live && q->who.flow == p->who.flow && q->who.attempt == p->who.attempt;
        well |= is_it && q->well_us <= queue_of(s)->now_us;
    }
    p->is_probe = true;
    p->exit_code = !well || (!w->quiet && rng_below(&s->rng, 8) == 0);
    p->run_us = !w->quiet && rng_below(&s->rng, 16) == 0 ? 10000000 : rng_range(&s->rng, 100, 20000);
}

/* ---- starting ---- */

static int64_t number_in(const char *text, const char *key, int64_t otherwise) {
    size_t len = strlen(key);
    for (const char *at = strstr(text, key); at != NULL; at = strstr(at + 1, key))
        if (at == text || at[-1] == ' ') return strtoll(at + len, NULL, 10);
    return otherwise;
}

static const char *env_of(const struct proc_spec *spec, const char *name) {
    size_t len = strlen(name);
    for (uint32_t i = 0; spec->env[i] != NULL; i++)
        if (strncmp(spec->env[i], name, len) == 0 && spec->env[i][len] == '=') return spec->env[i] + len + 1;
    PANIC("a job lacks a variable that every job has");
}

/* Whose process it is, from what a real one would see: its directory and its environment. */
static void identify(struct process *p, const struct proc_spec *spec, uint64_t incarnation) {
    unsigned shard, ordinal, attempt;
    unsigned long long flow;
    ENSURE(sscanf(spec->workdir, "/sim/%127[^/]", p->space) == 1);
    ENSURE(sscanf(p->space, "%x-%llx-%x-%x", &shard, &flow, &ordinal, &attempt) == 4);
    snprintf(p->worker, sizeof p->worker, "%s", env_of(spec, "REEVE_WORKER"));
    p->who = (struct trace_process){.worker = {(const uint8_t *)p->worker, (uint32_t)strlen(p->worker)},
                                    .incarnation = incarnation,
                                    .flow = flow,
                                    .ordinal = ordinal,
                                    .attempt = attempt,
                                    .fence = strtoull(env_of(spec, "REEVE_FENCE"), NULL, 10)};
    ENSURE(attempt == strtoul(env_of(spec, "REEVE_ATTEMPT"), NULL, 10));
}

static void read_orders(const struct simproc *s, struct process *p, const char *text) {
    const char *undo = strstr(text, " undo=");
    p->run_us = number_in(text, "ms=", 10) * 1000;
    int64_t health_ms = number_in(text, "health=", 0);
    p->well_us = health_ms > 0 ? queue_of(s)->now_us + health_ms * 1000 : INT64_MAX;
    p->exit_code = (uint32_t)number_in(text, "exit=", 0);
    if (p->who.ordinal >= FIRST_CHILD_ORDINAL && p->who.ordinal % 3) p->exit_code = 0; /* not all children are alike */
    if (p->who.attempt <= (uint32_t)number_in(text, "flaky=", 0)) p->exit_code = 1;
    if (p->who.attempt <= (uint32_t)number_in(text, "later=", 0)) p->exit_code = 75;
    if (undo != NULL) snprintf(p->undoes, sizeof p->undoes, "%s", undo + strlen(" undo="));
    p->who.undoes = (struct trace_bytes){(const uint8_t *)p->undoes, (uint32_t)strlen(p->undoes)};
}

static enum err op_start(struct proc *proc, const struct proc_spec *spec, const struct proc_handler *handler,
                         proc_id *ret, struct why *why) {
    struct simproc *s = (struct simproc *)proc;
    struct world *w = s->host->w;
    uint32_t last = 0;
    if (!w->quiet && rng_below(&s->rng, 100) == 0) return why_set(why, ERR_IO, "no memory for a process");
    struct process *p = calloc(1, sizeof *p);
    ENSURE(p != NULL);
    while (spec->argv[last + 1] != NULL) last++;
    identify(p, spec, s->host->incarnation);
    if (strcmp(spec->argv[0], SIMPROC_PROBE) == 0)
        probe_orders(s, p);
    else
        read_orders(s, p, spec->argv[last]);
    p->id.v = ++s->last;
    p->handler = *handler;
    p->live = true;
    p->stubborn = rng_below(&s->rng, 4) == 0;
    p->pieces = p->is_probe ? 0 : rng_below(&s->rng, PIECES_MAX);
    *(struct process **)vec_push(&s->processes) = p;
    WORLD_NOTE(w, s->host->node, p->who.flow * 4096 + p->who.ordinal, p->who.attempt,
               "worker %u: process %lu/%u#%u begins", s->host->node, (unsigned long)p->who.flow, p->who.ordinal,
               p->who.attempt);
    struct trace_entry e = {.kind = TW_PROCESS, .as.process = p->who};
    if (!p->is_probe) adapter_judge(&w->adapter, &e);
    equeue_in(&w->queue, p->run_us, ends, s, p->id.v);
    if (p->pieces > 0) equeue_in(&w->queue, rng_range(&s->rng, 0, p->run_us), output, s, p->id.v);
    *ret = p->id;
    return ERR_OK;
}

/* ---- the rest of the port ---- */

static void op_feed(struct proc *proc, proc_id id, struct slice bytes) {
    (void)proc, (void)id, (void)bytes; /* it does not read */
}

static void op_feed_end(struct proc *proc, proc_id id) {
    (void)proc, (void)id;
}

static void op_pause(struct proc *proc, proc_id id, bool on) {
    struct simproc *s = (struct simproc *)proc;
    struct process *p = process_of(s, id.v);
    if (p == NULL) return;
    p->paused = on;
    if (!on) equeue_in(queue_of(s), 10, output, s, id.v);
}

static void signalled(void *ctx, uint64_t arg) {
    struct simproc *s = ctx;
    struct process *p = process_of(s, arg / 64);
    if (p == NULL || !p->live) return;
    if (workerhost_machine_us(s->host) > queue_of(s)->now_us) {
        equeue_at(queue_of(s), workerhost_machine_us(s->host) + 1, signalled, s, arg);
        return;
    }
    kill_process(s, p, (uint32_t)(arg % 64), "ends by a signal");
}

static void op_signal(struct proc *proc, proc_id id, int number) {
    struct simproc *s = (struct simproc *)proc;
    struct process *p = process_of(s, id.v);
    if (p == NULL || !p->live || (number == SIGTERM && p->stubborn)) return;
    int64_t after_us = number == SIGTERM ? rng_range(&s->rng, 0, 300000) : rng_range(&s->rng, 10, 1000);
    equeue_in(queue_of(s), after_us, signalled, s, id.v * 64 + (uint64_t)number);
}

static void keeper(void *ctx, uint64_t id) {
    struct simproc *s = ctx;
    struct process *p = process_of(s, id);
    if (p == NULL || !p->live) return;
    if (workerhost_machine_us(s->host) > queue_of(s)->now_us) {
        equeue_at(queue_of(s), workerhost_machine_us(s->host) + 1, keeper, s, id);
        return;
    }
    if (queue_of(s)->now_us < p->kill_at_us) return; /* put off: a later event is planned */
    kill_process(s, p, SIGKILL, "is killed by the keeper");
}

static void op_kill_at(struct proc *proc, proc_id id, int64_t mono_ms) {
    struct simproc *s = (struct simproc *)proc;
    struct process *p = process_of(s, id.v);
    if (p == NULL) return;
    p->kill_at_us = mono_ms == TIME_NEVER ? INT64_MAX : world_us_of(mono_ms);
    if (mono_ms != TIME_NEVER) equeue_at(queue_of(s), p->kill_at_us, keeper, s, id.v);
}

/* Ports of a simulated machine have no holders that could be looked at. */
static enum proc_port op_port_owner(struct proc *proc, proc_id id, uint32_t port, struct why *why) {
    (void)proc, (void)id, (void)port, (void)why;
    return PROC_PORT_UNKNOWN;
}

static const struct proc_ops ops = {op_start, op_feed, op_feed_end, op_pause, op_signal, op_kill_at, op_port_owner};

/* ---- life ---- */

void simproc_die(struct simproc *s) {
    while (s->processes.count > 0) {
        struct process *p = *(struct process **)vec_at(&s->processes, 0);
        if (p->live) kill_process(s, p, SIGKILL, "dies with its worker");
        forget(s, p);
    }
}

void simproc_awake(struct simproc *s) {
    for (uint32_t i = 0; i < s->processes.count; i++) {
        const struct process *p = *(struct process **)vec_at(&s->processes, i);
        equeue_in(queue_of(s), 1 + i, p->live ? output : tell_later, s, p->id.v);
    }
}

void simproc_init(struct simproc *s, struct workerhost *host, struct rng rng) {
    *s = (struct simproc){.host = host, .rng = rng};
    s->proc.ops = &ops;
    vec_init(&s->processes, sizeof(struct process *));
}

void simproc_fini(struct simproc *s) {
    for (uint32_t i = 0; i < s->processes.count; i++) free(*(struct process **)vec_at(&s->processes, i));
    vec_fini(&s->processes);
}
