/* osspace.c: see osspace.h.
 *
 * A job may leave a million files, and the loop must not wait for their end: a directory with more than a few is moved
 * aside under a fresh name, which is one rename, and a thread removes what lies there. After a crash it lies there
 * still, and goes at the next start. Must not: follow a link that a job has made.
 *
 * Making and removing directories is what a file system is slow at (ext4: as much as starting a small program). So one
 * that its job left empty and as it was made is kept under another name, and is the next job's: two renames in place of
 * two directories made and removed. */
#include "osspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "panic.h"

#define ROOT_MAX 512u
#define SMALL_COUNT 16u
#define SPARE_MAX 64u /* kept for others: about as many as run at once */
#define WALK_FILES 32 /* descriptors while removing */

struct osspace {
    struct space space; /* first: the port's pointer is ours */
    char root[ROOT_MAX], trash[ROOT_MAX + 8];
    uint64_t serial;
    uint32_t spare_count; /* they are called .spare0, .spare1, … */
    pthread_t remover;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t more;
    uint64_t moved, removed; /* moved aside, looked after */
    bool is_over;
};

static struct osspace *of(struct space *s) {
    return (struct osspace *)s;
}

static enum err fail(struct why *why, const char *what, const char *name) {
    int code = errno;
    enum err e = code == ENOENT                     ? ERR_NOT_FOUND
                 : code == ENOSPC || code == EDQUOT ? ERR_NO_SPACE
                 : code == EACCES || code == EPERM  ? ERR_FORBIDDEN
                                                    : ERR_IO;
    return why_set(why, e, "%s %s: %s", what, name, strerrordesc_np(code));
}

/* ---- removing ---- */

/* Directories are opened to us first: a job may have closed its own. */
static int entry_remove(const char *path, const struct stat *st, int kind, struct FTW *where) {
    (void)st, (void)where;
    if (kind == FTW_DP || kind == FTW_DNR) {
        if (kind == FTW_DNR) (void)chmod(path, 0700);
        (void)rmdir(path);
    } else {
        (void)unlink(path);
    }
    return 0;
}

static void tree_remove(const char *path) {
    (void)nftw(path, entry_remove, WALK_FILES, FTW_DEPTH | FTW_PHYS);
    struct stat st;
    if (lstat(path, &st) == 0) (void)nftw(path, entry_remove, WALK_FILES, FTW_DEPTH | FTW_PHYS); /* now opened */
}

static void trash_empty(const struct osspace *o) {
    DIR *dir = opendir(o->trash);
    if (dir == NULL) return;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char path[ROOT_MAX + 300];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(path, sizeof path, "%s/%s", o->trash, entry->d_name);
        tree_remove(path);
    }
    (void)closedir(dir);
}

static void *remover_run(void *ctx) {
    struct osspace *o = ctx;
    (void)pthread_mutex_lock(&o->lock);
    for (;;) {
        while (o->moved == o->removed && !o->is_over) (void)pthread_cond_wait(&o->more, &o->lock);
        if (o->moved == o->removed) break;
        uint64_t upto = o->moved;
        (void)pthread_mutex_unlock(&o->lock);
        trash_empty(o);
        (void)pthread_mutex_lock(&o->lock);
        o->removed = upto;
    }
    (void)pthread_mutex_unlock(&o->lock);
    return NULL;
}

static void move_aside(struct osspace *o, const char *path) {
    char to[ROOT_MAX + 64];
    snprintf(to, sizeof to, "%s/%ld-%llu", o->trash, (long)getpid(), (unsigned long long)++o->serial);
    if (rename(path, to) != 0) return; /* not there */
    (void)pthread_mutex_lock(&o->lock);
    o->moved++;
    (void)pthread_cond_signal(&o->more);
    (void)pthread_mutex_unlock(&o->lock);
}

static void op_path(struct space *s, const char *name, const char *inside, char ret[SPACE_PATH_MAX]) {
    int len = snprintf(ret, SPACE_PATH_MAX, "%s/%s%s%s", of(s)->root, name, inside[0] != 0 ? "/" : "", inside);
    ENSURE(len > 0 && (unsigned)len < SPACE_PATH_MAX);
}

static void spare_path(const struct osspace *o, uint32_t number, char ret[SPACE_PATH_MAX]) {
    snprintf(ret, SPACE_PATH_MAX, "%s/.spare%u", o->root, number);
}

/* Ours alone, as it was made. A job may have given it to someone else. */
static bool is_as_made(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 07777) == 0700;
}

/* Takes the files out of a directory. False: there is more, or something else than files and `work`. */
static bool files_remove(DIR *dir, bool *ret_has_work) {
    uint32_t count = 0;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (entry->d_type == DT_DIR && ret_has_work != NULL && strcmp(entry->d_name, "work") == 0)
            *ret_has_work = true;
        else if (++count > SMALL_COUNT || unlinkat(dirfd(dir), entry->d_name, 0) != 0)
            return false;
    }
    return true;
}

/* Most jobs leave next to nothing: that is gone sooner than a thread is woken. False: there is more. */
static bool small_remove(struct osspace *o, const char *path) {
    DIR *dir = opendir(path), *work = NULL;
    if (dir == NULL) return false;
    bool has_work = false, is_clear = files_remove(dir, &has_work);
    int fd = is_clear && has_work ? openat(dirfd(dir), "work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd >= 0 && (work = fdopendir(fd)) == NULL) (void)close(fd);
    if (is_clear && has_work) is_clear = work != NULL && files_remove(work, NULL);
    bool is_spare = is_clear && has_work && o->spare_count < SPARE_MAX && is_as_made(fd) && is_as_made(dirfd(dir));
    if (is_clear && has_work && !is_spare) is_clear = unlinkat(dirfd(dir), "work", AT_REMOVEDIR) == 0;
    if (work != NULL) (void)closedir(work);
    (void)closedir(dir);
    if (!is_spare) return is_clear && rmdir(path) == 0;
    char to[SPACE_PATH_MAX];
    spare_path(o, o->spare_count, to);
    if (rename(path, to) != 0) return false;
    o->spare_count++;
    return true;
}

static void op_remove(struct space *s, const char *name) {
    char path[SPACE_PATH_MAX];
    op_path(s, name, "", path);
    if (!small_remove(of(s), path)) move_aside(of(s), path);
}

/* ---- making, writing, reading ---- */

/* One that another job left as it was made. An empty directory in its place, of an earlier life, is replaced. */
static bool spare_take(struct osspace *o, const char *path) {
    char from[SPACE_PATH_MAX];
    if (o->spare_count == 0) return false;
    spare_path(o, o->spare_count - 1, from);
    if (rename(from, path) != 0) return false;
    o->spare_count--;
    return true;
}

static enum err op_make(struct space *s, const char *name, struct why *why) {
    char path[SPACE_PATH_MAX];
    REQUIRE(strchr(name, '/') == NULL && name[0] != '.');
    op_path(s, name, "", path);
    if (spare_take(of(s), path)) return ERR_OK;
    if (mkdir(path, 0700) != 0) {
        if (errno != EEXIST) return fail(why, "mkdir", path);
        move_aside(of(s), path); /* of an earlier life */
        if (mkdir(path, 0700) != 0) return fail(why, "mkdir", path);
    }
    op_path(s, name, "work", path);
    if (mkdir(path, 0700) != 0) return fail(why, "mkdir", path);
    return ERR_OK;
}

/* Those above the last name of the path, from that many bytes of it on. */
static void parents_make(char *path, size_t from) {
    for (char *slash = strchr(path + from, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(path, 0700); /* mostly there; what else is wrong the open will say */
        *slash = '/';
    }
}

static enum err op_write_at(struct space *s, const char *name, const char *inside, uint64_t offset, struct slice bytes,
                            bool executable, struct why *why) {
    char path[SPACE_PATH_MAX];
    op_path(s, name, inside, path);
    int how = offset == 0 ? O_CREAT | O_TRUNC : 0;
    if (offset == 0) parents_make(path, strlen(of(s)->root) + 1);
    int fd = open(path, O_WRONLY | how | O_CLOEXEC | O_NOFOLLOW, executable ? 0700 : 0600);
    if (fd < 0) return fail(why, "open", inside);
    enum err e = ERR_OK;
    while (bytes.len > 0) {
        ssize_t put = pwrite(fd, bytes.ptr, bytes.len, (off_t)offset);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            e = fail(why, "write", inside);
            break;
        }
        bytes = slice_of(bytes.ptr + put, bytes.len - (size_t)put);
        offset += (uint64_t)put;
    }
    (void)close(fd);
    return e;
}

static enum err op_write(struct space *s, const char *name, const char *inside, struct slice bytes, bool executable,
                         struct why *why) {
    return op_write_at(s, name, inside, 0, bytes, executable, why);
}

/* Without waiting: it may be a pipe by now. And by no link, also not by one on the way: the job made what is there, and
 * the worker may read more than the job may. The root itself has none. */
static enum err plain_open(struct space *s, const char *name, const char *inside, int *ret, struct why *why) {
    char path[SPACE_PATH_MAX];
    struct stat st;
    op_path(s, name, inside, path);
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK, .resolve = RESOLVE_NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (fd < 0) return fail(why, "open", inside);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        *ret = fd;
        return ERR_OK;
    }
    (void)close(fd);
    return why_set(why, ERR_INVALID, "%s is not a plain file", inside);
}

static enum err op_read_at(struct space *s, const char *name, const char *inside, uint64_t offset, size_t most,
                           struct buf *ret, struct why *why) {
    int fd = -1;
    enum err e = plain_open(s, name, inside, &fd, why);
    if (e != ERR_OK) return e;
    while (most > 0) {
        uint8_t chunk[16384];
        ssize_t got = pread(fd, chunk, most < sizeof chunk ? most : sizeof chunk, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) e = fail(why, "read", inside);
        if (got <= 0) break;
        buf_put(ret, chunk, (size_t)got);
        offset += (uint64_t)got;
        most -= (size_t)got;
        if (ret->full) e = why_set(why, ERR_LIMIT, "%s is longer than %zu bytes", inside, ret->max);
        if (ret->full) break;
    }
    (void)close(fd);
    return e;
}

static enum err op_read(struct space *s, const char *name, const char *inside, struct buf *ret, struct why *why) {
    return op_read_at(s, name, inside, 0, SIZE_MAX, ret, why);
}

static enum err op_size(struct space *s, const char *name, const char *inside, uint64_t *ret, struct why *why) {
    int fd = -1;
    struct stat st;
    enum err e = plain_open(s, name, inside, &fd, why);
    if (e != ERR_OK) return e;
    if (fstat(fd, &st) != 0)
        e = fail(why, "stat", inside);
    else
        *ret = (uint64_t)st.st_size;
    (void)close(fd);
    return e;
}

static void op_match(struct space *s, const char *name, const char *pattern, space_match_fn each, void *ctx) {
    char path[SPACE_PATH_MAX];
    glob_t found;
    struct stat st;
    op_path(s, name, "", path);
    size_t skip = strlen(path) + 1;
    op_path(s, name, pattern, path);
    if (glob(path, 0, NULL, &found) != 0) return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (lstat(found.gl_pathv[i], &st) == 0 && S_ISREG(st.st_mode)) each(ctx, found.gl_pathv[i] + skip);
    globfree(&found);
}

static const struct space_ops ops = {
    .make = op_make,
    .path = op_path,
    .write = op_write,
    .write_at = op_write_at,
    .read = op_read,
    .read_at = op_read_at,
    .size = op_size,
    .match = op_match,
    .remove = op_remove,
};

enum err osspace_sweep(struct space *s, struct why *why) {
    struct osspace *o = of(s);
    DIR *dir = opendir(o->root);
    if (dir == NULL) return fail(why, "open directory", o->root);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char path[SPACE_PATH_MAX];
        bool is_spare = strncmp(entry->d_name, ".spare", 6) == 0; /* who knows what became of it meanwhile */
        if (entry->d_name[0] == '.' && !is_spare) continue;
        op_path(&o->space, entry->d_name, "", path);
        move_aside(o, path);
    }
    (void)closedir(dir);
    return ERR_OK;
}

enum err osspace_open(const char *path, struct space **ret, struct why *why) {
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return fail(why, "mkdir", path);
    char *full = realpath(path, NULL);
    if (full == NULL) return fail(why, "open", path);
    struct osspace *o = calloc(1, sizeof *o);
    ENSURE(o != NULL);
    o->space.ops = &ops;
    bool fits = snprintf(o->root, sizeof o->root, "%s", full) < (int)sizeof o->root;
    snprintf(o->trash, sizeof o->trash, "%s/.trash", o->root);
    free(full);
    ENSURE(pthread_mutex_init(&o->lock, NULL) == 0 && pthread_cond_init(&o->more, NULL) == 0);
    enum err e = !fits ? why_set(why, ERR_LIMIT, "the path of the directory is too long: %s", path) : ERR_OK;
    if (e == ERR_OK && mkdir(o->trash, 0700) != 0 && errno != EEXIST) e = fail(why, "mkdir", o->trash);
    o->moved = 1; /* what an earlier life moved aside */
    if (e == ERR_OK && pthread_create(&o->remover, NULL, remover_run, o) != 0) e = fail(why, "thread", "remover");
    if (e == ERR_OK)
        *ret = &o->space;
    else
        free(o);
    return e;
}

void osspace_close(struct space *s) {
    struct osspace *o = of(s);
    (void)pthread_mutex_lock(&o->lock);
    o->is_over = true;
    (void)pthread_cond_signal(&o->more);
    (void)pthread_mutex_unlock(&o->lock);
    (void)pthread_join(o->remover, NULL);
    (void)pthread_mutex_destroy(&o->lock);
    (void)pthread_cond_destroy(&o->more);
    free(o);
}
