/* settings_test.c: where a setting comes from, through the built program. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realserver.h"

static char output[65536];

/* Runs `reeve ARGS`; its exit code; both outputs are in `output`. */
static int run(const char *variables, const char *args) {
    return test_shell(output, sizeof output, "%s %s %s 2>&1", variables, realserver_binary(), args);
}

/* The line of `reeve config` that begins with the name. */
static void assert_line(const char *name, const char *value, const char *source) {
    char expected[128];
    snprintf(expected, sizeof expected, "%-28s %-24s %s\n", name, value, source);
    if (strstr(output, expected) == NULL) fail_msg("no line: %s", expected);
}

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void flag_beats_environment_beats_file_beats_standard(void **state) {
    (void)state;
    struct realserver s;
    char args[256], path[128];
    realserver_make(&s);
    snprintf(path, sizeof path, "%s/reeve.yaml", s.data);
    write_file(path, "# a comment\nlease_ms: 7000\nheartbeat_ms: 700\nlisten: 127.0.0.1:7171\njobs_max: 5\n");
    snprintf(args, sizeof args, "config --data %s --lease-ms 9000", s.data);
    assert_int_equal(run("REEVE_LEASE_MS=8000 REEVE_HEARTBEAT_MS=800", args), 0);
    assert_line("lease_ms", "9000", "flag");
    assert_line("heartbeat_ms", "800", "environment");
    assert_line("listen", "127.0.0.1:7171", "file");
    assert_line("jobs_max", "5", "file");
    assert_line("log_level", "info", "standard");
    snprintf(args, sizeof args, "config --data=%s --json", s.data);
    assert_int_equal(run("", args), 0);
    assert_non_null(strstr(output, "\"lease_ms\":{\"value\":7000,\"source\":\"file\"}"));
    realserver_remove(&s);
}

static void a_wrong_setting_is_refused_with_its_place(void **state) {
    (void)state;
    static const struct {
        const char *variables, *flags, *file, *expected;
    } wrong[] = {
        {"", "--lease-ms 5", "", "lease_ms: 5 is not between"},
        {"", "--lease-ms soon", "", "lease_ms: expected a number, found `soon`"},
        {"", "--no-such 5", "", "there is no flag --no-such"},
        {"", "--lease-ms", "", "--lease-ms needs a value"},
        {"", "lease-ms 5", "", "unexpected argument `lease-ms`: flags begin with two dashes"},
        {"REEVE_LEASE_MS=x", "", "", "REEVE_LEASE_MS: lease_ms: expected a number, found `x`"},
        {"", "", "lease_ms: 1\n", "reeve.yaml:1:11: lease_ms: 1 is not between"},
        {"", "", "listen: a\nno_such: 1\n", "reeve.yaml:2:10: there is no setting no_such"},
        {"", "", "lease_ms: [1]\n", "reeve.yaml:1:11: expected one value"},
        {"", "", "- a\n", "reeve.yaml:1:1: settings are lines of the form name: value"},
        {"", "", "a: b: c\n", "reeve.yaml:1:"},
        {"", "--config /nonexistent.yaml", "", "/nonexistent.yaml: No such file"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct realserver s;
        char args[256], path[128];
        realserver_make(&s);
        snprintf(path, sizeof path, "%s/reeve.yaml", s.data);
        if (wrong[i].file[0] != 0) write_file(path, wrong[i].file);
        snprintf(args, sizeof args, "config --data %s %s", s.data, wrong[i].flags);
        assert_int_not_equal(run(wrong[i].variables, args), 0);
        if (strstr(output, wrong[i].expected) == NULL) fail_msg("not said: %s\n%s", wrong[i].expected, output);
        realserver_remove(&s);
    }
}

static void a_value_of_another_type_keeps_the_server_from_starting(void **state) {
    (void)state;
    static const struct {
        const char *flags, *expected;
    } wrong[] = {
        {"--metrics-open maybe", "metrics_open: expected yes or no, found `maybe`"},
        {"--titan-dead-status GONE", "titan_dead_status: expected DEAD or FAILED, found `GONE`"},
        {"--log-level loud", "log_level: expected debug, info, warn or error, found `loud`"},
        {"--tls-require nobody,", "tls_require: expected nobody, workers or everyone, found `nobody,`"},
        {"--history-days soon", "history_days: expected a number, found `soon`"},
        {"--shard -1", "shard: -1 is not between 0 and 4294967295"},
        {"--connections-max 0", "connections_max: 0 is not between 1 and 100000"},
        {"--resp-tenant=", "resp_tenant: a name is missing"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct realserver s;
        char args[256];
        realserver_make(&s);
        snprintf(args, sizeof args, "serve --data %s --listen 127.0.0.1:0 %s", s.data, wrong[i].flags);
        assert_int_not_equal(run("timeout 20", args), 0);
        if (strstr(output, wrong[i].expected) == NULL) fail_msg("not said: %s\n%s", wrong[i].expected, output);
        snprintf(args, sizeof args, "config --data %s %s", s.data, wrong[i].flags);
        assert_int_equal(run("", args), 0); /* it shows what was set, also where no server would start */
        realserver_remove(&s);
    }
}

static void an_empty_file_sets_nothing(void **state) {
    (void)state;
    struct realserver s;
    char args[256], path[128];
    realserver_make(&s);
    snprintf(path, sizeof path, "%s/reeve.yaml", s.data);
    write_file(path, "");
    snprintf(args, sizeof args, "config --data %s", s.data);
    assert_int_equal(run("", args), 0);
    realserver_remove(&s);
}

static void a_server_does_not_listen_to_the_world(void **state) {
    (void)state;
    struct realserver s;
    char args[256];
    realserver_make(&s);
    snprintf(args, sizeof args, "serve --data %s --listen 0.0.0.0:0", s.data);
    assert_int_equal(run("timeout 20", args), 4);
    assert_non_null(strstr(output, "TLS"));
    snprintf(args, sizeof args, "serve --data %s --listen nonsense", s.data);
    assert_int_equal(run("timeout 20", args), 2);
    snprintf(args, sizeof args, "serve --data %s --log-level loud", s.data);
    assert_int_equal(run("timeout 20", args), 2);
    realserver_remove(&s);
}

static void a_second_server_is_kept_out(void **state) {
    (void)state;
    struct realserver s;
    char args[256];
    realserver_make(&s);
    realserver_start(&s);
    snprintf(args, sizeof args, "serve --data %s --listen 127.0.0.1:0", s.data);
    assert_int_equal(run("timeout 20", args), 6);
    realserver_remove(&s);
}

/* As on a full disk: what was accepted before must go on all the same. */
static void a_server_starts_though_its_address_cannot_be_written(void **state) {
    (void)state;
    struct realserver s;
    char path[128], args[256];
    realserver_make(&s);
    snprintf(path, sizeof path, "%s/address.tmp", s.data);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(args, sizeof args, "serve --data %s --listen 127.0.0.1:0", s.data);
    assert_int_equal(run("timeout -s TERM 3", args), 124); /* it ran until it was told to end */
    assert_non_null(strstr(output, "warn  address"));
    assert_non_null(strstr(output, "ready"));
    assert_int_equal(rmdir(path), 0);
    realserver_remove(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flag_beats_environment_beats_file_beats_standard),
        cmocka_unit_test(a_wrong_setting_is_refused_with_its_place),
        cmocka_unit_test(a_value_of_another_type_keeps_the_server_from_starting),
        cmocka_unit_test(an_empty_file_sets_nothing),
        cmocka_unit_test(a_server_does_not_listen_to_the_world),
        cmocka_unit_test(a_second_server_is_kept_out),
        cmocka_unit_test(a_server_starts_though_its_address_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
