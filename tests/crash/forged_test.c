/* forged_test.c: files whose checksums are right and whose contents are not: of a later version, of another journal, or
 * put together by hand. Each is refused for its own reason, by name; none is taken, none is a crash. */
#include "test.h"

#include <stdlib.h>

#include "archive.h"
#include "block.h"
#include "hash.h"
#include "journal_fixture.h"
#include "packed.h"
#include "seen.h"
#include "segment.h"
#include "simdisk.h"

#define SEGMENT (32u * 1024u)
#define FIRST "journal/0000000000000001.seg"
#define SECOND "journal/0000000000000002.seg"
#define PACKED "archive/0000000000000001.seg.zst"
#define SNAPSHOT "journal/snap-0000000000000003"

/* A change of one number in a file, and what has to be said about it. */
struct forgery {
    uint32_t at, width; /* width 0 = nothing is changed */
    uint64_t value;
    enum err err;
    const char *text;
};

static void number_put(uint8_t *to, uint64_t value, uint32_t width) {
    for (uint32_t i = 0; i < width; i++) to[i] = (uint8_t)(value >> (8 * i));
}

static uint8_t *bytes_of(const struct simdisk *s, const char *name, uint64_t *ret) {
    const uint8_t *at = simdisk_peek(s, name, ret);
    uint8_t *copy = malloc(*ret);
    assert_non_null(copy);
    memcpy(copy, at, *ret);
    return copy;
}

static void crc_put(uint8_t *from, uint32_t bytes) {
    number_put(from + bytes - 4, crc32c(0, from, bytes - 4), 4);
}

static void block_crc_put(uint8_t *block, uint64_t offset) {
    uint8_t seed[16];
    struct block b;
    assert_true(block_peek(slice_of(block, BLOCK_ALIGN), BLOCK_ALIGN, &b));
    memcpy(seed, block + 64, 8); /* the nonce */
    number_put(seed + 8, offset, 8);
    uint32_t crc = crc32c(crc32c(0, seed, 16), block, BLOCK_HEADER_BYTES - 4);
    number_put(block + BLOCK_HEADER_BYTES - 4, crc32c(crc, block + BLOCK_HEADER_BYTES, b.batch.records.len), 4);
}

static void expect(const struct forgery *f, enum err got, const struct why *why) {
    if (got != f->err || (got != ERR_OK && strstr(why->text, f->text) == NULL))
        fail_msg("at %u: %s: %s", f->at, err_word(got), got == ERR_OK ? "" : why->text);
}

/* One segment: a mark, then batches of a record each at 8192, 12288, 16384. */
static struct simdisk *three_batches(void) {
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    for (uint32_t i = 0; i < 3; i++) journal_fixture_append_ok(&l, 1, 100);
    journal_fixture_stop(&l);
    simdisk_crash(s, SIMDISK_DROP_ALL);
    return s;
}

static enum err start(struct simdisk *s, struct journal_fixture *l) {
    journal_fixture_init(l, simdisk_disk(s), SEGMENT);
    enum err e = journal_fixture_start(l);
    journal_fixture_stop(l);
    return e;
}

static void a_block_that_does_not_belong_is_refused(void **state) {
    (void)state;
    static const struct forgery forgeries[] = {
        {.err = ERR_OK},
        {4, 2, 2, ERR_UNSUPPORTED, "byte 16384: written in format 2"},
        {6, 2, 9, ERR_UNSUPPORTED, "byte 16384: a block of kind 9"},
        {6, 2, BLOCK_SEAL, ERR_CORRUPT, "record numbers make no sense"},
        {16, 8, 4, ERR_CORRUPT, "records are missing"},
        {24, 8, 2, ERR_CORRUPT, "record numbers make no sense"},
        {32, 8, 0, ERR_CORRUPT, "epoch is lower"},
        {40, 4, 5, ERR_CORRUPT, "another shard"},
        {72, 4, 77, ERR_CORRUPT, "does not continue"},
    };
    struct simdisk *s = three_batches();
    uint64_t bytes;
    for (uint32_t i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++) {
        const struct forgery *f = &forgeries[i];
        struct simdisk *c = simdisk_clone(s);
        struct journal_fixture l;
        uint8_t *file = bytes_of(s, FIRST, &bytes);
        number_put(file + 16384 + f->at, f->value, f->width);
        block_crc_put(file + 16384, 16384);
        simdisk_put(c, FIRST, file, bytes);
        expect(f, start(c, &l), &l.why);
        free(file);
        simdisk_free(c);
    }
    simdisk_free(s);
}

/* A length that does not go with the payload's, and one beyond the file: no block, so a torn tail. */
static void a_block_of_a_senseless_length_is_none(void **state) {
    (void)state;
    static const uint32_t lengths[][2] = {{8192, 100}, {SEGMENT, SEGMENT - BLOCK_HEADER_BYTES}};
    for (uint32_t i = 0; i < 2; i++) {
        struct simdisk *s = three_batches();
        struct journal_fixture l;
        uint64_t bytes;
        uint8_t *file = bytes_of(s, FIRST, &bytes);
        number_put(file + 16384 + 8, lengths[i][0], 4);
        number_put(file + 16384 + 12, lengths[i][1], 4);
        simdisk_put(s, FIRST, file, bytes);
        assert_int_equal(start(s, &l), ERR_OK);
        assert_int_equal(l.head.lsn, 2);
        free(file);
        simdisk_free(s);
    }
}

/* The second segment has a header and no block yet, as after a crash between the two. */
static void a_header_that_does_not_continue_is_refused(void **state) {
    (void)state;
    static const struct forgery forgeries[] = {
        {.err = ERR_OK},
        {8, 4, 2, ERR_UNSUPPORTED, SECOND ": written in format 2"},
        {12, 4, 5, ERR_CORRUPT, "continues from a block that is not there"},
        {16, 8, 3, ERR_CORRUPT, SECOND ": damaged at byte 0: it is segment 3"},
        {32, 8, 9, ERR_CORRUPT, "continues from a block that is not there"},
        {40, 8, 0, ERR_CORRUPT, "continues from a block that is not there"},
        {48, 8, 4096, ERR_CORRUPT, SECOND ": damaged at byte 32768: the file was made 4096 bytes long"},
        {64, 4, 7, ERR_CORRUPT, "continues from a block that is not there"},
        {48, 8, 4097, ERR_OK, ""}, /* no header at all, and no block below it: a spare */
    };
    struct simdisk *s = three_batches();
    uint64_t bytes;
    uint8_t *file = bytes_of(s, FIRST, &bytes);
    struct block last;
    assert_true(block_peek(slice_of(file + 16384, BLOCK_ALIGN), BLOCK_ALIGN, &last));
    struct segment_header h = {.number = 2,
                               .nonce = 12345,
                               .first_lsn = 4,
                               .epoch = 1,
                               .bytes = SEGMENT,
                               .time = last.batch.time,
                               .prev_crc = last.crc};
    for (uint32_t i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++) {
        const struct forgery *f = &forgeries[i];
        struct simdisk *c = simdisk_clone(s);
        struct journal_fixture l;
        struct buf out;
        buf_init(&out, SEGMENT);
        block_header_encode(&h, &out);
        memset(buf_space(&out, SEGMENT - SEGMENT_HEADER_BYTES), 0, SEGMENT - SEGMENT_HEADER_BYTES);
        number_put(out.at + f->at, f->value, f->width);
        crc_put(out.at, SEGMENT_HEADER_BYTES);
        simdisk_put(c, SECOND, out.at, out.len);
        expect(f, start(c, &l), &l.why);
        buf_fini(&out);
        simdisk_free(c);
    }
    free(file);
    simdisk_free(s);
}

/* Three segments; the header of the second is gone. With its blocks: damage there. Without: the first ends early. */
static void a_segment_without_its_header_leaves_a_gap(void **state) {
    (void)state;
    for (uint32_t wiped = 0; wiped < 2; wiped++) {
        struct simdisk *s = simdisk_new(1);
        struct journal_fixture l;
        uint64_t bytes;
        journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        for (uint32_t i = 0; i < 16; i++) journal_fixture_append_ok(&l, 1, 3000);
        journal_fixture_stop(&l);
        simdisk_crash(s, SIMDISK_DROP_ALL);
        uint8_t *file = bytes_of(s, SECOND, &bytes);
        memset(file, 0, wiped ? bytes : BLOCK_ALIGN);
        simdisk_put(s, SECOND, file, bytes);
        assert_int_equal(start(s, &l), ERR_CORRUPT);
        assert_non_null(strstr(l.why.text, wiped ? FIRST : SECOND));
        assert_non_null(strstr(l.why.text, wiped ? "a block that is not there" : "the header is unreadable"));
        struct journal_report r; /* who reads beside an owner looks twice, and says the same */
        uint64_t calls = simdisk_calls(s, SIMDISK_ANY);
        assert_int_equal(journal_fixture_verify(l.disk, &r, &l.why), ERR_CORRUPT);
        assert_non_null(strstr(l.why.text, wiped ? FIRST : SECOND));
        calls = simdisk_calls(s, SIMDISK_ANY) - calls;
        for (uint64_t k = 0; k < calls; k++) {
            simdisk_arm(s, SIMDISK_ANY, SIMDISK_ERROR, k);
            assert_int_equal(journal_fixture_verify(l.disk, &r, &l.why), ERR_IO);
        }
        free(file);
        simdisk_free(s);
    }
}

/* ---- packed ---- */

/* One archived segment, packed, and what follows it. */
static struct simdisk *one_packed(bool plain) {
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    struct archive_report r;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    for (uint32_t i = 0; i < 10; i++) journal_fixture_append_ok(&l, 1, 3000);
    assert_int_equal(journal_fixture_snapshot(&l, 10, 100), ERR_OK);
    assert_int_equal(l.journal->ops->trim(l.journal, 0, &l.why), ERR_OK);
    if (!plain) assert_int_equal(archive_run(l.disk, 30, (wall_time){l.clock.ms}, &r, &l.why), ERR_OK);
    journal_fixture_stop(&l);
    simdisk_kill(s);
    return s;
}

#define NO_CRC UINT32_MAX /* instead of a width: the CRC of the segment's header is left wrong */
#define NONSENSE PACKED ": damaged at byte 0: its head makes no sense"

static void a_packed_head_that_makes_no_sense_is_refused(void **state) {
    (void)state;
    static const struct forgery forgeries[] = {
        {.err = ERR_OK},
        {0, 4, 1, ERR_CORRUPT, NONSENSE},
        {4, 4, 1, ERR_CORRUPT, NONSENSE},
        {8, 1, 1, ERR_CORRUPT, "not a packed segment"},
        {16, 4, 2, ERR_UNSUPPORTED, PACKED ": packed in format 2"},
        {20, 4, 2, ERR_UNSUPPORTED, PACKED ": packed in format 1"},
        {32, 4, 2, ERR_UNSUPPORTED, PACKED ": written in format 2"},
        {40, 8, 9, ERR_CORRUPT, PACKED ": damaged at byte 0: it is segment 9"},
        {56, NO_CRC, 9, ERR_CORRUPT, NONSENSE},
        {56, 8, UINT64_MAX, ERR_CORRUPT, NONSENSE}, /* begins after its end */
        {104, 8, 0, ERR_CORRUPT, NONSENSE},
        {104, 8, 8193, ERR_CORRUPT, NONSENSE},
        {104, 8, SEGMENT + BLOCK_ALIGN, ERR_CORRUPT, NONSENSE},
        {104, 8, SEGMENT - 2 * BLOCK_ALIGN, ERR_CORRUPT, PACKED ": damaged at byte 128"}, /* shorter than the frame */
    };
    struct simdisk *s = one_packed(false);
    uint64_t bytes;
    for (uint32_t i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++) {
        const struct forgery *f = &forgeries[i];
        struct simdisk *c = simdisk_clone(s);
        struct journal_report r;
        struct why why;
        uint8_t *file = bytes_of(s, PACKED, &bytes);
        number_put(file + f->at, f->value, f->width == NO_CRC ? 8 : f->width);
        if (f->width != NO_CRC) crc_put(file + 24, SEGMENT_HEADER_BYTES);
        crc_put(file, PACKED_HEAD_BYTES);
        simdisk_put(c, PACKED, file, bytes);
        expect(f, journal_fixture_verify(simdisk_disk(c), &r, &why), &why);
        free(file);
        simdisk_free(c);
    }
    simdisk_free(s);
}

static void a_packed_file_ends_with_its_last_frame(void **state) {
    (void)state;
    struct simdisk *s = one_packed(false);
    struct journal_report r;
    struct why why;
    uint64_t bytes;
    uint8_t *file = bytes_of(s, PACKED, &bytes), *longer = calloc(1, bytes + 1);
    assert_non_null(longer);
    memcpy(longer, file, bytes);
    simdisk_put(s, PACKED, longer, bytes + 1);
    assert_int_equal(journal_fixture_verify(simdisk_disk(s), &r, &why), ERR_CORRUPT);
    assert_non_null(strstr(why.text, "something follows the last frame"));
    free(longer);
    free(file);
    simdisk_free(s);
}

/* Packing judges no blocks, so a broken chain can be packed; whoever reads it is told. */
static void a_broken_chain_stays_broken_when_packed(void **state) {
    (void)state;
    static const char *const texts[] = {"", "valid blocks follow one that is not", "a block is missing",
                                        "has a wrong length"};
    for (uint32_t i = 0; i < 4; i++) {
        struct simdisk *s = one_packed(true);
        struct disk *d = simdisk_disk(s);
        struct journal_report r;
        struct why why;
        char plain[SEGMENT_NAME_MAX];
        segment_name(plain, 1, true);
        uint64_t bytes;
        const uint8_t *file = simdisk_peek(s, plain, &bytes);
        struct packed_head h = {.used_bytes = SEGMENT, .next_lsn = 7};
        uint32_t format;
        assert_true(block_header_decode(slice_of(file, bytes), &h.segment, &format));
        struct block b;
        assert_true(block_peek(slice_of(file + SEGMENT - BLOCK_ALIGN, BLOCK_ALIGN), BLOCK_ALIGN, &b));
        h.last_crc = b.crc;
        if (i == 1) simdisk_flip_bit(s, plain, 3 * BLOCK_ALIGN + 100, 3);
        if (i == 2) simdisk_flip_bit(s, plain, SEGMENT - BLOCK_ALIGN + 100, 3);
        if (i == 3) h.used_bytes = SEGMENT + BLOCK_ALIGN;
        if (i == 3) assert_int_equal(packed_make(d, plain, "archive/tmp", &h, &why), ERR_CORRUPT);
        if (i == 3) assert_non_null(strstr(why.text, "it ends at byte 32768"));
        if (i == 3) h.used_bytes = SEGMENT - BLOCK_ALIGN;
        assert_int_equal(packed_make(d, plain, PACKED, &h, &why), ERR_OK);
        if (i == 3) { /* the head promises more than there is */
            uint8_t *head = bytes_of(s, PACKED, &bytes);
            number_put(head + 104, SEGMENT, 8);
            crc_put(head, PACKED_HEAD_BYTES);
            simdisk_put(s, PACKED, head, bytes);
            free(head);
        }
        assert_int_equal(d->ops->remove(d, plain, &why), ERR_OK);
        enum err e = journal_fixture_verify(d, &r, &why);
        assert_int_equal(e, i == 0 ? ERR_OK : ERR_CORRUPT);
        if (i > 0) assert_non_null(strstr(why.text, texts[i]));
        if (i > 0) assert_non_null(strstr(why.text, PACKED));
        if (i == 1 || i == 2) assert_non_null(strstr(why.text, "of what was packed"));
        simdisk_free(s);
    }
}

/* ---- snapshots ---- */

static enum err snapshot_of(struct simdisk *s, struct journal_fixture *l) {
    struct snapshot_info info;
    journal_fixture_init(l, simdisk_disk(s), SEGMENT);
    assert_int_equal(file_open(l->disk, &l->clock.clock, &l->options, &l->journal, &l->why), ERR_OK);
    enum err e = l->journal->ops->snapshot_get(l->journal, 0, &info, NULL, &l->why);
    if (e == ERR_OK && info.lsn == 0) e = ERR_CORRUPT; /* passed over as damaged: the records are all there */
    journal_fixture_stop(l);
    return e;
}

static struct simdisk *with_snapshot(void) {
    struct simdisk *s = three_batches();
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(journal_fixture_snapshot(&l, 3, 500), ERR_OK);
    journal_fixture_stop(&l);
    simdisk_kill(s);
    return s;
}

static void a_forged_snapshot_is_not_taken(void **state) {
    (void)state;
    enum { HEADER = 64, TRAILER = 24 };
    static const struct forgery forgeries[] = {
        {.err = ERR_OK},
        {8, 4, 2, ERR_UNSUPPORTED, "written in format 2"},
        {40, 4, 1u << 30, ERR_UNSUPPORTED, "written in format 1"},
        {16, 8, 2, ERR_CORRUPT, ""}, /* of another record than its name says */
        {TRAILER + 4, 8, 499, ERR_CORRUPT, ""},
        {TRAILER + 12, 4, 2, ERR_CORRUPT, ""},
        {TRAILER + 16, 4, 2, ERR_CORRUPT, ""},
    };
    struct simdisk *s = with_snapshot();
    uint64_t bytes;
    for (uint32_t i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++) {
        const struct forgery *f = &forgeries[i];
        struct simdisk *c = simdisk_clone(s);
        struct journal_fixture l;
        uint8_t *file = bytes_of(s, SNAPSHOT, &bytes);
        bool of_trailer = i > 3;
        number_put(of_trailer ? file + bytes - TRAILER + (f->at - TRAILER) : file + f->at, f->value, f->width);
        crc_put(file, HEADER);
        crc_put(file + bytes - TRAILER, TRAILER);
        simdisk_put(c, SNAPSHOT, file, bytes);
        l.why.text[0] = 0;
        expect(f, snapshot_of(c, &l), &l.why);
        free(file);
        simdisk_free(c);
    }
    simdisk_free(s);
}

static void a_snapshot_with_something_behind_it_is_not_taken(void **state) {
    (void)state;
    struct simdisk *s = with_snapshot();
    struct journal_fixture l;
    uint64_t bytes;
    uint8_t *file = bytes_of(s, SNAPSHOT, &bytes), *longer = calloc(1, bytes + 1);
    assert_non_null(longer);
    memcpy(longer, file, bytes);
    simdisk_put(s, SNAPSHOT, longer, bytes + 1);
    assert_int_equal(snapshot_of(s, &l), ERR_CORRUPT);
    free(longer);
    free(file);
    simdisk_free(s);
}

/* The records went with their segment; journal.seen says that there was one. */
static void a_segment_that_was_seen_and_is_gone_is_damage(void **state) {
    (void)state;
    struct simdisk *s = with_snapshot();
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(l.disk->ops->remove(l.disk, FIRST, &l.why), ERR_OK);
    assert_int_equal(journal_fixture_start(&l), ERR_CORRUPT);
    assert_non_null(strstr(l.why.text, "segment 1, from record 1 on, was there and is gone"));
    simdisk_free(s);
}

/* The same without that file: the snapshot says that there were some. */
static void a_snapshot_of_records_that_are_gone_is_damage(void **state) {
    (void)state;
    struct simdisk *s = with_snapshot();
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(l.disk->ops->remove(l.disk, FIRST, &l.why), ERR_OK);
    assert_int_equal(l.disk->ops->remove(l.disk, SEEN_NAME, &l.why), ERR_OK);
    assert_int_equal(journal_fixture_start(&l), ERR_CORRUPT);
    assert_non_null(strstr(l.why.text, "the journal ends at record 0, its snapshot is of 3"));
    /* A reader may be beside an owner that is further on. */
    assert_int_equal(file_reader(l.disk, &l.journal, &l.why), ERR_OK);
    struct snapshot_info info;
    assert_int_equal(l.journal->ops->snapshot_get(l.journal, 0, &info, NULL, &l.why), ERR_OK);
    assert_int_equal(info.lsn, 3);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_that_does_not_belong_is_refused),
        cmocka_unit_test(a_block_of_a_senseless_length_is_none),
        cmocka_unit_test(a_header_that_does_not_continue_is_refused),
        cmocka_unit_test(a_segment_without_its_header_leaves_a_gap),
        cmocka_unit_test(a_packed_head_that_makes_no_sense_is_refused),
        cmocka_unit_test(a_packed_file_ends_with_its_last_frame),
        cmocka_unit_test(a_broken_chain_stays_broken_when_packed),
        cmocka_unit_test(a_forged_snapshot_is_not_taken),
        cmocka_unit_test(a_snapshot_with_something_behind_it_is_not_taken),
        cmocka_unit_test(a_segment_that_was_seen_and_is_gone_is_damage),
        cmocka_unit_test(a_snapshot_of_records_that_are_gone_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
