/* titan_capability.h: what a worker claims for jobs of Titan's. */
#ifndef REEVE_TITAN_CAPABILITY_H
#define REEVE_TITAN_CAPABILITY_H

#include "arena.h"
#include "wire.h"

struct server;

/* As dialect_ops.capabilities. */
bool titan_capabilities(const struct server *s, struct arena *a, const struct wire_worker_info *w,
                        struct tlv_list *ret);

#endif
