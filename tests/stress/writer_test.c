/* writer_test.c: appends from two threads in turn on real files, with segments being made, trimmed, snapshotted and
 * asked about by others at the same time. Meant for the ThreadSanitizer build. */
#include "test.h"

#include <poll.h>
#include <signal.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

#include "file.h"
#include "hash.h"
#include "journal_fixture.h"
#include "tmpdisk.h"
#include "writer.h"

#define SEGMENT (256u * 1024u)
#define APPENDS 3000u

struct busybody {
    struct journal_fixture lab; /* its own why and head; the journal is shared */
    atomic_uint_fast64_t durable;
    atomic_uint_fast64_t snapshot; /* newest, to be trimmed to by the loop */
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
        must(b->lab.journal->ops->space(b->lab.journal, &space, &b->lab.why), &b->lab.why);
        if (lsn < last + 100) continue;
        last = lsn;
        must(journal_fixture_snapshot(&b->lab, lsn, 3000), &b->lab.why);
        b->snapshot = lsn;
    }
    return NULL;
}

static void errand_run(void *ctx) {
    ++*(uint32_t *)ctx;
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
        struct journal_fixture l;
        journal_fixture_init(&l, t.disk, SEGMENT);
        l.options.archive_days = archive;
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        struct writer *w;
        assert_int_equal(writer_open(l.journal, true, &w, &l.why), ERR_OK);
        struct busybody b = {.lab = l};
        pthread_t busy;
        assert_int_equal(pthread_create(&busy, NULL, busybody_main, &b), 0);
        struct test_random r = {archive};
        uint64_t trimmed = 0;
        uint32_t trims = 0, seals = 0, errands = 0, errands_taken = 0;
        bool errand = false;
        static uint8_t payload[20000];
        for (uint32_t i = 0; i < APPENDS; i++) {
            uint64_t lsn = l.head.lsn + 1;
            size_t bytes = test_random_below(&r, i % 50 == 0 ? sizeof payload : 600);
            journal_fixture_fill(payload, bytes, lsn);
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
            if (i % 500 == 499) assert_int_equal(l.journal->ops->seal(l.journal, &l.why), ERR_OK);
            if (test_random_below(&r, 20) == 0) {
                assert_true(writer_idle(w));
                assert_false(writer_idle(w)); /* in flight */
                wait_and_take(w, &done);
                assert_true(done.seal);
                assert_int_equal(done.outcome, JOURNAL_DURABLE);
                assert_false(writer_idle(w)); /* sealed */
                seals++;
            }
            if (!errand && test_random_below(&r, 40) == 0) {
                writer_chore(w, errand_run, &errands);
                errand = true;
            }
            if (errand && writer_chore_take(w)) {
                errand = false;
                assert_int_equal(errands, ++errands_taken); /* not atomic: the taking is what orders them */
            }
            if (b.snapshot > trimmed) { /* as a loop does when its compaction has ended */
                trimmed = b.snapshot;
                writer_trim(w, i % 2 ? trimmed : 0);
            }
            struct writer_trim_result trim;
            if (!writer_trim_take(w, &trim)) continue;
            assert_int_equal(trim.err, ERR_OK);
            trims++;
        }
        assert_true(trims > 0 && seals > 0 && errands_taken > 0);
        b.stop = true;
        assert_int_equal(pthread_join(busy, NULL), 0);
        writer_close(w);
        uint64_t head = l.head.lsn;
        journal_fixture_stop(&l);
        tmpdisk_reopen(&t);
        l.disk = t.disk;
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        assert_int_equal(l.head.lsn, head);
        journal_fixture_stop(&l);
        tmpdisk_remove(&t);
    }
}

static void append_one(struct journal_fixture *l, struct writer *w, bool here) {
    uint8_t payload[3000];
    uint64_t lsn = l->head.lsn + 1;
    journal_fixture_fill(payload, sizeof payload, lsn);
    struct batch batch = {.first_lsn = lsn, .last_lsn = lsn, .epoch = l->head.epoch, .rules = 1,
                          .time = {l->clock.ms}, .seed = hash_mix(lsn), .records = slice_of(payload, sizeof payload)};
    struct writer_result done;
    if (!writer_append(w, l->head.epoch, l->head.lsn, &batch, here, &done)) wait_and_take(w, &done);
    assert_int_equal(done.outcome, JOURNAL_DURABLE);
    assert_false(done.seal);
    l->head.lsn = lsn;
}

/* A sealed tail: rot in the last batch is damage. Without the seal it would be cut as a torn one. */
static void idleness_seals_the_tail(void **state) {
    (void)state;
    for (uint32_t idle = 0; idle < 2; idle++) {
        struct tmpdisk t;
        tmpdisk_make(&t);
        struct journal_fixture l;
        journal_fixture_init(&l, t.disk, SEGMENT);
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        struct writer *w;
        struct writer_result done;
        assert_int_equal(writer_open(l.journal, true, &w, &l.why), ERR_OK);
        assert_false(writer_idle(w)); /* an open mark is as good as a seal */
        append_one(&l, w, idle);
        append_one(&l, w, !idle);
        if (idle) assert_true(writer_idle(w));
        if (idle) wait_and_take(w, &done);
        if (idle) assert_true(done.seal && done.outcome == JOURNAL_DURABLE);
        writer_close(w);
        journal_fixture_stop(&l);
        struct journal_report r;
        assert_int_equal(journal_fixture_verify(t.disk, &r, &l.why), ERR_OK);
        assert_int_equal(r.sealed, idle);
        tmpdisk_remove(&t);
    }
}

/* The results of trims come through the same fd; a failed one is told and harms nothing. */
static void a_trim_is_done_beside_the_loop(void **state) {
    (void)state;
    struct tmpdisk t;
    tmpdisk_make(&t);
    struct journal_fixture l;
    journal_fixture_init(&l, t.disk, SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    struct writer *w;
    struct writer_result done;
    struct writer_trim_result trim;
    assert_int_equal(writer_open(l.journal, true, &w, &l.why), ERR_OK);
    struct pollfd p = {.fd = writer_fd(w), .events = POLLIN};
    for (uint32_t i = 0; i < 200; i++) append_one(&l, w, true);
    assert_false(writer_trim_take(w, &trim));
    writer_trim(w, 100); /* no snapshot has it */
    assert_int_equal(poll(&p, 1, 30000), 1);
    assert_false(writer_take(w, &done));
    assert_int_equal(poll(&p, 1, 0), 0);
    assert_true(writer_trim_take(w, &trim));
    assert_int_equal(trim.err, ERR_STATE);
    assert_int_equal(journal_fixture_snapshot(&l, 190, 100), ERR_OK);
    writer_trim(w, 0);
    append_one(&l, w, false);
    while (!writer_trim_take(w, &trim)) {
        assert_int_equal(poll(&p, 1, 30000), 1);
        (void)writer_take(w, &done);
    }
    assert_int_equal(trim.err, ERR_OK);
    struct journal_report r;
    assert_int_equal(journal_fixture_verify(t.disk, &r, &l.why), ERR_OK);
    assert_true(r.archived_count > 0);
    assert_int_equal(r.last_lsn, 201);
    writer_close(w);
    journal_fixture_stop(&l);
    tmpdisk_remove(&t);
}

static void closing_waits_for_what_is_in_flight(void **state) {
    (void)state;
    struct tmpdisk t;
    tmpdisk_make(&t);
    struct journal_fixture l;
    journal_fixture_init(&l, t.disk, SEGMENT);
    for (uint64_t i = 1; i <= 30; i++) {
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        assert_int_equal(l.head.lsn, i - 1);
        struct writer *w;
        assert_int_equal(writer_open(l.journal, true, &w, &l.why), ERR_OK);
        uint8_t payload[100];
        journal_fixture_fill(payload, sizeof payload, i);
        struct batch batch = {.first_lsn = i, .last_lsn = i, .epoch = l.head.epoch, .rules = 1, .time = {l.clock.ms},
                              .seed = hash_mix(i), .records = slice_of(payload, sizeof payload)};
        struct writer_result done;
        assert_false(writer_append(w, l.head.epoch, l.head.lsn, &batch, false, &done));
        assert_true(writer_is_busy(w));
        writer_close(w);
        journal_fixture_stop(&l);
        tmpdisk_reopen(&t);
        l.disk = t.disk;
    }
    tmpdisk_remove(&t);
}

static void limit_set(int which, rlim_t to, struct rlimit *ret_was) {
    assert_int_equal(getrlimit(which, ret_was), 0);
    struct rlimit limit = {to, ret_was->rlim_max};
    assert_int_equal(setrlimit(which, &limit), 0);
}

static void without_descriptors_there_is_no_writer(void **state) {
    (void)state;
    struct tmpdisk t;
    struct journal_fixture l;
    struct writer *w;
    struct rlimit was;
    tmpdisk_make(&t);
    journal_fixture_init(&l, t.disk, SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    limit_set(RLIMIT_NOFILE, 0, &was);
    enum err e = writer_open(l.journal, true, &w, &l.why);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    assert_int_equal(e, ERR_IO);
    assert_non_null(strstr(l.why.text, "eventfd"));
    journal_fixture_stop(&l);
    tmpdisk_remove(&t);
}

/* No room for a spare: nobody is told until an append needs one. A seal after a fenced append is fenced, too. */
static void failures_beside_the_loop_are_met_again(void **state) {
    (void)state;
    struct tmpdisk t;
    struct journal_fixture l;
    struct writer *w;
    struct rlimit was;
    uint32_t errands = 0;
    tmpdisk_make(&t);
    journal_fixture_init(&l, t.disk, SEGMENT);
    assert_int_equal(journal_fixture_start(&l), ERR_OK);
    void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
    limit_set(RLIMIT_FSIZE, SEGMENT / 2, &was);
    assert_int_equal(writer_open(l.journal, true, &w, &l.why), ERR_OK);
    writer_chore(w, errand_run, &errands); /* segments go first: when this is done the spare was tried */
    struct pollfd p = {.fd = writer_fd(w), .events = POLLIN};
    while (!writer_chore_take(w)) assert_int_equal(poll(&p, 1, 30000), 1);
    assert_true(l.journal->ops->wants_prepare(l.journal));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    (void)signal(SIGXFSZ, old);
    append_one(&l, w, true);
    struct batch batch = {.first_lsn = 9, .last_lsn = 9, .epoch = 7, .rules = 1, .time = {l.clock.ms}};
    struct writer_result done;
    assert_true(writer_append(w, 7, 8, &batch, true, &done)); /* of another owner */
    assert_int_equal(done.outcome, JOURNAL_FENCED);
    assert_true(writer_idle(w));
    wait_and_take(w, &done);
    assert_true(done.seal);
    assert_int_equal(done.outcome, JOURNAL_FENCED);
    writer_close(w);
    journal_fixture_stop(&l);
    tmpdisk_remove(&t);
}

static void house_is_kept_waiting(void *ctx) {
    while (!atomic_load((atomic_bool *)ctx)) {}
}

/* While one waits, another may be asked for: the one that reaches further counts, 0 furthest. */
static void of_two_trims_the_further_one_is_done(void **state) {
    (void)state;
    static const uint64_t asked[][3] = {{30, 90, 60}, {30, 0, 60}, {0, 30, 0}, {60, 30, 60}}; /* first, second, third */
    static const uint64_t expected[] = {90, 0, 0, 60};
    for (uint32_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        struct tmpdisk t;
        struct journal_fixture l;
        struct writer *w;
        struct writer_trim_result trim;
        atomic_bool go = false;
        tmpdisk_make(&t);
        journal_fixture_init(&l, t.disk, 8 * 4096);
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        assert_int_equal(writer_open(l.journal, true, &w, &l.why), ERR_OK);
        for (uint32_t k = 0; k < 100; k++) append_one(&l, w, true);
        assert_int_equal(journal_fixture_snapshot(&l, 95, 100), ERR_OK);
        writer_chore(w, house_is_kept_waiting, &go);
        for (uint32_t k = 0; k < 3; k++) writer_trim(w, asked[i][k]);
        go = true;
        struct pollfd p = {.fd = writer_fd(w), .events = POLLIN};
        struct writer_result none;
        while (!writer_trim_take(w, &trim)) {
            assert_int_equal(poll(&p, 1, 30000), 1);
            (void)writer_take(w, &none);
        }
        assert_int_equal(trim.err, ERR_OK);
        struct journal_report r;
        assert_int_equal(journal_fixture_verify(t.disk, &r, &l.why), ERR_OK);
        /* six batches to a segment; the archived ones are those wholly at or below the record */
        uint64_t upto = expected[i] ? expected[i] : 95;
        assert_in_range(r.archived_count, upto / 7 - 1, upto / 6);
        writer_close(w);
        journal_fixture_stop(&l);
        tmpdisk_remove(&t);
    }
}

/* ---- readers on threads of their own ---- */

struct onlooker {
    struct journal *reader;
    atomic_uint_fast64_t durable;
    atomic_bool stop;
    uint64_t last;   /* record of the present reading */
    uint32_t rounds; /* of the thread until it has ended */
};

static enum err onlooker_batch(void *ctx, const struct batch *b, struct why *why) {
    struct onlooker *o = ctx;
    (void)why;
    ENSURE(b->first_lsn == o->last + 1 && b->seed == hash_mix(b->first_lsn));
    o->last = b->last_lsn;
    return ERR_OK;
}

static void *onlooker_main(void *arg) {
    struct onlooker *o = arg;
    struct why why = {{0}};
    while (!o->stop) {
        uint64_t durable = o->durable;
        o->last = 0;
        must(o->reader->ops->read(o->reader, 1, UINT64_MAX, onlooker_batch, o, &why), &why);
        ENSURE(o->last >= durable); /* all of it; perhaps what came meanwhile */
        o->rounds++;
    }
    return NULL;
}

static void a_reader_beside_the_writer_misses_nothing(void **state) {
    (void)state;
    for (uint32_t in_memory = 0; in_memory < 2; in_memory++) {
        struct tmpdisk t;
        struct journal_fixture l;
        struct writer *w;
        struct onlooker o = {0};
        struct writer_result done;
        pthread_t thread;
        uint8_t payload[500];
        tmpdisk_make(&t);
        journal_fixture_init(&l, t.disk, SEGMENT);
        if (in_memory) l.ram = ram_new(&(struct ram_options){0});
        assert_int_equal(journal_fixture_start(&l), ERR_OK);
        assert_int_equal(writer_open(l.journal, true, &w, &l.why), ERR_OK);
        assert_int_equal(l.journal->ops->reader(l.journal, &o.reader, &l.why), ERR_OK);
        assert_int_equal(pthread_create(&thread, NULL, onlooker_main, &o), 0);
        for (uint64_t lsn = 1; lsn <= 300; lsn++) {
            journal_fixture_fill(payload, sizeof payload, lsn);
            struct batch batch = {.first_lsn = lsn,
                                  .last_lsn = lsn,
                                  .epoch = l.head.epoch,
                                  .rules = 1,
                                  .time = {l.clock.ms},
                                  .seed = hash_mix(lsn),
                                  .records = slice_of(payload, sizeof payload)};
            if (!writer_append(w, l.head.epoch, lsn - 1, &batch, lsn % 3 == 0, &done)) wait_and_take(w, &done);
            assert_int_equal(done.outcome, JOURNAL_DURABLE);
            o.durable = lsn;
        }
        o.stop = true;
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(o.rounds > 0);
        o.reader->ops->close(o.reader);
        writer_close(w);
        journal_fixture_stop(&l);
        if (in_memory) ram_free(l.ram);
        tmpdisk_remove(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_from_two_threads_are_one_chain),
        cmocka_unit_test(idleness_seals_the_tail),
        cmocka_unit_test(a_trim_is_done_beside_the_loop),
        cmocka_unit_test(closing_waits_for_what_is_in_flight),
        cmocka_unit_test(without_descriptors_there_is_no_writer),
        cmocka_unit_test(failures_beside_the_loop_are_met_again),
        cmocka_unit_test(of_two_trims_the_further_one_is_done),
        cmocka_unit_test(a_reader_beside_the_writer_misses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
