/* chain.c: see chain.h. Guarantees: hands out blocks in order, without a gap, each verified; a refusal names the file
 * and the byte. Must not: write, or take any batch for granted that lies behind a bad one. */
#include "chain.h"

#include "panic.h"

struct chain_walk {
    struct scan *scan;
    const struct segment_table *table;
    bool live;
    chain_fn each;
    void *ctx;
    struct chain c;
    const struct segment *last; /* the used segment walked last */
};

static enum err damage(struct why *why, const struct segment *g, uint64_t offset, const char *reason) {
    char name[SEGMENT_NAME_MAX];
    segment_file_name(name, g);
    return why_set(why, ERR_CORRUPT, "%s: damaged at byte %llu%s: %s", name, (unsigned long long)offset,
                   g->packed ? " of what was packed" : "", reason);
}

/* The segment may have been archived, or packed, by another process since it was listed. */
static enum err open_segment(struct chain_walk *w, const struct segment *g, bool any_nonce, struct why *why) {
    char name[SEGMENT_NAME_MAX];
    scan_close(w->scan);
    enum err e = ERR_NOT_FOUND;
    for (uint32_t archived = g->archived; e == ERR_NOT_FOUND && !g->packed && archived < 2; archived++) {
        segment_name(name, g->number, archived == 1);
        e = scan_open(w->scan, name, g->header.nonce, any_nonce, why);
    }
    if (e != ERR_NOT_FOUND) return e;
    segment_packed_name(name, g->number);
    return scan_open_packed(w->scan, name, why);
}

static void chain_begin(struct chain *c, const struct segment *g) {
    REQUIRE(g->used);
    *c = (struct chain){.next_lsn = g->header.first_lsn,
                        .time = g->header.time,
                        .shard = g->header.shard,
                        .crc = g->header.prev_crc};
}

static enum err block_take(struct chain_walk *w, const struct segment *g, uint64_t offset, const struct block *b,
                           struct why *why) {
    struct chain *c = &w->c;
    if (b->format != JOURNAL_FORMAT)
        return why_set(why, ERR_UNSUPPORTED, "segment %llx, byte %llu: written in format %u, this program knows %u",
                       (unsigned long long)g->number, (unsigned long long)offset, b->format, JOURNAL_FORMAT);
    if (b->kind != BLOCK_BATCH && b->kind != BLOCK_SEAL && b->kind != BLOCK_OPEN)
        return why_set(why, ERR_UNSUPPORTED, "segment %llx, byte %llu: a block of kind %u",
                       (unsigned long long)g->number, (unsigned long long)offset, b->kind);
    bool mark = b->kind != BLOCK_BATCH;
    if (b->prev_crc != c->crc) return damage(why, g, offset, "the block does not continue the one before it");
    if (b->batch.first_lsn != c->next_lsn) return damage(why, g, offset, "records are missing before it");
    if (mark ? b->batch.last_lsn + 1 != b->batch.first_lsn : b->batch.last_lsn < b->batch.first_lsn)
        return damage(why, g, offset, "its record numbers make no sense");
    if (b->batch.epoch < c->epoch) return damage(why, g, offset, "its epoch is lower than the one before");
    if (b->batch.shard != c->shard) return damage(why, g, offset, "it belongs to another shard");
    c->next_lsn = b->batch.last_lsn + 1;
    c->epoch = b->batch.epoch;
    c->crc = b->crc;
    if (!mark) c->time = b->batch.time;
    c->last_kind = b->kind;
    c->last_bytes = b->total_bytes;
    c->last_segment = g->number;
    c->last_offset = offset;
    c->offset = offset + b->total_bytes;
    ENSURE(c->offset % BLOCK_ALIGN == 0);
    if (w->each == NULL) return ERR_OK;
    struct chain_place place = {g, offset};
    return w->each(w->ctx, b, &place, why);
}

/* The block at `offset` is bad. Damage if anything valid lies behind it in this segment. */
static enum err bad_block(struct chain_walk *w, const struct segment *g, uint64_t offset, bool *ret_again,
                          struct why *why) {
    struct block b;
    uint64_t found = UINT64_MAX;
    *ret_again = false;
    enum err e = scan_find(w->scan, offset + BLOCK_ALIGN, &found, &b, why);
    if (e != ERR_OK || found == UINT64_MAX) return e;
    if (w->live) { /* it may have been written between the two looks */
        bool valid = false;
        scan_forget(w->scan);
        e = scan_block(w->scan, offset, &valid, &b, why);
        if (e != ERR_OK) return e;
        *ret_again = valid;
        if (valid) return ERR_OK;
    }
    return damage(why, g, offset, "valid blocks follow one that is not");
}

static enum err segment_walk(struct chain_walk *w, const struct segment *g, struct why *why) {
    enum err e = open_segment(w, g, false, why);
    if (e != ERR_OK) return e;
    w->c.segment = g->number;
    w->c.offset = BLOCK_FIRST_OFFSET;
    w->last = g;
    if (g->header.epoch > w->c.epoch) w->c.epoch = g->header.epoch;
    while (w->c.offset + BLOCK_ALIGN <= w->scan->bytes) {
        struct block b;
        bool valid = false, again = false;
        uint64_t offset = w->c.offset;
        e = scan_block(w->scan, offset, &valid, &b, why);
        if (e == ERR_OK && valid) e = block_take(w, g, offset, &b, why);
        else if (e == ERR_OK) e = bad_block(w, g, offset, &again, why);
        if (e != ERR_OK) return e;
        if (!valid && !again) break;
    }
    /* Only blocks were packed, so what is not one is not a torn end either. */
    if (w->scan->packed != NULL && w->c.offset != w->scan->bytes)
        return damage(why, g, w->c.offset, "a block is missing");
    return ERR_OK;
}

/* A segment whose own header cannot be read: were there blocks in it that the chain lacks? */
static enum err blank_check(struct chain_walk *w, const struct segment *g, struct why *why) {
    REQUIRE(!g->used);
    if (g->recycled) return ERR_OK;
    enum err e = open_segment(w, g, true, why);
    uint64_t found = UINT64_MAX;
    struct block b = {0};
    if (e == ERR_OK) e = scan_find(w->scan, BLOCK_FIRST_OFFSET, &found, &b, why);
    if (e != ERR_OK || found == UINT64_MAX || b.batch.first_lsn < w->c.next_lsn) return e;
    if (w->live) { /* taken into use since it was listed: newer than what we were asked to read */
        struct segment_table now;
        bool used = false;
        segment_table_init(&now);
        e = segment_table_load(&now, w->scan->disk, true, why); /* it may even have been archived by now */
        for (uint32_t i = 0; e == ERR_OK && i < now.rows.count; i++)
            if (segment_at(&now, i)->number == g->number) used = segment_at(&now, i)->used;
        segment_table_fini(&now);
        if (e != ERR_OK || used) return e;
    }
    return damage(why, g, 0, "the header is unreadable and blocks follow it");
}

/* The next used segment does not go on where the chain stands: what is missing was durable once. */
static enum err gap(struct chain_walk *w, uint32_t row, struct why *why) {
    for (uint32_t i = row; i-- > 0;) {
        const struct segment *g = segment_at(w->table, i);
        if (g->used) break;
        enum err e = blank_check(w, g, why);
        if (e != ERR_OK) return e;
    }
    return damage(why, w->last, w->c.offset, "the next segment continues from a block that is not there");
}

static bool continues(const struct chain *c, const struct segment_header *h) {
    return h->prev_crc == c->crc && h->first_lsn == c->next_lsn && h->shard == c->shard && h->epoch >= c->epoch;
}

static enum err walk_from(struct chain_walk *w, uint32_t first, struct why *why) {
    chain_begin(&w->c, segment_at(w->table, first));
    for (uint32_t i = first; i < w->table->rows.count; i++) {
        const struct segment *g = segment_at(w->table, i);
        if (!g->used) continue;
        if (i > first && !continues(&w->c, &g->header)) return gap(w, i, why);
        enum err e = segment_walk(w, g, why);
        if (e != ERR_OK) return e;
    }
    for (uint32_t i = 0; i < w->table->rows.count; i++) {
        const struct segment *g = segment_at(w->table, i);
        if (g->used) continue;
        enum err e = blank_check(w, g, why);
        if (e != ERR_OK) return e;
    }
    return ERR_OK;
}

enum err chain_walk(struct scan *s, const struct segment_table *t, uint32_t first, bool live, chain_fn each, void *ctx,
                    struct chain *ret, struct why *why) {
    REQUIRE(first < t->rows.count);
    struct chain_walk w = {.scan = s, .table = t, .live = live, .each = each, .ctx = ctx};
    enum err e = walk_from(&w, first, why);
    scan_close(s);
    if (e == ERR_OK) *ret = w.c;
    return e;
}

enum err chain_segment(struct scan *s, const struct segment_table *t, uint32_t row, struct chain *ret,
                       struct why *why) {
    REQUIRE(row < t->rows.count && segment_at(t, row)->used);
    uint32_t next = row + 1;
    while (next < t->rows.count && !segment_at(t, next)->used) next++;
    if (next == t->rows.count)
        return why_set(why, ERR_NOT_FOUND, "no segment follows %llx",
                       (unsigned long long)segment_at(t, row)->number);
    struct chain_walk w = {.scan = s, .table = t};
    chain_begin(&w.c, segment_at(t, row));
    enum err e = segment_walk(&w, segment_at(t, row), why);
    if (e == ERR_OK && !continues(&w.c, &segment_at(t, next)->header)) e = gap(&w, next, why);
    scan_close(s);
    if (e == ERR_OK) *ret = w.c;
    return e;
}

/* The newest used segment that holds a block; the oldest used one when none does; UINT32_MAX when none is used. */
static enum err tail_row(struct chain_walk *w, uint32_t *ret, struct why *why) {
    uint32_t row = UINT32_MAX;
    for (uint32_t i = w->table->rows.count; i-- > 0;) {
        const struct segment *g = segment_at(w->table, i);
        if (!g->used) continue;
        row = i;
        struct block b;
        uint64_t found = UINT64_MAX;
        enum err e = open_segment(w, g, false, why);
        if (e == ERR_OK) e = scan_find(w->scan, BLOCK_FIRST_OFFSET, &found, &b, why);
        if (e != ERR_OK) return e;
        if (found != UINT64_MAX) break;
    }
    *ret = row;
    return ERR_OK;
}

enum err chain_tail(struct scan *s, const struct segment_table *t, bool live, struct chain *ret, struct why *why) {
    struct chain_walk w = {.scan = s, .table = t, .live = live, .c = {.next_lsn = 1}};
    uint32_t row = UINT32_MAX;
    enum err e = tail_row(&w, &row, why);
    if (e == ERR_OK && row != UINT32_MAX) {
        e = walk_from(&w, row, why);
    } else if (e == ERR_OK) {
        for (uint32_t i = 0; e == ERR_OK && i < t->rows.count; i++) e = blank_check(&w, segment_at(t, i), why);
    }
    scan_close(s);
    if (e == ERR_OK) *ret = w.c;
    return e;
}

enum err chain_row(const struct segment_table *t, uint64_t lsn, uint32_t *ret, struct why *why) {
    uint32_t row = UINT32_MAX;
    uint64_t oldest = 0;
    const struct segment *blank = NULL;
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct segment *g = segment_at(t, i);
        if (!g->used && !g->recycled && oldest == 0) blank = g;
        if (!g->used) continue;
        if (oldest == 0) oldest = g->header.first_lsn;
        if (g->header.first_lsn <= lsn) row = i;
    }
    if (row == UINT32_MAX && oldest != 0 && blank != NULL)
        return damage(why, blank, 0, "the header is unreadable and its records are needed");
    if (row == UINT32_MAX && oldest != 0)
        return why_set(why, ERR_NOT_FOUND, "the oldest segment begins at record %llu, after %llu",
                       (unsigned long long)oldest, (unsigned long long)lsn);
    *ret = row;
    return ERR_OK;
}

enum err chain_table(struct segment_table *t, struct disk *d, uint64_t lsn, uint32_t *ret, struct why *why) {
    enum err e = segment_table_load(t, d, false, why);
    if (e != ERR_OK) return e;
    e = chain_row(t, lsn, ret, why);
    if (e == ERR_OK && *ret != UINT32_MAX) return e;
    e = segment_table_load(t, d, true, why);
    return e == ERR_OK ? chain_row(t, lsn, ret, why) : e;
}
