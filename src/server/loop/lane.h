/* lane.h: what waits for its turn. A lane has the requests of one connection that have arrived and are not yet served,
 * bounded by bytes; a fifo has the ids of those whose turn comes (fair_queue.h). */
#ifndef REEVE_LANE_H
#define REEVE_LANE_H

#include "buf.h"
#include "net.h"
#include "slice.h"
#include "vec.h"

struct lane {
    struct buf bytes; /* entries, back to back */
    size_t served;    /* of them */
};

struct lane_entry {
    conn_id conn;
    uint8_t op;
    uint32_t request;
    struct slice body; /* in the form that it came in, or empty: its dialect holds it; valid until the next put */
};

void lane_init(struct lane *l, size_t bytes_max);
void lane_fini(struct lane *l);
/* False: there is no room. The body is copied. */
bool lane_put(struct lane *l, const struct lane_entry *e);
bool lane_take(struct lane *l, struct lane_entry *ret);
bool lane_is_empty(const struct lane *l);
void lane_trim(struct lane *l, size_t kept); /* when it is empty: more memory than this goes back */

struct fifo {
    struct vec ids; /* uint64_t */
    uint32_t first;
};

void fifo_init(struct fifo *f);
void fifo_fini(struct fifo *f);
bool fifo_is_empty(const struct fifo *f);
void fifo_push(struct fifo *f, uint64_t id);
bool fifo_pop(struct fifo *f, uint64_t *ret); /* false: it is empty */

#endif
