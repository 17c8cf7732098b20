/* fold.c: see fold.h. Guarantees: the state is that of a batch boundary, never inside a batch. Must not: write. */
#include "fold.h"

#include "limit.h"
#include "panic.h"

struct fold_loading {
    struct byte_sink sink; /* first: the journal passes its address back */
    struct engine *engine;
    bool begun;
};

static enum err load_more(struct byte_sink *s, const void *from, size_t len, struct why *why) {
    struct fold_loading *l = (struct fold_loading *)s;
    l->begun = true;
    return engine_load(l->engine, slice_of(from, len), why);
}

/* Damaged snapshots, and such as were removed since they were listed, are passed over: the records they cover may still
 * be there, and if not the reading says so. */
static enum err snapshot_load(struct journal *j, uint64_t upto, struct fold *f, struct why *why) {
    struct snapshot_list list;
    enum err e = j->ops->snapshots(j, &list, why);
    for (uint32_t i = 0; e == ERR_OK && i < list.count; i++) {
        struct snapshot_info info;
        if (list.lsn[i] > upto) continue;
        struct fold_loading l = {.sink = {load_more}, .engine = f->engine};
        e = j->ops->snapshot_get(j, list.lsn[i], &info, &l.sink, why);
        if (!l.begun && (e == ERR_NOT_FOUND || e == ERR_CORRUPT)) {
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

static enum err batch_apply(void *ctx, const struct batch *b, struct why *why) {
    struct applying *a = ctx;
    if (b->last_lsn <= a->fold->info.lsn || b->last_lsn > a->upto) return ERR_OK;
    enum err e = a->before != NULL ? a->before(a->ctx, a->fold->engine, b, why) : ERR_OK;
    if (e == ERR_OK)
        e = a->apply != NULL ? a->apply(a->ctx, a->fold->engine, b, why) : engine_replay(a->fold->engine, b, why);
    if (e != ERR_OK) return e;
    a->fold->info = (struct snapshot_info){b->last_lsn, b->epoch, b->time};
    a->fold->batch_count++;
    return ERR_OK;
}

static enum err batches_apply(struct journal *j, struct applying *a, struct why *why) {
    uint64_t from = a->fold->info.lsn;
    enum err e = j->ops->read(j, from + 1, a->upto, batch_apply, a, why);
    if (e == ERR_NOT_FOUND && a->fold->info.lsn == from)
        e = why_wrap(why, e, "no snapshot from before record %llu is left", (unsigned long long)a->upto);
    return e;
}

/* A state with nothing but a snapshot in it: the newest at or below `upto`. */
static enum err state_begin(struct journal *j, uint64_t upto, struct fold *ret, struct why *why) {
    struct limits limits;
    struct fold f = {0};
    enum err e = j->ops->shard(j, &f.shard, why);
    if (e != ERR_OK) return e;
    limits_default(&limits);
    f.engine = engine_new(f.shard, &limits);
    e = snapshot_load(j, upto, &f, why);
    if (e == ERR_OK)
        *ret = f;
    else
        engine_free(f.engine);
    return e;
}

/* From a snapshot at or below `from`, up to `a->upto`. */
static enum err fold_from(struct journal *j, uint64_t from, struct applying *a, struct fold *ret, struct why *why) {
    struct fold f;
    enum err e = state_begin(j, from, &f, why);
    if (e != ERR_OK) return e;
    a->fold = &f;
    e = batches_apply(j, a, why);
    if (e == ERR_OK)
        *ret = f;
    else
        engine_free(f.engine);
    return e;
}

enum err fold_run(struct journal *reader, uint64_t upto, struct fold *ret, struct why *why) {
    struct applying a = {.upto = upto};
    return fold_from(reader, upto, &a, ret, why);
}

/* Whether every record from `lsn` on is still there. */
static enum err can_read(struct journal *j, uint64_t lsn, struct why *why) {
    return j->ops->read(j, lsn, lsn - 1, NULL, NULL, why);
}

/* The oldest place from which all records are there: the beginning, or a whole snapshot. */
static enum err oldest_start(struct journal *j, uint64_t *ret, struct why *why) {
    struct snapshot_list list;
    struct snapshot_info info;
    enum err e = j->ops->snapshots(j, &list, why);
    if (e != ERR_OK) return e;
    e = can_read(j, 1, why);
    *ret = 0;
    for (uint32_t i = list.count; e == ERR_NOT_FOUND && i-- > 0;) {
        e = j->ops->snapshot_get(j, list.lsn[i], &info, NULL, why);
        if (e == ERR_CORRUPT) e = ERR_NOT_FOUND;
        if (e == ERR_OK) e = can_read(j, list.lsn[i] + 1, why);
        *ret = list.lsn[i];
    }
    return e;
}

enum err fold_follow(struct journal *reader, uint64_t upto, fold_fn before, void *ctx, struct fold *ret,
                     struct why *why) {
    struct applying a = {.upto = upto, .before = before, .ctx = ctx};
    uint64_t from = 0;
    enum err e = oldest_start(reader, &from, why);
    return e == ERR_OK ? fold_from(reader, from, &a, ret, why) : e;
}

/* ---- going on ---- */

enum err fold_begin(struct journal *reader, uint64_t upto, struct fold *ret, struct why *why) {
    uint64_t oldest = 0;
    enum err e = state_begin(reader, upto, ret, why);
    if (e != ERR_OK) return e;
    e = can_read(reader, ret->info.lsn + 1, why);
    if (e == ERR_OK) return ERR_OK;
    engine_free(ret->engine);
    if (e != ERR_NOT_FOUND) return e;
    e = oldest_start(reader, &oldest, why);
    return e == ERR_OK ? state_begin(reader, oldest, ret, why) : e;
}

enum err fold_go_on(struct journal *reader, struct fold *f, uint64_t upto, fold_apply_fn apply, void *ctx,
                    struct why *why) {
    struct applying a = {.fold = f, .upto = upto, .apply = apply, .ctx = ctx};
    return upto > f->info.lsn ? batches_apply(reader, &a, why) : ERR_OK;
}
