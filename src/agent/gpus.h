/* gpus.h: which of the worker's GPUs an attempt has. The server counts them and knows no more; that no two running
 * attempts have the same one is seen to here. */
#ifndef REEVE_GPUS_H
#define REEVE_GPUS_H

#include "arena.h"
#include "bytes.h"
#include "vec.h"

struct gpus {
    const char *const *names; /* what a program calls them, NULL-terminated; NULL: their numbers */
    uint32_t count;
    struct u32vec owner; /* by number: who has it, 0 = nobody; made when the first is taken */
};

void gpus_fini(struct gpus *g);
/* False: too many are taken, and nothing changed. `owner` is not 0, and has none yet. */
bool gpus_take(struct gpus *g, uint32_t owner, uint32_t count);
bool gpus_give(struct gpus *g, uint32_t owner); /* all that it has; false: it had none */
/* "0,2", in the arena. */
struct slice gpus_text(const struct gpus *g, uint32_t owner, struct arena *arena);

#endif
