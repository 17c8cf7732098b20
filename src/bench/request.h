/* request.h: the submits of the workloads, as frames. */
#ifndef REEVE_REQUEST_H
#define REEVE_REQUEST_H

#include "wire.h"

#define REQUEST_BYTES_MAX (64u << 20)
#define REQUEST_SPEC_BYTES 200u /* of a job that has one */

enum request_shape {
    REQUEST_FLAT,   /* nobody waits for anybody */
    REQUEST_CHAIN,  /* each for the one before */
    REQUEST_FAN,    /* 1 → n-2 → 1 */
    REQUEST_LAYERS, /* layers of 100, each job with two parents in the layer before, by a fixed chance */
};

struct request_job {
    uint8_t kind;      /* enum job_kind */
    struct slice body; /* of every job */
};

struct slice request_spec(void); /* a command of REQUEST_SPEC_BYTES */

/* One flow of so many jobs. */
void request_flow(struct buf *out, uint32_t jobs, enum request_shape shape, const struct request_job *job);
/* So many flows of one job each. With keys: each its own idempotency key, numbered from `key_first`; 0 = without. */
void request_singles(struct buf *out, uint32_t flows, uint64_t key_first, const struct request_job *job);

#endif
