/* plan_test.c: `reeve plan`: what a flow would do, with one worker there and with none; what is refused; and that
 * nothing happens. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "realcli.h"

static struct realcli *const r = &realcli_group;

static const char flow[] = "name: etl\n"
                           "jobs:\n"
                           "  make: echo 1\n"
                           "  ask: {gate: {message: go?}, needs: make}\n"
                           "  end: {run: 'true', needs: [make, ask], delay: 5s, concurrency: db, when: jobs.make}\n";

static struct ran plan(const char *text, const char *flags) {
    char args[128];
    snprintf(args, sizeof args, "plan %%s %s", flags);
    return realcli_run(r, args, realcli_file(r, "flow.yaml", text), NULL);
}

static void a_plan_tells_order_workers_and_what_is_waited_for(void **state) {
    (void)state;
    struct ran ran = plan(flow, "");
    assert_int_equal(ran.exit_code, 0);
    assert_has(ran.out, "etl: 3 jobs in 3 stages; 1 worker attached");
    assert_has(ran.out, "make, ask");
    assert_has(ran.out, "a person who approves it");
    assert_has(ran.out, "its condition: jobs.make; 5000 ms of delay; its concurrency keys, while others hold them: db");
    assert_null(strstr(realcli_ok(r, "ls", NULL).out, "etl"));
}

static void a_job_that_no_worker_can_run_is_told_with_what_is_missing(void **state) {
    (void)state;
    struct ran ran =
        plan("jobs: {a: {run: x, requires: qpu, resources: {memory: 9000GiB, gpus: 99}}, b: {run: x}}", "");
    assert_int_equal(ran.exit_code, 1);
    assert_has(ran.out, "a would wait: no attached worker can run it; ");
    assert_has(ran.out, "lacks capability qpu; memory: 9000.0 GiB wanted, it has ");
    assert_has(ran.out, "gpus: 99 wanted, it has 0");
    assert_null(strstr(ran.out, "b would wait"));
    ran = plan("jobs: {a: {run: x, pool: other}}", "");
    assert_has(ran.out, "lacks pool other (it is in default)");
}

static void programs_get_what_agents_get(void **state) {
    (void)state;
    struct ran ran = plan("jobs: {a: {run: x, requires: qpu}}", "--json");
    assert_int_equal(ran.exit_code, 1);
    assert_has(ran.out,
               "{\"valid\":true,\"job_count\":1,\"stages\":1,\"workers_attached\":1,\"jobs_without_worker\":1,");
    assert_has(ran.out, "\"it_lacks\":[\"capability qpu\"],\"waits_for\":[\"a worker: ");
    ran = plan("jobs: {a: {rum: x}}", "--json");
    assert_int_equal(ran.exit_code, 1);
    assert_has(ran.out, "{\"valid\":false,\"problem\":\"");
}

/* Refused by the reader of flow files, and by the server. */
static void a_flow_that_would_be_refused_is_told_so(void **state) {
    (void)state;
    struct ran ran = plan("jobs: {a: {run: x, needs: b}}", "");
    assert_int_equal(ran.exit_code, 1);
    assert_has(ran.err, "reeve plan: the flow would be refused: ");
    ran = plan("jobs: {a: {run: x, needs: f999/b}}", "");
    assert_int_equal(ran.exit_code, 1);
    assert_has(ran.err, "the flow would be refused: ");
    realcli_refused(r, "plan nosuch.yaml", 5, "No such file");
}

/* Large ones are not uploaded, and the server does not miss them. */
static void files_stay_where_they_are(void **state) {
    (void)state;
    static char text[200001];
    memset(text, '#', sizeof text - 1);
    memcpy(text, "#!/bin/sh\n", 10);
    (void)realcli_file(r, "large.sh", text);
    struct ran ran = plan("jobs: {a: {script: large.sh}}", "");
    if (ran.exit_code != 0) fail_msg("%s%s", ran.out, ran.err);
    assert_has(ran.out, "script");
    assert_null(strstr(realcli_ok(r, "blob ls", NULL).out, "195"));
}

static void parameters_are_filled_in(void **state) {
    (void)state;
    struct ran ran = plan("params: {who: {}}\njobs: {a: 'echo ${params.who}'}", "-p who=me");
    assert_int_equal(ran.exit_code, 0);
    assert_int_equal(plan("params: {who: {}}\njobs: {a: 'echo ${params.who}'}", "").exit_code, 1);
}

/* With its worker there. */
static int setup(void **state) {
    int code = realcli_group_setup(state);
    (void)realcli_ok(r, "run true", NULL);
    return code;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_tells_order_workers_and_what_is_waited_for),
        cmocka_unit_test(a_job_that_no_worker_can_run_is_told_with_what_is_missing),
        cmocka_unit_test(programs_get_what_agents_get),
        cmocka_unit_test(a_flow_that_would_be_refused_is_told_so),
        cmocka_unit_test(files_stay_where_they_are),
        cmocka_unit_test(parameters_are_filled_in),
    };
    return cmocka_run_group_tests(tests, setup, realcli_group_teardown);
}
