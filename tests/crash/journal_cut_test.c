/* journal_cut_test.c: the journal cut at every byte, every sector kept or lost, every byte rotten, every call failing.
 *
 * What must hold each time: recovery gives a prefix with every acknowledged batch in it, or refuses and names file and
 * byte. Never a gap, never an acknowledged batch missing in silence (save the last one when nothing seals it), never a
 * refusal of what a crash alone can leave. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "block.h"
#include "journal_fixture.h"
#include "segment.h"
#include "simdisk.h"

#define SEGMENT (32u * 1024u)
#define BATCHES 6u
/* The plain builds walk every byte; under the sanitizer and without an optimiser, ten times slower, every seventh. */
#if defined __SANITIZE_ADDRESS__ || !defined __OPTIMIZE__
#define STEP 7u
#else
#define STEP 1u
#endif

/* A journal of BATCHES batches in two segments, closed without a seal unless asked. */
static struct simdisk *small_journal(bool sealed) {
    struct simdisk *s = simdisk_new(5);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    for (uint32_t i = 0; i < BATCHES; i++) journal_fixture_append_ok(&l, 2, i == 2 ? 9000 : 100 + i * 300);
    if (sealed) assert_int_equal(l.journal->ops->seal(l.journal, &l.why), ERR_OK);
    journal_fixture_stop(&l);
    simdisk_crash(s, SIMDISK_DROP_ALL);
    return s;
}

static const char *last_segment(const struct simdisk *s, char name[SEGMENT_NAME_MAX]) {
    uint64_t number = 1;
    do segment_name(name, ++number, false);
    while (simdisk_exists(s, name));
    segment_name(name, number - 1, false);
    return name;
}

/* Starts on a copy; gives the records found, or -1 when refused with a place. */
static int64_t recover_copy(const struct simdisk *s, struct why *why) {
    struct simdisk *c = simdisk_clone(s);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(c), SEGMENT);
    enum err e = journal_fixture_start(&l);
    int64_t found = e == ERR_OK ? (int64_t)l.read_lsn : -1;
    if (e != ERR_OK) {
        assert_int_equal(e, ERR_CORRUPT);
        assert_non_null(strstr(l.why.text, ".seg"));
        assert_non_null(strstr(l.why.text, "byte"));
        if (why != NULL) *why = l.why;
    } else { /* and life goes on, and the next recovery agrees */
        journal_fixture_append_ok(&l, 1, 50);
        journal_fixture_stop(&l);
        simdisk_crash(c, SIMDISK_DROP_ALL);
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        assert_int_equal(l.read_lsn, found + 1);
    }
    journal_fixture_stop(&l);
    simdisk_free(c);
    return found;
}

static void a_file_cut_at_any_byte_is_refused(void **state) {
    (void)state;
    struct simdisk *s = small_journal(false);
    char name[SEGMENT_NAME_MAX];
    for (uint64_t number = 1; number <= 2; number++) {
        segment_name(name, number, false);
        for (uint64_t at = 0; at < SEGMENT; at += STEP) {
            struct simdisk *c = simdisk_clone(s);
            simdisk_cut(c, name, at);
            /* a segment had its full size before its name: no crash can shorten it */
            assert_int_equal(recover_copy(c, NULL), -1);
            simdisk_free(c);
        }
    }
    simdisk_free(s);
}

/* Where each block of a segment ends (padding left out), by reading the format, not by asking the journal. */
struct ends {
    uint64_t end[32];
    uint64_t lsn[32]; /* last record in or before it */
    uint32_t count;
};

static void ends_of(const struct simdisk *s, const char *name, struct ends *ret) {
    uint64_t bytes;
    const uint8_t *at = simdisk_peek(s, name, &bytes);
    struct block b;
    ret->count = 0;
    for (uint64_t o = BLOCK_FIRST_OFFSET; o < bytes && block_peek(slice_of(at + o, bytes - o), bytes - o, &b);
         o += b.total_bytes) {
        ret->end[ret->count] = o + BLOCK_HEADER_BYTES + b.batch.records.len;
        ret->lsn[ret->count++] = b.batch.last_lsn;
    }
}

static void bytes_that_never_arrived_are_a_torn_tail(void **state) {
    (void)state;
    for (uint32_t sealed = 0; sealed < 2; sealed++) {
        struct simdisk *s = small_journal(sealed);
        char name[SEGMENT_NAME_MAX];
        struct ends ends;
        ends_of(s, last_segment(s, name), &ends);
        uint64_t bytes;
        const uint8_t *peek = simdisk_peek(s, name, &bytes);
        uint8_t *copy = malloc(bytes);
        assert_non_null(copy);
        for (uint64_t from = BLOCK_FIRST_OFFSET; from < bytes; from += STEP) {
            memcpy(copy, peek, bytes);
            memset(copy + from, 0, bytes - from);
            uint64_t want = ends.lsn[0] - (ends.count > 1 ? 2 : 0); /* before the first block of this segment */
            for (uint32_t i = 0; i < ends.count; i++) {
                bool whole = memcmp(copy, peek, ends.end[i]) == 0;
                if (whole) want = ends.lsn[i];
            }
            struct simdisk *c = simdisk_clone(s);
            simdisk_put(c, name, copy, bytes);
            assert_int_equal(recover_copy(c, NULL), want);
            simdisk_free(c);
        }
        free(copy);
        simdisk_free(s);
    }
}

/* Appends one batch whose sync is cut by a power failure; what waits is decided by the caller. */
static struct simdisk *torn_append(const struct simdisk *base, size_t bytes, bool fill_first, uint64_t *ret_lsn) {
    struct simdisk *s = simdisk_clone(base);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(l.journal->ops->prepare(l.journal, &l.why), ERR_OK);
    if (fill_first) { /* so that the torn one is the first of a segment */
        uint64_t opened = simdisk_calls(s, SIMDISK_OPEN);
        while (simdisk_calls(s, SIMDISK_OPEN) == opened) journal_fixture_append_ok(&l, 1, 3000);
        assert_int_equal(l.journal->ops->prepare(l.journal, &l.why), ERR_OK);
        for (uint32_t i = 0; i < SEGMENT / BLOCK_ALIGN - 2; i++) journal_fixture_append_ok(&l, 1, 3000);
    }
    simdisk_arm(s, SIMDISK_SYNC, SIMDISK_POWER, fill_first ? 1 : 0); /* the header's own sync goes before */
    assert_int_equal(journal_fixture_append(&l, 1, bytes), JOURNAL_FAILED);
    *ret_lsn = l.head.lsn;
    journal_fixture_stop(&l);
    return s;
}

static void every_choice_of_sectors_is_a_torn_tail(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 500, 4016, 4017, 12000, 20000};
    struct simdisk *base = small_journal(false);
    struct test_random r = {11};
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0] * 2; i++) {
        uint64_t lsn;
        size_t size = sizes[i / 2];
        struct simdisk *s = torn_append(base, size, i % 2, &lsn);
        uint32_t sectors = simdisk_unsynced(s);
        assert_true(sectors > 0 && sectors <= 64);
        uint64_t choices = sectors <= 12 ? 1ull << sectors : 400;
        uint32_t needed = (uint32_t)((BLOCK_HEADER_BYTES + size + SIMDISK_SECTOR - 1) / SIMDISK_SECTOR);
        for (uint64_t k = 0; k < choices; k++) {
            uint64_t mask = sectors <= 12 ? k : k == 0 ? UINT64_MAX : test_random_next(&r);
            struct simdisk *c = simdisk_clone(s);
            simdisk_crash_mask(c, &mask);
            uint64_t all = needed == 64 ? UINT64_MAX : (1ull << needed) - 1;
            assert_int_equal(recover_copy(c, NULL), (mask & all) == all ? lsn + 1 : lsn);
            simdisk_free(c);
        }
        simdisk_free(s);
    }
    simdisk_free(base);
}

/* Whatever recovery thinks of a tail, it may be wrong, and a person may want to look: the bytes stay. */
static void a_torn_tail_stays_as_evidence(void **state) {
    (void)state;
    struct simdisk *base = small_journal(false);
    uint64_t lsn, bytes, mask = 0x2d;
    struct simdisk *s = torn_append(base, 3000, false, &lsn);
    simdisk_crash_mask(s, &mask);
    char name[SEGMENT_NAME_MAX];
    segment_name(name, 2, false);
    uint8_t before[SEGMENT];
    memcpy(before, simdisk_peek(s, name, &bytes), SEGMENT);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(l.head.lsn, lsn);
    for (uint32_t i = 0; i < 20; i++) journal_fixture_append_ok(&l, 1, 3000);
    assert_memory_equal(before, simdisk_peek(s, name, &bytes), SEGMENT);
    journal_fixture_stop(&l);
    simdisk_free(s);
    simdisk_free(base);
}

static void every_rotten_byte_is_refused_or_harmless(void **state) {
    (void)state;
    for (uint32_t sealed = 0; sealed < 2; sealed++) {
        struct simdisk *s = small_journal(sealed);
        char name[SEGMENT_NAME_MAX], last[SEGMENT_NAME_MAX];
        struct ends ends;
        ends_of(s, last_segment(s, last), &ends);
        uint64_t tail_from = (ends.end[ends.count - 1] - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
        uint32_t refused = 0, torn = 0;
        for (uint64_t number = 1; number <= 2; number++) {
            segment_name(name, number, false);
            for (uint64_t at = 0; at < SEGMENT; at += STEP) {
                simdisk_flip_bit(s, name, at, (uint32_t)(at * 5 % 8));
                struct why why;
                int64_t found = recover_copy(s, &why);
                simdisk_flip_bit(s, name, at, (uint32_t)(at * 5 % 8));
                bool in_last = strcmp(name, last) == 0 && at >= tail_from && at < ends.end[ends.count - 1];
                if (found == -1) refused++;
                else if (in_last && !sealed) torn++;
                if (found == -1) assert_non_null(strstr(why.text, name)); /* the right file is named */
                else if (in_last && !sealed) assert_int_equal(found, 2 * BATCHES - 2);
                else assert_int_equal(found, 2 * BATCHES);
            }
        }
        assert_true(refused > 9000 / STEP); /* every byte of every block that something follows */
        uint64_t last_bytes = ends.end[ends.count - 1] - tail_from;
        assert_in_range(torn, sealed ? 0 : last_bytes / STEP, sealed ? 0 : last_bytes / STEP + 1);
        simdisk_free(s);
    }
}

static void a_lost_sector_of_an_old_block_is_damage(void **state) {
    (void)state;
    struct simdisk *s = small_journal(true);
    char name[SEGMENT_NAME_MAX];
    segment_name(name, 1, false);
    uint64_t bytes;
    const uint8_t *peek = simdisk_peek(s, name, &bytes);
    struct ends ends;
    ends_of(s, name, &ends);
    for (uint64_t at = 0; at < ends.end[ends.count - 1]; at += SIMDISK_SECTOR) {
        uint8_t copy[SEGMENT];
        memcpy(copy, peek, bytes);
        memset(copy + at, 0, SIMDISK_SECTOR); /* as a disk that lost a write shows it */
        if (memcmp(copy, peek, bytes) == 0) continue;
        struct simdisk *c = simdisk_clone(s);
        simdisk_put(c, name, copy, bytes);
        assert_int_equal(recover_copy(c, NULL), -1);
        simdisk_free(c);
    }
    simdisk_free(s);
}

static void a_lost_segment_is_damage(void **state) {
    (void)state;
    struct simdisk *s = small_journal(true);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    char name[SEGMENT_NAME_MAX];
    segment_name(name, 1, false);
    assert_int_equal(l.disk->ops->remove(l.disk, name, &l.why), ERR_OK);
    assert_int_equal(journal_fixture_start(&l), ERR_CORRUPT); /* records 1… are nowhere, and no snapshot has them */
    journal_fixture_stop(&l);
    simdisk_free(s);
}

/* ---- every call fails once ---- */

struct story {
    uint64_t acked;    /* last acknowledged record */
    uint64_t tried;    /* last record handed to an append */
    bool sync_failed;
};

static bool story_append(struct journal_fixture *l, struct story *t, uint32_t i) {
    enum journal_outcome o = JOURNAL_FULL;
    for (uint32_t tries = 0; o == JOURNAL_FULL && tries < 3; tries++) {
        t->tried = l->head.lsn + 1;
        o = journal_fixture_append(l, 1, 200 + i * 1777 % 7000);
    }
    if (o == JOURNAL_DURABLE) t->acked = l->head.lsn;
    return o == JOURNAL_DURABLE;
}

/* All a server does to its journal, until the first thing that fails it. */
static void story_tell(struct simdisk *s, struct story *t, uint32_t archive) {
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    l.options.archive_days = archive;
    bool good = journal_fixture_start(&l) == ERR_OK;
    for (uint32_t i = 0; good && i < 12; i++) {
        good = story_append(&l, t, i);
        if (good && i % 4 == 3) good = l.journal->ops->seal(l.journal, &l.why) == ERR_OK;
        if (good && i % 5 == 1) (void)!l.journal->ops->prepare(l.journal, &l.why);
        if (good && i == 10) { /* and again from what is there */
            journal_fixture_stop(&l);
            simdisk_kill(s);
            good = journal_fixture_start(&l) == ERR_OK;
        }
        if (good && i == 8 && journal_fixture_snapshot(&l, 6, 700) == ERR_OK)
            (void)!l.journal->ops->trim(l.journal, 6, &l.why);
    }
    journal_fixture_stop(&l);
}

static void story_check(struct simdisk *s, const struct story *t, uint32_t archive) {
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    l.options.archive_days = archive;
    enum err e = journal_fixture_start(&l);
    if (e != ERR_OK) print_message("refused: %s\n", l.why.text);
    assert_int_equal(e, ERR_OK);
    assert_true(l.head.lsn >= t->acked);
    assert_true(l.head.lsn <= t->tried || l.head.lsn == t->acked);
    uint64_t head = l.head.lsn;
    journal_fixture_append_ok(&l, 1, 5000);
    journal_fixture_stop(&l);
    simdisk_crash(s, SIMDISK_DROP_ALL); /* what the second life built on was durable */
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(l.head.lsn, head + 1);
    journal_fixture_stop(&l);
}

static void crash_by(struct simdisk *s, uint32_t way) {
    if (way < 4) simdisk_crash(s, (enum simdisk_crash_policy)way);
    else simdisk_kill(s); /* the process stopped, the machine went on */
}

static void every_call_fails_once(void **state) {
    (void)state;
    static const enum simdisk_fault faults[] = {SIMDISK_ERROR, SIMDISK_SHORT, SIMDISK_NO_SPACE, SIMDISK_POWER};
    for (uint32_t archive = 0; archive < 2; archive++) {
        struct simdisk *whole = simdisk_new(3);
        struct story all = {0};
        story_tell(whole, &all, archive);
        assert_int_equal(all.acked, 12);
        uint64_t calls = simdisk_calls(whole, SIMDISK_ANY);
        simdisk_free(whole);
        for (uint64_t call = 0; call < calls; call++) {
            for (uint32_t k = 0; k < 4 * 8; k++) {
                struct simdisk *s = simdisk_new(call * 131 + k);
                struct story t = {0};
                simdisk_arm(s, SIMDISK_ANY, faults[k % 4], call);
                story_tell(s, &t, archive);
                simdisk_arm(s, SIMDISK_ANY, SIMDISK_FINE, 0);
                uint32_t way = k / 4 < 5 ? k / 4 : 2 + k % 2; /* each way once, the random ones more often */
                crash_by(s, faults[k % 4] == SIMDISK_POWER && way == 4 ? 2 : way);
                story_check(s, &t, archive);
                simdisk_free(s);
            }
        }
    }
}

static void storms_of_faults_lose_nothing(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct simdisk *s = simdisk_new(seed);
        struct story t = {0};
        struct simdisk_chances c = {.write_error_ppm = 20000, .write_short_ppm = 200000, .read_short_ppm = 200000,
                                    .sync_error_ppm = 20000};
        for (uint32_t life = 0; life < 4; life++) {
            simdisk_chances_set(s, &c);
            story_tell(s, &t, seed % 2);
            crash_by(s, (uint32_t)(seed + life) % 5);
        }
        simdisk_chances_set(s, &(struct simdisk_chances){0});
        story_check(s, &t, seed % 2);
        simdisk_free(s);
    }
}

/* ---- bytes that look like blocks ---- */

/* A client that knows the format, and even the nonce, puts whole blocks into its payload. Their offset is wrong. */
static void a_forged_block_in_a_torn_payload_is_no_damage(void **state) {
    (void)state;
    struct simdisk *s = small_journal(false);
    struct journal_fixture l;
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    char name[SEGMENT_NAME_MAX];
    uint64_t bytes;
    const uint8_t *peek = simdisk_peek(s, last_segment(s, name), &bytes);
    uint8_t payload[3 * BLOCK_ALIGN];
    memset(payload, 1, sizeof payload);
    memcpy(payload + BLOCK_ALIGN - BLOCK_HEADER_BYTES, peek + BLOCK_FIRST_OFFSET, BLOCK_ALIGN);
    memcpy(payload + 2 * BLOCK_ALIGN - BLOCK_HEADER_BYTES, peek + BLOCK_FIRST_OFFSET, BLOCK_ALIGN);
    struct batch b = {.first_lsn = l.head.lsn + 1, .last_lsn = l.head.lsn + 1, .epoch = l.head.epoch, .rules = 1,
                      .time = {l.clock.ms}, .records = slice_of(payload, sizeof payload)};
    simdisk_arm(s, SIMDISK_SYNC, SIMDISK_POWER, 0);
    assert_int_equal(l.journal->ops->append(l.journal, l.head.epoch, l.head.lsn, &b, &l.why), JOURNAL_FAILED);
    journal_fixture_stop(&l);
    uint64_t mask = ~1ull; /* all but its first sector */
    simdisk_crash_mask(s, &mask);
    assert_int_equal(recover_copy(s, NULL), 2 * BATCHES);
    simdisk_free(s);
}

/* Every segment is used again and again; whatever a crash leaves of the newest, no old byte comes back to life. */
static void a_recycled_segment_never_speaks_of_its_past(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct simdisk *s = simdisk_new(seed);
        struct journal_fixture l;
        journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
        l.options.archive_days = 0;
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        for (uint32_t i = 0; i < 40 + seed % 7; i++) {
            journal_fixture_append_ok(&l, 1, 3000);
            if (i % 6 != 5) continue;
            assert_int_equal(journal_fixture_snapshot(&l, l.head.lsn, 10), ERR_OK);
            assert_int_equal(l.journal->ops->trim(l.journal, l.head.lsn, &l.why), ERR_OK);
        }
        uint64_t head = l.head.lsn;
        simdisk_arm(s, SIMDISK_SYNC, SIMDISK_POWER, seed % 2);
        enum journal_outcome o = journal_fixture_append(&l, 1, 6000);
        if (o == JOURNAL_DURABLE) o = journal_fixture_append(&l, 1, 6000);
        assert_int_equal(o, JOURNAL_FAILED);
        if (l.head.lsn > head) head = l.head.lsn;
        journal_fixture_stop(&l);
        simdisk_crash(s, seed % 3 ? SIMDISK_RANDOM_TORN : SIMDISK_DROP_ALL);
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        assert_in_range(l.head.lsn, head, head + 1);
        journal_fixture_stop(&l);
        simdisk_free(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_cut_at_any_byte_is_refused),
        cmocka_unit_test(bytes_that_never_arrived_are_a_torn_tail),
        cmocka_unit_test(every_choice_of_sectors_is_a_torn_tail),
        cmocka_unit_test(a_torn_tail_stays_as_evidence),
        cmocka_unit_test(every_rotten_byte_is_refused_or_harmless),
        cmocka_unit_test(a_lost_sector_of_an_old_block_is_damage),
        cmocka_unit_test(a_lost_segment_is_damage),
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(storms_of_faults_lose_nothing),
        cmocka_unit_test(a_forged_block_in_a_torn_payload_is_no_damage),
        cmocka_unit_test(a_recycled_segment_never_speaks_of_its_past),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
