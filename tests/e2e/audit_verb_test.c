/* audit_verb_test.c: `reeve audit`: who did what, chosen by flags; for programs the body of HTTP. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "realcli.h"

static struct realcli *const r = &realcli_group;
static char flow[32];

static int setup(void **state) {
    int code = realcli_group_setup(state);
    (void)realcli_ok(r, "limit key gpu 3", NULL);
    snprintf(flow, sizeof flow, "%s", realcli_submit(r, "name: audited\njobs: {a: {noop: true}}", ""));
    (void)realcli_ok(r, realcli_at("wait -q @", flow), NULL);
    (void)realcli_ok(r, "limit key gpu 4", NULL);
    return code;
}

static uint32_t lines_of(const char *text) {
    uint32_t lines = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++) lines++;
    return lines;
}

static void the_newest_comes_first(void **state) {
    (void)state;
    const char *out = realcli_ok(r, "audit ls", NULL).out;
    assert_has(out, "WHO");
    const char *newer = strstr(out, "width=4"), *older = strstr(out, "width=3");
    assert_true(newer != NULL && older != NULL && newer < older);
}

/* What the server did of itself is left out unless it is asked for. */
static void people_by_default_and_all_when_asked(void **state) {
    (void)state;
    uint32_t people = lines_of(realcli_ok(r, "audit", NULL).out),
             all = lines_of(realcli_ok(r, "audit --all", NULL).out);
    assert_true(all > people);
}

static void flags_choose(void **state) {
    (void)state;
    assert_int_equal(lines_of(realcli_ok(r, "audit --type limit", NULL).out), 3);
    assert_int_equal(lines_of(realcli_ok(r, "audit --type limit --limit 1", NULL).out), 2);
    const char *of_flow = realcli_ok(r, realcli_at("audit --object @", flow), NULL).out;
    assert_has(of_flow, "audited");
    assert_null(strstr(of_flow, "gpu"));
    assert_has(realcli_ok(r, "audit --principal nobody", NULL).out, "no records; --all includes");
    assert_has(realcli_ok(r, "audit --until 1d", NULL).out, "no records");
    assert_true(lines_of(realcli_ok(r, "audit --since 1d", NULL).out) > 2);
}

static void mistakes_are_refused(void **state) {
    (void)state;
    realcli_refused(r, "audit --type nosuch", 2, "there is no record kind `nosuch`");
    realcli_refused(r, "audit --since yesterday", 2, "--since: expected a duration");
    realcli_refused(r, "audit --limit 0", 2, "--limit: expected a number from 1");
    realcli_refused(r, "audit --object f9999", 5, "no flow f9999");
}

static void programs_get_the_body_of_http(void **state) {
    (void)state;
    struct ran ran = realcli_ok(r, "audit --type limit --json", NULL);
    assert_int_equal(strncmp(ran.out, "{\"records\":[{\"lsn\":", 19), 0);
    assert_int_equal(lines_of(ran.out), 1);
    assert_int_equal(lines_of(realcli_ok(r, "audit --type limit -o jsonl", NULL).out), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_comes_first),
        cmocka_unit_test(people_by_default_and_all_when_asked),
        cmocka_unit_test(flags_choose),
        cmocka_unit_test(mistakes_are_refused),
        cmocka_unit_test(programs_get_the_body_of_http),
    };
    return cmocka_run_group_tests(tests, setup, realcli_group_teardown);
}
