/* option_cache.h: option sets that were checked and completed before, by the bytes that they came as (ADR 0105).
 *
 * Most submits ask for the same few sets. What a set becomes depends on its bytes and on the settings that the engine
 * was made with, and on nothing else: sets that name a time or ask a question are never kept, and what depends on the
 * state (room, limits of a tenant, names of limits) is no part of a set and is checked each time. Volatile: losing all
 * of it costs time and nothing else. */
#ifndef REEVE_OPTION_CACHE_H
#define REEVE_OPTION_CACHE_H

#include "options.h"

#define OPTION_CACHE_MAX 128u              /* a power of two */
#define CACHED_OPTIONS_KEY_BYTES_MAX 1024u /* longer ones are not worth the memory */

struct cached_options {
    struct arena birth; /* holds the set itself and all it points at */
    uint64_t hash;
    struct slice key;
    struct options given;        /* what the bytes say */
    struct options complete;     /* what decide made of it; `raw` is how records have it */
    struct cached_options *next; /* of those that lost their place */
};

struct option_cache {
    struct cached_options *at[OPTION_CACHE_MAX];
    uint64_t seen[OPTION_CACHE_MAX]; /* hash of the last set that was not kept: who comes twice is */
    struct cached_options *replaced; /* the command that had them replaced may point at them until it is over */
};

void option_cache_fini(struct option_cache *x);

/* NULL: it has to be checked. The bytes themselves are compared. */
const struct cached_options *option_cache_find(const struct option_cache *x, struct slice key);

/* Whether `given`, which came as `key` and is not there, is worth keeping now; remembers that it was here. */
bool option_cache_want(struct option_cache *x, struct slice key, const struct options *given);
/* Keeps it, in the place of whichever shares its slot, which stays in memory until option_cache_sweep. */
void option_cache_keep(struct option_cache *x, struct slice key, const struct options *given,
                       const struct options *complete);
void option_cache_sweep(struct option_cache *x); /* before a command: nobody points at what was replaced before it */

#endif
