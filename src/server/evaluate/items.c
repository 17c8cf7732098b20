/* items.c: see items.h. */
#include "items.h"

#include "blob.h"
#include "server_impl.h"
#include "transfers.h"

#define KEPT_BYTES_MAX ((uint64_t)64 << 20)
#define ITEMS_BYTES_MAX ((size_t)256 << 20) /* what json_bytes_max may be at most */
#define PART_BYTES ((size_t)1 << 20)

struct item_set {
    blob_hash hash;
    uint64_t turn; /* when it was used last */
    struct bytes *body;
    struct u32vec lines; /* where each item begins; one more for the end */
};

static void init(struct shard *h, void *own) {
    struct items *x = own;
    (void)h;
    *x = (struct items){0};
    vec_init(&x->sets, sizeof(struct item_set));
}

static void set_free(struct item_set *set) {
    bytes_free(set->body);
    u32vec_fini(&set->lines);
}

static void fini(struct shard *h, void *own) {
    struct items *x = own;
    (void)h;
    for (uint32_t i = 0; i < x->sets.count; i++) set_free(vec_at(&x->sets, i));
    vec_fini(&x->sets);
}

/* ---- blobs ---- */

enum err items_blob_read(struct server *s, struct slice tenant, struct slice hash, struct buf *out, struct why *why) {
    blob_hash h;
    uint64_t at = 0;
    if (hash.len != sizeof h.at) return why_set(why, ERR_INVALID, "the hash of a blob has 32 bytes");
    memcpy(h.at, hash.ptr, sizeof h.at);
    for (;;) {
        struct slice piece = {0};
        enum err e = blobs_read(s->store.blobs, &transfers_of(s)->blob_reader, tenant, &h, at, &piece, why);
        if (e != ERR_OK) return e;
        if (piece.len == 0) return ERR_OK;
        buf_put_slice(out, piece);
        if (out->full) return why_set(why, ERR_LIMIT, "more than %zu bytes", out->max);
        at += piece.len;
    }
}

/* ---- sets in memory ---- */

static uint64_t set_bytes(const struct item_set *set) {
    return bytes_slice(set->body).len + (uint64_t)set->lines.count * sizeof(uint32_t);
}

static void set_drop(struct items *x, uint32_t at) {
    struct item_set *set = vec_at(&x->sets, at);
    x->bytes -= set_bytes(set);
    set_free(set);
    *set = *(struct item_set *)vec_at(&x->sets, x->sets.count - 1);
    x->sets.count--;
}

static void make_room(struct items *x, uint64_t bytes) {
    while (x->sets.count > 0 && x->bytes + bytes > KEPT_BYTES_MAX) {
        uint32_t oldest = 0;
        for (uint32_t i = 1; i < x->sets.count; i++)
            if (((struct item_set *)vec_at(&x->sets, i))->turn < ((struct item_set *)vec_at(&x->sets, oldest))->turn)
                oldest = i;
        set_drop(x, oldest);
    }
}

/* `[a,\nb\n]`: an item begins behind the bracket and behind each line break but the last. */
static void set_index(struct item_set *set) {
    struct slice body = bytes_slice(set->body);
    u32vec_push(&set->lines, 1);
    for (size_t i = 0; i < body.len; i++)
        if (body.ptr[i] == '\n') u32vec_push(&set->lines, (uint32_t)i + 1);
}

static enum err set_load(struct server *s, struct slice tenant, struct slice hash, struct item_set **ret,
                         struct why *why) {
    struct items *x = items_of(s);
    struct buf body;
    buf_init(&body, ITEMS_BYTES_MAX);
    enum err e = items_blob_read(s, tenant, hash, &body, why);
    if (e == ERR_OK) {
        struct item_set set = {.body = bytes_new(buf_slice(&body))};
        memcpy(set.hash.at, hash.ptr, sizeof set.hash.at);
        set_index(&set);
        make_room(x, set_bytes(&set));
        x->bytes += set_bytes(&set);
        *ret = vec_push(&x->sets);
        **ret = set;
    }
    buf_fini(&body);
    return e;
}

enum err items_find(struct server *s, struct slice tenant, struct slice hash, uint32_t index, struct slice *ret,
                    struct why *why) {
    struct items *x = items_of(s);
    struct item_set *set = NULL;
    for (uint32_t i = 0; i < x->sets.count && set == NULL; i++) {
        struct item_set *known = vec_at(&x->sets, i);
        if (slice_eq(slice_of(known->hash.at, sizeof known->hash.at), hash)) set = known;
    }
    enum err e = set != NULL ? ERR_OK : set_load(s, tenant, hash, &set, why);
    if (e != ERR_OK) return why_wrap(why, e, "its items");
    set->turn = ++x->turn;
    if (index + 1 >= set->lines.count) return why_set(why, ERR_CORRUPT, "its items: there is no item %u", index);
    size_t from = set->lines.at[index], to = set->lines.at[index + 1] - 1;
    struct slice body = bytes_slice(set->body);
    if (to > from && body.ptr[to - 1] == ',') to--;
    *ret = slice_of(body.ptr + from, to - from);
    return ERR_OK;
}

/* ---- writing them ---- */

enum err items_put_begin(struct server *s, struct slice tenant, struct buf *body, struct items_put *ret,
                         struct why *why) {
    *ret = (struct items_put){.body = *body};
    enum err e = body->len <= BLOB_SMALL_BYTES
                     ? blobs_put(s->store.blobs, tenant, buf_slice(body), &ret->hash, &ret->ticket, why)
                     : blob_put_begin(s->store.blobs, tenant, &ret->put, why);
    if (e != ERR_OK) items_put_end(ret);
    return e;
}

enum err items_put_step(struct server *s, struct items_put *p, bool *ret_durable, struct why *why) {
    enum err e = ERR_OK;
    uint64_t bytes;
    if (p->put == NULL) {
        *ret_durable = blobs_durable(s->store.blobs) >= p->ticket;
        return ERR_OK;
    }
    while (e == ERR_OK && p->given < p->body.len) {
        size_t part = p->body.len - p->given < PART_BYTES ? p->body.len - p->given : PART_BYTES;
        e = blob_put_part(p->put, slice_of(p->body.at + p->given, part), why);
        if (e == ERR_OK) p->given += part;
    }
    if (e == ERR_OK && !p->ended) {
        e = blob_put_end(p->put, why);
        p->ended = e == ERR_OK;
    }
    *ret_durable = p->ended && blob_put_done(p->put, &p->hash, &bytes);
    if (*ret_durable) p->put = NULL;
    return e;
}

void items_put_end(struct items_put *p) {
    if (p->put != NULL) blob_put_drop(p->put);
    p->put = NULL;
    buf_fini(&p->body);
}

const struct server_part items_part = {
    .name = "items", .scope = PART_OF_SHARD, .bytes = sizeof(struct items), .init = init, .fini = fini};
