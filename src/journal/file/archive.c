/* archive.c: see archive.h. Guarantees: a plain segment goes only when its packed form, under its durable name, was
 * unpacked and gave the same chain; a segment goes for good only when the oldest snapshot, read wholly, covers it.
 * Must not: touch a live segment, or remove what it could not read. */
#include "archive.h"

#include <stdio.h>
#include <string.h>

#include "chain.h"
#include "panic.h"
#include "snapfile.h"

#define DAY_MS (24 * 60 * 60 * 1000)
#define SNAPSHOTS_ALWAYS 2u /* the newest, and one to fall back to */
#define SNAPSHOT_STEPS 8    /* the archive is at most an eighth longer than asked for */

static int64_t cutoff_ms(uint32_t days, wall_time now) {
    return now.ms - (int64_t)days * DAY_MS;
}

/* ---- snapshots ---- */

/* Those whose header can be read, newest first. A damaged one is passed over: it is no help, and it is evidence. */
static enum err infos_load(struct disk *d, struct snapshot_info to[JOURNAL_SNAPSHOTS_MAX], uint32_t *ret_count,
                           struct why *why) {
    struct snapshot_list list;
    uint32_t count = 0;
    enum err e = snapfile_list_load(d, &list, why);
    for (uint32_t i = 0; e == ERR_OK && i < list.count; i++) {
        e = snapfile_info(d, list.lsn[i], &to[count], why);
        if (e == ERR_OK) count++;
        if (e == ERR_CORRUPT || e == ERR_NOT_FOUND) e = ERR_OK;
    }
    if (e == ERR_OK) *ret_count = count;
    return e;
}

enum err archive_thin(struct disk *d, uint32_t days, wall_time now, struct why *why) {
    struct snapshot_info infos[JOURNAL_SNAPSHOTS_MAX];
    uint32_t count = 0;
    int64_t cutoff = cutoff_ms(days, now), step = (int64_t)days * DAY_MS / SNAPSHOT_STEPS;
    enum err e = infos_load(d, infos, &count, why);
    if (e != ERR_OK) return e;
    uint32_t base = 0; /* the newest that is old enough; all of them when none is */
    while (base < count && infos[base].time.ms > cutoff) base++;
    bool any = false;
    int64_t last = 0;
    for (uint32_t i = count; e == ERR_OK && i-- > SNAPSHOTS_ALWAYS;) {
        if (i <= base && (!any || infos[i].time.ms - last >= step)) {
            any = true;
            last = infos[i].time.ms;
        } else {
            e = snapfile_remove(d, infos[i].lsn, why);
        }
    }
    return e;
}

/* Everything up to ret_lsn may go: the oldest snapshot has it. 0 = nothing may. */
static enum err base_find(struct disk *d, uint64_t *ret_lsn, struct why *why) {
    struct snapshot_info infos[JOURNAL_SNAPSHOTS_MAX], info;
    uint32_t count = 0;
    enum err e = infos_load(d, infos, &count, why);
    if (e == ERR_OK && count < SNAPSHOTS_ALWAYS) count = 0; /* one snapshot alone has nothing to fall back to */
    if (e == ERR_OK && count > 0) e = snapfile_read(d, infos[count - 1].lsn, &info, NULL, why);
    if (e == ERR_OK) *ret_lsn = count > 0 ? info.lsn : 0;
    return e;
}

/* ---- segments past their time ---- */

static uint32_t next_used(const struct segment_table *t, uint32_t row) {
    for (row++; row < t->rows.count && !segment_at(t, row)->used; row++) {}
    return row;
}

/* Durable before the next one goes: names may reach the disk in any order. */
static enum err both_remove(struct disk *d, const struct segment *g, struct why *why) {
    char name[SEGMENT_NAME_MAX];
    segment_file_name(name, g);
    enum err e = d->ops->remove(d, name, why);
    segment_packed_name(name, g->number);
    if (e == ERR_OK && g->twin) e = d->ops->remove(d, name, why);
    return e == ERR_OK ? d->ops->sync_dir(d, SEGMENT_ARCHIVE, why) : e;
}

/* Oldest first, so that what is left is always without a gap. */
static enum err expire(struct disk *d, const struct segment_table *t, int64_t cutoff, struct archive_report *r,
                       struct why *why) {
    uint64_t base = 0;
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct segment *g = segment_at(t, i);
        uint32_t k = next_used(t, i);
        if (!g->used) continue;
        if (!g->archived || k == t->rows.count) break;
        /* The header of the next one tells the last record of this one, and its time. */
        const struct segment_header *next = &segment_at(t, k)->header;
        if (next->time.ms > cutoff) break;
        enum err e = base == 0 ? base_find(d, &base, why) : ERR_OK;
        if (e != ERR_OK) return e;
        if (next->first_lsn > base + 1 || base == 0) break;
        e = both_remove(d, g, why);
        if (e != ERR_OK) return e;
        r->removed_count++;
    }
    return ERR_OK;
}

/* ---- packing ---- */

static void tmp_name(char to[SEGMENT_NAME_MAX], uint64_t number) {
    int len = snprintf(to, SEGMENT_NAME_MAX, "%s/%016llx.tmp", SEGMENT_ARCHIVE, (unsigned long long)number);
    ENSURE(len > 0 && (unsigned)len < SEGMENT_NAME_MAX);
}

/* The chain of one segment in one of its forms, up to what `next` continues from. */
static enum err form_walk(struct disk *d, const struct segment *g, const struct segment *next, bool packed,
                          struct chain *ret, struct why *why) {
    struct segment_table pair;
    struct scan scan;
    segment_table_init(&pair);
    scan_init(&scan, d);
    struct segment *row = vec_push(&pair.rows);
    *row = (struct segment){.number = g->number, .bytes = g->bytes, .archived = true, .packed = packed};
    enum err e = segment_load(row, d, why);
    *(struct segment *)vec_push(&pair.rows) = *next;
    if (e == ERR_OK && !segment_at(&pair, 0)->used) e = why_set(why, ERR_CORRUPT, "no header");
    if (e == ERR_OK) e = chain_segment(&scan, &pair, 0, ret, why);
    scan_fini(&scan);
    segment_table_fini(&pair);
    return e;
}

/* Each block names the CRC of the one before it, so equal ends are equal chains. */
static bool chains_equal(const struct chain *a, const struct chain *b) {
    return a->crc == b->crc && a->next_lsn == b->next_lsn && a->offset == b->offset && a->epoch == b->epoch &&
           a->time.ms == b->time.ms && a->last_offset == b->last_offset;
}

/* Is the packed form, as a later reader will find it, the same chain? ERR_CORRUPT when not. */
static enum err packed_check(struct disk *d, const struct segment *g, const struct segment *next,
                             const struct chain *plain, struct why *why) {
    struct chain packed;
    enum err e = form_walk(d, g, next, true, &packed, why);
    if (e == ERR_OK && !chains_equal(plain, &packed))
        e = why_set(why, ERR_CORRUPT, "segment %llx: packed, it is not the same any more",
                    (unsigned long long)g->number);
    return e;
}

static enum err packed_put(struct disk *d, const struct segment *g, const struct chain *end, struct why *why) {
    char from[SEGMENT_NAME_MAX], tmp[SEGMENT_NAME_MAX], to[SEGMENT_NAME_MAX];
    segment_name(from, g->number, true);
    segment_packed_name(to, g->number);
    tmp_name(tmp, g->number);
    struct packed_head head = {.segment = g->header,
                               .used_bytes = end->offset,
                               .next_lsn = end->next_lsn,
                               .last_crc = end->crc};
    (void)d->ops->remove(d, tmp, NULL); /* of a run that was interrupted */
    enum err e = packed_make(d, from, tmp, &head, why);
    if (e == ERR_OK) e = d->ops->rename(d, tmp, to, why);
    if (e == ERR_OK) e = d->ops->sync_dir(d, SEGMENT_ARCHIVE, why);
    else (void)d->ops->remove(d, tmp, NULL); /* gives the space back; failing that, the next run does */
    return e;
}

static enum err bytes_of(struct disk *d, uint64_t number, uint64_t *ret, struct why *why) {
    char name[SEGMENT_NAME_MAX];
    disk_file f;
    segment_packed_name(name, number);
    enum err e = d->ops->open(d, name, DISK_READ, &f, why);
    if (e != ERR_OK) return e;
    e = d->ops->size(d, f, ret, why);
    d->ops->close(d, f);
    return e;
}

static enum err pack(struct disk *d, const struct segment *g, const struct segment *next, struct archive_report *r,
                     struct why *why) {
    REQUIRE(g->archived && !g->packed && g->used && next->used);
    char plain[SEGMENT_NAME_MAX], packed[SEGMENT_NAME_MAX];
    segment_name(plain, g->number, true);
    segment_packed_name(packed, g->number);
    struct chain end;
    enum err e = form_walk(d, g, next, false, &end, why);
    if (e != ERR_OK) return e;
    bool have = false;
    if (g->twin) { /* a run was interrupted after the name; whether the name is durable nobody knows */
        e = d->ops->sync_dir(d, SEGMENT_ARCHIVE, why);
        if (e == ERR_OK) e = packed_check(d, g, next, &end, why);
        have = e == ERR_OK;
        if (e == ERR_CORRUPT) e = d->ops->remove(d, packed, why); /* the plain one is whole: pack it again */
    }
    if (e == ERR_OK && !have) {
        e = packed_put(d, g, &end, why);
        if (e == ERR_OK) e = packed_check(d, g, next, &end, why);
    }
    uint64_t bytes = 0;
    if (e == ERR_OK) e = bytes_of(d, g->number, &bytes, why);
    if (e == ERR_OK) e = d->ops->remove(d, plain, why);
    if (e != ERR_OK) return why_wrap(why, e, "packing %s", plain);
    r->packed_count++;
    r->plain_bytes += end.offset;
    r->packed_bytes += bytes;
    return ERR_OK;
}

static enum err pack_all(struct disk *d, const struct segment_table *t, struct archive_report *r, struct why *why) {
    enum err first = ERR_OK;
    for (uint32_t i = 0; i < t->rows.count; i++) {
        const struct segment *g = segment_at(t, i);
        uint32_t k = next_used(t, i);
        if (!g->used || !g->archived || g->packed || k == t->rows.count) continue;
        struct why mine = {{0}};
        enum err e = pack(d, g, segment_at(t, k), r, &mine);
        if (e == ERR_OK) continue;
        if (first == ERR_OK && why != NULL) *why = mine;
        if (first == ERR_OK) first = e;
        if (e != ERR_CORRUPT) break; /* the disk refuses; damage concerns one segment only */
    }
    return first;
}

/* ---- all of it ---- */

static void tmp_add(void *ctx, const char *name, uint64_t bytes) {
    struct vec *names = ctx;
    (void)bytes;
    size_t len = strlen(name);
    if (len + sizeof SEGMENT_ARCHIVE + 1 > SEGMENT_NAME_MAX || len < 4 || strcmp(name + len - 4, ".tmp") != 0) return;
    (void)snprintf(vec_push(names), SEGMENT_NAME_MAX, "%s/%s", SEGMENT_ARCHIVE, name);
}

static enum err sweep(struct disk *d, struct why *why) {
    struct vec names;
    vec_init(&names, SEGMENT_NAME_MAX);
    enum err e = d->ops->list(d, SEGMENT_ARCHIVE, tmp_add, &names, why);
    for (uint32_t i = 0; e == ERR_OK && i < names.count; i++) e = d->ops->remove(d, vec_at(&names, i), why);
    vec_fini(&names);
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

enum err archive_run(struct disk *d, uint32_t days, wall_time now, struct archive_report *ret, struct why *why) {
    struct segment_table t;
    struct archive_report r = {0};
    segment_table_init(&t);
    enum err e = sweep(d, why);
    if (e == ERR_OK) e = segment_table_load(&t, d, true, why);
    if (e == ERR_OK) e = expire(d, &t, cutoff_ms(days, now), &r, why);
    if (e == ERR_OK && r.removed_count > 0) e = segment_table_load(&t, d, true, why);
    if (e == ERR_OK) e = pack_all(d, &t, &r, why);
    segment_table_fini(&t);
    *ret = r;
    return e;
}
