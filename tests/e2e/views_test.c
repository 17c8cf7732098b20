/* views_test.c: what goes on until a flow is over: its output (`logs -f`) and its picture (`graph -w`). Jobs wait for
 * files that the test makes, so that each state can be looked at. */
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"
#include "realtty.h"
#include "realworker.h"

static struct realcli *const r = &realcli_group;
static struct realtty tty;

/* A flow with the path of the directory in place of each @. */
static const char *submit(const char *text) {
    return realcli_submit(r, realcli_at(text, r->data), "");
}

static void go(const char *name) {
    (void)realcli_file(r, name, "");
}

#define UNTIL(file) "until test -e @/" file "; do sleep 0.02; done"

static int count(const char *text, const char *word) {
    int n = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word)) n++;
    return n;
}

/* ---- logs ---- */

static void lines_of_all_jobs_come_in_order(void **state) {
    (void)state;
    char id[32];
    snprintf(
        id, sizeof id, "%s",
        submit("jobs:\n"
               "  aa: {run: 'echo a1; touch @/m1; " UNTIL(
                   "m2") "; echo a2; touch @/m3'}\n"
                         "  bbbb: {run: '" UNTIL("m1") "; echo b1 >&2; touch @/m2; " UNTIL("m3") "; printf b2'}\n"));
    (void)realcli_ok(r, realcli_at("wait @", id), NULL);
    const char *want = "aa   | a1\nbbbb | b1\naa   | a2\nbbbb | b2\n";
    assert_string_equal(realcli_ok(r, realcli_at("logs @", id), NULL).out, want);
    assert_string_equal(realcli_ok(r, realcli_at("logs -f @", id), NULL).out, want);
    assert_string_equal(realcli_ok(r, realcli_at("logs @ --no-prefix", id), NULL).out, "a1\nb1\na2\nb2\n");
    assert_string_equal(realcli_ok(r, realcli_at("logs @ --job b*", id), NULL).out, "bbbb | b1\nbbbb | b2\n");
    assert_string_equal(realcli_ok(r, realcli_at("logs @ --since 2030-01-01", id), NULL).out, "");
    assert_string_equal(realcli_ok(r, realcli_at("logs @ --tail 2 -j bbbb", id), NULL).out, "bbbb | b2\n");
    struct ran ran = realcli_ok(r, realcli_at("logs @ --json", id), NULL);
    assert_int_equal(count(ran.out, "\n"), 4);
    assert_has(ran.out, "\"attempt\":1,\"stream\":\"err\"");
    assert_has(ran.out, "\"line\":\"b2\"}");
    assert_has(realcli_ok(r, realcli_at("logs @/aa -t --since 1h", id), NULL).out, " a1\n");
    realcli_refused(r, realcli_at("logs @ --since soon", id), 2, "--since");
    realcli_refused(r, "logs f9zzz", 5, "f9zzz");
}

static void output_is_followed_until_the_flow_is_over(void **state) {
    (void)state;
    char id[32], args[64];
    snprintf(
        id, sizeof id, "%s",
        submit("jobs:\n"
               "  early: {run: 'echo begun; printf half; " UNTIL(
                   "n1") "; echo -line'}\n"
                         "  later: {run: 'echo later; exit 5', needs: early, retries: 1, backoff: {base: 9ms}}\n"));
    snprintf(args, sizeof args, "logs -f %s", id);
    realtty_start(&tty, r->data, args, 24, 80, NULL);
    realtty_sees(&tty, "early | begun");
    assert_int_equal(emulator_find(&tty.screen, "half"), -1); /* it is no line yet */
    int row = emulator_find(&tty.screen, "begun");
    assert_true(tty.screen.cells[row][0].colour != 0);
    go("n1");
    realtty_sees(&tty, "early | half-line");
    realtty_sees(&tty, "-- later: attempt 2 --");
    assert_int_equal(realtty_ends(&tty), 1);
    assert_true(emulator_find(&tty.screen, "later#2 | later") > emulator_find(&tty.screen, "later | later"));
    assert_int_equal(emulator_find(&tty.screen, "half\n"), -1);
}

static void a_killed_server_is_waited_for_and_nothing_is_said_twice(void **state) {
    (void)state;
    static struct realserver s;
    static struct realworker w;
    struct realcli own = {0};
    char args[64], go_on[128];
    realserver_make(&s);
    realserver_start(&s);
    snprintf(own.data, sizeof own.data, "%s", s.data);
    realworker_make(&w, &s, "w");
    realworker_start(&w, &s);
    const char *flow = "jobs:\n  x: {run: 'echo first; " UNTIL("k1") "; echo second; " UNTIL(
        "k2") "; echo third'}\n"
              "  y: {run: 'echo other', needs: x}\n";
    snprintf(args, sizeof args, "logs -f %s", realcli_submit(&own, realcli_at(flow, own.data), ""));
    realtty_start(&tty, s.data, args, 24, 80, NULL);
    realtty_sees(&tty, "x | first");
    realserver_kill(&s);
    realtty_sees(&tty, "connection lost");
    snprintf(go_on, sizeof go_on, "%s/k1", own.data);
    fclose(fopen(go_on, "we"));
    realserver_start(&s);
    realtty_sees(&tty, "x | second");
    snprintf(go_on, sizeof go_on, "%s/k2", own.data);
    fclose(fopen(go_on, "we"));
    assert_int_equal(realtty_ends(&tty), 0);
    assert_int_equal(count(emulator_text(&tty.screen), "x | first"), 1);
    assert_int_equal(count(emulator_text(&tty.screen), "x | third"), 1);
    assert_int_equal(count(emulator_text(&tty.screen), "y | other"), 1);
    assert_int_equal(realworker_stop(&w), 0);
    assert_int_equal(realserver_stop(&s), 0);
    realserver_remove(&s);
}

/* ---- graph ---- */

static void a_picture_changes_in_place(void **state) {
    (void)state;
    char id[32], args[64];
    snprintf(id, sizeof id, "%s",
             submit("name: drawn\njobs:\n  fetch: {run: '" UNTIL("g1") "'}\n  clean: {run: '" UNTIL(
                 "g2") "', needs: fetch}\n"
                       "  load: {run: 'exit 3', retries: 0, needs: [fetch, clean]}\n"));
    snprintf(args, sizeof args, "graph -w %s", id);
    realtty_start(&tty, r->data, args, 24, 80, NULL);
    realtty_sees(&tty, "● fetch");
    realtty_sees(&tty, "└─ · clean");
    realtty_sees(&tty, "   └─ · load  ← fetch");
    realtty_sees(&tty, "0/3  · 2 waiting  ● 1 running");
    assert_true(tty.screen.is_hidden && !tty.was_other);
    go("g1");
    realtty_sees(&tty, "✓ fetch");
    realtty_sees(&tty, "└─ ● clean");
    go("g2");
    assert_int_equal(realtty_ends(&tty), 1);
    assert_true(emulator_find(&tty.screen, "   └─ ✗ load (exit 3)  ← fetch") > 0);
    assert_true(emulator_find(&tty.screen, "3/3  ✓ 2 succeeded  ✗ 1 failed") > 0);
    assert_int_equal(count(emulator_text(&tty.screen), "fetch"), 2); /* one picture, not several */
    assert_false(tty.screen.is_hidden);
    /* Elsewhere than on a terminal: what happened, line by line, and the picture at the end. */
    struct ran ran = realcli_run(r, realcli_at("graph -w @", id), NULL, NULL);
    assert_int_equal(ran.exit_code, 1);
    assert_has(ran.out, "✓ fetch\n└─ ✓ clean\n   └─ ✗ load (exit 3)  ← fetch\n");
    ran = realcli_run(r, realcli_at("graph --watch --json @", submit("jobs: {a: 'true'}")), NULL, NULL);
    assert_int_equal(ran.exit_code, 0);
    assert_has(ran.out, "\"to\":\"succeeded\"");
}

static void a_large_flow_is_watched_by_layers(void **state) {
    (void)state;
    char text[4096] = "name: wide\njobs:\n  begin: {run: '@wait'}\n", args[64];
    for (int i = 0; i < 40; i++) {
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "  part%d: {run: 'true', needs: begin}\n", i);
    }
    char flow[8192], *at = strstr(text, "@wait");
    snprintf(flow, sizeof flow, "%.*suntil test -e %s/w1; do sleep 0.02; done%s", (int)(at - text), text, r->data,
             at + 5);
    snprintf(args, sizeof args, "graph -w %s", realcli_submit(r, flow, ""));
    realtty_start(&tty, r->data, args, 20, 90, NULL);
    realtty_row_has(&tty, "layer   1", "● 1");
    realtty_row_has(&tty, "layer   2", "0/40  · 40");
    realtty_sees(&tty, "part0 …");
    realtty_resize(&tty, 60, 90); /* now there is room for all */
    realtty_sees(&tty, "├─ · part7");
    realtty_resize(&tty, 20, 90);
    go("w1");
    assert_int_equal(realtty_ends(&tty), 0);
    realtty_row_has(&tty, "layer   2", "40/40  ✓ 40");
}

static void ctrl_c_ends_the_watching_and_not_the_flow(void **state) {
    (void)state;
    char id[32], args[64];
    snprintf(id, sizeof id, "%s", submit("jobs: {a: 'sleep 600', b: 'sleep 600'}"));
    snprintf(args, sizeof args, "graph -w %s", id);
    realtty_start(&tty, r->data, args, 24, 80, NULL);
    realtty_sees(&tty, "● b");
    realtty_type(&tty, "\x03");
    assert_int_equal(realtty_ends(&tty), 128 + SIGINT);
    assert_false(tty.screen.is_hidden);
    assert_has(realcli_ok(r, realcli_at("show @", id), NULL).out, "running");
    (void)realcli_ok(r, realcli_at("cancel @", id), NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_all_jobs_come_in_order),
        cmocka_unit_test(output_is_followed_until_the_flow_is_over),
        cmocka_unit_test(a_killed_server_is_waited_for_and_nothing_is_said_twice),
        cmocka_unit_test(a_picture_changes_in_place),
        cmocka_unit_test(a_large_flow_is_watched_by_layers),
        cmocka_unit_test(ctrl_c_ends_the_watching_and_not_the_flow),
    };
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
