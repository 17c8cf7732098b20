/* option_cache.c: see option_cache.h. One slot for each hash: a table that must not grow needs no order among its
 * entries. */
#include "option_cache.h"

#include "hash.h"
#include "panic.h"

#define CACHED_OPTIONS_BYTES_MAX ((size_t)1 << 20)

static uint64_t hash_of(struct slice key) {
    return hash64(key.ptr, key.len, 0);
}

static uint32_t slot_of(uint64_t hash) {
    return (uint32_t)hash & (OPTION_CACHE_MAX - 1);
}

static void drop(struct cached_options *set) {
    if (set == NULL) return;
    struct arena birth = set->birth;
    arena_fini(&birth);
}

void option_cache_sweep(struct option_cache *x) {
    while (x->replaced != NULL) {
        struct cached_options *set = x->replaced;
        x->replaced = set->next;
        drop(set);
    }
}

void option_cache_fini(struct option_cache *x) {
    for (uint32_t i = 0; i < OPTION_CACHE_MAX; i++) drop(x->at[i]);
    option_cache_sweep(x);
    *x = (struct option_cache){0};
}

const struct cached_options *option_cache_find(const struct option_cache *x, struct slice key) {
    uint64_t hash = hash_of(key);
    const struct cached_options *set = x->at[slot_of(hash)];
    return set != NULL && set->hash == hash && slice_eq(set->key, key) ? set : NULL;
}

/* What becomes of such a set depends on nothing but itself, and it is one that runs on a worker. */
static bool is_plain(const struct options *o) {
    bool has_time = o->delay_from_submit || o->not_before_ms || o->deadline_ms;
    bool is_run = job_kind_of(o->kind)->ends == JOB_ENDS_ON_WORKER;
    return !has_time && is_run && o->gates == 0 && !o->calls;
}

bool option_cache_want(struct option_cache *x, struct slice key, const struct options *given) {
    if (key.len > CACHED_OPTIONS_KEY_BYTES_MAX || !is_plain(given)) return false;
    uint64_t hash = hash_of(key);
    uint64_t *seen = &x->seen[slot_of(hash)];
    bool was_here = *seen == hash;
    *seen = hash;
    return was_here;
}

/* As bytes and back: all that the copy points at is its own. */
static void copy(struct arena *arena, const struct options *from, struct options *ret) {
    struct buf bytes;
    buf_init(&bytes, CACHED_OPTIONS_BYTES_MAX);
    tlv_encode(&options_desc, from, &bytes);
    ENSURE(!bytes.full);
    struct slice own = arena_slice(arena, buf_slice(&bytes));
    buf_fini(&bytes);
    enum err e = tlv_decode(&options_desc, own, TLV_STRICT, arena, ret, NULL);
    ENSURE(e == ERR_OK);
}

void option_cache_keep(struct option_cache *x, struct slice key, const struct options *given,
                       const struct options *complete) {
    REQUIRE(key.len <= CACHED_OPTIONS_KEY_BYTES_MAX);
    REQUIRE(is_plain(given));
    REQUIRE(is_plain(complete));
    struct arena birth;
    arena_init(&birth, sizeof(struct cached_options) + 2 * key.len + 512, CACHED_OPTIONS_BYTES_MAX);
    struct cached_options *set = ARENA_NEW(&birth, struct cached_options);
    set->hash = hash_of(key);
    set->key = arena_slice(&birth, key);
    copy(&birth, given, &set->given);
    copy(&birth, complete, &set->complete);
    set->birth = birth;
    struct cached_options **slot = &x->at[slot_of(set->hash)];
    if (*slot != NULL) {
        (*slot)->next = x->replaced;
        x->replaced = *slot;
    }
    *slot = set;
}
