/* readers_test.c: everything that reads a journal beside its owner: verify, dump, a state of now and of then, a plain
 * reading, a compaction. Real engine records on a simulated disk.
 *
 * Every call of each fails once: the failure is told as what it is, never as damage, and nothing was harmed. And the
 * owner does all its work at every moment in between: the reader's answer is right for some moment of its reading. */
#include "test.h"

#include <stdio.h>

#include "compact.h"
#include "engine_fixture.h"
#include "fold.h"
#include "journal_fixture.h"
#include "simdisk.h"
#include "snapfile.h"

#define SEGMENT (32u * 1024u)
#define DAYS 30u
#define ROUNDS 3u
/* The plain builds stop at every call; those with a sanitizer or without an optimiser, far slower, at every third. */
#if defined __SANITIZE_ADDRESS__ || !defined __OPTIMIZE__
#define STEP 3u
#else
#define STEP 1u
#endif

static struct fixture rig; /* what the batches come from */
static struct vec digests; /* struct digest after each batch of it */

struct bench {
    struct simdisk *sim;
    struct disk *disk;
    struct journal_fixture_clock clock;
    struct journal *journal;
    struct journal_head head;
    uint32_t written;      /* batches of the rig that are in the journal */
    uint64_t snapshot_lsn; /* for snapshot_rots */
    bool compacting;       /* compact_lock keeps a second compaction out */
    struct why why;
};

/* Large flows first, so that a snapshot is longer than one of its blocks. */
static void live(uint32_t flows) {
    static const char *const jobs[] = {"a", "b: a", "c: a", "d: b c"};
    static char names[300][8];
    const char *many[300];
    struct options o = fixture_options();
    for (uint32_t i = 0; i < 300; i++) {
        (void)snprintf(names[i], sizeof names[i], "j%u", i);
        many[i] = names[i];
    }
    for (uint32_t i = 0; i < 5; i++) assert_ok(fixture_submit(&rig, &o, many, 300));
    for (uint32_t i = 0; i < flows; i++) {
        if (i == 9) assert_ok(fixture_attach(&rig, "w", 1, 20)); /* a batch of many records */
        assert_ok(fixture_submit(&rig, &o, jobs, 4));
    }
}

static struct batch batch_at(uint32_t i) {
    struct batch b = *(struct batch *)vec_at(&rig.batches, i);
    b.records.ptr = rig.journal.at + (uintptr_t)b.records.ptr; /* kept as an offset */
    b.epoch = i < rig.batches.count / 2 ? 1 : 2;               /* the owner of bench_make, that of prepare */
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
    journal_fixture_clock_init(&b->clock, 4);
    owner_start(b);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct compact_report r;
        struct compact_options o = now_of(b);
        owner_write(b, rig.batches.count / 2 * (i + 1) / ROUNDS);
        assert_ok(compact_run(b->disk, &o, &r, &b->why));
        assert_ok(r.archive_err);
        assert_ok(b->journal->ops->trim(b->journal, 0, &b->why));
        assert_ok(b->journal->ops->prepare(b->journal, &b->why));
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
    struct journal_report r;
    enum err e = journal_fixture_verify(b->disk, &r, &b->why);
    if (e != ERR_OK) return e;
    assert_int_equal(r.first_lsn, 1);
    assert_true(r.last_lsn >= least);
    return e;
}

static enum err dump(struct bench *b, uint64_t least) {
    struct lines l = {.sink = {lines_more}};
    enum err e = journal_fixture_dump(b->disk, 0, UINT64_MAX, &l.sink, &b->why);
    if (e == ERR_OK) assert_true(l.count >= least);
    return e;
}

static enum err state_at(struct bench *b, uint64_t upto, uint64_t least) {
    struct fold f;
    enum err e = journal_fixture_fold(b->disk, upto, &f, &b->why);
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

struct following {
    uint64_t last;
    uint32_t batches;
};

static enum err batch_follow(void *ctx, const struct engine *e, const struct batch *b, struct why *why) {
    struct following *f = ctx;
    (void)why;
    assert_int_equal(engine_lsn(e), f->last); /* before it is applied */
    assert_int_equal(b->first_lsn, f->last + 1);
    f->last = b->last_lsn;
    f->batches++;
    return ERR_OK;
}

/* From the beginning, which is in the archive. */
static enum err follow(struct bench *b, uint64_t least) {
    struct following seen = {0};
    struct fold f;
    enum err e = journal_fixture_follow(b->disk, batch_follow, &seen, &f, &b->why);
    if (e != ERR_OK) return e;
    assert_true(seen.last >= least && f.info.lsn == seen.last && f.snapshot_lsn == 0);
    check_state(f.engine, f.info.lsn);
    engine_free(f.engine);
    return e;
}

static enum err batch_count(void *ctx, const struct batch *b, struct why *why) {
    uint64_t *last = ctx;
    (void)why;
    assert_int_equal(b->first_lsn, *last + 1);
    *last = b->last_lsn;
    return ERR_OK;
}

static enum err reading(struct bench *b, uint64_t least) {
    struct journal *j;
    struct snapshot_info info;
    uint64_t last = 0;
    enum err e = file_reader(b->disk, &j, &b->why);
    if (e != ERR_OK) return e;
    e = j->ops->snapshot_get(j, 0, &info, NULL, &b->why);
    if (e == ERR_OK) assert_true(info.lsn > 0);
    if (e == ERR_OK) e = j->ops->read(j, 0, UINT64_MAX, batch_count, &last, &b->why);
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
    {"follow", follow},
};
#define READER_COUNT (sizeof readers / sizeof readers[0])

/* A compaction has something to do only while its last one lies back. */
static void prepare(struct bench *b, const struct bench *from, bool beside) {
    bench_copy(b, from);
    owner_start(b);
    owner_write(b, rig.batches.count * 5 / 8);
    assert_ok(b->journal->ops->prepare(b->journal, &b->why)); /* a spare that is seen blank and used a moment later */
    if (!beside) owner_stop(b);
}

/* The call of that kind after `skip` others fails; true when the reader told it. */
static bool fails_once(const struct bench *base, const struct reader *reader, enum simdisk_op op,
                       enum simdisk_fault fault, uint64_t skip) {
    struct bench b;
    prepare(&b, base, false);
    simdisk_arm(b.sim, op, fault, skip);
    enum err e = reader->run(&b, b.head.lsn);
    simdisk_arm(b.sim, op, SIMDISK_FINE, 0);
    if (e != ERR_OK && (fault == SIMDISK_SHORT || e != ERR_IO))
        fail_msg("%s, call %llu: %s: %s", reader->name, (unsigned long long)skip, err_word(e), b.why.text);
    assert_ok(verify(&b, b.head.lsn)); /* and nothing was harmed */
    assert_ok(state_now(&b, b.head.lsn));
    simdisk_free(b.sim);
    return e != ERR_OK;
}

static void every_call_of_a_reader_fails_once(void **state) {
    (void)state;
    static const enum simdisk_fault faults[] = {SIMDISK_ERROR, SIMDISK_SHORT};
    struct bench base, b;
    bench_make(&base);
    for (uint32_t i = 0; i < READER_COUNT; i++) {
        prepare(&b, &base, false);
        uint64_t calls[SIMDISK_ANY + 1], failed = 0;
        for (uint32_t op = 0; op <= SIMDISK_ANY; op++) calls[op] = simdisk_calls(b.sim, (enum simdisk_op)op);
        assert_ok(readers[i].run(&b, b.head.lsn));
        for (uint32_t op = 0; op <= SIMDISK_ANY; op++)
            calls[op] = simdisk_calls(b.sim, (enum simdisk_op)op) - calls[op];
        simdisk_free(b.sim);
        for (uint64_t k = 0; k < calls[SIMDISK_ANY] * 2; k += STEP)
            failed += fails_once(&base, &readers[i], SIMDISK_ANY, faults[k % 2], k / 2);
        assert_true(failed * 2 * STEP >= calls[SIMDISK_ANY] - STEP); /* removing leftovers may fail and not be missed */
        for (uint32_t op = 0; STEP > 1 && op < SIMDISK_ANY; op++) {  /* those that steps may miss: all but reads */
            if (op == SIMDISK_READ || op == SIMDISK_OPEN || op == SIMDISK_SIZE) continue;
            for (uint64_t k = 0; k < calls[op]; k++)
                (void)fails_once(&base, &readers[i], (enum simdisk_op)op, SIMDISK_ERROR, k);
        }
    }
    simdisk_free(base.sim);
}

/* ---- and the owner goes on ---- */

static void owner_works(void *ctx) {
    struct bench *b = ctx;
    struct why why;
    owner_write(b, rig.batches.count * 7 / 8); /* through the spare and into further segments */
    assert_ok(b->journal->ops->seal(b->journal, &why));
    for (uint32_t i = 0; i < 3; i++) { /* the middle snapshot goes with the last trim */
        struct compact_report r;
        b->clock.ms += 60 * 1000;
        struct compact_options o = now_of(b);
        o.upto = batch_at(rig.batches.count * (12 + i) / 16).last_lsn;
        if (!b->compacting) assert_ok(compact_run(b->disk, &o, &r, &why));
        assert_ok(b->journal->ops->trim(b->journal, 0, &why));
    }
}

static void owner_appends(void *ctx) {
    struct bench *b = ctx;
    owner_write(b, b->written + 3);
}

/* The owner, late: a few batches more, and then the disk fails the reader. */
struct late {
    struct journal_fixture lab;
    struct simdisk *sim; /* NULL = it does not fail */
    uint32_t appends, fault_skip;
};

static void late_append(void *ctx) {
    struct late *late = ctx;
    for (uint32_t i = 0; i < late->appends; i++) journal_fixture_append_ok(&late->lab, 1, 100);
    if (late->sim != NULL) simdisk_arm(late->sim, SIMDISK_ANY, SIMDISK_ERROR, late->fault_skip);
}

static void a_reader_beside_its_owner_is_right(void **state) {
    (void)state;
    static void (*const acts[])(void *ctx) = {owner_works, owner_appends};
    struct bench base, b;
    bench_make(&base);
    for (uint32_t i = 0; i < READER_COUNT; i++) {
        bool went_on = true;
        for (uint64_t k = 0; went_on; k += STEP) {
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

/* Blocks beyond the window that a reader has in memory: what it saw as zero was written when it looks again. */
static void a_reader_that_lags_behind_looks_again(void **state) {
    (void)state;
    enum { LARGE = 4 << 20, WINDOW = 1 << 20 };
    uint32_t again = 0;
    for (uint32_t fault = 0; fault < 5; fault++) { /* 0 = none; else that many calls after the owner's work */
        bool went_on = true;
        for (uint64_t k = 0; went_on; k++) {
            struct simdisk *s = simdisk_new(k);
            struct late late = {.appends = 4};
            struct journal_fixture *l = &late.lab;
            journal_fixture_init(l, simdisk_disk(s), LARGE);
            assert_ok(journal_fixture_start(l));
            journal_fixture_append_ok(l, 1, WINDOW - 7 * 4096);
            journal_fixture_append_ok(l, 1, 3 * 4096); /* the window ends two blocks after it */
            uint64_t before = l->head.lsn;
            simdisk_meanwhile(s, k, late_append, &late);
            late.sim = fault > 0 ? s : NULL;
            late.fault_skip = fault - 1;
            struct journal_report r = {0};
            enum err e = journal_fixture_verify(simdisk_disk(s), &r, &l->why);
            simdisk_arm(s, SIMDISK_ANY, SIMDISK_FINE, 0);
            simdisk_meanwhile(s, 0, NULL, NULL);
            if (e != ERR_OK && (fault == 0 || e != ERR_IO)) fail_msg("call %u: %s", (unsigned)k, l->why.text);
            if (e == ERR_OK) assert_true(r.last_lsn == before || r.last_lsn == before + late.appends);
            if (e == ERR_OK && r.last_lsn > before) again++;
            went_on = l->head.lsn > before;
            journal_fixture_stop(l);
            simdisk_free(s);
        }
    }
    assert_true(again > 0);
}

/* A block longer than the window; every call of reading it fails once. */
static void long_blocks_are_read_in_pieces(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    struct journal_report r;
    journal_fixture_init(&l, simdisk_disk(s), 8u << 20);
    assert_ok(journal_fixture_start(&l));
    journal_fixture_append_ok(&l, 1, 900000);
    journal_fixture_append_ok(&l, 1, 3000000);
    journal_fixture_append_ok(&l, 1, 500);
    uint64_t calls = simdisk_calls(s, SIMDISK_ANY);
    assert_ok(journal_fixture_verify(l.disk, &r, &l.why));
    calls = simdisk_calls(s, SIMDISK_ANY) - calls;
    for (uint64_t k = 0; k < calls; k++) {
        simdisk_arm(s, SIMDISK_ANY, SIMDISK_ERROR, k);
        assert_int_equal(journal_fixture_verify(l.disk, &r, &l.why), ERR_IO);
    }
    journal_fixture_stop(&l);
    simdisk_free(s);
}

/* Nothing at all, and a spare whose maker died before it was used. */
static void a_journal_that_never_began_is_empty(void **state) {
    (void)state;
    for (uint32_t spare = 0; spare < 2; spare++) {
        struct bench b = {.sim = simdisk_new(2)};
        static const uint8_t blank[SEGMENT];
        b.disk = simdisk_disk(b.sim);
        journal_fixture_clock_init(&b.clock, 1);
        if (spare) simdisk_put(b.sim, "journal/0000000000000001.seg", blank, SEGMENT);
        struct lines l = {.sink = {lines_more}};
        struct fold f;
        struct journal_report r;
        assert_ok(journal_fixture_dump(b.disk, 1, UINT64_MAX, &l.sink, &b.why));
        assert_int_equal(l.count, 0);
        assert_int_equal(journal_fixture_fold(b.disk, UINT64_MAX, &f, &b.why), ERR_NOT_FOUND);
        assert_non_null(strstr(b.why.text, "the journal is empty"));
        assert_ok(compaction(&b, 0));
        uint64_t calls = simdisk_calls(b.sim, SIMDISK_ANY);
        assert_ok(journal_fixture_verify(b.disk, &r, &b.why));
        assert_int_equal(r.last_lsn, 0);
        calls = simdisk_calls(b.sim, SIMDISK_ANY) - calls;
        for (uint64_t k = 0; k < calls; k++) {
            simdisk_arm(b.sim, SIMDISK_ANY, SIMDISK_ERROR, k);
            assert_int_equal(journal_fixture_verify(b.disk, &r, &b.why), ERR_IO);
        }
        simdisk_free(b.sim);
    }
}

/* What a reader may ask for, besides all of it. */
static void parts_can_be_asked_for(void **state) {
    (void)state;
    struct bench b;
    bench_make(&b);
    uint32_t i = 1;
    while (batch_at(i).last_lsn < batch_at(i).first_lsn + 2) i++; /* one with three records, to cut out the middle */
    struct lines l = {.sink = {lines_more}};
    assert_ok(journal_fixture_dump(b.disk, batch_at(i).first_lsn + 1, batch_at(i).first_lsn + 1, &l.sink, &b.why));
    assert_int_equal(l.count, 1);
    assert_ok(state_at(&b, batch_at(i).last_lsn, batch_at(i).last_lsn));
    assert_ok(state_at(&b, batch_at(i).last_lsn - 1, batch_at(i - 1).last_lsn)); /* no state inside a batch */
    struct compact_report r;
    struct compact_options o = now_of(&b);
    assert_ok(compact_run(b.disk, &o, &r, &b.why));
    assert_ok(compact_run(b.disk, &o, &r, &b.why)); /* nothing is new */
    assert_int_equal(r.batch_count, 0);
    o.upto = UINT64_MAX; /* not the newest segment, whatever is asked */
    assert_ok(compact_run(b.disk, &o, &r, &b.why));
    assert_int_equal(r.batch_count, 0);
    simdisk_free(b.sim);
}

static void a_damaged_snapshot_is_passed_over_by_a_fold(void **state) {
    (void)state;
    struct bench b;
    bench_make(&b);
    struct journal_report r;
    assert_ok(journal_fixture_verify(b.disk, &r, &b.why));
    char name[64];
    (void)snprintf(name, sizeof name, "journal/snap-%016llx", (unsigned long long)r.snapshot_lsn);
    simdisk_flip_bit(b.sim, name, 200, 1);
    assert_ok(state_now(&b, r.last_lsn)); /* from an older one, through the archive */
    simdisk_free(b.sim);
}

static void snapshot_rots(void *ctx) {
    struct bench *b = ctx;
    char name[64];
    (void)snprintf(name, sizeof name, "journal/snap-%016llx", (unsigned long long)b->snapshot_lsn);
    simdisk_flip_bit(b->sim, name, simdisk_bytes(b->sim, name) - 1, 1); /* in its trailer: the blocks are given out */
}

/* Also between the look whether it is whole and the loading of it. */
static void a_snapshot_that_rots_is_never_taken_for_the_state(void **state) {
    (void)state;
    struct bench base, b;
    struct journal_report r;
    uint32_t refused = 0;
    bench_make(&base);
    assert_ok(journal_fixture_verify(base.disk, &r, &base.why));
    uint64_t calls = simdisk_calls(base.sim, SIMDISK_ANY);
    assert_ok(state_now(&base, r.last_lsn));
    calls = simdisk_calls(base.sim, SIMDISK_ANY) - calls;
    for (uint64_t k = 0; k < calls; k++) {
        bench_copy(&b, &base);
        b.snapshot_lsn = r.snapshot_lsn;
        simdisk_meanwhile(b.sim, k, snapshot_rots, &b);
        enum err e = state_now(&b, r.last_lsn);
        assert_true(e == ERR_OK || e == ERR_CORRUPT);
        refused += e == ERR_CORRUPT;
        simdisk_free(b.sim);
    }
    assert_true(refused > 0);
    simdisk_free(base.sim);
}

/* Batches that are whole and hold no records of ours; and a past that is gone. */
static void what_cannot_be_folded_says_why(void **state) {
    (void)state;
    struct simdisk *s = simdisk_new(1);
    struct journal_fixture l;
    struct fold f;
    struct lines out = {.sink = {lines_more}};
    journal_fixture_init(&l, simdisk_disk(s), SEGMENT);
    l.options.archive_days = 0;
    assert_ok(journal_fixture_start(&l));
    for (uint32_t i = 0; i < 20; i++) journal_fixture_append_ok(&l, 1, 3000);
    assert_int_equal(journal_fixture_fold(l.disk, UINT64_MAX, &f, &l.why),
                     ERR_UNSUPPORTED); /* a kind nobody has heard of */
    assert_int_equal(journal_fixture_dump(l.disk, 1, UINT64_MAX, &out.sink, &l.why), ERR_UNSUPPORTED);
    assert_non_null(strstr(l.why.text, "segment 1, byte 8192: record 1"));
    assert_ok(journal_fixture_snapshot(&l, 20, 10));
    assert_ok(l.journal->ops->trim(l.journal, 0, &l.why));
    assert_int_equal(journal_fixture_fold(l.disk, 5, &f, &l.why), ERR_NOT_FOUND);
    assert_non_null(strstr(l.why.text, "no snapshot from before record 5 is left"));
    journal_fixture_stop(&l);
    simdisk_free(s);
}

static enum err batch_enough(void *ctx, const struct engine *e, const struct batch *b, struct why *why) {
    struct following *f = ctx;
    if (f->batches == 3) return why_set(why, ERR_BUSY, "enough");
    f->last = f->batches == 0 ? engine_lsn(e) : f->last;
    return batch_follow(ctx, e, b, why);
}

static void following_begins_where_the_archive_does(void **state) {
    (void)state;
    struct bench b;
    struct fold f;
    struct following seen = {0};
    bench_make(&b);
    struct file_options o = {.segment_bytes = SEGMENT, .archive_days = 0};
    assert_ok(file_open(b.disk, &b.clock.clock, &o, &b.journal, &b.why));
    assert_ok(b.journal->ops->acquire(b.journal, 0, &b.head, &b.why));
    b.clock.ms += (int64_t)(DAYS + 1) * 86400000;
    assert_ok(b.journal->ops->trim(b.journal, 0, &b.why));
    struct compact_report r;
    struct compact_options compact = {.archive_days = 0, .now = {b.clock.ms}};
    assert_ok(compact_run(b.disk, &compact, &r, &b.why)); /* takes the old files away */
    owner_stop(&b);
    assert_int_equal(journal_fixture_follow(b.disk, batch_enough, &seen, &f, &b.why), ERR_BUSY);
    assert_string_equal(b.why.text, "enough");
    assert_int_equal(seen.batches, 3);
    assert_true(seen.last > batch_at(3).last_lsn); /* not from the beginning */
    struct snapshot_list list;
    assert_ok(snapfile_list_load(b.disk, &list, &b.why));
    for (uint32_t i = 0; i < list.count; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "journal/snap-%016llx", (unsigned long long)list.lsn[i]);
        simdisk_flip_bit(b.sim, name, 200, 1);
    }
    assert_int_equal(journal_fixture_follow(b.disk, batch_enough, &seen, &f, &b.why), ERR_NOT_FOUND);
    simdisk_free(b.sim);
}

static int setup(void **state) {
    (void)state;
    fixture_init(&rig);
    live(120);
    digests_make();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    vec_fini(&digests);
    fixture_fini(&rig);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_of_a_reader_fails_once),
        cmocka_unit_test(a_reader_beside_its_owner_is_right),
        cmocka_unit_test(a_reader_that_lags_behind_looks_again),
        cmocka_unit_test(long_blocks_are_read_in_pieces),
        cmocka_unit_test(a_journal_that_never_began_is_empty),
        cmocka_unit_test(parts_can_be_asked_for),
        cmocka_unit_test(a_damaged_snapshot_is_passed_over_by_a_fold),
        cmocka_unit_test(a_snapshot_that_rots_is_never_taken_for_the_state),
        cmocka_unit_test(what_cannot_be_folded_says_why),
        cmocka_unit_test(following_begins_where_the_archive_does),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
