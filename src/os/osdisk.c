/* osdisk.c: the files of one directory on Linux.
 *
 * Guarantees: every path is resolved below the directory's descriptor; no call changes the process's working
 * directory; interrupted calls are repeated, everything else is reported with the system's words. Must not: retry a
 * failed sync (the kernel has forgotten what it could not write), or hide a short read or write. */
#include "osdisk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "panic.h"

#define ZERO_BYTES (1024u * 1024u) /* per write while a file is filled with zeroes */

struct osdisk {
    struct disk disk; /* first: the port's pointer is ours */
    int dir;
    struct {
        int fd;
        char name[32];
    } locks[8];
    uint32_t lock_count;
};

static struct osdisk *of(struct disk *d) {
    return (struct osdisk *)d;
}

static enum err err_of(int code) {
    switch (code) {
    case ENOSPC:
    case EDQUOT: return ERR_NO_SPACE;
    case ENOENT:
    case ENOTDIR: return ERR_NOT_FOUND;
    case EEXIST: return ERR_CONFLICT;
    case EACCES:
    case EPERM:
    case EROFS: return ERR_FORBIDDEN;
    default: return ERR_IO;
    }
}

static enum err fail(struct why *why, const char *what, const char *name) {
    int code = errno;
    return why_set(why, err_of(code), "%s %s: %s", what, name, strerrordesc_np(code));
}

/* A name may go one directory down and never up. */
static bool name_is_plain(const char *name) {
    const char *slash = strchr(name, '/');
    if (name[0] == 0 || name[0] == '/' || strstr(name, "..") != NULL) return false;
    return slash == NULL || (slash[1] != 0 && strchr(slash + 1, '/') == NULL);
}

static enum err op_open(struct disk *d, const char *name, enum disk_open how, disk_file *ret, struct why *why) {
    static const int flags[] = {
        [DISK_READ] = O_RDONLY,
        [DISK_WRITE] = O_RDWR,
        [DISK_CREATE] = O_RDWR | O_CREAT | O_EXCL,
    };
    REQUIRE(name_is_plain(name));
    int fd = -1;
    do fd = openat(of(d)->dir, name, flags[how] | O_CLOEXEC | O_NOFOLLOW, 0600);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return fail(why, "open", name);
    *ret = (disk_file){fd};
    return ERR_OK;
}

static void op_close(struct disk *d, disk_file f) {
    (void)d;
    REQUIRE(f.v >= 0);
    (void)close(f.v); /* what had to be durable was synced; the rest may be lost */
}

static enum err op_size(struct disk *d, disk_file f, uint64_t *ret, struct why *why) {
    (void)d;
    struct stat st;
    if (fstat(f.v, &st) != 0) return fail(why, "stat", "");
    *ret = (uint64_t)st.st_size;
    return ERR_OK;
}

static enum err op_read(struct disk *d, disk_file f, uint64_t offset, void *to, size_t len, size_t *ret,
                        struct why *why) {
    (void)d;
    ssize_t got;
    do got = pread(f.v, to, len, (off_t)offset);
    while (got < 0 && errno == EINTR);
    if (got < 0) return fail(why, "read", "");
    *ret = (size_t)got;
    return ERR_OK;
}

static enum err op_write(struct disk *d, disk_file f, uint64_t offset, const void *from, size_t len, size_t *ret,
                         struct why *why) {
    (void)d;
    ssize_t put;
    do put = pwrite(f.v, from, len, (off_t)offset);
    while (put < 0 && errno == EINTR);
    if (put < 0) return fail(why, "write", "");
    *ret = (size_t)put;
    return ERR_OK;
}

static enum err op_sync(struct disk *d, disk_file f, struct why *why) {
    (void)d;
    /* Not repeated on EINTR either: Linux never interrupts it, and a second answer could not be believed. */
    if (fdatasync(f.v) != 0) return fail(why, "sync", "");
    return ERR_OK;
}

/* Reserves first, so that a full disk is noticed before anything is written; then writes, because blocks that are
 * reserved and unwritten cost a metadata change at their first use, inside somebody's append. */
static enum err op_allocate(struct disk *d, disk_file f, uint64_t bytes, struct why *why) {
    int rc;
    do rc = fallocate(f.v, 0, 0, (off_t)bytes);
    while (rc != 0 && errno == EINTR);
    if (rc != 0 && errno != EOPNOTSUPP) return fail(why, "allocate", "");
    static uint8_t zeroes[ZERO_BYTES]; /* not const: then it is no part of the file, and reading it takes no memory */
    for (uint64_t at = 0; at < bytes;) {
        uint64_t left = bytes - at;
        size_t put = 0;
        enum err e = op_write(d, f, at, zeroes, left < ZERO_BYTES ? (size_t)left : ZERO_BYTES, &put, why);
        if (e != ERR_OK) return e;
        if (put == 0) return why_set(why, ERR_IO, "allocate: write moved nothing");
        at += put;
    }
    if (fsync(f.v) != 0) return fail(why, "sync", "");
    return ERR_OK;
}

static enum err op_rename(struct disk *d, const char *from, const char *to, struct why *why) {
    REQUIRE(name_is_plain(from));
    REQUIRE(name_is_plain(to));
    if (renameat(of(d)->dir, from, of(d)->dir, to) != 0) return fail(why, "rename", from);
    return ERR_OK;
}

static enum err op_remove(struct disk *d, const char *name, struct why *why) {
    REQUIRE(name_is_plain(name));
    if (unlinkat(of(d)->dir, name, 0) != 0) return fail(why, "remove", name);
    return ERR_OK;
}

static enum err op_mkdir(struct disk *d, const char *name, struct why *why) {
    REQUIRE(name_is_plain(name));
    if (mkdirat(of(d)->dir, name, 0700) != 0 && errno != EEXIST) return fail(why, "mkdir", name);
    return ERR_OK;
}

static enum err dir_open(struct disk *d, const char *subdir, int *ret, struct why *why) {
    const char *name = subdir[0] != 0 ? subdir : ".";
    int fd = openat(of(d)->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return fail(why, "open directory", name);
    *ret = fd;
    return ERR_OK;
}

static enum err op_sync_dir(struct disk *d, const char *subdir, struct why *why) {
    int fd = -1;
    enum err e = dir_open(d, subdir, &fd, why);
    if (e != ERR_OK) return e;
    if (fsync(fd) != 0) e = fail(why, "sync directory", subdir);
    (void)close(fd);
    return e;
}

static enum err op_list(struct disk *d, const char *subdir, disk_list_fn each, void *ctx, struct why *why) {
    int fd = -1;
    enum err e = dir_open(d, subdir, &fd, why);
    if (e != ERR_OK) return e;
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        e = fail(why, "list", subdir);
        (void)close(fd);
        return e;
    }
    for (;;) {
        errno = 0;
        struct dirent *row = readdir(dir);
        if (row == NULL) {
            if (errno != 0) e = fail(why, "list", subdir);
            break;
        }
        struct stat st;
        if (fstatat(fd, row->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue; /* gone since: not there */
        if (S_ISREG(st.st_mode)) each(ctx, row->d_name, (uint64_t)st.st_size);
    }
    (void)closedir(dir);
    return e;
}

/* Who holds a lock writes its number into the file, for people. 0: it is not known. */
static int lock_owner(int fd) {
    char text[16] = "";
    if (pread(fd, text, sizeof text - 1, 0) <= 0) return 0;
    long pid = strtol(text, NULL, 10);
    return pid > 0 && pid <= INT32_MAX ? (int)pid : 0;
}

static enum err lock_taken(int fd, const char *name, struct why *why) {
    int pid = lock_owner(fd);
    char who[32] = "another process";
    if (pid != 0) snprintf(who, sizeof who, "process %d", pid);
    return why_set(why, ERR_CONFLICT, "%s: %s already uses this directory; stop it, or choose another with --data",
                   name, who);
}

bool osdisk_is_locked(const char *path, const char *name, int *ret_pid) {
    char full[PATH_MAX];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (snprintf(full, sizeof full, "%s/%s", path, name) >= (int)sizeof full) return false;
    int fd = open(full, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return false;
    bool is_locked = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (is_locked) *ret_pid = lock_owner(fd);
    (void)close(fd);
    return is_locked;
}

static enum err op_lock(struct disk *d, const char *name, struct why *why) {
    struct osdisk *o = of(d);
    REQUIRE(name_is_plain(name));
    REQUIRE(o->lock_count < sizeof o->locks / sizeof o->locks[0] && strlen(name) < sizeof o->locks[0].name);
    int fd = openat(o->dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return fail(why, "open", name);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
        enum err e = errno == EAGAIN || errno == EACCES ? lock_taken(fd, name, why) : fail(why, "lock", name);
        (void)close(fd);
        return e;
    }
    if (ftruncate(fd, 0) == 0) (void)!dprintf(fd, "%d\n", (int)getpid()); /* on a full disk the lock holds, too */
    o->locks[o->lock_count].fd = fd;
    memcpy(o->locks[o->lock_count++].name, name, strlen(name) + 1);
    return ERR_OK;
}

static void op_unlock(struct disk *d, const char *name) {
    struct osdisk *o = of(d);
    uint32_t i = 0;
    while (i < o->lock_count && strcmp(o->locks[i].name, name) != 0) i++;
    REQUIRE(i < o->lock_count);
    (void)close(o->locks[i].fd);
    o->locks[i] = o->locks[--o->lock_count];
}

static enum err op_space(struct disk *d, uint64_t *ret, struct why *why) {
    struct statvfs st;
    if (fstatvfs(of(d)->dir, &st) != 0) return fail(why, "statvfs", ".");
    *ret = (uint64_t)st.f_bavail * st.f_frsize;
    return ERR_OK;
}

static const struct disk_ops ops = {
    .open = op_open,
    .close = op_close,
    .size = op_size,
    .read = op_read,
    .write = op_write,
    .sync = op_sync,
    .allocate = op_allocate,
    .rename = op_rename,
    .remove = op_remove,
    .mkdir = op_mkdir,
    .sync_dir = op_sync_dir,
    .list = op_list,
    .lock = op_lock,
    .unlock = op_unlock,
    .space = op_space,
};

enum err osdisk_open(const char *path, struct disk **ret, struct why *why) {
    REQUIRE(path != NULL && ret != NULL);
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return fail(why, "mkdir", path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fail(why, "open directory", path);
    struct osdisk *o = calloc(1, sizeof *o);
    ENSURE(o != NULL);
    o->disk.ops = &ops;
    o->dir = fd;
    *ret = &o->disk;
    return ERR_OK;
}

void osdisk_close(struct disk *d) {
    struct osdisk *o = of(d);
    for (uint32_t i = 0; i < o->lock_count; i++) (void)close(o->locks[i].fd);
    (void)close(o->dir);
    free(o);
}
