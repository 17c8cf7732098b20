/* handler_test.c: types of jobs that the owner of a worker has programs for: the built program, real processes. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "realcli.h"
#include "realserver.h"
#include "realworker.h"

static struct realserver server;
static struct realworker plain, able;
static struct realcli r;

static int setup(void **state) {
    static char config[128], script[128], flag[160];
    (void)state;
    realserver_make(&server);
    realserver_start(&server);
    r = (struct realcli){0};
    snprintf(r.data, sizeof r.data, "%s", server.data);
    snprintf(script, sizeof script, "%s",
             realcli_file(&r, "both.sh", "#!/bin/sh\necho \"args $#: $1 ${2-}\"; echo \"input: $(cat)\"\n"));
    char text[512];
    snprintf(text, sizeof text,
             "slots: 2\nlabel: [zone=a]\nhandlers:\n  BOTH: [sh, %s, first]\n"
             "  BIG: [bash, -c, 'echo input $(wc -c) argument ${#0}']\n",
             script);
    snprintf(config, sizeof config, "%s", realcli_file(&r, "worker.yaml", text));
    snprintf(flag, sizeof flag, "ONE=%s", "/bin/echo");
    realworker_make(&plain, &server, "plain");
    realworker_start(&plain, &server);
    realworker_make(&able, &server, "able");
    able.flags[0] = "--config", able.flags[1] = config;
    able.flags[2] = "--handler", able.flags[3] = flag;
    realworker_start(&able, &server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realworker_kill(&plain);
    realworker_kill(&able);
    realserver_remove(&server);
    return 0;
}

static void the_payload_is_last_argument_and_standard_input(void **state) {
    (void)state;
    char id[64];
    snprintf(id, sizeof id, "%s",
             realcli_submit(&r, "jobs: {a: {handler: BOTH, payload: 'cat.png|80', placement: {zone: a}}}\n", "--wait"));
    struct ran said = realcli_ok(&r, realcli_at("logs @/a", id), NULL);
    assert_has(said.out, "args 2: first cat.png|80");
    assert_has(said.out, "input: cat.png|80");
}

static void it_runs_only_where_there_is_a_handler(void **state) {
    (void)state;
    for (int i = 0; i < 8; i++)
        (void)realcli_submit(&r, "jobs: {a: {handler: ONE, payload: hello}, b: {handler: BOTH, payload: x}}\n",
                             "--wait");
    struct ran said = realcli_ok(&r, "workers --json", NULL);
    assert_has(said.out, "handler:ONE");
    assert_has(said.out, "handler:BOTH");
}

static void nobody_handles_it_and_why_says_so(void **state) {
    (void)state;
    char id[64];
    snprintf(id, sizeof id, "%s", realcli_submit(&r, "jobs: {a: {handler: NONE, payload: x}}\n", ""));
    struct ran said = realcli_run(&r, realcli_at("why @/a", id), NULL, NULL);
    assert_has(said.out, "no attached worker has what the job requires");
    realcli_ok(&r, realcli_at("cancel @", id), NULL);
}

static void a_long_payload_arrives_whole(void **state) {
    (void)state;
    static char text[80 << 10];
    size_t len = (size_t)snprintf(text, sizeof text, "jobs: {a: {handler: BIG, payload: '");
    memset(text + len, 'x', 60000);
    snprintf(text + len + 60000, sizeof text - len - 60000, "'}}\n");
    char id[64];
    snprintf(id, sizeof id, "%s", realcli_submit(&r, text, "--wait"));
    assert_has(realcli_ok(&r, realcli_at("logs @/a", id), NULL).out, "input 60000 argument 60000");
}

static void a_file_that_makes_no_sense_is_refused_by_its_place(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"slots: many\n", ":1:8: --slots: expected a number"},
        {"nonsense: 1\n", "there is no option nonsense"},
        {"handlers: [x]\n", "handlers are lines of the form"},
        {"handlers: {A: []}\n", "a handler is a list of a program and its arguments"},
        {"slots: {a: 1}\n", "expected a plain value"},
        {"slots: 1\nx: [\n", ":3:"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char path[128], said[512];
        snprintf(path, sizeof path, "%s", realcli_file(&r, "bad.yaml", bad[i][0]));
        int code = test_shell(said, sizeof said, "timeout 20 %s worker --config %s --server 127.0.0.1:1 2>&1",
                              realserver_binary(), path);
        assert_int_not_equal(code, 0);
        assert_has(said, bad[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_payload_is_last_argument_and_standard_input),
        cmocka_unit_test(it_runs_only_where_there_is_a_handler),
        cmocka_unit_test(nobody_handles_it_and_why_says_so),
        cmocka_unit_test(a_long_payload_arrives_whole),
        cmocka_unit_test(a_file_that_makes_no_sense_is_refused_by_its_place),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
