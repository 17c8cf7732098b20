/* from_titan_test.c: every name of ours in docs/guides/from-titan.md exists (guidenames.h). */
#include "test.h"

#include <stdio.h>

#include "guidenames.h"
#include "realcli.h"

static struct realcli *up = &realcli_group;

static int setup(void **state) {
    static const char *const helps[] = {"help --man",  "up --help",  "serve --help", "worker --help", "scaler --help",
                                        "help deploy", "help stats", "help submit",  "config"};
    static const char *const files[] = {"docs/openapi.yaml",
                                        "docs/limits.md",
                                        "docs/formats/wire.md",
                                        "docs/guides/flows.md",
                                        "docs/guides/agents.md",
                                        "docs/guides/python.md",
                                        "docs/guides/titan.md",
                                        "src/core/model/job.h",
                                        "src/proto/http/asset.c",
                                        "docs/guides/worker.md",
                                        "tests/e2e/titan_test.c",
                                        "tests/e2e/titan_scenario_test.c",
                                        "tests/e2e/titan_fleet_test.c",
                                        "tests/e2e/titan_hand_test.c",
                                        "tests/e2e/service_test.c",
                                        "docs/adr/0089-titan-is-a-dialect.md"};
    realcli_group_setup(state);
    for (size_t i = 0; i < sizeof helps / sizeof helps[0]; i++) guidenames_know(realcli_ok(up, helps[i], NULL).out);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) guidenames_know_file(files[i]);
    return 0;
}

static void every_name_of_ours_exists(void **state) {
    (void)state;
    uint32_t missing = 0;
    assert_true(guidenames_check("docs/guides/from-titan.md", &missing) > 120);
    assert_int_equal(missing, 0);
}

/* What is not there is found to be missing: else the test above shows nothing. */
static void what_is_not_there_is_noticed(void **state) {
    (void)state;
    assert_false(guidenames_has("titan_opens"));
    assert_false(guidenames_has("--titan-masters"));
    assert_false(guidenames_has("reeve recover"));
    assert_true(guidenames_has("titan_dead_status"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_of_ours_exists),
        cmocka_unit_test(what_is_not_there_is_noticed),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, setup, realcli_group_teardown);
}
