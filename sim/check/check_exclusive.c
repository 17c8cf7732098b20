/* check_exclusive.c: who runs what at the same time, seen from above all machines. */
#include "check_exclusive.h"

#include <stdlib.h>

#include "panic.h"

struct exclusive_alive {
    struct check_bytes worker;
    uint64_t incarnation;
    uint64_t flow;
    uint32_t ordinal;
    uint32_t attempt;
    uint64_t fence;
    bool was_paused; /* its whole machine stood still during its life: its keeper could not kill it in time */
};

struct exclusive_notes {
    struct exclusive_alive *alive;
    uint32_t count;
};

void *check_exclusive_new(void) {
    struct exclusive_notes *n = calloc(1, sizeof *n);
    REQUIRE(n != NULL);
    return n;
}

void check_exclusive_free(void *notes) {
    struct exclusive_notes *n = notes;
    for (uint32_t i = 0; i < n->count; i++) free(n->alive[i].worker.at);
    free(n->alive);
    free(n);
}

static bool began(struct exclusive_notes *n, const struct check_history *h, const struct trace_process *r, char *text) {
    const struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    for (uint32_t i = 0; j != NULL && j->exclusive && i < n->count; i++) {
        const struct exclusive_alive *p = &n->alive[i];
        if (p->flow != r->flow || p->ordinal != r->ordinal) continue;
        if (!p->was_paused)
            return check_object(text, "exclusive job %llu/%u: #%u began while #%u runs", (unsigned long long)r->flow,
                                r->ordinal, r->attempt, p->attempt);
        if (r->fence <= p->fence)
            return check_object(text, "exclusive job %llu/%u: #%u runs with a fence that did not rise",
                                (unsigned long long)r->flow, r->ordinal, r->attempt);
    }
    n->alive = check_grow(n->alive, n->count, sizeof *n->alive);
    n->alive[n->count++] = (struct exclusive_alive){
        .worker = check_bytes_copy(r->worker),
        .incarnation = r->incarnation,
        .flow = r->flow,
        .ordinal = r->ordinal,
        .attempt = r->attempt,
        .fence = r->fence,
    };
    return true;
}

static bool gone(struct exclusive_notes *n, const struct trace_process *r, char *text) {
    for (uint32_t i = 0; i < n->count; i++) {
        struct exclusive_alive *p = &n->alive[i];
        if (p->flow != r->flow || p->ordinal != r->ordinal || p->attempt != r->attempt) continue;
        if (p->incarnation != r->incarnation || !check_bytes_equal(p->worker, r->worker)) continue;
        free(p->worker.at);
        n->alive[i] = n->alive[--n->count];
        return true;
    }
    return check_object(text, "a process ended that never began");
}

static void machine(struct exclusive_notes *n, const struct trace_machine *r) {
    for (uint32_t i = 0; i < n->count; i++) {
        if (check_bytes_equal(n->alive[i].worker, r->worker)) n->alive[i].was_paused = true;
    }
}

bool check_exclusive_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    struct exclusive_notes *n = notes;
    switch ((int)e->kind) {
    case TW_PROCESS: return began(n, h, &e->as.process, text);
    case TW_PROCESS_END: return gone(n, &e->as.process, text);
    case TW_MACHINE: machine(n, &e->as.machine); return true;
    default: return true;
    }
}
