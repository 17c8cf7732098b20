/* bench_test.c: every workload of `reeve bench`, very small: it runs, its journal has what was acknowledged (else it
 * fails by itself), its lines have the form that programs read, and nothing is left behind. How fast it was is not
 * looked at: that is for a quiet machine. */
#include "test.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "realcli.h"
#include "realserver.h"

static struct realcli r;

static int setup(void **state) {
    (void)state;
    realcli_make(&r);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", r.data);
    return system(command);
}

/* Points behind `part`, which must be next. */
static const char *expect(const char *at, const char *part, const char *line) {
    if (strncmp(at, part, strlen(part)) != 0) fail_msg("`%s` is expected at `%s` in: %s", part, at, line);
    return at + strlen(part);
}

static const char *expect_number(const char *at, bool may_be_null, bool must_be_positive, const char *line) {
    char *end = NULL;
    if (may_be_null && strncmp(at, "null", 4) == 0) return at + 4;
    double v = strtod(at, &end);
    if (end == at || (must_be_positive && v <= 0)) fail_msg("a number is expected at `%s` in: %s", at, line);
    return end;
}

/* Those that submit or run jobs say how many: what a sync is shared by. */
static bool has_operations(const char *workload) {
    static const char *const without[] = {"W0", "W9", "W10", "W11", "W14"};
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        if (strcmp(workload, without[i]) == 0) return false;
    return true;
}

/* Workload, perhaps shape, value, unit, rounds with the least and the most, floor, ratio, syncs, operations, target,
 * met, version, settings; in this order. */
static void line_is_well_formed(const char *line, const char *workload, bool positive) {
    char head[64];
    snprintf(head, sizeof head, "{\"workload\":\"%s\",", workload);
    const char *at = expect(line, head, line);
    if (strncmp(at, "\"shape\":\"", 9) == 0) at = expect(strchr(at + 9, '"'), "\",", line);
    at = expect_number(expect(at, "\"value\":", line), false, positive, line);
    at = expect(at, ",\"unit\":\"", line);
    at = strchr(at, '"');
    assert_non_null(at);
    at = expect(at, "\",\"rounds\":1", line);
    at = expect_number(expect(at, ",\"min\":", line), false, positive, line);
    at = expect_number(expect(at, ",\"max\":", line), false, positive, line);
    at = expect_number(expect(at, ",\"floor\":", line), true, true, line);
    at = expect_number(expect(at, ",\"ratio\":", line), true, true, line);
    at = expect_number(expect(at, ",\"syncs\":", line), false, false, line);
    bool is_floor = strstr(line, "\"shape\":\"the same hops, bare\"") != NULL; /* shown beside W4, no jobs of ours */
    at = expect_number(expect(at, ",\"operations\":", line), false, has_operations(workload) && !is_floor, line);
    at = expect_number(expect(at, ",\"target\":", line), true, true, line);
    at = expect(at, ",\"met\":", line);
    at += strcspn(at, ",");
    at = expect(at, ",\"version\":\"", line);
    at += strcspn(at, "\"");
    at = expect_number(expect(at, "\",\"settings\":{\"payload_bytes\":", line), false, false, line);
    at = expect_number(expect(at, ",\"connections\":", line), false, true, line);
    at = expect_number(expect(at, ",\"in_flight\":", line), false, true, line);
    if (strstr(at, ",\"sync\":\"") == NULL || strcmp(line + strlen(line) - 2, "}}") != 0)
        fail_msg("settings are expected at the end of: %s", line);
}

static void nothing_is_left(void) {
    DIR *d = opendir(r.data);
    assert_non_null(d);
    for (struct dirent *f = readdir(d); f != NULL; f = readdir(d))
        if (f->d_name[0] != '.') fail_msg("%s was left behind", f->d_name);
    closedir(d);
}

static void works(const char *workload, int lines) {
    char args[64];
    int count = 0;
    snprintf(args, sizeof args, "bench --quick --json %s", workload);
    struct ran ran = realcli_ok(&r, args, NULL);
    for (char *line = ran.out; *line != 0; count++) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        *end = 0;
        line_is_well_formed(line, workload,
                            strcmp(workload, "W10") != 0); /* there nothing may happen, and that is good */
        line = end + 1;
    }
    assert_int_equal(count, lines);
    nothing_is_left();
}

static void floors(void **state) {
    (void)state;
    works("W0", 5);
}

static void submits(void **state) {
    (void)state;
    works("W1", 1);
    works("W2", 1);
    works("W3", 2);
}

static void runs(void **state) {
    (void)state;
    works("W4", 2);
    works("W5", 1);
    works("W6", 1);
    works("W7", 2);
    works("W8", 1);
    works("W11", 2);
}

static void restarts(void **state) {
    (void)state;
    works("W9", 2);
}

static void memory(void **state) {
    (void)state;
    works("W10", 9);
    works("W13", 1);
    works("W14", 1);
}

/* bench/titan_bench.py fails by itself when a job did not run, ran twice, or ran another's script. */
static void titans_workload_has_right_results(void **state) {
    (void)state;
    char said[4096];
    const char *slash = strrchr(realserver_binary(), '/');
    int code = test_shell(
        said, sizeof said,
        "timeout 180 python3 -B bench/titan_bench.py --rounds 1 --jobs 8 --chain 3 --build %.*s --data %s 2>&1",
        (int)(slash - realserver_binary()), realserver_binary(), r.data);
    if (code != 0) fail_msg("%s", said);
    assert_has(said, "singles ");
    assert_has(said, "flow ");
    assert_has(said, "chain ");
    nothing_is_left();
}

static void ended_early_it_leaves_nothing(void **state) {
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "timeout -s TERM 2 %s bench W5 --data %s", realserver_binary(), r.data);
    assert_int_not_equal(system(command), 0);
    nothing_is_left();
}

/* Of several rounds the middle one counts; how far they lie apart is said. */
static void rounds_have_a_spread(void **state) {
    (void)state;
    double value = 0, least = 0, most = 0;
    char unit[8];
    struct ran ran = realcli_ok(&r, "bench --quick --rounds 3 --json W1", NULL);
    const char *at = strstr(ran.out, "\"value\":");
    assert_non_null(at);
    int got = sscanf(at, "\"value\":%lf,\"unit\":\"%7[^\"]\",\"rounds\":3,\"min\":%lf,\"max\":%lf", &value, unit,
                     &least, &most);
    assert_int_equal(got, 4);
    assert_true(least <= value && value <= most && least < most);
    ran = realcli_ok(&r, "bench --quick --rounds 2 W1", NULL);
    assert_non_null(strstr(ran.out, ".."));
}

static void settings_are_listed(void **state) {
    (void)state;
    struct ran ran = realcli_ok(&r, "bench --list", NULL);
    assert_non_null(strstr(ran.out, "payload 200 bytes, connections 64, in flight on each 1"));
    assert_non_null(strstr(ran.out, "synced before each answer"));
    ran = realcli_ok(&r, "bench --list --json", NULL);
    int lines = 0;
    for (const char *at = ran.out; (at = strstr(at, "{\"workload\":\"W")) != NULL; at++) lines++;
    assert_int_equal(lines, 14);
    assert_non_null(strstr(ran.out, "\"workers\":2,\"slots\":1000"));
}

static void people_get_a_table(void **state) {
    (void)state;
    struct ran ran = realcli_ok(&r, "bench --quick w1", NULL); /* names in any case */
    assert_non_null(strstr(ran.out, "rounds: 1, disk: "));
    assert_non_null(strstr(ran.out, "target >= "));
    assert_non_null(strstr(ran.out, " syncs"));
    ran = realcli_ok(&r, "bench --help", NULL);
    assert_non_null(strstr(ran.out, "W10"));
}

static void bad_requests_are_refused(void **state) {
    (void)state;
    realcli_refused(&r, "bench W99", 2, "there is no workload `W99`");
    realcli_refused(&r, "bench --rounds 0", 2, "a number from 1 to 9");
    realcli_refused(&r, "bench --rounds", 2, "a value is missing");
    realcli_refused(&r, "bench --fast", 2, "there is no flag --fast");
    realcli_refused(&r, "bench W0 --data /no/such/place", 5, "/no/such/place: No such file");
    nothing_is_left();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floors),
        cmocka_unit_test(submits),
        cmocka_unit_test(runs),
        cmocka_unit_test(restarts),
        cmocka_unit_test(memory),
        cmocka_unit_test(titans_workload_has_right_results),
        cmocka_unit_test(ended_early_it_leaves_nothing),
        cmocka_unit_test(rounds_have_a_spread),
        cmocka_unit_test(settings_are_listed),
        cmocka_unit_test(people_get_a_table),
        cmocka_unit_test(bad_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
