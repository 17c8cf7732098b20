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

typedef void (*space_match_fn)(void *ctx, const char *inside);

struct space {
    const struct space_ops *ops;
};

struct space_ops {
    /* With an empty directory `work` in it, where the job starts. */
    enum err (*make)(struct space *s, const char *name, struct why *why);
    void (*path)(struct space *s, const char *name, const char *inside, char ret[SPACE_PATH_MAX]); /* absolute */
    enum err (*write)(struct space *s, const char *name, const char *inside, struct slice bytes, bool executable,
                      struct why *why);
    /* The same for a file that comes in pieces: the one at `offset` 0 makes it. Directories on the way are made. */
    enum err (*write_at)(struct space *s, const char *name, const char *inside, uint64_t offset, struct slice bytes,
                         bool executable, struct why *why);
    /* Appends the file to `ret`. ERR_NOT_FOUND; ERR_LIMIT: it does not fit, `ret` is full. */
    enum err (*read)(struct space *s, const char *name, const char *inside, struct buf *ret, struct why *why);
    /* Appends at most `most` bytes; none at its end. */
    enum err (*read_at)(struct space *s, const char *name, const char *inside, uint64_t offset, size_t most,
                        struct buf *ret, struct why *why);
    /* How long the file is; the same errors as read. */
    enum err (*size)(struct space *s, const char *name, const char *inside, uint64_t *ret, struct why *why);
    /* Each plain file that the pattern fits (* and ? match inside a name), relative as the pattern is. */
    void (*match)(struct space *s, const char *name, const char *pattern, space_match_fn each, void *ctx);
    void (*remove)(struct space *s, const char *name); /* fine when there is none */
};

#endif
