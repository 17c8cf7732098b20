/* pattern.h: patterns of names as Redis has them: `*`, `?`, `[abc]`, `[^a-z]`, and a backslash before what is meant as
 * it stands. A match takes at most (length of the pattern) * (length of the text) steps, and tells how many it took: a
 * step is about a nanosecond. Whoever matches many texts has a budget of them. */
#ifndef REEVE_PATTERN_H
#define REEVE_PATTERN_H

#include <stdbool.h>

#include "slice.h"

#define PATTERN_BYTES_MAX 1024u /* as long as a name; for callers to check */

/* Adds its steps to *steps. */
bool pattern_matches(struct slice pattern, struct slice text, uint64_t *steps);
/* Whether a match takes no more steps than the pattern is long: it has no star but at its end. */
bool pattern_is_cheap(struct slice pattern);
/* What every match begins with: the pattern up to its first special character. */
struct slice pattern_prefix(struct slice pattern);

#endif
