/* chain.h: the blocks of all segments as one chain, and the verdict on a block that does not validate.
 *
 * One append is in flight at most, and a segment's header is synced before its first block. So whatever comes after a
 * place was written after that place was durable:
 *
 *   a bad block with a valid block or segment header after it that does not continue from the last good block
 *                                     = damage: ERR_CORRUPT, with file and byte. Never skipped.
 *   a bad block with nothing valid after it, or only what continues from the last good block
 *                                     = a torn tail: never acknowledged, left where it is, not part of the chain.
 *
 * In the last block that nothing follows, rot cannot be told from a torn write; that is what seals are for. */
#ifndef REEVE_CHAIN_H
#define REEVE_CHAIN_H

#include "scan.h"
#include "segment.h"

struct chain {
    uint64_t next_lsn;
    uint64_t epoch; /* highest seen in blocks and headers */
    wall_time time;
    uint32_t shard;
    uint32_t crc;         /* of the last block */
    uint32_t last_kind;   /* enum block_kind, 0 = none seen */
    uint32_t last_bytes;
    uint64_t last_segment; /* where the last block is */
    uint64_t last_offset;
    uint64_t segment; /* the newest one with a header; 0 = none */
    uint64_t offset;  /* in it: where the next block would begin */
};

struct chain_place {
    const struct segment *segment;
    uint64_t offset;
};

typedef enum err (*chain_fn)(void *ctx, const struct block *b, const struct chain_place *at, struct why *why);

/* From the beginning of row `first` (which must be used) to the end. `live`: somebody may be appending meanwhile.
 * `each` may be NULL. */
CHECKED enum err chain_walk(struct scan *s, const struct segment_table *t, uint32_t first, bool live, chain_fn each,
                            void *ctx, struct chain *ret, struct why *why);

/* Only the end of the chain: as much as is needed to append to it. */
CHECKED enum err chain_tail(struct scan *s, const struct segment_table *t, bool live, struct chain *ret,
                            struct why *why);

/* One segment by itself, from its header to its last block. The next used segment has to continue from there: its
 * header is what tells a torn end from a damaged one. ERR_NOT_FOUND when there is no next. */
CHECKED enum err chain_segment(struct scan *s, const struct segment_table *t, uint32_t row, struct chain *ret,
                               struct why *why);

/* Loads the table and finds the row for records from `lsn` on, as chain_row does: of the live segments when they reach
 * back that far, else with the archive. So nothing depends on the archive that does not need it. */
CHECKED enum err chain_table(struct segment_table *t, struct disk *d, uint64_t lsn, uint32_t *ret, struct why *why);

/* The row to begin at for records from `lsn` on: ERR_NOT_FOUND when the oldest segment begins later. An empty journal
 * gives UINT32_MAX. */
CHECKED enum err chain_row(const struct segment_table *t, uint64_t lsn, uint32_t *ret, struct why *why);

#endif
