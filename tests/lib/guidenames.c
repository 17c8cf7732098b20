/* guidenames.c: see guidenames.h. */
#include "guidenames.h"

#include "test.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)4 << 20)

static char known[BYTES_MAX]; /* all that there is, as text */
static size_t known_bytes;

void guidenames_know(const char *what) {
    size_t len = strlen(what);
    assert_true(known_bytes + len + 2 < sizeof known);
    memcpy(known + known_bytes, what, len);
    known_bytes += len;
    known[known_bytes++] = '\n';
    known[known_bytes] = 0;
}

char *guidenames_read(const char *path) {
    FILE *f = fopen(path, "re");
    if (f == NULL) fail_msg("%s is missing", path);
    char *all = calloc(1, BYTES_MAX);
    size_t len = fread(all, 1, BYTES_MAX - 1, f);
    all[len] = 0;
    fclose(f);
    return all;
}

void guidenames_know_file(const char *path) {
    char *all = guidenames_read(path);
    guidenames_know(all);
    free(all);
}

static bool is_part(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* As a word of its own. */
bool guidenames_has(const char *word) {
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
    if (!guidenames_has(args)) miss(words);
    const char *flag = strstr(words, " --");
    for (; flag != NULL; flag = strstr(flag + 1, " --")) {
        char one[64];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(flag + 1, " ="), flag + 1);
        if (!guidenames_has(one)) miss(one);
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
    if (guidenames_has(word)) return;
    if (word[0] == '-') { /* settings are told by their names */
        char setting[200];
        snprintf(setting, sizeof setting, "%s", word + 2);
        for (char *c = setting; *c != 0; c++)
            if (*c == '-') *c = '_';
        if (guidenames_has(setting)) return;
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

uint32_t guidenames_check(const char *path, uint32_t *ret_missing) {
    char *text = guidenames_read(path);
    uint32_t count = 0;
    missing = 0;
    for (const char *line = text, *end; *line != 0; line = *end != 0 ? end + 1 : end) {
        end = strchrnul(line, '\n');
        if (line[0] != '|') continue;
        const char *second = memmem(line, (size_t)(end - line), " | ", 3); /* behind the first column: the other's */
        if (second != NULL) count += check_names(second, end);
    }
    free(text);
    *ret_missing = missing;
    return count;
}
