/* expr.h: expressions of flow files: Lua 5.4, in a box.
 *
 *     expr_truth("when", jobs.extract.outputs.rows > 0)      → true
 *     expr_list("foreach", jobs.list.outputs.files)          → a JSON text per line, and how many
 *     expr_text("${= …}", item.name:upper())                 → a text
 *
 * Each evaluation has a Lua state of its own that ends with it. It sees its scope and the functions of expr_lib.c, and
 * nothing else: no files, no clock, no chance, no way to load code, to catch an error, to set a metatable. It is
 * bounded by steps (instructions, and what functions do inside one: expr_lib.c charges each text that a function is
 * called with, before it is called) and by memory (all that it ever asks for: nothing
 * is collected). The same expression and scope give the same answer, in every process: keys come in their order, and no
 * address is ever seen. A text is either an expression, or statements that `return` one. */
#ifndef REEVE_EXPR_H
#define REEVE_EXPR_H

#include "buf.h"
#include "scope.h"

#define EXPR_STRING_MAX 16384u /* of a text inside: bounds what comparing two of them costs in one step */

struct expr_input {
    const char *name; /* of the key it stands in, for messages */
    struct slice text;
    const struct scope *scope;
    const struct limits *limits;
    int64_t *steps_left; /* of several evaluations together; NULL: this one has eval_steps_max of its own */
};

/* Whether it is Lua at all; evaluates nothing. */
CHECKED enum err expr_check(const char *name, struct slice text, const struct limits *limits, struct why *why);

/* true, or false and nil; any other value is refused. */
CHECKED enum err expr_truth(const struct expr_input *in, bool *ret, struct why *why);
/* A list, or a number n for 1 to n. Each item as JSON on a line of its own in a JSON array: `[1,\n2\n]`. ERR_LIMIT
 * beyond count_max items, or when `out` is full. */
CHECKED enum err expr_list(const struct expr_input *in, uint32_t count_max, struct buf *out, uint32_t *ret_count,
                           struct why *why);
/* Texts as they are, other values as JSON; nil is refused. */
CHECKED enum err expr_text(const struct expr_input *in, struct buf *out, struct why *why);

/* The functions that expressions have, by their number; NULL behind the last. For tests of all of them. */
const char *expr_function(size_t number);

#endif
