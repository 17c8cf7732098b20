/* lane.h: a queue of requests that have arrived and are not yet served, of one connection. Bounded by bytes. */
#ifndef REEVE_LANE_H
#define REEVE_LANE_H

#include "buf.h"
#include "net.h"
#include "slice.h"

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

#endif
