/* pack_impl.h: the insides of pack, shared by its three files (pack.c: append and flush, pack_open.c: the start,
 * pack_move.c: giving space back) and by nobody else. */
#ifndef REEVE_PACK_IMPL_H
#define REEVE_PACK_IMPL_H

#include "arena.h"
#include "map.h"
#include "pack.h"
#include "pool.h"

#define ENTRY_COST 32u       /* counted per entry beside its body: head and varints */
#define MOVE_BLOCKS 32u      /* read back per flush at most, about 2 MiB */
#define MOVE_ENTRIES 2000u   /* and about so many entries at most: the loop looks at each, a microsecond or so */
#define PACK_RAW_FACTOR 4u   /* a pack is also full when its entries, not compressed, are so many times its size */
#define PACK_ENTRIES_MAX 262144u
#define FOOTER_ROWS_MAX (16u << 20)
#define WRITE_BYTES (1u << 20)

/* One pack. */
struct pack {
    uint32_t number; /* never 0 */
    bool big;        /* of one large thing: never moved */
    bool closed;     /* nothing is appended any more */
    bool full;       /* that is why */
    bool rotten;     /* something in it is unreadable: never moved, so that nothing is lost by tidying */
    bool doomed;     /* waits for its removal */
    uint32_t live_count, total_count;
    uint64_t live_bytes, total_bytes; /* of entries, not compressed */
    uint64_t file_bytes;
    uint64_t nonce;
    uint64_t last_flush;   /* that wrote to it */
    bool moved;            /* its living entries were appended elsewhere */
    uint64_t gone_ticket;  /* what made its last entries dead, a move or a cut, is durable when this is */
    struct u32vec offsets; /* of its written blocks, / PACK_BLOCK_ALIGN */
};

/* What a flush reads back of a pack that is moved away. */
struct pack_move {
    uint32_t pack; /* 0 = none */
    uint32_t first;
    struct u32vec offsets;
    struct vec payloads; /* struct buf, one per block */
    bool read;           /* a flush that is tried again does not read again */
    enum err err;
    struct why why;
};

/* Handed to the flushing thread as a whole; it touches nothing else of the store but `disk`. */
struct pack_flush {
    struct disk *disk;
    const char *dir;
    struct packfmt_zstd *zstd;
    struct packio io; /* for what is moved */
    disk_file file;   /* of the pack appended to; v < 0: not open */
    struct buf out;

    uint64_t number;
    struct pack_header header;
    bool create; /* the pack does not exist yet */
    bool close;
    uint64_t from;           /* first byte written, aligned */
    struct vec blocks;       /* struct buf: payloads */
    struct u32vec offsets;   /* of all blocks of the pack; the new ones are pushed by the run */
    uint32_t offsets_before;
    struct buf rows;         /* for the footer, when it closes */
    uint64_t end;
    struct u32vec doomed; /* packs to remove */
    struct pack_move move;

    enum err err;
    struct why why;
    uint64_t free_bytes;
};

struct packs {
    struct arena birth; /* holds this object */
    struct disk *disk;
    struct clock *clock;
    struct packs_options options;
    struct pack_owner *owner;
    struct pool pool; /* struct pack */
    struct map by_number;
    uint32_t next_number;

    uint32_t current;       /* pool index of the pack appended to; 0 = none yet */
    struct vec blocks;      /* struct buf: payloads that wait for the next flush */
    uint32_t blocks_base;   /* ordinal of the first of them in the current pack */
    struct buf rows;        /* footer rows of the current pack */
    uint64_t pending_bytes; /* in `blocks` and in the flush under way */

    uint64_t flush_number; /* of the next flush: the ticket */
    uint64_t durable;
    bool flying;  /* a flush is under way */
    bool retry;   /* the last one met a full disk: the same one again */
    bool dead;
    bool ask;     /* space was refused: look at the disk again */
    uint64_t free_bytes;
    struct pack_flush flush;
    bool look; /* a pack may have become removable or worth moving */
    uint32_t moving, moving_block; /* pool index of the pack being moved, and how far it is */

    uint64_t moved_count;
    uint32_t damaged_count;
    struct why damage; /* the first one */
};

static inline struct pack *pack_at(const struct packs *p, uint32_t index) {
    return pool_at(&p->pool, index);
}
uint32_t pack_by_number(const struct packs *p, uint32_t number); /* 0 = none */
uint32_t pack_new(struct packs *p, uint32_t number);
void pack_free(struct packs *p, uint32_t index);
void pack_count(struct pack *k, uint32_t body_bytes, bool lives); /* an entry is there */
void pack_uncount(struct pack *k, uint32_t body_bytes);           /* it lives no longer */
void pack_damaged(struct packs *p, struct pack *k, const struct why *why);
/* Puts the entry into the blocks that wait. */
void pack_push(struct packs *p, uint32_t kind, struct slice head, struct slice body, struct pack_place *ret);

/* pack_open.c */
CHECKED enum err pack_load_all(struct packs *p, struct why *why);
/* pack_move.c */
void pack_move_plan(struct packs *p, struct pack_flush *f); /* in flush_begin: what to read back, what to remove */
void pack_move_run(struct pack_flush *f);
void pack_move_take(struct packs *p, struct pack_flush *f); /* in flush_end */
bool pack_move_wanted(const struct packs *p);

#endif
