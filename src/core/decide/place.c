/* place.c: see place.h. */
#include "place.h"

#include "min.h"
#include "mutant.h"
#include "panic.h"
#include "registry.h"

/* Both lists ascend by name, so one walk tells whether all of `wanted` is in `offered`. */
static bool has_names(const struct tlv_list *offered, const struct tlv_list *wanted) {
    const struct name_item *have = offered->at, *want = wanted->at;
    uint32_t h = 0;
    for (uint32_t w = 0; w < wanted->count; w++) {
        while (h < offered->count && slice_cmp(have[h].name, want[w].name) < 0) h++;
        if (h == offered->count || !slice_eq(have[h].name, want[w].name)) return false;
    }
    return true;
}

static bool has_labels(const struct tlv_list *offered, const struct tlv_list *wanted) {
    const struct label *have = offered->at, *want = wanted->at;
    uint32_t h = 0;
    for (uint32_t w = 0; w < wanted->count; w++) {
        while (h < offered->count && slice_cmp(have[h].key, want[w].key) < 0) h++;
        if (h == offered->count || !slice_eq(have[h].key, want[w].key)) return false;
        if (!slice_eq(have[h].value, want[w].value)) return false;
    }
    return true;
}

/* `taken` NULL: could the worker ever; else: can it now. */
static bool has_resources(const struct worker_info *w, const struct tlv_list *wanted, const uint64_t *taken) {
    const struct resource *have = w->resources.at, *want = wanted->at;
    for (uint32_t i = 0; i < wanted->count; i++) {
        uint32_t h = 0;
        while (h < w->resources.count && !slice_eq(have[h].name, want[i].name)) h++;
        if (h == w->resources.count) return false;
        uint64_t used = taken ? taken[h] : 0;
        if (used > have[h].amount || have[h].amount - used < want[i].amount) return false;
    }
    return true;
}

static bool fits_in(uint64_t all, uint64_t used, uint64_t wanted) {
    return wanted == 0 || (used <= all && all - used >= wanted);
}

bool place_names_pool(const struct state *s, const struct demand *d, struct slice pool) {
    if (d->pool.len) return slice_eq(d->pool, pool);
    uint32_t topic = topic_find(s, d->topic);
    if (topic == 0) return false;
    const struct tlv_list *pools = &topic_at(s, topic)->pools;
    const struct name_item *list = pools->at;
    for (uint32_t i = 0; i < pools->count; i++)
        if (slice_eq(list[i].name, pool)) return true;
    return false;
}

static bool could_ever(const struct worker_info *w, const struct demand *d) {
    return has_names(&w->capabilities, &d->capabilities) && has_labels(&w->labels, &d->labels) &&
           fits_in(w->cpu_milli, 0, d->cpu_milli) && fits_in(w->memory_bytes, 0, d->memory_bytes) &&
           fits_in(w->gpus, 0, d->gpus) && has_resources(w, &d->resources, NULL);
}

static bool can_now(const struct worker *w, const struct demand *d) {
    return fits_in(w->info.cpu_milli, w->cpu_milli, d->cpu_milli) &&
           fits_in(w->info.memory_bytes, w->memory_bytes, d->memory_bytes) && fits_in(w->info.gpus, w->gpus, d->gpus) &&
           has_resources(&w->info, &d->resources, w->resources);
}

uint32_t place_free_slots(const struct state *s, const struct live *l, uint32_t worker) {
    const struct worker *w = worker_at(s, worker);
    const struct live_worker *lw = live_worker_look(l, s, worker);
    if (w->id == NULL || lw == NULL || !lw->attached || w->draining) return 0;
    uint32_t slots = lw->credit < w->info.slots ? lw->credit : w->info.slots;
    if (MUTANT(slots_ignored)) slots++;
    return slots > w->active ? slots - w->active : 0;
}

struct load place_load(const struct state *s, const struct live *l, const struct limits *limits, uint32_t worker) {
    const struct worker *w = worker_at(s, worker);
    static const struct live_worker unknown = {0};
    const struct live_worker *lw = live_worker_look(l, s, worker);
    uint64_t slots = w->info.slots;
    REQUIRE(slots > 0);
    if (lw == NULL) lw = &unknown;
    struct load load = {.served = lw->served};
    load.millionths = (uint64_t)w->active * 1000000u / slots + lw->cpu_percent * 10000ull + lw->gpu_percent * 10000ull;
    load.overloaded = (int64_t)w->active * 100 >= limits->overload_slots_percent * (int64_t)slots ||
                      lw->cpu_percent >= limits->overload_cpu_percent ||
                      lw->gpu_percent >= limits->overload_gpu_percent;
    return load;
}

bool load_is_better(const struct load *a, const struct load *b) {
    if (a->overloaded != b->overloaded) return b->overloaded;
    if (a->millionths != b->millionths) return a->millionths < b->millionths;
    return a->served < b->served;
}

static bool is_pinned_elsewhere(const struct class_ *c, const struct worker *w) {
    if (c->pin_kind == PIN_WORKER) return !slice_eq(c->pin, bytes_slice(w->id));
    if (c->pin_kind == PIN_POOL) return !slice_eq(c->pin, w->info.pool);
    return false;
}

/* Until each attempt runs under a user of its own, a worker is no wall between tenants. */
static bool serves_tenant(const struct worker_info *w, struct slice tenant) {
    return w->tenant.len == 0 || slice_eq(w->tenant, tenant) || MUTANT(tenant_ignored);
}

enum fit place_fit(const struct state *s, const struct live *l, const struct limits *limits, const struct class_ *c,
                   uint32_t worker) {
    const struct worker *w = worker_at(s, worker);
    const struct demand *d = &c->demand;
    REQUIRE(w->id != NULL);
    if (!place_names_pool(s, d, w->info.pool)) return FIT_OTHER_POOL;
    uint32_t index = pool_find(s, w->info.pool);
    const struct pool_ *pool = index ? pool_entry(s, index) : NULL;
    if (pool && (pool->state != POOL_ACTIVE || pool->paused)) return FIT_POOL_CLOSED;
    const struct live_worker *lw = live_worker_look(l, s, worker);
    if (lw == NULL || !lw->attached || w->draining) return FIT_AWAY;
    if (!serves_tenant(&w->info, bytes_slice(tenant_at(s, c->tenant)->name))) return FIT_TENANT;
    if (pool && pool->capabilities.count && !has_names(&pool->capabilities, &d->capabilities)) return FIT_CAPABILITY;
    if (!could_ever(&w->info, d)) return FIT_CAPABILITY;
    if (is_pinned_elsewhere(c, w)) return FIT_PINNED;
    if (pool && pool->refuse_overload && place_load(s, l, limits, worker).overloaded) return FIT_OVERLOADED;
    if (place_free_slots(s, l, worker) == 0 || !can_now(w, d)) return FIT_FULL;
    return FIT_YES;
}

/* ---- workers that are not there yet ---- */

/* How many jobs of this demand such a worker has room for. */
static uint32_t room_for(const struct worker_info *w, const struct demand *d) {
    uint32_t room = w->slots;
    const struct resource *have = w->resources.at, *want = d->resources.at;
    if (d->cpu_milli) room = (uint32_t)min_u64(room, w->cpu_milli / d->cpu_milli);
    if (d->memory_bytes) room = (uint32_t)min_u64(room, w->memory_bytes / d->memory_bytes);
    if (d->gpus) room = (uint32_t)min_u64(room, w->gpus / d->gpus);
    for (uint32_t i = 0; i < d->resources.count; i++)
        for (uint32_t h = 0; h < w->resources.count; h++)
            if (want[i].amount && slice_eq(have[h].name, want[i].name))
                room = (uint32_t)min_u64(room, have[h].amount / want[i].amount);
    ENSURE(room <= w->slots);
    return room;
}

uint32_t place_offer(const struct state *s, const struct class_ *c, const struct worker_info *offer) {
    const struct demand *d = &c->demand;
    REQUIRE(c->pin_kind != PIN_WORKER);
    uint32_t index = pool_find(s, offer->pool);
    const struct pool_ *pool = index ? pool_entry(s, index) : NULL;
    if (!place_names_pool(s, d, offer->pool)) return 0;
    if (pool && (pool->state != POOL_ACTIVE || pool->paused)) return 0;
    if (!serves_tenant(offer, bytes_slice(tenant_at(s, c->tenant)->name))) return 0;
    if (pool && pool->capabilities.count && !has_names(&pool->capabilities, &d->capabilities)) return 0;
    if (!could_ever(offer, d)) return 0;
    if (c->pin_kind == PIN_POOL && !slice_eq(c->pin, offer->pool)) return 0;
    REQUIRE(offer->slots > 0);
    return room_for(offer, d);
}

bool place_is_like(const struct worker_info *w, const struct worker_info *offer) {
    return slice_eq(w->pool, offer->pool) && slice_eq(w->tenant, offer->tenant) &&
           has_names(&w->capabilities, &offer->capabilities) && has_labels(&w->labels, &offer->labels);
}
