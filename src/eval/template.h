/* template.h: texts with `${…}` in them.
 *
 *     ${jobs.extract.outputs.rows}    a path into the scope (scope.h), found without an evaluator
 *     ${schedule.slot}                the same
 *     ${= item.name:upper()}          an expression (expr.h)
 *     $${item}                        stays, as ${item}
 *
 * Only what begins with `params`, `jobs`, `flow`, `schedule`, `item`, `index` or `=` is ours; every other `${…}` is
 * the shell's and is left alone. A value that is a text goes in as it is, any other as JSON.
 *
 * A text is filled in in stages (scope.h). What is not known yet stays as it is, and so do escapes until the last
 * stage; a value that goes in before that is escaped, so that nothing a value says is ever taken for a template.
 *
 * Guarded texts are programs, or parts of them: a value that goes into one must be made of letters, digits and
 * characters that no shell reads as anything but themselves. Anything else is refused, and belongs into `env`. Only
 * when a shell line or an argument is nothing but one template the value is all of it, whatever it says: the author
 * asked for that. */
#ifndef REEVE_TEMPLATE_H
#define REEVE_TEMPLATE_H

#include "buf.h"
#include "scope.h"

enum part_kind { PART_TEXT, PART_PATH, PART_EXPR, PART_ESCAPE };

struct template_part {
    enum part_kind kind;
    struct slice whole;     /* as it stands in the text */
    struct slice inside;    /* of a path or an expression */
    enum scope_stage stage; /* at which it can be filled in */
};

/* What the text is that a value goes into; so it can never become more than the value that its author meant. */
enum template_into {
    INTO_TEXT,     /* anything may */
    INTO_PROGRAM,  /* a shell line: guarded, see above */
    INTO_ARGUMENT, /* an argument of a command: guarded, see above */
    INTO_JOINED,   /* an argument that is joined with others to a shell line: guarded, also when it is the whole */
    INTO_URL,     /* parts of an HTTP request: see http_text.h */
    INTO_HEADER,
    INTO_BODY,
    INTO_JSON, /* a body that is JSON, inside one of its strings */
};

/* The next part of the text from *at on, which moves behind it. *ret_over: there is none. */
CHECKED enum err template_next(struct slice text, size_t *at, struct template_part *ret, bool *ret_over,
                               struct why *why);
/* Adds the stages of its templates, and whether it has escapes. ERR_INVALID: there is a mistake in it. */
#define STAGE_BIT(stage) (1u << (stage))
#define STAGE_ESCAPES 128u
CHECKED enum err template_stages(struct slice text, unsigned *ret, struct why *why);

/* At which a part can be filled in where some params are known later than the others (scope.h). */
enum scope_stage template_stage(const struct template_part *part, const struct scope *s);
/* Adds the roots that it names: ROOT_BIT (names.h). */
CHECKED enum err template_roots(struct slice text, unsigned *ret, struct why *why);

struct template_fill {
    const struct scope *scope;
    const struct limits *limits;
    enum scope_stage stage; /* what is known */
    bool is_last;           /* escapes are taken away */
    enum template_into into;
    int64_t *steps_left; /* of all texts that are filled in together; NULL: each expression has its own */
};
CHECKED enum err template_render(struct slice text, const struct template_fill *how, struct buf *out, struct why *why);

/* The object `params`, and the members of the object `late` with their templates filled in. */
CHECKED enum err template_params(struct slice params, struct slice late, const struct template_fill *how,
                                 struct arena *arena, struct slice *ret, struct why *why);

/* A text that is rendered to `text` itself, whatever that says. */
void template_escape(struct slice text, struct buf *out);
/* A program takes the value as a word or a part of one; else the refusal of `part`. */
CHECKED enum err template_guard(const struct template_part *part, struct slice value, struct why *why);

#endif
