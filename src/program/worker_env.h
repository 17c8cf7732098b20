/* worker_env.h: what jobs see of a worker's environment, gathered name by name; a later word about a name replaces an
 * earlier one. */
#ifndef REEVE_WORKER_ENV_H
#define REEVE_WORKER_ENV_H

#include <stddef.h>
#include <stdint.h>

#define WORKER_ENV_MAX 4096u
#define WORKER_ENV_BYTES (256u * 1024u)

struct worker_env {
    const char *list[WORKER_ENV_MAX + 1]; /* "NAME=value", NULL at the end */
    char text[WORKER_ENV_BYTES];
    size_t used;
    uint32_t count;
};

void worker_env_add(struct worker_env *e, const char *name, const char *value);
/* A job runs elsewhere, so paths that it is told must not depend on where we are. Fine with NULL, and with none. */
void worker_env_add_path(struct worker_env *e, const char *name, const char *path);
/* What every job gets, and of our own environment what `pass` says: "NAME,NAME", "all", or NULL for no more. */
void worker_env_make(struct worker_env *e, const char *pass);

/* The folder where `reeve` and `titan_sdk` can be imported from, the one that is given or the one that came with this
 * program, goes to the end of PYTHONPATH: behind what is passed on. Nothing when there is none. */
void worker_env_add_python(struct worker_env *e, const char *given);

#endif
