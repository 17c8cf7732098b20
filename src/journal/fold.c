/* fold.c: see fold.h. Guarantees: the state is that of a batch boundary, never inside a batch. Must not: write. */
#include "fold.h"

#include "chain.h"
#include "panic.h"
#include "snapfile.h"

enum err fold_closed(struct disk *d, uint64_t *ret_lsn, struct why *why) {
    struct segment_table t;
    uint64_t lsn = 0;
    segment_table_init(&t);
    enum err e = segment_table_load(&t, d, false, why);
    for (uint32_t i = 0; e == ERR_OK && i < t.rows.count; i++)
        if (segment_at(&t, i)->used) lsn = segment_at(&t, i)->header.first_lsn - 1;
    segment_table_fini(&t);
    if (e == ERR_OK) *ret_lsn = lsn;
    return e;
}

struct fold_loading {
    struct byte_sink sink;
    struct engine *engine;
};

static enum err load_more(struct byte_sink *s, const void *from, size_t len, struct why *why) {
    return engine_load(((struct fold_loading *)s)->engine, slice_of(from, len), why);
}

/* Damaged snapshots, and such as were removed since they were listed, are passed over: the records they cover may still
 * be there, and if not the reading says so. */
static enum err snapshot_load(struct disk *d, uint64_t upto, struct fold *f, struct why *why) {
    struct snapfile_list list;
    enum err e = snapfile_list_load(d, &list, why);
    for (uint32_t i = 0; e == ERR_OK && i < list.count; i++) {
        struct snapshot_info info;
        if (list.lsn[i] > upto) continue;
        struct fold_loading l = {.sink = {load_more}, .engine = f->engine};
        e = snapfile_read(d, list.lsn[i], &info, NULL, why);
        bool whole = e == ERR_OK;
        if (whole) e = snapfile_read(d, list.lsn[i], &info, &l.sink, why);
        if (e == ERR_NOT_FOUND || (e == ERR_CORRUPT && !whole)) { /* of one that is gone nothing was loaded */
            e = ERR_OK;
            continue;
        }
        if (e == ERR_OK) e = engine_load_end(f->engine, why);
        if (e != ERR_OK) return e;
        f->info = info;
        f->snapshot_lsn = info.lsn;
        return ERR_OK;
    }
    return e;
}

struct applying {
    struct fold *fold;
    uint64_t upto;
    fold_fn before;      /* may be NULL */
    fold_apply_fn apply; /* in place of engine_replay; NULL = that */
    void *ctx;
};

static enum err block_apply(void *ctx, const struct block *b, const struct chain_place *at, struct why *why) {
    struct applying *a = ctx;
    (void)at;
    if (b->kind != BLOCK_BATCH || b->batch.last_lsn <= a->fold->info.lsn || b->batch.last_lsn > a->upto) return ERR_OK;
    enum err e = a->before != NULL ? a->before(a->ctx, a->fold->engine, &b->batch, why) : ERR_OK;
    if (e == ERR_OK)
        e = a->apply != NULL ? a->apply(a->ctx, a->fold->engine, &b->batch, why)
                             : engine_replay(a->fold->engine, &b->batch, why);
    if (e != ERR_OK) return e;
    a->fold->info = (struct snapshot_info){b->batch.last_lsn, b->batch.epoch, b->batch.time};
    a->fold->batch_count++;
    return ERR_OK;
}

/* Reads no further than needed: one segment past the last record wanted, whose header says that nothing is missing. */
static void table_cut(struct segment_table *t, uint64_t upto) {
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct segment *g = segment_at(t, i);
        if (g->used && g->header.first_lsn > upto) t->rows.count = i + 1;
    }
}

static enum err batches_apply(struct disk *d, struct segment_table *t, struct applying *a, struct why *why) {
    uint32_t row = UINT32_MAX;
    uint64_t upto = a->upto;
    enum err e = chain_table(t, d, a->fold->info.lsn + 1, &row, why);
    if (e == ERR_NOT_FOUND)
        e = why_wrap(why, e, "no snapshot from before record %llu is left", (unsigned long long)upto);
    if (e != ERR_OK) return e;
    ENSURE(row != UINT32_MAX);
    table_cut(t, upto);
    struct scan scan;
    struct chain end;
    scan_init(&scan, d);
    e = chain_walk(&scan, t, row, true, block_apply, a, &end, why);
    scan_fini(&scan);
    return e;
}

static enum err shard_find(struct disk *d, struct segment_table *t, uint32_t *ret, struct why *why) {
    for (uint32_t with_archive = 0; with_archive < 2; with_archive++) {
        enum err e = segment_table_load(t, d, with_archive == 1, why);
        if (e != ERR_OK) return e;
        for (uint32_t i = 0; i < t->rows.count; i++) {
            if (!segment_at(t, i)->used) continue;
            *ret = segment_at(t, i)->header.shard;
            return ERR_OK;
        }
    }
    return why_set(why, ERR_NOT_FOUND, "the journal is empty");
}

/* From a snapshot at or below `from`, up to `a->upto`. */
static enum err fold_from(struct disk *d, uint64_t from, struct applying *a, struct fold *ret, struct why *why) {
    struct segment_table t;
    struct limits limits;
    struct fold f = {0};
    segment_table_init(&t);
    enum err e = shard_find(d, &t, &f.shard, why);
    if (e == ERR_OK) {
        limits_default(&limits);
        f.engine = engine_new(f.shard, &limits);
        a->fold = &f;
        e = snapshot_load(d, from, &f, why);
        if (e == ERR_OK) e = batches_apply(d, &t, a, why);
        if (e != ERR_OK) engine_free(f.engine);
    }
    segment_table_fini(&t);
    if (e == ERR_OK) *ret = f;
    return e;
}

enum err fold_run(struct disk *d, uint64_t upto, struct fold *ret, struct why *why) {
    struct applying a = {.upto = upto};
    return fold_from(d, upto, &a, ret, why);
}

/* The oldest place from which all records are there: the beginning, or a whole snapshot. */
static enum err oldest_start(struct disk *d, uint64_t *ret, struct why *why) {
    struct snapfile_list list;
    struct snapshot_info info;
    struct segment_table t;
    uint32_t row = UINT32_MAX;
    enum err e = snapfile_list_load(d, &list, why);
    if (e != ERR_OK) return e;
    segment_table_init(&t);
    e = chain_table(&t, d, 1, &row, why);
    *ret = 0;
    for (uint32_t i = list.count; e == ERR_NOT_FOUND && i-- > 0;) {
        e = snapfile_read(d, list.lsn[i], &info, NULL, why);
        if (e == ERR_CORRUPT) e = ERR_NOT_FOUND;
        if (e == ERR_OK) e = chain_table(&t, d, list.lsn[i] + 1, &row, why);
        *ret = list.lsn[i];
    }
    segment_table_fini(&t);
    return e;
}

enum err fold_follow(struct disk *d, uint64_t upto, fold_fn before, void *ctx, struct fold *ret, struct why *why) {
    struct applying a = {.upto = upto, .before = before, .ctx = ctx};
    uint64_t from = 0;
    enum err e = oldest_start(d, &from, why);
    return e == ERR_OK ? fold_from(d, from, &a, ret, why) : e;
}

/* ---- going on ---- */

/* A state with nothing but a snapshot in it: the newest at or below `upto`. */
static enum err state_begin(struct disk *d, uint64_t upto, struct fold *ret, struct why *why) {
    struct segment_table t;
    struct limits limits;
    struct fold f = {0};
    segment_table_init(&t);
    enum err e = shard_find(d, &t, &f.shard, why);
    segment_table_fini(&t);
    if (e != ERR_OK) return e;
    limits_default(&limits);
    f.engine = engine_new(f.shard, &limits);
    e = snapshot_load(d, upto, &f, why);
    if (e == ERR_OK)
        *ret = f;
    else
        engine_free(f.engine);
    return e;
}

/* Whether every record behind the state is still there. */
static enum err can_go_on(struct disk *d, const struct fold *f, struct why *why) {
    struct segment_table t;
    uint32_t row = UINT32_MAX;
    segment_table_init(&t);
    enum err e = chain_table(&t, d, f->info.lsn + 1, &row, why);
    segment_table_fini(&t);
    return e;
}

enum err fold_begin(struct disk *d, uint64_t upto, struct fold *ret, struct why *why) {
    uint64_t oldest = 0;
    enum err e = state_begin(d, upto, ret, why);
    if (e != ERR_OK) return e;
    e = can_go_on(d, ret, why);
    if (e == ERR_OK) return ERR_OK;
    engine_free(ret->engine);
    if (e != ERR_NOT_FOUND) return e;
    e = oldest_start(d, &oldest, why);
    return e == ERR_OK ? state_begin(d, oldest, ret, why) : e;
}

enum err fold_go_on(struct disk *d, struct fold *f, uint64_t upto, fold_apply_fn apply, void *ctx, struct why *why) {
    struct segment_table t;
    struct applying a = {.fold = f, .upto = upto, .apply = apply, .ctx = ctx};
    if (upto <= f->info.lsn) return ERR_OK;
    segment_table_init(&t);
    enum err e = batches_apply(d, &t, &a, why);
    segment_table_fini(&t);
    return e;
}
