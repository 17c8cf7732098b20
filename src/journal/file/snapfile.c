/* snapfile.c: see snapfile.h. Guarantees: a snapshot that reads without error is byte for byte what was pushed. Must
 * not: replace or remove the newest whole snapshot before another one is durable. */
#include "snapfile.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "diskio.h"
#include "hash.h"
#include "panic.h"
#include "segment.h"

#define SNAPFILE_FORMAT 1u
#define HEADER_BYTES 64u
#define FRAME_BYTES 8u
#define TRAILER_BYTES 24u
#define NAME_MAX_BYTES 48u
static const char magic[8] = {'R', 'E', 'E', 'V', 'E', 'S', 'N', 'P'};

struct snapfile_writer {
    struct arena birth; /* holds this object */
    struct disk *disk;
    disk_file file;
    uint64_t lsn;
    uint64_t offset;
    uint64_t total_bytes;
    uint32_t total_crc;
    uint32_t block_count;
    struct buf block; /* payload of the block being filled */
    struct buf frame;
};

static void name_of(char to[NAME_MAX_BYTES], uint64_t lsn, const char *suffix) {
    int len = snprintf(to, NAME_MAX_BYTES, "%s/snap-%016llx%s", SEGMENT_DIR, (unsigned long long)lsn, suffix);
    ENSURE(len > 0 && (unsigned)len < NAME_MAX_BYTES);
}

/* Binds a block to its snapshot and its place in it. */
static uint32_t block_crc(uint64_t lsn, uint32_t index, struct slice bytes) {
    uint8_t seed[12];
    for (uint32_t i = 0; i < 8; i++) seed[i] = (uint8_t)(lsn >> (8 * i));
    for (uint32_t i = 0; i < 4; i++) seed[8 + i] = (uint8_t)(index >> (8 * i));
    return crc32c(crc32c(0, seed, sizeof seed), bytes.ptr, bytes.len);
}

/* ---- writing ---- */

static enum err put(struct snapfile_writer *w, struct slice bytes, struct why *why) {
    enum err e = diskio_write(w->disk, w->file, w->offset, bytes.ptr, bytes.len, why);
    if (e == ERR_OK) w->offset += bytes.len;
    return e;
}

static enum err put_block(struct snapfile_writer *w, struct why *why) {
    struct slice bytes = buf_slice(&w->block);
    REQUIRE(bytes.len > 0 && bytes.len <= SNAPFILE_BLOCK_BYTES);
    buf_clear(&w->frame);
    buf_put_u32(&w->frame, (uint32_t)bytes.len);
    buf_put_u32(&w->frame, block_crc(w->lsn, w->block_count, bytes));
    buf_put_slice(&w->frame, bytes);
    ENSURE(!w->frame.full);
    w->block_count++;
    w->total_bytes += bytes.len;
    w->total_crc = crc32c(w->total_crc, bytes.ptr, bytes.len);
    buf_clear(&w->block);
    return put(w, buf_slice(&w->frame), why);
}

static void header_encode(uint32_t shard, const struct snapshot_info *info, struct buf *out) {
    size_t start = out->len;
    buf_put(out, magic, sizeof magic);
    buf_put_u32(out, SNAPFILE_FORMAT);
    buf_put_u32(out, shard);
    buf_put_u64(out, info->lsn);
    buf_put_u64(out, info->epoch);
    buf_put_u64(out, (uint64_t)info->time.ms);
    buf_put_u32(out, SNAPFILE_BLOCK_BYTES);
    buf_put_u64(out, 0);
    buf_put_u64(out, 0);
    ENSURE(!out->full);
    buf_put_u32(out, crc32c(0, out->at + start, out->len - start));
    ENSURE(out->len - start == HEADER_BYTES);
}

enum err snapfile_begin(struct disk *d, uint32_t shard, const struct snapshot_info *info, struct snapfile_writer **ret,
                        struct why *why) {
    REQUIRE(info->lsn > 0);
    char name[NAME_MAX_BYTES];
    name_of(name, info->lsn, ".tmp");
    enum err e = d->ops->mkdir(d, SEGMENT_DIR, why);
    if (e != ERR_OK) return e;
    (void)d->ops->remove(d, name, NULL); /* of a writer that crashed */
    disk_file f;
    e = d->ops->open(d, name, DISK_CREATE, &f, why);
    if (e != ERR_OK) return e;
    struct arena birth;
    arena_init(&birth, sizeof(struct snapfile_writer) + 64, sizeof(struct snapfile_writer) + 4096);
    struct snapfile_writer *w = ARENA_NEW(&birth, struct snapfile_writer);
    w->birth = birth;
    w->disk = d;
    w->file = f;
    w->lsn = info->lsn;
    buf_init(&w->block, SNAPFILE_BLOCK_BYTES);
    buf_init(&w->frame, SNAPFILE_BLOCK_BYTES + FRAME_BYTES);
    header_encode(shard, info, &w->frame);
    e = put(w, buf_slice(&w->frame), why);
    if (e != ERR_OK) {
        snapfile_abandon(w);
        return why_wrap(why, e, "%s", name);
    }
    *ret = w;
    return ERR_OK;
}

enum err snapfile_push(struct snapfile_writer *w, struct slice bytes, struct why *why) {
    while (bytes.len > 0) {
        size_t room = SNAPFILE_BLOCK_BYTES - w->block.len;
        size_t len = bytes.len < room ? bytes.len : room;
        buf_put(&w->block, bytes.ptr, len);
        bytes = slice_of(bytes.ptr + len, bytes.len - len);
        if (w->block.len < SNAPFILE_BLOCK_BYTES) continue;
        enum err e = put_block(w, why);
        if (e != ERR_OK) return e;
    }
    return ERR_OK;
}

static void writer_free(struct snapfile_writer *w) {
    buf_fini(&w->block);
    buf_fini(&w->frame);
    struct arena birth = w->birth;
    arena_fini(&birth);
}

void snapfile_abandon(struct snapfile_writer *w) {
    char name[NAME_MAX_BYTES];
    name_of(name, w->lsn, ".tmp");
    w->disk->ops->close(w->disk, w->file);
    (void)w->disk->ops->remove(w->disk, name, NULL);
    writer_free(w);
}

static enum err put_trailer(struct snapfile_writer *w, struct why *why) {
    buf_clear(&w->frame);
    buf_put_u32(&w->frame, 0);
    buf_put_u64(&w->frame, w->total_bytes);
    buf_put_u32(&w->frame, w->block_count);
    buf_put_u32(&w->frame, w->total_crc);
    buf_put_u32(&w->frame, crc32c(0, w->frame.at, w->frame.len));
    ENSURE(w->frame.len == TRAILER_BYTES);
    return put(w, buf_slice(&w->frame), why);
}

enum err snapfile_commit(struct snapfile_writer *w, struct why *why) {
    struct disk *d = w->disk;
    char unborn[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
    name_of(unborn, w->lsn, ".tmp");
    name_of(name, w->lsn, "");
    enum err e = w->block.len > 0 ? put_block(w, why) : ERR_OK;
    if (e == ERR_OK) e = put_trailer(w, why);
    if (e == ERR_OK) e = d->ops->sync(d, w->file, why);
    if (e == ERR_OK) e = d->ops->rename(d, unborn, name, why);
    if (e != ERR_OK) {
        snapfile_abandon(w);
        return why_wrap(why, e, "%s", unborn);
    }
    d->ops->close(d, w->file);
    writer_free(w);
    return d->ops->sync_dir(d, SEGMENT_DIR, why);
}

/* ---- reading ---- */

struct snapfile_reader {
    struct disk *disk;
    disk_file file;
    uint64_t offset;
    uint64_t total_bytes;
    uint32_t total_crc;
    uint32_t block_count;
    const char *name;
    struct buf block;
};

static enum err damaged(const struct snapfile_reader *r, struct why *why) {
    return why_set(why, ERR_CORRUPT, "%s: damaged at byte %llu", r->name, (unsigned long long)r->offset);
}

static enum err take(struct snapfile_reader *r, void *to, size_t len, struct why *why) {
    size_t have = 0;
    enum err e = diskio_read(r->disk, r->file, r->offset, to, len, &have, why);
    if (e != ERR_OK) return why_wrap(why, e, "%s", r->name);
    if (have < len) return damaged(r, why);
    return ERR_OK;
}

static enum err header_read(struct snapfile_reader *r, uint64_t lsn, struct snapshot_info *ret, struct why *why) {
    uint8_t bytes[HEADER_BYTES];
    enum err e = take(r, bytes, sizeof bytes, why);
    if (e != ERR_OK) return e;
    struct cursor c = cursor_of(slice_of(bytes, sizeof bytes));
    struct slice word = cursor_bytes(&c, sizeof magic);
    uint32_t format = cursor_u32(&c);
    (void)cursor_u32(&c); /* shard: the core checks it */
    struct snapshot_info info = {0};
    info.lsn = cursor_u64(&c);
    info.epoch = cursor_u64(&c);
    info.time.ms = (int64_t)cursor_u64(&c);
    uint32_t block_bytes = cursor_u32(&c);
    if (memcmp(word.ptr, magic, sizeof magic) != 0) return damaged(r, why);
    struct cursor end = cursor_of(slice_of(bytes + HEADER_BYTES - 4, 4));
    if (cursor_u32(&end) != crc32c(0, bytes, HEADER_BYTES - 4)) return damaged(r, why);
    if (format != SNAPFILE_FORMAT || block_bytes > SNAPFILE_BLOCK_BYTES)
        return why_set(why, ERR_UNSUPPORTED, "%s: written in format %u", r->name, format);
    if (info.lsn != lsn) return damaged(r, why);
    r->offset += HEADER_BYTES;
    *ret = info;
    return ERR_OK;
}

static enum err trailer_read(struct snapfile_reader *r, struct why *why) {
    uint8_t bytes[TRAILER_BYTES];
    enum err e = take(r, bytes, sizeof bytes, why);
    if (e != ERR_OK) return e;
    struct cursor c = cursor_of(slice_of(bytes, sizeof bytes));
    bool good = cursor_u32(&c) == 0;
    good = cursor_u64(&c) == r->total_bytes && good;
    good = cursor_u32(&c) == r->block_count && good;
    good = cursor_u32(&c) == r->total_crc && good;
    good = cursor_u32(&c) == crc32c(0, bytes, TRAILER_BYTES - 4) && good;
    uint64_t size = 0;
    e = r->disk->ops->size(r->disk, r->file, &size, why);
    if (e != ERR_OK) return e;
    return good && size == r->offset + TRAILER_BYTES ? ERR_OK : damaged(r, why);
}

/* Reads one block; ret_end = true at the trailer. */
static enum err block_read(struct snapfile_reader *r, uint64_t lsn, struct byte_sink *to, bool *ret_end,
                           struct why *why) {
    uint8_t frame[FRAME_BYTES];
    enum err e = take(r, frame, sizeof frame, why);
    if (e != ERR_OK) return e;
    struct cursor c = cursor_of(slice_of(frame, sizeof frame));
    uint32_t len = cursor_u32(&c);
    uint32_t crc = cursor_u32(&c);
    *ret_end = len == 0;
    if (len == 0) return trailer_read(r, why);
    if (len > SNAPFILE_BLOCK_BYTES) return damaged(r, why);
    r->offset += FRAME_BYTES;
    buf_clear(&r->block);
    uint8_t *bytes = buf_space(&r->block, len);
    ENSURE(bytes != NULL);
    e = take(r, bytes, len, why);
    if (e != ERR_OK) return e;
    if (crc != block_crc(lsn, r->block_count, slice_of(bytes, len))) return damaged(r, why);
    r->offset += len;
    r->block_count++;
    r->total_bytes += len;
    r->total_crc = crc32c(r->total_crc, bytes, len);
    return to != NULL ? to->more(to, bytes, len, why) : ERR_OK;
}

enum err snapfile_read(struct disk *d, uint64_t lsn, struct snapshot_info *ret, struct byte_sink *to, struct why *why) {
    char name[NAME_MAX_BYTES];
    name_of(name, lsn, "");
    struct snapfile_reader r = {.disk = d, .name = name};
    enum err e = d->ops->open(d, name, DISK_READ, &r.file, why);
    if (e != ERR_OK) return e;
    buf_init(&r.block, SNAPFILE_BLOCK_BYTES);
    struct snapshot_info info = {0};
    e = header_read(&r, lsn, &info, why);
    for (bool end = false; e == ERR_OK && !end;) e = block_read(&r, lsn, to, &end, why);
    buf_fini(&r.block);
    d->ops->close(d, r.file);
    if (e == ERR_OK) *ret = info;
    return e;
}

enum err snapfile_info(struct disk *d, uint64_t lsn, struct snapshot_info *ret, struct why *why) {
    char name[NAME_MAX_BYTES];
    name_of(name, lsn, "");
    struct snapfile_reader r = {.disk = d, .name = name};
    enum err e = d->ops->open(d, name, DISK_READ, &r.file, why);
    if (e != ERR_OK) return e;
    e = header_read(&r, lsn, ret, why);
    d->ops->close(d, r.file);
    return e;
}

enum err snapfile_remove(struct disk *d, uint64_t lsn, struct why *why) {
    char name[NAME_MAX_BYTES];
    name_of(name, lsn, "");
    enum err e = d->ops->remove(d, name, why);
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

/* ---- names ---- */

struct snapfile_names {
    struct snapshot_list list;
    struct vec leftovers; /* uint64_t: .tmp files */
    struct vec surplus;   /* uint64_t: beyond JOURNAL_SNAPSHOTS_MAX, oldest */
};

static void name_add(void *ctx, const char *name, uint64_t bytes) {
    struct snapfile_names *n = ctx;
    (void)bytes;
    unsigned long long v = 0;
    int used = 0;
    if (sscanf(name, "snap-%16llx%n", &v, &used) != 1 || used != 21) return;
    if (strcmp(name + used, ".tmp") == 0) *(uint64_t *)vec_push(&n->leftovers) = v;
    if (name[used] != 0) return;
    struct snapshot_list *l = &n->list;
    uint32_t at = 0;
    while (at < l->count && l->lsn[at] > v) at++;
    if (l->count == JOURNAL_SNAPSHOTS_MAX) {
        *(uint64_t *)vec_push(&n->surplus) = at < l->count ? l->lsn[l->count - 1] : v;
        if (at == l->count) return;
        l->count--;
    }
    memmove(l->lsn + at + 1, l->lsn + at, (l->count - at) * sizeof l->lsn[0]);
    l->lsn[at] = v;
    l->count++;
    ENSURE(l->count <= JOURNAL_SNAPSHOTS_MAX);
}

static enum err names_load(struct disk *d, struct snapfile_names *n, struct why *why) {
    n->list.count = 0;
    vec_init(&n->leftovers, sizeof(uint64_t));
    vec_init(&n->surplus, sizeof(uint64_t));
    enum err e = d->ops->list(d, SEGMENT_DIR, name_add, n, why);
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

static void names_fini(struct snapfile_names *n) {
    vec_fini(&n->leftovers);
    vec_fini(&n->surplus);
}

enum err snapfile_list_load(struct disk *d, struct snapshot_list *ret, struct why *why) {
    struct snapfile_names n;
    enum err e = names_load(d, &n, why);
    if (e == ERR_OK) *ret = n.list;
    names_fini(&n);
    return e;
}

enum err snapfile_prune(struct disk *d, uint32_t keep, struct why *why) {
    REQUIRE(keep >= 1);
    struct snapfile_names n;
    enum err e = names_load(d, &n, why);
    for (uint32_t i = 0; e == ERR_OK && i < n.surplus.count; i++)
        e = snapfile_remove(d, *(uint64_t *)vec_at(&n.surplus, i), why);
    for (uint32_t i = keep; e == ERR_OK && i < n.list.count; i++) e = snapfile_remove(d, n.list.lsn[i], why);
    names_fini(&n);
    return e;
}

enum err snapfile_sweep(struct disk *d, struct why *why) {
    struct snapfile_names n;
    char name[NAME_MAX_BYTES];
    enum err e = names_load(d, &n, why);
    for (uint32_t i = 0; e == ERR_OK && i < n.leftovers.count; i++) {
        name_of(name, *(uint64_t *)vec_at(&n.leftovers, i), ".tmp");
        e = d->ops->remove(d, name, why);
    }
    names_fini(&n);
    return e;
}
