/* orion_defects_test.c: recovery defects found in another scheduler's log, each turned into a test of ours. Here are
 * those of the journal itself (2, 3, 4, 9 of the list); the others are tested where they belong. */
#include "test.h"

#include "block.h"
#include "journal_fixture.h"
#include "segment.h"
#include "simdisk.h"

#define SEGMENT (64u * 1024u)
static const char first_segment[] = "journal/0000000000000001.seg";

static void begin(struct simdisk **ret_s, struct journal_fixture *l, uint32_t batches) {
    *ret_s = simdisk_new(2);
    journal_fixture_init(l, simdisk_disk(*ret_s), SEGMENT);
    assert_int_equal(journal_fixture_start(l), ERR_OK);
    for (uint32_t i = 0; i < batches; i++) journal_fixture_append_ok(l, 1, 300);
}

/* 2. A tail without its end was taken for whole, the next record was glued to it, and the restart after that cut both
 * off: an acknowledged record vanished. Ours: whatever the tail was, what comes after it is found again. */
static void nothing_is_glued_to_a_torn_tail(void **state) {
    (void)state;
    for (uint64_t mask = 0; mask < 256; mask++) {
        struct simdisk *s;
        struct journal_fixture l;
        begin(&s, &l, 3);
        simdisk_arm(s, SIMDISK_SYNC, SIMDISK_POWER, 0);
        assert_int_equal(journal_fixture_append(&l, 1, 3500), JOURNAL_FAILED);
        journal_fixture_stop(&l);
        simdisk_crash_mask(s, &mask);
        uint64_t head = 0;
        for (uint32_t life = 0; life < 3; life++) {
            assert_int_equal(journal_fixture_start(&l), ERR_OK);
            if (life > 0) assert_int_equal(l.head.lsn, head);
            assert_true(l.head.lsn >= 3);
            journal_fixture_append_ok(&l, 1, 300);
            head = l.head.lsn;
            journal_fixture_stop(&l);
            simdisk_crash(s, SIMDISK_DROP_ALL);
        }
        simdisk_free(s);
    }
}

/* 3. One bad line in the middle discarded every later good record. Ours: refused, with the place. */
static void a_bad_middle_is_refused_with_its_place(void **state) {
    (void)state;
    struct simdisk *s;
    struct journal_fixture l;
    begin(&s, &l, 8);
    journal_fixture_stop(&l);
    simdisk_kill(s);
    simdisk_flip_bit(s, first_segment, 5 * BLOCK_ALIGN + 200, 1); /* OPEN is at 1, so this is the fourth batch */
    assert_int_equal(journal_fixture_start(&l), ERR_CORRUPT);
    assert_non_null(strstr(l.why.text, first_segment));
    assert_non_null(strstr(l.why.text, "byte 20480"));
    assert_non_null(strstr(l.why.text, "damaged"));
    simdisk_kill(s);
    simdisk_flip_bit(s, first_segment, 5 * BLOCK_ALIGN + 200, 1); /* repaired by hand, nothing was thrown away */
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(l.head.lsn, 8);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

/* 4. A flipped byte inside a string was not noticed. Ours: every payload byte is under the CRC. */
static void a_flipped_payload_byte_is_noticed(void **state) {
    (void)state;
    struct simdisk *s;
    struct journal_fixture l;
    begin(&s, &l, 2);
    assert_int_equal(l.journal->ops->seal(l.journal, &l.why), ERR_OK);
    journal_fixture_stop(&l);
    for (uint64_t at = 0; at < 300; at++) {
        simdisk_kill(s);
        simdisk_flip_bit(s, first_segment, 3 * BLOCK_ALIGN + BLOCK_HEADER_BYTES + at, at % 8);
        assert_int_equal(journal_fixture_start(&l), ERR_CORRUPT);
        simdisk_flip_bit(s, first_segment, 3 * BLOCK_ALIGN + BLOCK_HEADER_BYTES + at, at % 8);
    }
    simdisk_free(s);
}

/* 9. Errors of the log were ignored and work went on. Ours: the first failed write or sync ends the journal object;
 * nothing is acknowledged after it, and nothing is written after it. */
static void nothing_is_acknowledged_after_an_error(void **state) {
    (void)state;
    static const enum simdisk_op ops[] = {SIMDISK_WRITE, SIMDISK_SYNC};
    for (uint32_t i = 0; i < 2; i++) {
        struct simdisk *s;
        struct journal_fixture l;
        begin(&s, &l, 3);
        simdisk_arm(s, ops[i], SIMDISK_ERROR, 0);
        assert_int_equal(journal_fixture_append(&l, 1, 300), JOURNAL_FAILED);
        uint64_t writes = simdisk_calls(s, SIMDISK_WRITE), syncs = simdisk_calls(s, SIMDISK_SYNC);
        assert_int_equal(journal_fixture_append(&l, 1, 300), JOURNAL_FAILED);
        assert_int_equal(l.journal->ops->seal(l.journal, &l.why), ERR_IO);
        assert_int_equal(l.journal->ops->acquire(l.journal, 0, &l.head, &l.why), ERR_IO);
        assert_int_equal(simdisk_calls(s, SIMDISK_WRITE), writes);
        assert_int_equal(simdisk_calls(s, SIMDISK_SYNC), syncs);
        journal_fixture_stop(&l);
        simdisk_crash(s, SIMDISK_DROP_ALL);
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        assert_in_range(l.head.lsn, 3, 4);
        journal_fixture_stop(&l);
        simdisk_free(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_glued_to_a_torn_tail),
        cmocka_unit_test(a_bad_middle_is_refused_with_its_place),
        cmocka_unit_test(a_flipped_payload_byte_is_noticed),
        cmocka_unit_test(nothing_is_acknowledged_after_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
