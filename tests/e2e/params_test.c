/* params_test.c: where the values of parameters come from, in which order, and that every way in checks them with the
 * same words. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "realserver.h"
#include "webclient.h"

static struct realserver server;
static char said[1 << 16];

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

/* In a directory with these files; `run` is the program. */
static const char files[] =
    "cat >f.yaml <<'E'\n"
    "params:\n"
    "  day: {type: date, required: true, env: LOAD_DAY}\n"
    "  n: {type: integer, min: 1, max: 9, default: 3}\n"
    "  tag-name: {pattern: 'v[0-9]+', default: v1}\n"
    "  list: {type: list, default: [a]}\n"
    "jobs: {a: {run: [say, '${params.day}', '${params.n}', '${params.tag-name}', '${params.list}']}}\n"
    "E\n"
    "printf 'day: 2026-01-01\\nn: 4\\nlist: [x, {y: 1}]\\n' >v.yaml\n"
    "printf '{\"day\": \"2026-01-02\", \"n\": 5}' >v.json\n"
    "printf '# values\\nexport day=2026-01-03\\ntag-name=\"v7\" # seven\\n' >v.env; echo 2026-01-04 >day.txt\n";

static void in_shell(const char *commands, int code) {
    int got = test_shell(
        said, sizeof said,
        "R=%s; export REEVE_TOKEN=%s REEVE_SERVER=%s; mkdir -p %s/p; cd %s/p; run() { timeout 60 $R \"$@\"; }; "
        "plan() { run submit --dry-run f.yaml \"$@\" | tr -d '\\n' | sed 's/.*\"argv\"://; s/ //g'; }; %s %s 2>&1",
        realserver_binary(), server.admin, server.address, server.data, server.data, files, commands);
    if (got != code) fail_msg("%s: exit %d: %s", commands, got, said);
}

/* `plan` with these arguments runs `say` with these words. */
static void plan(const char *before, const char *args, const char *words) {
    char command[512];
    snprintf(command, sizeof command, "%s plan %s", before, args);
    in_shell(command, 0);
    if (strstr(said, words) == NULL) fail_msg("%s: found %s, expected %s", command, said, words);
}

static void refused(const char *args, const char *words) {
    char command[512];
    snprintf(command, sizeof command, "run submit --dry-run f.yaml %s", args);
    in_shell(command, 2);
    assert_has(said, words);
}

static void the_first_that_has_a_value_wins(void **state) {
    (void)state;
    plan("", "-p day=2026-02-01", "2026-02-01");
    plan("", "-p @v.yaml", "2026-01-01");
    plan("", "-p @v.yaml", "[\\\"x\\\",{\\\"y\\\":1}]");
    plan("", "-p @v.yaml -p @v.json", "2026-01-02");          /* of two files the later */
    plan("", "-p n=7 -p day=2026-02-01 -p @v.yaml", "\"7\""); /* an argument before a file, wherever it stands */
    plan("", "-p @v.env", "\"v7\"");
    plan("", "--params v.env -p n=2", "2026-01-03");
    plan("", "--params - <v.yaml", "2026-01-01");
    plan("", "-p day=@day.txt", "\"2026-01-04\"");
    plan("export REEVE_PARAM_DAY=2026-03-01;", "", "2026-03-01");
    plan("export REEVE_PARAM_TAG_NAME=v9 REEVE_PARAM_DAY=2026-03-01;", "", "\"v9\"");
    plan("export REEVE_PARAM_DAY=2026-03-01;", "-p @v.env", "2026-01-03");
    plan("export LOAD_DAY=2026-04-01;", "--allow-env", "2026-04-01");
    plan("export LOAD_DAY=2026-04-01 REEVE_PARAM_DAY=2026-03-01;", "--allow-env", "2026-03-01");
}

/* A flow file may come from somebody else. */
static void a_file_does_not_read_the_environment_unasked(void **state) {
    (void)state;
    in_shell("export LOAD_DAY=2026-04-01; run submit --dry-run f.yaml", 2);
    assert_has(said, "parameter `day` is required (a date like 2026-03-31): pass -p day=VALUE, or set LOAD_DAY and ");
}

static void what_is_wrong_is_told(void **state) {
    (void)state;
    refused("-p day=2026-02-30", "f.yaml:2:3: parameter `day` is `2026-02-30`; expected a date like 2026-03-31");
    refused("-p @v.yaml -p n=0", "f.yaml:3:3: parameter `n` is `0`; expected an integer from 1 to 9");
    refused("-p @v.yaml -p tag-name=7", "parameter `tag-name` is `7`; expected a text that fits `v[0-9]+`");
    refused("-p @v.yaml -p list=x", "parameter `list` is `x`; expected a list in JSON");
    refused("-p @v.yaml -p dya=1", "f.yaml: the flow has no parameter `dya`; did you mean `day`?");
    in_shell("printf 'day=1\\nnothing\\n' >bad.env; run submit --dry-run f.yaml -p @bad.env", 2);
    assert_has(said, "bad.env: line 2: expected NAME=VALUE, found `nothing`");
    in_shell("echo '[1]' >bad.yaml; run submit --dry-run f.yaml -p @bad.yaml", 2);
    assert_has(said, "bad.yaml: params: expected an object of at most 256 values");
    in_shell("run submit --dry-run f.yaml -p day=@nosuch", 5);
    assert_has(said, "nosuch: No such file or directory");
    in_shell("run rerun x --params v.env", 2);
    assert_has(said, "--param, --params and --wait need --new");
}

static void at_signs_can_be_written(void **state) {
    (void)state;
    in_shell("printf 'params: {who: }\\njobs: {a: {run: [say, \"${params.who}\"]}}\\n' >w.yaml; "
             "run submit --dry-run w.yaml -p who=@@ann; run submit --dry-run w.yaml -p who=a@b",
             0);
    assert_has(said, "\"@ann\"");
    assert_has(said, "\"a@b\"");
}

/* By HTTP, at a submit and again, and with the values that were kept. */
static void every_way_in_checks_the_same(void **state) {
    (void)state;
    static const char file[] = "{\"params\": {\"n\": {\"type\": \"integer\", \"max\": 9}, \"l\": {\"type\": \"list\", "
                               "\"default\": []}}, \"jobs\": {\"a\": {\"noop\": true, \"pool\": \"none\"}}}";
    struct webclient w;
    char path[160];
    webclient_open(&w, server.address, server.admin);
    struct webgot got = webclient_ask(&w, "POST", "/api/v1/flows?params=%7B%22n%22:12%7D", file);
    assert_int_equal(got.status, 400);
    assert_has(got.body, "parameter `n` is `12`; expected an integer, 9 or less");
    got = webclient_ask(&w, "POST", "/api/v1/flows?params=%7B%22n%22:%225%22,%22l%22:%5B1,2%5D%7D", file);
    assert_int_equal(got.status, 201);
    snprintf(path, sizeof path, "/api/v1/flows/%s/again", webgot_text(&w, &got, "flow"));
    got = webclient_ask(&w, "POST", path, "{\"params\": {\"l\": {\"a\": 1}}}");
    assert_int_equal(got.status, 400);
    assert_has(got.body, "expected a list in JSON");
    got = webclient_ask(&w, "POST", path, "{\"params\": {\"l\": [3]}}");
    assert_int_equal(got.status, 201);
    snprintf(path, sizeof path, "/api/v1/flows/%s", webgot_text(&w, &got, "flow"));
    got = webclient_ask(&w, "GET", path, NULL);
    assert_has(got.body, "\"params\":{\"n\":\"5\",\"l\":[3]}");
    got =
        webclient_ask(&w, "PUT", "/api/v1/schedules/s",
                      "{\"expression\": \"every 1h\", \"flow\": {\"spec\": {\"params\": {\"n\": {\"type\": \"date\"}}, "
                      "\"jobs\": {\"a\": {\"noop\": true}}}, \"params\": {\"n\": \"x\"}}}");
    assert_int_equal(got.status, 400);
    assert_has(got.body, "parameter `n` is `x`; expected a date like 2026-03-31");
    webclient_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_that_has_a_value_wins),
        cmocka_unit_test(a_file_does_not_read_the_environment_unasked),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(at_signs_can_be_written),
        cmocka_unit_test(every_way_in_checks_the_same),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
