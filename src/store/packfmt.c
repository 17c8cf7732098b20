/* packfmt.c: see packfmt.h. Guarantees: what decodes was encoded for this place, or is refused; no input decides how
 * much is allocated beyond the maxima above. Must not: touch a disk. */
#include "packfmt.h"

#include <zstd.h>

#include "arena.h"
#include "hash.h"
#include "panic.h"

#define LEVEL 1
#define WORTH_BYTES 128u          /* smaller payloads do not get smaller */
#define BLOCK_MAGIC 0x4b4c4250u   /* "PBLK" */
#define TRAILER_MAGIC 0x444e4550u /* "PEND" */
static const char magic[8] = {'R', 'E', 'E', 'V', 'E', 'P', 'A', 'K'};

/* A CRC that is right in one place only. */
static uint32_t crc_of(uint64_t nonce, uint64_t offset, const void *ptr, size_t len) {
    uint8_t seed[16];
    for (uint32_t i = 0; i < 8; i++) seed[i] = (uint8_t)(nonce >> (8 * i));
    for (uint32_t i = 0; i < 8; i++) seed[8 + i] = (uint8_t)(offset >> (8 * i));
    return crc32c(crc32c(0, seed, sizeof seed), ptr, len);
}

/* ---- header and trailer ---- */

void packfmt_header_encode(const struct pack_header *h, struct buf *out) {
    size_t start = out->len;
    buf_put(out, magic, sizeof magic);
    buf_put_u32(out, PACK_FORMAT);
    buf_put_u32(out, h->kind);
    buf_put_u64(out, h->number);
    buf_put_u64(out, h->nonce);
    buf_put_u64(out, (uint64_t)h->time_ms);
    buf_put_u64(out, 0);
    buf_put_u64(out, 0);
    buf_put_u32(out, 0);
    ENSURE(!out->full);
    buf_put_u32(out, crc32c(0, out->at + start, out->len - start));
    ENSURE(out->len - start == PACK_HEADER_BYTES);
}

enum err packfmt_header_decode(struct slice bytes, struct pack_header *ret) {
    struct cursor c = cursor_of(bytes);
    struct slice word = cursor_bytes(&c, sizeof magic);
    uint32_t format = cursor_u32(&c);
    struct pack_header h = {.kind = cursor_u32(&c), .number = cursor_u64(&c), .nonce = cursor_u64(&c)};
    h.time_ms = (int64_t)cursor_u64(&c);
    (void)cursor_bytes(&c, 20);
    uint32_t crc = cursor_u32(&c);
    if (c.bad || memcmp(word.ptr, magic, sizeof magic) != 0) return ERR_CORRUPT;
    if (crc != crc32c(0, bytes.ptr, PACK_HEADER_BYTES - 4)) return ERR_CORRUPT;
    if (format != PACK_FORMAT) return ERR_UNSUPPORTED;
    *ret = h;
    return ERR_OK;
}

void packfmt_trailer_encode(uint64_t nonce, uint64_t footer_at, uint64_t trailer_at, struct buf *out) {
    size_t start = out->len;
    buf_put_u32(out, TRAILER_MAGIC);
    buf_put_u32(out, 0);
    buf_put_u64(out, nonce);
    buf_put_u64(out, footer_at);
    buf_put_u32(out, 0);
    ENSURE(!out->full);
    buf_put_u32(out, crc_of(nonce, trailer_at, out->at + start, out->len - start));
    ENSURE(out->len - start == PACK_TRAILER_BYTES);
}

bool packfmt_trailer_decode(struct slice bytes, uint64_t nonce, uint64_t trailer_at, uint64_t *ret_footer_at) {
    struct cursor c = cursor_of(bytes);
    bool good = cursor_u32(&c) == TRAILER_MAGIC;
    (void)cursor_u32(&c);
    good = cursor_u64(&c) == nonce && good;
    uint64_t footer_at = cursor_u64(&c);
    (void)cursor_u32(&c);
    uint32_t crc = cursor_u32(&c);
    if (!good || c.bad || crc != crc_of(nonce, trailer_at, bytes.ptr, PACK_TRAILER_BYTES - 4)) return false;
    if (footer_at < PACK_ALIGN || footer_at + PACK_BLOCK_HEADER_BYTES > trailer_at) return false;
    *ret_footer_at = footer_at;
    return true;
}

/* ---- blocks ---- */

struct packfmt_zstd {
    struct arena birth; /* holds this object */
    ZSTD_CCtx *in;
    ZSTD_DCtx *out;
    struct buf space;
};

struct packfmt_zstd *packfmt_zstd_new(void) {
    struct arena birth;
    arena_init(&birth, sizeof(struct packfmt_zstd) + 64, sizeof(struct packfmt_zstd) + 4096);
    struct packfmt_zstd *z = ARENA_NEW(&birth, struct packfmt_zstd);
    z->birth = birth;
    buf_init(&z->space, ZSTD_compressBound(PACK_FOOTER_RAW_MAX));
    return z;
}

void packfmt_zstd_free(struct packfmt_zstd *z) {
    (void)ZSTD_freeCCtx(z->in); /* each is made at its first use: a reader never compresses */
    (void)ZSTD_freeDCtx(z->out);
    buf_fini(&z->space);
    struct arena birth = z->birth;
    arena_fini(&birth);
}

/* The compressed payload, or the payload itself when less than a sixteenth would be won. */
static struct slice squeeze(struct packfmt_zstd *z, struct slice raw, uint32_t *ret_form) {
    *ret_form = PACK_PLAIN;
    if (raw.len < WORTH_BYTES) return raw;
    if (z->in == NULL) z->in = ZSTD_createCCtx();
    buf_clear(&z->space);
    uint8_t *to = buf_space(&z->space, ZSTD_compressBound(raw.len));
    ENSURE(z->in != NULL && to != NULL);
    size_t len = ZSTD_compressCCtx(z->in, to, z->space.len, slice_data(raw), raw.len, LEVEL);
    ENSURE(!ZSTD_isError(len));
    if (len >= raw.len - raw.len / 16) return raw;
    *ret_form = PACK_ZSTD;
    return slice_of(to, len);
}

void packfmt_block_encode(struct pack_block *b, struct slice raw, uint64_t offset, struct packfmt_zstd *z,
                          struct buf *out) {
    static const uint8_t zeroes[PACK_BLOCK_ALIGN];
    REQUIRE(offset % PACK_BLOCK_ALIGN == 0);
    REQUIRE(raw.len <= (b->kind == PACK_FOOTER ? PACK_FOOTER_RAW_MAX : PACK_BLOCK_RAW_MAX));
    struct slice stored = squeeze(z, raw, &b->form);
    b->stored_bytes = (uint32_t)stored.len;
    b->raw_bytes = (uint32_t)raw.len;
    size_t start = out->len;
    buf_put_u32(out, BLOCK_MAGIC);
    buf_put_u16(out, (uint16_t)b->kind);
    buf_put_u16(out, (uint16_t)b->form);
    buf_put_u32(out, b->stored_bytes);
    buf_put_u32(out, b->raw_bytes);
    buf_put_u64(out, b->nonce);
    buf_put_u64(out, b->flush);
    buf_put_u32(out, b->index);
    buf_put_u32(out, b->count);
    buf_put_u32(out, 0);
    ENSURE(!out->full);
    uint32_t crc = crc_of(b->nonce, offset, out->at + start, PACK_BLOCK_HEADER_BYTES - 4);
    buf_put_u32(out, crc32c(crc, stored.ptr, stored.len));
    buf_put_slice(out, stored);
    buf_put(out, zeroes, (size_t)(pack_block_end(offset, b) - offset - (out->len - start)));
    ENSURE(!out->full);
}

bool packfmt_block_peek(struct slice bytes, uint64_t room, struct pack_block *ret) {
    struct cursor c = cursor_of(bytes);
    bool good = cursor_u32(&c) == BLOCK_MAGIC;
    struct pack_block b = {.kind = cursor_u16(&c), .form = cursor_u16(&c)};
    b.stored_bytes = cursor_u32(&c);
    b.raw_bytes = cursor_u32(&c);
    b.nonce = cursor_u64(&c);
    b.flush = cursor_u64(&c);
    b.index = cursor_u32(&c);
    b.count = cursor_u32(&c);
    (void)cursor_bytes(&c, 8);
    if (!good || c.bad || (b.kind != PACK_DATA && b.kind != PACK_FOOTER)) return false;
    uint32_t most = b.kind == PACK_FOOTER ? PACK_FOOTER_RAW_MAX : PACK_BLOCK_RAW_MAX;
    if (b.form > PACK_ZSTD || b.raw_bytes > most || b.stored_bytes > b.raw_bytes) return false;
    if (b.form == PACK_PLAIN && b.stored_bytes != b.raw_bytes) return false;
    if (room < PACK_BLOCK_HEADER_BYTES || b.stored_bytes > room - PACK_BLOCK_HEADER_BYTES) return false;
    *ret = b;
    return true;
}

bool packfmt_block_verify(const struct pack_block *b, uint64_t offset, struct slice bytes) {
    if (bytes.len < PACK_BLOCK_HEADER_BYTES + (size_t)b->stored_bytes) return false;
    struct cursor c = cursor_of(slice_of(bytes.ptr + PACK_BLOCK_HEADER_BYTES - 4, 4));
    uint32_t crc = crc_of(b->nonce, offset, bytes.ptr, PACK_BLOCK_HEADER_BYTES - 4);
    return cursor_u32(&c) == crc32c(crc, bytes.ptr + PACK_BLOCK_HEADER_BYTES, b->stored_bytes);
}

bool packfmt_block_expand(const struct pack_block *b, struct slice bytes, struct packfmt_zstd *z, struct buf *out) {
    REQUIRE(bytes.len >= PACK_BLOCK_HEADER_BYTES + (size_t)b->stored_bytes);
    struct slice stored = slice_of(bytes.ptr + PACK_BLOCK_HEADER_BYTES, b->stored_bytes);
    buf_clear(out);
    if (b->form == PACK_PLAIN) {
        buf_put_slice(out, stored);
        ENSURE(!out->full);
        return true;
    }
    uint8_t *to = buf_space(out, b->raw_bytes);
    ENSURE(to != NULL || b->raw_bytes == 0);
    if (z->out == NULL) z->out = ZSTD_createDCtx();
    ENSURE(z->out != NULL);
    size_t len = ZSTD_decompressDCtx(z->out, to, b->raw_bytes, slice_data(stored), stored.len);
    return !ZSTD_isError(len) && len == b->raw_bytes;
}

/* ---- entries ---- */

void packfmt_entry_encode(uint32_t kind, struct slice head, struct slice body, struct buf *out, uint32_t *ret_at) {
    REQUIRE(head.len <= PACK_HEAD_MAX);
    REQUIRE(body.len <= PACK_BODY_MAX);
    buf_put_varint(out, kind);
    buf_put_str(out, head);
    buf_put_varint(out, body.len);
    *ret_at = (uint32_t)out->len;
    buf_put_slice(out, body);
    ENSURE(!out->full);
}

bool packfmt_entry_next(struct cursor *c, struct slice payload, struct pack_entry *ret) {
    uint64_t kind = cursor_varint(c);
    struct slice head = cursor_str(c);
    struct slice body = cursor_str(c);
    if (c->bad || kind > UINT32_MAX || head.len > PACK_HEAD_MAX || body.len > PACK_BODY_MAX) return false;
    *ret = (struct pack_entry){.kind = (uint32_t)kind, .len = (uint32_t)body.len, .head = head};
    ret->at = (uint32_t)(cursor_left(&(struct cursor){payload.ptr, c->at, false}) - body.len);
    return true;
}

void packfmt_row_encode(const struct pack_entry *e, struct buf *rows) {
    buf_put_varint(rows, e->kind);
    buf_put_varint(rows, e->block);
    buf_put_varint(rows, e->at);
    buf_put_varint(rows, e->len);
    buf_put_str(rows, e->head);
}

void packfmt_footer_encode(const uint32_t *offsets, uint32_t count, struct slice rows, struct buf *out) {
    uint32_t before = 0;
    buf_put_varint(out, count);
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE(offsets[i] > before);
        buf_put_varint(out, offsets[i] - before);
        before = offsets[i];
    }
    buf_put_slice(out, rows);
    ENSURE(!out->full);
}

static bool row_next(struct cursor *c, uint32_t block_count, struct pack_entry *ret) {
    uint64_t kind = cursor_varint(c), block = cursor_varint(c), at = cursor_varint(c), len = cursor_varint(c);
    struct slice head = cursor_str(c);
    if (c->bad || kind > UINT32_MAX || block >= block_count || head.len > PACK_HEAD_MAX) return false;
    if (at > PACK_BLOCK_RAW_MAX || len > PACK_BODY_MAX || at + len > PACK_BLOCK_RAW_MAX) return false;
    *ret = (struct pack_entry){(uint32_t)kind, (uint32_t)block, (uint32_t)at, (uint32_t)len, head};
    return true;
}

bool packfmt_footer_decode(struct slice payload, uint64_t footer_at, struct u32vec *ret, packfmt_row_fn each,
                           void *ctx) {
    struct cursor c = cursor_of(payload);
    uint64_t count = cursor_varint(&c), at = 0;
    if (c.bad || count > cursor_left(&c)) return false; /* a byte each, at least */
    for (uint64_t i = 0; i < count; i++) {
        uint64_t step = cursor_varint(&c);
        if (c.bad || step == 0 || step > UINT32_MAX) return false;
        at += step;
        if (at < PACK_ALIGN / PACK_BLOCK_ALIGN || at * PACK_BLOCK_ALIGN >= footer_at || at > UINT32_MAX) return false;
        u32vec_push(ret, (uint32_t)at);
    }
    while (cursor_left(&c) > 0) {
        struct pack_entry e;
        if (!row_next(&c, (uint32_t)count, &e)) return false;
        each(ctx, &e);
    }
    return true;
}

uint64_t packfmt_end_encode(const struct pack_block *b, uint64_t at, const struct u32vec *offsets, struct slice rows,
                            struct packfmt_zstd *z, struct buf *out) {
    struct buf payload;
    struct pack_block footer = *b;
    footer.kind = PACK_FOOTER;
    buf_init(&payload, PACK_FOOTER_RAW_MAX);
    packfmt_footer_encode(offsets->at, offsets->count, rows, &payload);
    packfmt_block_encode(&footer, buf_slice(&payload), at, z, out);
    buf_fini(&payload);
    uint64_t end = pack_block_end(at, &footer);
    packfmt_trailer_encode(b->nonce, at, end, out);
    return end + PACK_TRAILER_BYTES;
}
