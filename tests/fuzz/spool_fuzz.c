/* spool_fuzz.c: a worker starts on a disk with anything in its files: who it is (the first byte is even), or what it
 * owes of an attempt. It starts and tells what it can read, or says why not. */
#include "clock.h"
#include "panic.h"
#include "simdisk.h"
#include "spool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t fixed_random(struct clock *c) {
    (void)c;
    return 7;
}

static void owed(void *ctx, const struct wire_attempt *attempt, const struct wire_end *end,
                 const struct spool_file *file) {
    struct spool *s = ctx;
    struct spool_file f = *file;
    struct wire_log_piece piece;
    struct why why = {{0}};
    struct buf bytes;
    ENSURE(end->attempt.flow == attempt->flow && end->attempt.attempt == attempt->attempt);
    buf_init(&bytes, (size_t)1 << 24);
    if (spool_piece(s, &f, 0, &bytes, &piece, &why) == ERR_OK) ENSURE(piece.data.len <= bytes.len);
    buf_fini(&bytes);
    spool_forget(s, attempt, &f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char self[] = "w-000001 1 0\n";
    struct clock clock = {.random = fixed_random};
    struct simdisk *disk = simdisk_new(1);
    struct disk *d = simdisk_disk(disk);
    struct spool s;
    struct why why = {{0}};
    if (size == 0) size = 1, data = (const uint8_t *)"";
    bool is_self = data[0] % 2 == 0;
    ENSURE(d->ops->mkdir(d, "spool", &why) == ERR_OK);
    simdisk_put(disk, "worker", is_self ? (const void *)(data + 1) : self, is_self ? size - 1 : sizeof self - 1);
    if (!is_self) simdisk_put(disk, "spool/0-1-0-1", data + 1, size - 1);
    enum err e = spool_open(&s, d, &clock, "host", &why);
    if (e == ERR_OK) e = spool_read(&s, owed, &s, &why);
    if (e != ERR_OK) ENSURE(why.text[0] != 0);
    simdisk_gone(disk);
    simdisk_free(disk);
    return 0;
}
