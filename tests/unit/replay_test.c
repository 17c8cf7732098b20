/* replay_test.c: the guard between a journal's bytes and apply: batches out of place, and for each kind of record the
 * ways in which it does not fit the state before it. */
#include <stdio.h>
#include <stdlib.h>

#include "corrupt.h"

/* Flow 1 runs (a dispatched, b waits for it), 2 is held, 3 failed, 4 succeeded, 5 is ready. */
static void scene(struct fixture *r) {
    struct options o = fixture_options();
    o.retries = 0;
    assert_ok(fixture_attach(r, "w", 1, 10));
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b: a"}, 2));
    o.gates = GATE_BIT(GATE_APPROVAL);
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    o.gates = 0;
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b: a"}, 2));
    assert_ok(fixture_exit(r, "w", ref_of(3, 0), 1, 1));
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_ok(fixture_done(r, "w", 1, ref_of(4, 0), 1, OUTCOME_OK));
    o.demand.pool = SLICE("nowhere");
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_ok(fixture_submit_key(r, "key", 1, 0));
}

/* ---- batches ---- */

static enum err replay_batch(const struct fixture *r, const struct batch *b, struct why *why) {
    struct engine *e = fixture_replay(r);
    enum err err = engine_replay(e, b, why);
    engine_free(e);
    return err;
}

static void batches_out_of_place(void **state) {
    struct fixture *r = *state;
    struct why why;
    const uint8_t record[] = {23, 1, 3, 4 << 1 | 1, 1, 't'}, twice[] = {23, 1, 3, 9, 1, 't', 23, 1, 3, 9, 1, 't'};
    struct batch good = corrupt_batch(r->engine, slice_of(record, 6)), b = good;
    assert_ok(replay_batch(r, &b, &why));
    b.shard = 1;
    assert_int_equal(replay_batch(r, &b, &why), ERR_CORRUPT);
    b = good;
    b.rules = RULES_VERSION + 1;
    assert_int_equal(replay_batch(r, &b, &why), ERR_UNSUPPORTED);
    b.rules = 0;
    assert_int_equal(replay_batch(r, &b, &why), ERR_UNSUPPORTED);
    b = good;
    b.first_lsn++;
    assert_int_equal(replay_batch(r, &b, &why), ERR_CORRUPT);
    b = good;
    b.last_lsn = b.first_lsn - 1;
    assert_int_equal(replay_batch(r, &b, &why), ERR_CORRUPT);
    b = good;
    b.epoch = 0;
    assert_int_equal(replay_batch(r, &b, &why), ERR_CORRUPT);
    b = good;
    b.time.ms = 5;
    assert_int_equal(replay_batch(r, &b, &why), ERR_CORRUPT);
    b = good;
    b.time.ms = INT64_MAX;
    assert_int_equal(replay_batch(r, &b, &why), ERR_CORRUPT);
    b = good;
    b.last_lsn++; /* more records than bytes */
    assert_int_equal(replay_batch(r, &b, &why), ERR_CORRUPT);
    b = good;
    b.records = slice_of(twice, 12); /* more bytes than records */
    assert_int_equal(replay_batch(r, &b, &why), ERR_CORRUPT);
    b.last_lsn++;
    assert_ok(replay_batch(r, &b, &why));
    b = good;
    b.records = SLICE("\x63\x01\x00");
    assert_int_equal(replay_batch(r, &b, &why), ERR_UNSUPPORTED);
}

static void an_owner_does_not_replay(void **state) {
    struct fixture *r = *state;
    struct batch b = corrupt_batch(r->engine, slice_of(NULL, 0));
    struct why why;
    assert_panics((void)!engine_replay(r->engine, &b, &why));
    assert_panics((void)!engine_load(r->engine, SLICE("x"), &why));
    assert_panics(engine_resume(r->engine, 9, SLICE("x"), &r->in));
}

/* ---- records ---- */

static struct options bare(void) {
    struct options o = fixture_options();
    o.dispatch_timeout_ms = 1000;
    return o;
}

static void submits_that_do_not_fit_are_refused(void **state) {
    struct fixture *r = *state;
    scene(r);
    static const uint8_t hash[32] = {1};
    struct options sets[] = {bare()};
    uint32_t zero[] = {0, 0}, one[] = {1};
    struct rec_job jobs[2] = {{.name = SLICE("x")}, {.name = SLICE("y")}};
    struct tlv_list set = {sets, 1}, list = {jobs, 2};
#define SUBMIT .flow = 9, .head.tenant = SLICE("acme"), .profiles = set, .jobs = list
    FITTING(r, REC_SUBMITTED, SUBMIT);
    MISFIT(r, REC_SUBMITTED, "used twice", .flow = 1, .head.tenant = SLICE("acme"));
    MISFIT(r, REC_SUBMITTED, "used twice", .flow = UINT64_MAX, .head.tenant = SLICE("acme"));
    MISFIT(r, REC_SUBMITTED, "without a tenant", .flow = 9);
    MISFIT(r, REC_SUBMITTED, "without a hash", SUBMIT, .key = SLICE("k"));
    MISFIT(r, REC_SUBMITTED, "key used twice", SUBMIT, .key = SLICE("key"), .key_hash = slice_of(hash, 32));
    jobs[1].name = slice_of(NULL, 0);
    MISFIT(r, REC_SUBMITTED, "without a name", SUBMIT);
    jobs[1] = (struct rec_job){.name = SLICE("y"), .profile = 1};
    MISFIT(r, REC_SUBMITTED, "without options", SUBMIT);
    jobs[1] = (struct rec_job){.name = SLICE("y"), .parents = {one, 1}};
    MISFIT(r, REC_SUBMITTED, "after its child", SUBMIT);
    jobs[1].parents = (struct tlv_u32s){zero, 2};
    MISFIT(r, REC_SUBMITTED, "out of order", SUBMIT);
    jobs[1].parents.count = 0;
    jobs[1].name = SLICE("x");
    MISFIT(r, REC_SUBMITTED, "a job name used twice", SUBMIT);
    jobs[1] = (struct rec_job){.name = SLICE("y"), .undoes = 1};
    MISFIT(r, REC_SUBMITTED, "a compensation from outside", SUBMIT);
    jobs[1] = (struct rec_job){.name = SLICE("y~undo")};
    MISFIT(r, REC_SUBMITTED, "a compensation from outside", SUBMIT);
    jobs[1] = (struct rec_job){.name = SLICE("y"), .undo_profile = 2};
    MISFIT(r, REC_SUBMITTED, "a compensation without options", SUBMIT);
    static char long_name[251];
    memset(long_name, 'n', sizeof long_name);
    jobs[1] = (struct rec_job){.name = slice_of(long_name, 251), .undo_profile = 1};
    MISFIT(r, REC_SUBMITTED, "a name too long for a compensation", SUBMIT);
    jobs[1].name.len = 250;
    FITTING(r, REC_SUBMITTED, SUBMIT);
    jobs[1] = (struct rec_job){.name = SLICE("y")};
    struct name_item nameless = {.name = SLICE("")};
    sets[0].demand.keys = (struct tlv_list){&nameless, 1};
    FITTING(r, REC_SUBMITTED, SUBMIT); /* a key of no name is none */
    sets[0] = bare();
    sets[0].quorum = 0;
    MISFIT(r, REC_SUBMITTED, "options", SUBMIT);
    sets[0].quorum = 65;
    MISFIT(r, REC_SUBMITTED, "options", SUBMIT);
    sets[0] = bare();
    sets[0].demand.pool.len = 0;
    MISFIT(r, REC_SUBMITTED, "options", SUBMIT);
    sets[0] = bare();
    sets[0].delay_ms = INT64_MAX;
    MISFIT(r, REC_SUBMITTED, "options", SUBMIT);
    sets[0].delay_ms = -1;
    MISFIT(r, REC_SUBMITTED, "options", SUBMIT);
    sets[0] = bare();
    struct rec_foreign foreign = {.flow = 4, .seen = JOB_RUNNING};
    jobs[1].foreign = (struct tlv_list){&foreign, 1};
    MISFIT(r, REC_SUBMITTED, "no end", SUBMIT);
    foreign = (struct rec_foreign){.flow = 77};
    MISFIT(r, REC_SUBMITTED, "not there", SUBMIT);
    foreign.flow = 4;
    MISFIT(r, REC_SUBMITTED, "has ended", SUBMIT);
    foreign.flow = 5;
    FITTING(r, REC_SUBMITTED, SUBMIT);
#undef SUBMIT
    jobs[0].name = SLICE("a");
    jobs[1].foreign.count = 0;
    MISFIT(r, REC_ADDED, "not there", .flow = 77);
    MISFIT(r, REC_ADDED, "used twice", .flow = 1, .profiles = set, .jobs = list);
    jobs[0].name = SLICE("x");
    FITTING(r, REC_ADDED, .flow = 1, .profiles = set, .jobs = list);
    sets[0].quorum = 0;
    MISFIT(r, REC_ADDED, "options", .flow = 1, .profiles = set, .jobs = list);
}

static void changes_of_flows_that_do_not_fit_are_refused(void **state) {
    struct fixture *r = *state;
    scene(r);
    MISFIT(r, REC_CANCELLED, "a flow that is not there", .flow = 77, .whole = true);
    MISFIT(r, REC_CANCELLED, "a job that is not there", .flow = 1, .ordinal = 5);
    FITTING(r, REC_CANCELLED, .flow = 4, .whole = true);
    MISFIT(r, REC_PAUSED, "a flow that is not there", .flow = 77);
    MISFIT(r, REC_PAUSED, "of nothing", .scope = PAUSE_POOL);
    MISFIT(r, REC_PAUSED, "of nothing", .scope = PAUSE_TENANT);
    FITTING(r, REC_PAUSED, .flow = 4);
    MISFIT(r, REC_RETRIED, "not there", .flow = 77);
    MISFIT(r, REC_RETRIED, "not dead", .flow = 4);
    MISFIT(r, REC_DISCARDED, "not dead", .flow = 1);
    FITTING(r, REC_RETRIED, .flow = 3);
    FITTING(r, REC_DISCARDED, .flow = 3);
    MISFIT(r, REC_RERUN, "not there", .flow = 77);
    MISFIT(r, REC_RERUN, "not ended", .flow = 1);
    MISFIT(r, REC_FORGOTTEN, "not ended", .flow = 1);
    MISFIT(r, REC_CONTINUED, "without work", .flow = 1);
    FITTING(r, REC_FORGOTTEN, .flow = 4);
}

static void attempts_that_do_not_fit_are_refused(void **state) {
    struct fixture *r = *state;
    scene(r);
    MISFIT(r, REC_ASSIGNED, "a job that is not there", .flow = 77, .attempt = 1, .worker = SLICE("w"));
    MISFIT(r, REC_ASSIGNED, "not ready", .flow = 1, .attempt = 2, .worker = SLICE("w"));
    MISFIT(r, REC_ASSIGNED, "out of order", .flow = 5, .attempt = 2, .worker = SLICE("w"));
    MISFIT(r, REC_ASSIGNED, "worker", .flow = 5, .attempt = 1, .worker = SLICE("z"));
    FITTING(r, REC_ASSIGNED, .flow = 5, .attempt = 1, .worker = SLICE("w"));
    MISFIT(r, REC_STARTED, "not there", .flow = 77, .attempt = 1);
    MISFIT(r, REC_STARTED, "not open", .flow = 4, .attempt = 1);
    MISFIT(r, REC_STARTED, "another attempt", .flow = 1, .attempt = 2);
    MISFIT(r, REC_STOPPING, "another attempt", .flow = 1, .attempt = 2, .stop = STOP_CANCEL);
    MISFIT(r, REC_STOPPING, "for no reason", .flow = 1, .attempt = 1);
    MISFIT(r, REC_ENDED, "another attempt", .flow = 1, .attempt = 2);
    MISFIT(r, REC_ENDED, "before the start", .flow = 1, .attempt = 1, .ended_ago_ms = 2000000000000);
    MISFIT(r, REC_ENDED, "before the start", .flow = 1, .attempt = 1, .ended_ago_ms = UINT64_MAX);
    FITTING(r, REC_STOPPING, .flow = 1, .attempt = 1, .stop = STOP_RUN_TIMEOUT);
    FITTING(r, REC_ENDED, .flow = 1, .attempt = 1, .fatal = true, .outcome = OUTCOME_REFUSED);
    assert_ok(fixture_started(r, "w", 1, ref_of(1, 0), 1));
    MISFIT(r, REC_STARTED, "runs already", .flow = 1, .attempt = 1);
    MISFIT(r, REC_WORKER, "without an id", .info = {.slots = 1});
    MISFIT(r, REC_WORKER, "without slots", .worker = SLICE("z"));
    MISFIT(r, REC_WORKER_DRAIN, "not there", .worker = SLICE("z"));
    MISFIT(r, REC_WORKER_GONE, "not there", .worker = SLICE("z"));
    MISFIT(r, REC_WORKER_GONE, "holds attempts", .worker = SLICE("w"));
}

static void what_decide_never_writes(void **state) {
    struct fixture *r = *state;
    scene(r);
    struct options sets[] = {bare()};
    struct rec_job job = {.name = SLICE("x")};
    /* journals of before the delay was recorded as a time; an approval that waits for ever */
    sets[0].delay_from_submit = true;
    sets[0].delay_ms = 5;
    FITTING(r, REC_SUBMITTED, .flow = 9, .head.tenant = SLICE("t"), .profiles = {sets, 1}, .jobs = {&job, 1});
    sets[0] = bare();
    sets[0].gates = GATE_BIT(GATE_APPROVAL);
    FITTING(r, REC_SUBMITTED, .flow = 9, .head.tenant = SLICE("t"), .profiles = {sets, 1}, .jobs = {&job, 1});
    /* a second reason to stop */
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    FITTING(r, REC_STOPPING, .flow = 1, .attempt = 1, .stop = STOP_RUN_TIMEOUT);
}

/* In the middle of a long consequence most records about the flow have no place. */
static void a_flow_that_settles(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    struct job_spec *specs = calloc(5000, sizeof *specs);
    char(*names)[8] = calloc(5000, sizeof *names);
    for (uint32_t i = 0; i < 5000; i++) {
        (void)snprintf(names[i], sizeof names[i], "j%u", i);
        specs[i].name = slice_str(names[i]);
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, specs, 5000, false};
    assert_ok(fixture_command(r, &cmd));
    free(specs);
    free(names);
    cmd = (struct command){.kind = CMD_CANCEL};
    cmd.as.cancel = (struct cmd_cancel){.flow = {1}, .whole = true};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd);
    fixture_flush(r);
    MISFIT(r, REC_RETRIED, "has not settled", .flow = 1);
    MISFIT(r, REC_PAUSED, "has not settled", .flow = 1);
    MISFIT(r, REC_FORGOTTEN, "has not ended", .flow = 1);
    FITTING(r, REC_CANCELLED, .flow = 1, .whole = true);
    FITTING(r, REC_CONTINUED, .flow = 1);
    fixture_tick(r, 0);
    cmd = (struct command){.kind = CMD_RERUN};
    cmd.as.flow.v = 1;
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd);
    fixture_flush(r);
    MISFIT(r, REC_FORGOTTEN, "has not ended", .flow = 1); /* over by its last word, and starting again */
}

static void time_and_verdicts(void **state) {
    struct fixture *r = *state;
    scene(r);
    MISFIT(r, REC_DUE, "not there", .flow = 77);
    MISFIT(r, REC_DUE, "something else", .flow = 1, .ordinal = 1, .due = DUE_START); /* waits for its parent */
    MISFIT(r, REC_DUE, "something else", .flow = 1, .ordinal = 1, .due = DUE_START_WITHIN);
    MISFIT(r, REC_DUE, "something else", .flow = 5, .due = DUE_START);
    MISFIT(r, REC_DUE, "something else", .flow = 1, .due = DUE_DEADLINE);
    MISFIT(r, REC_DUE, "something else", .flow = 4, .due = DUE_DEADLINE);
    FITTING(r, REC_DUE, .flow = 1, .ordinal = 1, .due = DUE_DEADLINE);
    FITTING(r, REC_DUE, .flow = 2, .due = DUE_DEADLINE);
    FITTING(r, REC_DUE, .flow = 5, .due = DUE_START_WITHIN);
    MISFIT(r, REC_VERDICT, "not open", .question = 77);
    MISFIT(r, REC_VERDICT, "no output", .question = 1, .verdict = VERDICT_QUARANTINE);
    MISFIT(r, REC_VERDICT, "time", .question = 1, .verdict = VERDICT_AGAIN, .again_ms = -1);
    FITTING(r, REC_VERDICT, .question = 1, .verdict = VERDICT_HOLD);
    MISFIT(r, REC_VERDICT, "a job that is not there", .flow = 77);
    MISFIT(r, REC_VERDICT, "has not succeeded", .flow = 1);
    MISFIT(r, REC_VERDICT, "no quarantine", .flow = 4);
    FITTING(r, REC_VERDICT, .flow = 4, .verdict = VERDICT_QUARANTINE);
    MISFIT(r, REC_KEY_EXPIRED, "not there", .head.tenant = SLICE("acme"), .key = SLICE("k"));
    MISFIT(r, REC_KEY_EXPIRED, "not there", .key = SLICE("key"));
    FITTING(r, REC_KEY_EXPIRED, .head.tenant = SLICE("acme"), .key = SLICE("key"));
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_OUTPUT);
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_ok(fixture_done(r, "w", 1, ref_of(7, 0), 1, OUTCOME_OK));
    MISFIT(r, REC_VERDICT, "hold of an output", .question = 2, .verdict = VERDICT_HOLD);
}

static void things_without_a_name_are_refused(void **state) {
    struct fixture *r = *state;
    MISFIT(r, REC_POOL, "without a name", .state = 0);
    MISFIT(r, REC_TOPIC, "without a name", .head.tenant = SLICE("t"));
    MISFIT(r, REC_TENANT, "without a name", .weight = 1);
    MISFIT(r, REC_OPENED, "falls", .epoch = 1);
    FITTING(r, REC_TENANT, .name = SLICE("t"));
}

/* Many names, so that they meet in the table; the twin is far from its brother. */
static void twins_among_many(void **state) {
    struct fixture *r = *state;
    static struct rec_job jobs[1000];
    static char texts[1000][8];
    struct options sets[] = {bare()};
    for (uint32_t i = 0; i < 1000; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "j%u", i);
        jobs[i] = (struct rec_job){.name = slice_str(texts[i])};
    }
    struct tlv_list set = {sets, 1}, list = {jobs, 1000};
    FITTING(r, REC_SUBMITTED, .flow = 9, .head.tenant = SLICE("acme"), .profiles = set, .jobs = list);
    jobs[999].name = SLICE("j3");
    MISFIT(r, REC_SUBMITTED, "a job name used twice", .flow = 9, .head.tenant = SLICE("acme"), .profiles = set,
           .jobs = list);
}

static void a_flow_that_unwinds(void **state) {
    struct fixture *r = *state;
    uint32_t fatal = 9;
    struct options sets[] = {fixture_options(), fixture_options()}, one[] = {bare()};
    sets[0].fatal_exits = (struct tlv_u32s){&fatal, 1};
    const char *jobs[] = {"a~1", "f: a", "c: a"};
    assert_ok(fixture_submit_sets(r, sets, 2, jobs, 3, true));
    assert_ok(fixture_attach(r, "w", 1, 8));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_ok(fixture_exit(r, "w", ref_of(1, 1), 1, 9));
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_STOPPING);
    struct rec_job job = {.name = SLICE("x")};
    struct tlv_list set = {one, 1}, list = {&job, 1};
    MISFIT(r, REC_ADDED, "jobs for a flow that unwinds", .flow = 1, .profiles = set, .jobs = list);
    MISFIT(r, REC_RETRIED, "a job of a flow that unwinds", .flow = 1, .ordinal = 1);
    MISFIT(r, REC_CANCELLED, "a flow that unwinds", .flow = 1, .whole = true);
    FITTING(r, REC_CANCELLED, .flow = 1, .ordinal = 2);
    FITTING(r, REC_DISCARDED, .flow = 1, .ordinal = 1);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 2), 1, OUTCOME_STOPPED));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 3), 1, OUTCOME_OK));
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_DONE);
    MISFIT(r, REC_RERUN, "a flow that was unwound", .flow = 1);
    FITTING(r, REC_FORGOTTEN, .flow = 1);
}

/* A parent tells 5,000 children of its end. Until it is through, it counts as open, and no verdict may change it. */
static void a_parent_that_is_still_telling(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    char(*names)[16] = calloc(5001, sizeof *names);
    const char **jobs = calloc(5001, sizeof *jobs);
    for (uint32_t i = 0; i < 5001; i++) {
        (void)snprintf(names[i], sizeof names[i], i == 0 ? "a" : "j%u: a", i);
        jobs[i] = names[i];
    }
    assert_ok(fixture_submit_sets(r, &o, 1, jobs, 5001, true));
    free(names);
    free(jobs);
    assert_ok(fixture_attach(r, "w", 1, 1));
    struct command cmd = {.kind = CMD_DONE, .token = 1};
    cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"), .incarnation = 1, .job = ref_of(1, 0), .attempt = 1};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd); /* no pass: CONTINUED has not been written yet */
    fixture_flush(r);
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
    MISFIT(r, REC_VERDICT, "a job whose end is not through", .flow = 1, .ordinal = 0, .verdict = VERDICT_QUARANTINE);
    struct why_job why = fixture_why(r, 1, 5000);
    assert_int_equal(why.block, BLOCK_PARENTS);
    assert_int_equal(why.parent.ordinal, 0);
    fixture_tick(r, 0);
    assert_int_not_equal(fixture_why(r, 1, 5000).block, BLOCK_PARENTS);
    FITTING(r, REC_VERDICT, .flow = 1, .ordinal = 0, .verdict = VERDICT_QUARANTINE);
}

static void changes_of_the_store_that_do_not_fit_are_refused(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_submit(r, &(struct options){.quorum = 1}, (const char *[]){"a"}, 1));
    struct rec_store_entry e = {.key = SLICE("k"), .kind = ITEM_TEXT, .value = SLICE("v")};
    struct rec_store_item m = {SLICE("m")};
    struct tlv_list entries = {&e, 1}, members = {&m, 1};
#define ACME .head.tenant = SLICE("acme")
    FITTING(r, REC_STORE_SET, ACME, .entries = entries);
    FITTING(r, REC_STORE_SET, .flow = 1, .entries = entries);
    MISFIT(r, REC_STORE_SET, "a namespace of nobody", .entries = entries);
    MISFIT(r, REC_STORE_SET, "a namespace of nobody", .flow = 7, .entries = entries);
    e.expires_ms = -1;
    MISFIT(r, REC_STORE_SET, "a time before all times", ACME, .entries = entries);
    e = (struct rec_store_entry){.key = SLICE("k"), .kind = ITEM_SET};
    MISFIT(r, REC_STORE_SET, "a set without members", ACME, .entries = entries);
    e = (struct rec_store_entry){.kind = ITEM_TEXT};
    MISFIT(r, REC_STORE_SET, "a value without a key", ACME, .entries = entries);
    FITTING(r, REC_STORE_MEMBERS, ACME, .key = SLICE("s"), .added = members);
    MISFIT(r, REC_STORE_MEMBERS, "a key that is not there", ACME, .added = members);
    struct store_entry text = {SLICE("t"), SLICE("v")};
    struct command cmd = {.kind = CMD_STORE, .tenant = SLICE("acme")};
    cmd.as.store = (struct cmd_store){.op = STORE_SET, .entries = &text, .entry_count = 1};
    assert_ok(fixture_command(r, &cmd));
    cmd.as.store = (struct cmd_store){.op = STORE_ADD, .key = SLICE("s"), .members = &m.text, .member_count = 1};
    assert_ok(fixture_command(r, &cmd));
    FITTING(r, REC_STORE_MEMBERS, ACME, .key = SLICE("s"), .removed = members);
    MISFIT(r, REC_STORE_MEMBERS, "members of what is no set", ACME, .key = SLICE("t"), .added = members);
    FITTING(r, REC_STORE_EXPIRY, ACME, .key = SLICE("t"), .expires_ms = 5);
    MISFIT(r, REC_STORE_EXPIRY, "a time before all times", ACME, .key = SLICE("t"), .expires_ms = -5);
    MISFIT(r, REC_STORE_EXPIRY, "a key that is not there", ACME, .key = SLICE("x"), .expires_ms = 5);
#undef ACME
    MISFIT(r, REC_LIMIT, "a limit of no tenant", .kind = LIMIT_KEY, .name = SLICE("db"));
}

/* Flow 1 left its result, 2 was given it, 3 is ready with another key, 4 with none. */
static void kept_results_that_do_not_fit_are_refused(void **state) {
    struct fixture *r = *state;
    uint8_t keys[2][32] = {{1}, {2}};
    struct options o = fixture_options();
    assert_ok(fixture_attach(r, "w", 1, 1));
    for (uint32_t i = 0; i < 4; i++) {
        struct job_spec spec = {.name = SLICE("a")};
        if (i < 3) spec.cache_key = slice_of(keys[i == 2], 32);
        struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
        cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, &spec, 1, false};
        assert_ok(fixture_command(r, &cmd));
        if (i == 0) assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
        if (i == 0) assert_ok(fixture_drain(r, "w", true));
    }
    struct slice key = slice_of(keys[0], 32);
    FITTING(r, REC_MEMO_KEPT, .flow = 1, .expires_ms = r->in.wall.ms);
    MISFIT(r, REC_MEMO_KEPT, "a time that cannot be", .flow = 1, .expires_ms = INT64_MAX);
    MISFIT(r, REC_MEMO_KEPT, "a result of another job", .flow = 2);
    MISFIT(r, REC_MEMO_KEPT, "has not succeeded", .flow = 3);
    MISFIT(r, REC_MEMO_KEPT, "without a cache key", .flow = 4);
    MISFIT(r, REC_MEMO_KEPT, "without a cache key", .flow = 9);
    MISFIT(r, REC_MEMO_HIT, "not ready", .flow = 2, .from_flow = 1);
    MISFIT(r, REC_MEMO_HIT, "not kept", .flow = 3, .from_flow = 1);
    MISFIT(r, REC_MEMO_HIT, "without a cache key", .flow = 4, .from_flow = 1);
    FITTING(r, REC_MEMO_DROPPED, .head.tenant = SLICE("acme"), .key = key);
    MISFIT(r, REC_MEMO_DROPPED, "not kept", .head.tenant = SLICE("globex"), .key = key);
    MISFIT(r, REC_MEMO_DROPPED, "not kept", .head.tenant = SLICE("acme"), .key = slice_of(keys[1], 32));
    MISFIT(r, REC_MEMO_DROPPED, "without a key", .head.tenant = SLICE("acme"));
}

static void checkpoints_that_do_not_fit_are_refused(void **state) {
    struct fixture *r = *state;
    static const uint8_t bytes[CHECKPOINT_SIGNATURE_BYTES];
    struct slice hash = slice_of(bytes, CHECKPOINT_HASH_BYTES), signature = slice_of(bytes, sizeof bytes);
    assert_ok(fixture_attach(r, "w", 1, 1));
#define SIGNED .chain = hash, .key = hash, .signature = signature
    FITTING(r, REC_CHECKPOINT, .number = 1, .from_lsn = 1, .upto_lsn = 1, SIGNED);
    MISFIT(r, REC_CHECKPOINT, "out of turn", .number = 2, .from_lsn = 1, .upto_lsn = 1, SIGNED);
    MISFIT(r, REC_CHECKPOINT, "what is to come", .number = 1, .from_lsn = 1, .upto_lsn = 99, SIGNED);
    MISFIT(r, REC_CHECKPOINT, "what is to come", .number = 1, .from_lsn = 0, .upto_lsn = 1, SIGNED);
    MISFIT(r, REC_CHECKPOINT, "without a hash", .number = 1, .from_lsn = 1, .upto_lsn = 1, .signature = signature);
    MISFIT(r, REC_CHECKPOINT, "without a signature", .number = 1, .from_lsn = 1, .upto_lsn = 1, .chain = hash,
           .key = hash);
#undef SIGNED
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(batches_out_of_place),
        FIXTURE_TEST(an_owner_does_not_replay),
        FIXTURE_TEST(submits_that_do_not_fit_are_refused),
        FIXTURE_TEST(changes_of_flows_that_do_not_fit_are_refused),
        FIXTURE_TEST(attempts_that_do_not_fit_are_refused),
        FIXTURE_TEST(time_and_verdicts),
        FIXTURE_TEST(things_without_a_name_are_refused),
        FIXTURE_TEST(twins_among_many),
        FIXTURE_TEST(a_flow_that_unwinds),
        FIXTURE_TEST(a_parent_that_is_still_telling),
        FIXTURE_TEST(changes_of_the_store_that_do_not_fit_are_refused),
        FIXTURE_TEST(kept_results_that_do_not_fit_are_refused),
        FIXTURE_TEST(checkpoints_that_do_not_fit_are_refused),
        FIXTURE_TEST(what_decide_never_writes),
        FIXTURE_TEST(a_flow_that_settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
