/* names.h: which parts of the scope an expression names, found by reading its text: `jobs.extract`, `params["day"]`,
 * `item`. Strings and comments are skipped. What is reached in other ways (`jobs[x]`) is a root without a name. */
#ifndef REEVE_NAMES_H
#define REEVE_NAMES_H

#include "scope.h"

struct name_ref {
    enum scope_root root;
    struct slice name; /* behind params and jobs; empty = not known before it is evaluated */
};

/* The next one from *at on, which moves behind it; false = there is none. */
bool names_next(struct slice text, size_t *at, struct name_ref *ret);
/* The latest stage of all that it names. */
enum scope_stage names_stage(struct slice text);
/* Which roots it names. */
#define ROOT_BIT(root) (1u << (root))
unsigned names_roots(struct slice text);
/* Whether it may have a loop over numbers: `for i = 1, 3`. */
bool names_counts(struct slice text);
/* What is behind a string, comment or long bracket that begins at `at`; `at` itself when none does. */
size_t names_skip(struct slice text, size_t at);

#endif
