/* words.c: see words.h. */
#include "words.h"

#include <ctype.h>

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t';
}

/* One word from `at` on; returns where it ends. */
static size_t take(struct words *w, struct arena *a, struct slice line, size_t at) {
    char *out = arena_alloc(a, line.len - at + 1);
    size_t len = 0;
    uint8_t quote = 0;
    for (; at < line.len && (quote != 0 || !is_blank(line.ptr[at])); at++) {
        uint8_t c = line.ptr[at];
        if (c == '\\' && quote != '\'' && at + 1 < line.len)
            out[len++] = (char)line.ptr[++at];
        else if (quote != 0 && c == quote)
            quote = 0;
        else if (quote == 0 && (c == '\'' || c == '"'))
            quote = c;
        else
            out[len++] = (char)c;
    }
    if (quote != 0) w->wrong = "missing closing quote";
    w->word[w->count++] = out;
    w->word[w->count] = NULL;
    return at;
}

void words_split(struct words *w, struct arena *a, struct slice line) {
    size_t at = 0;
    *w = (struct words){.last_at = line.len};
    for (;;) {
        while (at < line.len && is_blank(line.ptr[at])) at++;
        if (at == line.len || line.ptr[at] == '#') return;
        if (w->count == (int)WORDS_MAX) {
            w->wrong = "too many words";
            return;
        }
        size_t from = at;
        at = take(w, a, line, at);
        w->is_open = at == line.len;
        if (w->is_open) w->last_at = from;
    }
}

bool words_are_secret(struct slice line) {
    static const char *const signs[] = {
        "password", "passwd", "secret", "token=", "apikey", "api_key", "credential", "bearer"};
    if (line.len > 0 && is_blank(line.ptr[0])) return true;
    for (size_t k = 0; k < sizeof signs / sizeof signs[0]; k++) {
        size_t len = strlen(signs[k]);
        for (size_t i = 0; i + len <= line.len; i++)
            if (strncasecmp((const char *)line.ptr + i, signs[k], len) == 0) return true;
    }
    return false;
}
