/* writer_test.c: appends from two threads in turn on real files, with segments being made, trimmed, snapshotted and
 * asked about by others at the same time. Meant for the ThreadSanitizer build. */
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "file.h"
#include "hash.h"
#include "jlab.h"
#include "tmpdisk.h"
#include "writer.h"

#define SEGMENT (256u * 1024u)
#define APPENDS 3000u

struct busybody {
    struct jlab lab; /* its own why and head; the journal is shared */
    atomic_uint_fast64_t durable;
    atomic_bool stop;
};

/* cmocka's assertions belong to the main thread. */
static void must(enum err e, const struct why *why) {
    if (e == ERR_OK) return;
    fprintf(stderr, "%s: %s\n", err_word(e), why->text);
    PANIC("beside the appends");
}

/* What a server does beside its appends. */
static void *busybody_main(void *arg) {
    struct busybody *b = arg;
    uint64_t last = 0;
    while (!b->stop) {
        uint64_t lsn = b->durable, space;
        must(file_space(b->lab.journal, &space, &b->lab.why), &b->lab.why);
        if (lsn < last + 100) continue;
        last = lsn;
        must(jlab_snapshot(&b->lab, lsn, 3000), &b->lab.why);
        must(b->lab.journal->ops->trim(b->lab.journal, lsn, &b->lab.why), &b->lab.why);
    }
    return NULL;
}

static void wait_and_take(struct writer *w, struct writer_result *r) {
    struct pollfd p = {.fd = writer_fd(w), .events = POLLIN};
    while (!writer_take(w, r)) assert_int_equal(poll(&p, 1, 30000), 1);
}

static void appends_from_two_threads_are_one_chain(void **state) {
    (void)state;
    for (uint32_t archive = 0; archive < 2; archive++) {
        struct tmpdisk t;
        tmpdisk_make(&t);
        struct jlab l;
        jlab_init(&l, t.disk, SEGMENT);
        l.options.archive_days = archive;
        assert_int_equal(jlab_start(&l), ERR_OK);
        struct writer *w;
        assert_int_equal(writer_open(l.journal, &w, &l.why), ERR_OK);
        struct busybody b = {.lab = l};
        pthread_t busy;
        assert_int_equal(pthread_create(&busy, NULL, busybody_main, &b), 0);
        struct test_random r = {archive};
        static uint8_t payload[20000];
        for (uint32_t i = 0; i < APPENDS; i++) {
            uint64_t lsn = l.head.lsn + 1;
            size_t bytes = test_random_below(&r, i % 50 == 0 ? sizeof payload : 600);
            jlab_fill(payload, bytes, lsn);
            struct batch batch = {.first_lsn = lsn, .last_lsn = lsn, .epoch = l.head.epoch, .rules = 1,
                                  .time = {l.clock.ms}, .seed = hash_mix(lsn), .records = slice_of(payload, bytes)};
            struct writer_result done;
            bool here = test_random_below(&r, 2) == 0;
            assert_false(writer_is_busy(w));
            if (!writer_append(w, l.head.epoch, l.head.lsn, &batch, here, &done)) wait_and_take(w, &done);
            assert_int_equal(done.outcome, JOURNAL_DURABLE);
            assert_int_equal(done.last_lsn, lsn);
            l.head.lsn = lsn;
            b.durable = lsn;
            if (i % 500 == 499) assert_int_equal(file_seal(l.journal, &l.why), ERR_OK);
        }
        b.stop = true;
        assert_int_equal(pthread_join(busy, NULL), 0);
        writer_close(w);
        uint64_t head = l.head.lsn;
        jlab_stop(&l);
        tmpdisk_reopen(&t);
        l.disk = t.disk;
        assert_int_equal(jlab_start(&l), ERR_OK);
        assert_int_equal(l.head.lsn, head);
        jlab_stop(&l);
        tmpdisk_remove(&t);
    }
}

static void closing_waits_for_what_is_in_flight(void **state) {
    (void)state;
    struct tmpdisk t;
    tmpdisk_make(&t);
    struct jlab l;
    jlab_init(&l, t.disk, SEGMENT);
    for (uint64_t i = 1; i <= 30; i++) {
        assert_int_equal(jlab_start(&l), ERR_OK);
        assert_int_equal(l.head.lsn, i - 1);
        struct writer *w;
        assert_int_equal(writer_open(l.journal, &w, &l.why), ERR_OK);
        uint8_t payload[100];
        jlab_fill(payload, sizeof payload, i);
        struct batch batch = {.first_lsn = i, .last_lsn = i, .epoch = l.head.epoch, .rules = 1, .time = {l.clock.ms},
                              .seed = hash_mix(i), .records = slice_of(payload, sizeof payload)};
        struct writer_result done;
        assert_false(writer_append(w, l.head.epoch, l.head.lsn, &batch, false, &done));
        assert_true(writer_is_busy(w));
        writer_close(w);
        jlab_stop(&l);
        tmpdisk_reopen(&t);
        l.disk = t.disk;
    }
    tmpdisk_remove(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_from_two_threads_are_one_chain),
        cmocka_unit_test(closing_waits_for_what_is_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
