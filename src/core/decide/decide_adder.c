/* decide_adder.c: jobs that a job adds to a flow, or submits as a new one. They get nothing that it does not have
 * itself: they run in its pools, at its priority at most, under the constraints that were put on it, and with no more
 * rights in their tokens than it has in its own. See decide.h. */
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

static enum err inherit_options(struct decision *d, const struct options *own, struct options *ret) {
    /* a service is its tenant's, and another flow may have deployed it */
    if (ret->kind == JOB_SERVICE && !(own->token_rights & TOKEN_SUBMIT))
        return refuse(d, ERR_FORBIDDEN, "a job cannot add jobs that deploy services: its token may not submit");
    if (ret->token_rights & ~own->token_rights)
        return refuse(d, ERR_FORBIDDEN, "a job cannot give a token more rights than its own has");
    if (ret->priority > own->priority) ret->priority = own->priority;
    return inherit_pools(d, &own->demand, &ret->demand);
}

enum err decide_adder(struct decision *d, const struct adder *a, const struct cmd_jobs *given, struct cmd_jobs *ret,
                      struct slice *ret_constraints) {
    const struct state *s = d->state;
    uint32_t job = job_find(s, a->job);
    const struct job *j = job ? job_at(s, job) : NULL;
    if (j == NULL || !job_state_is_active(j->state) || run_at(s, j->link)->fence != a->fence)
        return refuse(d, ERR_STATE, "the attempt that adds jobs is over");
    const struct options *own = job_options(s, j);
    if (a->flow.v != a->job.flow.v && !(own->token_rights & TOKEN_SUBMIT))
        return refuse(d, ERR_FORBIDDEN, "a job adds jobs to its own flow only: its token may not submit");
    struct options *sets = ARENA_ARRAY(d->arena, struct options, given->profile_count + 1);
    for (uint32_t i = 0; i < given->profile_count; i++) {
        sets[i] = given->profiles[i];
        enum err e = inherit_options(d, own, &sets[i]);
        if (e != ERR_OK) return e;
    }
    *ret = *given;
    ret->profiles = sets;
    const struct job *bound = j->part == PART_CHILD ? expand_whole(s, j) : j; /* children have those of the whole */
    *ret_constraints = bound->extra ? extra_at(s, bound->extra)->constraints : slice_of(NULL, 0);
    return ERR_OK;
}
