/* flow_list.h: flows, newest first, from memory and from the history as one list. Memory is looked at when the request
 * comes and the history afterwards, so a flow that moves from one to the other meanwhile is in at least one of them;
 * where it is in both, memory is right. A page goes as far down as both have been looked through. */
#ifndef REEVE_FLOW_LIST_H
#define REEVE_FLOW_LIST_H

#include "server_impl.h"

/* A `list` of flows, the cursor checked. */
void flow_list_read(struct server *s, struct request *r, uint64_t cursor, uint32_t most);

#endif
