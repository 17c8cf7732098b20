/* pattern.h: patterns of names as Redis has them: `*`, `?`, `[abc]`, `[^a-z]`, and a backslash before what is meant as
 * it stands. Takes at most (length of the pattern) * (length of the text) steps, whatever the pattern. */
#ifndef REEVE_PATTERN_H
#define REEVE_PATTERN_H

#include <stdbool.h>

#include "slice.h"

bool pattern_matches(struct slice pattern, struct slice text);
/* What every match begins with: the pattern up to its first special character. */
struct slice pattern_prefix(struct slice pattern);

#endif
