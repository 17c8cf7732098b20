/* schedule_key_test.c: keys of the store that start schedules, and calendars, by the command line on a real server and
 * worker; the server is killed in between. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "realcli.h"

#define WAIT_S 60

static struct realcli *const r = &realcli_group;

static void add(const char *text, const char *flags) {
    char args[200];
    snprintf(args, sizeof args, "schedule add %%s %s", flags);
    (void)realcli_ok(r, args, realcli_file(r, "flow.yaml", text));
}

/* Until the flows of the schedule that have succeeded are so many. */
static void wait_done(const char *name, unsigned count) {
    char args[96], ids[96];
    unsigned lines = 0;
    time_t end = time(NULL) + WAIT_S;
    snprintf(args, sizeof args, "ls --schedule %s --state succeeded -o name", name);
    snprintf(ids, sizeof ids, "wait %s --timeout 1s", name); /* the newest: between two looks something may happen */
    while (lines < count) {
        struct ran ran = realcli_run(r, args, NULL, NULL);
        lines = 0;
        for (const char *at = ran.out; ran.exit_code == 0 && (at = strchr(at, '\n')) != NULL; at++) lines++;
        if (lines < count) (void)realcli_run(r, ids, NULL, NULL);
        if (time(NULL) > end) fail_msg("%s has %u flows after %d s", name, lines, WAIT_S);
    }
    assert_int_equal(lines, count);
}

static void kill_server(void) {
    char command[128];
    snprintf(command, sizeof command, "pkill -9 -f 'serv[e] --data %s'", r->data);
    assert_int_equal(system(command), 0);
}

/* What the job of each flow printed, the newest first. */
static const char *logs_of(const char *name) {
    char args[96];
    static char text[4096];
    text[0] = 0;
    snprintf(args, sizeof args, "ls --schedule %s -o name", name);
    struct ran ran = realcli_ok(r, args, NULL);
    char *save = NULL, list[2048];
    snprintf(list, sizeof list, "%s", ran.out);
    for (char *id = strtok_r(list, "\n", &save); id != NULL; id = strtok_r(NULL, "\n", &save)) {
        snprintf(args, sizeof args, "logs %s/a", id);
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "%s", realcli_ok(r, args, NULL).out);
    }
    return text;
}

static void a_key_that_is_set_starts_a_flow_that_knows_it(void **state) {
    (void)state;
    add("name: up\nschedule: {on: 'uploads/*'}\n"
        "jobs: {a: {run: 'echo ${trigger.key} ${trigger.value} ${trigger.change} $REEVE_TRIGGER_KEY'}}\n",
        "");
    assert_has(realcli_ok(r, "schedule ls", NULL).out, "key uploads/*; when changed");
    (void)realcli_ok(r, "kv set uploads/one 17", NULL);
    wait_done("up", 1);
    assert_string_equal(logs_of("up"), "uploads/one 17 changed uploads/one\n");
    (void)realcli_ok(r, "kv set uploads/one 17", NULL); /* the same value */
    (void)realcli_ok(r, "kv set elsewhere 1", NULL);
    (void)realcli_ok(r, "kv set uploads/two 18", NULL);
    wait_done("up", 2);
    struct ran ran = realcli_ok(r, "schedule show up", NULL);
    assert_has(ran.out, "its key has not changed");
    assert_has(ran.out, "fired uploads/two");
    ran = realcli_ok(r, "ls --schedule up --json", NULL);
    assert_has(ran.out, "\"trigger\":\"uploads/two\"");
    (void)realcli_ok(r, "schedule run up --key uploads/by-hand --wait", NULL);
    assert_has(logs_of("up"), "uploads/by-hand");
    realcli_refused(r, "schedule backfill up --since 2026-01-01 --until 2026-01-02", 2, "it has no slots");
    (void)realcli_ok(r, "schedule rm up", NULL);
}

/* Three keys change while a flow runs; the server is killed, and each of them still has its flow, once. */
static void no_kill_loses_a_change(void **state) {
    (void)state;
    add("name: safe\nschedule: {on: {key: 'safe/*'}}\n"
        "jobs: {a: {run: 'sleep 2; echo ${trigger.key} ${trigger.value}'}}\n",
        "");
    (void)realcli_ok(r, "kv set safe/a 1", NULL);
    (void)realcli_ok(r, "kv set safe/b 1", NULL);
    (void)realcli_ok(r, "kv set safe/c 1", NULL);
    (void)realcli_ok(r, "kv set safe/b 2", NULL);
    kill_server();
    wait_done("safe", 3);
    const char *text = logs_of("safe");
    assert_has(text, "safe/a 1\n");
    assert_has(text, "safe/b 2\n");
    assert_has(text, "safe/c 1\n");
    (void)realcli_ok(r, "schedule rm safe", NULL);
}

/* The flow writes the key that starts it. */
static void a_flow_does_not_start_itself(void **state) {
    (void)state;
    add("name: own\nschedule: {on: own}\njobs: {a: {token: [read, submit], run: '$REEVE_EXE kv set own again'}}\n", "");
    (void)realcli_ok(r, "kv set own 1", NULL);
    wait_done("own", 1);
    assert_has(realcli_ok(r, "kv get own", NULL).out, "again");
    assert_has(realcli_ok(r, "schedule show own", NULL).out, "1 fired");
    (void)realcli_ok(r, "schedule rm own", NULL);
}

static void a_calendar_is_kept_and_shown(void **state) {
    (void)state;
    const char *days = realcli_file(r, "days.txt", "2099-12-24 Christmas Eve\n2099-12-25\n");
    char flags[200];
    snprintf(flags, sizeof flags, "--calendar %s --on-excluded shift_next", days);
    add("name: year\nschedule: {cron: '0 9 24 12 *', start: 2099-12-01T00:00:00Z}\njobs: {a: {noop: true}}\n", flags);
    assert_has(realcli_ok(r, "schedule next year -n 1", NULL).out, "2099-12-26T09:00:00Z");
    struct ran ran = realcli_ok(r, "schedule show year", NULL);
    assert_has(ran.out, "2099-12-24 Christmas Eve");
    assert_has(ran.out, "excluded shift_next");
    add("name: year\nschedule: {cron: '0 9 * * *'}\njobs: {a: {noop: true}}\n", "--weekdays mon-fri");
    ran = realcli_ok(r, "schedule backfill year --since 2026-11-13 --until 2026-11-17 --dry-run", NULL);
    assert_string_equal(ran.out, "2026-11-13T09:00:00Z\n2026-11-16T09:00:00Z\n");
    (void)realcli_ok(r, "schedule rm year", NULL);
}

static void bad_ones_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *flags, *said;
        int exit_code;
        const char *schedule; /* of the file; NULL = it has none */
    } cases[] = {
        {"--on-key k --every 1m", "one of `cron`, `every`, `at` and `on`", 2, NULL},
        {"--on-key k --weekdays mon", "it has no zone, catch_up or calendar", 2, NULL},
        {"--on-key k --on-change often", "`when` is set, changed or deleted", 2, NULL},
        {"--on-key k --min-interval soon", "expected a duration like 30s", 2, NULL},
        {"--every 1h --weekdays monday", "weekday `monday` is out of range", 2, NULL},
        {"--every 1h --not 2026-13-01", "expected a date like 2026-12-24", 2, NULL},
        {"--every 1h --weekdays mon --on-excluded shift_next", "needs times of the day", 2, NULL},
        {"--weekdays mon-fri", "leaves out every slot", 2, "0 9 * * sat"},
        {"", "W follows one day of the month", 2, "0 9 32W * *"},
        {"--every 1h --calendar /no/such/file.ics", "No such file", 5, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char args[200];
        char text[120];
        snprintf(text, sizeof text, "name: x\n%s%s%s\njobs: {a: {noop: true}}\n",
                 cases[i].schedule ? "schedule: '" : "", cases[i].schedule ? cases[i].schedule : "",
                 cases[i].schedule ? "'" : "");
        const char *file = realcli_file(r, "flow.yaml", text);
        snprintf(args, sizeof args, "schedule add %s %s", file, cases[i].flags);
        realcli_refused(r, args, cases[i].exit_code, cases[i].said);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_that_is_set_starts_a_flow_that_knows_it),
        cmocka_unit_test(no_kill_loses_a_change),
        cmocka_unit_test(a_flow_does_not_start_itself),
        cmocka_unit_test(a_calendar_is_kept_and_shown),
        cmocka_unit_test(bad_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
