/* flow_lists.h: the lists that every flow is on, and how a flow leaves memory. Indices, kept by apply.
 *
 * By number: one set per state of a flow (flow_shelve), from which readers page. By end: two lists in order of their
 * ends, flows without dead letters and flows with some. Both times and LSNs rise along such a list, so the first flow
 * that may not leave yet keeps all behind it; which may leave is for decide to say (retention.h).
 *
 * Leaving is a sweep (SWEEP_FORGET) from the last job to the first: what is left in between is a smaller flow, sound in
 * itself, that no one can see. */
#ifndef REEVE_FLOW_LISTS_H
#define REEVE_FLOW_LISTS_H

#include "state.h"

/* A flow ended, or ended anew in another way; the flow runs again, or leaves. */
void ended_enter(struct state *s, uint32_t flow);
void ended_leave(struct state *s, uint32_t flow);
/* A dead letter came to a flow or went from it. */
void ended_dead_moved(struct state *s, uint32_t flow);
/* Its state changed: it is found among others of its kind from now on. */
void flow_shelve(struct state *s, struct flow *f);
/* After loading a snapshot: the lists, from the facts. */
void ended_restore(struct state *s);

/* Out of sight at once: REC_FORGOTTEN, and a snapshot taken in the middle of one. */
void flow_hide(struct state *s, uint32_t flow);
/* One step of leaving: frees the last child, or else the last job. */
void flow_shed_job(struct state *s, uint32_t flow);
/* The last step: no job is left. The flow is gone; a large one's memory comes back by flow_sweep. */
void flow_free(struct state *s, uint32_t flow);
/* Gives memory of flows that are gone back, a bounded amount of it. Changes no fact. */
void flow_sweep(struct state *s);

static inline bool flow_is_leaving(const struct flow *f) { return f->sweep == SWEEP_FORGET; }
/* Also a flow that is leaving; 0 = none. */
static inline uint32_t flow_find_any(const struct state *s, flow_id id) {
    uint32_t flow = flow_find(s, id);
    return flow ? flow : map_get(&s->leaving_by_id, id.v);
}

#endif
