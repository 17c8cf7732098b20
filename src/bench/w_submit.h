/* w_submit.h: one submit after the other on n connections: W1 and W2, and their floor T(n) for W0. */
#ifndef REEVE_W_SUBMIT_H
#define REEVE_W_SUBMIT_H

#include "floor.h"
#include "lab.h"
#include "load.h"

struct submits {
    struct bench *bench;
    uint32_t connections, flight;
    struct buf request;
    struct floor_server floor;
    struct load_conns floor_load;
    bool has_floor_load;
    struct lab *lab; /* NULL: only the floor */
    struct load_conns load;
    uint64_t flows;
    uint64_t syncs, answers; /* of the last measurement */
};

CHECKED enum err submits_open(struct submits *w, const char *dir, struct why *why);
void submits_close(struct submits *w);
enum err submits_floor(void *ctx, double *ret, struct why *why); /* submits per second */

#endif
