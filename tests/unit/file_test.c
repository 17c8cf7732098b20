/* file_test.c: the file engine where nothing goes wrong, or where exactly one thing does. */
#include "test.h"

#include "jlab.h"
#include "segment.h"
#include "simdisk.h"

#define SEGMENT (64u * 1024u)

static void a_new_journal_is_empty(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct jlab l;
    jlab_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(jlab_start(&l), ERR_OK);
    assert_int_equal(l.head.lsn, 0);
    assert_int_equal(l.head.epoch, 1);
    jlab_stop(&l);
    simdisk_free(s);
}

static void what_is_durable_is_read_back(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct jlab l;
    jlab_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(jlab_start(&l), ERR_OK);
    for (uint32_t i = 0; i < 100; i++) jlab_append_ok(&l, 1 + i % 3, i * 97 % 9000); /* over several segments */
    uint64_t head = l.head.lsn;
    assert_int_equal(jlab_read(&l, 1), ERR_OK);
    assert_int_equal(l.read_count, 100);
    assert_int_equal(jlab_read(&l, head - 5), ERR_OK);
    assert_int_equal(l.read_lsn, head);
    jlab_stop(&l);
    simdisk_crash(s, SIMDISK_DROP_ALL); /* everything acknowledged was synced, names included */
    assert_int_equal(jlab_start(&l), ERR_OK);
    assert_int_equal(l.head.lsn, head);
    assert_int_equal(l.head.epoch, 2);
    jlab_stop(&l);
    simdisk_free(s);
}

static void an_append_is_one_write_and_one_sync(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct jlab l;
    jlab_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(jlab_start(&l), ERR_OK);
    uint64_t calls = simdisk_calls(s, SIMDISK_ANY);
    jlab_append_ok(&l, 1, 200);
    assert_int_equal(simdisk_calls(s, SIMDISK_ANY) - calls, 2);
    jlab_stop(&l);
    simdisk_free(s);
}

static void epochs_rise_with_every_owner(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct jlab l;
    jlab_init(&l, simdisk_disk(s), SEGMENT);
    for (uint64_t epoch = 1; epoch < 40; epoch++) {
        assert_int_equal(jlab_start(&l), ERR_OK);
        assert_int_equal(l.head.epoch, epoch);
        if (epoch % 3 == 0) jlab_append_ok(&l, 1, 10);
        if (epoch % 4 == 0) assert_int_equal(file_seal(l.journal, &l.why), ERR_OK);
        jlab_stop(&l);
        simdisk_crash(s, SIMDISK_DROP_ALL);
    }
    simdisk_free(s);
}

static void a_second_server_is_kept_out(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct jlab a, b;
    jlab_init(&a, simdisk_disk(s), SEGMENT);
    jlab_init(&b, simdisk_disk(s), SEGMENT);
    assert_int_equal(jlab_start(&a), ERR_OK);
    assert_int_equal(jlab_start(&b), ERR_CONFLICT);
    jlab_append_ok(&a, 1, 10);
    b.options.read_only = 1; /* a reader is welcome and cannot acquire */
    assert_int_equal(jlab_start(&b), ERR_OK);
    assert_int_equal(b.read_lsn, 1);
    assert_int_equal(b.journal->ops->acquire(b.journal, 0, &b.head, &b.why), ERR_STATE);
    jlab_stop(&a);
    jlab_stop(&b);
    simdisk_free(s);
}

static void a_wrong_epoch_or_head_is_fenced_for_good(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct simdisk *s = simdisk_new(1);
        struct jlab l;
        jlab_init(&l, simdisk_disk(s), SEGMENT);
        assert_int_equal(jlab_start(&l), ERR_OK);
        jlab_append_ok(&l, 1, 10);
        struct batch b = {.first_lsn = 2, .last_lsn = 2, .epoch = 1, .rules = 1, .time = l.head.time};
        assert_int_equal(l.journal->ops->append(l.journal, i ? 9 : 1, i ? 1 : 0, &b, &l.why), JOURNAL_FENCED);
        assert_int_equal(jlab_append(&l, 1, 10), JOURNAL_FAILED);
        jlab_stop(&l);
        simdisk_free(s);
    }
}

static void another_shard_is_refused(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct jlab l;
    jlab_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(jlab_start(&l), ERR_OK);
    jlab_stop(&l);
    simdisk_kill(s);
    assert_int_equal(file_open(l.disk, &l.clock.clock, &l.options, &l.journal, &l.why), ERR_OK);
    assert_int_equal(l.journal->ops->acquire(l.journal, 3, &l.head, &l.why), ERR_CONFLICT);
    jlab_stop(&l);
    simdisk_free(s);
}

static void a_full_disk_is_back_pressure(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct jlab l;
    jlab_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(jlab_start(&l), ERR_OK);
    simdisk_budget_set(s, SEGMENT + SEGMENT / 2);
    enum journal_outcome o;
    do o = jlab_append(&l, 1, 4000);
    while (o == JOURNAL_DURABLE);
    assert_int_equal(o, JOURNAL_FULL);
    assert_int_equal(jlab_append(&l, 1, 4000), JOURNAL_FULL);
    assert_int_equal(file_prepare(l.journal, &l.why), ERR_NO_SPACE);
    uint64_t head = l.head.lsn, space = 1;
    assert_int_equal(file_space(l.journal, &space, &l.why), ERR_OK);
    assert_int_equal(space, 0);
    simdisk_budget_set(s, 4 * SEGMENT);
    assert_int_equal(file_space(l.journal, &space, &l.why), ERR_OK);
    assert_true(space > SEGMENT);
    jlab_append_ok(&l, 1, 4000);
    jlab_stop(&l);
    simdisk_crash(s, SIMDISK_DROP_ALL);
    assert_int_equal(jlab_start(&l), ERR_OK);
    assert_int_equal(l.head.lsn, head + 1);
    jlab_stop(&l);
    simdisk_free(s);
}

static void a_prepared_segment_needs_no_allocation_later(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct jlab l;
    jlab_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(jlab_start(&l), ERR_OK);
    assert_int_equal(file_prepare(l.journal, &l.why), ERR_OK);
    uint64_t made = simdisk_calls(s, SIMDISK_ALLOCATE), dirs = simdisk_calls(s, SIMDISK_SYNC_DIR);
    assert_int_equal(file_prepare(l.journal, &l.why), ERR_OK);
    for (uint32_t i = 0; i < 20; i++) jlab_append_ok(&l, 1, 4000); /* crosses into the second segment */
    assert_int_equal(simdisk_calls(s, SIMDISK_ALLOCATE), made);
    assert_int_equal(simdisk_calls(s, SIMDISK_SYNC_DIR), dirs);
    assert_int_equal(file_prepare(l.journal, &l.why), ERR_OK);
    jlab_stop(&l);
    simdisk_crash(s, SIMDISK_DROP_ALL);
    assert_int_equal(jlab_start(&l), ERR_OK); /* the spare is adopted */
    made = simdisk_calls(s, SIMDISK_ALLOCATE);
    for (uint32_t i = 0; i < 10; i++) jlab_append_ok(&l, 1, 4000);
    assert_int_equal(simdisk_calls(s, SIMDISK_ALLOCATE), made);
    jlab_stop(&l);
    simdisk_free(s);
}

static void a_snapshot_replaces_what_it_covers(void **state) {
    (void)state;
    for (uint32_t archive = 0; archive < 2; archive++) {
        struct simdisk *s = simdisk_new(1);
        struct jlab l;
        jlab_init(&l, simdisk_disk(s), SEGMENT);
        l.options.archive_days = archive;
        assert_int_equal(jlab_start(&l), ERR_OK);
        for (uint32_t i = 0; i < 60; i++) jlab_append_ok(&l, 1, 4000);
        assert_int_equal(l.journal->ops->trim(l.journal, 50, &l.why), ERR_STATE);
        assert_int_equal(jlab_snapshot(&l, 61, 10), ERR_INVALID);
        assert_int_equal(jlab_snapshot(&l, 50, 200000), ERR_OK);
        assert_int_equal(l.journal->ops->trim(l.journal, 50, &l.why), ERR_OK);
        char name[SEGMENT_NAME_MAX];
        segment_name(name, 1, false);
        assert_false(simdisk_exists(s, name));
        segment_name(name, 1, true);
        assert_int_equal(simdisk_exists(s, name), archive);
        assert_int_equal(jlab_read(&l, 1), archive ? ERR_OK : ERR_NOT_FOUND);
        for (uint32_t i = 0; i < 30; i++) jlab_append_ok(&l, 1, 4000); /* into a recycled segment */
        jlab_stop(&l);
        simdisk_crash(s, SIMDISK_DROP_ALL);
        assert_int_equal(jlab_start(&l), ERR_OK);
        assert_int_equal(l.head.lsn, 90);
        assert_int_equal(l.read_count, 40); /* the rest came from the snapshot */
        jlab_stop(&l);
        simdisk_free(s);
    }
}

static void a_damaged_snapshot_falls_back_only_to_a_complete_past(void **state) {
    (void)state;
    for (uint32_t archive = 0; archive < 2; archive++) {
        struct simdisk *s = simdisk_new(1);
        struct jlab l;
        jlab_init(&l, simdisk_disk(s), SEGMENT);
        l.options.archive_days = archive;
        assert_int_equal(jlab_start(&l), ERR_OK);
        for (uint32_t i = 0; i < 100; i++) jlab_append_ok(&l, 1, 4000);
        assert_int_equal(jlab_snapshot(&l, 20, 1000), ERR_OK);
        assert_int_equal(jlab_snapshot(&l, 90, 1000), ERR_OK);
        assert_int_equal(l.journal->ops->trim(l.journal, 90, &l.why), ERR_OK);
        jlab_stop(&l);
        simdisk_kill(s);
        simdisk_flip_bit(s, "journal/snap-000000000000005a", 500, 3);
        assert_int_equal(jlab_start(&l), archive ? ERR_OK : ERR_CORRUPT);
        if (!archive) assert_non_null(strstr(l.why.text, "snap-000000000000005a"));
        if (archive) assert_int_equal(l.read_count, 80);
        jlab_stop(&l);
        simdisk_free(s);
    }
}

static void every_flipped_bit_of_a_snapshot_is_noticed(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct jlab l;
    jlab_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(jlab_start(&l), ERR_OK);
    for (uint32_t i = 0; i < 40; i++) jlab_append_ok(&l, 1, 4000);
    l.options.archive_days = 0;
    assert_int_equal(jlab_snapshot(&l, 40, 900), ERR_OK);
    const char *name = "journal/snap-0000000000000028";
    struct snapshot_info info;
    for (uint64_t at = 0; at < simdisk_bytes(s, name); at++) {
        simdisk_flip_bit(s, name, at, at % 8);
        assert_int_equal(l.journal->ops->snapshot_get(l.journal, &info, NULL, &l.why), ERR_OK);
        assert_int_equal(info.lsn, 0); /* not taken; the journal alone is complete */
        simdisk_flip_bit(s, name, at, at % 8);
    }
    assert_int_equal(l.journal->ops->snapshot_get(l.journal, &info, NULL, &l.why), ERR_OK);
    assert_int_equal(info.lsn, 40);
    simdisk_cut(s, name, simdisk_bytes(s, name) - 1);
    assert_int_equal(l.journal->ops->snapshot_get(l.journal, &info, NULL, &l.why), ERR_OK);
    assert_int_equal(info.lsn, 0);
    jlab_stop(&l);
    simdisk_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_journal_is_empty),
        cmocka_unit_test(what_is_durable_is_read_back),
        cmocka_unit_test(an_append_is_one_write_and_one_sync),
        cmocka_unit_test(epochs_rise_with_every_owner),
        cmocka_unit_test(a_second_server_is_kept_out),
        cmocka_unit_test(a_wrong_epoch_or_head_is_fenced_for_good),
        cmocka_unit_test(another_shard_is_refused),
        cmocka_unit_test(a_full_disk_is_back_pressure),
        cmocka_unit_test(a_prepared_segment_needs_no_allocation_later),
        cmocka_unit_test(a_snapshot_replaces_what_it_covers),
        cmocka_unit_test(a_damaged_snapshot_falls_back_only_to_a_complete_past),
        cmocka_unit_test(every_flipped_bit_of_a_snapshot_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
