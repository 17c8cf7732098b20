/* pack_fuzz.c: any bytes as the files of blobs and logs: opening never crashes, never hands out a blob that has another
 * hash; what was accepted once is accepted again, after a crash too.
 *
 * Input: a byte (bit 0: blobs or logs; bit 7: put checksums right; bits 1 to 3: files, less one), then for each file a
 * 16-bit length in units of 8 bytes; the rest is dealt out in order. A fuzzer does not guess CRCs, so with bit 7 the
 * header's, and those of all blocks that begin on an 8-byte boundary where one is expected, are put right first. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "blob_log_store.h"
#include "hash.h"
#include "limit.h"
#include "osdigest.h"
#include "panic.h"
#include "simdisk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define FILE_BYTES (64u * 1024u)

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

static uint32_t seeded(const uint8_t *nonce, uint64_t offset, const void *ptr, size_t len) {
    uint8_t seed[16];
    memcpy(seed, nonce, 8);
    for (uint32_t i = 0; i < 8; i++) seed[8 + i] = (uint8_t)(offset >> (8 * i));
    return crc32c(crc32c(0, seed, sizeof seed), ptr, len);
}

/* Header, blocks one after the other or on the next 4 KiB, and a trailer if the file ends with one. */
static void put_right(uint8_t *file, size_t bytes, uint32_t number) {
    if (bytes < PACK_ALIGN) return;
    put_u32(file + 16, number);
    put_u32(file + 20, 0);
    put_u32(file + PACK_HEADER_BYTES - 4, crc32c(0, file, PACK_HEADER_BYTES - 4));
    const uint8_t *nonce = file + 24;
    for (size_t o = PACK_ALIGN; o + PACK_BLOCK_HEADER_BYTES <= bytes;) {
        struct pack_block b;
        memcpy(file + o + 16, nonce, 8);
        if (!packfmt_block_peek(slice_of(file + o, bytes - o), bytes - o, &b)) {
            o = (size_t)pack_align(o + 1, PACK_ALIGN);
            continue;
        }
        uint32_t crc = seeded(nonce, o, file + o, PACK_BLOCK_HEADER_BYTES - 4);
        put_u32(file + o + PACK_BLOCK_HEADER_BYTES - 4,
                crc32c(crc, file + o + PACK_BLOCK_HEADER_BYTES, b.stored_bytes));
        o = (size_t)pack_block_end(o, &b);
    }
    size_t end = bytes - PACK_TRAILER_BYTES;
    memcpy(file + end + 8, nonce, 8);
    put_u32(file + bytes - 4, seeded(nonce, end, file + end, PACK_TRAILER_BYTES - 4));
}

struct found {
    struct blob_log_store *v;
    struct pack_reader *r;
    uint64_t count, right;
};

static void blob_found(void *ctx, const blob_hash *hash, uint64_t bytes) {
    struct found *f = ctx;
    struct why why;
    (void)bytes;
    f->count++;
    f->right += blobs_verify(f->v->blobs, f->r, SLICE("acme"), hash, &why) == ERR_OK;
}

static void piece_found(void *ctx, uint64_t offset, const struct log_piece *p) {
    struct found *f = ctx;
    ENSURE(p->bytes.len > 0);
    f->count += offset + p->bytes.ptr[0];
}

static bool log_found(void *ctx, const struct log_key *key) {
    struct found *f = ctx;
    struct why why;
    uint64_t next = 0;
    f->right += joblogs_read(f->v->logs, f->r, key, 0, 1 << 20, piece_found, f, &next, &why) == ERR_OK;
    return true;
}

static enum err look(struct disk *d, uint64_t *ret_sum) {
    struct clock clock = {wall, mono, random64, NULL};
    struct limits limits;
    struct blob_log_store v;
    struct why why;
    struct pack_reader r;
    uint32_t cursor = 0;
    limits_default(&limits);
    limits.vault_reserve_bytes = 0;
    enum err e = blob_log_store_open(&v, d, &clock, osdigest(), &limits, false, &why);
    if (e != ERR_OK) return e;
    struct found f = {.v = &v, .r = &r};
    blobs_reader_init(v.blobs, &r);
    (void)blobs_list(v.blobs, SLICE("acme"), NULL, 1000, blob_found, &f);
    pack_reader_fini(&r);
    joblogs_reader_init(v.logs, &r);
    while (!joblogs_sweep(v.logs, &cursor, 100, log_found, &f)) {
    }
    pack_reader_fini(&r);
    *ret_sum = f.count * 1000003 + f.right;
    blob_log_store_close(&v);
    return ERR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    struct simdisk *s = simdisk_new(1);
    struct why why;
    uint8_t first = len > 0 ? data[0] : 0;
    uint32_t n = (uint32_t)(first >> 1 & 3) + 1;
    size_t at = 1;
    ENSURE(simdisk_disk(s)->ops->mkdir(simdisk_disk(s), "blobs", &why) == ERR_OK);
    ENSURE(simdisk_disk(s)->ops->mkdir(simdisk_disk(s), "logs", &why) == ERR_OK);
    for (uint32_t i = 0; i < n && at + 2 <= len; i++) {
        static uint8_t file[FILE_BYTES];
        size_t bytes = ((size_t)data[at] | (size_t)data[at + 1] << 8) * 8;
        at += 2;
        if (bytes > len - at) bytes = len - at;
        if (bytes > FILE_BYTES) bytes = FILE_BYTES;
        memcpy(file, data + at, bytes);
        if (first & 0x80) put_right(file, bytes, i + 1);
        char name[PACKIO_NAME_MAX];
        packio_name(name, first & 1 ? "logs" : "blobs", i + 1, false);
        simdisk_put(s, name, file, bytes);
        at += bytes;
    }
    uint64_t one = 0, two = 0;
    enum err a = look(simdisk_disk(s), &one);
    simdisk_crash(s, SIMDISK_DROP_ALL);
    enum err b = look(simdisk_disk(s), &two);
    ENSURE(a != ERR_OK || b == ERR_OK);
    ENSURE(a != ERR_OK || one == two);
    simdisk_free(s);
    return 0;
}
