/* journal_test.c: journals written by earlier versions decode for ever to the same batches.
 *
 * tests/golden/journal-v1/ holds the files of a small journal (two segments, a torn tail cut by a new owner, a seal, a
 * snapshot) and `expected.txt`, one line per batch. To make the folder of a new format version:
 *
 *     golden_journal_test --make tests/golden/journal-vN
 *     golden_journal_test --make tests/golden/journal-vN-packed     the same, trimmed and its archive packed
 *
 * which refuses to touch a folder that exists: what was once written never changes. */
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "archive.h"
#include "block.h"
#include "buf.h"
#include "hash.h"
#include "journal_fixture.h"
#include "simdisk.h"

#define SEGMENT (32u * 1024u)
static const char *const versions[] = {"tests/golden/journal-v1", "tests/golden/journal-v1-packed"};

static enum err batch_line(void *ctx, const struct batch *b, struct why *why) {
    (void)why;
    buf_printf(ctx, "%llu..%llu epoch %llu shard %u rules %u time %lld seed %016llx bytes %zu crc %08x\n",
               (unsigned long long)b->first_lsn, (unsigned long long)b->last_lsn, (unsigned long long)b->epoch,
               b->shard, b->rules, (long long)b->time.ms, (unsigned long long)b->seed, b->records.len,
               crc32c(0, b->records.ptr, b->records.len));
    return ERR_OK;
}

struct crc_sink {
    struct byte_sink sink;
    uint32_t crc;
    size_t len;
};
static enum err snapshot_piece(struct byte_sink *s, const void *from, size_t len, struct why *why) {
    struct crc_sink *k = (struct crc_sink *)s;
    (void)why;
    k->crc = crc32c(k->crc, from, len);
    k->len += len;
    return ERR_OK;
}

/* Everything a reader can learn from the files, as text. */
static void describe(struct simdisk *s, struct buf *out) {
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    enum err e = file_reader(l.disk, &l.journal, &l.why);
    if (e == ERR_OK) e = l.journal->ops->read(l.journal, 1, UINT64_MAX, batch_line, out, &l.why);
    struct snapshot_info info = {0};
    struct crc_sink k = {.sink = {snapshot_piece}};
    if (e == ERR_OK) e = l.journal->ops->snapshot_get(l.journal, 0, &info, &k.sink, &l.why);
    if (e != ERR_OK) buf_printf(out, "%s: %s\n", err_word(e), l.why.text);
    buf_printf(out, "snapshot %llu epoch %llu time %lld bytes %zu crc %08x\n", (unsigned long long)info.lsn,
               (unsigned long long)info.epoch, (long long)info.time.ms, k.len, k.crc);
    journal_fixture_stop(&l);
}

static void load_folder(struct simdisk *s, const char *path, const char *prefix) {
    DIR *dir = opendir(path);
    if (dir == NULL) return;
    for (struct dirent *row = readdir(dir); row != NULL; row = readdir(dir)) {
        char full[512], name[96];
        struct stat st;
        snprintf(full, sizeof full, "%s/%s", path, row->d_name);
        if (stat(full, &st) != 0 || !S_ISREG(st.st_mode)) continue;
        FILE *f = fopen(full, "rb");
        uint8_t *bytes = malloc((size_t)st.st_size + 1);
        assert_non_null(f);
        assert_non_null(bytes);
        assert_int_equal(fread(bytes, 1, (size_t)st.st_size, f), st.st_size);
        fclose(f);
        snprintf(name, sizeof name, "%s/%.80s", prefix, row->d_name);
        simdisk_put(s, name, bytes, (size_t)st.st_size);
        free(bytes);
    }
    closedir(dir);
}

static void old_journals_decode_for_ever(void **state) {
    (void)state;
    for (uint32_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        char path[256], want[8192];
        struct simdisk *s = simdisk_new(0);
        snprintf(path, sizeof path, "%s/journal", versions[i]);
        load_folder(s, path, "journal");
        snprintf(path, sizeof path, "%s/archive", versions[i]);
        load_folder(s, path, "archive");
        snprintf(path, sizeof path, "%s/expected.txt", versions[i]);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        size_t len = fread(want, 1, sizeof want - 1, f);
        fclose(f);
        want[len] = 0;
        struct buf got;
        buf_init(&got, sizeof want);
        describe(s, &got);
        buf_put_u8(&got, 0);
        assert_string_equal((const char *)got.at, want);
        buf_fini(&got);
        /* and a new owner can take it over */
        struct journal_fixture l;
        journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        journal_fixture_append_ok(&l, 1, 100);
        journal_fixture_stop(&l);
        simdisk_free(s);
    }
}

/* What this version writes is what the first one wrote: decoded and encoded again, blocks are the same bytes. */
static void the_bytes_have_not_changed(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(0);
    load_folder(s, "tests/golden/journal-v1/journal", "journal");
    uint64_t bytes;
    uint32_t format;
    const uint8_t *at = simdisk_peek(s, "journal/0000000000000001.seg", &bytes);
    struct segment_header h;
    struct buf out;
    buf_init(&out, 1u << 20);
    assert_true(block_header_decode(slice_of(at, bytes), &h, &format));
    block_header_encode(&h, &out);
    assert_memory_equal(out.at, at, SEGMENT_HEADER_BYTES);
    struct block b;
    uint32_t count = 0;
    for (uint64_t o = BLOCK_FIRST_OFFSET; block_peek(slice_of(at + o, bytes - o), bytes - o, &b); count++) {
        if (!block_verify(&b, o, slice_of(at + o, bytes - o))) break; /* the torn tail */
        buf_clear(&out);
        assert_int_equal(block_encode(&b, o, &out), b.crc);
        assert_memory_equal(out.at, at + o, b.total_bytes);
        o += b.total_bytes;
        if (o >= bytes) break;
    }
    assert_true(count >= 4);
    buf_fini(&out);
    simdisk_free(s);
}

/* ---- making a golden folder ---- */

static void save(const char *path, const void *bytes, size_t len) {
    FILE *f = fopen(path, "wbx");
    ENSURE(f != NULL);
    ENSURE(fwrite(bytes, 1, len, f) == len);
    ENSURE(fclose(f) == 0);
}

struct saving {
    struct simdisk *sim;
    const char *path;
    const char *folder;
};

static void save_file(void *ctx, const char *name, uint64_t bytes) {
    struct saving *k = ctx;
    char inside[96], outside[512];
    snprintf(inside, sizeof inside, "%s/%s", k->folder, name);
    snprintf(outside, sizeof outside, "%s/%s/%s", k->path, k->folder, name);
    const uint8_t *at = simdisk_peek(k->sim, inside, &bytes);
    save(outside, at, bytes);
}

static int make(const char *path) {
    char name[512];
    snprintf(name, sizeof name, "%s/journal", path);
    if (mkdir(path, 0755) != 0 || mkdir(name, 0755) != 0) {
        fprintf(stderr, "%s exists: golden files are never overwritten\n", path);
        return 2;
    }
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    ENSURE(journal_fixture_start(&l) == ERR_OK);
    for (uint32_t i = 0; i < 5; i++) journal_fixture_append_ok(&l, 1 + i % 3, 100 + i * 1500);
    ENSURE(l.journal->ops->seal(l.journal, &l.why) == ERR_OK);
    ENSURE(journal_fixture_snapshot(&l, 3, 70000) == ERR_OK);
    simdisk_arm(s, SIMDISK_SYNC, SIMDISK_POWER, 0);
    ENSURE(journal_fixture_append(&l, 1, 3000) == JOURNAL_FAILED);
    journal_fixture_stop(&l);
    uint64_t mask = 0x15; /* a torn tail */
    simdisk_crash_mask(s, &mask);
    l.clock.ms += 12345;
    ENSURE(journal_fixture_start(&l) == ERR_OK);
    for (uint32_t i = 0; i < 3; i++) journal_fixture_append_ok(&l, 2, i * 4016);
    struct disk *d = simdisk_disk(s);
    if (strstr(path, "-packed") != NULL) {
        struct archive_report r;
        ENSURE(journal_fixture_snapshot(&l, l.head.lsn, 3000) == ERR_OK);
        ENSURE(l.journal->ops->trim(l.journal, 0, &l.why) == ERR_OK);
        ENSURE(archive_run(d, 30, (wall_time){l.clock.ms}, &r, &l.why) == ERR_OK && r.packed_count > 0);
        snprintf(name, sizeof name, "%s/archive", path);
        ENSURE(mkdir(name, 0755) == 0);
        struct saving k = {s, path, "archive"};
        ENSURE(d->ops->list(d, "archive", save_file, &k, &l.why) == ERR_OK);
    }
    journal_fixture_stop(&l);
    simdisk_kill(s);
    struct saving k = {s, path, "journal"};
    ENSURE(d->ops->list(d, "journal", save_file, &k, &l.why) == ERR_OK);
    struct buf text;
    buf_init(&text, 65536);
    describe(s, &text);
    snprintf(name, sizeof name, "%s/expected.txt", path);
    save(name, text.at, text.len);
    buf_fini(&text);
    simdisk_free(s);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--make") == 0) return make(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_journals_decode_for_ever),
        cmocka_unit_test(the_bytes_have_not_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
