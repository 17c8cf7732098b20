/* osforward.h: this program again, as a child that hands the audit trail on. It is told how far the journal is durable
 * (8 bytes little-endian on its standard input, rising) and answers in lines on its standard output. It ends when
 * nobody listens to it. */
#ifndef REEVE_OSFORWARD_H
#define REEVE_OSFORWARD_H

#include "osloop.h"
#include "slice.h"

#define OSFORWARD_CHILD "--child-forward" /* its first argument */
#define OSFORWARD_ARGS 6u                 /* that follow */

struct osforward_handler {
    void (*line)(void *ctx, struct slice line); /* without its end */
    void (*ended)(void *ctx);                   /* by itself; never from inside a call */
    void *ctx;
};

struct osforward;

/* NULL: the machine has no room for another process. The arguments are copied. */
struct osforward *osforward_start(struct osloop *loop, const char *const args[OSFORWARD_ARGS],
                                  const struct osforward_handler *h);
void osforward_upto(struct osforward *o, uint64_t lsn);
void osforward_stop(struct osforward *o); /* before the loop; fine with NULL, and with one that has ended */

#endif
