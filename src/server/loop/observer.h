/* observer.h: someone who lives in the server's process, is told of everything that happens there, in order, and may
 * speak to the engine himself. The program has none. The simulator is one: it judges what it is told, and it speaks for
 * the parts of a server that are not there yet (a calendar, a policy). It must not change anything else.
 *
 * All functions must be there. Slices are valid during the call. */
#ifndef REEVE_OBSERVER_H
#define REEVE_OBSERVER_H

#include "engine.h"
#include "net.h"

#define OBSERVER_TOKEN \
    (UINT64_C(1) << 62) /* the highest bit in the tokens of his commands; their answers are his alone */

static inline bool observer_is_token(uint64_t token) {
    return token >> 62 == 1;
}

struct observer {
    void *ctx;
    void (*replayed)(void *ctx, const struct batch *b);           /* a batch that the journal still had */
    void (*resumes)(void *ctx, struct engine *e, uint64_t epoch); /* all is replayed, nothing decided yet */
    void (*lost)(void *ctx); /* its shard is opened again: the engine goes now, `replayed` and `resumes` follow */
    void (*turn)(void *ctx); /* inside each pass: time to speak */
    uint64_t (*projected)(void *ctx); /* he keeps the history: how far it has come */
    /* A command is about to be decided, and has been. Of which request, if it is of one. */
    void (*asked)(void *ctx, conn_id conn, uint32_t request, const struct command *cmd);
    void (*decided)(void *ctx, conn_id conn, uint32_t request, const struct command *cmd);
    void (*appends)(void *ctx, const struct batch *b); /* once for each batch, before its first try */
    void (*durable)(void *ctx, uint64_t lsn);
    void (*leaves)(void *ctx, const struct effect *e); /* an effect is about to be let out, and has been */
    void (*left)(void *ctx, const struct effect *e);
};

#endif
