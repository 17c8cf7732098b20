/* space.h: private directories in which jobs run.
 *
 * Each has a name, is made empty and removed as a whole. Two implementations: os/ and sim/. Paths inside are relative,
 * and a job may have put anything there: whoever reads gets a plain file's bytes or an error, never what a link points
 * to. All calls are the loop thread's; removing goes on behind the caller's back. */
#ifndef REEVE_SPACE_H
#define REEVE_SPACE_H

#include <stdbool.h>

#include "buf.h"
#include "err.h"

#define SPACE_PATH_MAX 1024u

struct space {
    const struct space_ops *ops;
};

struct space_ops {
    /* With an empty directory `work` in it, where the job starts. */
    enum err (*make)(struct space *s, const char *name, struct why *why);
    void (*path)(struct space *s, const char *name, const char *inside, char ret[SPACE_PATH_MAX]); /* absolute */
    enum err (*write)(struct space *s, const char *name, const char *inside, struct slice bytes, bool executable,
                      struct why *why);
    /* Appends the file to `ret`. ERR_NOT_FOUND; ERR_LIMIT: it does not fit, `ret` is full. */
    enum err (*read)(struct space *s, const char *name, const char *inside, struct buf *ret, struct why *why);
    void (*remove)(struct space *s, const char *name); /* fine when there is none */
};

#endif
