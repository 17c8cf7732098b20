/* orion_view.h: the state in Orion's words (req_orion.c). */
#ifndef REEVE_ORION_VIEW_H
#define REEVE_ORION_VIEW_H

#include "server_impl.h"
#include "wire_orion.h"

bool orion_is_dag(struct server *s, flow_id flow); /* it came by this dialect; uses s->frame_arena */
uint32_t orion_retries(const struct job_view *v); /* as Orion counts them: what was lost with a worker is none */
/* Of a tenant; uses s->frame_arena. */
void orion_view_numbers(struct server *s, struct slice tenant, struct wire_orion *ret);

#endif
