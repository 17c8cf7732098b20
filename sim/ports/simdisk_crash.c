/* simdisk_crash.c: what the simulator and the tests do to a simulated disk from outside: set faults, cut the power,
 * rot, look. Guarantees: after a crash durable and current state are equal and nothing waits. */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "panic.h"
#include "simdisk_impl.h"

void simdisk_chances_set(struct simdisk *s, const struct simdisk_chances *c) {
    s->chances = *c;
}

void simdisk_arm(struct simdisk *s, enum simdisk_op op, enum simdisk_fault fault, uint64_t skip) {
    REQUIRE(op <= SIMDISK_ANY);
    s->armed[op] = (struct armed){fault, s->calls[op] + skip};
}

void simdisk_meanwhile(struct simdisk *s, uint64_t skip, void (*fn)(void *ctx), void *ctx) {
    s->meanwhile = fn;
    s->meanwhile_ctx = ctx;
    s->meanwhile_at = s->calls[SIMDISK_ANY] + skip;
}

uint64_t simdisk_calls(const struct simdisk *s, enum simdisk_op op) {
    REQUIRE(op <= SIMDISK_ANY);
    return s->calls[op];
}

bool simdisk_is_dark(const struct simdisk *s) {
    return s->dark;
}

void simdisk_budget_set(struct simdisk *s, uint64_t bytes) {
    s->budget_bytes = bytes;
}

uint64_t simdisk_used(const struct simdisk *s) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->current.count; i++) {
        const struct simdisk_entry *e = vec_at(&s->current, i);
        if (!e->is_dir) sum += simdisk_inode(s, e->inode)->current_len;
    }
    return sum;
}

uint64_t simdisk_slow_ms_take(struct simdisk *s) {
    uint64_t ms = s->slow_ms;
    s->slow_ms = 0;
    return ms;
}

/* ---- crash ---- */

void simdisk_gone(struct simdisk *s) {
    s->gone = true;
}

void simdisk_kill(struct simdisk *s) {
    s->gone = false;
    for (uint32_t i = 0; i < s->handles.count; i++) {
        struct handle *h = vec_at(&s->handles, i);
        if (h->open) simdisk_inode(s, h->inode)->handles--;
        h->open = false;
    }
    s->handles.count = 0;
    s->locks.count = 0;
    simdisk_reap(s);
}

/* A directory that never became durable takes its files with it. */
static void orphans_drop(struct simdisk *s) {
    for (uint32_t i = 0; i < s->durable.count;) {
        struct simdisk_entry *e = vec_at(&s->durable, i);
        const char *slash = strchr(e->name, '/');
        struct simdisk_entry *dir = NULL;
        if (slash != NULL) {
            char name[SIM_NAME_MAX] = {0};
            memcpy(name, e->name, (size_t)(slash - e->name));
            dir = simdisk_find(&s->durable, name);
        }
        if (slash == NULL || (dir != NULL && dir->is_dir)) {
            i++;
        } else {
            *e = *(struct simdisk_entry *)vec_at(&s->durable, s->durable.count - 1);
            s->durable.count--;
        }
    }
}

/* Both lists are decided: what the disk holds is now all there is. */
static void come_back(struct simdisk *s) {
    s->sectors.count = 0;
    s->changes.count = 0;
    orphans_drop(s);
    s->current.count = 0;
    for (uint32_t i = 0; i < s->durable.count; i++)
        *(struct simdisk_entry *)vec_push(&s->current) = *(struct simdisk_entry *)vec_at(&s->durable, i);
    for (uint32_t i = 0; i < s->inodes.count; i++) {
        struct inode *n = simdisk_inode(s, i);
        simdisk_resize(&n->current, &n->current_len, &n->current_slots, n->durable_len);
        if (n->durable_len > 0) memcpy(n->current, n->durable, n->durable_len);
    }
    s->dark = false;
    simdisk_kill(s);
}

static bool kept(struct simdisk *s, enum simdisk_crash_policy policy) {
    switch (policy) {
    case SIMDISK_KEEP_ALL: return true;
    case SIMDISK_DROP_ALL: return false;
    case SIMDISK_RANDOM:
    case SIMDISK_RANDOM_TORN: return simdisk_draw(s) % 2 == 0;
    }
    PANIC("no such policy");
}

void simdisk_crash(struct simdisk *s, enum simdisk_crash_policy policy) {
    for (uint32_t i = 0; i < s->inodes.count; i++) {
        struct inode *n = simdisk_inode(s, i);
        if (n->current_len != n->durable_len && kept(s, policy))
            simdisk_resize(&n->durable, &n->durable_len, &n->durable_slots, n->current_len);
    }
    for (uint32_t i = 0; i < s->sectors.count; i++) {
        const struct sector *x = vec_at(&s->sectors, i);
        if (!kept(s, policy)) continue;
        bool torn = policy == SIMDISK_RANDOM_TORN && simdisk_draw(s) % 4 == 0;
        simdisk_settle(simdisk_inode(s, x->inode), x, torn ? simdisk_draw(s) % SIMDISK_SECTOR : SIMDISK_SECTOR);
    }
    for (uint32_t i = 0; i < s->changes.count; i++)
        if (kept(s, policy)) simdisk_apply_change(&s->durable, vec_at(&s->changes, i));
    come_back(s);
}

uint32_t simdisk_unsynced(const struct simdisk *s) {
    return s->sectors.count;
}

void simdisk_crash_mask(struct simdisk *s, const uint64_t *mask) {
    for (uint32_t i = 0; i < s->inodes.count; i++) {
        struct inode *n = simdisk_inode(s, i);
        simdisk_resize(&n->durable, &n->durable_len, &n->durable_slots, n->current_len);
    }
    for (uint32_t i = 0; i < s->sectors.count; i++) {
        const struct sector *x = vec_at(&s->sectors, i);
        if ((mask[i / 64] >> (i % 64)) & 1) simdisk_settle(simdisk_inode(s, x->inode), x, SIMDISK_SECTOR);
    }
    for (uint32_t i = 0; i < s->changes.count; i++) simdisk_apply_change(&s->durable, vec_at(&s->changes, i));
    come_back(s);
}

/* ---- the hand of a test ---- */

static struct inode *named(const struct simdisk *s, const char *name) {
    const struct simdisk_entry *e = simdisk_find(&s->current, name);
    REQUIRE(e != NULL && !e->is_dir);
    return simdisk_inode(s, e->inode);
}

bool simdisk_exists(const struct simdisk *s, const char *name) {
    return simdisk_find(&s->current, name) != NULL;
}

uint64_t simdisk_bytes(const struct simdisk *s, const char *name) {
    return named(s, name)->current_len;
}

void simdisk_flip_bit(struct simdisk *s, const char *name, uint64_t offset, uint32_t bit) {
    struct inode *n = named(s, name);
    REQUIRE(offset < n->current_len && bit < 8);
    n->current[offset] = (uint8_t)(n->current[offset] ^ (1u << bit));
    if (offset < n->durable_len) n->durable[offset] = (uint8_t)(n->durable[offset] ^ (1u << bit));
}

void simdisk_cut(struct simdisk *s, const char *name, uint64_t bytes) {
    struct inode *n = named(s, name);
    REQUIRE(bytes <= n->current_len);
    n->current_len = bytes;
    if (n->durable_len > bytes) n->durable_len = bytes;
}

void simdisk_put(struct simdisk *s, const char *name, const void *from, size_t len) {
    struct change c = {.inode = s->inodes.count};
    REQUIRE(strlen(name) < SIM_NAME_MAX);
    memcpy(c.to, name, strlen(name) + 1);
    vec_push(&s->inodes);
    struct inode *n = simdisk_inode(s, c.inode);
    simdisk_resize(&n->current, &n->current_len, &n->current_slots, len);
    simdisk_resize(&n->durable, &n->durable_len, &n->durable_slots, len);
    if (len > 0) memcpy(n->current, from, len);
    if (len > 0) memcpy(n->durable, from, len);
    simdisk_apply_change(&s->current, &c);
    simdisk_apply_change(&s->durable, &c);
    const char *slash = strchr(name, '/');
    if (slash == NULL) return;
    struct change dir = {.is_dir = true};
    memcpy(dir.to, name, (size_t)(slash - name));
    simdisk_apply_change(&s->current, &dir);
    simdisk_apply_change(&s->durable, &dir);
}

const uint8_t *simdisk_peek(const struct simdisk *s, const char *name, uint64_t *ret_bytes) {
    const struct inode *n = named(s, name);
    *ret_bytes = n->current_len;
    return n->current;
}

uint64_t simdisk_digest(const struct simdisk *s) {
    uint64_t sum = 0; /* the order of rows has no meaning, so their hashes are added */
    for (uint32_t i = 0; i < s->durable.count; i++) {
        const struct simdisk_entry *e = vec_at(&s->durable, i);
        const struct inode *n = simdisk_inode(s, e->inode);
        uint64_t row = hash64(e->name, strlen(e->name), e->is_dir);
        if (!e->is_dir && n->durable_len > 0) row = hash64(n->durable, n->durable_len, row);
        sum += hash_mix(row);
    }
    return sum;
}

static void vec_clone(struct vec *to, const struct vec *from) {
    for (uint32_t i = 0; i < from->count; i++) memcpy(vec_push(to), vec_at(from, i), from->elem_bytes);
}

struct simdisk *simdisk_clone(const struct simdisk *s) {
    struct simdisk *c = simdisk_new(s->random);
    c->chances = s->chances;
    c->budget_bytes = s->budget_bytes;
    c->slow_ms = s->slow_ms;
    c->dark = s->dark;
    memcpy(c->armed, s->armed, sizeof c->armed);
    memcpy(c->calls, s->calls, sizeof c->calls);
    vec_clone(&c->inodes, &s->inodes);
    vec_clone(&c->current, &s->current);
    vec_clone(&c->durable, &s->durable);
    vec_clone(&c->sectors, &s->sectors);
    vec_clone(&c->changes, &s->changes);
    for (uint32_t i = 0; i < c->inodes.count; i++) {
        struct inode *n = simdisk_inode(c, i);
        const struct inode *old = simdisk_inode(s, i);
        memset(n, 0, sizeof *n);
        simdisk_resize(&n->current, &n->current_len, &n->current_slots, old->current_len);
        simdisk_resize(&n->durable, &n->durable_len, &n->durable_slots, old->durable_len);
        if (old->current_len > 0) memcpy(n->current, old->current, old->current_len);
        if (old->durable_len > 0) memcpy(n->durable, old->durable, old->durable_len);
    }
    return c;
}
