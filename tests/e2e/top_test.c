/* top_test.c: `reeve top` in a real terminal: what is on the screen, what keys do, and that it is given back. */
#include "test.h"

#include <signal.h>
#include <stdio.h>

#include "realcli.h"
#include "realserver.h"
#include "realtty.h"

static struct realcli *const r = &realcli_group;
static struct realtty tty;

static void start(const char *args, int rows, int cols, const char *variables) {
    realtty_start(&tty, r->data, args, rows, cols, variables);
}

static void quit(void) {
    realtty_type(&tty, "q");
    assert_int_equal(realtty_ends(&tty), 0);
    assert_true(tty.was_other && !tty.screen.is_other && !tty.screen.is_hidden);
    assert_true(realtty_is_cooked(&tty));
}

static const char *submit(const char *text) {
    return realcli_submit(r, text, "");
}

/* ---- looking ---- */

static void from_a_flow_to_the_output_of_a_job(void **state) {
    (void)state;
    char id[32];
    snprintf(id, sizeof id, "%s",
             submit("name: drill\njobs:\n  one: {run: 'echo line-of-one; exit 3', retries: 0}\n"
                    "  two: {run: 'true', needs: one}\n"));
    (void)realcli_run(r, realcli_at("wait @", id), NULL, NULL);
    start("top", 24, 80, NULL);
    realtty_sees(&tty, "drill");
    realtty_row_has(&tty, "drill", "✗ failed");
    assert_int_equal(emulator_find(&tty.screen, "1 Flows"), 4);
    realtty_type(&tty, "/drill\r");
    realtty_sees(&tty, "/drill");
    realtty_type(&tty, "\r");
    realtty_row_has(&tty, "one", "✗ failed");
    realtty_row_has(&tty, "two", "✗ upstream");
    realtty_type(&tty, "\033[B\033[A\r");
    realtty_row_has(&tty, "runs", "echo line-of-one; exit 3");
    realtty_row_has(&tty, "tries", "#1 exit 3");
    realtty_row_has(&tty, "output", "line-of-one");
    realtty_type(&tty, "l");
    realtty_sees(&tty, "attempt 1 is over");
    realtty_sees(&tty, "line-of-one");
    realtty_type(&tty, "\033");
    realtty_row_has(&tty, "tries", "#1 exit 3");
    realtty_type(&tty, "\033");
    realtty_row_has(&tty, "two", "upstream");
    realtty_type(&tty, "q"); /* from the jobs to the flows */
    realtty_sees(&tty, "1 Flows");
    realtty_type(&tty, "q"); /* the filter goes */
    quit();
}

static void panes_and_help(void **state) {
    (void)state;
    start("top", 24, 80, NULL);
    realtty_sees(&tty, "1 Flows");
    realtty_type(&tty, "\t");
    realtty_sees(&tty, "OFFERS");
    realtty_row_has(&tty, "here", "/4");
    realtty_type(&tty, "\t");
    realtty_sees(&tty, "WAITS FOR");
    realtty_type(&tty, "4");
    realtty_sees(&tty, "HEALTHY");
    realtty_type(&tty, "\t");
    realtty_sees(&tty, "REASON");
    realtty_type(&tty, "\t");
    realtty_sees(&tty, "PROGRESS");
    realtty_type(&tty, "\033[Z?");
    realtty_sees(&tty, "back; q in a top-level list quits");
    realtty_type(&tty, "q");
    realtty_sees(&tty, "REASON");
    quit();
}

static void events_change_the_screen_and_only_what_changed_is_sent(void **state) {
    (void)state;
    char id[32], path[128];
    start("top", 40, 120, NULL);
    realtty_sees(&tty, "1 Flows");
    snprintf(path, sizeof path, "%s/go", r->data);
    char flow[256];
    snprintf(flow, sizeof flow, "name: lively\njobs: {a: 'until test -e %s; do sleep 0.05; done'}", path);
    snprintf(id, sizeof id, "%s", submit(flow));
    realtty_row_has(&tty, "lively", "● running");
    uint64_t before = tty.screen.bytes;
    (void)realcli_file(r, "go", "");
    realtty_row_has(&tty, "lively", "✓ succeeded");
    assert_true(tty.screen.bytes - before < 4000); /* the whole screen would be more, each time */
    quit();
}

static void it_fits_whatever_the_terminal_is(void **state) {
    (void)state;
    (void)submit("name: sized\njobs: {a: 'true'}");
    start("top", 24, 80, NULL);
    realtty_sees(&tty, "sized");
    realtty_resize(&tty, 40, 130);
    realtty_sees(&tty, "TOOK");
    assert_int_equal(emulator_find(&tty.screen, "q quit"), 39);
    realtty_resize(&tty, 10, 40);
    realtty_sees(&tty, "sized");
    assert_int_equal(emulator_find(&tty.screen, "enter jobs"), 9);
    assert_int_equal(tty.screen.scrolled, 0);
    realtty_resize(&tty, 2, 5);
    realtty_resize(&tty, 24, 80);
    realtty_sees(&tty, "sized");
    quit();
}

static void colours_are_for_terminals_that_want_them(void **state) {
    (void)state;
    (void)realcli_ok(r, realcli_at("wait @", submit("name: tinted\njobs: {a: 'true'}")), NULL);
    start("top", 24, 80, NULL);
    realtty_row_has(&tty, "tinted", "succeeded");
    int row = emulator_find(&tty.screen, "q quit");
    assert_int_equal(tty.screen.cells[row][1].colour, 90);
    quit();
    start("top", 24, 80, "NO_COLOR=1");
    realtty_row_has(&tty, "tinted", "succeeded");
    for (int i = 0; i < 24; i++)
        for (int k = 0; k < 80; k++) assert_int_equal(tty.screen.cells[i][k].colour, 0);
    quit();
}

static void output_is_followed_from_attempt_to_attempt(void **state) {
    (void)state;
    char flow[512];
    snprintf(
        flow, sizeof flow,
        "name: again\njobs:\n  x: {run: 'echo try-$REEVE_ATTEMPT; until test -e %s/t$REEVE_ATTEMPT; do sleep 0.02; "
        "done; echo end-$REEVE_ATTEMPT; exit 1', retries: 1, backoff: {base: 1ms, cap: 1ms, jitter: 1ms}}\n",
        r->data);
    (void)submit(flow);
    start("top", 24, 80, NULL);
    realtty_type(&tty, "/again\r");
    realtty_row_has(&tty, "again ", "running");
    realtty_type(&tty, "\r");
    realtty_row_has(&tty, " x ", "running");
    realtty_type(&tty, "l");
    realtty_sees(&tty, "try-1");
    (void)realcli_file(r, "t1", "");
    realtty_sees(&tty, "end-1");
    realtty_sees(&tty, "try-2");
    (void)realcli_file(r, "t2", "");
    realtty_sees(&tty, "attempt 2 is over");
    realtty_sees(&tty, "end-2");
    realtty_type(&tty, "qqq");
    quit();
}

/* ---- changing ---- */

static void what_changes_something_is_asked_about_first(void **state) {
    (void)state;
    char id[32], text[64];
    snprintf(id, sizeof id, "%s", submit("name: stoppable\njobs: {a: 'sleep 600'}"));
    start("top", 24, 80, NULL);
    realtty_type(&tty, "/stoppable\r");
    realtty_row_has(&tty, "stoppable ", "running");
    realtty_type(&tty, "p");
    snprintf(text, sizeof text, "pause %s? y/n", id);
    realtty_sees(&tty, text);
    realtty_type(&tty, "n");
    realtty_sees(&tty, "c cancel");
    realtty_type(&tty, "p");
    realtty_sees(&tty, text);
    realtty_type(&tty, "y");
    snprintf(text, sizeof text, "%s is paused", id);
    realtty_sees(&tty, text);
    realtty_row_has(&tty, "stoppable ", "‖ paused");
    realtty_type(&tty, "py");
    realtty_row_has(&tty, "stoppable ", "● running");
    realtty_type(&tty, "cy");
    realtty_row_has(&tty, "stoppable ", "cancelled");
    realtty_type(&tty, "ry");
    realtty_row_has(&tty, "stoppable ", "● running");
    realtty_type(&tty, "cy");
    realtty_row_has(&tty, "stoppable ", "cancelled");
    realtty_type(&tty, "q");
    quit();
}

static void an_approval_is_of_what_is_on_the_screen(void **state) {
    (void)state;
    const char *id = submit("name: asked\njobs: {go: {gate: {message: 'Shall it be?'}}}");
    start("top", 24, 80, NULL);
    realtty_sees(&tty, "1 Flows");
    realtty_type(&tty, "3");
    realtty_row_has(&tty, id, "Shall it be?");
    realtty_type(&tty, "a");
    realtty_sees(&tty, "hash");
    realtty_type(&tty, "a");
    realtty_sees(&tty, "? y/n");
    realtty_type(&tty, "y");
    realtty_sees(&tty, "is approved");
    realtty_sees(&tty, "no open approvals");
    quit();
}

static void services_stop_and_start(void **state) {
    (void)state;
    (void)submit("name: svc\njobs: {beat: {service: {run: 'echo pulse; while :; do sleep 1; done', port: 18431, "
                 "health: {command: 'true'}}}}");
    start("top", 24, 80, NULL);
    realtty_sees(&tty, "1 Flows");
    realtty_type(&tty, "4");
    realtty_row_has(&tty, "beat", "yes");
    realtty_row_has(&tty, "beat", "18431");
    realtty_type(&tty, "c");
    realtty_sees(&tty, "stop beat? y/n");
    realtty_type(&tty, "y");
    realtty_row_has(&tty, "beat", "stopped");
    realtty_type(&tty, "cy");
    realtty_row_has(&tty, "beat", "running");
    realtty_type(&tty, "l");
    realtty_sees(&tty, "pulse");
    realtty_type(&tty, "q");
    realtty_row_has(&tty, "beat", "running");
    quit();
    (void)realcli_ok(r, "undeploy beat", NULL);
}

/* ---- ends ---- */

static void a_frame_for_files_and_programs(void **state) {
    (void)state;
    (void)realcli_ok(r, realcli_at("wait @", submit("name: framed\njobs: {a: 'true'}")), NULL);
    struct ran ran = realcli_ok(r, "top --once", NULL);
    assert_has(ran.out, "framed");
    assert_has(ran.out, "1 Flows");
    assert_null(strchr(ran.out, '\033'));
    ran = realcli_ok(r, "top --json", NULL);
    assert_has(ran.out, "\"flows\":[{");
    assert_has(ran.out, "\"name\":\"framed\"");
    assert_has(ran.out, "\"started_per_1000s\":");
    assert_has(ran.out, "\"workers\":[{");
    realcli_refused(r, "top", 2, "--once");
}

static void the_terminal_is_given_back_on_every_signal(void **state) {
    (void)state;
    static const int numbers[] = {SIGTERM, SIGHUP, SIGINT, SIGABRT, SIGQUIT};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        start("top", 24, 80, NULL);
        realtty_sees(&tty, "1 Flows");
        assert_true(tty.screen.is_other && tty.screen.is_hidden && !realtty_is_cooked(&tty));
        realtty_kill(&tty, numbers[i]);
        assert_int_equal(realtty_ends(&tty), 128 + numbers[i]);
        assert_true(!tty.screen.is_other && !tty.screen.is_hidden);
        assert_true(realtty_is_cooked(&tty));
    }
    start("top", 24, 80, NULL);
    realtty_sees(&tty, "1 Flows");
    realtty_type(&tty, "\x03"); /* Ctrl-C */
    assert_int_equal(realtty_ends(&tty), 0);
    assert_true(realtty_is_cooked(&tty));
}

static void a_server_that_is_killed_is_waited_for(void **state) {
    (void)state;
    static struct realserver s;
    realserver_make(&s);
    realserver_start(&s);
    realtty_start(&tty, s.data, "top", 24, 80, NULL);
    realtty_sees(&tty, "no flows yet");
    realserver_kill(&s);
    realtty_sees(&tty, "connection lost ");
    realtty_type(&tty, "?");
    realtty_sees(&tty, "follow the output"); /* keys work all the same */
    realtty_type(&tty, "q");
    realserver_start(&s);
    realtty_sees_not(&tty, "server away");
    realtty_sees(&tty, "no flows yet");
    realtty_type(&tty, "2");
    realtty_sees(&tty, "no workers");
    quit();
    assert_int_equal(realserver_stop(&s), 0);
    realserver_remove(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_a_flow_to_the_output_of_a_job),
        cmocka_unit_test(output_is_followed_from_attempt_to_attempt),
        cmocka_unit_test(panes_and_help),
        cmocka_unit_test(events_change_the_screen_and_only_what_changed_is_sent),
        cmocka_unit_test(it_fits_whatever_the_terminal_is),
        cmocka_unit_test(colours_are_for_terminals_that_want_them),
        cmocka_unit_test(what_changes_something_is_asked_about_first),
        cmocka_unit_test(an_approval_is_of_what_is_on_the_screen),
        cmocka_unit_test(services_stop_and_start),
        cmocka_unit_test(a_frame_for_files_and_programs),
        cmocka_unit_test(the_terminal_is_given_back_on_every_signal),
        cmocka_unit_test(a_server_that_is_killed_is_waited_for),
    };
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
