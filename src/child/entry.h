/* entry.h: may an entry of an archive be unpacked, and where to? Pure: looks at what the archive says, never at a disk.
 *
 * What it lets pass stays in the folder it is unpacked into, however entries are combined: a path has no way up, a
 * symbolic link goes up only at the beginning of its target and never above the folder, a hard link names another
 * entry. Whoever writes it must not follow links on the way to an entry: the depth of a link is that of its real
 * folder. */
#ifndef REEVE_ENTRY_H
#define REEVE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "slice.h"

#define ENTRY_PATH_MAX 4096u /* as the kernel has it; rules may ask for less */

enum entry_kind { ENTRY_FILE, ENTRY_DIR, ENTRY_SYMLINK, ENTRY_HARDLINK, ENTRY_DEVICE, ENTRY_PIPE, ENTRY_UNKNOWN };

struct entry { /* as the archive says */
    struct slice path;
    struct slice target; /* of a link */
    enum entry_kind kind;
    uint32_t mode; /* permissions, with setuid and its like */
    bool is_encrypted;
};

struct entry_rules {
    uint32_t path_bytes_max, depth_max;
    uint32_t strip; /* folders to take off the front of every path */
};

struct entry_place { /* relative to the folder; no empty, `.` or `..` part in a path */
    char path[ENTRY_PATH_MAX];
    char target[ENTRY_PATH_MAX]; /* of a hard link in the same way, of a symbolic link as it is */
    bool is_nothing;             /* a folder of which nothing is left */
};

/* A refusal names the entry. `ret` means nothing then. */
CHECKED enum err entry_check(const struct entry *e, const struct entry_rules *rules, struct entry_place *ret,
                             struct why *why);
/* "entry `path` is so and so", without what a terminal could take for a command. */
enum err entry_refuse(struct slice path, struct why *why, const char *wrong);

#endif
