/* complete.c: see complete.h. From a line to the place that the cursor is at; names are in complete_names.c. */
#include "complete.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "named.h"
#include "words.h"

void complete_offer(struct complete *x, struct slice text, struct slice note, bool is_part) {
    if (text.len < x->begun.len || x->choices.count == COMPLETE_MAX) return;
    if (x->begun.len > 0 && memcmp(text.ptr, x->begun.ptr, x->begun.len) != 0) return;
    for (uint32_t i = 0; i < x->choices.count; i++)
        if (slice_eq(((struct complete_choice *)vec_at(&x->choices, i))->text, text)) return;
    struct complete_choice *choice = vec_push(&x->choices);
    *choice = (struct complete_choice){arena_slice(x->arena, text), arena_slice(x->arena, note), is_part};
}

/* ---- from the table ---- */

/* The word of each verb that follows those typed before. */
static void offer_verbs(struct complete *x, char **before, int count) {
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        const char *at = cli_verbs[i].words;
        int matched = 0;
        for (; matched < count; matched++) {
            size_t len = strcspn(at, " ");
            if (strlen(before[matched]) != len || strncmp(before[matched], at, len) != 0 || at[len] == 0) break;
            at += len + 1;
        }
        size_t len = strcspn(at, " ");
        if (matched == count)
            complete_offer(x, slice_of(at, len), slice_str(at[len] == 0 ? cli_verbs[i].text : ""), false);
    }
}

static const struct cli_flag *flag_find(const struct cli_verb *verb, const char *word) {
    const struct cli_flag *lists[] = {verb->flags, cli_common_flags};
    for (size_t i = 0; i < 2; i++)
        for (const struct cli_flag *f = lists[i]; f != NULL && f->name != NULL; f++) {
            bool is_long = strncmp(word, "--", 2) == 0 && strcmp(word + 2, f->name) == 0;
            if (is_long || (word[0] == '-' && f->letter != 0 && word[1] == f->letter && word[2] == 0)) return f;
        }
    return NULL;
}

static void offer_flags(struct complete *x, const struct cli_verb *verb) {
    const struct cli_flag *lists[] = {verb->flags, cli_common_flags};
    char name[64];
    for (size_t i = 0; i < 2; i++)
        for (const struct cli_flag *f = lists[i]; f != NULL && f->name != NULL; f++) {
            snprintf(name, sizeof name, "--%s", f->name);
            complete_offer(x, slice_str(name), slice_str(f->text), false);
        }
}

/* Verbs that read their own flags have them in the words for people: "[--data DIR] [--detach]". */
static void offer_own_flags(struct complete *x, const struct cli_verb *verb) {
    for (const char *at = verb->args; (at = strstr(at, "--")) != NULL;) {
        size_t len = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
        if (len > 2) complete_offer(x, slice_of(at, len), (struct slice){0}, false);
        at += len;
    }
}

/* ---- from the machine ---- */

void complete_files(struct complete *x) {
    char pattern[1024];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%.*s*", SLICE_FMT(x->begun));
    if (glob(pattern, GLOB_MARK, NULL, &found) != 0) return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct slice path = slice_str(found.gl_pathv[i]);
        complete_offer(x, path, (struct slice){0}, path.len > 0 && path.ptr[path.len - 1] == '/');
    }
    globfree(&found);
}

/* ---- the line ---- */

struct complete_position {
    const struct cli_verb *verb;
    const struct cli_flag *flag; /* whose value is being typed; NULL = none */
    int argument;                /* else which argument */
    bool only_args;              /* after `--`, or behind the command of `run` */
};

/* What a whole word before the cursor is. In lines of other shells the flags that name a server are taken over. */
static void pass_word(struct complete *x, struct complete_position *p, const char *word, bool takes_place) {
    bool is_long = strncmp(word, "--", 2) == 0;
    const char *equals = is_long ? strchr(word, '=') : NULL;
    const struct cli_flag *given = p->flag;
    if (p->flag != NULL) {
        p->flag = NULL;
    } else if (!p->only_args && word[0] == '-' && word[1] != 0) {
        char name[64];
        p->only_args = strcmp(word, "--") == 0;
        snprintf(name, sizeof name, "%.*s", equals != NULL ? (int)(equals - word) : (int)strlen(word), word);
        const struct cli_flag *f = flag_find(p->verb, name);
        if (f == NULL || f->value == NULL) return;
        if (equals == NULL) p->flag = f;
        given = f;
        word = equals != NULL ? equals + 1 : NULL;
    } else {
        p->argument++;
        p->only_args |= strcmp(p->verb->words, "run") == 0;
    }
    bool is_place = given >= cli_common_flags && given < cli_common_flags + CLI_PLACE_FLAGS;
    if (!takes_place || !is_place || word == NULL || x->c->given_count == CLI_GIVEN_MAX) return;
    x->c->given[x->c->given_count].flag = given;
    x->c->given[x->c->given_count++].value = word;
}

/* `--state=fa`: what stands behind the sign is completed, and what stands before it stays. */
static void complete_value(struct complete *x, const struct complete_position *p) {
    const uint8_t *equals = memchr(x->begun.ptr, '=', x->begun.len);
    size_t before = (size_t)(equals - x->begun.ptr);
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)before, (const char *)x->begun.ptr);
    const struct cli_flag *flag = flag_find(p->verb, name);
    if (flag == NULL || flag->value == NULL) return;
    struct slice prefix = slice_of(x->begun.ptr, before + 1);
    x->begun = slice_of(equals + 1, x->begun.len - before - 1);
    complete_names(x, p->verb, flag, slice_str(flag->value));
    for (uint32_t i = 0; i < x->choices.count; i++) {
        struct complete_choice *choice = vec_at(&x->choices, i);
        struct slice *text = &choice->text;
        uint8_t *both = arena_alloc(x->arena, prefix.len + text->len + 1);
        memcpy(both, prefix.ptr, prefix.len);
        if (text->len > 0) memcpy(both + prefix.len, text->ptr, text->len);
        *text = slice_of(both, prefix.len + text->len);
    }
    x->begun = slice_of(prefix.ptr, prefix.len + x->begun.len);
}

static void complete_at(struct complete *x, const struct complete_position *p) {
    bool is_flag = !p->only_args && x->begun.len > 0 && x->begun.ptr[0] == '-';
    if (p->flag != NULL) {
        complete_names(x, p->verb, p->flag, slice_str(p->flag->value));
    } else if (is_flag && memchr(x->begun.ptr, '=', x->begun.len) != NULL) {
        complete_value(x, p);
    } else if (is_flag && p->verb->outside == CLI_INSIDE) {
        offer_flags(x, p->verb);
    } else if (is_flag) {
        offer_own_flags(x, p->verb);
    } else if (p->verb->outside != CLI_INSIDE) {
        x->wants_files = true;
    } else { /* an argument that may be left out, or the one behind it */
        struct slice place = named_place(p->verb, p->argument, p->argument + 1);
        struct slice other = named_place(p->verb, p->argument, UINT8_MAX);
        complete_names(x, p->verb, NULL, place);
        if (!slice_eq(place, other)) complete_names(x, p->verb, NULL, other);
    }
}

void complete_line(struct complete *x, struct cli *c, struct arena *arena, struct slice line, bool takes_place) {
    struct words w;
    *x = (struct complete){.c = c, .arena = arena, .from = line.len};
    vec_init(&x->choices, sizeof(struct complete_choice));
    words_split(&w, arena, line);
    int before = w.count - w.is_open, verb_words = 0; /* whole words */
    char **words = w.word;
    if (before > 0 && (takes_place || strcmp(words[0], "reeve") == 0)) words++, before--;
    if (w.is_open) {
        x->begun = slice_str(w.word[w.count - 1]);
        x->from = w.last_at;
    }
    struct complete_position p = {.verb = cli_verb_find(before, words, &verb_words)};
    offer_verbs(x, words, before);
    if (before == 0 && !takes_place) complete_offer(x, SLICE("exit"), SLICE("end the shell"), false);
    if (p.verb == NULL) return;
    for (int i = verb_words; i < before; i++) pass_word(x, &p, words[i], takes_place);
    complete_at(x, &p);
}

void complete_fini(struct complete *x) {
    vec_fini(&x->choices);
}

struct slice complete_common(const struct complete *x) {
    struct slice common = {0};
    for (uint32_t i = 0; i < x->choices.count; i++) {
        struct slice text = ((const struct complete_choice *)vec_at(&x->choices, i))->text;
        if (i == 0) common = text;
        size_t len = 0;
        while (len < common.len && len < text.len && common.ptr[len] == text.ptr[len]) len++;
        common.len = len;
    }
    return common;
}
