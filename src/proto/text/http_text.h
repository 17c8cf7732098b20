/* http_text.h: texts that become parts of an HTTP request, and values that go into them.
 *
 * A value never becomes more than a value: in a URL it is percent-encoded, unless it stands at the very beginning and
 * so is the address itself; in a header it has no control characters, so it cannot begin a second header; in JSON it is
 * escaped like the string that it stands in.
 *
 * Texts are filled in twice: with templates by the server (eval/template.h), and with variables of the environment by
 * the worker, which alone knows its secrets: `${NAME}`, capital letters, digits and `_`. `$$` is a dollar. Values that
 * the server puts in have their dollars doubled, so none of them can ask for a variable. */
#ifndef REEVE_HTTP_TEXT_H
#define REEVE_HTTP_TEXT_H

#include "arena.h"
#include "buf.h"
#include "err.h"
#include "slice.h"

enum http_text_place { HTTP_TEXT_URL, HTTP_TEXT_HEADER, HTTP_TEXT_BODY, HTTP_TEXT_JSON };

/* A value; `is_first`: nothing stands before it. */
CHECKED enum err http_text_put(enum http_text_place place, bool is_first, struct slice value, struct buf *out,
                               struct why *why);
/* The text with its dollars doubled: nothing in it is a variable. */
struct slice http_text_still(struct slice text, struct arena *arena);
/* Fills in variables. `get` returns NULL for one that is not there, which is an error. */
typedef const char *(*http_text_get)(const char *name);
CHECKED enum err http_text_fill(enum http_text_place place, struct slice text, http_text_get get, struct buf *out,
                                struct why *why);
bool http_text_has_control(struct slice text); /* other than tabs */

#endif
