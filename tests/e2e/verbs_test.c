/* verbs_test.c: what holds for every verb of the table: it is used by an end-to-end test, it has help, and wrong flags
 * or arguments are refused in words, with exit code 2, and change nothing. */
#include "test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "realcli.h"

static struct realcli *const r = &realcli_group;

/* The verb begins a text, or follows the name of the program in a command. */
static bool is_used(const char *source, const char *words) {
    char quoted[80], begins[80], follows[80], script[80];
    snprintf(quoted, sizeof quoted, "\"%s\"", words);
    snprintf(begins, sizeof begins, "\"%s ", words);
    snprintf(follows, sizeof follows, "%%s %s ", words);
    snprintf(script, sizeof script, "\"reeve %s ", words);
    return strstr(source, quoted) != NULL || strstr(source, begins) != NULL || strstr(source, follows) != NULL ||
           strstr(source, script) != NULL;
}

static char *read_all(const char *path) {
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    size_t len = (size_t)ftell(f);
    char *text = calloc(1, len + 1);
    rewind(f);
    assert_int_equal(fread(text, 1, len, f), len);
    fclose(f);
    return text;
}

static void every_verb_has_an_end_to_end_test(void **state) {
    (void)state;
    glob_t files;
    bool *used = calloc(cli_verb_count, sizeof *used);
    assert_int_equal(glob("tests/e2e/*_test.c", 0, NULL, &files), 0);
    assert_int_equal(glob("tests/lib/real*.c", GLOB_APPEND, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        if (strstr(files.gl_pathv[i], "verbs_test.c") != NULL) continue;
        char *text = read_all(files.gl_pathv[i]);
        for (uint32_t k = 0; k < cli_verb_count; k++) used[k] = used[k] || is_used(text, cli_verbs[k].words);
        free(text);
    }
    globfree(&files);
    uint32_t missing = 0;
    for (uint32_t k = 0; k < cli_verb_count; k++) {
        if (used[k]) continue;
        fprintf(stderr, "# no test uses `reeve %s`\n", cli_verbs[k].words);
        missing++;
    }
    free(used);
    assert_int_equal(missing, 0);
}

static void every_verb_has_help(void **state) {
    (void)state;
    for (uint32_t k = 0; k < cli_verb_count; k++) {
        char args[80];
        snprintf(args, sizeof args, "help %s", cli_verbs[k].words);
        struct ran ran = realcli_ok(r, args, NULL);
        if (strstr(ran.out, cli_verbs[k].words) == NULL) fail_msg("help %s: %s", cli_verbs[k].words, ran.out);
        snprintf(args, sizeof args, "%s --help", cli_verbs[k].words);
        assert_has(realcli_ok(r, args, NULL).out, "reeve");
    }
}

static void every_verb_refuses_a_flag_that_is_not_there(void **state) {
    (void)state;
    for (uint32_t k = 0; k < cli_verb_count; k++) {
        char args[80];
        snprintf(args, sizeof args, "%s --no-such-flag x y z", cli_verbs[k].words);
        struct ran ran = realcli_run(r, args, NULL, NULL);
        if (ran.exit_code != 2) fail_msg("%s: exit %d: %s%s", args, ran.exit_code, ran.out, ran.err);
        if (strstr(ran.err, "no-such-flag") == NULL) fail_msg("%s does not name it: %s", args, ran.err);
    }
}

static void every_verb_counts_its_arguments(void **state) {
    (void)state;
    for (uint32_t k = 0; k < cli_verb_count; k++) {
        const struct cli_verb *v = &cli_verbs[k];
        char args[128];
        if (v->outside != CLI_INSIDE) continue; /* those take flags only, and refuse them themselves */
        if (v->args_least > 0) {
            struct ran ran = realcli_run(r, v->words, NULL, NULL);
            if (ran.exit_code != 2) fail_msg("%s without arguments: exit %d: %s", v->words, ran.exit_code, ran.err);
        }
        if (v->args_most == 255) continue;
        snprintf(args, sizeof args, "%s a b c d e", v->words);
        struct ran ran = realcli_run(r, args, NULL, NULL);
        if (ran.exit_code != 2) fail_msg("%s: exit %d: %s%s", args, ran.exit_code, ran.out, ran.err);
    }
}

/* Verbs that name a flow or a job say that it is not there, and which one. */
static void what_is_not_there_is_said(void **state) {
    (void)state;
    static const char *const cases[] = {"show f9zzz",     "logs f9zzz/x",     "wait f9zzz",       "graph f9zzz",
                                        "why f9zzz/x",    "cancel f9zzz",     "retry f9zzz/x",    "discard f9zzz/x",
                                        "rerun f9zzz",    "pause f9zzz",      "resume f9zzz",     "approve -y f9zzz/x",
                                        "reject f9zzz/x", "complete f9zzz/x", "get f9zzz/x",      "get f9zzz/x y",
                                        "drain nobody",   "kv get nothing",   "token revoke nope"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ran ran = realcli_run(r, cases[i], NULL, NULL);
        if (ran.exit_code != 5) fail_msg("%s: exit %d: %s%s", cases[i], ran.exit_code, ran.out, ran.err);
        if (strlen(ran.err) < 10) fail_msg("%s says: %s", cases[i], ran.err);
    }
    assert_int_equal(realcli_ok(r, "run true", NULL).exit_code, 0); /* and nothing broke */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_has_an_end_to_end_test),
        cmocka_unit_test(every_verb_has_help),
        cmocka_unit_test(every_verb_refuses_a_flag_that_is_not_there),
        cmocka_unit_test(every_verb_counts_its_arguments),
        cmocka_unit_test(what_is_not_there_is_said),
    };
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
