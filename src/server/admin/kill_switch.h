/* kill_switch.h: what the supervisor of a playground hands to its server, and what survives it (playground.h). */
#ifndef REEVE_KILL_SWITCH_H
#define REEVE_KILL_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

struct playground_mark {
    uint64_t lsn;   /* durable */
    uint64_t flows; /* the highest number given to a flow */
};

struct kill_switch {                       /* what the supervisor hands to the server */
    volatile struct playground_mark *mark; /* survives the process */
    bool killed;                           /* there was a server before this one, and `before` is its last mark */
    struct playground_mark before;
    uint32_t kills;
    uint32_t pid; /* of this process */
};

#endif
