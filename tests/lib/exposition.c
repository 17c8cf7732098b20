/* exposition.c: see exposition.h. */
#include "exposition.h"

#include "test.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct family {
    char name[EXPOSITION_NAME_MAX], type[16];
    bool has_help, has_sum, has_count;
    double last_bound, below, inf;
};

static size_t name_len(const char *at) {
    size_t n = 0;
    while (isalpha((unsigned char)at[n]) || at[n] == '_' || at[n] == ':' || (n > 0 && isdigit((unsigned char)at[n])))
        n++;
    return n;
}

/* {name="text",…}; how long it is. */
static size_t labels_len(const char *at, const char *line) {
    size_t n = 0;
    if (at[0] != '{') return 0;
    do {
        n++;
        size_t len = name_len(at + n);
        if (len == 0 || at[n + len] != '=' || at[n + len + 1] != '"') fail_msg("labels of: %s", line);
        for (n += len + 2; at[n] != '"'; n++)
            if (at[n] == 0 || at[n] == '\\') fail_msg("a label without end in: %s", line);
        n++;
    } while (at[n] == ',');
    if (at[n] != '}') fail_msg("labels without end in: %s", line);
    return n + 1;
}

static void end_family(const struct family *f) {
    if (f->name[0] == 0) return;
    if (!f->has_help) fail_msg("%s has no HELP", f->name);
    if (strcmp(f->type, "histogram") == 0 && (!f->has_sum || !f->has_count || f->last_bound < 1e300))
        fail_msg("%s is no whole histogram", f->name);
}

static void take_comment(struct family *f, const char *line) {
    char word[8], name[EXPOSITION_NAME_MAX];
    int used = 0;
    if (sscanf(line, "# %7s %199s %n", word, name, &used) != 2 || name_len(name) != strlen(name) || line[used] == 0)
        fail_msg("a comment of no kind: %s", line);
    if (strcmp(word, "HELP") == 0) {
        end_family(f);
        *f = (struct family){.has_help = true, .last_bound = -1};
        snprintf(f->name, sizeof f->name, "%s", name);
        return;
    }
    assert_string_equal(word, "TYPE");
    assert_string_equal(name, f->name); /* right behind its HELP */
    if (strcmp(line + used, "gauge") != 0 && strcmp(line + used, "counter") != 0 &&
        strcmp(line + used, "histogram") != 0)
        fail_msg("a type of no kind: %s", line);
    snprintf(f->type, sizeof f->type, "%s", line + used);
}

static void take_histogram(struct family *f, const struct exposed *e, const char *rest) {
    if (strncmp(rest, "_bucket{le=\"", 12) == 0) {
        double bound = strncmp(rest + 12, "+Inf", 4) == 0 ? 1e301 : strtod(rest + 12, NULL);
        if (bound <= f->last_bound || e->value < f->below) fail_msg("%s: bounds or counts fall", e->series);
        f->last_bound = bound;
        f->below = f->inf = e->value;
    } else if (strcmp(rest, "_sum") == 0) {
        f->has_sum = true;
    } else {
        assert_string_equal(rest, "_count");
        f->has_count = true;
        if (e->value < f->inf || e->value > f->inf) fail_msg("%s is not that of +Inf", e->series);
    }
}

static void take_sample(struct exposition *x, struct family *f, const char *line) {
    size_t len = name_len(line), all = len + labels_len(line + len, line);
    char *end = NULL;
    struct exposed e = {.value = strtod(line + all + 1, &end)};
    if (len == 0 || line[all] != ' ' || *end != 0 || !isdigit((unsigned char)line[all + 1]))
        fail_msg("no sample: %s", line);
    assert_true(all < sizeof e.series && f->type[0] != 0);
    memcpy(e.series, line, all);
    snprintf(e.family, sizeof e.family, "%s", f->name);
    snprintf(e.type, sizeof e.type, "%s", f->type);
    size_t name = strlen(f->name);
    if (strncmp(line, f->name, name) != 0) fail_msg("%s stands under %s", line, f->name);
    if (strcmp(f->type, "histogram") == 0)
        take_histogram(f, &e, e.series + name);
    else
        assert_int_equal(len, name);
    if (exposition_find(x, e.series) != NULL) fail_msg("%s is there twice", e.series);
    x->all = realloc(x->all, (x->count + 1) * sizeof *x->all);
    x->all[x->count++] = e;
}

void exposition_read(struct exposition *x, const char *text) {
    struct family f = {.name = ""};
    *x = (struct exposition){0};
    while (*text != 0) {
        char line[1024];
        const char *end = strchr(text, '\n');
        if (end == NULL || (size_t)(end - text) >= sizeof line) fail_msg("a line without end: %.80s", text);
        snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        if (line[0] == '#')
            take_comment(&f, line);
        else
            take_sample(x, &f, line);
        text = end + 1;
    }
    end_family(&f);
    assert_true(x->count > 0);
}

void exposition_free(struct exposition *x) {
    free(x->all);
}

const struct exposed *exposition_find(const struct exposition *x, const char *series) {
    for (uint32_t i = 0; i < x->count; i++)
        if (strcmp(x->all[i].series, series) == 0) return &x->all[i];
    return NULL;
}

double exposition_value(const struct exposition *x, const char *series) {
    const struct exposed *e = exposition_find(x, series);
    if (e == NULL) fail_msg("there is no %s", series);
    return e->value;
}
