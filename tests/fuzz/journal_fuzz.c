/* journal_fuzz.c: any bytes as the files of a journal: recovery never crashes, never hands out a batch twice or out of
 * order, and what it accepts once it accepts again.
 *
 * Input: a byte n (files), then for each a 16-bit length in blocks of 64 bytes; the rest is dealt out in order. The
 * first file is segment 1, then 2, …; the last one is also offered as a snapshot. A fuzzer does not guess CRCs, so if
 * bit 7 of n is set the CRCs of headers and blocks are put right first: then the fields behind them are reached. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "file.h"
#include "hash.h"
#include "panic.h"
#include "segment.h"
#include "simdisk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define FILE_BYTES (16u * 1024u)

static wall_time wall(struct clock *c) {
    (void)c;
    return (wall_time){1};
}
static mono_time mono(struct clock *c) {
    (void)c;
    return (mono_time){1};
}
static uint64_t random64(struct clock *c) {
    (void)c;
    return 42;
}

static void put_u32(uint8_t *at, uint32_t v) {
    for (uint32_t i = 0; i < 4; i++) at[i] = (uint8_t)(v >> (8 * i));
}

static void put_right(uint8_t *file) {
    put_u32(file + SEGMENT_HEADER_BYTES - 4, crc32c(0, file, SEGMENT_HEADER_BYTES - 4));
    uint32_t prev = 0;
    memcpy(&prev, file + 64, 4);
    for (uint64_t o = BLOCK_FIRST_OFFSET; o < FILE_BYTES;) {
        struct block b;
        memcpy(file + o + 64, file + 24, 8); /* the nonce of the header */
        put_u32(file + o + 72, prev);
        if (!block_peek(slice_of(file + o, FILE_BYTES - o), FILE_BYTES - o, &b)) break;
        uint8_t seed[16];
        memcpy(seed, file + 24, 8);
        for (uint32_t i = 0; i < 8; i++) seed[8 + i] = (uint8_t)(o >> (8 * i));
        uint32_t crc = crc32c(crc32c(0, seed, 16), file + o, 76);
        prev = crc32c(crc, file + o + BLOCK_HEADER_BYTES, b.batch.records.len);
        put_u32(file + o + 76, prev);
        o += b.total_bytes;
    }
}

static enum err batch_in(void *ctx, const struct batch *b, struct why *why) {
    uint64_t *last = ctx;
    (void)why;
    ENSURE(b->last_lsn >= b->first_lsn);
    ENSURE(*last == 0 || b->first_lsn == *last + 1);
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < b->records.len; i++) sum = (uint8_t)(sum + b->records.ptr[i]);
    *last = b->last_lsn;
    return ERR_OK;
}

static enum err start(struct disk *d, struct clock *c, bool read_only, uint64_t *ret_lsn) {
    struct file_options o = {.segment_bytes = FILE_BYTES, .archive_days = 1};
    struct journal *j;
    struct why why;
    struct journal_head head = {0};
    struct snapshot_info info;
    enum err e = read_only ? file_reader(d, &j, &why) : file_open(d, c, &o, &j, &why);
    if (e != ERR_OK) return e;
    e = j->ops->snapshot_get(j, 0, &info, NULL, &why);
    *ret_lsn = 0;
    if (e == ERR_OK) e = j->ops->read(j, info.lsn + 1, UINT64_MAX, batch_in, ret_lsn, &why);
    if (e == ERR_OK && !read_only) e = j->ops->acquire(j, 0, &head, &why);
    j->ops->close(j);
    return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    struct simdisk *s = simdisk_new(1);
    struct clock clock = {wall, mono, random64, NULL};
    uint32_t n = len > 0 ? data[0] % 4 + 1 : 1;
    bool right = len > 0 && data[0] & 0x80;
    size_t at = 1;
    for (uint32_t i = 0; i < n && at + 2 <= len; i++) {
        size_t bytes = ((size_t)data[at] | (size_t)data[at + 1] << 8) * 64;
        at += 2;
        if (bytes > len - at) bytes = len - at;
        uint8_t file[FILE_BYTES] = {0};
        memcpy(file, data + at, bytes < FILE_BYTES ? bytes : FILE_BYTES);
        if (right) put_right(file);
        char name[SEGMENT_NAME_MAX];
        segment_name(name, i + 1, false);
        simdisk_put(s, name, file, FILE_BYTES);
        if (i + 1 == n) simdisk_put(s, "journal/snap-0000000000000001", data + at, bytes);
        at += bytes;
    }
    uint64_t one = 0, two = 0, three = 0;
    enum err a = start(simdisk_disk(s), &clock, true, &one);
    enum err b = start(simdisk_disk(s), &clock, false, &two);
    simdisk_crash(s, SIMDISK_DROP_ALL);
    if (a == ERR_OK && b == ERR_OK) {
        ENSURE(one == two);
        enum err c = start(simdisk_disk(s), &clock, false, &three);
        ENSURE(c == ERR_OK && three == two);
    }
    simdisk_free(s);
    return 0;
}
