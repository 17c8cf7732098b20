/* demand_test.c: who may hear of jobs that wait for room, what they hear, and when. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "realshell.h"
#include "wireclient.h"

#define QUIET_MS 500 /* several times the pause between two frames */

static struct realserver server;
static struct realshell shell = {.server = &server};

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    realserver_start(&server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realserver_remove(&server);
    return 0;
}

static struct wire_demand_watch kind_of(const char *pool, uint32_t slots) {
    return (struct wire_demand_watch){.kind = {.pool = slice_str(pool), .slots = slots, .cpu_milli = 1000}};
}

/* The next frame of the watch, which must be one of demand. */
static const struct wire_demands *told(struct wireclient *c) {
    struct wiregot got;
    if (!wireclient_next(c, WIRECLIENT_WAIT_MS, &got)) fail_msg("nothing was told");
    assert_int_equal(got.op, WIRE_DEMANDS);
    return got.message;
}

/* Frames come one after the other until this holds. */
static const struct wire_demands *told_ready(struct wireclient *c, uint64_t ready) {
    const struct wire_demands *m = told(c);
    while (m->ready != ready) m = told(c);
    return m;
}

static void a_watcher_hears_of_changes_and_of_nothing_else(void **state) {
    (void)state;
    struct wireclient c;
    struct wiregot got;
    struct wire_demand_watch m = kind_of("default", 2);
    wireclient_open(&c, server.address, server.worker, WIRE_PEER_CLIENT);
    (void)wireclient_send(&c, WIRE_DEMAND_WATCH, &m);
    const struct wire_demands *d = told(&c);
    assert_int_equal(d->ready, 0);
    assert_int_equal(d->rows.count, 0);
    assert_false(wireclient_next(&c, QUIET_MS, &got));

    for (int i = 0; i < 3; i++) realshell_must(&shell, "run --server $S -d -- true");
    d = told_ready(&c, 3);
    assert_int_equal(d->need_milli, 1500);
    assert_true(d->since_ms > 0 && d->now_ms >= d->since_ms && d->lsn > 0);
    const struct wire_demand_row *row = d->rows.at;
    assert_int_equal(d->rows.count, 1);
    assert_int_equal(row->at_once, 2);
    assert_memory_equal(row->code.ptr, "no_workers", row->code.len);

    realshell_must(&shell, "run --server $S -d --pool elsewhere -- true"); /* nothing for this kind */
    assert_false(wireclient_next(&c, QUIET_MS, &got));

    struct wire_stop stop = {.request = c.request_last};
    const struct wire_demands *last = NULL;
    uint32_t request = wireclient_send(&c, WIRE_STOP, &stop);
    while (wireclient_next(&c, WIRECLIENT_WAIT_MS, &got) && got.request != request) last = got.message;
    assert_non_null(last);
    realshell_must(&shell, "run --server $S -d -- true");
    assert_false(wireclient_next(&c, QUIET_MS, &got));
    wireclient_close(&c);
}

static void workers_of_the_kind_are_told_with_what_they_hold(void **state) {
    (void)state;
    struct wireclient c;
    struct wire_demand_watch m = kind_of("default", 1);
    wireclient_open(&c, server.address, server.worker, WIRE_PEER_CLIENT);
    (void)wireclient_send(&c, WIRE_DEMAND_WATCH, &m);
    (void)told(&c);
    char args[160];
    snprintf(args, sizeof args, "--token %s --data $D/w --slots 1", server.worker);
    pid_t worker = realshell_worker(&shell, args);
    const struct wire_demands *d = told(&c);
    assert_int_equal(d->workers.count, 1);
    realshell_must(&shell, "run --server $S -d -- sleep 600");
    realshell_must(&shell, "run --server $S -d -- sleep 600");
    d = told_ready(&c, 1);
    const struct wire_demand_worker *w = d->workers.at;
    assert_int_equal(w->active, 1);
    assert_int_equal(w->slots, 1);
    assert_true(w->served > 0 && !w->draining);
    realshell_end(worker);
    while (d->workers.count > 0) d = told(&c);
    wireclient_close(&c);
}

static void demand_is_seen_by_its_tenant_and_by_those_who_may_look(void **state) {
    (void)state;
    struct wireclient c;
    char token[128];
    struct wire_demand_watch m = {.once = true};
    realshell_must(&shell, "run --server $S -d -- true");
    realshell_must(&shell, "token new --server $S bolt-looks --role viewer --tenant bolt 2>/dev/null");
    snprintf(token, sizeof token, "%.*s", (int)strcspn(shell.said, "\n"), shell.said);
    wireclient_open(&c, server.address, token, WIRE_PEER_CLIENT);
    const struct wire_demands *d = wireclient_ask(&c, WIRE_DEMAND_WATCH, &m, WIRE_DEMANDS);
    assert_int_equal(d->ready, 0);
    wireclient_close(&c);

    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    d = wireclient_ask(&c, WIRE_DEMAND_WATCH, &m, WIRE_DEMANDS);
    assert_int_equal(d->ready, 1);
    m.kind = (struct wire_worker_info){.pool = SLICE("bad name\n"), .slots = 1};
    (void)wireclient_refused(&c, WIRE_DEMAND_WATCH, &m, ERR_INVALID);
    wireclient_close(&c);

    wireclient_open(&c, server.address, server.worker, WIRE_PEER_CLIENT);
    m = (struct wire_demand_watch){.once = true};
    assert_has(wireclient_refused(&c, WIRE_DEMAND_WATCH, &m, ERR_FORBIDDEN), "kind of worker");
    wireclient_close(&c);
}

static void the_command_line_shows_it(void **state) {
    (void)state;
    realshell_must(&shell, "demand --server $S");
    assert_has(shell.said, "no job waits for a worker");
    realshell_must(&shell, "run --server $S -d --pool gpu --requires cuda -- true");
    realshell_must(&shell, "demand --server $S");
    assert_has(shell.said, "no_workers");
    assert_has(shell.said, "cuda");
    realshell_must(&shell, "demand --server $S --json");
    assert_has(shell.said, "\"ready\":1,");
    assert_has(shell.said, "\"pool\":\"gpu\"");
    realshell_must(&shell, "demand --server $S --watch --count 1");
    assert_has(shell.said, "gpu");
    realshell_refused(&shell, "", "demand --server $S --count 2", 2, "--watch");
    realshell_refused(&shell, "", "demand --server $S now", 2, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_watcher_hears_of_changes_and_of_nothing_else, setup, teardown),
        cmocka_unit_test_setup_teardown(workers_of_the_kind_are_told_with_what_they_hold, setup, teardown),
        cmocka_unit_test_setup_teardown(demand_is_seen_by_its_tenant_and_by_those_who_may_look, setup, teardown),
        cmocka_unit_test_setup_teardown(the_command_line_shows_it, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
