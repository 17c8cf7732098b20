/* disk.h: the files of one data directory, as the journal and the stores see them.
 *
 * Two implementations: os/ (Linux) and sim/ (a disk that forgets, tears and fails). Names are relative to the
 * directory and contain no '/' except through `subdir/name` of directories made by `mkdir`. All calls are synchronous;
 * whoever must not wait calls them from another thread. Only what was written and then covered by a successful `sync`
 * (and, for names, `sync_dir`) survives a power cut: the code above must not assume more. */
#ifndef REEVE_DISK_H
#define REEVE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

typedef struct { int32_t v; } disk_file; /* v < 0: none */

enum disk_open {
    DISK_READ,   /* must exist */
    DISK_WRITE,  /* must exist; read and write */
    DISK_CREATE, /* must not exist; read and write */
};

typedef void (*disk_list_fn)(void *ctx, const char *name, uint64_t bytes);

struct disk {
    const struct disk_ops *ops;
};

struct disk_ops {
    enum err (*open)(struct disk *d, const char *name, enum disk_open how, disk_file *ret, struct why *why);
    void (*close)(struct disk *d, disk_file f);
    enum err (*size)(struct disk *d, disk_file f, uint64_t *ret, struct why *why);
    /* May move fewer bytes than asked; 0 read bytes = end of file. The caller loops. */
    enum err (*read)(struct disk *d, disk_file f, uint64_t offset, void *to, size_t len, size_t *ret, struct why *why);
    enum err (*write)(struct disk *d, disk_file f, uint64_t offset, const void *from, size_t len, size_t *ret,
                      struct why *why);
    enum err (*sync)(struct disk *d, disk_file f, struct why *why); /* data and size (fdatasync) */
    /* Makes the file `bytes` long, every byte written as zero and its blocks reserved. ERR_NO_SPACE is ordinary. */
    enum err (*allocate)(struct disk *d, disk_file f, uint64_t bytes, struct why *why);
    enum err (*rename)(struct disk *d, const char *from, const char *to, struct why *why); /* replaces `to` */
    enum err (*remove)(struct disk *d, const char *name, struct why *why);
    enum err (*mkdir)(struct disk *d, const char *name, struct why *why); /* fine when it exists */
    enum err (*sync_dir)(struct disk *d, const char *subdir, struct why *why); /* "" = the directory itself */
    enum err (*list)(struct disk *d, const char *subdir, disk_list_fn each, void *ctx, struct why *why);
    /* An OFD lock on the named file (created when missing), held until `unlock`, or the disk is closed, or the process
     * ends. */
    enum err (*lock)(struct disk *d, const char *name, struct why *why); /* ERR_CONFLICT when someone holds it */
    void (*unlock)(struct disk *d, const char *name);                    /* of this disk object */
    enum err (*space)(struct disk *d, uint64_t *ret_free_bytes, struct why *why);
};

#endif
