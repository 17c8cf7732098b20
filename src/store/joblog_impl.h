/* joblog_impl.h: the insides of joblog, shared by joblog.c (appending, reading, life) and joblog_index.c (what is
 * where). */
#ifndef REEVE_JOBLOG_IMPL_H
#define REEVE_JOBLOG_IMPL_H

#include "arena.h"
#include "joblog.h"
#include "map.h"
#include "pool.h"

#define LOG_DIR "logs"
#define LOG_ENTRY 1u        /* kind of an entry; part of the format */
#define EXTENT_BYTES 49152u /* printed bytes in one entry, so that their pieces fit into PACK_BODY_MAX */
#define EXTENTS_MAX 262144u /* of one log, 8 MiB of memory; then the oldest of the tail go, as at a cap */
#define PIECE_COST 16u      /* two varints, at most */
#define KEY_BYTES 20u

struct extent {
    uint64_t offset;
    uint32_t bytes;
    struct pack_place place;
};

/* Extents [0, tail) are the head, [tail, tail + dead) were dropped and not yet cleared away, the rest is the tail. */
struct log {
    bool used; /* first: never zero */
    uint8_t key[KEY_BYTES];
    struct vec extents; /* struct extent */
    uint32_t tail, dead;
    bool mixed; /* while the packs are opened: extents are not in order, and some may be there twice */
    uint64_t end;
    uint64_t cut_begin, cut_end;
    uint64_t ticket;
};

struct joblogs {
    struct pack_owner owner; /* first: the packs' pointer is ours */
    struct arena birth;      /* holds this object */
    struct disk *disk;
    struct joblogs_options options;
    struct packs *packs;
    struct pool pool; /* struct log */
    struct index by_key;
    struct pack_flush *flush;
    struct buf body;
};

/* The head of an entry. */
struct log_head {
    struct log_key key;
    uint64_t offset;
    uint32_t bytes;
    uint64_t cut_begin, cut_end;
};

static inline struct log *log_at(const struct joblogs *l, uint32_t i) {
    return pool_at(&l->pool, i);
}

static inline struct extent *extent_at(const struct log *g, uint32_t i) {
    return vec_at(&g->extents, i);
}

static inline uint64_t extent_end(const struct log *g, uint32_t i) {
    return extent_at(g, i)->offset + extent_at(g, i)->bytes;
}

static inline bool log_is_cut(const struct log *g, const struct extent *x) {
    return x->offset >= g->cut_begin && x->offset < g->cut_end;
}

uint32_t joblog_find(const struct joblogs *l, const struct log_key *k); /* 0 = none */
struct log *joblog_enter(struct joblogs *l, const struct log_key *k);
void joblog_free(struct joblogs *l, uint32_t i); /* lets its extents go */
void joblog_key_read(const uint8_t from[KEY_BYTES], struct log_key *ret);
/* The first extent that ends after `offset`; the count when there is none. */
uint32_t joblog_seek(const struct log *g, uint64_t offset);
void joblog_head_encode(const struct log_head *h, struct buf *out);
/* What the packs ask. */
extern const struct pack_owner joblog_owner;
/* After the start: extents are put in order, and of two copies of one that was moved the second is dead. Then what the
 * last cut of a log named is dead, also where its entries were found again. */
void joblog_order_settle(struct joblogs *l);
void joblog_cuts_settle(struct joblogs *l);

#endif
