/* replicas.c: see replicas.h.
 *
 * A worked example: web, which needs migrate, with `replicas: 3` and `max_parallel: 2`; smoke needs web.
 *
 *      migrate ──▶ web.1 ──▶ web.3 ──▶ web ──▶ smoke
 *            └───▶ web.2 ────────────▶
 *
 * web.3 waits until web.1 is healthy: of the odd and of the even ones one each is away at a time.
 * `web` is a barrier: whatever needs the service, in this flow and in others, needs all of its replicas. */
#include "replicas.h"

#include <stdio.h>
#include <string.h>

#include "job_kind.h"
#include "panic.h"
#include "rules.h"

#define SUFFIX_BYTES 12u /* of a name: ".256" */

struct replica_expansion {
    struct arena *arena;
    const struct wire_jobs *from;
    struct wire_options *options;
    uint32_t option_count;
    struct wire_job *jobs;
    uint32_t job_count;
    uint32_t *place; /* by position before: position now */
};

static uint32_t replicas_of(const struct wire_jobs *part, const struct wire_job *job) {
    const struct wire_options *sets = part->options.at;
    const struct wire_options *o = &sets[job->options];
    return o->kind == JOB_SERVICE && o->replica_of.len == 0 ? o->replicas : 0;
}

/* False: the arena is full, as in the functions below. */
static bool number(struct arena *arena, struct slice name, uint32_t number, struct slice *ret) {
    char suffix[SUFFIX_BYTES];
    int len = snprintf(suffix, sizeof suffix, ".%u", number);
    ENSURE(len > 0 && (size_t)len < sizeof suffix);
    uint8_t *at = arena_try(arena, name.len + (size_t)len);
    if (at == NULL) return false;
    if (name.len > 0) memcpy(at, name.ptr, name.len);
    memcpy(at + name.len, suffix, (size_t)len);
    *ret = slice_of(at, name.len + (size_t)len);
    return true;
}

static uint32_t *parents_now(struct replica_expansion *x, const struct wire_job *job, uint32_t more) {
    uint32_t *list = arena_try(x->arena, sizeof *list * ((size_t)job->parents.count + more + 1));
    for (uint32_t i = 0; list != NULL && i < job->parents.count; i++) {
        ENSURE(job->parents.at[i] < x->from->jobs.count);
        list[i] = x->place[job->parents.at[i]];
    }
    return list;
}

/* The option set of its jobs; of several services that had the same the first takes the place of that. */
static uint32_t put_options(struct replica_expansion *x, const struct wire_job *job) {
    bool is_taken = x->options[job->options].replicas == 0;
    uint32_t at = is_taken ? x->option_count++ : job->options;
    x->options[at] = ((const struct wire_options *)x->from->options.at)[job->options];
    x->options[at].replica_of = job->service;
    x->options[at].replicas = x->options[at].max_parallel = 0;
    return at;
}

static uint32_t put_barrier_options(struct replica_expansion *x, const struct wire_job *job, uint32_t replicas) {
    x->options[x->option_count] =
        (struct wire_options){.kind = JOB_BARRIER, .replica_of = job->service, .replicas = replicas};
    return x->option_count++;
}

static bool put_set(struct replica_expansion *x, const struct wire_job *job, uint32_t replicas) {
    const struct wire_options *given = &((const struct wire_options *)x->from->options.at)[job->options];
    uint32_t at_once = given->max_parallel ? given->max_parallel : 1, first = x->job_count;
    uint32_t options = put_options(x, job), *all = arena_try(x->arena, sizeof *all * replicas);
    if (all == NULL) return false;
    for (uint32_t i = 0; i < replicas; i++) {
        struct wire_job *w = &x->jobs[x->job_count];
        uint32_t *parents = parents_now(x, job, 1), count = job->parents.count;
        *w = *job;
        if (parents == NULL || !number(x->arena, job->name, i + 1, &w->name) ||
            !number(x->arena, job->service, i + 1, &w->service))
            return false;
        if (i >= at_once) parents[count++] = first + i - at_once;
        w->options = options;
        w->parents = (struct tlv_u32s){parents, count};
        all[i] = x->job_count++;
    }
    x->jobs[x->job_count++] = (struct wire_job){
        .name = job->name, .options = put_barrier_options(x, job, replicas), .parents = {all, replicas}};
    return true;
}

static bool put_other(struct replica_expansion *x, const struct wire_job *job) {
    struct wire_job *w = &x->jobs[x->job_count++];
    *w = *job;
    w->parents.at = parents_now(x, job, 0);
    return w->parents.at != NULL;
}

static enum err full(struct why *why) {
    return why_set(why, ERR_LIMIT, "the flow with all its replicas is too large: send it in parts");
}

static enum err check(const struct wire_job *job, uint32_t replicas, struct why *why) {
    if (replicas > REPLICAS_MAX)
        return why_set(why, ERR_INVALID, "service %.*s: `replicas` is between 1 and %u", SLICE_FMT(job->service),
                       REPLICAS_MAX);
    if (job->name.len + SUFFIX_BYTES > WIRE_NAME_MAX || job->service.len + SUFFIX_BYTES > WIRE_NAME_MAX)
        return why_set(why, ERR_LIMIT, "the name of a service with replicas is longer than %u bytes",
                       WIRE_NAME_MAX - SUFFIX_BYTES);
    return ERR_OK;
}

enum err replicas_expand(struct arena *arena, struct wire_jobs *part, struct why *why) {
    const struct wire_job *jobs = part->jobs.at;
    uint32_t sets = 0, total = part->jobs.count;
    for (uint32_t i = 0; i < part->jobs.count; i++) {
        uint32_t replicas = replicas_of(part, &jobs[i]);
        enum err e = check(&jobs[i], replicas, why);
        if (e != ERR_OK) return e;
        sets += replicas > 0;
        total += replicas;
    }
    if (sets == 0) return ERR_OK;
    if (total > WIRE_COUNT_MAX) return why_set(why, ERR_LIMIT, "more than %u jobs, with replicas", WIRE_COUNT_MAX);
    struct replica_expansion x = {.arena = arena, .from = part, .option_count = part->options.count};
    x.options = arena_try(arena, sizeof *x.options * (part->options.count + 2 * (size_t)sets));
    x.jobs = arena_try(arena, sizeof *x.jobs * total);
    x.place = arena_try(arena, sizeof *x.place * part->jobs.count);
    if (x.options == NULL || x.jobs == NULL || x.place == NULL) return full(why);
    memcpy(x.options, part->options.at, sizeof *x.options * part->options.count);
    for (uint32_t i = 0; i < part->jobs.count; i++) { /* parents stand before their children */
        uint32_t replicas = replicas_of(part, &jobs[i]);
        if (!(replicas > 0 ? put_set(&x, &jobs[i], replicas) : put_other(&x, &jobs[i]))) return full(why);
        x.place[i] = x.job_count - 1;
    }
    ENSURE(x.job_count == total);
    part->options = (struct tlv_list){x.options, x.option_count};
    part->jobs = (struct tlv_list){x.jobs, x.job_count};
    return ERR_OK;
}
