/* err.c: look-ups in the error table, and the text that grows while an error travels up. */
#include "err.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "panic.h"

struct err_info {
    const char *word;
    const char *meaning;
    int http_status;
    int exit_code;
    bool retryable;
};

static const struct err_info table[ERR_COUNT] = {
#define X(name, word, meaning, http, exit_code, retry) [name] = {word, meaning, http, exit_code, retry},
    ERR_TABLE(X)
#undef X
};

static const struct err_info *info(enum err e) {
    REQUIRE((unsigned)e < ERR_COUNT);
    return &table[e];
}

const char *err_word(enum err e) {
    return info(e)->word;
}

enum err err_find(struct slice word, enum err other) {
    for (int e = 0; e < ERR_COUNT; e++)
        if (slice_eq(word, slice_str(table[e].word))) return (enum err)e;
    return other;
}

const char *err_meaning(enum err e) {
    return info(e)->meaning;
}

int err_http_status(enum err e) {
    return info(e)->http_status;
}

int err_exit_code(enum err e) {
    return info(e)->exit_code;
}

bool err_is_retryable(enum err e) {
    return info(e)->retryable;
}

enum err why_vset(struct why *why, enum err e, const char *format, va_list args) {
    if (why) (void)vsnprintf(why->text, sizeof why->text, format, args);
    return e;
}

enum err why_set(struct why *why, enum err e, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)why_vset(why, e, format, args);
    va_end(args);
    return e;
}

enum err why_wrap(struct why *why, enum err e, const char *format, ...) {
    if (!why) return e;
    struct why inner = *why;
    inner.text[sizeof inner.text - 1] = 0;

    va_list args;
    va_start(args, format);
    int len = vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);

    size_t used = len < 0 ? 0 : (size_t)len;
    if (used >= sizeof why->text) return e; /* the context alone filled it */
    (void)snprintf(why->text + used, sizeof why->text - used, ": %s", inner.text);
    return e;
}
