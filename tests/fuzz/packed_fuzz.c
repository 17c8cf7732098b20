/* packed_fuzz.c: any bytes as a packed segment: opening, reading and verifying never crash, the same question gets the
 * same answer, and what was packed comes out as it went in.
 *
 * Input: a byte of flags, then a file. Without flags it is offered as it is. A fuzzer does not guess CRCs: with bit 0
 * those of the head, and of the segment's header in it, are put right first, so that the fields behind them are
 * reached. With bit 1 the bytes are not a packed segment but a plain one, which is packed first. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "journal_fixture.h"
#include "packed.h"
#include "panic.h"
#include "segment.h"
#include "simdisk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define RIGHT 1u
#define PLAIN 2u
#define HEADER_AT 24u /* of the segment's header in the head */
#define PLAIN_NAME "plain"
#define READ_BYTES_MAX (4u << 20) /* a head may promise any length */
#define PIECE_BYTES 70000u

static void put_crc(uint8_t *at, size_t len) {
    uint32_t crc = crc32c(0, at, len - 4);
    for (uint32_t i = 0; i < 4; i++) at[len - 4 + i] = (uint8_t)(crc >> (8 * i));
}

static void put_right(uint8_t *file, size_t len) {
    if (len < PACKED_HEAD_BYTES) return;
    put_crc(file + HEADER_AT, SEGMENT_HEADER_BYTES);
    put_crc(file, PACKED_HEAD_BYTES);
}

/* From the first byte on, in pieces; a hash of what came, and how much. */
static enum err read_all(struct packed *p, uint64_t *ret_hash, uint64_t *ret_bytes) {
    static uint8_t piece[PIECE_BYTES];
    uint64_t used = packed_head(p)->used_bytes, at = 0, hash = 0;
    enum err e = ERR_OK;
    struct why why;
    for (size_t have = 1; e == ERR_OK && have > 0 && at < READ_BYTES_MAX; at += have) {
        have = 0;
        e = packed_read(p, at, piece, sizeof piece, &have, &why);
        ENSURE(at + have <= used);
        ENSURE(e != ERR_OK || have == sizeof piece || at + have == used);
        hash = hash_mix(hash ^ crc32c(0, piece, have));
    }
    *ret_hash = hash;
    *ret_bytes = at;
    return e;
}

static void check_reading(struct disk *d, const char *name) {
    struct packed *p;
    struct packed_head head;
    struct why why;
    enum err e = packed_open(d, name, &p, &why);
    ENSURE(packed_head_load(d, name, &head, &why) == e);
    if (e != ERR_OK) return;
    ENSURE(head.used_bytes == packed_head(p)->used_bytes && head.segment.number == packed_head(p)->segment.number);
    uint64_t hash[2], bytes[2];
    e = read_all(p, &hash[0], &bytes[0]);
    ENSURE(read_all(p, &hash[1], &bytes[1]) == e); /* back at the beginning */
    ENSURE(hash[0] == hash[1] && bytes[0] == bytes[1]);
    packed_close(p);
}

/* Packed and unpacked, a segment's used part is what it was. */
static void pack(struct disk *d, const char *to, const uint8_t *bytes, size_t len) {
    struct packed_head h = {
        .segment = {.number = 1, .first_lsn = 1, .nonce = 7, .bytes = len}, .used_bytes = len, .next_lsn = 1};
    struct packed *p;
    struct why why;
    size_t have = 0;
    uint8_t *back = malloc(len);
    ENSURE(back != NULL);
    ENSURE(packed_make(d, PLAIN_NAME, to, &h, &why) == ERR_OK);
    ENSURE(packed_open(d, to, &p, &why) == ERR_OK);
    ENSURE(packed_read(p, 0, back, len, &have, &why) == ERR_OK);
    ENSURE(have == len && memcmp(back, bytes, len) == 0);
    packed_close(p);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    if (len == 0) return 0;
    struct simdisk *s = simdisk_new(1);
    struct disk *d = simdisk_disk(s);
    struct journal_report report;
    struct why why;
    char name[SEGMENT_NAME_MAX];
    segment_packed_name(name, 1);
    size_t padded = (len - 1 + 2 * BLOCK_ALIGN) / BLOCK_ALIGN * BLOCK_ALIGN;
    uint8_t *file = calloc(1, padded);
    ENSURE(file != NULL);
    memcpy(file, data + 1, len - 1);
    if (data[0] & PLAIN) {
        ENSURE(d->ops->mkdir(d, SEGMENT_ARCHIVE, &why) == ERR_OK);
        simdisk_put(s, PLAIN_NAME, file, padded);
        pack(d, name, file, padded);
    } else {
        if (data[0] & RIGHT) put_right(file, len - 1);
        simdisk_put(s, name, file, len - 1);
    }
    check_reading(d, name);
    (void)!journal_fixture_verify(d, &report, &why);
    free(file);
    simdisk_free(s);
    return 0;
}
