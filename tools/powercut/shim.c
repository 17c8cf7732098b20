/* shim.c: the functions that change files, in place of the C library's (LD_PRELOAD). Each does what it is asked for,
 * and notes before how to undo it (note.h). What is synced is noted too; `powercut cut` then takes back all the rest,
 * as a power cut would.
 *
 * Not seen, and so never taken back: what the C library writes by itself (stdio), shared mappings, system calls made
 * without it. That makes the test milder, never wrong. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "note.h"

#define EXPORT __attribute__((visibility("default")))
#define SAME_AS(name) EXPORT __attribute__((alias(#name)))

static bool needs_mode(int flags) {
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

/* ---- opening ---- */

static int open_any(int dir, const char *path, int flags, mode_t mode) {
    struct note_name n;
    bool changes = (flags & (O_CREAT | O_TRUNC)) != 0 && (flags & O_TMPFILE) != O_TMPFILE;
    if (!changes || !note_name(&n, dir, path)) return (int)syscall(SYS_openat, dir, path, flags, mode);
    note_begin();
    (void)note_name(&n, dir, path); /* as it is now that nobody else changes it */
    bool empties = n.exists && (flags & O_TRUNC) && S_ISREG(n.st.st_mode) && n.st.st_size > 0;
    int old = empties ? (int)syscall(SYS_openat, AT_FDCWD, n.path, O_RDONLY | O_CLOEXEC, 0) : -1;
    if (old >= 0) note_size(old, &n.st, 0);
    if (old >= 0) (void)syscall(SYS_close, old);
    int fd = (int)syscall(SYS_openat, dir, path, flags, mode);
    if (fd >= 0 && !n.exists) note_create(&n);
    note_end();
    return fd;
}

#define TAKE_MODE(flags)                  \
    mode_t mode = 0;                      \
    if (needs_mode(flags)) {              \
        va_list list;                     \
        va_start(list, flags);            \
        mode = (mode_t)va_arg(list, int); \
        va_end(list);                     \
    }

EXPORT int open(const char *path, int flags, ...) {
    TAKE_MODE(flags)
    return open_any(AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int dir, const char *path, int flags, ...) {
    TAKE_MODE(flags)
    return open_any(dir, path, flags, mode);
}

EXPORT int creat(const char *path, mode_t mode) {
    return open_any(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* What fortified programs call when no mode is given. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

EXPORT int __open_2(const char *path, int flags) {
    return open_any(AT_FDCWD, path, flags, 0);
}

EXPORT int __openat_2(int dir, const char *path, int flags) {
    return open_any(dir, path, flags, 0);
}

SAME_AS(open) int open64(const char *path, int flags, ...);
SAME_AS(openat) int openat64(int dir, const char *path, int flags, ...);
SAME_AS(creat) int creat64(const char *path, mode_t mode);
SAME_AS(__open_2) int __open64_2(const char *path, int flags);
SAME_AS(__openat_2) int __openat64_2(int dir, const char *path, int flags);

/* ---- writing ---- */

static uint64_t total(const struct iovec *parts, int count) {
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) sum += parts[i].iov_len;
    return sum;
}

/* Where a write without an offset goes. */
static off_t here(int fd, const struct stat *st) {
    int flags = (int)syscall(SYS_fcntl, fd, F_GETFL);
    return flags >= 0 && (flags & O_APPEND) ? st->st_size : (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);
}

/* Begins a change of a file of ours: it is looked at again under the lock. */
static bool begin(int fd, struct stat *st) {
    if (!note_file(fd, st) || !S_ISREG(st->st_mode)) return false;
    note_begin();
    (void)note_file(fd, st);
    return true;
}

/* Ends it. Some descriptors, and some writes, are synced before they return. */
static ssize_t end(int fd, bool ours, bool is_synced, ssize_t rc) {
    if (!ours) return rc;
    int code = errno, flags = (int)syscall(SYS_fcntl, fd, F_GETFL);
    uint64_t upto = note_position();
    note_end();
    if (rc >= 0 && (is_synced || (flags >= 0 && (flags & O_DSYNC)))) note_sync(fd, upto);
    errno = code;
    return rc;
}

EXPORT ssize_t write(int fd, const void *from, size_t len) {
    struct stat st;
    bool ours = begin(fd, &st);
    if (ours) note_write(fd, &st, here(fd, &st), len);
    return end(fd, ours, false, syscall(SYS_write, fd, from, len));
}

EXPORT ssize_t pwrite(int fd, const void *from, size_t len, off_t at) {
    struct stat st;
    bool ours = begin(fd, &st);
    if (ours) note_write(fd, &st, at, len);
    return end(fd, ours, false, syscall(SYS_pwrite64, fd, from, len, at));
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count) {
    struct stat st;
    bool ours = begin(fd, &st);
    if (ours) note_write(fd, &st, here(fd, &st), total(parts, count));
    return end(fd, ours, false, syscall(SYS_writev, fd, parts, count));
}

EXPORT ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t at, int flags) {
    struct stat st;
    bool ours = begin(fd, &st);
    if (ours) note_write(fd, &st, at < 0 ? here(fd, &st) : at, total(parts, count));
    long rc = syscall(SYS_pwritev2, fd, parts, count, at, 0, flags);
    return end(fd, ours, (flags & (RWF_DSYNC | RWF_SYNC)) != 0, rc);
}

EXPORT ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
    return pwritev2(fd, parts, count, at, 0);
}

EXPORT ssize_t copy_file_range(int from, off64_t *from_at, int fd, off64_t *at, size_t len, unsigned flags) {
    struct stat st;
    bool ours = begin(fd, &st);
    if (ours) note_write(fd, &st, at != NULL ? *at : here(fd, &st), len);
    return end(fd, ours, false, syscall(SYS_copy_file_range, from, from_at, fd, at, len, flags));
}

EXPORT ssize_t sendfile(int fd, int from, off_t *from_at, size_t len) {
    struct stat st;
    bool ours = begin(fd, &st);
    if (ours) note_write(fd, &st, here(fd, &st), len);
    return end(fd, ours, false, syscall(SYS_sendfile, fd, from, from_at, len));
}

SAME_AS(pwrite) ssize_t pwrite64(int fd, const void *from, size_t len, off64_t at);
SAME_AS(pwritev) ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at);
SAME_AS(pwritev2) ssize_t pwritev64v2(int fd, const struct iovec *parts, int count, off64_t at, int flags);
SAME_AS(sendfile) ssize_t sendfile64(int fd, int from, off64_t *from_at, size_t len);

/* ---- sizes ---- */

EXPORT int ftruncate(int fd, off_t bytes) {
    struct stat st;
    bool ours = begin(fd, &st);
    if (ours) note_size(fd, &st, (uint64_t)bytes);
    return (int)end(fd, ours, false, syscall(SYS_ftruncate, fd, bytes));
}

EXPORT int truncate(const char *path, off_t bytes) {
    int fd = open_any(AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0) return -1;
    int rc = ftruncate(fd, bytes), code = errno;
    (void)syscall(SYS_close, fd);
    errno = code;
    return rc;
}

/* With a mode it may take bytes away: all that it names counts as written. */
static int allocate(int fd, int mode, off_t at, off_t bytes) {
    struct stat st;
    bool ours = begin(fd, &st);
    if (ours && mode != 0)
        note_write(fd, &st, at, (uint64_t)bytes);
    else if (ours)
        note_size(fd, &st, (uint64_t)(at + bytes > st.st_size ? at + bytes : st.st_size));
    return (int)end(fd, ours, false, syscall(SYS_fallocate, fd, mode, at, bytes));
}

EXPORT int fallocate(int fd, int mode, off_t at, off_t bytes) {
    return allocate(fd, mode, at, bytes);
}

EXPORT int posix_fallocate(int fd, off_t at, off_t bytes) {
    int before = errno, rc = allocate(fd, 0, at, bytes) == 0 ? 0 : errno;
    errno = before;
    return rc;
}

SAME_AS(ftruncate) int ftruncate64(int fd, off64_t bytes);
SAME_AS(truncate) int truncate64(const char *path, off64_t bytes);
SAME_AS(fallocate) int fallocate64(int fd, int mode, off64_t at, off64_t bytes);
SAME_AS(posix_fallocate) int posix_fallocate64(int fd, off64_t at, off64_t bytes);

/* ---- syncing ---- */

static void pause_us(unsigned us) {
    struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};
    (void)syscall(SYS_nanosleep, &t, NULL);
}

/* A slow sync takes its time before all is durable and after it, in any proportion: who kills the program meanwhile
 * finds written and not durable things, or durable and not yet answered ones. */
static int sync_any(long number, int fd) {
    struct stat st;
    struct note_trouble trouble = {0};
    struct timespec now = {0};
    uint64_t upto = 0;
    if (!note_file(fd, &st)) return (int)syscall(number, fd);
    note_trouble(fd, &trouble);
    if (trouble.fails) {
        errno = EIO;
        return -1;
    }
    (void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    unsigned first = trouble.slow_us > 0 ? (unsigned)((unsigned long)now.tv_nsec / 64 % trouble.slow_us) : 0;
    note_begin();
    upto = note_position(); /* what comes while it works is not covered */
    note_end();
    if (trouble.slow_us > 0) pause_us(first);
    int rc = (int)syscall(number, fd);
    if (rc == 0) note_sync(fd, upto);
    int code = errno;
    if (trouble.slow_us > 0) pause_us(trouble.slow_us - first);
    errno = code;
    return rc;
}

EXPORT int fsync(int fd) {
    return sync_any(SYS_fsync, fd);
}

EXPORT int fdatasync(int fd) {
    return sync_any(SYS_fdatasync, fd);
}

EXPORT void sync(void) {
    (void)syscall(SYS_sync);
    note_sync_all();
}

EXPORT int syncfs(int fd) {
    int rc = (int)syscall(SYS_syncfs, fd);
    if (rc == 0) note_sync_all();
    return rc;
}

/* ---- names ---- */

static int rename_any(int from_dir, const char *from, int to_dir, const char *to, unsigned flags) {
    struct note_name a, b;
    if (!note_name(&a, from_dir, from) || !note_name(&b, to_dir, to))
        return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
    note_begin();
    (void)note_name(&a, from_dir, from);
    (void)note_name(&b, to_dir, to);
    note_rename(&a, &b);
    int rc = (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags), code = errno;
    note_end();
    errno = code;
    return rc;
}

EXPORT int rename(const char *from, const char *to) {
    return rename_any(AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT int renameat(int from_dir, const char *from, int to_dir, const char *to) {
    return rename_any(from_dir, from, to_dir, to, 0);
}

EXPORT int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags) {
    return rename_any(from_dir, from, to_dir, to, flags);
}

EXPORT int unlinkat(int dir, const char *path, int flags) {
    struct note_name n;
    if (!note_name(&n, dir, path)) return (int)syscall(SYS_unlinkat, dir, path, flags);
    note_begin();
    (void)note_name(&n, dir, path);
    if (flags & AT_REMOVEDIR)
        note_rmdir(&n);
    else
        note_remove(&n);
    int rc = (int)syscall(SYS_unlinkat, dir, path, flags), code = errno;
    note_end();
    errno = code;
    return rc;
}

EXPORT int unlink(const char *path) {
    return unlinkat(AT_FDCWD, path, 0);
}

EXPORT int rmdir(const char *path) {
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

EXPORT int remove(const char *path) {
    int rc = unlink(path);
    return rc != 0 && errno == EISDIR ? rmdir(path) : rc;
}

EXPORT int mkdirat(int dir, const char *path, mode_t mode) {
    struct note_name n;
    if (!note_name(&n, dir, path)) return (int)syscall(SYS_mkdirat, dir, path, mode);
    note_begin();
    int rc = (int)syscall(SYS_mkdirat, dir, path, mode), code = errno;
    if (rc == 0) note_mkdir(&n);
    note_end();
    errno = code;
    return rc;
}

EXPORT int mkdir(const char *path, mode_t mode) {
    return mkdirat(AT_FDCWD, path, mode);
}

EXPORT int linkat(int from_dir, const char *from, int dir, const char *path, int flags) {
    struct note_name n;
    if (!note_name(&n, dir, path)) return (int)syscall(SYS_linkat, from_dir, from, dir, path, flags);
    note_begin();
    int rc = (int)syscall(SYS_linkat, from_dir, from, dir, path, flags), code = errno;
    if (rc == 0) note_create(&n);
    note_end();
    errno = code;
    return rc;
}

EXPORT int link(const char *from, const char *path) {
    return linkat(AT_FDCWD, from, AT_FDCWD, path, 0);
}
