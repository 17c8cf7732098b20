/* fleet.c: see fleet.h. */
#include "fleet.h"

#include <stdio.h>
#include <string.h>

#include "panic.h"
#include "wtime.h"

void fleet_init(struct fleet *f, const struct plan_limits *limits, bool is_local) {
    REQUIRE(limits->max <= FLEET_MAX);
    *f = (struct fleet){.is_local = is_local, .count = is_local ? limits->max : FLEET_MAX};
    f->plan.limits = *limits;
    f->plan.need_since_ms = TIME_NEVER;
}

/* ---- places ---- */

static void place_set(struct fleet *f, uint32_t i, enum plan_state state) {
    f->workers[i].state = state;
    f->workers[i].idle_since_ms = TIME_NEVER;
}

void fleet_started(struct fleet *f, uint32_t i, int64_t now_ms) {
    place_set(f, i, PLAN_STARTING);
    f->places[i].started_ms = now_ms;
    f->places[i].asked = f->places[i].draining = false;
}

void fleet_asked(struct fleet *f, uint32_t i) {
    place_set(f, i, PLAN_LEAVING);
    f->places[i].asked = true;
}

void fleet_gone(struct fleet *f, uint32_t i) {
    place_set(f, i, PLAN_NONE);
    f->places[i] = (struct fleet_place){0};
}

void fleet_broke(struct fleet *f, uint32_t i, int64_t due_ms) {
    fleet_gone(f, i);
    place_set(f, i, PLAN_BROKEN);
    f->workers[i].due_ms = due_ms;
}

static uint32_t first_in(const struct fleet *f, enum plan_state state) {
    uint32_t i = 0;
    while (i < f->count && (f->workers[i].state != state || f->places[i].id[0] != 0)) i++;
    return i;
}

/* The place of a worker; f->count = it has none. */
static uint32_t place_of(struct fleet *f, const struct wire_demand_worker *w) {
    for (uint32_t i = 0; i < f->count; i++)
        if (f->workers[i].state != PLAN_NONE && slice_eq(slice_str(f->places[i].id), w->worker)) return i;
    if (f->is_local || w->worker.len >= FLEET_ID_BYTES) return f->count;
    uint32_t i = first_in(f, PLAN_STARTING);
    if (i == f->count) i = first_in(f, PLAN_NONE);
    if (i == f->count) return i;
    if (f->workers[i].state == PLAN_NONE) place_set(f, i, PLAN_STARTING);
    snprintf(f->places[i].id, FLEET_ID_BYTES, "%.*s", SLICE_FMT(w->worker));
    return i;
}

/* ---- what is told ---- */

static void hear_worker(struct fleet *f, uint32_t i, const struct wire_demand_worker *w, int64_t now_ms) {
    struct plan_worker *x = &f->workers[i];
    struct fleet_place *p = &f->places[i];
    bool was_given = w->served != p->served;
    p->is_seen = true;
    p->served = w->served;
    p->active = w->active;
    p->draining = w->draining;
    if (w->draining || p->asked) {
        place_set(f, i, PLAN_LEAVING);
        return;
    }
    x->state = PLAN_UP;
    if (w->active > 0)
        x->idle_since_ms = TIME_NEVER;
    else if (was_given || x->idle_since_ms == TIME_NEVER)
        x->idle_since_ms = now_ms;
}

/* The server does not know it, or no longer. A machine on its way for which there is no use any more is idle too. */
static void miss_worker(struct fleet *f, uint32_t i, bool is_needed, int64_t now_ms) {
    struct plan_worker *x = &f->workers[i];
    enum plan_state state = x->state;
    if (state == PLAN_STARTING && !f->is_local) {
        if (is_needed)
            x->idle_since_ms = TIME_NEVER;
        else if (x->idle_since_ms == TIME_NEVER)
            x->idle_since_ms = now_ms;
    }
    if (state != PLAN_UP && state != PLAN_LEAVING) return;
    if (!f->is_local)
        fleet_gone(f, i);
    else if (state == PLAN_UP)
        place_set(f, i, PLAN_STARTING); /* its process lives: it will be back */
}

void fleet_hear(struct fleet *f, const struct wire_demands *m, int64_t now_ms) {
    const struct wire_demand_worker *list = m->workers.at;
    for (uint32_t i = 0; i < f->count; i++) f->places[i].is_seen = false;
    for (uint32_t k = 0; k < m->workers.count; k++) {
        uint32_t i = place_of(f, &list[k]);
        if (i < f->count) hear_worker(f, i, &list[k], now_ms);
    }
    for (uint32_t i = 0; i < f->count; i++)
        if (!f->places[i].is_seen) miss_worker(f, i, m->need_milli > 0, now_ms);
    f->plan.is_told = true;
    f->plan.need_milli = m->need_milli;
    if (m->need_milli == 0)
        f->plan.need_since_ms = TIME_NEVER;
    else if (f->plan.need_since_ms == TIME_NEVER)
        f->plan.need_since_ms = now_ms;
    f->ready = m->ready;
    f->waited_ms = m->ready > 0 && m->now_ms > m->since_ms ? m->now_ms - m->since_ms : 0;
    f->told_ms = now_ms;
}

void fleet_lost(struct fleet *f) {
    f->plan.is_told = false;
    f->plan.need_since_ms = TIME_NEVER;
    for (uint32_t i = 0; i < f->count; i++) f->workers[i].idle_since_ms = TIME_NEVER; /* nobody knows */
}

/* ---- the plan ---- */

int64_t fleet_plan(struct fleet *f, int64_t now_ms) {
    f->plan.now_ms = now_ms;
    plan_make(&f->plan, f->workers, f->count);
    return f->plan.next_ms;
}

bool fleet_may_end(const struct fleet *f, uint32_t i) {
    const struct fleet_place *p = &f->places[i];
    return f->workers[i].state == PLAN_LEAVING && p->asked && p->draining && p->active == 0;
}

uint32_t fleet_wanted(const struct fleet *f) {
    struct plan_counts c = plan_count(f->workers, f->count);
    return c.starting + c.up + c.broken;
}
