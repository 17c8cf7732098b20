/* runtext.h: the texts of a `run` message that are templates: command, arguments, environment, standard input, working
 * directory, message, artifacts; url, headers and body of a request. Scripts are not: they get arguments and
 * environment, and their `${…}` is their own.
 *
 * What a value may be depends on where it stands, never on the program that runs: no list of programs that read code
 * is complete. In a shell line it is a word. In an argument of a command it is the whole argument, whatever it says, or
 * a word in it. In the environment and everywhere else it may be anything. See docs/adr/0112. */
#ifndef REEVE_RUNTEXT_H
#define REEVE_RUNTEXT_H

#include "template.h"
#include "wire_run.h"

/* What a value in the argument at `at` of a command goes into. */
enum template_into runtext_into(const struct wire_arg *args, uint32_t at);

typedef enum err (*runtext_fn)(void *ctx, struct slice *text, enum template_into into, struct why *why);
/* Each of them, until the first error; `each` may put another text in its place. */
CHECKED enum err runtext_each(struct wire_run *run, runtext_fn each, void *ctx, struct why *why);

/* The stages of all its templates: STAGE_BIT and STAGE_ESCAPES; 0 = it has none. */
CHECKED enum err runtext_stages(const struct wire_run *run, unsigned *ret, struct why *why);
/* Whether its expressions compile and its templates can be read. */
CHECKED enum err runtext_check(const struct wire_run *run, const struct limits *limits, struct why *why);

/* Each job that its `when`, its `foreach` and its templates name, until the first error. An empty name: any of them,
 * which one is known only when it is evaluated. */
enum runtext_where { IN_WHEN, IN_FOREACH, IN_TEXT };
typedef enum err (*runtext_job_fn)(void *ctx, enum runtext_where where, struct slice name, struct why *why);
CHECKED enum err runtext_jobs(const struct wire_run *run, runtext_job_fn each, void *ctx, struct why *why);

/* The roots that its expressions and templates name: ROOT_BIT (names.h). */
CHECKED enum err runtext_roots(const struct wire_run *run, unsigned *ret, struct why *why);

/* Fills them in; new texts are in the arena, and so are lists with new texts. */
CHECKED enum err runtext_render(struct wire_run *run, const struct template_fill *how, struct arena *arena,
                                struct why *why);

#endif
