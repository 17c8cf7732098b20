/* schedule_test.c: schedules over one engine: when slots fire, when they do not, and that no crash changes it. */
#include <stdio.h>

#include "engine_fixture.h"

#include "state.h"

#define EVERY 60000
#define NAME SLICE("nightly")

static int setup(void **state) {
    static struct fixture rig;
    fixture_init(&rig);
    rig.in.wall.ms += EVERY - rig.in.wall.ms % EVERY + 1; /* just after a slot */
    rig.limits.schedule_late_ms = 1000;
    fixture_crash(&rig); /* the limits of an engine are those of its birth */
    *state = &rig;
    return 0;
}

static int teardown(void **state) {
    fixture_fini(*state);
    return 0;
}

static struct command set_command(enum catch_up catch_up, enum overlap overlap) {
    static struct options options;
    static struct job_spec specs[2];
    static struct parent_ref parent;
    options_default(&options);
    parent.name = SLICE("a");
    specs[0] = (struct job_spec){.name = SLICE("a"), .body = SLICE("one")};
    specs[1] = (struct job_spec){.name = SLICE("b"), .body = SLICE("two"), .parents = &parent, .parent_count = 1};
    struct command cmd = {.kind = CMD_SCHEDULE, .tenant = SLICE("acme")};
    cmd.as.schedule = (struct cmd_schedule){.name = NAME,
                                            .expression = SLICE("every minute"),
                                            .zone = SLICE("Europe/Lisbon"),
                                            .catch_up = catch_up,
                                            .overlap = overlap,
                                            .flow_name = SLICE("night"),
                                            .jobs = {&options, 1, specs, 2, false}};
    return cmd;
}

static void set(struct fixture *r, enum catch_up catch_up, enum overlap overlap) {
    struct command cmd = set_command(catch_up, overlap);
    enum err e = fixture_command(r, &cmd);
    if (e != ERR_OK) fail_msg("%s", r->reply.why.text);
}

static enum err named(struct fixture *r, enum command_kind kind, bool on) {
    struct command cmd = {.kind = kind, .tenant = SLICE("acme")};
    cmd.as.schedule_name = (struct cmd_schedule_name){.name = NAME, .on = on};
    return fixture_command(r, &cmd);
}

static struct schedule_view view(const struct fixture *r) {
    struct schedule_view v;
    assert_true(view_schedule(engine_state(r->engine), SLICE("acme"), NAME, &v));
    return v;
}

static enum schedule_block why(const struct fixture *r, int64_t *ret_next) {
    struct why_schedule w;
    assert_true(view_why_schedule(engine_state(r->engine), engine_live(r->engine), &r->limits, view(r).revision, &w));
    if (ret_next) *ret_next = w.next.ms;
    return w.block;
}

/* The calendar: slots at every full minute. Answers the last question the engine asked, if it is still open. */
static bool answer(struct fixture *r) {
    const struct slots_effect *wanted = NULL;
    for (uint32_t i = 0; i < r->effects.count; i++) {
        const struct effect *e = vec_at(&r->effects, i);
        if (e->kind == EFFECT_SLOTS_WANTED) wanted = &e->as.slots;
    }
    if (wanted == NULL) return false;
    int64_t slots[10000];
    struct command cmd = {.kind = CMD_SCHEDULE_SLOTS};
    struct cmd_schedule_slots *c = &cmd.as.schedule_slots;
    *c = (struct cmd_schedule_slots){.revision = wanted->revision, .after_ms = wanted->after_ms, .slots = slots};
    int64_t first = wanted->after_ms / EVERY + 1, to_come = r->in.wall.ms / EVERY + 1;
    if (to_come - first > wanted->most) {
        c->earlier = (uint64_t)(to_come - first - wanted->most);
        first = to_come - wanted->most;
    }
    for (; c->slot_count < wanted->most && first * EVERY <= wanted->until_ms; first++)
        slots[c->slot_count++] = first * EVERY;
    c->last = first * EVERY > wanted->until_ms;
    r->effects.count = 0;
    enum err e = fixture_command(r, &cmd);
    if (e != ERR_OK && e != ERR_STALE) fail_msg("%s", r->reply.why.text);
    return true;
}

static void tick(struct fixture *r, int64_t ms) {
    fixture_tick(r, ms);
    while (answer(r)) continue;
}

static void pass_minutes(struct fixture *r, int minutes) {
    for (int i = 0; i < minutes; i++) tick(r, EVERY);
}

static void finish_flow(struct fixture *r) { /* without a worker: called off */
    assert_int_equal(fixture_cancel(r, (struct job_ref){view(r).flow, UINT32_MAX}), ERR_OK);
    while (answer(r)) continue;
}

static uint64_t last_flow(const struct fixture *r) {
    return engine_state(r->engine)->flow_last;
}

/* ---- firing ---- */

static void a_slot_makes_a_flow_that_names_it(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    assert_int_equal(why(r, NULL), SCHEDULE_BLOCK_SLOTS);
    tick(r, 0);
    int64_t next = 0;
    assert_int_equal(why(r, &next), SCHEDULE_BLOCK_TIME);
    assert_int_equal(next % EVERY, 0);
    fixture_tick(r, next - r->in.wall.ms - 1);
    assert_int_equal(last_flow(r), 0);
    tick(r, 1);
    assert_int_equal(last_flow(r), 1);
    struct flow_view flow;
    assert_true(view_flow(engine_state(r->engine), (flow_id){1}, &flow));
    assert_true(slice_eq(flow.schedule, NAME) && slice_eq(flow.name, SLICE("night")));
    assert_true(slice_eq(flow.principal, SLICE("tester")) && slice_eq(flow.tenant, SLICE("acme")));
    assert_int_equal(flow.slot.ms, next);
    assert_true(slice_eq(flow.zone, SLICE("Europe/Lisbon")));
    assert_int_equal(flow.job_count, 2);
    struct schedule_view v = view(r);
    assert_int_equal(v.fired_slot.ms, next);
    assert_int_equal(v.after.ms, next);
    assert_int_equal(v.fired, 1);
    assert_true(v.running);
    fixture_check_digests(r);
}

static void slots_are_asked_for_again_until_they_come(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    for (int i = 0; i < 3; i++) {
        uint32_t asked = 0;
        for (uint32_t k = 0; k < r->effects.count; k++)
            asked += ((struct effect *)vec_at(&r->effects, k))->kind == EFFECT_SLOTS_WANTED;
        assert_int_equal(asked, 1);
        r->effects.count = 0;
        fixture_tick(r, r->limits.schedule_retry_ms);
    }
    while (answer(r)) continue;
    assert_int_equal(why(r, NULL), SCHEDULE_BLOCK_TIME);
    fixture_tick(r, r->limits.schedule_retry_ms);
    assert_false(answer(r)); /* it knows enough */
    fixture_crash(r);        /* slots are kept in memory only */
    assert_int_equal(why(r, NULL), SCHEDULE_BLOCK_SLOTS);
    assert_true(answer(r));
    assert_int_equal(why(r, NULL), SCHEDULE_BLOCK_TIME);
}

static void no_slot_fires_twice_whatever_the_calendar_says(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    tick(r, EVERY);
    uint64_t flow = last_flow(r);
    assert_int_equal(flow, 1);
    finish_flow(r);
    struct schedule_view v = view(r);
    int64_t slots[] = {v.after.ms - EVERY, v.after.ms};
    struct command cmd = {.kind = CMD_SCHEDULE_SLOTS};
    cmd.as.schedule_slots = (struct cmd_schedule_slots){v.revision, v.after.ms, slots, 2, 0, false, NULL, 0};
    assert_int_equal(fixture_command(r, &cmd), ERR_INVALID);
    cmd.as.schedule_slots.after_ms -= 2 * EVERY; /* of an earlier time */
    assert_int_equal(fixture_command(r, &cmd), ERR_STALE);
    cmd.as.schedule_slots.revision++;
    assert_int_equal(fixture_command(r, &cmd), ERR_STALE);
    fixture_tick(r, 1000);
    assert_int_equal(last_flow(r), flow);
}

static void an_end_is_an_end(void **state) {
    struct fixture *r = *state;
    struct command cmd = set_command(CATCH_UP_ALL, OVERLAP_QUEUE);
    cmd.as.schedule.start_ms = (r->in.wall.ms / EVERY + 2) * EVERY; /* the first slot is before the start */
    cmd.as.schedule.end_ms = cmd.as.schedule.start_ms + 2 * EVERY;
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    pass_minutes(r, 1);
    assert_int_equal(view(r).fired, 0);
    for (int i = 0; i < 5; i++) {
        pass_minutes(r, 1);
        if (view(r).running) finish_flow(r);
    }
    assert_int_equal(view(r).fired, 3);
    assert_int_equal(why(r, NULL), SCHEDULE_BLOCK_OVER);
    fixture_check_digests(r);
}

static void a_limit_makes_a_slot_wait_and_is_named(void **state) {
    struct fixture *r = *state;
    r->limits.flows_max = 1;
    fixture_crash(r); /* the limits */
    struct options o;
    options_default(&o);
    const char *jobs[] = {"x"};
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_OK);
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    tick(r, EVERY);
    assert_int_equal(view(r).fired, 0);
    assert_int_equal(why(r, NULL), SCHEDULE_BLOCK_ROOM);
    assert_int_equal(fixture_cancel(r, (struct job_ref){{1}, UINT32_MAX}), ERR_OK);
    struct command forget = {.kind = CMD_FORGET, .as.flow = {1}};
    assert_int_equal(fixture_command(r, &forget), ERR_OK);
    tick(r, r->limits.schedule_retry_ms);
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(view(r).missed, 0);
}

/* ---- catch-up ---- */

/* A server that is away for some minutes, and the calendar's answer when it is back. */
static void be_away(struct fixture *r, int minutes) {
    r->in.wall.ms += (int64_t)minutes * EVERY + 20000;
    r->in.mono.ms += (int64_t)minutes * EVERY + 20000;
    fixture_crash(r);
    while (answer(r)) continue;
    fixture_check_digests(r);
}

static void missed_slots_are_caught_up_in_order(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    tick(r, 0);
    int64_t first = view(r).after.ms / EVERY * EVERY + EVERY;
    be_away(r, 5);
    for (int i = 0; i < 5; i++) {
        struct flow_view flow;
        assert_int_equal(view(r).fired, i + 1);
        assert_true(view_flow(engine_state(r->engine), view(r).flow, &flow));
        assert_int_equal(flow.slot.ms, first + i * EVERY);
        assert_int_equal(view(r).waiting, 4 - i);
        if (i < 4) assert_int_equal(why(r, NULL), SCHEDULE_BLOCK_OVERLAP);
        finish_flow(r);
        fixture_check_digests(r);
    }
    assert_int_equal(view(r).missed + view(r).skipped, 0);
}

static void the_oldest_missed_slots_are_left_out_beyond_the_limit(void **state) {
    struct fixture *r = *state;
    r->limits.schedule_catch_up_max = 3;
    r->limits.schedule_slots_max = 7; /* the calendar cannot even name them all */
    fixture_crash(r);
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    tick(r, 0);
    int64_t newest = (r->in.wall.ms / EVERY + 1000) * EVERY;
    be_away(r, 1000);
    assert_int_equal(view(r).missed, 997);
    assert_int_equal(view(r).waiting, 2);
    for (int i = 0; i < 3; i++) finish_flow(r);
    assert_int_equal(view(r).fired, 3);
    assert_int_equal(view(r).fired_slot.ms, newest);
    assert_int_equal(view(r).after.ms, newest);
}

static void the_newest_alone_is_caught_up(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_LAST, OVERLAP_SKIP);
    tick(r, 0);
    be_away(r, 5);
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(view(r).missed, 4);
    assert_int_equal(view(r).fired_slot.ms, r->in.wall.ms / EVERY * EVERY);
    finish_flow(r);
    be_away(r, 1);
    assert_int_equal(view(r).fired, 2);
    assert_int_equal(view(r).missed, 4);
}

static void nothing_is_caught_up(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_NONE, OVERLAP_SKIP);
    tick(r, 0);
    be_away(r, 5);
    assert_int_equal(view(r).fired, 0);
    assert_int_equal(view(r).missed, 5);
    tick(r, EVERY - r->in.wall.ms % EVERY + 900); /* late, and on time all the same */
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(view(r).missed, 5);
    const struct slot_note *notes = view(r).notes;
    assert_int_equal(view(r).note_count, 2);
    assert_int_equal(notes[0].what, SLOT_MISSED);
    assert_int_equal(notes[0].count, 5);
    assert_int_equal(notes[1].what, SLOT_FIRED);
    assert_int_equal(notes[1].flow, 1);
}

/* ---- overlap ---- */

static void a_slot_is_skipped_while_an_earlier_flow_runs(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    pass_minutes(r, 4);
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(view(r).skipped, 3);
    finish_flow(r);
    pass_minutes(r, 1);
    assert_int_equal(view(r).fired, 2);
    assert_int_equal(view(r).notes[0].flow_state, FLOW_CANCELLED);
    fixture_check_digests(r);
}

static void slots_queue_up_to_a_limit(void **state) {
    struct fixture *r = *state;
    r->limits.schedule_waiting_max = 2;
    fixture_crash(r);
    set(r, CATCH_UP_ALL, OVERLAP_QUEUE);
    int64_t first = (r->in.wall.ms / EVERY + 1) * EVERY;
    pass_minutes(r, 5);
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(view(r).waiting, 2);
    assert_int_equal(view(r).skipped, 2);
    fixture_check_digests(r);
    finish_flow(r);
    assert_int_equal(view(r).fired_slot.ms, first + EVERY);
    finish_flow(r);
    assert_int_equal(view(r).fired_slot.ms, first + 2 * EVERY);
    finish_flow(r);
    assert_int_equal(view(r).fired, 3);
    assert_false(view(r).running);
}

static void a_later_slot_replaces_the_running_flow(void **state) {
    struct fixture *r = *state;
    r->limits.lease_ms = 3600000;
    r->limits.dispatch_timeout_ms = 3600000;
    fixture_crash(r);
    assert_int_equal(fixture_attach(r, "w1", 1, 4), ERR_OK);
    set(r, CATCH_UP_ALL, OVERLAP_REPLACE);
    pass_minutes(r, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    pass_minutes(r, 1);
    assert_int_equal(view(r).fired, 1); /* the worker has not stopped the first yet */
    assert_int_equal(view(r).waiting, 1);
    struct flow_view flow;
    assert_true(view_flow(engine_state(r->engine), (flow_id){1}, &flow));
    assert_true(flow.cancelling);
    fixture_check_digests(r);
    assert_int_equal(fixture_done(r, "w1", 1, (struct job_ref){{1}, 0}, 1, OUTCOME_STOPPED), ERR_OK);
    assert_int_equal(view(r).fired, 2);
    assert_int_equal(view(r).waiting, 0);
    assert_int_equal(fixture_state(r, 1, 0), JOB_CANCELLED);
}

static void of_slots_that_replace_only_the_last_waits(void **state) {
    struct fixture *r = *state;
    r->limits.stop_confirm_ms = 86400000; /* its worker takes its time */
    r->limits.lease_ms = 3600000;
    fixture_crash(r);
    assert_int_equal(fixture_attach(r, "w1", 1, 4), ERR_OK);
    set(r, CATCH_UP_ALL, OVERLAP_REPLACE);
    pass_minutes(r, 4);
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(view(r).waiting, 1);
    assert_int_equal(view(r).skipped, 2);
    int64_t newest = view(r).after.ms;
    assert_int_equal(fixture_done(r, "w1", 1, (struct job_ref){{1}, 0}, 1, OUTCOME_STOPPED), ERR_OK);
    assert_int_equal(view(r).fired_slot.ms, newest);
    fixture_check_digests(r);
}

static void a_flow_that_unwinds_is_not_called_off_for_a_slot(void **state) {
    struct fixture *r = *state;
    r->limits.lease_ms = 3600000;
    r->limits.dispatch_timeout_ms = 3600000;
    fixture_crash(r);
    assert_int_equal(fixture_attach(r, "w1", 1, 4), ERR_OK);
    uint32_t fatal = 9;
    struct options o = fixture_options();
    o.fatal_exits = (struct tlv_u32s){&fatal, 1};
    struct parent_ref after_a = {.name = SLICE("a")};
    struct job_spec jobs[] = {{.name = SLICE("a"), .undo_profile = 1},
                              {.name = SLICE("f"), .parents = &after_a, .parent_count = 1}};
    struct command cmd = set_command(CATCH_UP_ALL, OVERLAP_REPLACE);
    cmd.as.schedule.jobs = (struct cmd_jobs){&o, 1, jobs, 2, false};
    assert_ok(fixture_command(r, &cmd));
    pass_minutes(r, 1);
    assert_ok(fixture_done(r, "w1", 1, (struct job_ref){{1}, 0}, 1, OUTCOME_OK));
    assert_ok(fixture_exit(r, "w1", (struct job_ref){{1}, 1}, 1, 9));
    assert_int_equal(fixture_state(r, 1, 2), JOB_DISPATCHED); /* a~undo */
    pass_minutes(r, 1);
    assert_false(fixture_flow(r, 1).cancelling); /* what was begun is undone to its end */
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(view(r).waiting, 1);
    fixture_check_digests(r);
    assert_ok(fixture_done(r, "w1", 1, (struct job_ref){{1}, 2}, 1, OUTCOME_OK));
    assert_int_equal(view(r).fired, 2);
    fixture_check_digests(r);
}

/* ---- people ---- */

static void a_pause_calls_its_slots_off(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_QUEUE);
    tick(r, 0);
    assert_int_equal(named(r, CMD_SCHEDULE_PAUSE, true), ERR_OK);
    pass_minutes(r, 5);
    assert_int_equal(view(r).fired, 0);
    assert_int_equal(why(r, NULL), SCHEDULE_BLOCK_PAUSED);
    fixture_check_digests(r);
    assert_int_equal(named(r, CMD_SCHEDULE_PAUSE, false), ERR_OK);
    while (answer(r)) continue;
    assert_int_equal(view(r).fired + view(r).missed, 0);
    pass_minutes(r, 1);
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(named(r, CMD_SCHEDULE_PAUSE, false), ERR_OK); /* nothing to do */
}

static void a_schedule_set_anew_keeps_its_place_unless_the_expression_changes(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_QUEUE);
    tick(r, EVERY);
    struct schedule_view before = view(r);
    r->in.wall.ms += 3 * EVERY;
    set(r, CATCH_UP_LAST, OVERLAP_SKIP); /* before the tick saw the three slots */
    assert_true(view(r).revision > before.revision);
    assert_int_equal(view(r).after.ms, before.after.ms);
    assert_int_equal(view(r).fired, 1);
    while (answer(r)) continue;
    assert_int_equal(view(r).missed, 2);
    struct command cmd = set_command(CATCH_UP_ALL, OVERLAP_QUEUE);
    cmd.as.schedule.expression = SLICE("every full minute");
    r->in.wall.ms += 3 * EVERY;
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    assert_int_equal(view(r).after.ms, r->in.wall.ms);
    fixture_check_digests(r);
}

static void removed_is_removed(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_QUEUE);
    pass_minutes(r, 3);
    assert_int_equal(named(r, CMD_SCHEDULE_REMOVE, false), ERR_OK);
    assert_int_equal(named(r, CMD_SCHEDULE_REMOVE, false), ERR_NOT_FOUND);
    pass_minutes(r, 3);
    assert_int_equal(last_flow(r), 1);
    fixture_check_digests(r);
    assert_int_equal(fixture_cancel(r, (struct job_ref){{1}, UINT32_MAX}), ERR_OK); /* its flow is on its own now */
}

static void slots_of_the_past_can_be_filled_in(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_NONE, OVERLAP_SKIP);
    tick(r, 0);
    be_away(r, 5);
    int64_t newest = view(r).after.ms;
    int64_t slots[] = {newest - 2 * EVERY, newest, newest + EVERY};
    struct command cmd = {.kind = CMD_SCHEDULE_BACKFILL, .tenant = SLICE("acme")};
    cmd.as.schedule_name = (struct cmd_schedule_name){.name = NAME, .slots = slots, .slot_count = 3};
    assert_int_equal(fixture_command(r, &cmd), ERR_INVALID); /* the last one comes by itself */
    cmd.as.schedule_name.slot_count = 2;
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(view(r).fired_slot.ms, newest - 2 * EVERY);
    fixture_check_digests(r);
    fixture_crash(r);
    finish_flow(r);
    assert_int_equal(view(r).fired_slot.ms, newest);
    finish_flow(r);
    assert_int_equal(view(r).fired, 2);
    assert_int_equal(view(r).after.ms, newest);
}

static enum err run_now(struct fixture *r, int64_t slot_ms) {
    struct command cmd = {.kind = CMD_SCHEDULE_RUN, .tenant = SLICE("acme"), .principal = SLICE("ann")};
    cmd.as.schedule_name = (struct cmd_schedule_name){.name = NAME, .slots = &slot_ms, .slot_count = 1};
    return fixture_command(r, &cmd);
}

/* It is on behalf of who asked, for the slot that was named, and no slot of the schedule is lost or comes twice. */
static void a_run_that_is_asked_for_is_beside_the_slots(void **state) {
    struct fixture *r = *state;
    struct flow_view flow;
    assert_int_equal(run_now(r, 1000), ERR_NOT_FOUND);
    set(r, CATCH_UP_ALL, OVERLAP_QUEUE);
    tick(r, 0);
    int64_t after = view(r).after.ms;
    assert_int_equal(run_now(r, r->in.wall.ms + 1), ERR_INVALID); /* it is still to come */
    assert_int_equal(run_now(r, 0), ERR_INVALID);
    assert_int_equal(run_now(r, 1000), ERR_OK);
    assert_int_equal(r->reply.job_count, 2);
    assert_true(view_flow(engine_state(r->engine), (flow_id){1}, &flow));
    assert_true(slice_eq(flow.schedule, NAME) && slice_eq(flow.zone, SLICE("Europe/Lisbon")));
    assert_true(slice_eq(flow.principal, SLICE("ann")) && flow.slot.ms == 1000);
    assert_true(view(r).after.ms == after && view(r).fired == 1);
    assert_int_equal(run_now(r, 1000), ERR_CONFLICT); /* one at a time */
    pass_minutes(r, 2);
    assert_int_equal(view(r).waiting, 2); /* a run is a flow of the schedule like others: slots wait for its end */
    fixture_check_digests(r);
    fixture_crash(r);
    finish_flow(r);
    assert_int_equal(view(r).waiting, 1);
    assert_int_equal(named(r, CMD_SCHEDULE_PAUSE, true), ERR_OK);
    finish_flow(r);
    assert_int_equal(run_now(r, r->in.wall.ms), ERR_OK); /* also in a pause */
    assert_int_equal(view(r).waiting, 1);
    r->limits.flows_max = 1;
    fixture_crash(r);
    assert_int_equal(fixture_cancel(r, (struct job_ref){view(r).flow, UINT32_MAX}), ERR_OK);
    assert_int_equal(run_now(r, 1000), ERR_LIMIT);
    fixture_check_digests(r);
}

static void nonsense_is_refused(void **state) {
    struct fixture *r = *state;
    struct command cmd = set_command(CATCH_UP_ALL, OVERLAP_SKIP);
    struct options o = cmd.as.schedule.jobs.profiles[0];
#define REFUSED(err_, change)                             \
    do {                                                  \
        struct command bad = cmd;                         \
        struct cmd_schedule *c = &bad.as.schedule;        \
        (void)c;                                          \
        change;                                           \
        assert_int_equal(fixture_command(r, &bad), err_); \
    } while (0)
    REFUSED(ERR_INVALID, c->name.len = 0);
    REFUSED(ERR_INVALID, bad.tenant.len = 0);
    REFUSED(ERR_INVALID, c->expression.len = 0);
    REFUSED(ERR_INVALID, c->zone = SLICE("a\x01"));
    REFUSED(ERR_INVALID, c->catch_up = CATCH_UP_COUNT);
    REFUSED(ERR_INVALID, c->overlap = OVERLAP_COUNT);
    REFUSED(ERR_INVALID, c->end_ms = 5);
    REFUSED(ERR_INVALID, c->start_ms = -1);
    REFUSED(ERR_INVALID, c->end_ms = -1);
    REFUSED(ERR_INVALID, (c->start_ms = r->in.wall.ms + 20, c->end_ms = r->in.wall.ms + 10));
    REFUSED(ERR_INVALID, c->jobs.profile_count = 0);
    static char long_text[300000];
    memset(long_text, 'x', sizeof long_text);
    REFUSED(ERR_LIMIT, c->expression = slice_of(long_text, (size_t)r->limits.reason_bytes_max + 1));
    struct job_spec large = {.name = SLICE("a"), .body = slice_of(long_text, sizeof long_text)};
    REFUSED(ERR_LIMIT, (c->jobs.jobs = &large, c->jobs.job_count = 1));
    REFUSED(ERR_INVALID, c->jobs.more = true);
    REFUSED(ERR_INVALID, c->jobs.job_count = 0);
    REFUSED(ERR_INVALID, (c->jobs.profiles = &o, o.deadline_ms = r->in.wall.ms + 1));
    o.deadline_ms = 0;
    REFUSED(ERR_INVALID, (c->jobs.profiles = &o, o.not_before_ms = r->in.wall.ms + 1));
    o.not_before_ms = 0;
    struct parent_ref elsewhere = {.name = SLICE("x"), .flow = {7}};
    struct job_spec spec = {.name = SLICE("a"), .parents = &elsewhere, .parent_count = 1};
    REFUSED(ERR_INVALID, (c->jobs.jobs = &spec, c->jobs.job_count = 1));
    assert_int_equal(engine_state(r->engine)->schedules.count, 0);
    assert_int_equal(named(r, CMD_SCHEDULE_PAUSE, true), ERR_NOT_FOUND);
    assert_int_equal(named(r, CMD_SCHEDULE_BACKFILL, true), ERR_NOT_FOUND);
    struct command nameless = {.kind = CMD_SCHEDULE_REMOVE, .tenant = SLICE("acme")};
    assert_int_equal(fixture_command(r, &nameless), ERR_INVALID);
    nameless = (struct command){.kind = CMD_SCHEDULE_REMOVE, .as.schedule_name.name = NAME};
    assert_int_equal(fixture_command(r, &nameless), ERR_INVALID);
    r->limits.schedules_max = 1;
    fixture_crash(r);
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    REFUSED(ERR_LIMIT, c->name = SLICE("another"));
    REFUSED(ERR_OK, c->paused = true); /* setting one anew needs no room */
    struct command other = {.kind = CMD_SCHEDULE_REMOVE, .tenant = SLICE("bolt")};
    other.as.schedule_name.name = NAME;
    assert_int_equal(fixture_command(r, &other), ERR_NOT_FOUND); /* each tenant has names of its own */
}

static void delays_count_from_each_flow(void **state) {
    struct fixture *r = *state;
    struct command cmd = set_command(CATCH_UP_ALL, OVERLAP_SKIP);
    struct options o = cmd.as.schedule.jobs.profiles[0];
    o.delay_ms = 5000;
    o.delay_from_submit = true;
    cmd.as.schedule.jobs.profiles = &o;
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    for (uint64_t flow = 1; flow <= 2; flow++) {
        tick(r, EVERY - r->in.wall.ms % EVERY);
        assert_int_equal(last_flow(r), flow);
        assert_int_equal(fixture_job(r, flow, 0).due.ms, r->in.wall.ms + 5000);
        finish_flow(r);
    }
}

/* ---- slots that cannot be ---- */

static enum err backfill(struct fixture *r, const int64_t *slots, uint32_t count) {
    struct command cmd = {.kind = CMD_SCHEDULE_BACKFILL, .tenant = SLICE("acme")};
    cmd.as.schedule_name = (struct cmd_schedule_name){.name = NAME, .slots = slots, .slot_count = count};
    return fixture_command(r, &cmd);
}

/* Answers by hand what the calendar was asked for. */
static enum err give_slots(struct fixture *r, const int64_t *slots, uint32_t count, uint64_t earlier, bool last) {
    struct command cmd = {.kind = CMD_SCHEDULE_SLOTS};
    r->effects.count = 0;
    cmd.as.schedule_slots =
        (struct cmd_schedule_slots){view(r).revision, view(r).after.ms, slots, count, earlier, last, NULL, 0};
    return fixture_command(r, &cmd);
}

static void slots_that_cannot_be_are_refused(void **state) {
    struct fixture *r = *state;
    r->limits.schedule_waiting_max = 3;
    fixture_crash(r);
    struct command cmd = set_command(CATCH_UP_ALL, OVERLAP_SKIP);
    cmd.as.schedule.end_ms = r->in.wall.ms + 10 * EVERY;
    assert_ok(fixture_command(r, &cmd));
    int64_t past[] = {1000, 2000, 3000, 4000}, back[] = {2000, 1000}, before_all[] = {0};
    assert_refused(r, backfill(r, past, 0), ERR_INVALID, "no slot in that range");
    assert_refused(r, backfill(r, past, 4), ERR_LIMIT, "schedule_waiting_max");
    assert_refused(r, backfill(r, back, 2), ERR_INVALID, "not in order");
    assert_refused(r, backfill(r, before_all, 1), ERR_INVALID, "only past slots");
    static int64_t many[200];
    for (int i = 0; i < 200; i++) many[i] = r->in.wall.ms + 1 + i;
    assert_refused(r, give_slots(r, many, 200, 0, false), ERR_LIMIT, "schedule_slots_max");
    assert_refused(r, give_slots(r, many, 0, 0, false), ERR_INVALID, "without slots");
    assert_refused(r, give_slots(r, many, 0, 7, true), ERR_INVALID, "without slots");
    int64_t late[] = {r->in.wall.ms + 11 * EVERY};
    assert_refused(r, give_slots(r, late, 1, 0, true), ERR_INVALID, "after the end");
    assert_ok(give_slots(r, late, 0, 0, true)); /* the calendar may have nothing more */
    assert_int_equal(why(r, NULL), SCHEDULE_BLOCK_OVER);
    assert_ok(backfill(r, past, 3));
    assert_int_equal(view(r).waiting, 2);
}

static void slots_that_were_not_named_are_counted(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    int64_t slot[] = {(r->in.wall.ms / EVERY + 10) * EVERY};
    r->in.wall.ms = slot[0] + r->limits.schedule_late_ms + 1; /* just too late */
    assert_ok(give_slots(r, slot, 1, 7, false));
    assert_int_equal(view(r).missed, 7);
    assert_int_equal(view(r).fired, 1);
    finish_flow(r);
    slot[0] += 10 * EVERY;
    r->in.wall.ms = slot[0]; /* on time, but others before it were not */
    assert_ok(give_slots(r, slot, 1, 5, false));
    assert_int_equal(view(r).missed, 12);
    fixture_tick(r, 0);
    assert_int_equal(view(r).fired, 2);
    fixture_check_digests(r);
}

static void more_wait_than_a_lower_limit_allows(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_QUEUE);
    tick(r, EVERY);
    pass_minutes(r, 3);
    assert_int_equal(view(r).waiting, 3);
    r->limits.schedule_waiting_max = 1;
    be_away(r, 4); /* the engine comes back with the new limit */
    assert_int_equal(view(r).waiting, 3);
    assert_int_equal(view(r).missed, 4);
}

static void notes_are_of_the_last_slots(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    pass_minutes(r, (int)SCHEDULE_NOTES + 5);
    struct schedule_view v = view(r);
    assert_int_equal(v.note_count, SCHEDULE_NOTES);
    assert_int_equal(v.notes[SCHEDULE_NOTES - 1].slot_ms, v.after.ms);
    assert_int_equal(v.notes[0].slot_ms, v.after.ms - (int64_t)(SCHEDULE_NOTES - 1) * EVERY);
    fixture_check_digests(r);
}

/* ---- room ---- */

static void a_full_journal_makes_slots_wait(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    tick(r, 0);
    r->in.journal_free_bytes = 1000;
    tick(r, EVERY);
    assert_int_equal(view(r).fired, 0);
    int64_t past[] = {1000};
    assert_ok(backfill(r, past, 1));
    assert_int_equal(view(r).waiting, 1); /* one that waits needs room, too */
    r->in.journal_free_bytes = 1 << 20;
    tick(r, r->limits.schedule_retry_ms);
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(view(r).fired_slot.ms, 1000);
    finish_flow(r);
    assert_int_equal(view(r).fired, 2);
}

static const char *limit_named(const struct fixture *r, const struct limits *limits, enum schedule_block *ret) {
    struct why_schedule w;
    assert_true(view_why_schedule(engine_state(r->engine), engine_live(r->engine), limits, view(r).revision, &w));
    *ret = w.block;
    return w.limit ? w.limit : "";
}

static void every_limit_is_named(void **state) {
    struct fixture *r = *state;
    r->limits.flows_max = 1;
    fixture_crash(r);
    struct options o = fixture_options();
    assert_ok(fixture_submit(r, &o, (const char *[]){"x"}, 1));
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    tick(r, 0);
    int64_t past[] = {1000};
    assert_ok(backfill(r, past, 1)); /* waits for nothing but room */
    struct limits plenty = r->limits, l;
    enum schedule_block block;
    plenty.flows_max = 100;
#define NAMED(limit, value)                                      \
    do {                                                         \
        l = plenty;                                              \
        l.limit = (value);                                       \
        assert_string_equal(limit_named(r, &l, &block), #limit); \
        assert_int_equal(block, SCHEDULE_BLOCK_ROOM);            \
    } while (0)
    NAMED(flows_max, 1);
    NAMED(ended_flows_max, 0);
    NAMED(jobs_max, 2);
    NAMED(profiles_max, 1);
    NAMED(classes_max, 1);
#undef NAMED
    assert_string_equal(limit_named(r, &plenty, &block), "");
    assert_int_equal(block, SCHEDULE_BLOCK_TIME); /* now */
    struct command cmd = {.kind = CMD_LIMIT};
    const struct {
        uint64_t queued, bytes;
        const char *word;
    } tenants[] = {{2, 0, "queued"}, {100, 0, ""}, {0, 8, "bytes"}, {0, 100000, ""}};
    for (uint32_t i = 0; i < 4; i++) {
        cmd.as.limit = (struct cmd_limit){
            .tenant = SLICE("acme"), .kind = LIMIT_TENANT, .queued = tenants[i].queued, .bytes = tenants[i].bytes};
        assert_ok(fixture_command(r, &cmd));
        assert_string_equal(limit_named(r, &plenty, &block), tenants[i].word);
    }
}

static void questions_of_its_flow_need_room(void **state) {
    struct fixture *r = *state;
    static const uint8_t hash[32] = {1};
    struct options sets[] = {fixture_options(), fixture_options()};
    sets[0].kind = JOB_SERVICE;
    sets[1].gates = GATE_BIT(GATE_APPROVAL);
    struct job_spec specs[] = {{.name = SLICE("deploy"), .service = SLICE("web")},
                               {.name = SLICE("ask"),
                                .profile = 1,
                                .body_hash = slice_of(hash, 32),
                                .undo_profile = 2,
                                .undo_hash = slice_of(hash, 32),
                                .undo_body = SLICE("back")}};
    struct command cmd = set_command(CATCH_UP_ALL, OVERLAP_SKIP);
    cmd.as.schedule.jobs = (struct cmd_jobs){sets, 2, specs, 2, false};
    assert_ok(fixture_command(r, &cmd));
    tick(r, 0);
    r->in.journal_free_bytes = 1000;
    tick(r, EVERY);
    enum schedule_block block;
    struct limits few = r->limits;
    few.questions_max = 2;
    assert_string_equal(limit_named(r, &few, &block), "questions_max");
    few.questions_max = 3;
    assert_string_equal(limit_named(r, &few, &block), "");
    r->in.journal_free_bytes = UINT64_MAX;
    tick(r, r->limits.schedule_retry_ms);
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(fixture_counts(r).questions, 2);
}

/* ---- overlap ---- */

/* A minute in which the worker is heard of. */
static void work_a_minute(struct fixture *r) {
    for (int i = 0; i < 6; i++) {
        assert_ok(fixture_heartbeat(r, "w", 1, 1, 0, 0));
        tick(r, EVERY / 6);
    }
}

static void a_slot_that_replaces_goes_before_those_that_wait(void **state) {
    struct fixture *r = *state;
    r->limits.stop_confirm_ms = 10 * EVERY;
    fixture_crash(r);
    set(r, CATCH_UP_ALL, OVERLAP_REPLACE);
    tick(r, EVERY);
    assert_ok(fixture_attach(r, "w", 1, 1)); /* the flow does not end before its worker says so */
    int64_t past[] = {1000, 2000};
    assert_ok(backfill(r, past, 2));
    work_a_minute(r);
    assert_int_equal(view(r).waiting, 3);
    assert_true(fixture_flow(r, 1).cancelling);
    uint64_t lsn = engine_lsn(r->engine);
    work_a_minute(r); /* called off once is called off: the slot alone is recorded */
    assert_int_equal(engine_lsn(r->engine), lsn + 1);
    assert_int_equal(view(r).waiting, 3);
    int64_t newest = view(r).after.ms;
    fixture_check_digests(r);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_STOPPED));
    assert_int_equal(view(r).fired_slot.ms, newest);
    assert_int_equal(view(r).waiting, 2);
    assert_ok(fixture_cancel(r, (struct job_ref){view(r).flow, UINT32_MAX}));
    assert_ok(fixture_done(r, "w", 1, (struct job_ref){view(r).flow, 0}, 1, OUTCOME_STOPPED));
    assert_int_equal(view(r).fired_slot.ms, newest); /* an older one does not take its place */
    assert_int_equal(view(r).fired, 3);
}

/* 5,000 jobs that are called off: in the middle of that no second word about the flow is recorded. */
static void a_flow_that_settles_is_not_replaced_yet(void **state) {
    struct fixture *r = *state;
    r->limits.schedule_bytes_max = 16 << 20;
    fixture_crash(r);
    static struct job_spec specs[20000];
    static char names[20000][8];
    for (uint32_t i = 0; i < 20000; i++) {
        (void)snprintf(names[i], sizeof names[i], "j%u", i);
        specs[i].name = slice_str(names[i]);
    }
    struct options o = fixture_options();
    struct command cmd = set_command(CATCH_UP_ALL, OVERLAP_REPLACE);
    cmd.as.schedule.jobs = (struct cmd_jobs){&o, 1, specs, r->limits.submit_jobs_max < 20000 ? 5000 : 20000, false};
    assert_ok(fixture_command(r, &cmd));
    tick(r, EVERY);
    assert_int_equal(last_flow(r), 1);
    cmd = (struct command){.kind = CMD_CANCEL};
    cmd.as.cancel = (struct cmd_cancel){.flow = {1}, .whole = true};
    r->in.wall.ms += EVERY;
    r->in.mono.ms += EVERY;
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd);
    engine_finish(r->engine);
    fixture_flush(r);
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(view(r).waiting, 0); /* nothing was said of the slot yet */
    tick(r, 0);                           /* the rest of it settles */
    tick(r, r->limits.schedule_retry_ms);
    assert_int_equal(view(r).fired, 2);
    assert_int_equal(view(r).skipped, 0);
}

/* ---- looking ---- */

static void count_schedule(void *ctx, const struct schedule_view *v) {
    uint64_t *last = ctx;
    assert_true(v->revision > *last);
    *last = v->revision;
}

static void schedules_can_be_looked_at(void **state) {
    struct fixture *r = *state;
    struct schedule_view v;
    struct why_schedule w;
    const struct state *s = engine_state(r->engine);
    size_t bytes = state_bytes(s);
    assert_false(view_schedule(s, SLICE("acme"), NAME, &v));
    assert_false(view_schedule_revision(s, 7, &v));
    assert_false(view_why_schedule(s, NULL, &r->limits, 7, &w));
    struct command cmd = set_command(CATCH_UP_ALL, OVERLAP_SKIP);
    cmd.as.schedule.name = SLICE("gone");
    assert_ok(fixture_command(r, &cmd));
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    cmd = (struct command){.kind = CMD_SCHEDULE_REMOVE, .tenant = SLICE("acme")};
    cmd.as.schedule_name.name = SLICE("gone");
    assert_ok(fixture_command(r, &cmd)); /* leaves a hole */
    set(r, CATCH_UP_ALL, OVERLAP_QUEUE);
    uint64_t last = 0;
    view_each_schedule(s, count_schedule, &last);
    assert_int_equal(last, view(r).revision);
    struct arena arena;
    struct schedule_made made;
    arena_init(&arena, 4096, 1 << 20);
    uint32_t walked = 0;
    for (uint32_t at = 0; (at = view_schedule_next(s, at, &arena, &made)) != 0; walked++) {
        assert_true(slice_eq(made.tenant, SLICE("acme")));
        assert_int_equal(made.jobs.count, 2);
    }
    assert_int_equal(walked, 1);
    arena_fini(&arena);
    assert_true(view_schedule_revision(s, last, &v));
    assert_true(slice_eq(v.name, NAME));
    assert_true(state_bytes(s) > bytes);
    assert_true(view_why_schedule(s, NULL, &r->limits, last, &w)); /* without the volatile part: nothing is known */
    assert_int_equal(w.block, SCHEDULE_BLOCK_SLOTS);
}

static void a_flow_that_runs_again_is_noted(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    tick(r, EVERY);
    finish_flow(r);
    assert_int_equal(view(r).notes[0].flow_state, FLOW_CANCELLED);
    assert_ok(fixture_rerun(r, 1));
    assert_int_equal(view(r).notes[0].flow_state, FLOW_RUNNING);
    assert_true(view(r).running);
    fixture_check_digests(r);
}

static void a_schedule_set_anew_in_a_pause_owes_nothing(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    tick(r, 0);
    assert_ok(named(r, CMD_SCHEDULE_PAUSE, true));
    tick(r, 5 * EVERY);
    set(r, CATCH_UP_ALL, OVERLAP_SKIP); /* the same expression, and no longer paused */
    assert_int_equal(view(r).after.ms, r->in.wall.ms);
    tick(r, 0);
    assert_int_equal(view(r).fired + view(r).missed, 0);
}

/* What waits is due, whatever the calendar has left. */
static void a_waiting_slot_outlives_the_calendar(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL, OVERLAP_SKIP);
    r->in.journal_free_bytes = 1000;
    int64_t past[] = {1000};
    assert_ok(give_slots(r, past, 0, 0, true));
    assert_int_equal(why(r, NULL), SCHEDULE_BLOCK_OVER);
    assert_ok(backfill(r, past, 1));
    int64_t next = 0;
    assert_int_equal(why(r, &next), SCHEDULE_BLOCK_TIME);
    assert_int_equal(next, r->in.wall.ms);
}

/* ---- crashes ---- */

/* Takes over from the first `count` batches alone, and goes on as if nothing had been. */
static void cut(struct fixture *r, uint32_t count) {
    r->batches.count = count;
    fixture_crash(r);
}

/* Whatever prefix of the journal survives, the slots that follow fire once each, all of them. */
static void a_crash_at_any_batch_loses_and_repeats_nothing(void **state) {
    struct fixture *r = *state;
    for (uint32_t lost = 0; lost < 12; lost++) {
        teardown(state);
        setup(state);
        set(r, CATCH_UP_ALL, OVERLAP_QUEUE);
        int64_t start = view(r).after.ms;
        uint32_t least = r->batches.count;
        pass_minutes(r, 3);
        finish_flow(r);
        pass_minutes(r, 1);
        finish_flow(r);
        if (r->batches.count < least + lost) break;
        cut(r, r->batches.count - lost);
        while (answer(r)) continue;
        for (int i = 0; i < 12; i++) {
            if (view(r).running) finish_flow(r);
            if (i % 3 == 0) fixture_crash(r);
            while (answer(r)) continue;
        }
        int64_t due = r->in.wall.ms / EVERY - start / EVERY;
        assert_int_equal(view(r).fired, due);
        assert_int_equal(last_flow(r), due);
        assert_int_equal(view(r).missed + view(r).skipped, 0);
        fixture_check_digests(r);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_slot_makes_a_flow_that_names_it),
        TEST(slots_are_asked_for_again_until_they_come),
        TEST(no_slot_fires_twice_whatever_the_calendar_says),
        TEST(an_end_is_an_end),
        TEST(a_limit_makes_a_slot_wait_and_is_named),
        TEST(missed_slots_are_caught_up_in_order),
        TEST(the_oldest_missed_slots_are_left_out_beyond_the_limit),
        TEST(the_newest_alone_is_caught_up),
        TEST(nothing_is_caught_up),
        TEST(a_slot_is_skipped_while_an_earlier_flow_runs),
        TEST(slots_queue_up_to_a_limit),
        TEST(a_later_slot_replaces_the_running_flow),
        TEST(of_slots_that_replace_only_the_last_waits),
        TEST(a_flow_that_unwinds_is_not_called_off_for_a_slot),
        TEST(a_pause_calls_its_slots_off),
        TEST(a_schedule_set_anew_keeps_its_place_unless_the_expression_changes),
        TEST(removed_is_removed),
        TEST(slots_of_the_past_can_be_filled_in),
        TEST(a_run_that_is_asked_for_is_beside_the_slots),
        TEST(nonsense_is_refused),
        TEST(delays_count_from_each_flow),
        TEST(slots_that_cannot_be_are_refused),
        TEST(slots_that_were_not_named_are_counted),
        TEST(more_wait_than_a_lower_limit_allows),
        TEST(notes_are_of_the_last_slots),
        TEST(a_full_journal_makes_slots_wait),
        TEST(every_limit_is_named),
        TEST(questions_of_its_flow_need_room),
        TEST(a_slot_that_replaces_goes_before_those_that_wait),
        TEST(a_flow_that_settles_is_not_replaced_yet),
        TEST(schedules_can_be_looked_at),
        TEST(a_flow_that_runs_again_is_noted),
        TEST(a_schedule_set_anew_in_a_pause_owes_nothing),
        TEST(a_waiting_slot_outlives_the_calendar),
        TEST(a_crash_at_any_batch_loses_and_repeats_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
