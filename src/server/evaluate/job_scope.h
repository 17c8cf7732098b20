/* job_scope.h: what the expressions and templates of one job see (eval/scope.h), gathered from the state: its flow, its
 * parents in that flow with what they left, the parameters that came with it, its item. */
#ifndef REEVE_JOB_SCOPE_H
#define REEVE_JOB_SCOPE_H

#include "scope.h"
#include "server_impl.h"
#include "wire_run.h"

/* Only parents that the expressions and templates of `run` name are looked at. Of a foreach job the outputs are the
 * list of what its children left, null for those that left nothing. Everything is in the arena or in the state. */
CHECKED enum err job_scope_make(struct server *s, const struct job_view *job, const struct wire_run *run,
                                struct arena *arena, struct scope *ret, struct why *why);
/* The slot of a flow that a schedule made, and the parameters that depend on it, as far as `run` names them. Fills in
 * `params`, `schedule` and `zone` of the scope; the zone is good until another is asked for. */
CHECKED enum err job_scope_slot(struct server *s, flow_id flow, const struct wire_run *run, struct arena *arena,
                                struct scope *ret, struct why *why);
/* What the children of a foreach job left, as a JSON list. ERR_NOT_FOUND: the job is none, none left anything, or there
 * are more than `count_max`. */
CHECKED enum err job_scope_children(struct server *s, struct job_ref ref, uint32_t count_max, size_t bytes_max,
                                    struct arena *arena, struct slice *ret, struct why *why);

/* The `run` message of a child with its item filled in, and the item as text; both in the arena, *ret_body unchanged
 * when it names no item. */
CHECKED enum err job_scope_child(struct server *s, const struct job_view *child, struct arena *arena,
                                 struct slice *ret_body, struct slice *ret_item, struct why *why);

#endif
