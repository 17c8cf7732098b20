/* journal_conformance_test.c: what journal.h promises, asked of every engine: the same tests over the file engine, on a
 * simulated disk, and over the one in memory. What only one of them can show (damage, the archive; chosen outcomes) is
 * tested with that engine, the latter at the end of this file. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "journal_fixture.h"
#include "rigdisk.h"
#include "simdisk.h"

#define SEGMENT (64u * 1024u)
#define SPACE_BYTES (5u * SEGMENT)

struct lab {
    struct simdisk *disk; /* one of the two */
    struct ram *ram;
    struct journal_fixture owner; /* started */
};

/* Another object for the same journal, as another process has it. */
static void fixture_of(struct lab *lab, struct journal_fixture *ret) {
    journal_fixture_init(ret, lab->disk != NULL ? simdisk_disk(lab->disk) : NULL, SEGMENT);
    ret->ram = lab->ram;
    ret->options.archive_days = 0;
}

static int setup(void **state, bool in_memory) {
    static struct lab lab;
    lab = (struct lab){.disk = NULL};
    if (in_memory)
        lab.ram = ram_new(&(struct ram_options){.bytes_max = SPACE_BYTES, .batch_bytes_max = SEGMENT / 2});
    else
        lab.disk = simdisk_new(1);
    if (!in_memory) simdisk_budget_set(lab.disk, SPACE_BYTES);
    fixture_of(&lab, &lab.owner);
    assert_int_equal(journal_fixture_start(&lab.owner), ERR_OK);
    *state = &lab;
    return 0;
}

static int setup_file(void **state) {
    return setup(state, false);
}

static int setup_ram(void **state) {
    return setup(state, true);
}

static int teardown(void **state) {
    struct lab *lab = *state;
    journal_fixture_stop(&lab->owner);
    if (lab->disk != NULL) simdisk_free(lab->disk);
    if (lab->ram != NULL) ram_free(lab->ram);
    return 0;
}

/* The process ends without a word, with its machine; another one starts. */
static void restart(struct lab *lab) {
    journal_fixture_stop(&lab->owner);
    if (lab->disk != NULL) simdisk_crash(lab->disk, SIMDISK_DROP_ALL);
    assert_int_equal(journal_fixture_start(&lab->owner), ERR_OK);
}

static struct journal *reader_of(struct lab *lab) {
    struct journal *j = lab->owner.journal, *reader;
    assert_int_equal(j->ops->reader(j, &reader, &lab->owner.why), ERR_OK);
    return reader;
}

struct span {
    uint64_t first, last; /* records that were given out; 0 = none */
    uint32_t count;       /* batches */
    enum err answer;      /* of the callback */
};

static enum err span_take(void *ctx, const struct batch *b, struct why *why) {
    struct span *s = ctx;
    if (s->first == 0) s->first = b->first_lsn;
    assert_true(s->last == 0 || b->first_lsn == s->last + 1);
    s->last = b->last_lsn;
    s->count++;
    return s->answer == ERR_OK ? ERR_OK : why_set(why, s->answer, "enough");
}

static enum err span_read(struct journal *j, uint64_t from, uint64_t to, struct span *ret) {
    struct why why;
    *ret = (struct span){0};
    return j->ops->read(j, from, to, span_take, ret, &why);
}

/* ---- owning ---- */

static void an_empty_journal_says_so(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    struct journal *j = l->journal;
    struct snapshot_list list;
    struct snapshot_info info = {.lsn = 9};
    struct span s;
    uint64_t first[4];
    uint32_t count = 9;
    assert_int_equal(l->head.epoch, 1);
    assert_int_equal(l->head.lsn, 0);
    assert_int_equal(span_read(j, 1, UINT64_MAX, &s), ERR_OK);
    assert_int_equal(s.count, 0);
    assert_int_equal(j->ops->snapshots(j, &list, &l->why), ERR_OK);
    assert_int_equal(list.count, 0);
    assert_int_equal(j->ops->snapshot_get(j, 0, &info, NULL, &l->why), ERR_OK);
    assert_int_equal(info.lsn, 0);
    assert_int_equal(j->ops->pieces(j, 0, first, 4, &count, &l->why), ERR_OK);
    assert_int_equal(count, 0);
    assert_int_equal(j->ops->trim(j, 0, &l->why), ERR_OK);
    assert_int_equal(j->ops->seal(j, &l->why), ERR_OK);
}

static void acquiring_again_fences_the_epoch_before(void **state) {
    struct journal_fixture *l = &((struct lab *)*state)->owner;
    struct journal *j = l->journal;
    journal_fixture_append_ok(l, 2, 100);
    struct journal_head before = l->head;
    assert_int_equal(j->ops->acquire(j, 0, &l->head, &l->why), ERR_OK);
    assert_int_equal(l->head.epoch, before.epoch + 1);
    assert_int_equal(l->head.lsn, 2);
    assert_int_equal(l->head.time.ms, before.time.ms);
    struct journal_head now = l->head;
    l->head = before;
    assert_int_equal(journal_fixture_append(l, 1, 100), JOURNAL_FENCED);
    l->head = now; /* the right epoch comes too late: the object has lost its ownership */
    assert_int_equal(journal_fixture_append(l, 1, 100), JOURNAL_FENCED);
    assert_int_equal(j->ops->seal(j, &l->why), ERR_FENCED);
    assert_int_equal(journal_fixture_read(l, 1), ERR_OK);
    assert_int_equal(l->read_lsn, 2);
    assert_int_equal(j->ops->acquire(j, 0, &l->head, &l->why), ERR_OK);
    assert_int_equal(l->head.epoch, now.epoch + 1);
    journal_fixture_append_ok(l, 1, 100);
}

static void a_wrong_head_is_fenced_and_nothing_is_appended(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    for (uint32_t i = 0; i < 3; i++) journal_fixture_append_ok(l, 1, 100);
    l->head.lsn = 2;
    assert_int_equal(journal_fixture_append(l, 1, 100), JOURNAL_FENCED);
    restart(lab);
    assert_int_equal(l->head.lsn, 3);
}

/* An engine that can take a journal over does so at once; one that cannot refuses as long as the first one is there. */
static void there_is_one_owner(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner, other;
    fixture_of(lab, &other);
    journal_fixture_append_ok(l, 1, 100);
    enum err e = journal_fixture_start(&other);
    assert_int_equal(e, lab->ram != NULL ? ERR_OK : ERR_CONFLICT);
    if (e == ERR_OK) {
        assert_true(other.head.epoch > l->head.epoch);
        assert_int_equal(journal_fixture_append(l, 1, 100), JOURNAL_FENCED);
        journal_fixture_append_ok(&other, 1, 100);
    } else {
        journal_fixture_append_ok(l, 1, 100);
    }
    journal_fixture_stop(&other);
    restart(lab);
    assert_int_equal(l->head.lsn, 2);
}

static void release_lets_another_acquire(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner, other;
    struct journal *j = l->journal;
    fixture_of(lab, &other);
    journal_fixture_append_ok(l, 1, 100);
    assert_int_equal(j->ops->release(j, l->head.epoch + 1, &l->why), ERR_FENCED);
    assert_int_equal(j->ops->release(j, l->head.epoch, &l->why), ERR_OK);
    assert_int_equal(journal_fixture_append(l, 1, 100), JOURNAL_FENCED);
    assert_int_equal(journal_fixture_start(&other), ERR_OK);
    assert_int_equal(other.head.epoch, l->head.epoch + 1);
    journal_fixture_append_ok(&other, 3, 100);
    assert_int_equal(journal_fixture_append(l, 1, 100), JOURNAL_FENCED);
    assert_int_equal(other.journal->ops->release(other.journal, other.head.epoch, &l->why), ERR_OK);
    assert_int_equal(j->ops->acquire(j, 0, &l->head, &l->why), ERR_OK); /* and back, with the first object */
    assert_int_equal(l->head.epoch, other.head.epoch + 1);
    assert_int_equal(l->head.lsn, 4);
    journal_fixture_append_ok(l, 1, 100);
    assert_int_equal(journal_fixture_read(l, 1), ERR_OK);
    assert_int_equal(l->read_lsn, 5);
    journal_fixture_stop(&other);
}

static void another_shard_is_refused(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    struct journal_head head;
    uint32_t shard = 9;
    journal_fixture_append_ok(l, 1, 100);
    restart(lab);
    assert_int_equal(l->journal->ops->acquire(l->journal, 3, &head, &l->why), ERR_CONFLICT);
    assert_int_equal(l->journal->ops->shard(l->journal, &shard, &l->why), ERR_OK);
    assert_int_equal(shard, 0);
    journal_fixture_append_ok(l, 1, 100); /* nothing has changed */
}

/* ---- appending ---- */

static void what_was_durable_is_there_after_a_restart(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    uint64_t lsn = 0;
    for (uint32_t i = 1; i <= 20; i++) {
        journal_fixture_append_ok(l, i % 3 + 1, 50 * i);
        if (i % 4 == 0) assert_int_equal(l->journal->ops->seal(l->journal, &l->why), ERR_OK);
        lsn += i % 3 + 1;
        if (i % 5 != 0) continue;
        restart(lab); /* checks every byte */
        assert_int_equal(l->head.lsn, lsn);
        assert_int_equal(l->head.epoch, 1 + i / 5);
        assert_int_equal(l->read_count, i);
    }
}

static void the_largest_batch_is_kept(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    journal_fixture_append_ok(l, 1, 100);
    journal_fixture_append_ok(l, 1, l->journal->limits.batch_bytes_max);
    journal_fixture_append_ok(l, 1, 0);
    restart(lab);
    assert_int_equal(l->head.lsn, 3);
    struct batch b = {.first_lsn = 4, .last_lsn = 4, .epoch = l->head.epoch, .rules = RULES_VERSION};
    b.records.len = l->journal->limits.batch_bytes_max + 1; /* never looked at */
    assert_panics((void)l->journal->ops->append(l->journal, l->head.epoch, 3, &b, &l->why));
}

/* Full harms nothing: the same append is durable when there is room. */
static void without_room_nothing_happens(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    struct journal *j = l->journal;
    uint64_t space = 0, space_before = 0;
    enum journal_outcome o = JOURNAL_DURABLE;
    assert_int_equal(j->ops->space(j, &space_before, &l->why), ERR_OK);
    while (o == JOURNAL_DURABLE) o = journal_fixture_append(l, 1, SEGMENT / 4);
    assert_int_equal(o, JOURNAL_FULL);
    uint64_t lsn = l->head.lsn;
    assert_in_range(lsn, 8, 40);
    assert_int_equal(j->ops->space(j, &space, &l->why), ERR_OK);
    assert_true(space < SEGMENT && space_before > 2 * SEGMENT);
    assert_int_equal(journal_fixture_append(l, 1, SEGMENT / 4), JOURNAL_FULL);
    if (lab->disk != NULL) simdisk_budget_set(lab->disk, SPACE_BYTES + SEGMENT); /* a snapshot takes some, too */
    assert_int_equal(journal_fixture_snapshot(l, lsn, 1000), ERR_OK);
    assert_int_equal(j->ops->trim(j, 0, &l->why), ERR_OK);
    journal_fixture_append_ok(l, 1, SEGMENT / 4);
    restart(lab);
    assert_int_equal(l->head.lsn, lsn + 1);
}

static void preparing_is_never_needed_and_never_harms(void **state) {
    struct journal_fixture *l = &((struct lab *)*state)->owner;
    for (uint32_t i = 0; i < 8; i++) {
        if (l->journal->ops->wants_prepare(l->journal))
            assert_int_equal(l->journal->ops->prepare(l->journal, &l->why), ERR_OK);
        assert_false(l->journal->ops->wants_prepare(l->journal));
        journal_fixture_append_ok(l, 1, SEGMENT / 4);
    }
    assert_int_equal(journal_fixture_read(l, 1), ERR_OK);
    assert_int_equal(l->read_lsn, 8);
}

/* ---- reading ---- */

static void reading_begins_and_ends_where_it_is_asked(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    struct span s;
    for (uint32_t i = 0; i < 30; i++) journal_fixture_append_ok(l, 3, 4000); /* over several segments */
    struct journal *by[2] = {l->journal, reader_of(lab)};
    for (uint32_t k = 0; k < 2; k++) {
        for (uint64_t from = 1; from <= 90; from += 7) {
            for (uint64_t to = from; to <= 95; to += 11) {
                assert_int_equal(span_read(by[k], from, to, &s), ERR_OK);
                assert_int_equal(s.first, (from - 1) / 3 * 3 + 1); /* of the batch with that record */
                assert_int_equal(s.last, to > 90 ? 90 : (to + 2) / 3 * 3);
            }
        }
        assert_int_equal(span_read(by[k], 0, UINT64_MAX, &s), ERR_OK);
        assert_true(s.first == 1 && s.last == 90 && s.count == 30);
        assert_int_equal(span_read(by[k], 91, UINT64_MAX, &s), ERR_OK); /* what comes next */
        assert_int_equal(s.count, 0);
        assert_int_equal(span_read(by[k], 50, 49, &s), ERR_OK); /* only asks whether it could begin there */
        assert_int_equal(s.count, 0);
        struct span enough = {.answer = ERR_BUSY};
        assert_int_equal(by[k]->ops->read(by[k], 5, UINT64_MAX, span_take, &enough, &l->why), ERR_BUSY);
        assert_true(enough.first == 4 && enough.count == 1);
    }
    by[1]->ops->close(by[1]);
}

/* Going backwards by pieces, every batch comes once. */
static void the_pieces_are_the_whole_journal(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    struct journal *reader = reader_of(lab);
    uint64_t upto = UINT64_MAX, first = 0, last = 100;
    uint32_t count = 1, steps = 0;
    for (uint32_t i = 0; i < 50; i++) journal_fixture_append_ok(l, 2, 2000);
    while (last > 0) {
        struct span s;
        assert_int_equal(reader->ops->pieces(reader, upto, &first, 1, &count, &l->why), ERR_OK);
        assert_int_equal(count, 1);
        assert_int_equal(span_read(reader, first, upto, &s), ERR_OK);
        assert_int_equal(s.first, first);
        assert_int_equal(s.last, last);
        upto = last = first - 1;
        steps++;
    }
    assert_true(steps > 1);
    uint64_t all[100];
    assert_int_equal(reader->ops->pieces(reader, UINT64_MAX, all, 100, &count, &l->why), ERR_OK);
    assert_int_equal(count, steps);
    assert_int_equal(all[count - 1], 1);
    reader->ops->close(reader);
}

static void a_reader_only_reads(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner, by;
    struct journal_head head;
    journal_fixture_append_ok(l, 2, 100);
    fixture_of(lab, &by);
    by.journal = reader_of(lab);
    by.head = l->head;
    assert_int_equal(by.journal->ops->acquire(by.journal, 0, &head, &by.why), ERR_STATE);
    assert_int_equal(journal_fixture_append(&by, 1, 100), JOURNAL_FENCED);
    assert_int_equal(by.journal->ops->seal(by.journal, &by.why), ERR_FENCED);
    assert_int_equal(journal_fixture_snapshot(&by, 2, 100), ERR_STATE);
    assert_int_equal(by.journal->ops->trim(by.journal, 0, &by.why), ERR_STATE);
    journal_fixture_stop(&by);
    journal_fixture_append_ok(l, 1, 100);
}

static void a_reader_sees_what_the_owner_appends_meanwhile(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    struct journal *reader = reader_of(lab), *second;
    struct span s;
    for (uint32_t i = 1; i <= 20; i++) {
        journal_fixture_append_ok(l, 1, 3000);
        assert_int_equal(span_read(reader, 1, UINT64_MAX, &s), ERR_OK);
        assert_true(s.first == 1 && s.last == i);
        assert_int_equal(journal_fixture_read(l, i), ERR_OK); /* its owner does, too */
        assert_int_equal(l->read_lsn, i);
    }
    assert_int_equal(reader->ops->reader(reader, &second, &l->why), ERR_OK); /* and one gives another */
    reader->ops->close(reader);
    journal_fixture_stop(l);
    assert_int_equal(span_read(second, 1, UINT64_MAX, &s), ERR_OK); /* it outlives the owner */
    assert_int_equal(s.last, 20);
    second->ops->close(second);
}

struct heads {
    uint64_t last;
    uint32_t count;
};

static void head_moved(void *ctx, uint64_t head_lsn) {
    struct heads *h = ctx;
    assert_true(head_lsn > h->last);
    h->last = head_lsn;
    h->count++;
}

static void a_watcher_is_told_or_refused(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    struct journal *reader = reader_of(lab);
    struct heads h = {0};
    enum err e = reader->ops->watch(reader, head_moved, &h, &l->why);
    assert_int_equal(e, lab->ram != NULL ? ERR_OK : ERR_UNSUPPORTED);
    for (uint32_t i = 0; i < 3; i++) journal_fixture_append_ok(l, 2, 100);
    assert_int_equal(h.last, e == ERR_OK ? 6 : 0);
    assert_int_equal(h.count, e == ERR_OK ? 3 : 0);
    if (e == ERR_OK) assert_int_equal(reader->ops->watch(reader, NULL, NULL, &l->why), ERR_OK);
    journal_fixture_append_ok(l, 2, 100);
    assert_int_equal(h.last, e == ERR_OK ? 6 : 0);
    reader->ops->close(reader);
}

static void verify_counts_what_is_there(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    struct journal *reader = reader_of(lab);
    struct journal_report r;
    assert_int_equal(reader->ops->verify(reader, &r, &l->why), ERR_OK);
    assert_true(r.batch_count == 0 && r.first_lsn == 0 && r.last_lsn == 0 && r.sealed && r.snapshot_count == 0);
    for (uint32_t i = 0; i < 5; i++) journal_fixture_append_ok(l, 2, 100);
    assert_int_equal(journal_fixture_snapshot(l, 4, 100), ERR_OK);
    assert_int_equal(reader->ops->verify(reader, &r, &l->why), ERR_OK);
    assert_true(r.batch_count == 5 && r.payload_bytes == 500 && r.first_lsn == 1 && r.last_lsn == 10);
    assert_true(r.epoch == 1 && !r.sealed && r.snapshot_count == 1 && r.snapshot_lsn == 4);
    assert_int_equal(l->journal->ops->seal(l->journal, &l->why), ERR_OK);
    assert_int_equal(reader->ops->verify(reader, &r, &l->why), ERR_OK);
    assert_true(r.sealed);
    reader->ops->close(reader);
}

/* ---- snapshots ---- */

static enum err nothing_comes(struct byte_source *s, void *to, size_t len, size_t *ret, struct why *why) {
    (void)s, (void)to, (void)len, (void)ret;
    return why_set(why, ERR_BUSY, "not now");
}

static void snapshots_are_whole_or_not_there(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    struct journal *j = l->journal;
    struct snapshot_list list;
    struct snapshot_info info;
    struct byte_source fails = {nothing_comes};
    for (uint32_t i = 0; i < 9; i++) journal_fixture_append_ok(l, 1, 100);
    assert_int_equal(journal_fixture_snapshot(l, 10, 100), ERR_INVALID); /* of what is not there yet */
    info = (struct snapshot_info){9, l->head.epoch, l->head.time};
    assert_int_equal(j->ops->snapshot_put(j, &info, &fails, &l->why), ERR_BUSY);
    assert_int_equal(j->ops->snapshots(j, &list, &l->why), ERR_OK);
    assert_int_equal(list.count, 0);
    assert_int_equal(journal_fixture_snapshot(l, 3, 200000), ERR_OK);
    assert_int_equal(journal_fixture_snapshot(l, 7, 0), ERR_OK);
    assert_int_equal(j->ops->snapshots(j, &list, &l->why), ERR_OK);
    assert_true(list.count == 2 && list.lsn[0] == 7 && list.lsn[1] == 3);
    assert_int_equal(j->ops->snapshot_get(j, 3, &info, NULL, &l->why), ERR_OK);
    assert_true(info.lsn == 3 && info.epoch == 1 && info.time.ms == l->head.time.ms);
    assert_int_equal(j->ops->snapshot_get(j, 5, &info, NULL, &l->why), ERR_NOT_FOUND);
    restart(lab); /* from the newest one, which it checks; read is what follows it */
    assert_int_equal(l->read_count, 2);
    assert_int_equal(l->head.lsn, 9);
}

static void trimming_takes_only_what_a_snapshot_covers(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    struct journal *j = l->journal;
    struct span s;
    for (uint32_t i = 0; i < 45; i++) journal_fixture_append_ok(l, 1, 4000);
    assert_int_equal(j->ops->trim(j, 40, &l->why), ERR_STATE);
    assert_int_equal(journal_fixture_snapshot(l, 40, 100), ERR_OK);
    assert_int_equal(j->ops->trim(j, 41, &l->why), ERR_STATE);
    assert_int_equal(span_read(j, 1, UINT64_MAX, &s), ERR_OK);
    assert_int_equal(s.count, 45);
    assert_int_equal(j->ops->trim(j, 40, &l->why), ERR_OK);
    struct journal *reader = reader_of(lab);
    assert_int_equal(span_read(reader, 1, UINT64_MAX, &s), ERR_NOT_FOUND);
    assert_int_equal(span_read(reader, 1, 0, &s), ERR_NOT_FOUND); /* the same without reading */
    assert_int_equal(span_read(reader, 41, UINT64_MAX, &s), ERR_OK);
    assert_int_equal(s.last, 45);
    reader->ops->close(reader);
    restart(lab);
    assert_int_equal(l->head.lsn, 45);
    journal_fixture_append_ok(l, 1, 100);
}

/* ---- those who read it for others ---- */

static void fold_and_audit_do_not_ask_which_engine_it_is(void **state) {
    static const char *const chain[] = {"a", "b: a", "c: b"};
    static const atomic_bool go_on = false;
    struct lab *lab = *state;
    struct fixture rig;
    struct fold f;
    struct arena arena;
    struct audit_page page = {0};
    struct audit_query q = {.upto_lsn = UINT64_MAX, .most = 1000};
    struct why why = {{0}};
    fixture_init(&rig);
    struct options o = fixture_options();
    assert_int_equal(fixture_attach(&rig, "w1", 1, 8), ERR_OK);
    for (uint32_t i = 0; i < 10; i++) assert_int_equal(fixture_submit(&rig, &o, chain, 3), ERR_OK);
    fixture_run_all(&rig, "w1", 1);
    rigdisk_append(&rig, lab->owner.journal, lab->owner.head.epoch);
    uint64_t last = ((const struct batch *)vec_at(&rig.batches, rig.batches.count - 1))->last_lsn;
    struct journal *reader = reader_of(lab);
    if (fold_run(reader, UINT64_MAX, &f, &why) != ERR_OK) fail_msg("%s", why.text);
    struct digest is = engine_digest(f.engine), want = engine_digest(rig.engine);
    assert_true(is.hi == want.hi && is.lo == want.lo);
    assert_true(f.info.lsn == last && f.batch_count == rig.batches.count);
    engine_free(f.engine);
    arena_init(&arena, 65536, (size_t)1 << 28);
    if (audit_read(reader, &q, &go_on, &arena, &page, &why) != ERR_OK) fail_msg("%s", why.text);
    assert_int_equal(page.count, last);
    for (uint32_t i = 0; i < page.count; i++) assert_int_equal(page.at[i].lsn, last - i);
    arena_fini(&arena);
    reader->ops->close(reader);
    fixture_fini(&rig);
}

/* ---- chosen outcomes ---- */

static void an_unknown_outcome_is_known_once_acquired_anew(void **state) {
    static const struct {
        enum ram_fault fault;
        bool is_read; /* before it is acquired */
        bool is_kept;
    } cases[] = {{RAM_UNKNOWN_KEPT, true, true}, {RAM_UNKNOWN_LATE, false, true}, {RAM_UNKNOWN_LOST, false, false}};
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    struct journal *j = l->journal;
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        journal_fixture_append_ok(l, 1, 100);
        uint64_t lsn = l->head.lsn, epoch = l->head.epoch;
        ram_arm(lab->ram, cases[i].fault, 1);
        journal_fixture_append_ok(l, 1, 100);
        assert_true(ram_is_armed(lab->ram));
        assert_int_equal(journal_fixture_append(l, 1, 100), JOURNAL_UNKNOWN);
        assert_false(ram_is_armed(lab->ram));
        assert_int_equal(journal_fixture_append(l, 1, 100), JOURNAL_FENCED); /* until it is acquired */
        assert_int_equal(journal_fixture_read(l, 1), ERR_OK);
        assert_int_equal(l->read_lsn, lsn + 1 + cases[i].is_read);
        assert_int_equal(j->ops->acquire(j, 0, &l->head, &l->why), ERR_OK);
        assert_int_equal(l->head.lsn, lsn + 1 + cases[i].is_kept);
        assert_int_equal(l->head.epoch, epoch + 1);
        assert_int_equal(journal_fixture_read(l, l->read_lsn + 1), ERR_OK); /* on from where the reading ended */
        assert_int_equal(l->read_lsn, l->head.lsn);
    }
}

static void a_fence_a_full_journal_and_a_failure_can_be_had(void **state) {
    struct lab *lab = *state;
    struct journal_fixture *l = &lab->owner;
    struct journal *j = l->journal;
    uint64_t epoch = l->head.epoch;
    ram_arm(lab->ram, RAM_FULL, 0);
    assert_int_equal(journal_fixture_append(l, 1, 100), JOURNAL_FULL);
    journal_fixture_append_ok(l, 1, 100);
    ram_arm(lab->ram, RAM_FENCED, 0);
    assert_int_equal(journal_fixture_append(l, 1, 100), JOURNAL_FENCED);
    assert_int_equal(journal_fixture_append(l, 1, 100), JOURNAL_FENCED);
    assert_int_equal(j->ops->acquire(j, 0, &l->head, &l->why), ERR_OK);
    assert_int_equal(l->head.epoch, epoch + 2); /* one was another's */
    journal_fixture_append_ok(l, 1, 100);
    ram_arm(lab->ram, RAM_FAILED, 0);
    assert_int_equal(journal_fixture_append(l, 1, 100), JOURNAL_FAILED);
    assert_int_equal(journal_fixture_append(l, 1, 100), JOURNAL_FAILED);
    assert_int_equal(j->ops->seal(j, &l->why), ERR_IO);
    assert_int_equal(j->ops->acquire(j, 0, &l->head, &l->why), ERR_IO);
    assert_int_equal(journal_fixture_read(l, 1), ERR_IO);
    restart(lab); /* another process finds what was durable */
    assert_int_equal(l->head.lsn, 2);
}

/* Nothing is left of it then: the sanitizers look. */
static void memory_of_its_own_goes_with_the_last_journal(void **state) {
    (void)state;
    struct journal *j = NULL, *reader = NULL;
    struct journal_head head;
    struct why why;
    uint32_t shard = 0;
    assert_int_equal(ram_open_alone(&(struct ram_options){0}, &j, &why), ERR_OK);
    assert_int_equal(j->ops->acquire(j, 7, &head, &why), ERR_OK);
    assert_int_equal(j->ops->reader(j, &reader, &why), ERR_OK);
    assert_null(j->ops->locator(j));
    j->ops->close(j);
    assert_int_equal(reader->ops->shard(reader, &shard, &why), ERR_OK);
    assert_int_equal(shard, 7);
    reader->ops->close(reader);
}

#define EACH(test)                                        \
    {"file: " #test, test, setup_file, teardown, NULL}, { \
        "ram: " #test, test, setup_ram, teardown, NULL    \
    }

int main(void) {
    const struct CMUnitTest tests[] = {
        EACH(an_empty_journal_says_so),
        EACH(acquiring_again_fences_the_epoch_before),
        EACH(a_wrong_head_is_fenced_and_nothing_is_appended),
        EACH(there_is_one_owner),
        EACH(release_lets_another_acquire),
        EACH(another_shard_is_refused),
        EACH(what_was_durable_is_there_after_a_restart),
        EACH(the_largest_batch_is_kept),
        EACH(without_room_nothing_happens),
        EACH(preparing_is_never_needed_and_never_harms),
        EACH(reading_begins_and_ends_where_it_is_asked),
        EACH(the_pieces_are_the_whole_journal),
        EACH(a_reader_only_reads),
        EACH(a_reader_sees_what_the_owner_appends_meanwhile),
        EACH(a_watcher_is_told_or_refused),
        EACH(verify_counts_what_is_there),
        EACH(snapshots_are_whole_or_not_there),
        EACH(trimming_takes_only_what_a_snapshot_covers),
        EACH(fold_and_audit_do_not_ask_which_engine_it_is),
        cmocka_unit_test_setup_teardown(an_unknown_outcome_is_known_once_acquired_anew, setup_ram, teardown),
        cmocka_unit_test_setup_teardown(a_fence_a_full_journal_and_a_failure_can_be_had, setup_ram, teardown),
        cmocka_unit_test(memory_of_its_own_goes_with_the_last_journal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
