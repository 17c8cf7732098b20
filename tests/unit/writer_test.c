/* writer_test.c: the writer without threads, as a simulator has it: what it does and when is the owner's choice.
 * Its threads are in tests/stress. */
#include "test.h"

#include "hash.h"
#include "journal_fixture.h"
#include "simdisk.h"
#include "writer.h"

#define SEGMENT (64u * 1024u)

static struct batch next_batch(const struct journal_fixture *l, uint8_t *payload, size_t bytes) {
    uint64_t lsn = l->head.lsn + 1;
    journal_fixture_fill(payload, bytes, lsn);
    return (struct batch){.first_lsn = lsn,
                          .last_lsn = lsn,
                          .epoch = l->head.epoch,
                          .rules = 1,
                          .time = {l->clock.ms},
                          .seed = hash_mix(lsn),
                          .records = slice_of(payload, bytes)};
}

/* Starts, hands one batch over, does so many steps, closes, and starts anew after a power cut. Returns the head. */
static uint64_t head_after_close(uint32_t steps, bool hand_over) {
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    struct writer *w;
    struct writer_result done;
    uint8_t payload[300];
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(writer_open(l.journal, false, &w, &l.why), ERR_OK);
    assert_int_equal(writer_fd(w), -1);
    struct batch batch = next_batch(&l, payload, sizeof payload);
    if (hand_over) assert_false(writer_append(w, l.head.epoch, l.head.lsn, &batch, false, &done));
    assert_int_equal(writer_is_busy(w), hand_over);
    for (uint32_t i = 0; i < steps; i++) assert_true(writer_step(w));
    writer_close(w);
    journal_fixture_stop(&l);
    simdisk_crash(s, SIMDISK_DROP_ALL);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    uint64_t head = l.head.lsn;
    journal_fixture_stop(&l);
    simdisk_free(s);
    return head;
}

static void what_was_handed_over_is_durable_when_the_writer_is_closed(void **state) {
    (void)state;
    assert_int_equal(head_after_close(0, true), 1);
    assert_int_equal(head_after_close(1, true), 1); /* done, and its result never taken */
    assert_int_equal(head_after_close(0, false), 0);
}

/* The idle mark of an owner that was replaced is no failure of a disk. */
static void a_seal_by_an_old_owner_is_fenced(void **state) {
    (void)state;
    struct journal_fixture l, other;
    struct writer *w;
    struct writer_result done;
    uint8_t payload[300];
    journal_fixture_init(&l, NULL, SEGMENT);
    journal_fixture_init(&other, NULL, SEGMENT);
    l.ram = other.ram = ram_new(&(struct ram_options){0});
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    assert_int_equal(writer_open(l.journal, false, &w, &l.why), ERR_OK);
    struct batch batch = next_batch(&l, payload, sizeof payload);
    assert_true(writer_append(w, l.head.epoch, l.head.lsn, &batch, true, &done));
    assert_int_equal(journal_fixture_start(&other), ERR_OK);
    assert_true(writer_idle(w));
    assert_true(writer_step(w));
    assert_true(writer_take(w, &done));
    assert_true(done.seal);
    assert_int_equal(done.outcome, JOURNAL_FENCED);
    writer_close(w);
    journal_fixture_stop(&l);
    journal_fixture_stop(&other);
    ram_free(other.ram);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_handed_over_is_durable_when_the_writer_is_closed),
        cmocka_unit_test(a_seal_by_an_old_owner_is_fenced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
