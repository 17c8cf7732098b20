/* blob.c: the index of blobs, small blobs, listing, marking and sweeping. See blob.h.
 *
 * Guarantees: a blob is shown when it is durable and not before; one that a mark of the present sweep names, or that
 * was put within the grace time, is never dropped. Must not: touch the disk but in the open, a reader and the flush. */
#include "blob.h"

#include "blob_impl.h"
#include "bytes.h"
#include "panic.h"

/* ---- keys ---- */

static struct slice key_of(const void *ctx, uint32_t value) {
    const struct blobs *b = ctx;
    return slice_of(blob_at(b, value)->key, BLOB_KEY_BYTES);
}

static void key_make(uint8_t to[BLOB_KEY_BYTES], uint32_t tenant, const uint8_t *hash) {
    for (uint32_t i = 0; i < 4; i++) to[i] = (uint8_t)(tenant >> (24 - 8 * i)); /* so that one tenant's are together */
    memcpy(to + 4, hash, DIGEST_BYTES);
}

static uint32_t key_tenant(const uint8_t key[BLOB_KEY_BYTES]) {
    return (uint32_t)key[0] << 24 | (uint32_t)key[1] << 16 | (uint32_t)key[2] << 8 | key[3];
}

static struct blob_tenant *tenant_at(const struct blobs *b, uint32_t i) {
    return pool_at(&b->tenants, i);
}

static struct slice tenant_of(const void *ctx, uint32_t value) {
    return blob_tenant(ctx, value);
}

struct slice blob_tenant(const struct blobs *b, uint32_t tenant) {
    return bytes_slice(tenant_at(b, tenant)->name);
}

static uint32_t tenant_find(const struct blobs *b, struct slice name) {
    return index_get(&b->by_tenant, name, tenant_of, b);
}

static uint32_t tenant_enter(struct blobs *b, struct slice name) {
    uint32_t i = tenant_find(b, name);
    if (i != 0) return i;
    i = pool_alloc(&b->tenants);
    if (i == 0) return 0;
    tenant_at(b, i)->name = bytes_new(name);
    index_put(&b->by_tenant, name, i);
    return i;
}

uint32_t blob_find(const struct blobs *b, uint32_t tenant, const uint8_t *hash) {
    uint8_t key[BLOB_KEY_BYTES];
    if (tenant == 0) return 0;
    key_make(key, tenant, hash);
    return index_get(&b->by_key, slice_of(key, sizeof key), key_of, b);
}

static int64_t now(const struct blobs *b) {
    return b->clock->mono(b->clock).ms;
}

void blob_touch(struct blobs *b, uint32_t index) {
    blob_at(b, index)->touched_ms = now(b);
    blob_at(b, index)->mark = b->sweep;
}

void blob_pin(struct blob_put *put, uint32_t index) {
    struct blob *x = blob_at(put->blobs, index);
    blob_coming(put, 0);
    x->pins++;
    memcpy(put->hash.at, x->key + 4, DIGEST_BYTES);
    put->pinned = index;
}

uint32_t blob_enter(struct blobs *b, uint32_t tenant, const uint8_t *hash, struct pack_place place, uint64_t bytes) {
    uint32_t i = pool_alloc(&b->pool);
    if (i == 0) return 0;
    struct blob *x = blob_at(b, i);
    x->place = place;
    x->bytes = bytes;
    b->bytes += bytes;
    tenant_at(b, tenant)->bytes += bytes;
    key_make(x->key, tenant, hash);
    index_put(&b->by_key, slice_of(x->key, BLOB_KEY_BYTES), i);
    order_put(&b->by_order, i, key_of, b);
    blob_touch(b, i);
    return i;
}

static void blob_forget(struct blobs *b, uint32_t i) {
    struct blob *x = blob_at(b, i);
    packs_release(b->packs, x->place);
    b->bytes -= x->bytes;
    tenant_at(b, key_tenant(x->key))->bytes -= x->bytes;
    index_del(&b->by_key, slice_of(x->key, BLOB_KEY_BYTES), i);
    order_del(&b->by_order, i, key_of, b);
    pool_free(&b->pool, i);
}

/* ---- what a tenant may have ---- */

void blobs_share(struct blobs *b, bool is_shared) {
    b->is_shared = is_shared;
}

void blob_coming(struct blob_put *put, uint64_t bytes) {
    struct blob_tenant *t = tenant_at(put->blobs, put->tenant);
    if (bytes == 0) {
        t->coming -= put->coming;
        put->coming = 0;
    }
    t->coming += bytes;
    put->coming += bytes;
}

enum err blob_admit(const struct blobs *b, uint32_t tenant, uint64_t bytes, struct why *why) {
    const struct blob_tenant *t = tenant_at(b, tenant);
    uint64_t used = t->bytes + t->coming, most = b->options.tenant_bytes_max;
    if (most != 0 && (bytes > most || used > most - bytes))
        return why_set(
            why, ERR_LIMIT,
            "the blobs of tenant %.*s have %llu bytes, and %llu more are beyond %llu (blob_tenant_bytes_max): "
            "delete flows that keep blobs, or raise the limit",
            SLICE_FMT(bytes_slice(t->name)), (unsigned long long)used, (unsigned long long)bytes,
            (unsigned long long)most);
    if (!b->is_shared || b->options.tenant_share == 0) return ERR_OK;
    most = (b->bytes + packs_room(b->packs)) / 100 * b->options.tenant_share;
    if (bytes <= most && used <= most - bytes) return ERR_OK;
    return why_set(why, ERR_LIMIT,
                   "the blobs of tenant %.*s have %llu bytes, and %llu more are beyond its %u percent of the disk "
                   "(blob_tenant_share): delete flows that keep blobs, or raise the limit",
                   SLICE_FMT(bytes_slice(t->name)), (unsigned long long)used, (unsigned long long)bytes,
                   b->options.tenant_share);
}

/* ---- heads, and what the packs ask ---- */

void blob_head(struct slice tenant, const uint8_t *hash, uint64_t bytes, struct buf *out) {
    buf_put_str(out, tenant);
    buf_put(out, hash, DIGEST_BYTES);
    buf_put_varint(out, bytes);
    ENSURE(!out->full);
}

static bool head_read(struct slice head, struct slice *ret_tenant, const uint8_t **ret_hash, uint64_t *ret_bytes) {
    struct cursor c = cursor_of(head);
    *ret_tenant = cursor_str(&c);
    *ret_hash = cursor_bytes(&c, DIGEST_BYTES).ptr;
    *ret_bytes = cursor_varint(&c);
    return !c.bad && ret_tenant->len <= 255; /* what follows was added by a later version */
}

static bool op_found(struct pack_owner *o, const struct pack_entry *e, struct pack_place place) {
    struct blobs *b = (struct blobs *)o;
    struct slice name;
    const uint8_t *hash;
    uint64_t bytes;
    if (e->kind != BLOB_WHOLE && e->kind != BLOB_END) return false;
    if (!head_read(e->head, &name, &hash, &bytes)) return false;
    if (e->kind == BLOB_WHOLE && bytes != e->len) return false;
    uint32_t tenant = tenant_enter(b, name);
    if (tenant == 0 || blob_find(b, tenant, hash) != 0) return false; /* a second copy of one that was moved */
    uint32_t i = blob_enter(b, tenant, hash, place, bytes);
    if (i != 0) blob_at(b, i)->big = e->kind == BLOB_END;
    return i != 0;
}

static uint32_t entry_blob(const struct blobs *b, const struct pack_entry *e, struct pack_place from) {
    struct slice name;
    const uint8_t *hash;
    uint64_t bytes;
    if (e->kind != BLOB_WHOLE || !head_read(e->head, &name, &hash, &bytes)) return 0;
    uint32_t i = blob_find(b, tenant_find(b, name), hash);
    return i != 0 && pack_place_eq(blob_at(b, i)->place, from) ? i : 0;
}

static bool op_lives(struct pack_owner *o, const struct pack_entry *e, struct pack_place from) {
    return entry_blob((struct blobs *)o, e, from) != 0;
}

static void op_moved(struct pack_owner *o, const struct pack_entry *e, struct pack_place from, struct pack_place to) {
    struct blobs *b = (struct blobs *)o;
    blob_at(b, entry_blob(b, e, from))->place = to;
}

/* ---- putting ---- */

enum err blob_settle_small(struct blobs *b, uint32_t tenant, struct slice bytes, blob_hash *ret, uint32_t *ret_index,
                           struct why *why) {
    blob_hash hash;
    b->digest->whole(b->digest, bytes, hash.at);
    uint32_t i = blob_find(b, tenant, hash.at);
    if (i == 0) {
        struct pack_place place;
        uint8_t space[PACK_HEAD_MAX];
        struct buf head = {.at = space, .slots = sizeof space, .max = sizeof space};
        blob_head(blob_tenant(b, tenant), hash.at, bytes.len, &head);
        if (b->pool.count >= b->options.blobs_max)
            return why_set(why, ERR_LIMIT, "there are %u blobs: blobs_max is reached", b->options.blobs_max);
        enum err e = packs_append(b->packs, BLOB_WHOLE, buf_slice(&head), bytes, &place, why);
        if (e != ERR_OK) return e;
        i = blob_enter(b, tenant, hash.at, place, bytes.len);
        ENSURE(i != 0);
        blob_at(b, i)->ticket = packs_ticket(b->packs);
    }
    blob_touch(b, i);
    *ret = hash;
    *ret_index = i;
    return ERR_OK;
}

static enum err tenant_admit(struct blobs *b, struct slice name, uint32_t *ret, struct why *why) {
    if (name.len == 0 || name.len > 255) return why_set(why, ERR_INVALID, "a tenant's name has 1 to 255 bytes");
    *ret = tenant_enter(b, name);
    return *ret != 0 ? ERR_OK : why_set(why, ERR_LIMIT, "too many tenants");
}

enum err blobs_admit(struct blobs *b, struct slice tenant, uint64_t bytes, struct why *why) {
    uint32_t t = 0;
    enum err e = tenant_admit(b, tenant, &t, why);
    return e == ERR_OK ? blob_admit(b, t, bytes, why) : e;
}

enum err blobs_put(struct blobs *b, struct slice tenant, struct slice bytes, blob_hash *ret_hash, uint64_t *ret_ticket,
                   struct why *why) {
    uint32_t t = 0, i = 0;
    REQUIRE(bytes.len <= BLOB_SMALL_BYTES);
    if (bytes.len > b->options.blob_bytes_max)
        return why_set(why, ERR_LIMIT, "a blob of %zu bytes: blob_bytes_max is %llu", bytes.len,
                       (unsigned long long)b->options.blob_bytes_max);
    enum err e = tenant_admit(b, tenant, &t, why);
    if (e == ERR_OK) e = blob_admit(b, t, bytes.len, why);
    if (e == ERR_OK) e = blob_settle_small(b, t, bytes, ret_hash, &i, why);
    if (e == ERR_OK) *ret_ticket = blob_at(b, i)->ticket;
    return e;
}

uint64_t blobs_durable(const struct blobs *b) {
    return packs_durable(b->packs);
}

enum err blob_put_begin(struct blobs *b, struct slice tenant, struct blob_put **ret, struct why *why) {
    uint32_t t = 0;
    enum err e = tenant_admit(b, tenant, &t, why);
    if (e != ERR_OK) return e;
    uint32_t i = pool_alloc(&b->puts);
    if (i == 0) return why_set(why, ERR_BUSY, "too many puts at once, try again");
    struct blob_put *put = pool_at(&b->puts, i);
    put->blobs = b;
    put->self = i;
    put->tenant = t;
    buf_init(&put->whole, PACK_BODY_MAX);
    vec_init(&put->chunks, sizeof(struct buf));
    *ret = put;
    return ERR_OK;
}

bool blob_put_done(struct blob_put *put, blob_hash *ret_hash, uint64_t *ret_bytes) {
    struct blobs *b = put->blobs;
    if (put->state != PUT_SETTLED || put->aboard) return false;
    const struct blob *x = blob_at(b, put->pinned);
    if (x->ticket > packs_durable(b->packs)) return false;
    *ret_hash = put->hash;
    *ret_bytes = x->bytes;
    big_put_free(put);
    return true;
}

/* ---- reading ---- */

static enum err visible(const struct blobs *b, struct slice tenant, const blob_hash *hash, uint32_t *ret,
                        struct why *why) {
    uint32_t i = blob_find(b, tenant_find(b, tenant), hash->at);
    if (i != 0 && blob_at(b, i)->ticket <= packs_durable(b->packs)) {
        *ret = i;
        return ERR_OK;
    }
    if (packs_damage(b->packs, why) != ERR_OK)
        return why_wrap(why, ERR_CORRUPT, "the blob is not in the index and may be among what is damaged");
    return why_set(why, ERR_NOT_FOUND, "there is no such blob");
}

enum err blobs_stat(const struct blobs *b, struct slice tenant, const blob_hash *hash, uint64_t *ret_bytes,
                    struct why *why) {
    uint32_t i = 0;
    enum err e = visible(b, tenant, hash, &i, why);
    if (e == ERR_OK) *ret_bytes = blob_at(b, i)->bytes;
    return e;
}

bool blobs_touch(struct blobs *b, struct slice tenant, const blob_hash *hash) {
    uint32_t i = blob_find(b, tenant_find(b, tenant), hash->at);
    if (i == 0 || blob_at(b, i)->ticket > packs_durable(b->packs)) return false;
    blob_touch(b, i);
    return true;
}

enum err blobs_spot(const struct blobs *b, struct slice tenant, const blob_hash *hash, uint64_t offset,
                    struct blob_spot *ret, struct why *why) {
    uint32_t i = 0;
    enum err e = visible(b, tenant, hash, &i, why);
    if (e != ERR_OK) return e;
    const struct blob *x = blob_at(b, i);
    if (offset > x->bytes)
        return why_set(why, ERR_INVALID, "byte %llu of a blob of %llu", (unsigned long long)offset,
                       (unsigned long long)x->bytes);
    *ret = (struct blob_spot){.in_memory = true};
    if (offset == x->bytes) return ERR_OK;
    struct pack_place place = x->place;
    if (x->big) place.block = (uint32_t)(offset / PACK_BODY_MAX);
    ret->in_memory = packs_find(b->packs, place, &ret->bytes, &ret->spot);
    ret->skip = (uint32_t)(x->big ? offset % PACK_BODY_MAX : offset);
    if (ret->in_memory) ret->bytes = slice_of(ret->bytes.ptr + ret->skip, ret->bytes.len - ret->skip);
    return ERR_OK;
}

enum err blobs_read(const struct blobs *b, struct pack_reader *r, struct slice tenant, const blob_hash *hash,
                    uint64_t offset, struct slice *ret, struct why *why) {
    struct blob_spot at;
    enum err e = blobs_spot(b, tenant, hash, offset, &at, why);
    if (e != ERR_OK) return e;
    if (at.in_memory) {
        *ret = at.bytes;
        return ERR_OK;
    }
    struct slice bytes;
    e = pack_reader_get(r, &at.spot, &bytes, why);
    if (e != ERR_OK) return e == ERR_NOT_FOUND ? why_wrap(why, ERR_CORRUPT, "a file is missing") : e;
    if (bytes.len <= at.skip) return why_set(why, ERR_CORRUPT, "%s: a chunk is too short", r->io.name);
    *ret = slice_of(bytes.ptr + at.skip, bytes.len - at.skip);
    return ERR_OK;
}

void blobs_reader_init(const struct blobs *b, struct pack_reader *r) {
    pack_reader_init(r, b->disk, BLOB_DIR);
}

enum err blobs_verify(const struct blobs *b, struct pack_reader *r, struct slice tenant, const blob_hash *hash,
                      struct why *why) {
    uint64_t offset = 0;
    uint8_t found[DIGEST_BYTES];
    struct slice bytes = {0};
    struct digest_run *run = b->digest->begin(b->digest);
    enum err e;
    do {
        e = blobs_read(b, r, tenant, hash, offset, &bytes, why);
        if (e == ERR_OK) b->digest->more(run, bytes);
        offset += bytes.len;
    } while (e == ERR_OK && bytes.len > 0);
    b->digest->end(run, found);
    if (e == ERR_OK && memcmp(found, hash->at, DIGEST_BYTES) != 0)
        e = why_set(why, ERR_CORRUPT, "%s: the content has another hash", r->io.name);
    return e;
}

uint32_t blobs_list(const struct blobs *b, struct slice tenant, const blob_hash *after, uint32_t count_max,
                    blob_list_fn each, void *ctx) {
    uint8_t key[BLOB_KEY_BYTES];
    static const uint8_t first[DIGEST_BYTES];
    struct order_place place;
    uint32_t t = tenant_find(b, tenant), count = 0;
    if (t == 0) return 0;
    key_make(key, t, after != NULL ? after->at : first);
    uint32_t i = order_seek(&b->by_order, slice_of(key, sizeof key), key_of, b, &place);
    for (; i != 0 && count < count_max; i = order_next(&b->by_order, &place)) {
        const struct blob *x = blob_at(b, i);
        blob_hash hash;
        if (memcmp(x->key, key, 4) != 0) break;
        memcpy(hash.at, x->key + 4, DIGEST_BYTES);
        bool passed = after != NULL && memcmp(hash.at, after->at, DIGEST_BYTES) == 0;
        if (passed || x->ticket > packs_durable(b->packs)) continue;
        each(ctx, &hash, x->bytes);
        count++;
    }
    return count;
}

/* ---- sweeping ---- */

void blobs_sweep_begin(struct blobs *b) {
    b->sweep++;
    b->sweep_at = 1;
}

void blobs_mark(struct blobs *b, struct slice tenant, const blob_hash *hash) {
    uint32_t i = blob_find(b, tenant_find(b, tenant), hash->at);
    if (i != 0) blob_at(b, i)->mark = b->sweep;
}

bool blobs_sweep_step(struct blobs *b, uint32_t count_max, uint64_t *ret_dropped) {
    int64_t before = now(b) - b->options.grace_ms;
    for (; count_max > 0 && b->sweep_at <= b->pool.high; b->sweep_at++, count_max--) {
        struct blob *x = blob_at(b, b->sweep_at);
        if (x->place.pack == 0 || x->mark == b->sweep || x->pins > 0 || x->touched_ms > before) continue;
        if (x->ticket > packs_durable(b->packs)) continue; /* somebody waits for it */
        blob_forget(b, b->sweep_at);
        (*ret_dropped)++;
    }
    return b->sweep_at > b->pool.high;
}

/* ---- flushing ---- */

bool blobs_wait(const struct blobs *b) {
    return b->puts.count > 0 || packs_wait(b->packs);
}

bool blobs_flush_begin(struct blobs *b) {
    if (b->flying || b->dead) return false;
    b->pack_flush = NULL;
    bool big = big_flush_begin(b);
    if (big) packs_ask(b->packs);
    bool packs = packs_flush_begin(b->packs, &b->pack_flush);
    b->flying = packs || big;
    return b->flying;
}

void blobs_flush_run(struct blobs *b) {
    if (b->pack_flush != NULL) pack_flush_run(b->pack_flush);
    big_flush_run(b);
}

enum err blobs_flush_end(struct blobs *b, struct why *why) {
    REQUIRE(b->flying);
    b->flying = false;
    enum err e = b->pack_flush != NULL ? packs_flush_end(b->packs, b->pack_flush, why) : ERR_OK;
    b->pack_flush = NULL;
    struct why other;
    enum err big = big_flush_end(b, &other);
    if (big != ERR_OK && (e == ERR_OK || e == ERR_NO_SPACE)) *why = other;
    if (big != ERR_OK && (e == ERR_OK || e == ERR_NO_SPACE)) e = big;
    b->dead = b->dead || (e != ERR_OK && e != ERR_NO_SPACE);
    return e;
}

/* ---- life ---- */

enum err blobs_open(struct disk *disk, struct clock *clock, struct hasher *digest, const struct blobs_options *o,
                    struct blobs **ret, struct why *why) {
    struct arena birth;
    arena_init(&birth, sizeof(struct blobs) + 64, sizeof(struct blobs) + 4096);
    struct blobs *b = ARENA_NEW(&birth, struct blobs);
    b->owner = (struct pack_owner){op_found, op_lives, op_moved};
    b->birth = birth;
    b->disk = disk;
    b->clock = clock;
    b->digest = digest;
    b->options = *o;
    pool_init(&b->pool, sizeof(struct blob), UINT32_MAX);
    index_init(&b->by_key);
    order_init(&b->by_order);
    pool_init(&b->tenants, sizeof(struct blob_tenant), UINT32_MAX);
    index_init(&b->by_tenant);
    pool_init(&b->puts, sizeof(struct blob_put), BLOB_PUTS_MAX);
    vec_init(&b->aboard, sizeof(struct blob_put *));
    b->zstd = packfmt_zstd_new();
    struct packs_options p = {BLOB_DIR, PACK_BLOBS, o->pack_bytes, o->pending_bytes_max, o->reserve_bytes};
    enum err e = packs_open(disk, clock, &p, &b->owner, &b->packs, why);
    if (e != ERR_OK)
        blobs_close(b);
    else
        *ret = b;
    return e;
}

void blobs_close(struct blobs *b) {
    REQUIRE(!b->flying);
    for (uint32_t i = 1; i <= b->puts.high; i++) {
        struct blob_put *put = pool_at(&b->puts, i);
        if (put->blobs != NULL) big_put_free(put);
    }
    for (uint32_t i = 1; i <= b->tenants.high; i++) bytes_free(tenant_at(b, i)->name);
    if (b->packs != NULL) packs_close(b->packs);
    pool_fini(&b->pool);
    index_fini(&b->by_key);
    order_fini(&b->by_order);
    pool_fini(&b->tenants);
    index_fini(&b->by_tenant);
    pool_fini(&b->puts);
    vec_fini(&b->aboard);
    packfmt_zstd_free(b->zstd);
    struct arena birth = b->birth;
    arena_fini(&birth);
}

void blobs_stats(const struct blobs *b, struct packs_stats *ret) {
    packs_stats(b->packs, ret);
}

enum err blobs_damage(const struct blobs *b, struct why *why) {
    return packs_damage(b->packs, why);
}
