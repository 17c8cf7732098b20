/* part.h: a part of the server, as the loop knows it: a name, the size of its state, and what it wants to be called
 * for.
 *
 * A part is a room of its own: it holds its state, serves its requests (assembly/request_table.h names those) and says
 * when it wants a turn. The loop knows parts by one table (assembly/parts.c), in the order of a pass:
 *
 *     effects      what became durable is let out; a part is given the kinds it asks for
 *     step         inside the pass: may send commands
 *     append       the records of the pass become durable, or are on their way
 *     flush        after the append: sends what may leave, ends what is over; may not send commands
 *
 * A part has its turn (step, flush) when someone has called part_wake for it, when its time has come (next_due), when
 * it was given an effect, in every pass while it attends (part_attend), or as its `wakes` say. A part that waits for
 * nothing costs nothing. next_due is asked after each turn, so whatever changes its answer elsewhere wakes the part. */
#ifndef REEVE_PART_H
#define REEVE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "effect.h"
#include "err.h"
#include "net.h"

struct server;
struct shard;

#define PARTS_MAX 48u

enum part_scope {
    PART_OF_SERVER, /* of the loop thread: connections, dialects; stays when a shard is opened again, so it keeps
                       nothing that it learned from the state: no flow, no LSN */
    PART_OF_SHARD,  /* derived from the state of a shard: ends and begins with it */
};

#define EFFECT_BIT(kind) (1u << (kind))

#define PART_WAKES_WITH_STATE 1u /* for a step, in passes before which the state moved on, or more became durable */
#define PART_WAKES_WITH_FDS 2u   /* when a descriptor of the server is readable (server_wake) */
#define PART_WAKES_WITH_PASS 4u  /* in every pass */

/* `own` is the state of the part: `bytes` long, zeroed before init. NULL = the part does not care. */
struct server_part {
    const char *name;
    enum part_scope scope;
    size_t bytes;
    uint32_t effects; /* EFFECT_BITs that it is given */
    uint32_t wakes;   /* PART_WAKES_ bits */
    void (*init)(struct shard *h, void *own);
    void (*fini)(struct shard *h, void *own);
    void (*resumed)(struct shard *h, void *own); /* the shard was taken over: commands of its first batch */
    void (*step)(struct shard *h, void *own);
    void (*flush)(struct shard *h, void *own);
    int64_t (*next_due)(const struct shard *h, const void *own); /* monotonic; pure; TIME_NEVER = nothing waits */
    void (*leaving)(struct shard *h, void *own);                 /* before effects of a round leave */
    void (*effect)(struct shard *h, void *own, const struct effect *e);
    void (*released)(struct shard *h, void *own); /* the effects of a round are out; only if one was its own */
    void (*answered)(struct shard *h, void *own, uint64_t token, const struct reply *r); /* to its own commands */
    void (*decided)(struct shard *h, void *own, const struct command *cmd);              /* a command of anybody */
    void (*stored)(struct shard *h, void *own, enum err e); /* blobs and logs are durable, or ERR_NO_SPACE: not yet */
    void (*conn_gone)(struct shard *h, void *own, conn_id conn);
    bool (*stop)(struct shard *h, void *own, conn_id conn, uint32_t request); /* WIRE_STOP; true: it was its stream */
    bool (*is_idle)(const struct shard *h, const void *own);                  /* for a clean stop */
    const char *const *blob_keys; /* prefixes of keys whose values begin with the hash of a blob; the last is NULL */
};

/* The table of parts, in the order of a pass (assembly/parts.c). A part finds its state by its slot in it:
 *
 *     extern const uint8_t demand_slot;
 *     struct demand *d = shard_part(h, demand_slot); */
extern const struct server_part *const server_parts[];
extern const uint8_t server_part_count;

/* Tokens of commands that a part sends itself: their answers go to its `answered`. `n` is its own, below 2^56. */
static inline uint64_t part_token(uint8_t slot, uint64_t n) {
    return UINT64_C(1) << 63 | (uint64_t)slot << 56 | n;
}

static inline bool part_is_token(uint64_t token) {
    return token >> 63 != 0;
}

static inline uint8_t part_token_slot(uint64_t token) {
    return (uint8_t)(token >> 56 & 0x7f);
}

static inline uint64_t part_token_number(uint64_t token) {
    return token & ((UINT64_C(1) << 56) - 1);
}

#endif
