/* file_test.c: the file engine where nothing goes wrong, or where exactly one thing does. */
#include "test.h"

#include <stdio.h>

#include "archive.h"
#include "journal_fixture.h"
#include "segment.h"
#include "simdisk.h"
#include "snapfile.h"

#define SEGMENT (64u * 1024u)

static void a_new_journal_is_empty(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(l.head.lsn, 0);
    assert_int_equal(l.head.epoch, 1);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static void what_is_durable_is_read_back(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    for (uint32_t i = 0; i < 100; i++)
        journal_fixture_append_ok(&l, 1 + i % 3, i * 97 % 9000); /* over several segments */
    uint64_t head = l.head.lsn;
    assert_int_equal(journal_fixture_read(&l, 1), ERR_OK);
    assert_int_equal(l.read_count, 100);
    assert_int_equal(journal_fixture_read(&l, head - 5), ERR_OK);
    assert_int_equal(l.read_lsn, head);
    journal_fixture_stop(&l);
    simdisk_crash(s, SIMDISK_DROP_ALL); /* everything acknowledged was synced, names included */
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(l.head.lsn, head);
    assert_int_equal(l.head.epoch, 2);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static void an_append_is_one_write_and_one_sync(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    uint64_t calls = simdisk_calls(s, SIMDISK_ANY);
    journal_fixture_append_ok(&l, 1, 200);
    assert_int_equal(simdisk_calls(s, SIMDISK_ANY) - calls, 2);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static void epochs_rise_with_every_owner(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    for (uint64_t epoch = 1; epoch < 40; epoch++) {
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        assert_int_equal(l.head.epoch, epoch);
        if (epoch % 3 == 0) journal_fixture_append_ok(&l, 1, 10);
        if (epoch % 4 == 0) assert_int_equal(l.journal->ops->seal(l.journal, &l.why), ERR_OK);
        journal_fixture_stop(&l);
        simdisk_crash(s, SIMDISK_DROP_ALL);
    }
    simdisk_free(s);
}

static void a_second_server_is_kept_out(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture a, b;
    journal_fixture_init(&a, simdisk_disk(s), SEGMENT);
    journal_fixture_init(&b, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&a), ERR_OK);
    assert_int_equal(journal_fixture_start(&b), ERR_CONFLICT);
    journal_fixture_append_ok(&a, 1, 10);
    b.reads = true; /* a reader is welcome and cannot acquire */
    assert_int_equal(journal_fixture_start(&b), ERR_OK);
    assert_int_equal(b.read_lsn, 1);
    assert_int_equal(b.journal->ops->acquire(b.journal, 0, &b.head, &b.why), ERR_STATE);
    journal_fixture_stop(&a);
    journal_fixture_stop(&b);
    simdisk_free(s);
}

static void a_wrong_epoch_or_head_is_fenced_until_acquired_anew(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct simdisk *s = simdisk_new(1);
        struct journal_fixture l;
        journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        journal_fixture_append_ok(&l, 1, 10);
        struct batch b = {.first_lsn = 2, .last_lsn = 2, .epoch = 1, .rules = 1, .time = l.head.time};
        assert_int_equal(l.journal->ops->append(l.journal, i ? 9 : 1, i ? 1 : 0, &b, &l.why), JOURNAL_FENCED);
        assert_int_equal(journal_fixture_append(&l, 1, 10), JOURNAL_FENCED);
        assert_int_equal(l.journal->ops->seal(l.journal, &l.why), ERR_FENCED);
        assert_int_equal(l.journal->ops->acquire(l.journal, 0, &l.head, &l.why), ERR_OK);
        assert_int_equal(l.head.epoch, 2);
        assert_int_equal(l.head.lsn, 1);
        journal_fixture_append_ok(&l, 1, 10);
        journal_fixture_stop(&l);
        simdisk_free(s);
    }
}

static void another_shard_is_refused(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    journal_fixture_stop(&l);
    simdisk_kill(s);
    assert_int_equal(file_open(l.disk, &l.clock.clock, &l.options, &l.journal, &l.why), ERR_OK);
    assert_int_equal(l.journal->ops->acquire(l.journal, 3, &l.head, &l.why), ERR_CONFLICT);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static void a_full_disk_is_back_pressure(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    simdisk_budget_set(s, SEGMENT + SEGMENT / 2);
    enum journal_outcome o;
    do o = journal_fixture_append(&l, 1, 4000);
    while (o == JOURNAL_DURABLE);
    assert_int_equal(o, JOURNAL_FULL);
    assert_int_equal(journal_fixture_append(&l, 1, 4000), JOURNAL_FULL);
    assert_int_equal(l.journal->ops->prepare(l.journal, &l.why), ERR_NO_SPACE);
    uint64_t head = l.head.lsn, space = 1;
    assert_int_equal(l.journal->ops->space(l.journal, &space, &l.why), ERR_OK);
    assert_int_equal(space, 0);
    simdisk_budget_set(s, 4 * SEGMENT);
    assert_int_equal(l.journal->ops->space(l.journal, &space, &l.why), ERR_OK);
    assert_true(space > SEGMENT);
    journal_fixture_append_ok(&l, 1, 4000);
    journal_fixture_stop(&l);
    simdisk_crash(s, SIMDISK_DROP_ALL);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(l.head.lsn, head + 1);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static void a_prepared_segment_needs_no_allocation_later(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(l.journal->ops->prepare(l.journal, &l.why), ERR_OK);
    uint64_t made = simdisk_calls(s, SIMDISK_ALLOCATE), dirs = simdisk_calls(s, SIMDISK_SYNC_DIR);
    assert_int_equal(l.journal->ops->prepare(l.journal, &l.why), ERR_OK);
    for (uint32_t i = 0; i < 20; i++) journal_fixture_append_ok(&l, 1, 4000); /* crosses into the second segment */
    assert_int_equal(simdisk_calls(s, SIMDISK_ALLOCATE), made);
    assert_int_equal(simdisk_calls(s, SIMDISK_SYNC_DIR), dirs);
    assert_int_equal(l.journal->ops->prepare(l.journal, &l.why), ERR_OK);
    journal_fixture_stop(&l);
    simdisk_crash(s, SIMDISK_DROP_ALL);
    assert_int_equal(journal_fixture_start(&l), ERR_OK); /* the spare is adopted */
    made = simdisk_calls(s, SIMDISK_ALLOCATE);
    for (uint32_t i = 0; i < 10; i++) journal_fixture_append_ok(&l, 1, 4000);
    assert_int_equal(simdisk_calls(s, SIMDISK_ALLOCATE), made);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static void a_snapshot_replaces_what_it_covers(void **state) {
    (void)state;
    for (uint32_t archive = 0; archive < 2; archive++) {
        struct simdisk *s = simdisk_new(1);
        struct journal_fixture l;
        journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
        l.options.archive_days = archive;
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        for (uint32_t i = 0; i < 60; i++) journal_fixture_append_ok(&l, 1, 4000);
        assert_int_equal(l.journal->ops->trim(l.journal, 50, &l.why), ERR_STATE);
        assert_int_equal(journal_fixture_snapshot(&l, 61, 10), ERR_INVALID);
        assert_int_equal(journal_fixture_snapshot(&l, 50, 200000), ERR_OK);
        assert_int_equal(l.journal->ops->trim(l.journal, 50, &l.why), ERR_OK);
        char name[SEGMENT_NAME_MAX];
        segment_name(name, 1, false);
        assert_false(simdisk_exists(s, name));
        segment_name(name, 1, true);
        assert_int_equal(simdisk_exists(s, name), archive);
        assert_int_equal(journal_fixture_read(&l, 1), archive ? ERR_OK : ERR_NOT_FOUND);
        for (uint32_t i = 0; i < 30; i++) journal_fixture_append_ok(&l, 1, 4000); /* into a recycled segment */
        journal_fixture_stop(&l);
        simdisk_crash(s, SIMDISK_DROP_ALL);
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        assert_int_equal(l.head.lsn, 90);
        assert_int_equal(l.read_count, 40); /* the rest came from the snapshot */
        journal_fixture_stop(&l);
        simdisk_free(s);
    }
}

static void a_damaged_snapshot_falls_back_only_to_a_complete_past(void **state) {
    (void)state;
    for (uint32_t archive = 0; archive < 2; archive++) {
        struct simdisk *s = simdisk_new(1);
        struct journal_fixture l;
        journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
        l.options.archive_days = archive;
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        for (uint32_t i = 0; i < 100; i++) journal_fixture_append_ok(&l, 1, 4000);
        assert_int_equal(journal_fixture_snapshot(&l, 20, 1000), ERR_OK);
        assert_int_equal(journal_fixture_snapshot(&l, 90, 1000), ERR_OK);
        assert_int_equal(l.journal->ops->trim(l.journal, 90, &l.why), ERR_OK);
        journal_fixture_stop(&l);
        simdisk_kill(s);
        simdisk_flip_bit(s, "journal/snap-000000000000005a", 500, 3);
        assert_int_equal(journal_fixture_start(&l), archive ? ERR_OK : ERR_CORRUPT);
        if (!archive) assert_non_null(strstr(l.why.text, "snap-000000000000005a"));
        if (archive) assert_int_equal(l.read_count, 80);
        journal_fixture_stop(&l);
        simdisk_free(s);
    }
}

static void every_flipped_bit_of_a_snapshot_is_noticed(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    for (uint32_t i = 0; i < 40; i++) journal_fixture_append_ok(&l, 1, 4000);
    l.options.archive_days = 0;
    assert_int_equal(journal_fixture_snapshot(&l, 40, 900), ERR_OK);
    const char *name = "journal/snap-0000000000000028";
    struct snapshot_info info;
    for (uint64_t at = 0; at < simdisk_bytes(s, name); at++) {
        simdisk_flip_bit(s, name, at, at % 8);
        assert_int_equal(l.journal->ops->snapshot_get(l.journal, 0, &info, NULL, &l.why), ERR_OK);
        assert_int_equal(info.lsn, 0); /* not taken; the journal alone is complete */
        simdisk_flip_bit(s, name, at, at % 8);
    }
    assert_int_equal(l.journal->ops->snapshot_get(l.journal, 0, &info, NULL, &l.why), ERR_OK);
    assert_int_equal(info.lsn, 40);
    simdisk_cut(s, name, simdisk_bytes(s, name) - 1);
    assert_int_equal(l.journal->ops->snapshot_get(l.journal, 0, &info, NULL, &l.why), ERR_OK);
    assert_int_equal(info.lsn, 0);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static struct simdisk *started(struct journal_fixture *l, uint32_t appends) {
    struct simdisk *s = simdisk_new(1);
    journal_fixture_init(l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(l), ERR_OK);
    for (uint32_t i = 0; i < appends; i++) journal_fixture_append_ok(l, 1, 4000); /* a block each; a segment has 15 */
    return s;
}

static void a_dead_journal_does_nothing_more(void **state) {
    (void)state;
    struct journal_fixture l;
    struct simdisk *s = started(&l, 2);
    struct snapshot_info info;
    simdisk_arm(s, SIMDISK_SYNC, SIMDISK_ERROR, 0);
    assert_int_equal(journal_fixture_append(&l, 1, 10), JOURNAL_FAILED);
    uint64_t calls = simdisk_calls(s, SIMDISK_ANY);
    assert_int_equal(journal_fixture_append(&l, 1, 10), JOURNAL_FAILED);
    assert_int_equal(journal_fixture_read(&l, 1), ERR_IO);
    assert_int_equal(l.journal->ops->seal(l.journal, &l.why), ERR_IO);
    assert_int_equal(l.journal->ops->acquire(l.journal, 0, &l.head, &l.why), ERR_IO);
    assert_int_equal(l.journal->ops->snapshot_get(l.journal, 0, &info, NULL, &l.why), ERR_IO);
    assert_int_equal(l.journal->ops->trim(l.journal, 0, &l.why), ERR_IO);
    assert_non_null(strstr(l.why.text, "failed before"));
    assert_int_equal(simdisk_calls(s, SIMDISK_ANY), calls);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static void a_reader_changes_nothing(void **state) {
    (void)state;
    struct journal_fixture l;
    struct simdisk *s = started(&l, 2);
    journal_fixture_stop(&l);
    l.reads = true;
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(journal_fixture_snapshot(&l, 2, 10), ERR_STATE);
    assert_int_equal(l.journal->ops->trim(l.journal, 0, &l.why), ERR_STATE);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static void an_owner_may_begin_another_epoch(void **state) {
    (void)state;
    struct journal_fixture l;
    struct simdisk *s = started(&l, 2);
    assert_int_equal(l.journal->ops->acquire(l.journal, 0, &l.head, &l.why), ERR_OK);
    assert_int_equal(l.head.epoch, 2);
    journal_fixture_append_ok(&l, 1, 10);
    assert_int_equal(journal_fixture_read(&l, 1), ERR_OK);
    assert_int_equal(l.read_lsn, 3);
    for (uint32_t i = 0; i < 10; i++) journal_fixture_append_ok(&l, 1, 4000); /* two marks and 13 batches: it is full */
    simdisk_budget_set(s, 0);
    assert_int_equal(l.journal->ops->acquire(l.journal, 0, &l.head, &l.why), ERR_NO_SPACE);
    simdisk_budget_set(s, UINT64_MAX);
    assert_int_equal(l.journal->ops->acquire(l.journal, 0, &l.head, &l.why), ERR_OK);
    assert_int_equal(l.head.lsn, 13);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

/* Nothing is there yet; or the last segment has no room for the mark of the new owner. */
static void a_full_disk_keeps_an_owner_out_for_a_while(void **state) {
    (void)state;
    for (uint32_t full = 0; full < 2; full++) {
        struct journal_fixture l;
        struct simdisk *s = simdisk_new(1);
        journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
        if (full) assert_int_equal(journal_fixture_start(&l), ERR_OK);
        for (uint32_t i = 0; full && i < 14; i++) journal_fixture_append_ok(&l, 1, 4000);
        journal_fixture_stop(&l);
        simdisk_crash(s, SIMDISK_DROP_ALL);
        simdisk_budget_set(s, simdisk_used(s));
        assert_int_equal(file_open(l.disk, &l.clock.clock, &l.options, &l.journal, &l.why), ERR_OK);
        assert_int_equal(l.journal->ops->acquire(l.journal, 0, &l.head, &l.why), ERR_NO_SPACE);
        simdisk_budget_set(s, UINT64_MAX); /* somebody made room */
        assert_int_equal(l.journal->ops->acquire(l.journal, 0, &l.head, &l.why), ERR_OK);
        assert_int_equal(l.head.lsn, full ? 14 : 0);
        journal_fixture_append_ok(&l, 1, 10);
        journal_fixture_stop(&l);
        simdisk_free(s);
    }
}

static enum err source_fails(struct byte_source *s, void *to, size_t len, size_t *ret, struct why *why) {
    (void)s, (void)to, (void)len, (void)ret;
    return why_set(why, ERR_STATE, "no more of this");
}

static void snapshots_of_any_size_and_of_none(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, SNAPFILE_BLOCK_BYTES, SNAPFILE_BLOCK_BYTES + 1, 3 * SNAPFILE_BLOCK_BYTES};
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct journal_fixture l;
        struct simdisk *s = started(&l, 3);
        assert_int_equal(journal_fixture_snapshot(&l, 0, sizes[i]), ERR_INVALID);
        assert_int_equal(journal_fixture_snapshot(&l, 3, sizes[i]), ERR_OK);
        struct byte_source bad = {source_fails};
        struct snapshot_info info = {2, 1, l.head.time};
        uint64_t used = simdisk_used(s);
        assert_int_equal(l.journal->ops->snapshot_put(l.journal, &info, &bad, &l.why), ERR_STATE);
        simdisk_arm(s, SIMDISK_WRITE, SIMDISK_ERROR, 1); /* after the header */
        assert_int_equal(journal_fixture_snapshot(&l, 2, 3 * SNAPFILE_BLOCK_BYTES), ERR_IO);
        assert_int_equal(simdisk_used(s), used); /* and leaves nothing behind */
        journal_fixture_stop(&l);
        simdisk_crash(s, SIMDISK_DROP_ALL);
        assert_int_equal(journal_fixture_start(&l), ERR_OK); /* compares every byte */
        assert_int_equal(l.read_count, 0);
        journal_fixture_stop(&l);
        simdisk_free(s);
    }
}

static void a_trim_needs_a_snapshot_that_covers_it(void **state) {
    (void)state;
    struct journal_fixture l;
    struct simdisk *s = started(&l, 40);
    uint64_t files = simdisk_calls(s, SIMDISK_RENAME);
    assert_int_equal(l.journal->ops->trim(l.journal, 0, &l.why), ERR_OK); /* there is none: nothing to do */
    assert_int_equal(l.journal->ops->trim(l.journal, 30, &l.why), ERR_STATE);
    assert_int_equal(journal_fixture_snapshot(&l, 20, 10), ERR_OK);
    uint64_t puts = simdisk_calls(s, SIMDISK_RENAME);
    assert_int_equal(l.journal->ops->trim(l.journal, 30, &l.why), ERR_STATE);
    assert_int_equal(simdisk_calls(s, SIMDISK_RENAME), puts);
    assert_int_equal(puts, files + 1);
    assert_int_equal(l.journal->ops->trim(l.journal, 20, &l.why), ERR_OK);
    assert_true(simdisk_calls(s, SIMDISK_RENAME) > puts);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

/* Whoever is no owner yet may trim, too; the spare behind the newest segment is not mistaken for one. */
static void a_trim_before_the_acquisition(void **state) {
    (void)state;
    struct journal_fixture l;
    struct simdisk *s = started(&l, 20);
    assert_int_equal(l.journal->ops->prepare(l.journal, &l.why), ERR_OK);
    assert_int_equal(journal_fixture_snapshot(&l, 20, 10), ERR_OK);
    journal_fixture_stop(&l);
    simdisk_kill(s);
    assert_int_equal(file_open(l.disk, &l.clock.clock, &l.options, &l.journal, &l.why), ERR_OK);
    assert_int_equal(l.journal->ops->trim(l.journal, 0, &l.why), ERR_OK);
    assert_int_equal(l.journal->ops->acquire(l.journal, 0, &l.head, &l.why), ERR_OK);
    assert_int_equal(l.head.lsn, 20);
    journal_fixture_append_ok(&l, 1, 10);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

/* From one size to another and back: spares of the wrong size go, segments of it are not used again. */
static void the_size_of_segments_may_change(void **state) {
    (void)state;
    struct journal_fixture l;
    struct simdisk *s = started(&l, 5);
    l.options.archive_days = 0;
    for (uint32_t i = 1; i < 6; i++) {
        assert_int_equal(l.journal->ops->prepare(l.journal, &l.why), ERR_OK); /* left as a spare */
        journal_fixture_stop(&l);
        simdisk_crash(s, SIMDISK_DROP_ALL);
        l.options.segment_bytes = i % 2 ? 2 * SEGMENT : SEGMENT;
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        for (uint32_t k = 0; k < 40; k++) journal_fixture_append_ok(&l, 1, 4000);
        assert_int_equal(journal_fixture_snapshot(&l, l.head.lsn - 1, 10), ERR_OK);
        assert_int_equal(l.journal->ops->trim(l.journal, 0, &l.why), ERR_OK);
        assert_int_equal(journal_fixture_read(&l, l.head.lsn - 1), ERR_OK);
    }
    assert_int_equal(l.head.lsn, 205);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static void of_two_spares_one_goes(void **state) {
    (void)state;
    struct journal_fixture l;
    struct simdisk *s = started(&l, 1);
    static const uint8_t blank[SEGMENT];
    journal_fixture_stop(&l);
    simdisk_kill(s);
    simdisk_put(s, "journal/0000000000000002.seg", blank, SEGMENT);
    simdisk_put(s, "journal/0000000000000003.seg", blank, SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_true(simdisk_exists(s, "journal/0000000000000002.seg"));
    assert_false(simdisk_exists(s, "journal/0000000000000003.seg"));
    journal_fixture_stop(&l);
    simdisk_free(s);
}

/* A segment that was made and whose name nobody could be sure of is left behind, blank, and passed over. */
static void a_blank_segment_in_between_is_passed_over(void **state) {
    (void)state;
    struct journal_fixture l;
    struct simdisk *s = started(&l, 2);
    l.options.archive_days = 0;
    simdisk_arm(s, SIMDISK_SYNC_DIR, SIMDISK_ERROR, 0);
    assert_int_equal(l.journal->ops->prepare(l.journal, &l.why), ERR_IO); /* segment 2 */
    for (uint32_t i = 0; i < 40; i++) journal_fixture_append_ok(&l, 1, 4000);
    journal_fixture_stop(&l);
    simdisk_crash(s, SIMDISK_KEEP_ALL);
    assert_true(simdisk_exists(s, "journal/0000000000000002.seg"));
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(l.head.lsn, 42);
    assert_int_equal(journal_fixture_snapshot(&l, 42, 10), ERR_OK);
    assert_int_equal(l.journal->ops->trim(l.journal, 0, &l.why), ERR_OK);
    assert_false(simdisk_exists(s, "journal/0000000000000001.seg"));
    assert_true(simdisk_exists(s, "journal/0000000000000002.seg")); /* it may be evidence */
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static void names_that_are_not_ours_are_left_alone(void **state) {
    (void)state;
    static const char *const names[] = {
        "journal/a",
        "journal/00000000000000-9.seg",
        "journal/000000000000000G.seg",
        "journal/000000000000000g.seg",
        "journal/0000000000000000.seg",
        "journal/0000000000000009.txt",
        "journal/0000000000000009.seg.zst",
        "journal/snap-12",
        "journal/snap-wrong",
        "journal/a-name-longer-than-any-that-we-ever-give-to-a-segment.new",
        "archive/b",
        "archive/a-name-longer-than-any-that-we-ever-give-to-a-segment.tmp",
        "archive/0000000000000001.seg.zst", /* of a segment that is alive: no twin of it */
    };
    struct journal_fixture l;
    struct simdisk *s = started(&l, 3);
    struct archive_report r;
    journal_fixture_stop(&l);
    simdisk_kill(s);
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) simdisk_put(s, names[i], "x", 1);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(l.head.lsn, 3);
    assert_int_equal(journal_fixture_snapshot(&l, 3, 10), ERR_OK);
    assert_int_equal(l.journal->ops->trim(l.journal, 0, &l.why), ERR_OK);
    assert_int_equal(archive_run(l.disk, 30, (wall_time){l.clock.ms}, &r, &l.why), ERR_OK);
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) assert_true(simdisk_exists(s, names[i]));
    journal_fixture_stop(&l);
    simdisk_free(s);
}

/* More than the list holds: the newest count, the others go with the next pruning, or with the one after it. */
static void more_snapshots_than_are_looked_at(void **state) {
    (void)state;
    for (uint32_t fails = 0; fails < 2; fails++) {
        struct journal_fixture l;
        struct simdisk *s = started(&l, 3);
        struct snapshot_list list;
        char name[64];
        l.options.archive_days = 0;
        journal_fixture_stop(&l);
        simdisk_kill(s);
        for (uint32_t i = 0; i < 2 * JOURNAL_SNAPSHOTS_MAX; i++) { /* some fall, some rise */
            (void)snprintf(name, sizeof name, "journal/snap-%016x", (i % 2 ? 1000 + i : 1000 - i));
            simdisk_put(s, name, "x", 1);
        }
        assert_int_equal(snapfile_list_load(l.disk, &list, &l.why), ERR_OK);
        assert_int_equal(list.count, JOURNAL_SNAPSHOTS_MAX);
        assert_int_equal(list.lsn[0], 1000 + 2 * JOURNAL_SNAPSHOTS_MAX - 1);
        for (uint32_t i = 1; i < list.count; i++) assert_true(list.lsn[i] < list.lsn[i - 1]);
        assert_int_equal(list.lsn[JOURNAL_SNAPSHOTS_MAX - 1], 1001);
        if (fails) simdisk_arm(s, SIMDISK_REMOVE, SIMDISK_ERROR, 3);
        assert_int_equal(snapfile_prune(l.disk, 2, &l.why), fails ? ERR_IO : ERR_OK);
        assert_int_equal(snapfile_prune(l.disk, 2, &l.why), ERR_OK);
        assert_int_equal(snapfile_list_load(l.disk, &list, &l.why), ERR_OK);
        assert_int_equal(list.count, 2);
        assert_int_equal(snapfile_remove(l.disk, 77, &l.why), ERR_OK); /* somebody else was quicker */
        simdisk_free(s);
    }
}

static void every_damaged_snapshot_is_passed_over(void **state) {
    (void)state;
    struct journal_fixture l;
    struct simdisk *s = started(&l, 4);
    struct snapshot_info info;
    assert_int_equal(journal_fixture_snapshot(&l, 2, 100), ERR_OK);
    assert_int_equal(journal_fixture_snapshot(&l, 4, 100), ERR_OK);
    simdisk_flip_bit(s, "journal/snap-0000000000000002", 70, 1);
    simdisk_flip_bit(s, "journal/snap-0000000000000004", 70, 1);
    assert_int_equal(l.journal->ops->snapshot_get(l.journal, 0, &info, NULL, &l.why), ERR_OK);
    assert_int_equal(info.lsn, 0);
    assert_int_equal(l.journal->ops->snapshot_get(l.journal, 0, &info, NULL, NULL), ERR_OK); /* nobody asks why */
    journal_fixture_stop(&l);
    simdisk_free(s);
}

/* Not torn: when it was opened the block was there. */
static void a_block_that_vanishes_under_its_owner_is_damage(void **state) {
    (void)state;
    struct journal_fixture l;
    struct simdisk *s = started(&l, 3);
    simdisk_flip_bit(s, "journal/0000000000000001.seg", 4 * 4096 + 500, 2); /* the last of the three */
    assert_int_equal(journal_fixture_read(&l, 1), ERR_CORRUPT);
    assert_non_null(strstr(l.why.text, "ends at record 2, it was 3"));
    journal_fixture_stop(&l);
    simdisk_free(s);
}

/* Becoming a spare, and being taken over as one. */
static void what_fails_about_spares_is_told(void **state) {
    (void)state;
    struct journal_fixture l;
    struct simdisk *s = simdisk_new(1);
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    l.options.archive_days = 0;
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    for (uint32_t i = 0; i < 20; i++) journal_fixture_append_ok(&l, 1, 4000);
    assert_int_equal(journal_fixture_snapshot(&l, 20, 10), ERR_OK);
    simdisk_arm(s, SIMDISK_RENAME, SIMDISK_ERROR, 0);
    assert_int_equal(l.journal->ops->trim(l.journal, 0, &l.why), ERR_IO);
    assert_int_equal(l.journal->ops->prepare(l.journal, &l.why), ERR_OK);
    journal_fixture_stop(&l);
    simdisk_kill(s);
    enum err e = ERR_IO;
    for (uint64_t k = 0; e != ERR_OK; k++) { /* every file that a start opens */
        struct simdisk *c = simdisk_clone(s);
        l.disk = simdisk_disk(c);
        uint64_t before = simdisk_calls(c, SIMDISK_OPEN);
        simdisk_arm(c, SIMDISK_OPEN, SIMDISK_ERROR, k);
        e = journal_fixture_start(&l);
        bool has_failed = simdisk_calls(c, SIMDISK_OPEN) - before > k;
        assert_int_equal(e, has_failed ? ERR_IO : ERR_OK);
        journal_fixture_stop(&l);
        simdisk_free(c);
    }
    simdisk_free(s);
}

static void space_that_cannot_be_told_is_an_error(void **state) {
    (void)state;
    struct journal_fixture l;
    struct simdisk *s = started(&l, 1);
    uint64_t space;
    simdisk_arm(s, SIMDISK_SPACE, SIMDISK_ERROR, 0);
    assert_int_equal(l.journal->ops->space(l.journal, &space, &l.why), ERR_IO);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_journal_is_empty),
        cmocka_unit_test(what_is_durable_is_read_back),
        cmocka_unit_test(an_append_is_one_write_and_one_sync),
        cmocka_unit_test(epochs_rise_with_every_owner),
        cmocka_unit_test(a_second_server_is_kept_out),
        cmocka_unit_test(a_wrong_epoch_or_head_is_fenced_until_acquired_anew),
        cmocka_unit_test(another_shard_is_refused),
        cmocka_unit_test(a_full_disk_is_back_pressure),
        cmocka_unit_test(a_prepared_segment_needs_no_allocation_later),
        cmocka_unit_test(a_snapshot_replaces_what_it_covers),
        cmocka_unit_test(a_damaged_snapshot_falls_back_only_to_a_complete_past),
        cmocka_unit_test(every_flipped_bit_of_a_snapshot_is_noticed),
        cmocka_unit_test(a_dead_journal_does_nothing_more),
        cmocka_unit_test(a_reader_changes_nothing),
        cmocka_unit_test(an_owner_may_begin_another_epoch),
        cmocka_unit_test(a_full_disk_keeps_an_owner_out_for_a_while),
        cmocka_unit_test(snapshots_of_any_size_and_of_none),
        cmocka_unit_test(a_trim_needs_a_snapshot_that_covers_it),
        cmocka_unit_test(a_trim_before_the_acquisition),
        cmocka_unit_test(the_size_of_segments_may_change),
        cmocka_unit_test(of_two_spares_one_goes),
        cmocka_unit_test(a_blank_segment_in_between_is_passed_over),
        cmocka_unit_test(names_that_are_not_ours_are_left_alone),
        cmocka_unit_test(more_snapshots_than_are_looked_at),
        cmocka_unit_test(every_damaged_snapshot_is_passed_over),
        cmocka_unit_test(a_block_that_vanishes_under_its_owner_is_damage),
        cmocka_unit_test(what_fails_about_spares_is_told),
        cmocka_unit_test(space_that_cannot_be_told_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
