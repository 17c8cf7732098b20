/* graph.h: from jobs that name their parents to ordinals in topological order. Pure; knows nothing of the state. */
#ifndef REEVE_GRAPH_H
#define REEVE_GRAPH_H

#include "arena.h"
#include "err.h"
#include "tlv.h"

/* The ordinal of a job that the flow has already, or NO_NODE. */
#define NO_NODE UINT32_MAX
typedef uint32_t (*graph_known_fn)(const void *ctx, struct slice name);

struct graph_job {
    struct slice name;
    const struct slice *parents; /* in this flow */
    uint32_t parent_count;
};

struct graph {
    uint32_t *order;          /* order[k] = which input job gets ordinal first + k */
    struct tlv_u32s *parents; /* by input job: ordinals, ascending */
};

/* Jobs get the ordinals from `first` on; an input that is in topological order keeps its order. Refuses unknown and
 * duplicate names, a parent named twice and cycles, which it names by their path. Memory comes from `arena`. */
CHECKED enum err graph_order(const struct graph_job *jobs, uint32_t count, uint32_t first, graph_known_fn known,
                             const void *ctx, struct arena *arena, struct graph *ret, struct why *why);

#endif
