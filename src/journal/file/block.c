/* block.c: see block.h. Guarantees: every field goes through buf or cursor, little-endian; decoding never reads
 * outside its slice and accepts nothing that the CRC does not cover. Must not: touch a disk or allocate. */
#include "block.h"

#include <string.h>

#include "hash.h"
#include "panic.h"

static const char segment_magic[8] = {'R', 'E', 'E', 'V', 'E', 'S', 'E', 'G'};
#define BLOCK_MAGIC 0x4b4c4256u /* "VBLK" */
#define CRC_BYTES 4u

void block_header_encode(const struct segment_header *h, struct buf *out) {
    REQUIRE(h->number > 0);
    REQUIRE(h->first_lsn > 0);
    REQUIRE(h->bytes % BLOCK_ALIGN == 0);
    size_t start = out->len;
    buf_put(out, segment_magic, sizeof segment_magic);
    buf_put_u32(out, JOURNAL_FORMAT);
    buf_put_u32(out, h->shard);
    buf_put_u64(out, h->number);
    buf_put_u64(out, h->nonce);
    buf_put_u64(out, h->first_lsn);
    buf_put_u64(out, h->epoch);
    buf_put_u64(out, h->bytes);
    buf_put_u64(out, (uint64_t)h->time.ms);
    buf_put_u32(out, h->prev_crc);
    buf_put_u32(out, 0);
    buf_put_u32(out, 0);
    ENSURE(!out->full);
    buf_put_u32(out, crc32c(0, out->at + start, out->len - start));
    ENSURE(out->len - start == SEGMENT_HEADER_BYTES);
}

bool block_header_decode(struct slice bytes, struct segment_header *ret, uint32_t *ret_format) {
    if (bytes.len < SEGMENT_HEADER_BYTES) return false;
    struct cursor c = cursor_of(slice_of(bytes.ptr, SEGMENT_HEADER_BYTES));
    struct slice magic = cursor_bytes(&c, sizeof segment_magic);
    if (memcmp(magic.ptr, segment_magic, sizeof segment_magic) != 0) return false;
    struct segment_header h = {0};
    uint32_t format = cursor_u32(&c);
    h.shard = cursor_u32(&c);
    h.number = cursor_u64(&c);
    h.nonce = cursor_u64(&c);
    h.first_lsn = cursor_u64(&c);
    h.epoch = cursor_u64(&c);
    h.bytes = cursor_u64(&c);
    h.time.ms = (int64_t)cursor_u64(&c);
    h.prev_crc = cursor_u32(&c);
    (void)cursor_u32(&c);
    (void)cursor_u32(&c);
    uint32_t crc = cursor_u32(&c);
    ENSURE(!c.bad && cursor_left(&c) == 0);
    if (crc != crc32c(0, bytes.ptr, SEGMENT_HEADER_BYTES - CRC_BYTES)) return false;
    if (h.number == 0 || h.first_lsn == 0 || h.bytes % BLOCK_ALIGN != 0) return false;
    *ret = h;
    *ret_format = format;
    return true;
}

/* Binds the CRC to one life of one file and to one place in it. */
static uint32_t seed_of(uint64_t nonce, uint64_t offset) {
    uint8_t bytes[16];
    for (uint32_t i = 0; i < 8; i++) bytes[i] = (uint8_t)(nonce >> (8 * i));
    for (uint32_t i = 0; i < 8; i++) bytes[8 + i] = (uint8_t)(offset >> (8 * i));
    return crc32c(0, bytes, sizeof bytes);
}

uint32_t block_encode(const struct block *b, uint64_t offset, struct buf *out) {
    const struct batch *t = &b->batch;
    uint64_t total = block_total(t->records.len);
    REQUIRE(offset % BLOCK_ALIGN == 0 && offset >= BLOCK_FIRST_OFFSET);
    REQUIRE(total <= UINT32_MAX);
    REQUIRE(t->first_lsn > 0);
    REQUIRE(b->kind == BLOCK_BATCH ? t->last_lsn >= t->first_lsn : t->last_lsn + 1 == t->first_lsn);
    REQUIRE(b->kind == BLOCK_BATCH || t->records.len == 0);
    size_t start = out->len;
    buf_put_u32(out, BLOCK_MAGIC);
    buf_put_u16(out, JOURNAL_FORMAT);
    buf_put_u16(out, (uint16_t)b->kind);
    buf_put_u32(out, (uint32_t)total);
    buf_put_u32(out, (uint32_t)t->records.len);
    buf_put_u64(out, t->first_lsn);
    buf_put_u64(out, t->last_lsn);
    buf_put_u64(out, t->epoch);
    buf_put_u32(out, t->shard);
    buf_put_u32(out, t->rules);
    buf_put_u64(out, (uint64_t)t->time.ms);
    buf_put_u64(out, t->seed);
    buf_put_u64(out, b->nonce);
    buf_put_u32(out, b->prev_crc);
    ENSURE(!out->full);
    uint32_t crc = crc32c(seed_of(b->nonce, offset), out->at + start, out->len - start);
    crc = crc32c(crc, t->records.ptr, t->records.len);
    buf_put_u32(out, crc);
    ENSURE(out->len - start == BLOCK_HEADER_BYTES);
    buf_put_slice(out, t->records);
    size_t padding = (size_t)total - (out->len - start);
    uint8_t *zeroes = buf_space(out, padding);
    ENSURE(padding == 0 || zeroes != NULL);
    if (padding > 0) memset(zeroes, 0, padding);
    ENSURE(!out->full && out->len - start == total);
    return crc;
}

bool block_peek(struct slice header, uint64_t room, struct block *ret) {
    if (header.len < BLOCK_HEADER_BYTES) return false;
    struct cursor c = cursor_of(slice_of(header.ptr, BLOCK_HEADER_BYTES));
    if (cursor_u32(&c) != BLOCK_MAGIC) return false;
    struct block b = {0};
    b.format = cursor_u16(&c);
    b.kind = cursor_u16(&c);
    b.total_bytes = cursor_u32(&c);
    b.batch.records.len = cursor_u32(&c);
    b.batch.first_lsn = cursor_u64(&c);
    b.batch.last_lsn = cursor_u64(&c);
    b.batch.epoch = cursor_u64(&c);
    b.batch.shard = cursor_u32(&c);
    b.batch.rules = cursor_u32(&c);
    b.batch.time.ms = (int64_t)cursor_u64(&c);
    b.batch.seed = cursor_u64(&c);
    b.nonce = cursor_u64(&c);
    b.prev_crc = cursor_u32(&c);
    b.crc = cursor_u32(&c);
    ENSURE(!c.bad && cursor_left(&c) == 0);
    if (b.total_bytes != block_total(b.batch.records.len) || b.total_bytes > room) return false;
    *ret = b;
    return true;
}

bool block_verify(struct block *b, uint64_t offset, struct slice bytes) {
    REQUIRE(bytes.len >= b->total_bytes);
    REQUIRE(b->total_bytes >= BLOCK_HEADER_BYTES + b->batch.records.len);
    uint32_t crc = crc32c(seed_of(b->nonce, offset), bytes.ptr, BLOCK_HEADER_BYTES - CRC_BYTES);
    crc = crc32c(crc, bytes.ptr + BLOCK_HEADER_BYTES, b->batch.records.len);
    if (crc != b->crc) return false;
    b->batch.records.ptr = bytes.ptr + BLOCK_HEADER_BYTES;
    return true;
}
