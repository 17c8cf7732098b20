/* flow_plan.c: see flow_plan.h. */
#include "flow_plan.h"

#include <stdarg.h>
#include <stdio.h>

#include "panic.h"
#include "utf8.h"

#define POOL_STANDARD "default"
#define WORDS_BYTES 300u

static struct slice words(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
static struct slice words(struct arena *a, const char *format, ...) {
    char text[WORDS_BYTES];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return arena_slice(a, utf8_cut(slice_str(text), len < (int)sizeof text ? sizeof text : sizeof text - 2));
}

/* Parents come before children in what the reader of flow files gives. */
static void find_stages(struct flow_plan *p) {
    const struct wire_job *jobs = p->flow->part.jobs.at;
    for (uint32_t i = 0; i < p->flow->part.jobs.count; i++) {
        struct flow_plan_job *own = &p->jobs[i];
        for (uint32_t k = 0; k < jobs[i].parents.count; k++) {
            uint32_t parent = jobs[i].parents.at[k];
            if (parent < i && p->jobs[parent].stage + 1 > own->stage) own->stage = p->jobs[parent].stage + 1;
        }
        if (own->stage + 1 > p->stage_count) p->stage_count = own->stage + 1;
    }
}

/* ---- who could run it ---- */

struct lacking {
    struct arena *arena;
    struct slice list[FLOW_PLAN_LACKS_MAX];
    uint32_t count;
};

#define LACK(l, ...) \
    ((l)->count < FLOW_PLAN_LACKS_MAX ? (void)((l)->list[(l)->count++] = words((l)->arena, __VA_ARGS__)) : (void)0)

static bool has_name(const struct tlv_list *own, struct slice name) {
    const struct wire_name *list = own->at;
    for (uint32_t i = 0; i < own->count; i++)
        if (slice_eq(list[i].name, name)) return true;
    return false;
}

static bool has_label(const struct tlv_list *own, const struct wire_pair *wanted) {
    const struct wire_pair *list = own->at;
    for (uint32_t i = 0; i < own->count; i++)
        if (slice_eq(list[i].key, wanted->key) && slice_eq(list[i].value, wanted->value)) return true;
    return false;
}

static uint64_t amount_of(const struct tlv_list *own, struct slice name) {
    const struct wire_amount *list = own->at;
    for (uint32_t i = 0; i < own->count; i++)
        if (slice_eq(list[i].name, name)) return list[i].amount;
    return 0;
}

static void lack_amounts(struct lacking *l, const struct wire_demand *d, const struct wire_worker_view *w) {
    const struct wire_amount *wanted = d->resources.at;
    if (d->cpu_milli > w->cpu_milli) LACK(l, "cpu: %g wanted, it has %g", d->cpu_milli / 1000.0, w->cpu_milli / 1000.0);
    if (d->memory_bytes > w->memory_bytes)
        LACK(l, "memory: %.1f GiB wanted, it has %.1f GiB", (double)d->memory_bytes / 1073741824.0,
             (double)w->memory_bytes / 1073741824.0);
    if (d->gpus > w->gpus) LACK(l, "gpus: %u wanted, it has %u", d->gpus, w->gpus);
    for (uint32_t i = 0; i < d->resources.count; i++) {
        uint64_t has = amount_of(&w->resources, wanted[i].name);
        if (has < wanted[i].amount)
            LACK(l, "%.*s: %llu wanted, it has %llu", SLICE_FMT(wanted[i].name), (unsigned long long)wanted[i].amount,
                 (unsigned long long)has);
    }
}

static void lack_all(struct lacking *l, const struct wire_demand *d, const struct wire_worker_view *w) {
    const struct wire_name *capabilities = d->capabilities.at;
    const struct wire_pair *labels = d->labels.at;
    struct slice pool = d->pool.len > 0 ? d->pool : SLICE(POOL_STANDARD);
    if (d->topic.len == 0 && !slice_eq(pool, w->pool))
        LACK(l, "pool %.*s (it is in %.*s)", SLICE_FMT(pool), SLICE_FMT(w->pool));
    for (uint32_t i = 0; i < d->capabilities.count; i++)
        if (!has_name(&w->capabilities, capabilities[i].name))
            LACK(l, "capability %.*s", SLICE_FMT(capabilities[i].name));
    for (uint32_t i = 0; i < d->labels.count; i++)
        if (!has_label(&w->labels, &labels[i]))
            LACK(l, "label %.*s=%.*s", SLICE_FMT(labels[i].key), SLICE_FMT(labels[i].value));
    lack_amounts(l, d, w);
    if (w->draining) LACK(l, "it is draining");
}

static bool needs_worker(const struct wire_options *o) {
    return job_kind_of(o->kind)->ends != JOB_ENDS_IN_APPLY || o->calls;
}

static void find_worker(struct flow_plan_job *own, const struct wire_demand *d, const struct tlv_list *workers,
                        struct arena *arena) {
    const struct wire_worker_view *list = workers->at;
    for (uint32_t i = 0; i < workers->count; i++) {
        struct lacking l = {.arena = arena};
        if (!list[i].attached) continue;
        lack_all(&l, d, &list[i]);
        if (l.count == 0) {
            if (own->fit_count++ == 0) own->fit = list[i].worker;
        } else if (own->near.len == 0 || l.count < own->lack_count) {
            own->near = list[i].worker;
            memcpy(own->lacks, l.list, sizeof l.list);
            own->lack_count = l.count;
        }
    }
}

/* ---- what it waits for ---- */

static void wait_add(struct flow_plan_job *own, struct slice text) {
    ENSURE(own->wait_count < sizeof own->waits / sizeof own->waits[0]);
    own->waits[own->wait_count++] = text;
}

static struct slice names_text(struct arena *a, const struct tlv_list *names) {
    const struct wire_name *list = names->at;
    struct buf b;
    buf_init(&b, WORDS_BYTES / 2);
    for (uint32_t i = 0; i < names->count; i++) buf_printf(&b, "%s%.*s", i > 0 ? ", " : "", SLICE_FMT(list[i].name));
    struct slice text = arena_slice(a, buf_slice(&b));
    buf_fini(&b);
    return text;
}

static void find_waits(struct flow_plan_job *own, const struct wire_options *o, const struct wire_run *run,
                       int64_t now_ms, struct arena *a) {
    const struct wire_demand *d = &o->demand;
    if (o->kind == JOB_GATE) wait_add(own, SLICE("a person who approves it"));
    if (o->kind == JOB_EXTERNAL) wait_add(own, SLICE("a word from outside"));
    if (run->when.len > 0) wait_add(own, words(a, "its condition: %.*s", SLICE_FMT(run->when)));
    if (run->foreach.len > 0) wait_add(own, words(a, "its items: %.*s", SLICE_FMT(run->foreach)));
    if (o->approval_role.len > 0) wait_add(own, words(a, "approval by the role %.*s", SLICE_FMT(o->approval_role)));
    if (o->delay_ms > 0) wait_add(own, words(a, "%lld ms of delay", (long long)o->delay_ms));
    if (o->not_before_ms > now_ms) wait_add(own, SLICE("its start time"));
    if (d->keys.count > 0)
        wait_add(own,
                 words(a, "its concurrency keys, while others hold them: %.*s", SLICE_FMT(names_text(a, &d->keys))));
    if (d->rates.count > 0) wait_add(own, words(a, "its rates: %.*s", SLICE_FMT(names_text(a, &d->rates))));
    if (own->needs_worker && own->fit_count == 0)
        wait_add(own, SLICE("a worker: none that is attached now has its pool, capabilities, labels and resources"));
}

void flow_plan_make(struct flow_plan *p, const struct wire_flow *flow, const struct tlv_list *workers, int64_t now_ms,
                    struct arena *arena) {
    const struct wire_job *jobs = flow->part.jobs.at;
    const struct wire_worker_view *list = workers->at;
    *p = (struct flow_plan){.flow = flow, .jobs = ARENA_ARRAY(arena, struct flow_plan_job, flow->part.jobs.count + 1)};
    find_stages(p);
    for (uint32_t i = 0; i < workers->count; i++) p->attached += list[i].attached;
    for (uint32_t i = 0; i < flow->part.jobs.count; i++) {
        const struct wire_options *o = (const struct wire_options *)flow->part.options.at + jobs[i].options;
        struct flow_plan_job *own = &p->jobs[i];
        struct wire_run run = {0};
        if (jobs[i].body.len > 0) (void)!tlv_decode(&wire_run_desc, jobs[i].body, TLV_SKIP_UNKNOWN, arena, &run, NULL);
        own->needs_worker = needs_worker(o);
        if (own->needs_worker) find_worker(own, &o->demand, workers, arena);
        p->stuck += own->needs_worker && own->fit_count == 0;
        find_waits(own, o, &run, now_ms, arena);
    }
}

/* ---- as JSON ---- */

static void put_list(struct json *j, const char *key, const struct slice *list, uint32_t count) {
    json_key(j, key);
    json_array(j);
    for (uint32_t i = 0; i < count; i++) json_text(j, list[i]);
    json_array_end(j);
}

static void put_job(const struct flow_plan *p, uint32_t at, struct json *j) {
    const struct wire_job *jobs = p->flow->part.jobs.at, *job = &jobs[at];
    const struct wire_options *o = (const struct wire_options *)p->flow->part.options.at + job->options;
    const struct wire_name *elsewhere = job->parent_names.at;
    const struct flow_plan_job *own = &p->jobs[at];
    json_object(j);
    json_key(j, "name"), json_text(j, job->name);
    json_key(j, "kind"), json_str(j, job_kind_words[o->kind]);
    json_key(j, "stage"), json_u64(j, own->stage + 1);
    json_key(j, "needs");
    json_array(j);
    for (uint32_t i = 0; i < job->parents.count; i++) json_text(j, jobs[job->parents.at[i]].name);
    for (uint32_t i = 0; i < job->parent_names.count; i++) json_text(j, elsewhere[i].name);
    json_array_end(j);
    if (own->needs_worker) json_key(j, "workers_that_fit"), json_u64(j, own->fit_count);
    if (own->needs_worker && own->fit_count == 0 && own->near.len > 0) {
        json_key(j, "nearest_worker"), json_text(j, own->near);
        put_list(j, "it_lacks", own->lacks, own->lack_count);
    }
    put_list(j, "waits_for", own->waits, own->wait_count);
    json_object_end(j);
}

void flow_plan_put(const struct flow_plan *p, uint32_t jobs_most, struct json *j) {
    uint32_t count = p->flow->part.jobs.count;
    json_key(j, "valid"), json_bool(j, true);
    if (p->flow->name.len > 0) json_key(j, "name"), json_text(j, p->flow->name);
    json_key(j, "job_count"), json_u64(j, count);
    json_key(j, "stages"), json_u64(j, p->stage_count);
    json_key(j, "workers_attached"), json_u64(j, p->attached);
    json_key(j, "jobs_without_worker"), json_u64(j, p->stuck);
    json_key(j, "jobs");
    json_array(j);
    for (uint32_t i = 0; i < count && i < jobs_most; i++) put_job(p, i, j);
    json_array_end(j);
    if (count > jobs_most) json_key(j, "jobs_not_shown"), json_u64(j, count - jobs_most);
    json_key(j, "next"), json_str(j, "nothing was submitted: `submit` the same flow to run it");
}

void flow_plan_put_invalid(struct slice problem, struct json *j) {
    json_key(j, "valid"), json_bool(j, false);
    json_key(j, "problem"), json_text(j, problem);
    json_key(j, "next"), json_str(j, "correct it and plan again; docs/guides/flows.md lists the keys");
}
