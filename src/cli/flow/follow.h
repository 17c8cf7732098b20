/* follow.h: the output of many attempts as one stream of whole lines: all jobs of a flow, in the order in which they
 * were written, each behind the name of its job.
 *
 * First comes what is there, merged by the time of each line; then, if asked to, what follows, as it comes, until the
 * target is over. A server that goes away is waited for, and nothing is said twice: each attempt has its position. */
#ifndef REEVE_FOLLOW_H
#define REEVE_FOLLOW_H

#include "cli.h"

#define FOLLOW_ATTEMPTS_MAX 20000u /* attempts read at a time: each holds some of its output in memory */

struct follow_what {
    struct slice target;  /* a flow, or one job */
    struct slice until;   /* what must be over; empty = the target */
    bool live;            /* go on until it is over; the exit code is then as of `wait` */
    bool plain;           /* no names before the lines */
    bool times;           /* when each line was written */
    int64_t since_ms;     /* only lines since then; 0 = all */
    uint32_t attempt;     /* only attempts of this number; 0 = all */
    uint64_t tail_bytes;  /* of each attempt only the end; 0 = all */
    struct tlv_list jobs; /* of wire_name: only these, with * and ? as in a shell; empty = all */
};

CHECKED enum err follow_target(struct cli *c, const struct follow_what *what);

#endif
