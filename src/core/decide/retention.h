/* retention.h: which of the flows that are over may leave memory now. Changes nothing.
 *
 * A flow leaves when the history has its end and its time is over. A pass looks at the heads of the two lists of
 * flow_lists.h alone, whatever the number of flows: what holds for the head holds for all behind it. */
#ifndef REEVE_RETENTION_H
#define REEVE_RETENTION_H

#include "limit.h"
#include "live.h"
#include "state.h"

/* The flow that may leave now, or 0. */
uint32_t retention_next(const struct state *s, const struct live *l, const struct limits *limits, wall_time now);
/* When the next one may, if nothing changes but the time; TIME_NEVER. */
wall_time retention_due(const struct state *s, const struct live *l, const struct limits *limits);

#endif
