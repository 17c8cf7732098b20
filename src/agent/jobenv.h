/* jobenv.h: the environment of a job, built name by name; a later word about a name replaces an earlier one. */
#ifndef REEVE_JOBENV_H
#define REEVE_JOBENV_H

#include "arena.h"
#include "map.h"
#include "vec.h"

struct jobenv {
    struct arena *arena;
    struct vec items; /* of char *, "NAME=value" */
};

void jobenv_init(struct jobenv *e, struct arena *arena);
/* A name that is empty or holds `=`, and a zero byte anywhere, cannot be passed on: such a one is left out. */
void jobenv_put(struct jobenv *e, struct slice name, struct slice value);
void jobenv_put_line(struct jobenv *e, const char *line); /* "NAME=value" */
/* REEVE_INPUT_<JOB>, letters raised and everything else than letters and digits an underscore; left out when it is
 * longer than one variable may be. */
void jobenv_put_input(struct jobenv *e, struct slice job, struct slice value);
const char *const *jobenv_list(struct jobenv *e); /* NULL-terminated, in the arena; ends the builder */

#endif
