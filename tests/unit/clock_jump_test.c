/* clock_jump_test.c: a server that nobody speaks to notices that the clock of its machine jumped, if something waits
 * for a time, and sets the clock of its journal after a minute; if nothing waits, it sleeps on. */
#include "test.h"

#include "server_impl.h"
#include "sessionlab.h"

#define DAY_MS INT64_C(86400000)

static struct sessionlab lab;

static int setup(void **state) {
    (void)state;
    static const struct net_peer local = {.address = "unix:1000", .is_local = true, .uid = 1000};
    struct wire_hello hello = {.version_min = FRAME_VERSION, .version_max = FRAME_VERSION, .build = SLICE("lab")};
    struct buf out;
    sessionlab_init(&lab);
    sessionlab_open(&lab, 0, SESSIONLAB_MAIN, &local, NULL);
    buf_init(&out, 65536);
    wire_put(&out, WIRE_HELLO, 0, 1, &hello);
    sessionlab_write(&lab, 0, buf_slice(&out));
    buf_fini(&out);
    sessionlab_settle(&lab);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    sessionlab_fini(&lab);
    return 0;
}

static void submit_delayed(void) {
    struct wire_flow flow = {.spec = SLICE("{\"jobs\": {\"a\": {\"noop\": true, \"delay\": \"2d\"}}}")};
    struct wire_submit m = {.flows = {&flow, 1}};
    struct buf out;
    buf_init(&out, 65536);
    wire_put(&out, WIRE_SUBMIT, 0, 2, &m);
    sessionlab_write(&lab, 0, buf_slice(&out));
    buf_fini(&out);
    sessionlab_settle(&lab);
    assert_true(engine_next_due(server_shard(lab.server)->engine).ms != TIME_NEVER);
}

/* As the loop does: it sleeps until the server says. Returns when the clock was set, at the latest after an hour. */
static int64_t idle_until_set(void) {
    int64_t begun_ms = lab.now_ms;
    while (server_shard(lab.server)->clock_steps == 0 && lab.now_ms < begun_ms + 3600000) {
        int64_t next_ms = server_next(lab.server).ms - 1000; /* the lab's monotonic clock begins there */
        lab.now_ms = next_ms > lab.now_ms ? next_ms : lab.now_ms + 1;
        sessionlab_pass(&lab);
        sessionlab_step(&lab);
    }
    return lab.now_ms - begun_ms;
}

static void an_idle_server_notices_a_jump(void **state) {
    (void)state;
    submit_delayed();
    lab.wall_ahead_ms = DAY_MS;
    assert_in_range(idle_until_set(), BATCH_CLOCK_PATIENCE_MS, 2 * BATCH_CLOCK_PATIENCE_MS);
    assert_int_equal(server_shard(lab.server)->clock_steps, 1);
    assert_null(shard_clock_note(server_shard(lab.server)));
}

static void a_jump_is_noted_at_once(void **state) {
    (void)state;
    assert_null(shard_clock_note(server_shard(lab.server)));
    lab.wall_ahead_ms = -DAY_MS;
    assert_has(shard_clock_note(server_shard(lab.server)), "86400 s behind the journal's clock");
    lab.wall_ahead_ms = BATCH_CLOCK_APART_MS / 2; /* drift */
    assert_null(shard_clock_note(server_shard(lab.server)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_idle_server_notices_a_jump, setup, teardown),
        cmocka_unit_test_setup_teardown(a_jump_is_noted_at_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
