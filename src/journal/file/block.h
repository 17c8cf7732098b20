/* block.h: the bytes of a segment header and of a block, and nothing else. Normative text: docs/formats/journal.md.
 *
 * A block is what one append writes: a batch, or a mark without records (SEAL: the tail is clean; OPEN: a new owner's
 * epoch begins). Blocks start on 4 KiB boundaries. Each carries the CRC of the block before it, so the journal is one
 * chain, and its own CRC is seeded with the segment's nonce and the block's offset: bytes of another life of the
 * file, bytes in another place and bytes a client chose never validate. */
#ifndef REEVE_BLOCK_H
#define REEVE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "batch.h"
#include "buf.h"
#include "err.h"

#define BLOCK_ALIGN 4096u
#define BLOCK_HEADER_BYTES 80u
#define BLOCK_FIRST_OFFSET BLOCK_ALIGN /* the segment header has the block before it for itself */
#define JOURNAL_FORMAT 1u
#define SEGMENT_HEADER_BYTES 80u /* inside one 512-byte sector: a disk writes it whole or not at all */

enum block_kind {
    BLOCK_BATCH = 1,
    BLOCK_SEAL = 2,
    BLOCK_OPEN = 3,
};

struct segment_header {
    uint32_t shard;
    uint64_t number;
    uint64_t nonce;
    uint64_t first_lsn; /* of the first record that will be in this segment */
    uint64_t epoch;     /* of the owner that opened it */
    uint64_t bytes;     /* size of the file, fixed before this header was written */
    wall_time time;     /* of the last batch before it */
    uint32_t prev_crc;  /* of the last block before it: where the chain goes on from */
};

struct block {
    uint32_t format;
    uint32_t kind;        /* enum block_kind */
    uint32_t total_bytes; /* header, payload and padding */
    uint64_t nonce;
    uint32_t prev_crc;
    uint32_t crc;
    struct batch batch; /* a mark has last_lsn = first_lsn - 1 and no records */
};

static inline uint64_t block_total(uint64_t payload_bytes) {
    return (BLOCK_HEADER_BYTES + payload_bytes + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
}

void block_header_encode(const struct segment_header *h, struct buf *out); /* exactly SEGMENT_HEADER_BYTES */
/* False: not a header of this or a later format. `ret_format` tells which. */
bool block_header_decode(struct slice bytes, struct segment_header *ret, uint32_t *ret_format);

/* Appends the whole block, padding included, to `out` and returns its CRC. `b` gives kind, nonce, prev_crc, batch. */
uint32_t block_encode(const struct block *b, uint64_t offset, struct buf *out);
/* Reads a block's header. False: no block begins here, or it would be longer than `room`. Nothing is verified yet. */
bool block_peek(struct slice header, uint64_t room, struct block *ret);
/* True when the CRC over header and payload is right for this place. Sets batch.records. `bytes` = the whole block. */
bool block_verify(struct block *b, uint64_t offset, struct slice bytes);

#endif
