/* packed.c: see packed.h. Guarantees: memory is bounded by two frames and what zstd needs for a window of one; bytes
 * that come out are the bytes that went in, or the reading is refused. Must not: rename, remove, or judge blocks. */
#include "packed.h"

#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "arena.h"
#include "diskio.h"
#include "hash.h"
#include "panic.h"

#define PACKED_FORMAT 1u
#define LEVEL 3
#define WINDOW_LOG 20 /* one frame: whatever asks for more is not ours */
#define INPUT_BYTES (64u * 1024u)
#define SKIPPABLE_MAGIC 0x184d2a50u /* of zstd: a reader passes over such a frame by its length */
#define SKIPPABLE_HEADER_BYTES 8u
#define NAME_BYTES 48u
static const char magic[8] = {'R', 'E', 'E', 'V', 'E', 'Z', 'S', 'T'};

static enum err damaged(struct why *why, const char *name, uint64_t offset, const char *reason) {
    return why_set(why, ERR_CORRUPT, "%s: damaged at byte %llu: %s", name, (unsigned long long)offset, reason);
}

/* ---- the head ---- */

static void head_encode(const struct packed_head *h, struct buf *out) {
    size_t start = out->len;
    buf_put_u32(out, SKIPPABLE_MAGIC);
    buf_put_u32(out, PACKED_HEAD_BYTES - SKIPPABLE_HEADER_BYTES);
    buf_put(out, magic, sizeof magic);
    buf_put_u32(out, PACKED_FORMAT);
    buf_put_u32(out, PACKED_FRAME_BYTES);
    block_header_encode(&h->segment, out);
    buf_put_u64(out, h->used_bytes);
    buf_put_u64(out, h->next_lsn);
    buf_put_u32(out, h->last_crc);
    ENSURE(!out->full);
    buf_put_u32(out, crc32c(0, out->at + start, out->len - start));
    ENSURE(out->len - start == PACKED_HEAD_BYTES);
}

static enum err head_decode(struct slice bytes, const char *name, struct packed_head *ret, struct why *why) {
    struct packed_head h;
    struct cursor c = cursor_of(bytes);
    uint32_t skip = cursor_u32(&c);
    uint32_t skip_bytes = cursor_u32(&c);
    struct slice word = cursor_bytes(&c, sizeof magic);
    uint32_t format = cursor_u32(&c);
    uint32_t frame_bytes = cursor_u32(&c);
    struct slice header = cursor_bytes(&c, SEGMENT_HEADER_BYTES);
    h.used_bytes = cursor_u64(&c);
    h.next_lsn = cursor_u64(&c);
    h.last_crc = cursor_u32(&c);
    uint32_t crc = cursor_u32(&c);
    if (c.bad) return damaged(why, name, bytes.len, "the file was cut there");
    ENSURE(cursor_left(&c) == 0);
    if (memcmp(word.ptr, magic, sizeof magic) != 0) return damaged(why, name, 0, "not a packed segment");
    if (crc != crc32c(0, bytes.ptr, PACKED_HEAD_BYTES - 4)) return damaged(why, name, 0, "its head is unreadable");
    uint32_t segment_format = 0;
    if (format != PACKED_FORMAT || frame_bytes != PACKED_FRAME_BYTES)
        return why_set(why, ERR_UNSUPPORTED, "%s: packed in format %u, this program knows %u", name, format,
                       PACKED_FORMAT);
    bool good = block_header_decode(header, &h.segment, &segment_format);
    if (good && segment_format != JOURNAL_FORMAT)
        return why_set(why, ERR_UNSUPPORTED, "%s: written in format %u, this program knows %u", name, segment_format,
                       JOURNAL_FORMAT);
    good = good && skip == SKIPPABLE_MAGIC && skip_bytes == PACKED_HEAD_BYTES - SKIPPABLE_HEADER_BYTES;
    good = good && h.used_bytes >= BLOCK_FIRST_OFFSET && h.used_bytes % BLOCK_ALIGN == 0;
    good = good && h.used_bytes <= h.segment.bytes && h.next_lsn >= h.segment.first_lsn;
    if (!good) return damaged(why, name, 0, "its head makes no sense");
    *ret = h;
    return ERR_OK;
}

static enum err head_read(struct disk *d, disk_file f, const char *name, struct packed_head *ret, struct why *why) {
    uint8_t bytes[PACKED_HEAD_BYTES];
    size_t have = 0;
    enum err e = diskio_read(d, f, 0, bytes, sizeof bytes, &have, why);
    if (e != ERR_OK) return why_wrap(why, e, "%s", name);
    return head_decode(slice_of(bytes, have), name, ret, why);
}

enum err packed_head_load(struct disk *d, const char *name, struct packed_head *ret, struct why *why) {
    disk_file f;
    enum err e = d->ops->open(d, name, DISK_READ, &f, why);
    if (e != ERR_OK) return e;
    e = head_read(d, f, name, ret, why);
    d->ops->close(d, f);
    return e;
}

/* ---- writing ---- */

struct packing {
    struct disk *disk;
    disk_file from, to;
    uint64_t offset; /* in `to` */
    ZSTD_CCtx *zstd;
    struct buf frame, out;
};

/* One frame: `len` bytes of the segment from `start` on. */
static enum err frame_put(struct packing *k, uint64_t start, size_t len, struct why *why) {
    buf_clear(&k->frame);
    buf_clear(&k->out);
    uint8_t *bytes = buf_space(&k->frame, len), *to = buf_space(&k->out, ZSTD_compressBound(len));
    ENSURE(bytes != NULL && to != NULL);
    size_t have = 0;
    enum err e = diskio_read(k->disk, k->from, start, bytes, len, &have, why);
    if (e != ERR_OK) return e;
    if (have < len) return why_set(why, ERR_CORRUPT, "it ends at byte %llu", (unsigned long long)(start + have));
    ZSTD_inBuffer in = {bytes, len, 0};
    ZSTD_outBuffer out = {to, k->out.len, 0};
    ENSURE(!ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(k->zstd, len)));
    size_t left = ZSTD_compressStream2(k->zstd, &out, &in, ZSTD_e_end);
    ENSURE(left == 0 && in.pos == len); /* `out` has room for the worst case */
    e = diskio_write(k->disk, k->to, k->offset, to, out.pos, why);
    k->offset += out.pos;
    return e;
}

static enum err frames_put(struct packing *k, const struct packed_head *h, struct why *why) {
    buf_clear(&k->out);
    head_encode(h, &k->out);
    enum err e = diskio_write(k->disk, k->to, 0, k->out.at, k->out.len, why);
    k->offset = k->out.len;
    for (uint64_t at = 0; e == ERR_OK && at < h->used_bytes; at += PACKED_FRAME_BYTES) {
        uint64_t left = h->used_bytes - at;
        e = frame_put(k, at, left < PACKED_FRAME_BYTES ? (size_t)left : PACKED_FRAME_BYTES, why);
    }
    if (e == ERR_OK) e = k->disk->ops->sync(k->disk, k->to, why);
    return e;
}

enum err packed_make(struct disk *d, const char *from, const char *to, const struct packed_head *h, struct why *why) {
    REQUIRE(h->used_bytes >= BLOCK_FIRST_OFFSET && h->used_bytes % BLOCK_ALIGN == 0);
    struct packing k = {.disk = d};
    enum err e = d->ops->open(d, from, DISK_READ, &k.from, why);
    if (e != ERR_OK) return e;
    e = d->ops->open(d, to, DISK_CREATE, &k.to, why);
    if (e != ERR_OK) {
        d->ops->close(d, k.from);
        return e;
    }
    k.zstd = ZSTD_createCCtx();
    ENSURE(k.zstd != NULL);
    ENSURE(!ZSTD_isError(ZSTD_CCtx_setParameter(k.zstd, ZSTD_c_compressionLevel, LEVEL)));
    ENSURE(!ZSTD_isError(ZSTD_CCtx_setParameter(k.zstd, ZSTD_c_checksumFlag, 1)));
    ENSURE(!ZSTD_isError(ZSTD_CCtx_setParameter(k.zstd, ZSTD_c_windowLog, WINDOW_LOG)));
    buf_init(&k.frame, PACKED_FRAME_BYTES); /* both grow to the frame that is there, which may be small */
    buf_init(&k.out, ZSTD_compressBound(PACKED_FRAME_BYTES));
    e = frames_put(&k, h, why);
    buf_fini(&k.frame);
    buf_fini(&k.out);
    (void)ZSTD_freeCCtx(k.zstd);
    d->ops->close(d, k.to);
    d->ops->close(d, k.from);
    return e == ERR_OK ? e : why_wrap(why, e, "%s", e == ERR_CORRUPT ? from : to);
}

/* ---- reading ---- */

struct packed {
    struct arena birth; /* holds this object */
    struct disk *disk;
    disk_file file;
    char name[NAME_BYTES];
    struct packed_head head;
    ZSTD_DCtx *zstd;
    uint64_t file_bytes;
    uint64_t input_at;   /* where in the file the input begins */
    ZSTD_inBuffer in;    /* over `input` */
    struct buf input;
    struct buf frame;    /* the frame read last, unpacked */
    uint64_t start;      /* it holds bytes [start, start + len) of the segment */
    size_t len;
};

static void rewind_to_first(struct packed *p) {
    ENSURE(!ZSTD_isError(ZSTD_DCtx_reset(p->zstd, ZSTD_reset_session_only)));
    p->input_at = PACKED_HEAD_BYTES;
    p->in = (ZSTD_inBuffer){p->input.at, 0, 0};
    p->start = 0;
    p->len = 0;
}

enum err packed_open(struct disk *d, const char *name, struct packed **ret, struct why *why) {
    REQUIRE(strlen(name) < NAME_BYTES);
    disk_file f;
    struct packed_head head;
    uint64_t bytes = 0;
    enum err e = d->ops->open(d, name, DISK_READ, &f, why);
    if (e != ERR_OK) return e;
    e = head_read(d, f, name, &head, why);
    if (e == ERR_OK) e = d->ops->size(d, f, &bytes, why);
    if (e != ERR_OK) {
        d->ops->close(d, f);
        return e;
    }
    struct arena birth;
    arena_init(&birth, sizeof(struct packed) + 64, sizeof(struct packed) + 4096);
    struct packed *p = ARENA_NEW(&birth, struct packed);
    p->birth = birth;
    p->disk = d;
    p->file = f;
    memcpy(p->name, name, strlen(name) + 1);
    p->head = head;
    p->file_bytes = bytes;
    p->zstd = ZSTD_createDCtx();
    ENSURE(p->zstd != NULL);
    ENSURE(!ZSTD_isError(ZSTD_DCtx_setParameter(p->zstd, ZSTD_d_windowLogMax, WINDOW_LOG)));
    buf_init(&p->input, INPUT_BYTES);
    buf_init(&p->frame, PACKED_FRAME_BYTES);
    ENSURE(buf_space(&p->input, INPUT_BYTES) != NULL);
    uint64_t most = head.used_bytes < PACKED_FRAME_BYTES ? head.used_bytes : PACKED_FRAME_BYTES;
    ENSURE(buf_space(&p->frame, (size_t)most) != NULL);
    rewind_to_first(p);
    *ret = p;
    return ERR_OK;
}

void packed_close(struct packed *p) {
    p->disk->ops->close(p->disk, p->file);
    (void)ZSTD_freeDCtx(p->zstd);
    buf_fini(&p->input);
    buf_fini(&p->frame);
    struct arena birth = p->birth;
    arena_fini(&birth);
}

const struct packed_head *packed_head(const struct packed *p) {
    return &p->head;
}

static enum err input_more(struct packed *p, uint64_t frame_at, struct why *why) {
    p->input_at += p->in.pos;
    size_t have = 0;
    enum err e = diskio_read(p->disk, p->file, p->input_at, p->input.at, INPUT_BYTES, &have, why);
    p->in = (ZSTD_inBuffer){p->input.at, have, 0};
    if (e != ERR_OK) return why_wrap(why, e, "%s", p->name);
    return have > 0 ? ERR_OK : damaged(why, p->name, frame_at, "the file ends inside the frame that begins there");
}

/* Unpacks the frame after the present one. Its checksum is part of it: zstd says 0 only when that was right. */
static enum err frame_next(struct packed *p, struct why *why) {
    uint64_t start = p->start + p->len, left = p->head.used_bytes - start;
    uint64_t frame_at = p->input_at + p->in.pos;
    size_t want = left < PACKED_FRAME_BYTES ? (size_t)left : PACKED_FRAME_BYTES, more = 1;
    REQUIRE(want > 0);
    ZSTD_outBuffer out = {p->frame.at, want, 0};
    p->len = 0;
    while (more != 0) {
        enum err e = p->in.pos == p->in.size ? input_more(p, frame_at, why) : ERR_OK;
        if (e != ERR_OK) return e;
        more = ZSTD_decompressStream(p->zstd, &out, &p->in);
        if (ZSTD_isError(more)) return damaged(why, p->name, frame_at, ZSTD_getErrorName(more));
    }
    if (out.pos != want) return damaged(why, p->name, frame_at, "the frame that begins there has a wrong length");
    if (start + want == p->head.used_bytes && p->input_at + p->in.pos != p->file_bytes)
        return damaged(why, p->name, p->input_at + p->in.pos, "something follows the last frame");
    p->start = start;
    p->len = want;
    return ERR_OK;
}

enum err packed_read(struct packed *p, uint64_t offset, void *to, size_t len, size_t *ret, struct why *why) {
    size_t have = 0;
    if (offset < p->start) rewind_to_first(p);
    while (have < len && offset + have < p->head.used_bytes) {
        uint64_t at = offset + have;
        if (at >= p->start + p->len) {
            enum err e = frame_next(p, why);
            if (e != ERR_OK) {
                rewind_to_first(p); /* the same question gets the same answer */
                return e;
            }
            continue;
        }
        size_t skip = (size_t)(at - p->start), piece = p->len - skip;
        if (piece > len - have) piece = len - have;
        memcpy((uint8_t *)to + have, p->frame.at + skip, piece);
        have += piece;
    }
    *ret = have;
    return ERR_OK;
}
