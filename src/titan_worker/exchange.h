/* exchange.h: requests to other Titan programs, each on a connection of its own, as Titan makes them: dial, one frame,
 * its answer, the end. None of them waits for ever. */
#ifndef REEVE_EXCHANGE_H
#define REEVE_EXCHANGE_H

#include "clock.h"
#include "map.h"
#include "net.h"
#include "pool.h"
#include "titan.h"

struct exchange_end {
    const struct titan_frame *answer; /* NULL: there is none, and `failure` says why */
    const char *failure;
    bool was_sent; /* it may have been heard, though it was not answered */
};

/* What became of it, once, and never from inside exchange_begin. It may begin another one. */
typedef void (*exchange_fn)(void *ctx, uint64_t token, const struct exchange_end *end);

struct exchanges {
    struct clock *clock;
    struct net *net;
    struct pool all; /* struct exchange */
    struct map by_conn;
};

void exchanges_init(struct exchanges *x, struct clock *clock, struct net *net);
void exchanges_fini(struct exchanges *x); /* those that are under way are hung up, without a word */
void exchange_begin(struct exchanges *x, const char *address, uint8_t opcode, struct slice body, int64_t timeout_ms,
                    exchange_fn told, void *ctx, uint64_t token);
void exchanges_pass(struct exchanges *x); /* ends those that take too long */
int64_t exchanges_next(const struct exchanges *x); /* when that is to be looked at again */

#endif
