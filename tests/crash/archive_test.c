/* archive_test.c: segments packed into the archive: read back as they were, at every disk call that fails nothing is
 * lost and the next run finishes, rot is refused with file and byte, and what is past its time goes and nothing else.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "archive.h"
#include "chain.h"
#include "journal_fixture.h"
#include "simdisk.h"
#include "snapfile.h"

#define SEGMENT (32u * 1024u)
#define DAY_MS (24ll * 60 * 60 * 1000)
#define DAYS 30u
#if defined __SANITIZE_ADDRESS__ || !defined __OPTIMIZE__
#define STEP 7u
#else
#define STEP 1u
#endif

static void start(struct journal_fixture *l, struct simdisk *s) {
    journal_fixture_init(l, simdisk_disk(s), SEGMENT);
    l->options.archive_days = DAYS;
    assert_int_equal(journal_fixture_start(l), ERR_OK);
}

static enum err pack_now(struct journal_fixture *l, struct archive_report *r) {
    return archive_run(l->disk, DAYS, (wall_time){l->clock.ms}, r, &l->why);
}

static void cover(struct journal_fixture *l, uint64_t lsn) {
    assert_int_equal(journal_fixture_snapshot(l, lsn, 500), ERR_OK);
    assert_int_equal(l->journal->ops->trim(l->journal, lsn, &l->why), ERR_OK);
}

/* A journal with three archived segments, one of them with a torn tail, under a snapshot. */
static struct simdisk *archived_journal(void) {
    struct simdisk *s = simdisk_new(7);
    struct journal_fixture l;
    start(&l, s);
    for (uint32_t i = 0; i < 9; i++) journal_fixture_append_ok(&l, 1, 900 + i * 700);
    simdisk_arm(s, SIMDISK_SYNC, SIMDISK_POWER, 0);
    assert_int_equal(journal_fixture_append(&l, 1, 3000), JOURNAL_FAILED);
    journal_fixture_stop(&l);
    uint64_t mask = 0x15;
    simdisk_crash_mask(s, &mask);
    start(&l, s);
    for (uint32_t i = 0; i < 9; i++) journal_fixture_append_ok(&l, 2, 5000);
    cover(&l, l.head.lsn - 2);
    journal_fixture_stop(&l);
    simdisk_crash(s, SIMDISK_DROP_ALL);
    return s;
}

/* Every record from 1 on is there, in order, as it was; the live part can be taken over. */
static void check_all(struct simdisk *s, uint64_t last) {
    struct journal_fixture l;
    start(&l, s);
    assert_int_equal(l.head.lsn, last);
    assert_int_equal(journal_fixture_read(&l, 1), ERR_OK);
    assert_int_equal(l.read_lsn, last);
    struct journal_report r;
    assert_int_equal(journal_fixture_verify(l.disk, &r, &l.why), ERR_OK);
    assert_int_equal(r.first_lsn, 1);
    assert_int_equal(r.last_lsn, last);
    journal_fixture_stop(&l);
    simdisk_kill(s);
}

static uint32_t count_of(struct simdisk *s, bool packed) {
    uint32_t count = 0;
    for (uint64_t number = 1; number < 64; number++) {
        char name[SEGMENT_NAME_MAX];
        if (packed)
            segment_packed_name(name, number);
        else
            segment_name(name, number, true);
        count += simdisk_exists(s, name);
    }
    return count;
}

static const char *packed_name(char name[SEGMENT_NAME_MAX], uint64_t number) {
    segment_packed_name(name, number);
    return name;
}

/* More than one frame: going back means to begin again. */
static void a_packed_segment_is_read_forwards_and_back(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(3);
    struct journal_fixture l;
    struct archive_report r;
    struct packed *p;
    char name[SEGMENT_NAME_MAX];
    uint8_t first[64], again[64], end[64];
    size_t have;
    journal_fixture_init(&l, simdisk_disk(s), 4 * PACKED_FRAME_BYTES);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    for (uint32_t i = 0; i < 100; i++) journal_fixture_append_ok(&l, 1, 100000);
    assert_int_equal(journal_fixture_snapshot(&l, l.head.lsn, 10), ERR_OK);
    assert_int_equal(l.journal->ops->trim(l.journal, 0, &l.why), ERR_OK);
    journal_fixture_stop(&l);
    assert_int_equal(pack_now(&l, &r), ERR_OK);
    assert_true(r.packed_count > 0);
    assert_int_equal(packed_open(l.disk, packed_name(name, 1), &p, &l.why), ERR_OK);
    assert_true(packed_head(p)->used_bytes > 2 * PACKED_FRAME_BYTES);
    assert_int_equal(packed_read(p, 0, first, sizeof first, &have, &l.why), ERR_OK);
    assert_int_equal(packed_read(p, packed_head(p)->used_bytes - 64, end, sizeof end, &have, &l.why), ERR_OK);
    assert_int_equal(packed_read(p, 0, again, sizeof again, &have, &l.why), ERR_OK);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, end, sizeof first);
    packed_close(p);
    simdisk_free(s);
}

static void packed_segments_read_as_they_were(void **state) {
    (void)state;
    struct simdisk *s = archived_journal();
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    uint32_t plain = count_of(s, false);
    assert_true(plain >= 3);
    uint64_t before = simdisk_used(s);
    check_all(s, 27);
    /* what the chain of the first segment is, byte for byte */
    uint64_t bytes;
    char name[SEGMENT_NAME_MAX];
    segment_name(name, 1, true);
    uint8_t *was = malloc(SEGMENT), *is = malloc(SEGMENT);
    assert_true(was != NULL && is != NULL);
    memcpy(was, simdisk_peek(s, name, &bytes), SEGMENT);
    struct archive_report r;
    assert_int_equal(pack_now(&l, &r), ERR_OK);
    assert_int_equal(r.packed_count, plain);
    assert_int_equal(r.removed_count, 0);
    assert_int_equal(count_of(s, false), 0);
    assert_int_equal(count_of(s, true), plain);
    assert_true(simdisk_used(s) < before - plain * SEGMENT + r.packed_bytes + 1);
    struct packed *p;
    size_t have;
    assert_int_equal(packed_open(l.disk, packed_name(name, 1), &p, &l.why), ERR_OK);
    uint64_t used = packed_head(p)->used_bytes;
    assert_true(used < SEGMENT);                   /* the torn tail and the zeroes after the last block are not kept */
    for (uint32_t round = 0; round < 2; round++) { /* forwards, and back again */
        assert_int_equal(packed_read(p, 0, is, SEGMENT, &have, &l.why), ERR_OK);
        assert_int_equal(have, used);
        assert_memory_equal(was, is, used);
        assert_int_equal(packed_read(p, used - 5, is, 100, &have, &l.why), ERR_OK);
        assert_int_equal(have, 5);
        assert_memory_equal(was + used - 5, is, 5);
    }
    packed_close(p);
    free(was);
    free(is);
    check_all(s, 27);
    assert_int_equal(pack_now(&l, &r), ERR_OK); /* and a second run has nothing to do */
    assert_int_equal(r.packed_count, 0);
    simdisk_free(s);
}

/* Frames of a MiB, blocks that lie across them, one block longer than a frame. */
static void large_segments_are_packed_in_frames(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(2);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), 8u << 20);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    static const size_t sizes[] = {700000, 600000, 2500000, 1, 1048576, 1048496, 900000, 3000000, 4000000};
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) journal_fixture_append_ok(&l, 1, sizes[i]);
    uint64_t last = l.head.lsn;
    cover(&l, last);
    struct archive_report r;
    assert_int_equal(pack_now(&l, &r), ERR_OK);
    assert_true(r.packed_count >= 1);
    assert_int_equal(journal_fixture_read(&l, 1), ERR_OK);
    assert_int_equal(l.read_lsn, last);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static void every_call_of_packing_fails_once(void **state) {
    (void)state;
    static const enum simdisk_fault faults[] = {SIMDISK_ERROR, SIMDISK_SHORT, SIMDISK_NO_SPACE, SIMDISK_POWER};
    struct simdisk *base = archived_journal();
    uint32_t plain = count_of(base, false);
    struct journal_fixture l;
    struct archive_report r;
    struct simdisk *whole = simdisk_clone(base);
    uint64_t calls = simdisk_calls(whole, SIMDISK_ANY);
    journal_fixture_init(&l, simdisk_disk(whole), SEGMENT);
    assert_int_equal(pack_now(&l, &r), ERR_OK);
    calls = simdisk_calls(whole, SIMDISK_ANY) - calls;
    simdisk_free(whole);
    uint32_t interrupted = 0;
    for (uint64_t call = 0; call < calls; call++) {
        for (uint32_t k = 0; k<4 * 5; k += STEP> 1 ? 3 : 1) { /* 3 meets every fault and every way */
            struct simdisk *s = simdisk_clone(base);
            journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
            simdisk_arm(s, SIMDISK_ANY, faults[k % 4], call);
            interrupted += pack_now(&l, &r) != ERR_OK;
            simdisk_arm(s, SIMDISK_ANY, SIMDISK_FINE, 0);
            uint32_t way = k / 4;
            if (way == 4 && faults[k % 4] != SIMDISK_POWER)
                simdisk_kill(s);
            else
                simdisk_crash(s, (enum simdisk_crash_policy)(way % 4));
            check_all(s, 27);
            assert_int_equal(pack_now(&l, &r), ERR_OK); /* the next run finishes */
            assert_int_equal(count_of(s, false), 0);
            assert_int_equal(count_of(s, true), plain);
            simdisk_crash(s, SIMDISK_RANDOM); /* and what it did is durable, or done again */
            check_all(s, 27);
            assert_int_equal(pack_now(&l, &r), ERR_OK);
            assert_int_equal(count_of(s, false), 0);
            simdisk_free(s);
        }
    }
    print_message("%llu calls, %u runs interrupted\n", (unsigned long long)calls, interrupted);
    assert_true(interrupted >= calls);
    simdisk_free(base);
}

/* A reader that takes no lock finds every record as it was written. */
static void check_content(struct simdisk *s) {
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(file_reader(l.disk, &l.journal, &l.why), ERR_OK);
    assert_int_equal(journal_fixture_read(&l, 1), ERR_OK);
    assert_int_equal(l.read_lsn, 27);
    journal_fixture_stop(&l);
}

/* zstd's bit streams have a few bits that mean nothing; rot in one of them changes nothing that is read. */
static void rot_in_a_packed_segment_is_refused_with_file_and_byte(void **state) {
    (void)state;
    struct simdisk *s = archived_journal();
    struct journal_fixture l;
    struct archive_report r;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(pack_now(&l, &r), ERR_OK);
    char name[SEGMENT_NAME_MAX];
    uint64_t bytes = simdisk_bytes(s, packed_name(name, 1)), harmless = 0;
    struct journal_report report;
    for (uint64_t at = 0; at < bytes; at += STEP) {
        simdisk_flip_bit(s, name, at, (uint32_t)(at * 3 % 8));
        enum err e = journal_fixture_verify(l.disk, &report, &l.why);
        if (e == ERR_OK) check_content(s);
        simdisk_flip_bit(s, name, at, (uint32_t)(at * 3 % 8));
        if (e == ERR_OK) harmless++;
        if (e == ERR_OK) continue;
        assert_int_equal(e, ERR_CORRUPT);
        assert_non_null(strstr(l.why.text, name));
        assert_non_null(strstr(l.why.text, "byte"));
    }
    assert_true(harmless < bytes / 1000);
    for (uint64_t cut = 0; cut < bytes; cut += STEP) {
        struct simdisk *c = simdisk_clone(s);
        simdisk_cut(c, name, cut);
        assert_int_equal(journal_fixture_verify(simdisk_disk(c), &report, &l.why), ERR_CORRUPT);
        assert_non_null(strstr(l.why.text, name));
        simdisk_free(c);
    }
    /* A server does not need the archive to start, so its rot does not stop one. */
    simdisk_flip_bit(s, name, 40, 1);
    start(&l, s);
    assert_int_equal(journal_fixture_read(&l, 1), ERR_CORRUPT);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

struct rotting {
    struct simdisk *sim;
    uint32_t what; /* 0 the header of the plain segment, 1 its first block, 2 the packed one */
    bool done;
};

static void rot_now(void *ctx) {
    struct rotting *rot = ctx;
    char name[SEGMENT_NAME_MAX];
    segment_name(name, 1, true);
    if (rot->what == 2) segment_packed_name(name, 1);
    rot->done = true;
    if (!simdisk_exists(rot->sim, name)) return;
    simdisk_flip_bit(rot->sim, name, rot->what == 1 ? BLOCK_FIRST_OFFSET + 100 : 40, 1);
}

static void a_damaged_plain_segment_stays_and_the_others_are_packed(void **state) {
    (void)state;
    struct simdisk *s = archived_journal();
    struct journal_fixture l;
    struct archive_report r;
    char name[SEGMENT_NAME_MAX];
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    uint32_t plain = count_of(s, false);
    segment_name(name, 1, true);
    simdisk_flip_bit(s, name, BLOCK_FIRST_OFFSET + BLOCK_ALIGN + 100, 2);
    assert_int_equal(pack_now(&l, &r), ERR_CORRUPT);
    assert_non_null(strstr(l.why.text, name));
    assert_int_equal(r.packed_count, plain - 1);
    assert_true(simdisk_exists(s, name));
    assert_int_equal(count_of(s, true), plain - 1);
    simdisk_free(s);

    s = archived_journal(); /* two of them: the first is named. In its last block: the next one does not follow */
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    uint64_t used = 0, bytes;
    const uint8_t *file = simdisk_peek(s, name, &bytes);
    for (uint64_t at = 0; at < bytes; at += BLOCK_ALIGN)
        if (file[at] != 0) used = at;
    simdisk_flip_bit(s, name, used + 100, 2);
    segment_name(name, 3, true);
    simdisk_flip_bit(s, name, BLOCK_FIRST_OFFSET + 100, 2);
    segment_name(name, 1, true);
    assert_int_equal(pack_now(&l, &r), ERR_CORRUPT);
    assert_non_null(strstr(l.why.text, name));
    assert_int_equal(r.packed_count, plain - 2);
    assert_int_equal(archive_run(l.disk, DAYS, (wall_time){l.clock.ms}, &r, NULL), ERR_CORRUPT); /* nobody asks why */
    simdisk_free(s);
}

/* Rot while it is being packed: the plain segment goes only if what was packed is whole. */
static void rot_during_packing_costs_nothing_more(void **state) {
    (void)state;
    struct simdisk *base = archived_journal();
    for (uint32_t what = 0; what < 3; what++) {
        bool went_on = true;
        for (uint64_t k = 0; went_on; k += STEP) {
            struct rotting rot = {.sim = simdisk_clone(base), .what = what};
            struct journal_fixture l;
            struct archive_report r;
            struct packed *p;
            char plain[SEGMENT_NAME_MAX], packed[SEGMENT_NAME_MAX];
            segment_name(plain, 1, true);
            journal_fixture_init(&l, simdisk_disk(rot.sim), SEGMENT);
            simdisk_meanwhile(rot.sim, k, rot_now, &rot);
            enum err e = pack_now(&l, &r);
            simdisk_meanwhile(rot.sim, 0, NULL, NULL);
            went_on = rot.done;
            assert_true(e == ERR_OK || e == ERR_CORRUPT);
            if (e == ERR_OK && !simdisk_exists(rot.sim, plain) && !(what == 2 && went_on)) {
                assert_int_equal(packed_open(l.disk, packed_name(packed, 1), &p, &l.why), ERR_OK);
                packed_close(p);
                check_content(rot.sim);
            }
            simdisk_free(rot.sim);
        }
    }
    simdisk_free(base);
}

/* A packed twin that is not what the plain one is (another hand, a bug): the plain one counts, and is packed again. */
static void a_wrong_twin_is_replaced(void **state) {
    (void)state;
    struct simdisk *s = archived_journal();
    struct journal_fixture l;
    struct archive_report r;
    char name[SEGMENT_NAME_MAX];
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    simdisk_put(s, packed_name(name, 1), "nonsense", 8);
    check_all(s, 27);
    simdisk_arm(s, SIMDISK_SYNC_DIR, SIMDISK_ERROR, 0); /* is its name durable? */
    assert_int_equal(pack_now(&l, &r), ERR_IO);
    simdisk_arm(s, SIMDISK_REMOVE, SIMDISK_ERROR, 0); /* it is to go */
    assert_int_equal(pack_now(&l, &r), ERR_IO);
    check_all(s, 27);
    assert_int_equal(pack_now(&l, &r), ERR_OK);
    assert_int_equal(count_of(s, false), 0);
    check_all(s, 27);
    simdisk_free(s);
}

static uint64_t oldest_record(struct journal_fixture *l) {
    struct journal_report r;
    assert_int_equal(journal_fixture_verify(l->disk, &r, &l->why), ERR_OK);
    return r.first_lsn;
}

static void live_remove(struct journal_fixture *l, const struct simdisk *s) {
    char name[SEGMENT_NAME_MAX];
    for (uint64_t number = 1; number < 64; number++) {
        segment_name(name, number, false);
        if (simdisk_exists(s, name)) assert_int_equal(l->disk->ops->remove(l->disk, name, &l->why), ERR_OK);
    }
}

/* Nothing in it; a blank live segment below it; nothing alive above it. */
static void an_archive_in_odd_states_is_left_as_it_is(void **state) {
    (void)state;
    static const uint8_t blank[SEGMENT];
    struct journal_fixture l;
    struct archive_report r;
    struct simdisk *s = simdisk_new(1);
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(pack_now(&l, &r), ERR_OK);
    assert_int_equal(r.packed_count + r.removed_count, 0);
    simdisk_free(s);

    s = archived_journal();
    start(&l, s);
    journal_fixture_append_ok(&l, 1, 100);
    cover(&l, l.head.lsn);
    journal_fixture_stop(&l);
    simdisk_kill(s);
    char name[SEGMENT_NAME_MAX];
    segment_name(name, 1, true);
    assert_int_equal(l.disk->ops->remove(l.disk, name, &l.why), ERR_OK);
    simdisk_put(s, "journal/0000000000000001.seg", blank, SEGMENT);
    l.clock.ms += 1000 * DAY_MS;
    assert_int_equal(pack_now(&l, &r), ERR_OK);
    assert_true(r.removed_count > 0);
    assert_true(simdisk_exists(s, "journal/0000000000000001.seg"));
    uint32_t plain = count_of(s, false), packed = count_of(s, true);
    live_remove(&l, s);
    assert_int_equal(pack_now(&l, &r), ERR_OK); /* the last one has no next: nobody knows where it ends */
    assert_int_equal(r.removed_count, 0);
    assert_int_equal(count_of(s, false) + count_of(s, true), plain + packed);
    simdisk_free(s);

    s = archived_journal();
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    live_remove(&l, s);
    assert_int_equal(pack_now(&l, &r), ERR_OK);
    assert_int_equal(count_of(s, false), 1);
    simdisk_free(s);
}

static void snapshot_gone(void *ctx) {
    struct journal_fixture *l = ctx;
    struct snapshot_list list;
    struct why why;
    assert_int_equal(snapfile_list_load(l->disk, &list, &why), ERR_OK);
    if (list.count > 2) assert_int_equal(snapfile_remove(l->disk, list.lsn[1], &why), ERR_OK);
}

/* A damaged header is passed over; so is one that the owner removes between two calls. */
static void snapshots_that_cannot_be_read_do_not_count(void **state) {
    (void)state;
    struct simdisk *base = archived_journal();
    struct journal_fixture l;
    struct archive_report r;
    start(&l, base);
    for (uint32_t i = 0; i < 2; i++) {
        journal_fixture_append_ok(&l, 1, 100);
        assert_int_equal(journal_fixture_snapshot(&l, l.head.lsn, 100), ERR_OK);
    }
    journal_fixture_stop(&l);
    simdisk_kill(base);
    struct snapshot_list list;
    assert_int_equal(snapfile_list_load(l.disk, &list, &l.why), ERR_OK);
    assert_int_equal(list.count, 3);
    for (uint64_t k = 0; k < 40; k++) {
        struct simdisk *s = simdisk_clone(base);
        journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
        l.clock.ms += 1000 * DAY_MS;
        char name[64];
        snprintf(name, sizeof name, "journal/snap-%016llx", (unsigned long long)list.lsn[2]);
        if (k == 0)
            simdisk_flip_bit(s, name, 20, 1); /* the oldest: the second oldest is the one to stand on */
        else
            simdisk_meanwhile(s, k - 1, snapshot_gone, &l);
        assert_int_equal(pack_now(&l, &r), ERR_OK);
        simdisk_meanwhile(s, 0, NULL, NULL);
        assert_true(r.removed_count > 0);
        if (k == 0) simdisk_flip_bit(s, name, 20, 1);
        assert_true(oldest_record(&l) <= list.lsn[1] + 1);
        simdisk_free(s);
    }
    simdisk_free(base);
}

/* ---- past its time ---- */

/* Half a year, a compaction every six hours. At every moment: at least 30 days reach back, states included; not much
 * more than an eighth beyond that is kept; and few snapshots. */
static void the_archive_reaches_as_far_as_promised_and_little_further(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(3);
    struct journal_fixture l;
    start(&l, s);
    static uint64_t lsn_at[180 * 4];
    int64_t begin = l.clock.ms;
    uint64_t removed = 0;
    for (uint32_t i = 0; i < 180 * 4; i++) {
        l.clock.ms = begin + (int64_t)i * DAY_MS / 4;
        for (uint32_t k = 0; k < 5; k++) journal_fixture_append_ok(&l, 1, 6000);
        lsn_at[i] = l.head.lsn;
        struct archive_report r;
        cover(&l, l.head.lsn);
        assert_int_equal(pack_now(&l, &r), ERR_OK);
        removed += r.removed_count;
        struct snapshot_list list;
        assert_int_equal(snapfile_list_load(l.disk, &list, &l.why), ERR_OK);
        assert_true(list.count <= 12);
        if (i % 16 != 15) continue;
        uint64_t oldest = oldest_record(&l);
        uint32_t due = i > DAYS * 4 ? i - DAYS * 4 : 0; /* what was written after it has to be there */
        assert_true(oldest <= (due > 0 ? lsn_at[due] + 1 : 1));
        if (i > DAYS * 5) assert_true(oldest > lsn_at[due - DAYS * 4 / 8 - 8]);
        /* a state can be rebuilt for all of it: from record 1, or from a snapshot that the segments continue */
        uint64_t base = list.lsn[list.count - 1];
        assert_true(oldest == 1 || (base <= lsn_at[due] && oldest <= base + 1));
    }
    assert_true(removed > 300);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static void nothing_goes_that_the_oldest_snapshot_needs(void **state) {
    (void)state;
    struct simdisk *s = archived_journal();
    struct journal_fixture l;
    struct archive_report r;
    start(&l, s);
    l.clock.ms += 1000 * DAY_MS;
    assert_int_equal(pack_now(&l, &r), ERR_OK);
    assert_int_equal(r.removed_count, 0); /* one snapshot alone has nothing to fall back to */
    journal_fixture_append_ok(&l, 1, 100);
    cover(&l, l.head.lsn);
    struct snapshot_list list;
    assert_int_equal(snapfile_list_load(l.disk, &list, &l.why), ERR_OK);
    assert_int_equal(list.count, 2);
    char name[64];
    snprintf(name, sizeof name, "journal/snap-%016llx", (unsigned long long)list.lsn[1]);
    simdisk_flip_bit(s, name, 300, 1);
    assert_int_equal(pack_now(&l, &r), ERR_CORRUPT); /* the one it would have to stand on is rotten */
    assert_int_equal(r.removed_count, 0);
    simdisk_flip_bit(s, name, 300, 1);
    assert_int_equal(pack_now(&l, &r), ERR_OK);
    assert_true(r.removed_count > 0);
    assert_true(oldest_record(&l) <= list.lsn[1] + 1);
    journal_fixture_stop(&l);
    simdisk_free(s);
}

/* As a run leaves it that was interrupted between the packed name and the removal of the plain one. */
static void twin_put(struct simdisk *s) {
    struct simdisk *c = simdisk_clone(s);
    struct archive_report r;
    struct why why;
    char name[SEGMENT_NAME_MAX];
    uint64_t bytes;
    assert_int_equal(archive_run(simdisk_disk(c), DAYS, (wall_time){0}, &r, &why), ERR_OK);
    const uint8_t *file = simdisk_peek(c, packed_name(name, 1), &bytes);
    simdisk_put(s, name, file, bytes);
    simdisk_free(c);
}

static void every_call_of_removing_fails_once(void **state) {
    (void)state;
    struct simdisk *base = archived_journal();
    struct journal_fixture l;
    struct archive_report r;
    start(&l, base);
    l.clock.ms += 1000 * DAY_MS;
    int64_t now = l.clock.ms;
    journal_fixture_append_ok(&l, 1, 100);
    cover(&l, l.head.lsn);
    for (uint32_t i = 0; i < 3; i++) { /* of these thinning leaves the first and the last */
        l.clock.ms = now += 1000;
        journal_fixture_append_ok(&l, 1, 100);
        assert_int_equal(journal_fixture_snapshot(&l, l.head.lsn, 100), ERR_OK);
    }
    uint64_t last = l.head.lsn;
    journal_fixture_stop(&l);
    simdisk_crash(base, SIMDISK_DROP_ALL);
    twin_put(base); /* goes with its plain one */
    for (uint64_t call = 0, done = 0; !done; call++) {
        for (uint32_t way = 0; way < 4; way++) {
            struct simdisk *s = simdisk_clone(base);
            journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
            l.clock.ms = now;
            simdisk_arm(s, SIMDISK_ANY, way % 2 ? SIMDISK_POWER : SIMDISK_ERROR, call);
            enum err thinned = archive_thin(l.disk, DAYS, (wall_time){now}, &l.why);
            done = pack_now(&l, &r) == ERR_OK && r.removed_count > 0 && call > 20 && thinned == ERR_OK;
            simdisk_arm(s, SIMDISK_ANY, SIMDISK_FINE, 0);
            simdisk_crash(s, (enum simdisk_crash_policy)way);
            start(&l, s);
            assert_int_equal(l.head.lsn, last);
            l.clock.ms = now;
            struct snapshot_list list;
            assert_int_equal(snapfile_list_load(l.disk, &list, &l.why), ERR_OK);
            assert_true(oldest_record(&l) <= list.lsn[1] + 1); /* no gap, and the fall-back stands */
            assert_int_equal(pack_now(&l, &r), ERR_OK);
            assert_true(oldest_record(&l) > 1);
            journal_fixture_stop(&l);
            simdisk_free(s);
        }
    }
    simdisk_free(base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_segments_read_as_they_were),
        cmocka_unit_test(a_packed_segment_is_read_forwards_and_back),
        cmocka_unit_test(large_segments_are_packed_in_frames),
        cmocka_unit_test(every_call_of_packing_fails_once),
        cmocka_unit_test(rot_in_a_packed_segment_is_refused_with_file_and_byte),
        cmocka_unit_test(a_damaged_plain_segment_stays_and_the_others_are_packed),
        cmocka_unit_test(rot_during_packing_costs_nothing_more),
        cmocka_unit_test(a_wrong_twin_is_replaced),
        cmocka_unit_test(an_archive_in_odd_states_is_left_as_it_is),
        cmocka_unit_test(snapshots_that_cannot_be_read_do_not_count),
        cmocka_unit_test(the_archive_reaches_as_far_as_promised_and_little_further),
        cmocka_unit_test(nothing_goes_that_the_oldest_snapshot_needs),
        cmocka_unit_test(every_call_of_removing_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
