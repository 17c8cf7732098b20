/* regexp.h: regular expressions that a whole text must fit. A match reads the text once and follows all ways through
 * the expression at the same time, so it takes at most (characters of the text) * (steps of the expression), whatever
 * either says: there is no expression that makes it slow.
 *
 *     a  .  \d \w \s \D \W \S  \. \n \t     a character; `.` is any but a line break
 *     [a-z_]  [^0-9]  [\w.-]                one of a set
 *     xy  x|y  (x)  (?:x)                   in turn, either, a group
 *     x*  x+  x?  x{2}  x{2,}  x{2,5}       how often
 *     ^  $                                  at the very beginning and end, where they say nothing new
 *
 * These are written alike and mean the same in ECMAScript, and so in JSON Schema, anchored by ^(?: and )$. Characters
 * are code points; classes know ASCII. What cannot be matched in that time (backreferences, looking around) is refused
 * when the expression is read. */
#ifndef REEVE_REGEXP_H
#define REEVE_REGEXP_H

#include "err.h"
#include "slice.h"

#define REGEXP_BYTES_MAX 500u  /* of an expression */
#define REGEXP_STEPS_MAX 1000u /* of what is made of it: `x{3}` counts three times */
#define REGEXP_RANGES_MAX 250u /* of all its sets */
#define REGEXP_REPEAT_MAX 500u /* of `{n}` */
#define REGEXP_DEPTH_MAX 20u   /* groups in groups */

struct regexp_step {
    uint8_t op;            /* regexp.c */
    bool negated;          /* of a set */
    int16_t to, or_to;     /* where to go on, from here */
    uint32_t first, count; /* the character; or the ranges of a set */
};

struct regexp_range {
    uint32_t from, to; /* code points, both in it */
};

struct regexp {
    uint32_t step_count, range_count;
    struct regexp_step steps[REGEXP_STEPS_MAX];
    struct regexp_range ranges[REGEXP_RANGES_MAX];
};

/* ERR_INVALID, ERR_LIMIT or ERR_UNSUPPORTED with what is wrong, and where. *ret is of no use then. */
CHECKED enum err regexp_read(struct slice text, struct regexp *ret, struct why *why);
/* Adds what it took to *steps: about a nanosecond each. */
bool regexp_fits(const struct regexp *r, struct slice text, uint64_t *steps);

#endif
