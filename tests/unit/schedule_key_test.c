/* schedule_key_test.c: schedules whose flows a key of the store starts: which changes count, how they wait, and that no
 * crash loses or repeats one. */
#include "engine_fixture.h"

#include <stdio.h>

#include "key_cause.h"
#include "slot_note.h"
#include "state.h"

#define NAME SLICE("uploads")

static struct fixture *r;

static int setup(void **state) {
    static struct fixture rig;
    fixture_init(&rig);
    r = &rig;
    *state = &rig;
    return 0;
}

static int teardown(void **state) {
    fixture_check_digests(r);
    fixture_fini(*state);
    return 0;
}

/* ---- saying it shortly ---- */

static struct command of_key(const char *key, bool prefix, unsigned when, enum overlap overlap) {
    static struct options o;
    static struct job_spec spec;
    options_default(&o);
    spec = (struct job_spec){.name = SLICE("a"), .body = SLICE("one")};
    struct command cmd = {.kind = CMD_SCHEDULE, .tenant = SLICE("acme")};
    cmd.as.schedule = (struct cmd_schedule){.name = NAME,
                                            .expression = SLICE("key"),
                                            .overlap = overlap,
                                            .flow_name = SLICE("upload"),
                                            .jobs = {&o, 1, &spec, 1, false},
                                            .key = slice_str(key),
                                            .key_prefix = prefix,
                                            .when = when};
    return cmd;
}

static void set_schedule(const char *key, bool prefix, unsigned when, enum overlap overlap) {
    struct command cmd = of_key(key, prefix, when, overlap);
    if (fixture_command(r, &cmd) != ERR_OK) fail_msg("%s", r->reply.why.text);
}

static void store_as(const char *tenant, struct cmd_store c) {
    struct command cmd = {.kind = CMD_STORE, .tenant = slice_str(tenant)};
    cmd.as.store = c;
    assert_ok(fixture_command(r, &cmd));
    fixture_tick(r, 0);
}

static void put(const char *key, const char *value) {
    struct store_entry e = {slice_str(key), slice_str(value)};
    store_as("acme", (struct cmd_store){.op = STORE_SET, .entries = &e, .entry_count = 1});
}

static void put_by(const char *key, const char *value, uint64_t flow) {
    struct store_entry e = {slice_str(key), slice_str(value)};
    store_as("acme", (struct cmd_store){.op = STORE_SET, .entries = &e, .entry_count = 1, .by = {flow}});
}

static void delete (const char *key) {
    struct store_entry e = {slice_str(key), {0}};
    store_as("acme", (struct cmd_store){.op = STORE_DELETE, .entries = &e, .entry_count = 1});
}

static struct schedule_view view(void) {
    struct schedule_view v;
    assert_true(view_schedule(engine_state(r->engine), SLICE("acme"), NAME, &v));
    return v;
}

static enum schedule_block block(void) {
    struct why_schedule w;
    assert_true(view_why_schedule(engine_state(r->engine), engine_live(r->engine), &r->limits, view().revision, &w));
    return w.block;
}

static uint64_t flows(void) {
    return engine_state(r->engine)->flow_last;
}

static void end_flow(void) { /* without a worker: called off */
    assert_ok(fixture_cancel(r, (struct job_ref){view().flow, UINT32_MAX}));
    fixture_tick(r, 0);
}

/* The flow made last was started by this key, which had this value. */
static void started_by(const char *key, const char *value, unsigned how, uint32_t count) {
    struct flow_view f = fixture_flow(r, flows());
    assert_true(slice_eq(f.schedule, NAME));
    if (!slice_eq(f.cause.key, slice_str(key))) fail_msg("started by %.*s", SLICE_FMT(f.cause.key));
    if (!slice_eq(f.cause.value, slice_str(value))) fail_msg("it had the value %.*s", SLICE_FMT(f.cause.value));
    assert_int_equal(f.cause.how, how);
    assert_int_equal(f.cause.count, count);
}

/* ---- which changes count ---- */

static void a_changed_key_starts_a_flow(void **state) {
    (void)state;
    put("uploads/0", "before"); /* what was there is no change */
    set_schedule("uploads/", true, KEY_CHANGED, OVERLAP_QUEUE);
    fixture_tick(r, 0);
    assert_int_equal(flows(), 0);
    assert_int_equal(block(), SCHEDULE_BLOCK_KEY);
    put("uploads/a", "1");
    assert_int_equal(flows(), 1);
    started_by("uploads/a", "1", KEY_CHANGED, 1);
    assert_int_equal(view().waiting, 0);
    assert_int_equal(view().fired, 1);
    end_flow();
    put("uploads/a", "1"); /* written, and not changed */
    put("other", "1");
    delete ("uploads/a");
    assert_int_equal(flows(), 1);
}

static void a_schedule_says_which_changes_count(void **state) {
    (void)state;
    set_schedule("k", false, KEY_SET, OVERLAP_QUEUE);
    put("k", "1");
    end_flow();
    put("k", "1");
    assert_int_equal(flows(), 2);
    end_flow();
    put("k/1", "1"); /* another key than the one */
    delete ("k");
    assert_int_equal(flows(), 2);
    set_schedule("k", false, KEY_DELETED, OVERLAP_QUEUE);
    put("k", "1");
    assert_int_equal(flows(), 2);
    delete ("k");
    assert_int_equal(flows(), 3);
    started_by("k", "", KEY_DELETED, 1);
}

static void sets_numbers_and_expiries_are_changes(void **state) {
    (void)state;
    struct slice member = SLICE("m");
    set_schedule("", true, KEY_CHANGED | KEY_DELETED, OVERLAP_QUEUE);
    store_as("acme", (struct cmd_store){.op = STORE_INCREASE, .key = SLICE("n"), .number = 7});
    started_by("n", "7", KEY_CHANGED, 1);
    end_flow();
    store_as("acme", (struct cmd_store){.op = STORE_ADD, .key = SLICE("s"), .members = &member, .member_count = 1});
    started_by("s", "", KEY_CHANGED, 1);
    end_flow();
    store_as("acme", (struct cmd_store){.op = STORE_REMOVE, .key = SLICE("s"), .members = &member, .member_count = 1});
    started_by("s", "", KEY_DELETED, 1);
    end_flow();
    struct store_entry e = {SLICE("t"), SLICE("x")};
    store_as("acme",
             (struct cmd_store){.op = STORE_SET, .entries = &e, .entry_count = 1, .expires_ms = r->in.wall.ms + 1000});
    end_flow();
    fixture_tick(r, 1001);
    fixture_tick(r, 0);
    started_by("t", "", KEY_DELETED, 1);
    assert_int_equal(flows(), 5);
}

static void keys_of_others_start_nothing(void **state) {
    (void)state;
    set_schedule("k", true, KEY_CHANGED, OVERLAP_QUEUE);
    struct store_entry e = {SLICE("k"), SLICE("x")};
    store_as("other", (struct cmd_store){.op = STORE_SET, .entries = &e, .entry_count = 1});
    const char *jobs[] = {"a"};
    struct options o = fixture_options();
    assert_ok(fixture_submit(r, &o, jobs, 1));
    store_as("acme", (struct cmd_store){.op = STORE_SET, .entries = &e, .entry_count = 1, .flow = r->reply.flow});
    assert_int_equal(flows(), 1); /* the one that was submitted */
    assert_int_equal(view().fired, 0);
}

/* ---- waiting ---- */

static void changes_of_a_key_that_waits_are_one_start(void **state) {
    (void)state;
    set_schedule("k/", true, KEY_CHANGED, OVERLAP_QUEUE);
    put("k/a", "1");
    put("k/b", "1");
    put("k/a", "2");
    put("k/b", "2");
    put("k/b", "3");
    assert_int_equal(flows(), 1);
    assert_int_equal(view().waiting, 2);
    assert_int_equal(block(), SCHEDULE_BLOCK_OVERLAP);
    fixture_crash(r);
    assert_int_equal(view().waiting, 2);
    end_flow();
    started_by("k/b", "3", KEY_CHANGED, 3);
    delete ("k/a"); /* a deletion does not count here, and the value is gone */
    end_flow();
    started_by("k/a", "", KEY_CHANGED, 1);
    end_flow();
    assert_int_equal(flows(), 3);
    assert_int_equal(block(), SCHEDULE_BLOCK_KEY);
}

static void two_starts_are_an_interval_apart(void **state) {
    (void)state;
    struct command cmd = of_key("k", false, KEY_CHANGED, OVERLAP_QUEUE);
    cmd.as.schedule.min_interval_ms = 60000;
    assert_ok(fixture_command(r, &cmd));
    put("k", "1");
    end_flow();
    fixture_tick(r, 10000);
    put("k", "2");
    put("k", "3");
    assert_int_equal(flows(), 1);
    assert_int_equal(block(), SCHEDULE_BLOCK_INTERVAL);
    fixture_crash(r);
    fixture_tick(r, 49999);
    assert_int_equal(flows(), 1);
    fixture_tick(r, 1);
    assert_int_equal(flows(), 2);
    started_by("k", "3", KEY_CHANGED, 2);
}

static void overlap_leaves_out_or_replaces(void **state) {
    (void)state;
    set_schedule("k/", true, KEY_CHANGED, OVERLAP_SKIP);
    put("k/a", "1");
    put("k/b", "1");
    put("k/c", "1");
    assert_int_equal(view().skipped, 2);
    struct schedule_view v = view();
    assert_int_equal(v.notes[v.note_count - 1].what, SLOT_OVERLAP); /* a burst is one note */
    assert_int_equal(v.notes[v.note_count - 1].count, 2);
    end_flow();
    assert_int_equal(flows(), 1);
    set_schedule("k/", true, KEY_CHANGED, OVERLAP_REPLACE);
    put("k/a", "2");
    assert_int_equal(flows(), 2);
    put("k/b", "2"); /* the running flow is called off: without a worker it ends at once */
    fixture_tick(r, 0);
    assert_int_equal(flows(), 3);
    started_by("k/b", "2", KEY_CHANGED, 1);
    assert_int_equal(fixture_flow(r, 2).state, FLOW_CANCELLED);
}

static void more_keys_than_may_wait_are_counted_with_the_newest(void **state) {
    (void)state;
    char key[32] = "";
    set_schedule("k", true, KEY_CHANGED, OVERLAP_QUEUE);
    put("kfirst", "1");
    for (uint32_t i = 0; i < CAUSE_KEYS_MAX + 2; i++) {
        snprintf(key, sizeof key, "k%u", i);
        put(key, "1");
    }
    assert_int_equal(view().waiting, CAUSE_KEYS_MAX);
    assert_int_equal(cause_first(engine_state(r->engine), schedule_at(engine_state(r->engine), 1))->count, 1);
    fixture_crash(r);
    assert_int_equal(view().waiting, CAUSE_KEYS_MAX);
}

/* ---- what stops it ---- */

static void a_pause_lets_changes_pass(void **state) {
    (void)state;
    set_schedule("k", false, KEY_CHANGED, OVERLAP_QUEUE);
    struct command cmd = {.kind = CMD_SCHEDULE_PAUSE, .tenant = SLICE("acme")};
    cmd.as.schedule_name = (struct cmd_schedule_name){.name = NAME, .on = true};
    assert_ok(fixture_command(r, &cmd));
    put("k", "1");
    cmd.as.schedule_name.on = false;
    assert_ok(fixture_command(r, &cmd));
    fixture_tick(r, 0);
    assert_int_equal(flows(), 0);
    put("k", "2");
    assert_int_equal(flows(), 1);
}

static void its_own_flows_do_not_start_it_again(void **state) {
    (void)state;
    set_schedule("k", false, KEY_CHANGED, OVERLAP_QUEUE);
    put("k", "1");
    put_by("k", "2", flows());
    assert_int_equal(view().waiting, 0);
    put_by("k", "3", 99); /* a flow that nobody knows */
    assert_int_equal(view().waiting, 1);
    end_flow();
    struct command cmd = of_key("k", false, KEY_CHANGED, OVERLAP_QUEUE);
    cmd.as.schedule.own_changes = true;
    assert_ok(fixture_command(r, &cmd));
    put_by("k", "4", flows());
    assert_int_equal(view().waiting, 1);
}

static void setting_it_anew_keeps_what_waits_for_the_same_key(void **state) {
    (void)state;
    set_schedule("k/", true, KEY_CHANGED, OVERLAP_QUEUE);
    put("k/a", "1");
    put("k/b", "1");
    set_schedule("k/", true, KEY_SET, OVERLAP_QUEUE);
    assert_int_equal(view().waiting, 1);
    set_schedule("k", true, KEY_CHANGED, OVERLAP_QUEUE);
    assert_int_equal(view().waiting, 0);
    put("k/c", "1");
    assert_int_equal(view().waiting, 1);
    struct command cmd = {.kind = CMD_SCHEDULE_REMOVE, .tenant = SLICE("acme")};
    cmd.as.schedule_name.name = NAME;
    assert_ok(fixture_command(r, &cmd));
    put("k/d", "1");
    assert_int_equal(flows(), 1);
}

static void only_between_start_and_end(void **state) {
    (void)state;
    struct command cmd = of_key("k", false, KEY_CHANGED, OVERLAP_QUEUE);
    cmd.as.schedule.start_ms = r->in.wall.ms + 1000;
    cmd.as.schedule.end_ms = r->in.wall.ms + 2000;
    assert_ok(fixture_command(r, &cmd));
    put("k", "1");
    assert_int_equal(flows(), 0);
    fixture_tick(r, 1000);
    put("k", "2");
    assert_int_equal(flows(), 1);
    end_flow();
    fixture_tick(r, 1001);
    put("k", "3");
    assert_int_equal(flows(), 1);
    assert_int_equal(block(), SCHEDULE_BLOCK_OVER);
}

static void a_person_runs_it_for_a_key(void **state) {
    (void)state;
    set_schedule("k/", true, KEY_CHANGED, OVERLAP_QUEUE);
    int64_t now = r->in.wall.ms;
    struct command cmd = {.kind = CMD_SCHEDULE_RUN, .tenant = SLICE("acme")};
    cmd.as.schedule_name =
        (struct cmd_schedule_name){.name = NAME, .slots = &now, .slot_count = 1, .key = SLICE("k/a")};
    assert_ok(fixture_command(r, &cmd));
    started_by("k/a", "", KEY_SET, 0);
    cmd = (struct command){.kind = CMD_SCHEDULE_BACKFILL, .tenant = SLICE("acme")};
    cmd.as.schedule_name = (struct cmd_schedule_name){.name = NAME, .slots = &now, .slot_count = 1};
    assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "it has no slots");
}

static void wrong_ones_are_refused(void **state) {
    (void)state;
    struct command cmd = of_key("", false, KEY_SET, OVERLAP_QUEUE);
    assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "must not be empty");
    cmd = of_key("k", false, 64, OVERLAP_QUEUE);
    assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "set, changed and deleted");
    r->limits.schedule_keys_max = 1;
    fixture_crash(r);
    set_schedule("k", false, KEY_SET, OVERLAP_QUEUE);
    set_schedule("k2", false, KEY_SET, OVERLAP_QUEUE); /* the same schedule */
    cmd = of_key("k", false, KEY_SET, OVERLAP_QUEUE);
    cmd.as.schedule.name = SLICE("second");
    assert_refused(r, fixture_command(r, &cmd), ERR_LIMIT, "schedule_keys_max");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_changed_key_starts_a_flow),
        TEST(a_schedule_says_which_changes_count),
        TEST(sets_numbers_and_expiries_are_changes),
        TEST(keys_of_others_start_nothing),
        TEST(changes_of_a_key_that_waits_are_one_start),
        TEST(two_starts_are_an_interval_apart),
        TEST(overlap_leaves_out_or_replaces),
        TEST(more_keys_than_may_wait_are_counted_with_the_newest),
        TEST(a_pause_lets_changes_pass),
        TEST(its_own_flows_do_not_start_it_again),
        TEST(setting_it_anew_keeps_what_waits_for_the_same_key),
        TEST(only_between_start_and_end),
        TEST(a_person_runs_it_for_a_key),
        TEST(wrong_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
