/* from_orion_test.c: every name of ours in docs/guides/from-orion.md and pull-the-plug.md exists: flags, verbs, paths,
 * settings, events, states, records and numbers, looked up in what the program says of itself and in the documents that
 * are written from its tables. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guidenames.h"
#include "realcli.h"

static struct realcli *up = &realcli_group;

static int setup(void **state) {
    static const char *const helps[] = {"help --man",    "up --help",     "serve --help",
                                        "worker --help", "scaler --help", "config"};
    static const char *const files[] = {
        "docs/openapi.yaml",          "docs/limits.md",                "docs/formats/wire.md",
        "docs/formats/records.md",    "docs/guides/flows.md",          "src/proto/orion/orion.h",
        "src/proto/orion/orion.c",    "src/proto/orion/orion_event.h", "src/proto/orion/orion_event.c",
        "src/proto/http/http_out.c",  "src/core/model/job.h",          "docs/metrics.md"};
    realcli_group_setup(state);
    for (size_t i = 0; i < sizeof helps / sizeof helps[0]; i++) guidenames_know(realcli_ok(up, helps[i], NULL).out);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) guidenames_know_file(files[i]);
    guidenames_know(realcli_ok(up, "stats --json", NULL).out);
    return 0;
}

static void every_name_of_ours_exists(void **state) {
    (void)state;
    uint32_t missing = 0;
    assert_true(guidenames_check("docs/guides/from-orion.md", &missing) > 120);
    assert_int_equal(missing, 0);
}

/* What is not there is found to be missing: else the test above shows nothing. */
static void what_is_not_there_is_noticed(void **state) {
    (void)state;
    assert_false(guidenames_has("orion_ratio"));
    assert_false(guidenames_has("--orion-listens"));
    assert_false(guidenames_has("reeve recover"));
    assert_true(guidenames_has("orion_rate"));
}

static void the_numbers_of_the_plug_exist(void **state) {
    (void)state;
    static const char *const names[] = {"records", "attempts_open", "attempts_adopted", "attempts_again", "lost",
                                        "took_ms", "replayed_lsn",  "restart_in_ms",    "kills"};
    char *text = guidenames_read("docs/guides/pull-the-plug.md");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_true(guidenames_has(names[i]));
    }
    assert_non_null(strstr(text, "attempts_adopted"));
    for (const char *at = strstr(text, "`recovery_"); at != NULL; at = strstr(at + 1, "`recovery_")) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1, "`"), at + 1);
        if (!guidenames_has(name)) fail_msg("%s: there is no such number", name);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_of_ours_exists),
        cmocka_unit_test(what_is_not_there_is_noticed),
        cmocka_unit_test(the_numbers_of_the_plug_exist),
    };
    return cmocka_run_group_tests(tests, setup, realcli_group_teardown);
}
