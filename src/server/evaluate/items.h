/* items.h: the items of foreach jobs. A foreach that was evaluated leaves a blob, a JSON array with one item per line;
 * its children are handed out one by one, and each needs its line. The blobs used last are kept in memory.
 *
 * Also: blobs as a whole, for whoever has to look inside one. */
#ifndef REEVE_ITEMS_H
#define REEVE_ITEMS_H

#include "blob.h"
#include "buf.h"
#include "server_impl.h"
#include "vec.h"

struct items {
    struct vec sets; /* struct item_set */
    uint64_t bytes;  /* of all of them */
    uint64_t turn;   /* rises with each use */
};

extern const uint8_t items_slot;

static inline struct items *items_of(const struct server *s) {
    return shard_part(server_shard(s), items_slot);
}

/* The JSON text of one item; valid until the next call. */
CHECKED enum err items_find(struct server *s, struct slice tenant, struct slice hash, uint32_t index,
                            struct slice *ret, struct why *why);

/* Appends a whole blob to `out`; ERR_LIMIT when it does not fit. Reads from the disk on this thread. */
CHECKED enum err items_blob_read(struct server *s, struct slice tenant, struct slice hash, struct buf *out,
                                 struct why *why);

/* Items on their way to the disk. */
struct items_put {
    struct buf body;
    size_t given; /* of body */
    struct blob_put *put; /* NULL: small, in one piece */
    bool ended;
    uint64_t ticket;
    blob_hash hash;
};
/* Takes the bytes of `body` over, also when it fails. */
CHECKED enum err items_put_begin(struct server *s, struct slice tenant, struct buf *body, struct items_put *ret,
                                 struct why *why);
/* Goes on; *ret_durable: they are on disk and `hash` names them. ERR_BUSY, ERR_NO_SPACE: go on later. */
CHECKED enum err items_put_step(struct server *s, struct items_put *p, bool *ret_durable, struct why *why);
void items_put_end(struct items_put *p); /* in whatever state */

#endif
