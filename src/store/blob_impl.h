/* blob_impl.h: the insides of blob, shared by blob.c (the index and small blobs) and blob_big.c (streams). */
#ifndef REEVE_BLOB_IMPL_H
#define REEVE_BLOB_IMPL_H

#include "arena.h"
#include "blob.h"
#include "map.h"
#include "order.h"
#include "pool.h"

#define BLOB_DIR "blobs"
#define BLOB_KEY_BYTES (4u + DIGEST_BYTES)
#define BLOB_UNNAMED UINT64_MAX /* a ticket that is never reached: its file has no name yet */
#define BLOB_PUTS_MAX 4096u         /* streams at a time */

/* Kinds of entries; part of the format. */
enum { BLOB_WHOLE = 1, BLOB_CHUNK = 2, BLOB_END = 3 };

struct blob {
    struct pack_place place;     /* first: never zero */
    uint8_t key[BLOB_KEY_BYTES]; /* tenant (big-endian), hash */
    bool big;
    uint32_t mark; /* the last sweep in which something named it */
    uint32_t pins; /* puts that ended in it and were not yet answered */
    uint64_t bytes;
    uint64_t ticket;
    int64_t touched_ms; /* monotonic */
};

enum put_state {
    PUT_OPEN,    /* parts come */
    PUT_ENDED,   /* all parts came; a large one is being written */
    PUT_SYNCED,  /* its file is whole and durable, under its .tmp name */
    PUT_NAMING,  /* and gets its real name */
    PUT_SETTLED, /* `blob` is it: durable when its ticket is */
};

/* What the flushing thread has of a large put. */
struct big {
    uint32_t number;
    uint64_t nonce;
    int64_t time_ms;
    struct slice tenant; /* its name, which stays where it is */
    struct digest_run *run;
    disk_file file;
    uint64_t offset; /* next byte of the file */
    struct u32vec offsets;
    struct vec chunks; /* struct buf: to be written */
    uint32_t written;  /* of them */
    bool finish;       /* after the chunks: end entry, footer, sync */
    bool name;         /* give it its name */
    bool remove;       /* it is not needed */
    bool created, finished, named;
    uint64_t bytes;
    uint8_t hash[DIGEST_BYTES];
};

struct blob_put {
    struct blobs *blobs; /* first: never zero */
    uint32_t self;
    enum put_state state;
    uint32_t tenant;
    uint32_t pinned; /* the blob it became, 0 = none yet */
    bool dropped;
    bool aboard;       /* `big` is the flushing thread's now */
    uint64_t bytes;
    uint64_t coming;   /* of them, what its tenant has coming */
    struct buf whole;  /* a small one, so far; the last chunk of a large one */
    struct vec chunks; /* struct buf: of a large one, waiting */
    struct big *big;   /* NULL: small so far */
    struct big big_space;
    blob_hash hash;
};

struct blob_tenant {
    struct bytes *name;
    uint64_t bytes;  /* of its blobs */
    uint64_t coming; /* of puts that are no blobs yet */
};

struct blobs {
    struct pack_owner owner; /* first: the packs' pointer is ours */
    struct arena birth;      /* holds this object */
    struct disk *disk;
    struct clock *clock;
    struct hasher *digest;
    struct blobs_options options;
    struct packs *packs;
    struct pool pool; /* struct blob */
    struct index by_key;
    struct order by_order;
    struct pool tenants; /* struct blob_tenant */
    uint64_t bytes;      /* of all blobs */
    bool is_shared;
    struct index by_tenant;
    struct pool puts; /* struct blob_put */
    uint64_t big_pending_bytes;
    uint32_t sweep; /* number of the present mark */
    uint32_t sweep_at;
    bool flying;
    struct pack_flush *pack_flush; /* NULL: only large ones */
    struct vec aboard;             /* struct blob_put * */
    struct packfmt_zstd *zstd;     /* of the flushing thread */
    enum err big_err;
    struct why big_why;
    bool dead;
};

static inline struct blob *blob_at(const struct blobs *b, uint32_t i) {
    return pool_at(&b->pool, i);
}

/* 0 = none. */
uint32_t blob_find(const struct blobs *b, uint32_t tenant, const uint8_t *hash);
/* Enters a blob that is not there yet; 0 = too many. */
uint32_t blob_enter(struct blobs *b, uint32_t tenant, const uint8_t *hash, struct pack_place place, uint64_t bytes);
void blob_touch(struct blobs *b, uint32_t index);
/* The put is this blob now; it stays until the put is freed. */
void blob_pin(struct blob_put *put, uint32_t index);
struct slice blob_tenant(const struct blobs *b, uint32_t tenant);
/* Whether the tenant may have so many bytes more. */
enum err blob_admit(const struct blobs *b, uint32_t tenant, uint64_t bytes, struct why *why);
/* The put has that many bytes more coming; 0: it has none any more. */
void blob_coming(struct blob_put *put, uint64_t bytes);
void blob_head(struct slice tenant, const uint8_t *hash, uint64_t bytes, struct buf *out);
enum err blob_settle_small(struct blobs *b, uint32_t tenant, struct slice bytes, blob_hash *ret, uint32_t *ret_index,
                           struct why *why);

/* blob_big.c: what is to be done about large puts, in the three steps of a flush. */
bool big_flush_begin(struct blobs *b);
void big_flush_run(struct blobs *b);
enum err big_flush_end(struct blobs *b, struct why *why);
void big_put_free(struct blob_put *put);

#endif
