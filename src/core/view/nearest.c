/* nearest.c: what keeps a job from the worker that comes closest to having what it requires. See view.h. */
#include "class.h"
#include "panic.h"
#include "place.h"
#include "registry.h"
#include "view.h"

static void put(struct nearest_view *v, struct lack lack) {
    if (v->count < LACKS_MAX) v->lacks[v->count] = lack;
    v->count++;
}

static bool has_name(const struct tlv_list *names, struct slice name) {
    const struct name_item *items = names->at;
    for (uint32_t i = 0; i < names->count; i++)
        if (slice_eq(items[i].name, name)) return true;
    return false;
}

/* A pool may serve less than its workers offer. */
static void lack_capabilities(const struct worker_info *w, const struct pool_ *pool, const struct demand *d,
                              struct nearest_view *v) {
    const struct name_item *wanted = d->capabilities.at;
    for (uint32_t i = 0; i < d->capabilities.count; i++) {
        bool served = pool == NULL || pool->capabilities.count == 0 || has_name(&pool->capabilities, wanted[i].name);
        if (!served || !has_name(&w->capabilities, wanted[i].name))
            put(v, (struct lack){.kind = LACK_CAPABILITY, .name = wanted[i].name});
    }
}

static void lack_labels(const struct worker_info *w, const struct demand *d, struct nearest_view *v) {
    const struct label *wanted = d->labels.at, *own = w->labels.at;
    for (uint32_t i = 0; i < d->labels.count; i++) {
        uint32_t k = 0;
        while (k < w->labels.count && !slice_eq(own[k].key, wanted[i].key)) k++;
        bool has = k < w->labels.count && slice_eq(own[k].value, wanted[i].value);
        if (!has) put(v, (struct lack){.kind = LACK_LABEL, .name = wanted[i].key, .value = wanted[i].value});
    }
}

static void lack_amount(enum lack_kind kind, struct slice name, uint64_t wanted, uint64_t offered,
                        struct nearest_view *v) {
    if (wanted > offered) put(v, (struct lack){.kind = kind, .name = name, .wanted = wanted, .offered = offered});
}

static void lack_resources(const struct worker_info *w, const struct demand *d, struct nearest_view *v) {
    const struct resource *wanted = d->resources.at, *own = w->resources.at;
    for (uint32_t i = 0; i < d->resources.count; i++) {
        uint32_t k = 0;
        while (k < w->resources.count && !slice_eq(own[k].name, wanted[i].name)) k++;
        lack_amount(LACK_RESOURCE, wanted[i].name, wanted[i].amount, k < w->resources.count ? own[k].amount : 0, v);
    }
}

static void lacks_of(const struct state *s, const struct worker *w, const struct demand *d, struct nearest_view *ret) {
    uint32_t index = pool_find(s, w->info.pool);
    *ret = (struct nearest_view){.worker = w->number};
    lack_capabilities(&w->info, index ? pool_entry(s, index) : NULL, d, ret);
    lack_labels(&w->info, d, ret);
    lack_amount(LACK_CPU, SLICE("cpu"), d->cpu_milli, w->info.cpu_milli, ret);
    lack_amount(LACK_MEMORY, SLICE("memory"), d->memory_bytes, w->info.memory_bytes, ret);
    lack_amount(LACK_GPUS, SLICE("gpus"), d->gpus, w->info.gpus, ret);
    lack_resources(&w->info, d, ret);
}

bool view_nearest(const struct state *s, const struct live *l, const struct limits *limits, struct job_ref ref,
                  struct nearest_view *ret) {
    uint32_t job = job_find(s, ref);
    const struct job *j = job ? job_at(s, job) : NULL;
    bool found = false;
    if (j == NULL || j->state != JOB_READY || (j->flags & JOBF_PARKED) || j->link == 0) return false;
    const struct class_ *c = class_at(s, j->link);
    for (uint32_t i = 1; i <= s->workers.high; i++) {
        struct nearest_view v;
        if (worker_at(s, i)->id == NULL || place_fit(s, l, limits, c, i) != FIT_CAPABILITY) continue;
        lacks_of(s, worker_at(s, i), &c->demand, &v);
        ENSURE(v.count > 0 || c->demand.resources.count > 0); /* of a resource that is asked for as 0, the name */
        if (v.count == 0 || (found && v.count >= ret->count)) continue;
        *ret = v;
        found = true;
    }
    return found;
}
