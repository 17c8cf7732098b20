/* flow_source.h: the file that a flow was submitted from. It is kept as a blob of the flow's tenant, by its hash, so a
 * file that was submitted before costs a look-up; the record of the flow names it once it is durable (ADR 0129).
 *
 *     flow_source_take, for each flow of a request     // what is not stored yet is on its way then: `puts`
 *     if (flow_source_wait(…)) return                  // and the request is served again when all of it is durable
 */
#ifndef REEVE_FLOW_SOURCE_H
#define REEVE_FLOW_SOURCE_H

#include "record.h"
#include "server_impl.h"

/* What the flow's record will say of its source. ERR_INVALID: the params are no object; ERR_BUSY: the same again in a
 * moment. A file that is too large, or that there is no room for, is not kept: it has bytes and no hash then. */
CHECKED enum err flow_source_take(struct server *s, const struct request *r, const struct wire_flow *flow,
                                  struct slice tenant, struct flow_source *ret, struct vec *puts, struct why *why);
/* True: nothing may be decided yet. The request was told to come again (`busy`: what take said), or is served again. */
bool flow_source_wait(struct server *s, const struct request *r, struct vec *puts, bool busy);

/* The file of a flow that is in memory, and what it names. ERR_NOT_FOUND with the reason why there is none. */
CHECKED enum err flow_source_read(struct server *s, const struct flow_view *flow, struct arena *arena,
                                  struct wire_source *ret, struct why *why);

#endif
