/* option_cache.h: option sets that were checked and completed before, by the bytes that they came as (ADR 0105).
 *
 * Most submits ask for the same few sets. What a set becomes depends on its bytes and on the settings that the engine
 * was made with, and on nothing else: sets that name a time or ask a question are never kept, and what depends on the
 * state (room, limits of a tenant, names of limits) is no part of a set and is checked each time. Volatile: losing all
 * of it costs time and nothing else. */
#ifndef REEVE_OPTION_CACHE_H
#define REEVE_OPTION_CACHE_H

#include "options.h"

#define OPTSETS_MAX 128u           /* a power of two */
#define OPTSET_KEY_BYTES_MAX 1024u /* longer ones are not worth the memory */

struct optset {
    struct arena birth; /* holds the set itself and all it points at */
    uint64_t hash;
    struct slice key;
    struct options given;    /* what the bytes say */
    struct options complete; /* what decide made of it; `raw` is how records have it */
    struct optset *next;     /* of those that lost their place */
};

struct optsets {
    struct optset *at[OPTSETS_MAX];
    uint64_t seen[OPTSETS_MAX]; /* hash of the last set that was not kept: who comes twice is */
    struct optset *replaced;    /* the command that had them replaced may point at them until it is over */
};

void optsets_fini(struct optsets *x);

/* NULL: it has to be checked. The bytes themselves are compared. */
const struct optset *optsets_find(const struct optsets *x, struct slice key);

/* Whether `given`, which came as `key` and is not there, is worth keeping now; remembers that it was here. */
bool optsets_want(struct optsets *x, struct slice key, const struct options *given);
/* Keeps it, in the place of whichever shares its slot, which stays in memory until optsets_sweep. */
void optsets_keep(struct optsets *x, struct slice key, const struct options *given, const struct options *complete);
void optsets_sweep(struct optsets *x); /* before a command: nobody points at what was replaced before it */

#endif
