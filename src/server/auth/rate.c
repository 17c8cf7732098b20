/* rate.c: see rate.h. */
#include "rate.h"

#include "hash.h"
#include "panic.h"

#define SLOTS 1024u /* a power of two */
#define TRIES 8u
#define NS_PER_MS 1000000

struct slot {
    uint64_t key;
    int64_t full_ns; /* monotonic */
};

void rate_init(struct rate *r, int64_t step_ns, int64_t burst) {
    REQUIRE(step_ns > 0 && burst > 0);
    *r = (struct rate){.step_ns = step_ns, .depth_ns = step_ns * burst};
    vec_init(&r->slots, sizeof(struct slot));
}

void rate_fini(struct rate *r) {
    vec_fini(&r->slots);
}

/* Its own, else one that is full, else one that it shares. */
static struct slot *slot_of(struct rate *r, uint64_t key, int64_t now_ns) {
    struct slot *full = NULL;
    if (r->slots.count == 0) vec_reserve(&r->slots, SLOTS);
    while (r->slots.count < SLOTS) (void)vec_push(&r->slots);
    uint64_t first = hash_mix(key);
    for (uint32_t i = 0; i < TRIES; i++) {
        struct slot *s = vec_at(&r->slots, (uint32_t)((first + i) % SLOTS));
        if (s->key == key) return s;
        if (full == NULL && s->full_ns <= now_ns) full = s;
    }
    if (full == NULL) return vec_at(&r->slots, (uint32_t)(first % SLOTS));
    full->key = key;
    return full;
}

static int64_t wait_of(const struct rate *r, const struct slot *s, int64_t now_ns) {
    int64_t short_ns = s->full_ns + r->step_ns - now_ns - r->depth_ns;
    return short_ns > 0 ? (short_ns + NS_PER_MS - 1) / NS_PER_MS : 0;
}

int64_t rate_wait(struct rate *r, uint64_t key, int64_t now_ms) {
    int64_t now_ns = now_ms * NS_PER_MS;
    return wait_of(r, slot_of(r, key, now_ns), now_ns);
}

int64_t rate_take(struct rate *r, uint64_t key, int64_t now_ms) {
    int64_t now_ns = now_ms * NS_PER_MS;
    struct slot *s = slot_of(r, key, now_ns);
    int64_t wait = wait_of(r, s, now_ns);
    if (wait == 0) s->full_ns = (s->full_ns > now_ns ? s->full_ns : now_ns) + r->step_ns;
    return wait;
}
