/* segment.c: see segment.h. Guarantees: a .seg name is durable only for a file whose size and zeroes were synced
 * before. Must not: change a file that holds blocks of its own number. */
#include "segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diskio.h"
#include "packed.h"
#include "panic.h"

#define LOAD_TRIES 8u

void segment_name(char to[SEGMENT_NAME_MAX], uint64_t number, bool archived) {
    int len = snprintf(to, SEGMENT_NAME_MAX, "%s/%016llx.seg", archived ? SEGMENT_ARCHIVE : SEGMENT_DIR,
                       (unsigned long long)number);
    ENSURE(len > 0 && (unsigned)len < SEGMENT_NAME_MAX);
}

void segment_packed_name(char to[SEGMENT_NAME_MAX], uint64_t number) {
    int len = snprintf(to, SEGMENT_NAME_MAX, "%s/%016llx.seg.zst", SEGMENT_ARCHIVE, (unsigned long long)number);
    ENSURE(len > 0 && (unsigned)len < SEGMENT_NAME_MAX);
}

void segment_file_name(char to[SEGMENT_NAME_MAX], const struct segment *g) {
    if (g->packed) segment_packed_name(to, g->number);
    else segment_name(to, g->number, g->archived);
}

static void new_name(char to[SEGMENT_NAME_MAX], uint64_t number) {
    int len = snprintf(to, SEGMENT_NAME_MAX, "%s/%016llx.new", SEGMENT_DIR, (unsigned long long)number);
    ENSURE(len > 0 && (unsigned)len < SEGMENT_NAME_MAX);
}

/* ---- the table ---- */

void segment_table_init(struct segment_table *t) {
    vec_init(&t->rows, sizeof(struct segment));
}

void segment_table_fini(struct segment_table *t) {
    vec_fini(&t->rows);
}

static bool number_of(const char *name, bool *ret_packed, uint64_t *ret) {
    uint64_t v = 0;
    for (uint32_t i = 0; i < 16; i++) {
        char c = name[i];
        if (c >= '0' && c <= '9') v = v << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f') v = v << 4 | (uint64_t)(c - 'a' + 10);
        else return false;
    }
    *ret_packed = strcmp(name + 16, ".seg.zst") == 0;
    if (!*ret_packed && strcmp(name + 16, ".seg") != 0) return false;
    *ret = v;
    return v > 0;
}

struct listing {
    struct segment_table *table;
    bool archived;
};

static void row_add(void *ctx, const char *name, uint64_t bytes) {
    struct listing *l = ctx;
    uint64_t number;
    bool packed = false;
    if (!number_of(name, &packed, &number)) return;
    if (packed && !l->archived) return;
    for (uint32_t i = 0; i < l->table->rows.count; i++) {
        struct segment *row = segment_at(l->table, i);
        if (row->number != number) continue;
        /* The live one, listed first, is the best one; then the plain one, from which the packed one is made. */
        if (row->packed) *row = (struct segment){.number = number, .bytes = bytes, .archived = true, .twin = true};
        else if (packed && row->archived) row->twin = true;
        return;
    }
    struct segment *row = vec_push(&l->table->rows);
    *row = (struct segment){.number = number, .bytes = bytes, .archived = l->archived, .packed = packed};
}

static int by_number(const void *a, const void *b) {
    const struct segment *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static enum err packed_row_load(struct segment *row, struct disk *d, struct why *why) {
    char name[SEGMENT_NAME_MAX];
    struct packed_head head;
    segment_packed_name(name, row->number);
    enum err e = packed_head_load(d, name, &head, why);
    if (e != ERR_OK) return e;
    if (head.segment.number != row->number)
        return why_set(why, ERR_CORRUPT, "%s: damaged at byte 0: it is segment %llx under a wrong name", name,
                       (unsigned long long)head.segment.number);
    row->header = head.segment;
    row->bytes = head.used_bytes;
    row->used = true;
    return ERR_OK;
}

enum err segment_load(struct segment *row, struct disk *d, struct why *why) {
    if (row->packed) return packed_row_load(row, d, why);
    char name[SEGMENT_NAME_MAX];
    segment_name(name, row->number, row->archived);
    disk_file f;
    enum err e = d->ops->open(d, name, DISK_READ, &f, why);
    if (e != ERR_OK) return e;
    uint8_t bytes[SEGMENT_HEADER_BYTES];
    size_t have = 0;
    e = diskio_read(d, f, 0, bytes, sizeof bytes, &have, why);
    d->ops->close(d, f);
    if (e != ERR_OK) return why_wrap(why, e, "%s", name);
    /* A segment has its full size before it has its name: a shorter one was cut by something that is not a crash. */
    if (row->bytes < 2 * BLOCK_ALIGN || row->bytes % BLOCK_ALIGN != 0)
        return why_set(why, ERR_CORRUPT, "%s: damaged at byte %llu: the file was cut there", name,
                       (unsigned long long)row->bytes);
    uint32_t format = 0;
    if (!block_header_decode(slice_of(bytes, have), &row->header, &format)) return ERR_OK;
    if (format != JOURNAL_FORMAT)
        return why_set(why, ERR_UNSUPPORTED, "%s: written in format %u, this program knows %u", name, format,
                       JOURNAL_FORMAT);
    if (row->header.number > row->number)
        return why_set(why, ERR_CORRUPT, "%s: damaged at byte 0: it is segment %llx under a wrong name", name,
                       (unsigned long long)row->header.number);
    row->recycled = row->header.number < row->number;
    row->used = !row->recycled;
    if (row->used && row->bytes != row->header.bytes)
        return why_set(why, ERR_CORRUPT, "%s: damaged at byte %llu: the file was made %llu bytes long", name,
                       (unsigned long long)row->bytes, (unsigned long long)row->header.bytes);
    return ERR_OK;
}

static enum err table_try(struct segment_table *t, struct disk *d, bool with_archive, struct why *why) {
    t->rows.count = 0;
    struct listing l = {t, false};
    enum err e = d->ops->list(d, SEGMENT_DIR, row_add, &l, why);
    if (e == ERR_NOT_FOUND) e = ERR_OK; /* nothing was ever written */
    if (e != ERR_OK) return e;
    if (with_archive) {
        l.archived = true;
        e = d->ops->list(d, SEGMENT_ARCHIVE, row_add, &l, why);
        if (e != ERR_OK && e != ERR_NOT_FOUND) return e;
    }
    if (t->rows.count > 0) qsort(t->rows.at, t->rows.count, sizeof(struct segment), by_number);
    for (uint32_t i = 0; i < t->rows.count; i++) {
        e = segment_load(segment_at(t, i), d, why);
        if (e != ERR_OK) return e;
    }
    return ERR_OK;
}

enum err segment_table_load(struct segment_table *t, struct disk *d, bool with_archive, struct why *why) {
    enum err e = ERR_NOT_FOUND;
    /* A name that is gone was moved, packed or removed by another process since it was listed: look again. */
    for (uint32_t tries = 0; e == ERR_NOT_FOUND && tries < LOAD_TRIES; tries++) e = table_try(t, d, with_archive, why);
    return e;
}

/* ---- making and unmaking ---- */

static enum err fill(struct disk *d, const char *name, uint64_t bytes, struct why *why) {
    disk_file f;
    enum err e = d->ops->open(d, name, DISK_CREATE, &f, why);
    if (e != ERR_OK) return e;
    e = d->ops->allocate(d, f, bytes, why);
    if (e == ERR_OK) e = d->ops->sync(d, f, why);
    d->ops->close(d, f);
    return e;
}

enum err segment_make(struct disk *d, uint64_t number, uint64_t bytes, struct why *why) {
    REQUIRE(number > 0);
    REQUIRE(bytes >= 2 * BLOCK_ALIGN && bytes % BLOCK_ALIGN == 0);
    char unborn[SEGMENT_NAME_MAX], name[SEGMENT_NAME_MAX];
    new_name(unborn, number);
    segment_name(name, number, false);
    enum err e = d->ops->mkdir(d, SEGMENT_DIR, why);
    if (e != ERR_OK) return why_wrap(why, e, "%s", SEGMENT_DIR);
    (void)d->ops->remove(d, unborn, NULL); /* of an earlier attempt, if any */
    e = fill(d, unborn, bytes, why);
    if (e == ERR_OK) e = d->ops->rename(d, unborn, name, why);
    if (e != ERR_OK) {
        (void)d->ops->remove(d, unborn, NULL); /* gives the space back; failing that, the next attempt does */
        return why_wrap(why, e, "%s", unborn);
    }
    e = d->ops->sync_dir(d, "", why);
    if (e == ERR_OK) e = d->ops->sync_dir(d, SEGMENT_DIR, why);
    return e == ERR_OK ? e : why_wrap(why, e, "%s", name);
}

enum err segment_recycle(struct disk *d, uint64_t old_number, uint64_t number, struct why *why) {
    REQUIRE(old_number < number);
    char from[SEGMENT_NAME_MAX], to[SEGMENT_NAME_MAX];
    segment_name(from, old_number, false);
    segment_name(to, number, false);
    enum err e = d->ops->rename(d, from, to, why);
    if (e == ERR_OK) e = d->ops->sync_dir(d, SEGMENT_DIR, why);
    return e;
}

enum err segment_archive(struct disk *d, uint64_t number, struct why *why) {
    char from[SEGMENT_NAME_MAX], to[SEGMENT_NAME_MAX];
    segment_name(from, number, false);
    segment_name(to, number, true);
    enum err e = d->ops->mkdir(d, SEGMENT_ARCHIVE, why);
    if (e == ERR_OK) e = d->ops->sync_dir(d, "", why);
    if (e == ERR_OK) e = d->ops->rename(d, from, to, why);
    if (e == ERR_OK) e = d->ops->sync_dir(d, SEGMENT_ARCHIVE, why);
    if (e == ERR_OK) e = d->ops->sync_dir(d, SEGMENT_DIR, why);
    return e;
}

static void unborn_add(void *ctx, const char *name, uint64_t bytes) {
    struct vec *names = ctx;
    (void)bytes;
    size_t len = strlen(name);
    if (len + sizeof SEGMENT_DIR + 1 > SEGMENT_NAME_MAX || len < 4 || strcmp(name + len - 4, ".new") != 0) return;
    (void)snprintf(vec_push(names), SEGMENT_NAME_MAX, "%s/%s", SEGMENT_DIR, name);
}

enum err segment_sweep(struct disk *d, struct why *why) {
    struct vec names;
    vec_init(&names, SEGMENT_NAME_MAX);
    enum err e = d->ops->list(d, SEGMENT_DIR, unborn_add, &names, why);
    for (uint32_t i = 0; e == ERR_OK && i < names.count; i++) e = d->ops->remove(d, vec_at(&names, i), why);
    vec_fini(&names);
    return e;
}

enum err segment_remove(struct disk *d, uint64_t number, struct why *why) {
    char name[SEGMENT_NAME_MAX];
    segment_name(name, number, false);
    enum err e = d->ops->remove(d, name, why);
    return e == ERR_OK ? d->ops->sync_dir(d, SEGMENT_DIR, why) : e;
}

enum err segment_begin(struct disk *d, const struct segment_header *h, disk_file *ret, struct why *why) {
    char name[SEGMENT_NAME_MAX];
    segment_name(name, h->number, false);
    struct buf bytes;
    buf_init(&bytes, SEGMENT_HEADER_BYTES);
    block_header_encode(h, &bytes);
    disk_file f;
    enum err e = d->ops->open(d, name, DISK_WRITE, &f, why);
    if (e == ERR_OK) {
        e = diskio_write(d, f, 0, bytes.at, bytes.len, why);
        if (e == ERR_OK) e = d->ops->sync(d, f, why);
        if (e != ERR_OK) d->ops->close(d, f);
    }
    buf_fini(&bytes);
    if (e != ERR_OK) return why_wrap(why, e, "%s", name);
    *ret = f;
    return ERR_OK;
}
