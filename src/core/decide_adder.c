/* decide_adder.c: jobs that a job adds to its own flow. They get nothing that it does not have itself: they run in its
 * pools, at its priority at most, under the constraints that were put on it. See decide.h. */
#include "decide.h"
#include "expand.h"
#include "job.h"
#include "panic.h"
#include "place.h"
#include "registry.h"

/* In its pools: where it runs itself, or in one that its topic leads to. Who names none means the same as the adder. */
static enum err inherit_pools(struct decision *d, const struct demand *own, struct demand *ret) {
    if (ret->pool.len == 0 && ret->topic.len == 0) {
        ret->pool = own->pool;
        ret->topic = own->topic;
        return ERR_OK;
    }
    if (ret->topic.len && ret->pool.len == 0 && slice_eq(ret->topic, own->topic)) return ERR_OK;
    if (ret->topic.len == 0 && place_names_pool(d->state, own, ret->pool)) return ERR_OK;
    return refuse(d, ERR_FORBIDDEN, "a job adds jobs to its own pools only, not to %.*s",
                  SLICE_FMT(ret->pool.len ? ret->pool : ret->topic));
}

enum err decide_adder(struct decision *d, const struct cmd_add *c, struct cmd_jobs *ret,
                      struct slice *ret_constraints) {
    const struct state *s = d->state;
    uint32_t job = job_find(s, c->adder);
    const struct job *j = job ? job_at(s, job) : NULL;
    if (j == NULL || !job_state_is_active(j->state) || run_at(s, j->link)->fence != c->fence)
        return refuse(d, ERR_STATE, "the attempt that adds jobs is over");
    if (c->flow.v != c->adder.flow.v) return refuse(d, ERR_FORBIDDEN, "a job adds jobs to its own flow only");
    const struct options *own = job_options(s, j);
    struct options *sets = ARENA_ARRAY(d->arena, struct options, c->jobs.profile_count + 1);
    for (uint32_t i = 0; i < c->jobs.profile_count; i++) {
        sets[i] = c->jobs.profiles[i];
        /* a service is its tenant's, and another flow may have deployed it */
        if (sets[i].kind == JOB_SERVICE) return refuse(d, ERR_FORBIDDEN, "a job cannot add jobs that deploy services");
        if (sets[i].priority > own->priority) sets[i].priority = own->priority;
        enum err e = inherit_pools(d, &own->demand, &sets[i].demand);
        if (e != ERR_OK) return e;
    }
    *ret = c->jobs;
    ret->profiles = sets;
    const struct job *bound = j->part == PART_CHILD ? expand_whole(s, j) : j; /* children have those of the whole */
    *ret_constraints = bound->extra ? extra_at(s, bound->extra)->constraints : slice_of(NULL, 0);
    return ERR_OK;
}
