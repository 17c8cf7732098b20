/* reader.c: what can be read from the files of a journal, by its owner or beside it. Must not: write, take a lock, or
 * keep anything from one call to the next but memory: the files may have moved meanwhile. */
#include "file_impl.h"
#include "panic.h"
#include "snapfile.h"

static enum err is_alive(struct file *f, struct why *why) {
    return f->dead ? why_set(why, ERR_IO, "the journal failed before") : ERR_OK;
}

/* The archive is looked at only when the live segments do not know. */
enum err reader_shard(struct journal *j, uint32_t *ret, struct why *why) {
    struct file *f = file_of(j);
    struct segment_table t;
    bool found = false;
    enum err e = is_alive(f, why);
    segment_table_init(&t);
    for (uint32_t with_archive = 0; e == ERR_OK && !found && with_archive < 2; with_archive++) {
        e = segment_table_load(&t, f->disk, with_archive == 1, why);
        for (uint32_t i = 0; e == ERR_OK && !found && i < t.rows.count; i++) {
            found = segment_at(&t, i)->used;
            if (found) *ret = segment_at(&t, i)->header.shard;
        }
    }
    segment_table_fini(&t);
    return e != ERR_OK || found ? e : why_set(why, ERR_NOT_FOUND, "the journal is empty");
}

/* ---- batches ---- */

struct reading {
    uint64_t from_lsn, to_lsn;
    journal_batch_fn each;
    void *ctx;
    bool all; /* the range is through; all of it is verified */
};

static enum err block_out(void *ctx, const struct block *b, const struct chain_place *at, struct why *why) {
    struct reading *r = ctx;
    if (b->kind != BLOCK_BATCH || b->batch.last_lsn < r->from_lsn) return ERR_OK;
    enum err e = r->each(r->ctx, &b->batch, why);
    /* Bytes that the caller cannot read are told with their place. */
    if (e == ERR_CORRUPT || e == ERR_UNSUPPORTED)
        return why_wrap(why, e, "segment %llx, byte %llu", (unsigned long long)at->segment->number,
                        (unsigned long long)at->offset);
    if (e != ERR_OK) return e;
    r->all = b->batch.last_lsn >= r->to_lsn;
    return r->all ? ERR_STATE : ERR_OK;
}

enum err reader_read(struct journal *j, uint64_t from_lsn, uint64_t to_lsn, journal_batch_fn each, void *ctx,
                     struct why *why) {
    struct file *f = file_of(j);
    REQUIRE(each != NULL || to_lsn < from_lsn);
    struct reading r = {.from_lsn = from_lsn > 0 ? from_lsn : 1, .to_lsn = to_lsn, .each = each, .ctx = ctx};
    struct segment_table table;
    struct chain end = {.next_lsn = 1};
    uint32_t row = UINT32_MAX;
    enum err e = is_alive(f, why);
    if (e != ERR_OK) return e;
    segment_table_init(&table);
    e = chain_table(&table, f->disk, r.from_lsn, &row, why);
    bool wanted = e == ERR_OK && to_lsn >= r.from_lsn;
    if (wanted && row != UINT32_MAX) e = chain_walk(&f->scan, &table, row, !f->locked, block_out, &r, &end, why);
    if (r.all)
        e = ERR_OK;
    else if (e == ERR_OK && wanted && f->locked && end.next_lsn != f->tail.next_lsn)
        e = why_set(why, ERR_CORRUPT, "the journal ends at record %llu, it was %llu when it was opened",
                    (unsigned long long)(end.next_lsn - 1), (unsigned long long)(f->tail.next_lsn - 1));
    segment_table_fini(&table);
    return e;
}

enum err reader_pieces(struct journal *j, uint64_t upto_lsn, uint64_t *ret_first_lsns, uint32_t most,
                       uint32_t *ret_count, struct why *why) {
    struct file *f = file_of(j);
    struct segment_table t;
    uint32_t count = 0;
    enum err e = is_alive(f, why);
    segment_table_init(&t);
    if (e == ERR_OK) e = segment_table_load(&t, f->disk, true, why);
    for (uint32_t i = t.rows.count; e == ERR_OK && count < most && i-- > 0;) {
        const struct segment *g = segment_at(&t, i);
        if (g->used && g->header.first_lsn <= upto_lsn) ret_first_lsns[count++] = g->header.first_lsn;
    }
    segment_table_fini(&t);
    if (e == ERR_OK) *ret_count = count;
    return e;
}

enum err reader_snapshots(struct journal *j, struct snapshot_list *ret, struct why *why) {
    enum err e = is_alive(file_of(j), why);
    return e == ERR_OK ? snapfile_list_load(file_of(j)->disk, ret, why) : e;
}

/* ---- every byte ---- */

static enum err block_count(void *ctx, const struct block *b, const struct chain_place *at, struct why *why) {
    struct journal_report *r = ctx;
    (void)at, (void)why;
    if (b->kind != BLOCK_BATCH) {
        r->mark_count++;
        return ERR_OK;
    }
    r->batch_count++;
    r->payload_bytes += b->batch.records.len;
    if (r->first_lsn == 0) r->first_lsn = b->batch.first_lsn;
    return ERR_OK;
}

static enum err segments_verify(struct file *f, struct journal_report *r, struct chain *ret, struct why *why) {
    struct segment_table t;
    uint32_t row = UINT32_MAX;
    segment_table_init(&t);
    enum err e = segment_table_load(&t, f->disk, true, why);
    for (uint32_t i = 0; e == ERR_OK && i < t.rows.count; i++) {
        const struct segment *g = segment_at(&t, i);
        if (!g->used) continue;
        if (row == UINT32_MAX) row = i;
        r->segment_count++;
        if (g->archived) r->archived_count++;
    }
    if (e == ERR_OK && row != UINT32_MAX)
        e = chain_walk(&f->scan, &t, row, true, block_count, r, ret, why);
    else if (e == ERR_OK)
        e = chain_tail(&f->scan, &t, true, ret, why);
    segment_table_fini(&t);
    return e;
}

static enum err snapshots_verify(struct file *f, struct journal_report *r, struct why *why) {
    struct snapshot_list list = {.count = 0};
    enum err e = snapfile_list_load(f->disk, &list, why);
    for (uint32_t i = 0; e == ERR_OK && i < list.count; i++) {
        struct snapshot_info info = {0};
        e = snapfile_read(f->disk, list.lsn[i], &info, NULL, why);
        if (e == ERR_NOT_FOUND)
            e = ERR_OK; /* its owner had no more use for it since it was listed */
        else if (e == ERR_OK)
            r->snapshot_count++;
        if (info.lsn > r->snapshot_lsn) r->snapshot_lsn = info.lsn;
    }
    return e;
}

enum err reader_verify(struct journal *j, struct journal_report *ret, struct why *why) {
    struct file *f = file_of(j);
    struct journal_report r = {0};
    struct chain end = {.next_lsn = 1};
    enum err e = is_alive(f, why);
    if (e == ERR_OK) e = segments_verify(f, &r, &end, why);
    if (e == ERR_OK) e = snapshots_verify(f, &r, why);
    if (e != ERR_OK) return e;
    r.last_lsn = end.next_lsn - 1;
    r.epoch = end.epoch;
    r.sealed = end.last_kind != BLOCK_BATCH;
    *ret = r;
    return ERR_OK;
}
