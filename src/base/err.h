/* err.h: the one error table. Whatever can fail returns `enum err`; text for people travels in `struct why`.
 *
 * The code of an error never changes on its way up, only its context grows (why_wrap). Whoever owns the
 * decision answers or logs it, never both. */
#ifndef REEVE_ERR_H
#define REEVE_ERR_H

#include <stdarg.h>
#include <stdbool.h>

#include "slice.h"

/* clang-format off */
/*     name                 word              meaning                                  http exit retry */
#define ERR_TABLE(X)                                                                                   \
    X(ERR_OK,               "ok",              "done",                                  200, 0, false) \
    X(ERR_INVALID,          "invalid",         "invalid request",       400, 2, false) \
    X(ERR_UNKNOWN_NAME,     "unknown_name",    "unknown name",              400, 2, false) \
    X(ERR_DUPLICATE_NAME,   "duplicate_name",  "a name is used twice",                  400, 2, false) \
    X(ERR_CYCLE,            "cycle",           "dependency cycle",            400, 2, false) \
    X(ERR_LIMIT,            "limit",           "a limit was exceeded",                       422, 2, false) \
    X(ERR_UNSUPPORTED,      "unsupported",     "not supported by this version",       400, 2, false) \
    X(ERR_UNAUTHENTICATED,  "unauthenticated", "not authenticated",         401, 4, false) \
    X(ERR_FORBIDDEN,        "forbidden",       "not allowed",            403, 4, false) \
    X(ERR_NOT_FOUND,        "not_found",       "not found",                404, 5, false) \
    X(ERR_CONFLICT,         "conflict",        "conflicts with what is recorded",       409, 6, false) \
    X(ERR_STATE,            "wrong_state",     "not possible in the current state",     409, 6, false) \
    X(ERR_STALE,            "stale",           "the message is out of date",     409, 6, false) \
    X(ERR_BUSY,             "busy",            "overloaded, try again",           429, 7, true)  \
    X(ERR_NO_SPACE,         "no_space",        "the disk is full",           507, 7, true)  \
    X(ERR_FENCED,           "fenced",          "another owner has taken over",          503, 8, true)  \
    X(ERR_UNKNOWN,          "unknown",         "it may or may not have happened",       503, 8, true)  \
    X(ERR_IO,               "io",              "I/O error",   500, 9, false) \
    X(ERR_CORRUPT,          "corrupt",         "stored data is damaged",              500, 9, false)

enum err {
#define X(name, word, meaning, http, exit_code, retry) name,
    ERR_TABLE(X)
#undef X
    ERR_COUNT
};
/* clang-format on */

#define CHECKED __attribute__((warn_unused_result))

const char *err_word(enum err e);
enum err err_find(struct slice word, enum err other); /* the error with that word; without one the other */
const char *err_meaning(enum err e);
int err_http_status(enum err e);
int err_exit_code(enum err e);
bool err_is_retryable(enum err e);

/* What went wrong, for a person; bounded, always terminated, cut at the end when too long. */
struct why {
    char text[240];
};

/* Writes the text (printf style) and returns `e`, so that a refusal is one statement. `why` may be NULL. */
enum err why_set(struct why *why, enum err e, const char *format, ...) __attribute__((format(printf, 3, 4)));
enum err why_vset(struct why *why, enum err e, const char *format, va_list args) __attribute__((format(printf, 3, 0)));
/* Puts "context: " before the text and returns `e` unchanged. */
enum err why_wrap(struct why *why, enum err e, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
