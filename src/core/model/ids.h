/* ids.h: how flows, jobs and attempts are named, inside and for people.
 *
 * Inside, a flow is a 64-bit number that rises by one per submit and is never reused; a job is (flow, ordinal),
 * where the ordinals of a flow are a topological order of its graph; an attempt is (job, n) with n from 1. The shard
 * stands beside them where a reference may leave its shard. For people a flow is `f`, one base32 digit (how many
 * characters the flow number has), the flow number and, unless it is 0, the shard, in Crockford base32: sortable,
 * short, unambiguous when read aloud. */
#ifndef REEVE_IDS_H
#define REEVE_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "slice.h"

typedef struct { uint64_t v; } flow_id;     /* 0 = none */
typedef struct { uint64_t v; } question_id; /* 0 = none */

struct job_ref {
    flow_id flow;
    uint32_t ordinal;
};

#define FLOW_TEXT_BYTES 24 /* with the terminating zero */

void flow_text(uint32_t shard, flow_id id, char out[FLOW_TEXT_BYTES]);
bool flow_parse(struct slice text, uint32_t *ret_shard, flow_id *ret); /* exact ids only, either letter case */

#endif
