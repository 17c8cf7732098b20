/* packfmt.h: the bytes of a pack, and nothing else. Normative text: docs/formats/blob.md.
 *
 *   pack    header (4 KiB) · blocks · footer block · trailer
 *   block   48 bytes of header, then its payload, compressed when that pays; the unit of checking and compressing
 *   entry   one blob, one piece of a log: kind, head (what it is) and body; many in a block, never across two
 *
 * The CRC of a block runs over the pack's nonce and the block's offset too: bytes of another file, bytes in another
 * place and bytes a client chose never validate. The footer repeats all heads, so that a start reads no bodies. */
#ifndef REEVE_PACKFMT_H
#define REEVE_PACKFMT_H

#include "buf.h"
#include "err.h"
#include "vec.h"

#define PACK_FORMAT 1u
#define PACK_ALIGN 4096u
#define PACK_HEADER_BYTES 64u
#define PACK_BLOCK_HEADER_BYTES 48u
#define PACK_TRAILER_BYTES 32u
#define PACK_BLOCK_ALIGN 8u
#define PACK_BODY_MAX 65536u /* of one entry */
#define PACK_HEAD_MAX 512u
#define PACK_BLOCK_TARGET 65536u /* a block takes no further entry that would pass this */
#define PACK_BLOCK_RAW_MAX (PACK_BODY_MAX + PACK_HEAD_MAX + 32u)
#define PACK_FOOTER_RAW_MAX (64u << 20)
#define PACK_OUT_MAX (2 * PACK_FOOTER_RAW_MAX) /* encoded bytes on their way to the file, a footer among them */

enum pack_kind { PACK_BLOBS = 1, PACK_BIG = 2, PACK_LOGS = 3 };

struct pack_header {
    uint32_t kind; /* enum pack_kind */
    uint64_t number;
    uint64_t nonce;
    int64_t time_ms;
};

enum pack_block_kind { PACK_DATA = 1, PACK_FOOTER = 2 };
enum pack_form { PACK_PLAIN = 0, PACK_ZSTD = 1 };

struct pack_block {
    uint32_t kind; /* enum pack_block_kind */
    uint32_t form; /* enum pack_form */
    uint32_t stored_bytes;
    uint32_t raw_bytes;
    uint64_t nonce;
    uint64_t flush; /* all blocks of one flush are synced together */
    uint32_t index; /* among the blocks of its flush */
    uint32_t count; /* of blocks in its flush */
};

static inline uint64_t pack_align(uint64_t at, uint64_t to) {
    return (at + to - 1) / to * to;
}
static inline uint64_t pack_block_end(uint64_t at, const struct pack_block *b) {
    return pack_align(at + PACK_BLOCK_HEADER_BYTES + b->stored_bytes, PACK_BLOCK_ALIGN);
}

void packfmt_header_encode(const struct pack_header *h, struct buf *out);
/* ERR_CORRUPT: no header here. ERR_UNSUPPORTED: one of a format that this program does not know. */
CHECKED enum err packfmt_header_decode(struct slice bytes, struct pack_header *ret);

/* Compressing and expanding keep their tables in here; one thread at a time. */
struct packfmt_zstd;
struct packfmt_zstd *packfmt_zstd_new(void);
void packfmt_zstd_free(struct packfmt_zstd *z);

/* Appends the block with `raw` as its payload to `out`, zeroes up to the next multiple of 8 included. `offset` is where
 * in the file it will be. `b` gives kind, nonce, flush and index and gets the rest. */
void packfmt_block_encode(struct pack_block *b, struct slice raw, uint64_t offset, struct packfmt_zstd *z,
                          struct buf *out);
/* Reads a block's header. False: none begins here, or it would not fit into `room` bytes. Nothing is verified. */
bool packfmt_block_peek(struct slice bytes, uint64_t room, struct pack_block *ret);
/* True when the CRC is right for this place. `bytes` holds at least header and payload. */
bool packfmt_block_verify(const struct pack_block *b, uint64_t offset, struct slice bytes);
/* The payload of a verified block as it was, into `out` (cleared first). False: it does not expand to its length. */
bool packfmt_block_expand(const struct pack_block *b, struct slice bytes, struct packfmt_zstd *z, struct buf *out);

struct pack_entry {
    uint32_t kind;
    uint32_t block; /* ordinal of its block in the pack; data blocks only */
    uint32_t at;    /* of the body in the block's payload */
    uint32_t len;   /* of the body */
    struct slice head;
};

static inline size_t pack_entry_bytes(size_t head_bytes, size_t body_bytes) {
    return head_bytes + body_bytes + 12; /* three varints, at most */
}
void packfmt_entry_encode(uint32_t kind, struct slice head, struct slice body, struct buf *out, uint32_t *ret_at);
/* The next entry of a payload that `c` walks, `payload` being all of it. False: it makes no sense. */
bool packfmt_entry_next(struct cursor *c, struct slice payload, struct pack_entry *ret);

/* A footer's payload: the offsets of all blocks, in units of PACK_BLOCK_ALIGN, then a row for each entry. */
void packfmt_row_encode(const struct pack_entry *e, struct buf *rows);
void packfmt_footer_encode(const uint32_t *offsets, uint32_t count, struct slice rows, struct buf *out);
typedef void (*packfmt_row_fn)(void *ctx, const struct pack_entry *e);
/* False: it makes no sense (then some rows may have been handed out). Offsets are pushed to `ret` before the rows. */
bool packfmt_footer_decode(struct slice payload, uint64_t footer_at, struct u32vec *ret, packfmt_row_fn each,
                           void *ctx);

/* The end of a closed pack: where its footer is. */
void packfmt_trailer_encode(uint64_t nonce, uint64_t footer_at, uint64_t trailer_at, struct buf *out);
bool packfmt_trailer_decode(struct slice bytes, uint64_t nonce, uint64_t trailer_at, uint64_t *ret_footer_at);
/* Footer block and trailer, at `at`; `b` as for a block. Returns where they end. */
uint64_t packfmt_end_encode(const struct pack_block *b, uint64_t at, const struct u32vec *offsets, struct slice rows,
                            struct packfmt_zstd *z, struct buf *out);

#endif
