/* titan_gates_test.c: gates for people that come by Titan's protocol, in the built program, with a worker of one slot.
 * The client (titan_gates.py) was written from the description of Titan alone. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"
#include "realworker.h"

static struct realserver server;
static struct realworker worker;
static char address[64], resp_address[64];

static void flags_set(bool listens, const char *gates) {
    const char *const flags[] = {
        "--resp-listen",         resp_address, "--titan-gates", gates, listens ? "--titan-listen" : NULL,
        listens ? address : NULL};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[i] = flags[i];
}

static int setup(void **state) {
    (void)state;
    realserver_choose_address(address);
    realserver_choose_address(resp_address);
    setenv("TITAN_RESP", resp_address, 1);
    realserver_make(&server);
    flags_set(true, "yes");
    realserver_start(&server);
    realworker_make(&worker, &server, "w");
    worker.flags[0] = "--slots";
    worker.flags[1] = "1";
    realworker_start(&worker, &server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    if (worker.pid != 0) realworker_kill(&worker); /* what a failed test left running is not waited for */
    if (server.pid != 0) (void)realserver_stop(&server);
    realserver_remove(&server);
    return 0;
}

static void play(const char *which) {
    char said[8192];
    if (test_shell(said, sizeof said, "timeout 180 python3 -B tests/e2e/titan_gates.py %s %s %s %s 2>&1", which,
                   address, server.data, realserver_binary()) != 0)
        fail_msg("%s: %s", which, said);
}

#define CASE(name)                   \
    static void name(void **state) { \
        (void)state;                 \
        play(#name);                 \
    }

CASE(a_gate_holds_no_slot)
CASE(every_way_to_approve)
CASE(every_way_to_say_no)
CASE(the_first_decision_counts)
CASE(what_was_written_before_does_not_count)
CASE(by_agents)
CASE(other_scripts_are_scripts)
CASE(other_gates_are_not_opened_by_keys)
CASE(other_tenants_have_other_keys)

/* ---- kills ---- */

static void kill_and_start(void) {
    realserver_kill(&server);
    realserver_start(&server);
}

static void a_kill_while_it_waits_changes_nothing(void **state) {
    (void)state;
    play("it_waits");
    kill_and_start();
    play("it_still_waits");
}

static void a_kill_right_after_the_decision_loses_nothing(void **state) {
    (void)state;
    play("it_is_approved_by_key");
    kill_and_start();
    play("it_was_approved");
    play("it_is_approved_by_us");
    kill_and_start();
    play("it_was_approved");
}

/* What a crash between a question, a key or a verdict and what follows from it leaves, made for certain: nobody keeps
 * them in step meanwhile. */
static void keys_that_stayed_behind_catch_up(void **state) {
    (void)state;
    play("three_wait");
    realserver_kill(&server);
    flags_set(false, "yes");
    realserver_start(&server);
    play("things_happen_without_the_listener");
    realserver_kill(&server);
    flags_set(true, "yes");
    realserver_start(&server);
    play("all_of_it_was_heard");
}

/* ---- settings ---- */

static void it_can_be_told_otherwise(void **state) {
    (void)state;
    struct realcli own;
    assert_int_equal(realserver_stop(&server), 0);
    flags_set(true, "no");
    realserver_start(&server);
    play("gates_are_scripts");
    realcli_make(&own);
    realcli_refused(&own, "serve --listen 127.0.0.1:0 --titan-gates some", 2, "expected yes or no");
    realcli_stop(&own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gate_holds_no_slot),
        cmocka_unit_test(every_way_to_approve),
        cmocka_unit_test(every_way_to_say_no),
        cmocka_unit_test(the_first_decision_counts),
        cmocka_unit_test(what_was_written_before_does_not_count),
        cmocka_unit_test(by_agents),
        cmocka_unit_test(other_scripts_are_scripts),
        cmocka_unit_test(other_gates_are_not_opened_by_keys),
        cmocka_unit_test(other_tenants_have_other_keys),
        cmocka_unit_test(a_kill_while_it_waits_changes_nothing),
        cmocka_unit_test(a_kill_right_after_the_decision_loses_nothing),
        cmocka_unit_test(keys_that_stayed_behind_catch_up),
        cmocka_unit_test(it_can_be_told_otherwise),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
