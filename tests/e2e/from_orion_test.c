/* from_orion_test.c: every name of ours in docs/guides/from-orion.md and pull-the-plug.md exists: flags, verbs, paths,
 * settings, events, states, records and numbers, looked up in what the program says of itself and in the documents that
 * are written from its tables. */
#include "test.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "realcli.h"
#include "webclient.h"

#define BYTES_MAX ((size_t)4 << 20)

static struct realcli *up = &realcli_group;
static char known[BYTES_MAX]; /* all that there is, as text */
static size_t known_bytes;
static char *text; /* of the guide */

static void know(const char *what) {
    size_t len = strlen(what);
    assert_true(known_bytes + len + 2 < sizeof known);
    memcpy(known + known_bytes, what, len);
    known_bytes += len;
    known[known_bytes++] = '\n';
    known[known_bytes] = 0;
}

static char *file_read(const char *path) {
    FILE *f = fopen(path, "re");
    if (f == NULL) fail_msg("%s is missing", path);
    char *all = calloc(1, BYTES_MAX);
    size_t len = fread(all, 1, BYTES_MAX - 1, f);
    all[len] = 0;
    fclose(f);
    return all;
}

static void know_file(const char *path) {
    char *all = file_read(path);
    know(all);
    free(all);
}

static int setup(void **state) {
    static const char *const helps[] = {"help --man",    "up --help",     "serve --help",
                                        "worker --help", "scaler --help", "config"};
    static const char *const files[] = {"docs/openapi.yaml",       "docs/limits.md",          "docs/formats/wire.md",
                                        "docs/formats/records.md", "docs/guides/flows.md",    "src/proto/orion.h",
                                        "src/proto/orion.c",       "src/proto/orion_event.h", "src/core/job.h",
                                        "src/proto/orion_event.c", "src/proto/http_out.c",    "docs/metrics.md"};
    realcli_group_setup(state);
    for (size_t i = 0; i < sizeof helps / sizeof helps[0]; i++) know(realcli_ok(up, helps[i], NULL).out);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) know_file(files[i]);
    know(realcli_ok(up, "stats --json", NULL).out);
    return 0;
}

static bool is_part(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* As a word of its own. */
static bool is_known(const char *word) {
    size_t len = strlen(word);
    for (const char *at = known; (at = strcasestr(at, word)) != NULL; at++)
        if ((at == known || !is_part(at[-1])) && !is_part(at[len])) return true;
    return false;
}

/* ---- kinds of names ---- */

static uint32_t missing;

/* All of them are told, not only the first. */
static void miss(const char *name) {
    missing++;
    print_error("`%s`: there is no such thing\n", name);
}

static void check_verb(const char *words) {
    char verb[64];
    assert_int_equal(sscanf(words, "reeve %63s", verb), 1);
    char args[80];
    if (strncmp(words, "reeve journal", 13) == 0)
        snprintf(args, sizeof args, "%s", words);
    else
        snprintf(args, sizeof args, "reeve %s", verb);
    if (!is_known(args)) miss(words);
    const char *flag = strstr(words, " --");
    for (; flag != NULL; flag = strstr(flag + 1, " --")) {
        char one[64];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(flag + 1, " ="), flag + 1);
        if (!is_known(one)) miss(one);
    }
}

static void check_route(const char *words) {
    const char *path = strchr(words, ' ') + 1;
    char verb[16], as_yaml[160], as_table[160];
    snprintf(verb, sizeof verb, "%.*s", (int)(path - words - 1), words);
    snprintf(as_yaml, sizeof as_yaml, "\n  %s:\n", path);
    snprintf(as_table, sizeof as_table, "\"%s\"", path);
    const char *at = strstr(known, as_yaml);
    if (at == NULL) {
        if (strstr(known, as_table) == NULL) miss(words);
        return;
    }
    for (char *c = verb; *c != 0; c++) *c = (char)tolower((unsigned char)*c);
    char method[24];
    snprintf(method, sizeof method, "\n    %s:", verb);
    const char *end = strstr(at + 1, "\n  /");
    const char *found = strstr(at, method);
    if (found == NULL || (end != NULL && found > end)) miss(words);
}

static void check_name(const char *name) {
    static const char *const verbs[] = {"GET /", "POST /", "PUT /", "DELETE /"};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strncmp(name, verbs[i], strlen(verbs[i])) == 0) {
            check_route(name);
            return;
        }
    if (strncmp(name, "reeve ", 6) == 0) {
        check_verb(name);
        return;
    }
    if (name[0] == '/' || strncmp(name, "f11", 3) == 0) return; /* a page; an example */
    char word[200];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(name, " ="), name);
    for (char *c = word; word[0] == '-' && c[0] != 0; c++)
        if (c > word + 1 && *c == '_') *c = '-';
    if (is_known(word)) return;
    if (word[0] == '-') { /* settings are told by their names */
        char setting[200];
        snprintf(setting, sizeof setting, "%s", word + 2);
        for (char *c = setting; *c != 0; c++)
            if (*c == '-') *c = '_';
        if (is_known(setting)) return;
    }
    miss(name);
}

/* Every name between backquotes in this piece of a line. */
static uint32_t check_names(const char *from, const char *end) {
    uint32_t count = 0;
    for (const char *at = from; (at = memchr(at, '`', (size_t)(end - at))) != NULL;) {
        const char *close = memchr(at + 1, '`', (size_t)(end - at - 1));
        if (close == NULL) break;
        char name[200];
        snprintf(name, sizeof name, "%.*s", (int)(close - at - 1), at + 1);
        check_name(name);
        count++;
        at = close + 1;
        if (at >= end) break;
    }
    return count;
}

static void every_name_of_ours_exists(void **state) {
    (void)state;
    uint32_t count = 0;
    text = file_read("docs/guides/from-orion.md");
    for (const char *line = text, *end; *line != 0; line = *end != 0 ? end + 1 : end) {
        end = strchrnul(line, '\n');
        if (line[0] != '|') continue;
        const char *second = memmem(line, (size_t)(end - line), " | ", 3); /* behind the first column, Orion's */
        if (second != NULL) count += check_names(second, end);
    }
    free(text);
    assert_true(count > 120);
    assert_int_equal(missing, 0);
}

/* What is not there is found to be missing: else the test above shows nothing. */
static void what_is_not_there_is_noticed(void **state) {
    (void)state;
    assert_false(is_known("orion_ratio"));
    assert_false(is_known("--orion-listens"));
    assert_false(is_known("reeve recover"));
    assert_true(is_known("orion_rate"));
}

static void the_numbers_of_the_plug_exist(void **state) {
    (void)state;
    static const char *const names[] = {"records", "attempts_open", "attempts_adopted", "attempts_again", "lost",
                                        "took_ms", "replayed_lsn",  "restart_in_ms",    "kills"};
    text = file_read("docs/guides/pull-the-plug.md");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_true(is_known(names[i]));
    }
    assert_non_null(strstr(text, "attempts_adopted"));
    for (const char *at = strstr(text, "`recovery_"); at != NULL; at = strstr(at + 1, "`recovery_")) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1, "`"), at + 1);
        if (!is_known(name)) fail_msg("%s: there is no such number", name);
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
