/* readers_test.c: everything that reads a journal beside its owner: verify, dump, a state of now and of then, a plain
 * reading, a compaction. Real engine records on a simulated disk.
 *
 * Every call of each fails once: the failure is told as what it is, never as damage, and nothing was harmed. And the
 * owner does all its work at every moment in between: the reader's answer is right for some moment of its reading. */
#include "test.h"

#include <stdlib.h>

#include "compact.h"
#include "fold.h"
#include "inspect.h"
#include "jlab.h"
#include "rig.h"
#include "simdisk.h"

#define SEGMENT (32u * 1024u)
#define DAYS 30u
#define ROUNDS 3u

static struct rig rig;     /* what the batches come from */
static struct vec digests; /* struct digest after each batch of it */

struct bench {
    struct simdisk *sim;
    struct disk *disk;
    struct jlab_clock clock;
    struct journal *journal;
    struct journal_head head;
    uint32_t written; /* batches of the rig that are in the journal */
    bool compacting;  /* compact_lock keeps a second compaction out */
    struct why why;
};

static void live(uint32_t flows) {
    static const char *const jobs[] = {"a", "b: a", "c: a", "d: b c"};
    struct options o = rig_options();
    for (uint32_t i = 0; i < flows; i++) assert_ok(rig_submit(&rig, &o, jobs, 4));
}

static struct batch batch_at(uint32_t i) {
    struct batch b = *(struct batch *)vec_at(&rig.batches, i);
    b.records.ptr = rig.journal.at + (uintptr_t)b.records.ptr; /* kept as an offset */
    b.epoch = i < rig.batches.count / 2 ? 1 : 2; /* the owner of bench_make, that of prepare */
    return b;
}

/* What the state is after each batch, by replay. */
static void digests_make(void) {
    struct engine *e = engine_new(0, &rig.limits);
    vec_init(&digests, sizeof(struct digest));
    for (uint32_t i = 0; i < rig.batches.count; i++) {
        struct why why;
        struct batch b = batch_at(i);
        assert_ok(engine_replay(e, &b, &why));
        *(struct digest *)vec_push(&digests) = engine_digest(e);
    }
    engine_free(e);
}

static void check_state(const struct engine *e, uint64_t lsn) {
    uint32_t i = 0;
    while (i < rig.batches.count && batch_at(i).last_lsn != lsn) i++;
    assert_true(i < rig.batches.count); /* a batch boundary */
    const struct digest *want = vec_at(&digests, i);
    struct digest got = engine_digest(e);
    assert_int_equal(got.lo, want->lo);
    assert_int_equal(got.hi, want->hi);
}

/* ---- the owner ---- */

static void owner_start(struct bench *b) {
    struct file_options o;
    file_options_default(&o);
    o.segment_bytes = SEGMENT;
    o.reserve_bytes = 0;
    o.archive_days = DAYS;
    assert_ok(file_open(b->disk, &b->clock.clock, &o, &b->journal, &b->why));
    assert_ok(b->journal->ops->acquire(b->journal, 0, &b->head, &b->why));
}

static void owner_stop(struct bench *b) {
    b->journal->ops->close(b->journal);
    simdisk_kill(b->sim);
}

static void owner_write(struct bench *b, uint32_t upto) {
    for (; b->written < upto; b->written++) {
        struct batch batch = batch_at(b->written);
        batch.epoch = b->head.epoch;
        assert_int_equal(b->journal->ops->append(b->journal, b->head.epoch, b->head.lsn, &batch, &b->why),
                         JOURNAL_DURABLE);
        b->head.lsn = batch.last_lsn;
    }
}

static struct compact_options now_of(const struct bench *b) {
    return (struct compact_options){.archive_days = DAYS, .now = {b->clock.ms}};
}

/* A journal with packed and plain archived segments, snapshots, live segments, a spare. Half of the rig's batches. */
static void bench_make(struct bench *b) {
    *b = (struct bench){.sim = simdisk_new(9)};
    b->disk = simdisk_disk(b->sim);
    jlab_clock_init(&b->clock, 4);
    owner_start(b);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct compact_report r;
        struct compact_options o = now_of(b);
        owner_write(b, rig.batches.count / 2 * (i + 1) / ROUNDS);
        assert_ok(compact_run(b->disk, &o, &r, &b->why));
        assert_ok(r.archive_err);
        assert_ok(b->journal->ops->trim(b->journal, 0, &b->why));
        assert_ok(file_prepare(b->journal, &b->why));
    }
    owner_stop(b);
}

static void bench_copy(struct bench *b, const struct bench *from) {
    *b = *from;
    b->sim = simdisk_clone(from->sim);
    b->disk = simdisk_disk(b->sim);
}

/* ---- the readers ---- */

struct lines {
    struct byte_sink sink;
    uint64_t count;
};

static enum err lines_more(struct byte_sink *s, const void *from, size_t len, struct why *why) {
    (void)why;
    for (size_t i = 0; i < len; i++) ((struct lines *)s)->count += ((const uint8_t *)from)[i] == '\n';
    return ERR_OK;
}

static enum err verify(struct bench *b, uint64_t least) {
    struct inspect_report r;
    enum err e = inspect_verify(b->disk, &r, &b->why);
    if (e != ERR_OK) return e;
    assert_int_equal(r.first_lsn, 1);
    assert_true(r.last_lsn >= least);
    return e;
}

static enum err dump(struct bench *b, uint64_t least) {
    struct lines l = {.sink = {lines_more}};
    enum err e = inspect_dump(b->disk, 0, UINT64_MAX, &l.sink, &b->why);
    if (e == ERR_OK) assert_true(l.count >= least);
    return e;
}

static enum err state_at(struct bench *b, uint64_t upto, uint64_t least) {
    struct fold f;
    enum err e = fold_run(b->disk, upto, &f, &b->why);
    if (e != ERR_OK) return e;
    assert_true(f.info.lsn >= least);
    check_state(f.engine, f.info.lsn);
    engine_free(f.engine);
    return e;
}

static enum err state_now(struct bench *b, uint64_t least) {
    return state_at(b, UINT64_MAX, least);
}

static enum err state_then(struct bench *b, uint64_t least) {
    (void)least;
    return state_at(b, batch_at(4).last_lsn, batch_at(4).last_lsn);
}

static enum err batch_count(void *ctx, const struct batch *b, struct why *why) {
    uint64_t *last = ctx;
    (void)why;
    assert_int_equal(b->first_lsn, *last + 1);
    *last = b->last_lsn;
    return ERR_OK;
}

static enum err reading(struct bench *b, uint64_t least) {
    struct file_options o = {.segment_bytes = SEGMENT, .archive_days = DAYS, .read_only = true};
    struct journal *j;
    struct snapshot_info info;
    uint64_t last = 0;
    enum err e = file_open(b->disk, &b->clock.clock, &o, &j, &b->why);
    if (e != ERR_OK) return e;
    e = j->ops->snapshot_get(j, &info, NULL, &b->why);
    if (e == ERR_OK) assert_true(info.lsn > 0);
    if (e == ERR_OK) e = j->ops->read(j, 0, batch_count, &last, &b->why);
    if (e == ERR_OK) assert_true(last >= least);
    j->ops->close(j);
    return e;
}

static enum err compaction(struct bench *b, uint64_t least) {
    struct compact_report r;
    struct compact_options o = now_of(b);
    (void)least;
    enum err e = compact_run(b->disk, &o, &r, &b->why);
    if (e != ERR_OK) return e;
    if (r.archive_err != ERR_OK) b->why = r.archive_why;
    return r.archive_err;
}

struct reader {
    const char *name;
    enum err (*run)(struct bench *b, uint64_t least);
};
static const struct reader readers[] = {
    {"verify", verify},         {"dump", dump},       {"state now", state_now},
    {"state then", state_then}, {"reading", reading}, {"compaction", compaction},
};
#define READER_COUNT (sizeof readers / sizeof readers[0])

/* A compaction has something to do only while its last one lies back. */
static void prepare(struct bench *b, const struct bench *from, bool beside) {
    bench_copy(b, from);
    owner_start(b);
    owner_write(b, rig.batches.count * 5 / 8);
    if (!beside) owner_stop(b);
}

static void every_call_of_a_reader_fails_once(void **state) {
    (void)state;
    static const enum simdisk_fault faults[] = {SIMDISK_ERROR, SIMDISK_SHORT};
    struct bench base, b;
    bench_make(&base);
    for (uint32_t i = 0; i < READER_COUNT; i++) {
        prepare(&b, &base, false);
        uint64_t calls = simdisk_calls(b.sim, SIMDISK_ANY), failed = 0;
        assert_ok(readers[i].run(&b, b.head.lsn));
        calls = simdisk_calls(b.sim, SIMDISK_ANY) - calls;
        simdisk_free(b.sim);
        for (uint64_t k = 0; k < calls * 2; k++) {
            prepare(&b, &base, false);
            simdisk_arm(b.sim, SIMDISK_ANY, faults[k % 2], k / 2);
            enum err e = readers[i].run(&b, b.head.lsn);
            simdisk_arm(b.sim, SIMDISK_ANY, SIMDISK_FINE, 0);
            if (e != ERR_OK && (k % 2 || e != ERR_IO))
                fail_msg("%s, call %llu: %s: %s", readers[i].name, (unsigned long long)(k / 2), err_word(e),
                         b.why.text);
            failed += e != ERR_OK;
            assert_ok(verify(&b, b.head.lsn)); /* and nothing was harmed */
            assert_ok(state_now(&b, b.head.lsn));
            simdisk_free(b.sim);
        }
        assert_true(failed * 2 >= calls); /* what removes leftovers may fail and not be missed */
    }
    simdisk_free(base.sim);
}

/* ---- and the owner goes on ---- */

static void owner_works(void *ctx) {
    struct bench *b = ctx;
    struct why why;
    struct archive_report r;
    owner_write(b, rig.batches.count * 7 / 8); /* through the spare and into further segments */
    assert_ok(file_seal(b->journal, &why));
    assert_ok(b->journal->ops->trim(b->journal, 0, &why));
    if (!b->compacting) assert_ok(archive_run(b->disk, DAYS, (wall_time){b->clock.ms}, &r, &why));
}

static void owner_appends(void *ctx) {
    struct bench *b = ctx;
    owner_write(b, b->written + 3);
}

static void a_reader_beside_its_owner_is_right(void **state) {
    (void)state;
    static void (*const acts[])(void *ctx) = {owner_works, owner_appends};
    struct bench base, b;
    bench_make(&base);
    for (uint32_t i = 0; i < READER_COUNT; i++) {
        bool went_on = true;
        for (uint64_t k = 0; went_on; k++) {
            prepare(&b, &base, true);
            uint64_t before = b.head.lsn;
            uint32_t written = b.written;
            b.compacting = readers[i].run == compaction;
            simdisk_meanwhile(b.sim, k / 2, acts[k % 2], &b);
            enum err e = readers[i].run(&b, before);
            simdisk_meanwhile(b.sim, 0, NULL, NULL);
            if (e != ERR_OK)
                fail_msg("%s, call %llu: %s: %s", readers[i].name, (unsigned long long)(k / 2), err_word(e),
                         b.why.text);
            went_on = b.written != written;
            owner_write(&b, rig.batches.count);
            assert_ok(state_now(&b, b.head.lsn));
            owner_stop(&b);
            simdisk_free(b.sim);
        }
    }
    simdisk_free(base.sim);
}

static int setup(void **state) {
    (void)state;
    rig_init(&rig);
    live(120);
    digests_make();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    vec_fini(&digests);
    rig_fini(&rig);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_of_a_reader_fails_once),
        cmocka_unit_test(a_reader_beside_its_owner_is_right),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
