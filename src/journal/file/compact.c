/* compact.c: see compact.h. Guarantees: the snapshot it leaves is whole and durable, or there is none. Must not: take
 * the journal's lock, touch a live segment, or remove a snapshot. */
#include "compact.h"

#include "file.h"
#include "fold.h"
#include "panic.h"
#include "segment.h"
#include "snapfile.h"

static enum err piece_out(void *ctx, struct slice piece, struct why *why) {
    return snapfile_push(ctx, piece, why);
}

static enum err snapshot_out(struct disk *d, const struct fold *f, struct why *why) {
    struct snapfile_writer *w = NULL;
    enum err e = snapfile_sweep(d, why); /* of runs that were killed; compact_lock says that none is at work */
    if (e != ERR_OK) return e;
    e = snapfile_begin(d, f->shard, &f->info, &w, why);
    if (e != ERR_OK) return e;
    e = engine_snapshot(f->engine, piece_out, w, why);
    if (e != ERR_OK) {
        snapfile_abandon(w);
        return e;
    }
    return snapfile_commit(w, why);
}

enum err compact_lock(struct disk *d, struct why *why) {
    return d->ops->lock(d, "COMPACT", why);
}

/* The last record of the closed segments: everything but the newest segment. 0 = none is closed. */
static enum err closed_find(struct disk *d, uint64_t *ret_lsn, struct why *why) {
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

static enum err state_fold(struct disk *d, uint64_t upto, struct fold *ret, struct why *why) {
    struct journal *reader;
    enum err e = file_reader(d, &reader, why);
    if (e != ERR_OK) return e;
    e = fold_run(reader, upto, ret, why);
    reader->ops->close(reader);
    return e;
}

static enum err fold_out(struct disk *d, uint64_t upto, struct compact_report *ret, struct why *why) {
    uint64_t closed = 0;
    struct fold f = {0};
    enum err e = closed_find(d, &closed, why);
    if (e != ERR_OK) return e;
    if (upto == 0 || upto > closed) upto = closed; /* the newest segment may end in a batch that is not durable yet */
    if (upto == 0) return ERR_OK;
    e = state_fold(d, upto, &f, why);
    if (e != ERR_OK) return e;
    ENSURE(f.info.lsn <= closed);
    if (f.batch_count > 0) e = snapshot_out(d, &f, why);
    ret->lsn = f.info.lsn;
    ret->snapshot_lsn = f.snapshot_lsn;
    ret->batch_count = f.batch_count;
    engine_free(f.engine);
    return e;
}

enum err compact_run(struct disk *d, const struct compact_options *o, struct compact_report *ret, struct why *why) {
    struct compact_report r = {0};
    enum err e = fold_out(d, o->upto, &r, why);
    if (e != ERR_OK) return e;
    r.archive_err = archive_run(d, o->archive_days, o->now, &r.archive, &r.archive_why);
    *ret = r;
    return ERR_OK;
}
