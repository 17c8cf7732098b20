/* recount_test.c: the past told again from a journal on a disk is what left the engine when it happened: from every
 * position on, in one go and in steps, of everything and of one flow. */
#include "test.h"

#include <stdio.h>

#include "event_replay.h"
#include "file.h"
#include "rigdisk.h"
#include "tmpdisk.h"

struct heard {
    struct byte_sink sink; /* first: the recount passes its address back */
    struct buf bytes;
};

static struct fixture rig;
static struct tmpdisk tmp;
static struct journal *reader;

static enum err hear(struct byte_sink *s, const void *from, size_t len, struct why *why) {
    (void)why;
    buf_put(&((struct heard *)s)->bytes, from, len);
    return ERR_OK;
}

/* Some work: a flow that succeeds, one that is cancelled, one whose job is tried again. */
static void live(void) {
    static const char *const chain[] = {"a", "b: a", "c: b"}, *const wide[] = {"x", "y", "z: x y"};
    struct options o = fixture_options();
    assert_int_equal(fixture_attach(&rig, "w1", 1, 8), ERR_OK);
    assert_int_equal(fixture_submit(&rig, &o, chain, 3), ERR_OK);
    fixture_run_all(&rig, "w1", 1);
    assert_int_equal(fixture_submit(&rig, &o, wide, 3), ERR_OK);
    assert_int_equal(fixture_exit(&rig, "w1", ref_of(2, 0), 1, 3), ERR_OK);
    fixture_tick(&rig, 6000);
    fixture_run_all(&rig, "w1", 1);
    assert_int_equal(fixture_submit(&rig, &o, wide, 3), ERR_OK);
    assert_int_equal(fixture_cancel(&rig, (struct job_ref){{3}, UINT32_MAX}), ERR_OK);
    fixture_run_all(&rig, "w1", 1);
    assert_int_equal(fixture_drain(&rig, "w1", true), ERR_OK);
}

static int setup(void **state) {
    (void)state;
    fixture_init(&rig);
    tmpdisk_make(&tmp);
    live();
    rigdisk_write(&rig, tmp.disk, 1 << 20);
    struct why why;
    assert_int_equal(file_reader(tmp.disk, &reader, &why), ERR_OK);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    reader->ops->close(reader);
    tmpdisk_remove(&tmp);
    fixture_fini(&rig);
    return 0;
}

/* How many of the events that left the engine this is about. */
static bool is_wanted(const struct effect *e, struct position after, uint64_t flow) {
    if (e->kind != EFFECT_EVENT || !position_is_after((struct position){e->lsn, e->ordinal}, after)) return false;
    return flow == 0 || (e->as.event.kind != EVENT_WORKER && e->as.event.job.flow.v == flow);
}

static uint64_t last_lsn(void) {
    return ((struct batch *)vec_at(&rig.batches, rig.batches.count - 1))->last_lsn;
}

/* Told in steps that end with every `step`th batch, it is what left, in order; returns how many that were. */
static uint32_t check(struct position after, uint64_t flow, uint32_t step) {
    struct heard h = {{hear}, {0}};
    struct event_replay_spec spec = {.after = after, .flow = flow};
    struct event_replay_item item;
    struct why why = {{0}};
    uint32_t at = 0, count = 0, reached = 0;
    buf_init(&h.bytes, (size_t)1 << 26);
    struct event_replay *r = event_replay_new(reader, &spec, &h.sink);
    for (uint32_t i = 0; i < rig.batches.count; i++) {
        const struct batch *b = vec_at(&rig.batches, i);
        if ((i + 1) % step != 0 && i + 1 < rig.batches.count) continue;
        if (event_replay_upto(r, b->last_lsn, &why) != ERR_OK) fail_msg("%s", why.text);
    }
    struct slice left = buf_slice(&h.bytes);
    while (event_replay_take(&left, &item) == EVENT_REPLAY_TAKEN) {
        assert_int_not_equal(item.kind, EVENT_REPLAY_GAP);
        if (item.kind == EVENT_REPLAY_UPTO) reached++;
        if (item.kind != EVENT_REPLAY_EVENT) continue;
        const struct effect *e = NULL;
        while (e == NULL || !is_wanted(e, after, flow)) {
            assert_true(at < rig.effects.count);
            e = vec_at(&rig.effects, at++);
        }
        assert_true(item.notice.event.lsn == e->lsn && item.notice.event.ordinal == e->ordinal);
        assert_int_equal(item.notice.kind, e->as.event.kind);
        count++;
    }
    for (; at < rig.effects.count; at++) assert_false(is_wanted(vec_at(&rig.effects, at), after, flow));
    assert_true(left.len == 0 && reached > 0);
    event_replay_free(r);
    buf_fini(&h.bytes);
    return count;
}

static void everything_is_told_again(void **state) {
    (void)state;
    assert_true(check((struct position){0, 0}, 0, UINT32_MAX) > 25);
    for (uint32_t step = 1; step < 6; step++) (void)check((struct position){0, 0}, 0, step);
}

static void from_every_position_on(void **state) {
    (void)state;
    for (uint32_t i = 0; i < rig.effects.count; i++) {
        const struct effect *e = vec_at(&rig.effects, i);
        if (e->kind == EFFECT_EVENT) (void)check((struct position){e->lsn, e->ordinal}, 0, UINT32_MAX);
    }
    assert_int_equal(check(position_end_of(last_lsn()), 0, UINT32_MAX), 0);
}

static void of_one_flow(void **state) {
    (void)state;
    for (uint64_t flow = 1; flow <= 3; flow++) assert_true(check((struct position){0, 0}, flow, UINT32_MAX) >= 7);
    assert_int_equal(check((struct position){0, 0}, 4, UINT32_MAX), 0);
}

static void no_more_than_asked_for(void **state) {
    (void)state;
    struct heard h = {{hear}, {0}};
    struct event_replay_spec spec = {.flow = 2, .most = 3};
    struct event_replay_item item;
    struct why why;
    uint32_t count = 0;
    buf_init(&h.bytes, (size_t)1 << 20);
    struct event_replay *r = event_replay_new(reader, &spec, &h.sink);
    assert_int_equal(event_replay_upto(r, last_lsn(), &why), ERR_OK);
    struct slice left = buf_slice(&h.bytes);
    while (event_replay_take(&left, &item) == EVENT_REPLAY_TAKEN && item.kind == EVENT_REPLAY_EVENT) count++;
    assert_int_equal(count, 3);
    assert_int_equal(item.kind, EVENT_REPLAY_UPTO);
    event_replay_free(r);
    buf_fini(&h.bytes);
}

static void words_are_those_of_then(void **state) {
    (void)state;
    struct heard h = {{hear}, {0}};
    struct event_replay_spec spec = {.flow = 1};
    struct event_replay_item item;
    struct why why;
    buf_init(&h.bytes, (size_t)1 << 20);
    struct event_replay *r = event_replay_new(reader, &spec, &h.sink);
    assert_int_equal(event_replay_upto(r, last_lsn(), &why), ERR_OK);
    struct slice left = buf_slice(&h.bytes);
    bool dispatched = false;
    while (event_replay_take(&left, &item) == EVENT_REPLAY_TAKEN && item.kind == EVENT_REPLAY_EVENT) {
        const struct wire_event *e = &item.notice.event;
        assert_true(slice_eq(item.notice.tenant, SLICE("acme")) && item.notice.flow == 1);
        if (!slice_eq(e->to, SLICE("dispatched"))) continue;
        dispatched = true;
        assert_true(slice_eq(e->worker, SLICE("w1")) && e->attempt == 1);
    }
    assert_true(dispatched);
    event_replay_free(r);
    buf_fini(&h.bytes);
}

static void what_is_not_of_a_recount_is_noticed(void **state) {
    (void)state;
    struct event_replay_item item;
    struct slice s = SLICE("\0\0\0\0\0");
    assert_int_equal(event_replay_take(&s, &item), EVENT_REPLAY_BAD);
    s = SLICE("\1\0\0\0\x09");
    assert_int_equal(event_replay_take(&s, &item), EVENT_REPLAY_BAD);
    s = SLICE("\2\0\0\0\0\x09");
    assert_int_equal(event_replay_take(&s, &item), EVENT_REPLAY_BAD);
    s = SLICE("\xff\xff\xff\x7f\0");
    assert_int_equal(event_replay_take(&s, &item), EVENT_REPLAY_BAD);
    s = SLICE("\2\0\0\0\0");
    assert_int_equal(event_replay_take(&s, &item), EVENT_REPLAY_MORE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_told_again),
        cmocka_unit_test(from_every_position_on),
        cmocka_unit_test(of_one_flow),
        cmocka_unit_test(no_more_than_asked_for),
        cmocka_unit_test(words_are_those_of_then),
        cmocka_unit_test(what_is_not_of_a_recount_is_noticed),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
