/* powercut.h: the log that the shim writes and the cut reads: how to undo each change that was not synced.
 *
 * STATE/log   records, appended in the order in which the changes were made; the head below, then `path_bytes` and
 *             `path2_bytes` of paths, then `old_bytes` of what stood there before
 * STATE/grave a further link to each file that lost a name, so that it can get the name back
 * STATE/trouble what ails the disk while it stands there; lines "slow MICROSECONDS PART" and "fail PART": a sync of a
 *             file with PART in its path takes so long, or fails
 *
 * A record stands in the log before its change is made (but for POWERCUT_CREATE), so a process that is killed in
 * between leaves an undo that changes nothing. It is a file of one machine and one run: native numbers. */
#ifndef REEVE_POWERCUT_H
#define REEVE_POWERCUT_H

#include <stdint.h>

#define POWERCUT_MAGIC 0x5443524557504a1bULL
#define POWERCUT_PATH_MAX 4096

enum powercut_kind {
    POWERCUT_WRITE = 1, /* bytes of `file`: offset, bytes, size_before; the old ones follow */
    POWERCUT_SYNC,      /* `file` (or directory) is durable as far as the log was `offset` long */
    POWERCUT_SYNC_ALL,  /* so is everything */
    POWERCUT_CREATE,    /* `path`, which is `file`, in `dir` */
    POWERCUT_MKDIR,     /* likewise a directory */
    POWERCUT_REMOVE,    /* `path` in `dir`; `grave` still has the file */
    POWERCUT_RMDIR,
    POWERCUT_RENAME, /* `file` from `path` in `dir` to `path2` in `dir2`; `grave` has what stood there, 0 = nothing */
};

struct powercut_record {
    uint64_t magic;
    uint32_t kind;
    uint32_t check;           /* powercut_check of this head with `check` 0 */
    uint64_t file, dir, dir2; /* inodes */
    uint64_t offset, bytes, size_before;
    uint64_t grave;
    uint64_t old_bytes; /* that follow; the rest of what stood there were zeroes */
    uint64_t old_zeroes;
    uint32_t path_bytes, path2_bytes;
};

static inline uint32_t powercut_check(const struct powercut_record *r) {
    const unsigned char *at = (const unsigned char *)r;
    uint32_t sum = 2166136261u;
    for (unsigned i = 0; i < sizeof *r; i++) {
        int is_check = i >= 12 && i < 16; /* where `check` stands */
        sum = (sum ^ (is_check ? 0u : at[i])) * 16777619u;
    }
    return sum;
}

#endif
