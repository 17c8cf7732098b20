/* inspect.c: see inspect.h. Must not: write to the disk it looks at. */
#include "inspect.h"

#include "arena.h"
#include "chain.h"
#include "json.h"
#include "panic.h"
#include "record.h"
#include "snapfile.h"

#define LINE_BYTES_MAX (256u << 20) /* the largest record as JSON; a submit of 64 MiB at most, escaped */
#define ARENA_CHUNK_BYTES (64u << 10)
#define ARENA_BYTES_MAX (1u << 30)

/* Walks from the oldest segment that `from` needs; UINT64_MAX as `from` means the oldest there is. */
static enum err walk(struct disk *d, uint64_t from, chain_fn each, void *ctx, struct inspect_report *r,
                     struct chain *ret, struct why *why) {
    struct segment_table t;
    struct scan scan;
    uint32_t row = UINT32_MAX;
    segment_table_init(&t);
    scan_init(&scan, d);
    enum err e = from == UINT64_MAX ? segment_table_load(&t, d, true, why) : chain_table(&t, d, from, &row, why);
    for (uint32_t i = 0; e == ERR_OK && i < t.rows.count; i++) {
        const struct segment *g = segment_at(&t, i);
        if (!g->used) continue;
        if (from == UINT64_MAX && row == UINT32_MAX) row = i;
        if (r != NULL) r->segment_count++;
        if (r != NULL && g->archived) r->archived_count++;
    }
    if (e == ERR_OK && row != UINT32_MAX)
        e = chain_walk(&scan, &t, row, true, each, ctx, ret, why);
    else if (e == ERR_OK)
        e = chain_tail(&scan, &t, true, ret, why);
    scan_fini(&scan);
    segment_table_fini(&t);
    return e;
}

/* ---- verify ---- */

static enum err block_count(void *ctx, const struct block *b, const struct chain_place *at, struct why *why) {
    struct inspect_report *r = ctx;
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

enum err inspect_verify(struct disk *d, struct inspect_report *ret, struct why *why) {
    struct inspect_report r = {0};
    struct chain end = {.next_lsn = 1};
    struct snapfile_list list = {.count = 0};
    enum err e = walk(d, UINT64_MAX, block_count, &r, &r, &end, why);
    if (e == ERR_OK) e = snapfile_list_load(d, &list, why);
    for (uint32_t i = 0; e == ERR_OK && i < list.count; i++) {
        struct snapshot_info info = {0};
        e = snapfile_read(d, list.lsn[i], &info, NULL, why);
        if (e == ERR_NOT_FOUND)
            e = ERR_OK; /* its owner had no more use for it since it was listed */
        else if (e == ERR_OK)
            r.snapshot_count++;
        if (info.lsn > r.snapshot_lsn) r.snapshot_lsn = info.lsn;
    }
    if (e != ERR_OK) return e;
    r.last_lsn = end.next_lsn - 1;
    r.epoch = end.epoch;
    r.sealed = end.last_kind != BLOCK_BATCH;
    *ret = r;
    return ERR_OK;
}

/* ---- records, one by one ---- */

struct inspect_reading {
    uint64_t from, to;
    enum err (*each)(void *ctx, const struct block *b, uint64_t lsn, const struct record *r, struct why *why);
    void *ctx;
    struct arena arena;
};

static enum err block_read(void *ctx, const struct block *b, const struct chain_place *at, struct why *why) {
    struct inspect_reading *p = ctx;
    if (b->kind != BLOCK_BATCH || b->batch.last_lsn < p->from || b->batch.first_lsn > p->to) return ERR_OK;
    struct cursor c = cursor_of(b->batch.records);
    for (uint64_t lsn = b->batch.first_lsn; lsn <= b->batch.last_lsn; lsn++) {
        struct record r;
        arena_reset(&p->arena);
        enum err e = record_decode(&c, &p->arena, &r, why);
        if (e == ERR_OK && lsn >= p->from && lsn <= p->to) e = p->each(p->ctx, b, lsn, &r, why);
        if (e != ERR_OK)
            return why_wrap(why, e, "segment %llx, byte %llu, record %llu", (unsigned long long)at->segment->number,
                            (unsigned long long)at->offset, (unsigned long long)lsn);
    }
    return ERR_OK;
}

static enum err records_read(struct disk *d, struct inspect_reading *p, struct why *why) {
    struct chain end = {.next_lsn = 1};
    arena_init(&p->arena, ARENA_CHUNK_BYTES, ARENA_BYTES_MAX);
    enum err e = walk(d, p->from > 0 ? p->from : 1, block_read, p, NULL, &end, why);
    arena_fini(&p->arena);
    return e;
}

/* ---- count ---- */

static enum err record_count(void *ctx, const struct block *b, uint64_t lsn, const struct record *r, struct why *why) {
    (void)b, (void)lsn, (void)why;
    ((uint64_t *)ctx)[r->kind]++;
    return ERR_OK;
}

enum err inspect_count(struct disk *d, uint64_t ret[], struct why *why) {
    struct inspect_reading p = {.from = 1, .to = UINT64_MAX, .each = record_count, .ctx = ret};
    memset(ret, 0, REC_KIND_END * sizeof *ret);
    return records_read(d, &p, why);
}

/* ---- dump ---- */

struct dump {
    struct byte_sink *out;
    struct buf line;
};

static enum err record_out(void *ctx, const struct block *b, uint64_t lsn, const struct record *r, struct why *why) {
    struct dump *p = ctx;
    struct json j;
    buf_clear(&p->line);
    json_init(&j, &p->line);
    json_object(&j);
    json_key(&j, "lsn");
    json_u64(&j, lsn);
    json_key(&j, "epoch");
    json_u64(&j, b->batch.epoch);
    json_key(&j, "time_ms");
    json_i64(&j, b->batch.time.ms);
    record_json(r, &j);
    json_object_end(&j);
    buf_put_u8(&p->line, '\n');
    if (p->line.full) return why_set(why, ERR_LIMIT, "record %llu is too long to show", (unsigned long long)lsn);
    return p->out->more(p->out, p->line.at, p->line.len, why);
}

enum err inspect_dump(struct disk *d, uint64_t from, uint64_t to, struct byte_sink *out, struct why *why) {
    REQUIRE(out != NULL);
    struct dump dump = {.out = out};
    struct inspect_reading p = {.from = from, .to = to, .each = record_out, .ctx = &dump};
    buf_init(&dump.line, LINE_BYTES_MAX);
    enum err e = records_read(d, &p, why);
    buf_fini(&dump.line);
    return e;
}
