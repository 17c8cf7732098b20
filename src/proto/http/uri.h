/* uri.h: targets of HTTP requests: their parts, their escapes, the pairs of a query. */
#ifndef REEVE_URI_H
#define REEVE_URI_H

#include "arena.h"
#include "err.h"
#include "slice.h"

/* "/path?query", "http://authority/path?query", or "*". False: it is none of these. */
bool uri_split(struct slice target, struct slice *ret_authority, struct slice *ret_path, struct slice *ret_query);
/* Takes "word" off the front of "/word/rest". False: nothing is left. */
bool uri_word_next(struct slice *path, struct slice *ret);
/* Takes "key=value" off the front of a query; pairs without content are passed over. */
bool uri_pair_next(struct slice *query, struct slice *ret_key, struct slice *ret_value);
/* Without %-escapes; in a query a plus is a blank. ERR_INVALID: a bad escape, a zero byte, or what is not UTF-8. */
CHECKED enum err uri_decode(struct slice text, bool in_query, struct arena *arena, struct slice *ret, struct why *why);

#endif
