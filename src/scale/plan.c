/* plan.c: see plan.h. */
#include "plan.h"

#include <stddef.h>

#include "min.h"
#include "panic.h"
#include "wtime.h"

struct plan_counts plan_count(const struct plan_worker *workers, uint32_t count) {
    struct plan_counts c = {0};
    for (uint32_t i = 0; i < count; i++) {
        c.starting += workers[i].state == PLAN_STARTING;
        c.up += workers[i].state == PLAN_UP;
        c.leaving += workers[i].state == PLAN_LEAVING;
        c.broken += workers[i].state == PLAN_BROKEN;
    }
    return c;
}

static void ask_again_at(struct plan *p, int64_t ms) {
    if (ms < p->next_ms) p->next_ms = ms;
}

/* How many more the waiting jobs ask for. */
static uint32_t wanted_by_need(struct plan *p, const struct plan_counts *c) {
    if (!p->is_told || p->need_since_ms == TIME_NEVER || p->need_milli == 0) return 0;
    if (p->now_ms < p->need_since_ms + p->limits.after_ms) {
        ask_again_at(p, p->need_since_ms + p->limits.after_ms);
        return 0;
    }
    uint64_t needed = (p->need_milli + 999) / 1000;
    uint32_t coming = c->starting + c->broken, at_once = c->up > p->limits.step ? c->up : p->limits.step;
    if (needed <= coming || at_once <= coming) return 0;
    return (uint32_t)min_u64(at_once - coming, needed - coming);
}

static void start(struct plan *p, struct plan_worker *workers, uint32_t count, const struct plan_counts *c) {
    uint32_t staying = c->starting + c->up + c->broken, all = staying + c->leaving;
    uint32_t wanted = staying < p->limits.min ? p->limits.min - staying : 0;
    uint32_t by_need = wanted_by_need(p, c);
    if (by_need > wanted) wanted = by_need;
    wanted = (uint32_t)min_u64(wanted, p->limits.max > all ? p->limits.max - all : 0);
    for (uint32_t i = 0; i < count && wanted > 0; i++) {
        if (workers[i].state != PLAN_NONE) continue;
        workers[i].todo = PLAN_START;
        wanted--;
    }
}

/* What it owes is on its disk: it comes back also when nobody waits for it. */
static void restart_broken(struct plan *p, struct plan_worker *workers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (workers[i].state != PLAN_BROKEN) continue;
        if (p->now_ms >= workers[i].due_ms)
            workers[i].todo = PLAN_START;
        else
            ask_again_at(p, workers[i].due_ms);
    }
}

/* The one that has been idle for longest, of equal ones the last: low numbers stay. NULL: all have something to do. */
static struct plan_worker *idlest(struct plan_worker *workers, uint32_t count) {
    struct plan_worker *found = NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct plan_worker *w = &workers[i];
        bool may_go = w->state == PLAN_UP || w->state == PLAN_STARTING;
        if (!may_go || w->todo != PLAN_LEAVE_IT || w->idle_since_ms == TIME_NEVER) continue;
        if (found == NULL || w->idle_since_ms <= found->idle_since_ms) found = w;
    }
    return found;
}

static void drain(struct plan *p, struct plan_worker *workers, uint32_t count, const struct plan_counts *c) {
    uint32_t staying = c->starting + c->up + c->broken;
    if (!p->is_told || p->need_since_ms != TIME_NEVER) return;
    for (; staying > p->limits.min; staying--) {
        struct plan_worker *w = idlest(workers, count);
        if (w == NULL) return;
        if (p->now_ms < w->idle_since_ms + p->limits.idle_ms) {
            ask_again_at(p, w->idle_since_ms + p->limits.idle_ms);
            return;
        }
        w->todo = PLAN_DRAIN;
    }
}

void plan_make(struct plan *p, struct plan_worker *workers, uint32_t count) {
    REQUIRE(p->limits.min <= p->limits.max);
    REQUIRE(p->limits.max <= count && p->limits.step > 0);
    struct plan_counts c = plan_count(workers, count);
    p->next_ms = TIME_NEVER;
    for (uint32_t i = 0; i < count; i++) workers[i].todo = PLAN_LEAVE_IT;
    restart_broken(p, workers, count);
    start(p, workers, count, &c);
    drain(p, workers, count, &c);
    ENSURE(p->next_ms > p->now_ms);
}
