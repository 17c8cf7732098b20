/* flow_plan.h: what a flow would be if it was submitted now: its jobs in stages, what each waits for, and which of the
 * workers that are attached could run it, or what they lack. One judgement for the tool `plan` and for `reeve plan`.
 *
 * It knows of workers what they say of themselves; rules of pools, pins and tenants are the server's, and are not
 * judged. */
#ifndef REEVE_FLOW_PLAN_H
#define REEVE_FLOW_PLAN_H

#include "arena.h"
#include "json.h"
#include "wire.h"

#define FLOW_PLAN_LACKS_MAX 8u

struct flow_plan_job {
    uint32_t stage; /* jobs before it in the longest chain */
    bool needs_worker;
    uint32_t fit_count;                      /* workers that could run it */
    struct slice fit;                        /* one of them */
    struct slice near;                       /* without any: the worker that lacks least; empty = none is attached */
    struct slice lacks[FLOW_PLAN_LACKS_MAX]; /* that one, in words */
    uint32_t lack_count;
    struct slice waits[12]; /* what it waits for besides other jobs, in words */
    uint32_t wait_count;
};

struct flow_plan {
    const struct wire_flow *flow;
    struct flow_plan_job *jobs;
    uint32_t stage_count, attached, stuck; /* stuck: jobs that no attached worker could run */
};

/* `workers`: of wire_worker_view. The plan is in the arena, and refers to the flow and the workers. */
void flow_plan_make(struct flow_plan *p, const struct wire_flow *flow, const struct tlv_list *workers, int64_t now_ms,
                    struct arena *arena);
/* The members of an object: at most so many jobs. */
void flow_plan_put(const struct flow_plan *p, uint32_t jobs_most, struct json *j);
/* The same of a flow that would be refused. */
void flow_plan_put_invalid(struct slice problem, struct json *j);

#endif
