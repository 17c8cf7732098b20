/* ends.h: how the last attempts that ended badly did so: exit code, signal, what the worker said. For people who look.
 *
 * Not part of the state: the journal has it, the history will; this is what is remembered since the start of the
 * server, of the last ENDS_MAX such ends. Nothing is decided by it. */
#ifndef REEVE_ENDS_H
#define REEVE_ENDS_H

#include "ids.h"
#include "map.h"
#include "vec.h"
#include "wire_worker.h"

#define ENDS_MAX 16384u
#define ENDS_REASON_MAX 256u

struct bytes;

struct end_note {
    struct job_ref job;
    uint32_t attempt, exit_code, signal;
    struct bytes *reason;
};

struct ends {
    struct vec notes;   /* a ring */
    uint32_t next;      /* the oldest, when the ring is full */
    struct map by_job;  /* position + 1 */
};

void ends_init(struct ends *e);
void ends_fini(struct ends *e);
void ends_note(struct ends *e, const struct wire_end *end);
/* NULL: nothing is remembered of that attempt. */
const struct end_note *ends_find(const struct ends *e, struct job_ref job, uint32_t attempt);

#endif
