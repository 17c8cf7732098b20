/* view_demand.c: see view_demand.h. */
#include "view_demand.h"

#include "class.h"
#include "decide_options.h"
#include "map.h"
#include "place.h"
#include "question.h"
#include "quota.h"
#include "why.h"

/* What jobs counted so far would take of the limits that they share; the limits themselves stay as they are. */
struct taking {
    const struct state *state;
    wall_time now;
    struct map of_quota, of_tenant;
};

static uint64_t left_of(uint64_t all, uint64_t taken, uint32_t counted) {
    uint64_t used = taken + counted;
    return all > used ? all - used : 0;
}

/* How many more jobs of the class the limits let run at once. */
static uint64_t limit_room(const struct taking *t, const struct class_ *c) {
    uint64_t room = UINT64_MAX;
    for (uint32_t i = 0; i < c->quota_count; i++) {
        const struct quota *q = quota_at(t->state, c->quotas[i]);
        uint32_t counted = map_get(&t->of_quota, c->quotas[i]);
        uint64_t left = UINT64_MAX;
        if (q->kind == LIMIT_KEY) left = left_of(quota_width(q), q->taken, counted);
        if (q->kind == LIMIT_RATE && q->is_set) left = left_of(quota_level(q, t->now) / TOKEN, 0, counted);
        if (left < room) room = left;
    }
    const struct tenant *tenant = tenant_at(t->state, c->tenant);
    if (tenant->running_max == 0) return room;
    uint64_t left = left_of(tenant->running_max, tenant->running, map_get(&t->of_tenant, c->tenant));
    return left < room ? left : room;
}

static void note_taken(struct taking *t, const struct class_ *c, uint32_t count) {
    for (uint32_t i = 0; i < c->quota_count; i++)
        map_put(&t->of_quota, c->quotas[i], map_get(&t->of_quota, c->quotas[i]) + count);
    map_put(&t->of_tenant, c->tenant, map_get(&t->of_tenant, c->tenant) + count);
}

static bool lacks_room(enum block b) {
    return b == BLOCK_NO_WORKERS || b == BLOCK_TENANT_WORKERS || b == BLOCK_CAPABILITY || b == BLOCK_OVERLOADED ||
           b == BLOCK_CAPACITY;
}

/* Jobs of paused flows leave their queue when a round next comes upon them, so some may still be in it. */
static void count_jobs(const struct taking *t, const struct class_ *c, struct demand_view *v) {
    const struct state *s = t->state;
    uint64_t room = limit_room(t, c);
    uint32_t looked = 0, job = c->head;
    v->since.ms = TIME_NEVER;
    for (; job && looked < DEMAND_LOOK_MAX && v->ready < room; job = job_at(s, job)->next, looked++) {
        const struct job *j = job_at(s, job);
        const struct flow *f = flow_at(s, j->flow);
        if (f->paused || f->is_working || policy_has_lapsed(s, j)) continue;
        v->ready++;
        if (j->since.ms < v->since.ms) v->since = j->since;
    }
    v->more = job != 0 && v->ready < room;
}

static bool concerns(const struct state *s, const struct demand_query *query, const struct class_ *c) {
    const struct tenant *tenant = tenant_at(s, c->tenant);
    if (tenant->paused || c->pin_kind == PIN_WORKER) return false; /* it waits for one by name, for a while */
    return query->tenant.len == 0 || slice_eq(query->tenant, bytes_slice(tenant->name));
}

void view_demand(const struct state *s, const struct live *l, const struct limits *limits,
                 const struct demand_query *query, view_demand_fn each, void *ctx) {
    struct taking taking = {.state = s, .now = l->now.ms > s->now.ms ? l->now : s->now};
    map_init(&taking.of_quota);
    map_init(&taking.of_tenant);
    for (uint32_t i = s->ready_classes; i; i = class_at(s, i)->next) {
        const struct class_ *c = class_at(s, i);
        struct demand_view v = {.demand = &c->demand, .priority = c->priority};
        if (!concerns(s, query, c)) continue;
        if (query->kind && (v.at_once = place_offer(s, c, query->kind)) == 0) continue;
        v.block = why_unplaced(s, l, limits, c);
        if (!lacks_room(v.block)) continue;
        count_jobs(&taking, c, &v);
        if (v.ready == 0) continue;
        note_taken(&taking, c, v.ready);
        v.tenant = bytes_slice(tenant_at(s, c->tenant)->name);
        each(ctx, &v);
    }
    map_fini(&taking.of_quota);
    map_fini(&taking.of_tenant);
}

void view_demand_workers(const struct state *s, const struct live *l, const struct worker_info *kind,
                         view_demand_worker_fn each, void *ctx) {
    for (uint32_t i = 1; i <= s->workers.high; i++) {
        const struct worker *w = worker_at(s, i);
        if (w->id == NULL || !place_is_like(&w->info, kind)) continue;
        struct live_worker lw = live_worker_get(l, s, i);
        if (!lw.attached) continue;
        struct demand_worker v = {bytes_slice(w->id), w->info.slots, w->active, w->draining, lw.served};
        each(ctx, &v);
    }
}

enum err view_demand_kind(const struct limits *limits, const struct worker_info *given, struct arena *arena,
                          struct worker_info *ret, struct why *why) {
    struct reply reply = {0};
    struct decision d = {.limits = limits, .arena = arena, .reply = &reply};
    enum err e = decide_worker_info(&d, given, ret);
    if (e != ERR_OK) *why = reply.why;
    return e;
}
