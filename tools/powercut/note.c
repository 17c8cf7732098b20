/* note.c: see note.h. Nothing is remembered from call to call but the descriptor of the log: what a descriptor is, is
 * asked of the kernel each time, so forks, threads and programs that close everything make no difference. All calls are
 * system calls, because the functions of these names are the shim's own. */
#include "note.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define LOG_FD_LEAST 700 /* out of the way of who counts on small numbers */
#define PIECE_BYTES 65536u
#define DIRS_MAX 4
#define TROUBLE_BYTES 200u

static struct {
    const char *dirs[DIRS_MAX];
    const char *state;
    bool lies; /* syncs are answered, and nothing becomes durable */
    int log;
    uint64_t log_inode, device;
    pthread_mutex_t lock;
} g = {.log = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

static void die(const char *what) {
    char text[200];
    int len = snprintf(text, sizeof text, "powercut: %s: %s\n", what, strerrordesc_np(errno));
    (void)!syscall(SYS_write, 2, text, len);
    abort(); /* going on would make a loss, or hide one */
}

static void lock(void) {
    pthread_mutex_lock(&g.lock);
}

static void unlock(void) {
    pthread_mutex_unlock(&g.lock);
}

__attribute__((constructor)) static void begin(void) {
    const char *dirs = getenv("POWERCUT_DIRS");
    g.state = getenv("POWERCUT_STATE");
    g.lies = getenv("POWERCUT_LIE") != NULL;
    if (dirs == NULL || g.state == NULL) return;
    char *copy = strdup(dirs), *rest = NULL;
    g.state = strdup(g.state); /* a program may change its environment */
    int count = 0;
    for (char *dir = strtok_r(copy, ":", &rest); dir != NULL && count < DIRS_MAX; dir = strtok_r(NULL, ":", &rest))
        g.dirs[count++] = dir;
    pthread_atfork(lock, unlock, unlock);
}

/* ---- the log ---- */

static void log_open(void) {
    char path[POWERCUT_PATH_MAX];
    struct stat st;
    if (g.log >= 0 && fstat(g.log, &st) == 0 && st.st_ino == g.log_inode) return;
    snprintf(path, sizeof path, "%s/log", g.state);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) die(path);
    g.log = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, LOG_FD_LEAST);
    if (g.log < 0) { /* fewer descriptors than that are allowed */
        g.log = fd;
    } else {
        (void)syscall(SYS_close, fd);
    }
    if (fstat(g.log, &st) != 0) die(path);
    g.log_inode = st.st_ino;
    g.device = st.st_dev;
}

uint64_t note_position(void) {
    struct stat st;
    log_open();
    if (fstat(g.log, &st) != 0) die("log");
    return (uint64_t)st.st_size;
}

/* One write, so that records of several processes do not mix. */
static void put(struct powercut_record *r, const char *path, const char *path2, const void *old) {
    r->magic = POWERCUT_MAGIC;
    r->path_bytes = path != NULL ? (uint32_t)strlen(path) : 0;
    r->path2_bytes = path2 != NULL ? (uint32_t)strlen(path2) : 0;
    r->check = powercut_check(r);
    struct iovec parts[] = {{r, sizeof *r},
                            {(void *)(uintptr_t)path, r->path_bytes},
                            {(void *)(uintptr_t)path2, r->path2_bytes},
                            {(void *)(uintptr_t)old, r->old_bytes}};
    ssize_t all = (ssize_t)(sizeof *r + r->path_bytes + r->path2_bytes + r->old_bytes);
    log_open();
    if (syscall(SYS_writev, g.log, parts, 4) != all) die("log");
}

void note_begin(void) {
    lock();
}

void note_end(void) {
    unlock();
}

/* ---- what is ours ---- */

static bool below(const char *path) {
    for (int i = 0; i < DIRS_MAX && g.dirs[i] != NULL; i++) {
        size_t len = strlen(g.dirs[i]);
        if (strncmp(path, g.dirs[i], len) == 0 && path[len] == '/' && path[len + 1] != 0) return true;
    }
    return false;
}

/* A directory that loses power, or one below. */
static bool below_or_same(const char *path) {
    for (int i = 0; i < DIRS_MAX && g.dirs[i] != NULL; i++)
        if (strcmp(path, g.dirs[i]) == 0) return true;
    return below(path);
}

static bool path_of(int fd, char ret[POWERCUT_PATH_MAX]) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, ret, POWERCUT_PATH_MAX - 1);
    if (len <= 0) return false;
    ret[len] = 0;
    return true;
}

bool note_file(int fd, struct stat *ret) {
    char path[POWERCUT_PATH_MAX];
    if (g.dirs[0] == NULL || fd < 0) return false;
    int before = errno;
    bool ours = fstat(fd, ret) == 0 && (S_ISREG(ret->st_mode) || S_ISDIR(ret->st_mode)) && path_of(fd, path) &&
                below_or_same(path);
    errno = before;
    return ours;
}

bool note_name(struct note_name *n, int dir, const char *name) {
    char base[POWERCUT_PATH_MAX] = "";
    int before = errno;
    if (g.dirs[0] == NULL || name == NULL) return false;
    while (name[0] == '.' && name[1] == '/') name += 2;
    bool known = name[0] == '/' || (dir == AT_FDCWD ? getcwd(base, sizeof base) != NULL : path_of(dir, base));
    int len = snprintf(n->path, sizeof n->path, "%s%s%s", base, name[0] != '/' ? "/" : "", name);
    if (!known || len >= (int)sizeof n->path) {
        errno = before;
        return false;
    }
    n->is_ours = below(n->path);
    if (n->is_ours) {
        struct stat st;
        char *slash = strrchr(n->path, '/');
        n->exists = fstatat(AT_FDCWD, n->path, &n->st, AT_SYMLINK_NOFOLLOW) == 0;
        *slash = 0;
        n->parent = fstatat(AT_FDCWD, n->path, &st, 0) == 0 ? st.st_ino : 0;
        *slash = '/';
    }
    errno = before;
    return n->is_ours;
}

/* ---- bytes ---- */

/* Read by a descriptor of our own: theirs may be for writing only. */
static size_t read_old(int fd, off_t at, void *to, size_t len) {
    ssize_t got = syscall(SYS_pread64, fd, to, len, at);
    if (got < 0 && errno == EBADF) {
        char link[40];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        int own = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
        if (own < 0) die("old bytes");
        got = syscall(SYS_pread64, own, to, len, at);
        (void)syscall(SYS_close, own);
    }
    if (got < 0) die("old bytes");
    return (size_t)got;
}

static bool is_zero(const unsigned char *at, size_t len) {
    return len == 0 || (at[0] == 0 && memcmp(at, at + 1, len - 1) == 0);
}

void note_write(int fd, const struct stat *st, off_t offset, uint64_t bytes) {
    static unsigned char old[PIECE_BYTES]; /* under the lock */
    int before = errno;
    uint64_t at = (uint64_t)offset, end = at + bytes, size = (uint64_t)st->st_size;
    struct powercut_record r = {.kind = POWERCUT_WRITE, .file = st->st_ino, .size_before = size};
    /* Piece by piece; what was written beyond the end needs no bytes, only the size. */
    while (at < end && at < size) {
        uint64_t len = end < size ? end - at : size - at;
        if (len > PIECE_BYTES) len = PIECE_BYTES;
        size_t got = read_old(fd, (off_t)at, old, len);
        if (got == 0) break;
        r.offset = at;
        r.bytes = got;
        r.old_bytes = is_zero(old, got) ? 0 : got;
        r.old_zeroes = got - r.old_bytes;
        put(&r, NULL, NULL, old);
        at += got;
    }
    if (at < end) {
        r.offset = at;
        r.bytes = end - at;
        r.old_bytes = r.old_zeroes = 0;
        put(&r, NULL, NULL, NULL);
    }
    errno = before;
}

void note_size(int fd, const struct stat *st, uint64_t bytes) {
    uint64_t size = (uint64_t)st->st_size;
    if (bytes < size)
        note_write(fd, st, (off_t)bytes, size - bytes);
    else if (bytes > size)
        note_write(fd, st, st->st_size, bytes - size);
}

void note_sync(int fd, uint64_t upto) {
    struct stat st;
    int before = errno;
    if (g.lies || fstat(fd, &st) != 0) return;
    struct powercut_record r = {.kind = POWERCUT_SYNC, .file = st.st_ino, .offset = upto};
    lock();
    put(&r, NULL, NULL, NULL);
    unlock();
    errno = before;
}

void note_sync_all(void) {
    struct powercut_record r = {.kind = POWERCUT_SYNC_ALL};
    int before = errno;
    if (g.dirs[0] == NULL || g.lies) return;
    lock();
    r.offset = note_position();
    put(&r, NULL, NULL, NULL);
    unlock();
    errno = before;
}

/* ---- trouble ---- */

/* Of the file that `path` is: the lines whose part stands in its path. */
static void trouble_read(const char *text, const char *path, struct note_trouble *ret) {
    for (const char *line = text; line != NULL && line[0] != 0; line = strchr(line, '\n'), line += line != NULL) {
        char part[TROUBLE_BYTES];
        unsigned us;
        if (sscanf(line, "slow %u %199s", &us, part) == 2 && strstr(path, part) != NULL) ret->slow_us = us;
        if (sscanf(line, "fail %199s", part) == 1 && strstr(path, part) != NULL) ret->fails = true;
    }
}

void note_trouble(int fd, struct note_trouble *ret) {
    char name[POWERCUT_PATH_MAX], path[POWERCUT_PATH_MAX], text[TROUBLE_BYTES];
    int before = errno;
    *ret = (struct note_trouble){0};
    snprintf(name, sizeof name, "%s/trouble", g.state);
    int file = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0);
    ssize_t len = file >= 0 ? syscall(SYS_read, file, text, sizeof text - 1) : -1;
    if (file >= 0) (void)syscall(SYS_close, file);
    if (len > 0 && path_of(fd, path)) {
        text[len] = 0;
        trouble_read(text, path, ret);
    }
    errno = before;
}

/* ---- names ---- */

/* A further link to the file, under a number that is in no use. */
static uint64_t bury(const char *path) {
    char grave[POWERCUT_PATH_MAX];
    struct timespec t;
    for (int i = 0; i < 1000; i++) {
        clock_gettime(CLOCK_REALTIME, &t);
        uint64_t number = ((uint64_t)t.tv_sec << 30) + (uint64_t)t.tv_nsec;
        snprintf(grave, sizeof grave, "%s/grave/%llu", g.state, (unsigned long long)number);
        if (syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, grave, 0) == 0) return number;
        if (errno != EEXIST) break;
    }
    if (errno == ENOENT) return 0; /* somebody else was faster */
    die(grave);
    return 0;
}

void note_create(const struct note_name *n) {
    struct stat st;
    int before = errno;
    if (fstatat(AT_FDCWD, n->path, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        struct powercut_record r = {.kind = POWERCUT_CREATE, .file = st.st_ino, .dir = n->parent};
        put(&r, n->path, NULL, NULL);
    }
    errno = before;
}

void note_mkdir(const struct note_name *n) {
    struct powercut_record r = {.kind = POWERCUT_MKDIR, .dir = n->parent};
    int before = errno;
    put(&r, n->path, NULL, NULL);
    errno = before;
}

void note_remove(const struct note_name *n) {
    int before = errno;
    if (!n->exists || S_ISDIR(n->st.st_mode)) return;
    struct powercut_record r = {
        .kind = POWERCUT_REMOVE, .file = n->st.st_ino, .dir = n->parent, .grave = bury(n->path)};
    if (r.grave != 0) put(&r, n->path, NULL, NULL);
    errno = before;
}

void note_rmdir(const struct note_name *n) {
    int before = errno;
    struct powercut_record r = {.kind = POWERCUT_RMDIR, .dir = n->parent};
    if (n->exists && S_ISDIR(n->st.st_mode)) put(&r, n->path, NULL, NULL);
    errno = before;
}

void note_rename(const struct note_name *from, const struct note_name *to) {
    int before = errno;
    if (!from->exists) return;
    struct powercut_record r = {
        .kind = POWERCUT_RENAME, .file = from->st.st_ino, .dir = from->parent, .dir2 = to->parent};
    if (to->exists && !S_ISDIR(to->st.st_mode) && to->st.st_ino != from->st.st_ino) r.grave = bury(to->path);
    put(&r, from->path, to->path, NULL);
    errno = before;
}
