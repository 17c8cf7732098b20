/* blob.h: content-addressed bytes of tenants: scripts, archives, artifacts, large results.
 *
 * A blob is known by its tenant and the SHA-256 of its content. Small ones (up to BLOB_SMALL_BYTES) share packs and
 * syncs; a larger one is streamed into a pack of its own. All calls are the loop's and touch no disk, but for
 * `blobs_open`, `blobs_flush_run` (any thread) and those that take a reader (any thread may have its own reader, but
 * finding a blob is the loop's: blobs_spot there, pack_reader_get elsewhere).
 *
 *     e = blobs_put(b, tenant, bytes, &hash, &ticket, &why);      // small and whole
 *     … if (blobs_durable(b) >= ticket) answer
 *
 *     blob_put_begin, blob_put_part …, blob_put_end               // a stream of any length
 *     … if (blob_put_done(put, &hash, &bytes)) answer             // asked after each flush
 *
 * What is not durable is not shown: neither read, nor listed. Unreferenced blobs go by mark and sweep; references are
 * the caller's business. */
#ifndef REEVE_BLOB_H
#define REEVE_BLOB_H

#include "clock.h"
#include "digest.h"
#include "pack.h"

#define BLOB_SMALL_BYTES PACK_BODY_MAX

typedef struct {
    uint8_t at[DIGEST_BYTES];
} blob_hash;

struct blobs_options {
    uint64_t pack_bytes;
    uint64_t pending_bytes_max;
    uint64_t reserve_bytes;
    uint64_t blob_bytes_max;   /* of one blob */
    uint32_t blobs_max;        /* of all tenants */
    uint64_t tenant_bytes_max; /* of the blobs of one tenant; 0 = no limit */
    uint32_t tenant_share;     /* percent of the room on disk for one tenant, when there are several; 0 = all of it */
    int64_t grace_ms;          /* an unreferenced blob stays so long after its last put: its submit may be on the way */
};

struct blobs;
struct blob_put;

CHECKED enum err blobs_open(struct disk *disk, struct clock *clock, struct hasher *digest,
                            const struct blobs_options *o, struct blobs **ret, struct why *why);
void blobs_close(struct blobs *b);

/* Whether there are several tenants, so that one may not have the whole disk. */
void blobs_share(struct blobs *b, bool is_shared);
/* Whether the tenant may have so many bytes more; also asked by every put. ERR_LIMIT: not before it has fewer. */
CHECKED enum err blobs_admit(struct blobs *b, struct slice tenant, uint64_t bytes, struct why *why);

/* ERR_BUSY, ERR_NO_SPACE: try later; ERR_LIMIT: it is too much. A blob that is there already is not written again.
 * `bytes` up to BLOB_SMALL_BYTES. */
CHECKED enum err blobs_put(struct blobs *b, struct slice tenant, struct slice bytes, blob_hash *ret_hash,
                           uint64_t *ret_ticket, struct why *why);
uint64_t blobs_durable(const struct blobs *b);

CHECKED enum err blob_put_begin(struct blobs *b, struct slice tenant, struct blob_put **ret, struct why *why);
/* ERR_BUSY: nothing was taken, the same part again after a flush. A part has to be smaller than pending_bytes_max. */
CHECKED enum err blob_put_part(struct blob_put *put, struct slice bytes, struct why *why);
/* No more parts. ERR_BUSY: once more after a flush. */
CHECKED enum err blob_put_end(struct blob_put *put, struct why *why);
/* True: durable, and the put is gone. */
bool blob_put_done(struct blob_put *put, blob_hash *ret_hash, uint64_t *ret_bytes);
void blob_put_drop(struct blob_put *put); /* the client went away */

CHECKED enum err blobs_stat(const struct blobs *b, struct slice tenant, const blob_hash *hash, uint64_t *ret_bytes,
                            struct why *why);

/* Somebody names it just now: it stays as if it had been put. False: it is not there, or not durable. */
bool blobs_touch(struct blobs *b, struct slice tenant, const blob_hash *hash);

/* Where the bytes from `offset` on are. */
struct blob_spot {
    bool in_memory;
    struct slice bytes;    /* then: valid until the next call of this module */
    struct pack_spot spot; /* else: for a reader */
    uint32_t skip;         /* bytes of it that lie before `offset` */
};
CHECKED enum err blobs_spot(const struct blobs *b, struct slice tenant, const blob_hash *hash, uint64_t offset,
                            struct blob_spot *ret, struct why *why);
/* Some bytes from `offset` on, none at the end; valid until the next call. ERR_CORRUPT names file and byte. */
CHECKED enum err blobs_read(const struct blobs *b, struct pack_reader *r, struct slice tenant, const blob_hash *hash,
                            uint64_t offset, struct slice *ret, struct why *why);
void blobs_reader_init(const struct blobs *b, struct pack_reader *r); /* end it with pack_reader_fini */
/* Reads all of it and compares the hash. */
CHECKED enum err blobs_verify(const struct blobs *b, struct pack_reader *r, struct slice tenant, const blob_hash *hash,
                              struct why *why);

/* In the order of hashes, those after `after` (NULL = from the first). */
typedef void (*blob_list_fn)(void *ctx, const blob_hash *hash, uint64_t bytes);
uint32_t blobs_list(const struct blobs *b, struct slice tenant, const blob_hash *after, uint32_t count_max,
                    blob_list_fn each, void *ctx);

/* Mark and sweep: begin, mark everything that a reference names, then step until it says true. What was put since the
 * beginning counts as marked. A crash in between costs nothing: an unswept blob is swept next time. */
void blobs_sweep_begin(struct blobs *b);
void blobs_mark(struct blobs *b, struct slice tenant, const blob_hash *hash);      /* fine when it is not there */
bool blobs_sweep_step(struct blobs *b, uint32_t count_max, uint64_t *ret_dropped); /* adds to ret_dropped */

/* As in pack.h: one at a time. */
bool blobs_wait(const struct blobs *b); /* as packs_wait; also while puts are open, which mostly have something */
bool blobs_flush_begin(struct blobs *b);
void blobs_flush_run(struct blobs *b);
CHECKED enum err blobs_flush_end(struct blobs *b, struct why *why);

void blobs_stats(const struct blobs *b, struct packs_stats *ret);
CHECKED enum err blobs_damage(const struct blobs *b, struct why *why);

#endif
