/* attempts.h: the attempts that a worker holds, and a memory of those it no longer does.
 *
 * An attempt is taken once: while it is held, and after its end as long as a late ASSIGN could still be on its way (its
 * tomb), it is not taken again. Each has at most one due time in the heap: the earliest of what it waits for. */
#ifndef REEVE_ATTEMPTS_H
#define REEVE_ATTEMPTS_H

#include "capture.h"
#include "heap.h"
#include "map.h"
#include "pool.h"
#include "proc.h"
#include "spool.h"

#define ATTEMPT_KEY_BYTES 20u
#define ATTEMPT_NAME_MAX 64u

#define TRANSFER_PATH_MAX 512u

enum transfer_step { TRANSFER_NONE, TRANSFER_FETCH, TRANSFER_BEGIN, TRANSFER_PART, TRANSFER_END };

struct transfer_item {
    char inside[TRANSFER_PATH_MAX]; /* path in its space */
    char name[256];                 /* of an artifact */
    uint8_t hash[32];
    uint64_t bytes;
    bool is_executable, is_result;
};

struct transfer { /* of blobs, one after the other */
    uint8_t step;  /* enum transfer_step */
    uint32_t next; /* which of the items */
    uint32_t request;
    uint64_t offset, upload;
    bool is_held; /* the server was told that it refused for now */
    struct vec items; /* of transfer_item */
};

struct attempt {
    uint8_t key[ATTEMPT_KEY_BYTES];
    struct wire_attempt id;
    uint32_t index; /* of this in the pool */
    uint8_t phase; /* enum wire_held_phase */
    bool is_used;
    bool is_exclusive;
    bool is_http;     /* its child may say when to come again */
    bool is_stopping; /* by the server: it ends STOPPED */
    bool is_dropped;  /* not ours any more: not a word about it */
    bool is_overdue;  /* stopped by the worker itself, for its run timeout */
    bool is_unwell;   /* the same, because its probes fail */
    bool is_paused;   /* its output is not read */
    bool is_dirty;    /* in the list of those with something to say */
    bool is_spooled;  /* its end is on disk */
    bool started_told, done_told; /* on this connection */
    uint32_t heap_position;
    struct bytes *job;   /* for people */
    struct bytes *order; /* the assignment, while it is needed: until the start, or with artifacts until the end */
    proc_id process;
    uint32_t grace_ms;
    uint32_t fail_code; /* of what runs inside the worker: with it, at its end; 0 = it ends well */
    int64_t sleep_until_ms, timeout_at_ms, kill_at_ms, spool_at_ms; /* monotonic */
    int64_t tell_at_ms; /* when its start is said; TIME_NEVER = at once, or it was */
    int64_t tend_at_ms; /* of a service: when it is looked at, or a look has taken too long */
    uint32_t tended;    /* of a service: its place among them */
    int64_t started_ms; /* wall */
    int64_t ended_at_ms; /* monotonic, also of one that an earlier incarnation left; TIME_NEVER = it has not */
    struct capture capture;
    struct spool_file file;
    struct bytes *end; /* a wire_end, when it is finished; before that, while its artifacts are kept, what it will be */
    struct transfer transfer;
    struct proc_limits limits; /* of its process */
    bool is_waiting; /* for a lease, or for GPUs that a dying process still has */
    uint32_t titan_ticket; /* of its script's name, in the place that it shares; 0 = it has none */
    bool has_space;
    char space[ATTEMPT_NAME_MAX]; /* name of its directory */
};

struct attempts {
    struct pool pool;
    struct index held;
    struct heap due;
    struct vec dirty; /* of uint32_t */
    struct vec tombs; /* of keys; a ring when it is full */
    struct index buried;
    uint32_t tomb_next;
};

void attempts_init(struct attempts *t, uint32_t max);
void attempts_fini(struct attempts *t); /* captures are ended, files stay */
struct attempt *attempts_find(const struct attempts *t, const struct wire_attempt *id);
bool attempts_is_buried(const struct attempts *t, const struct wire_attempt *id);
/* NULL when there are too many. */
struct attempt *attempts_new(struct attempts *t, const struct wire_attempt *id, struct slice job,
                             uint64_t log_bytes_max);
void attempts_free(struct attempts *t, struct attempt *a); /* and buries it */
struct attempt *attempts_at(const struct attempts *t, uint32_t index); /* NULL: none; 1 .. attempts_high */
void attempts_name_space(struct attempt *a); /* before its directory is made; many attempts need none */
static inline uint32_t attempts_high(const struct attempts *t) {
    return t->pool.high;
}
void attempts_touch(struct attempts *t, struct attempt *a); /* it has something to say */
void attempts_time(struct attempts *t, struct attempt *a);  /* after a change of its times */
struct attempt *attempts_due(struct attempts *t, int64_t now_ms); /* the next that is due, or NULL */

#endif
