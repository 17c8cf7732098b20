/* osroot.c: see osroot.h.
 *
 * First everything that is to be seen is taken hold of, as detached copies of its mounts; then an empty root takes the
 * place of the machine's, and the copies are hung into it, parents first. So it does not matter what lies below what,
 * no path is looked up twice in two trees, and a link in a path leads nowhere but into the new tree. */
#include "osroot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "panic.h"
#include "proc.h"

#define PLACES_MAX (3 * PROC_SANDBOX_PATHS_MAX + 32u)
#define STAGE "/tmp" /* where the new root is put together: a directory that every machine has */
#define SHM_OPTIONS "size=64m,mode=1777"
#define PLAIN (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

const char *const osroot_system[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", NULL};

static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", NULL};

/* Closed to others; but the worker may be of a group that they are open to, and a job of an ordinary user's worker
 * cannot leave its groups. */
static const char *const secrets[] = {"/etc/shadow",  "/etc/shadow-",     "/etc/gshadow",     "/etc/gshadow-",
                                      "/etc/sudoers", "/etc/ssl/private", "/etc/krb5.keytab", NULL};

struct osroot_place {
    const char *path;
    int tree; /* a detached copy; -1: an empty directory */
    bool is_dir;
};

struct view {
    struct osroot_place places[PLACES_MAX];
    uint32_t count;
    char exe[PATH_MAX], resolver[PATH_MAX], tmp[PATH_MAX];
};

static enum err fail(struct why *why, const char *what) {
    return why_set(why, ERR_UNSUPPORTED, "%s: %s", what, strerrordesc_np(errno));
}

/* ---- taking hold ---- */

static struct osroot_place *place_add(struct view *v, const char *path) {
    ENSURE(v->count < PLACES_MAX);
    struct osroot_place *p = &v->places[v->count++];
    *p = (struct osroot_place){path, -1, true};
    return p;
}

static bool is_below(const char *path, const char *top) {
    size_t len = strlen(top);
    if (len == 1) return true; /* the root */
    return strncmp(path, top, len) == 0 && (path[len] == 0 || path[len] == '/');
}

static bool is_below_any(const char *path, const char *const *tops) {
    for (; *tops != NULL; tops++)
        if (is_below(path, *tops)) return true;
    return false;
}

static enum err tree_take(struct view *v, int fd, const char *path, uint64_t attributes, struct why *why) {
    struct stat st;
    struct mount_attr set = {.attr_set = attributes};
    struct osroot_place *p = place_add(v, path);
    p->tree = fd;
    if (fstat(fd, &st) != 0 || mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &set, sizeof set) != 0)
        return fail(why, path);
    p->is_dir = S_ISDIR(st.st_mode);
    return ERR_OK;
}

static enum err place_take(struct view *v, const char *source, const char *path, uint64_t attributes, struct why *why) {
    int fd = open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    return fd < 0 ? fail(why, source) : tree_take(v, fd, path, attributes, why);
}

/* A path that a job names: where a link could lead, nobody has judged. Devices that it names it may use. */
static enum err given_take(struct view *v, const char *path, uint64_t attributes, struct why *why) {
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    int at = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (at < 0 && errno == ELOOP) return why_set(why, ERR_INVALID, "%s: there is a link in this path", path);
    if (at < 0) return fail(why, path);
    int fd = open_tree(at, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
    enum err e = fd < 0 ? fail(why, path) : ERR_OK;
    (void)close(at);
    if (e != ERR_OK) return e;
    if (is_below(path, "/dev")) attributes &= ~(uint64_t)MOUNT_ATTR_NODEV;
    return tree_take(v, fd, path, attributes, why);
}

/* This program, for jobs that use it; and where names are looked up, which is often a link out of /etc. Fine when they
 * are not there. */
static void take_extras(struct view *v, const struct osroot *r) {
    struct why ignored;
    ssize_t len = readlink("/proc/self/exe", v->exe, sizeof v->exe - 1);
    if (len > 0 && !is_below_any(v->exe, osroot_system))
        (void)!place_take(v, v->exe, v->exe, PLAIN | MOUNT_ATTR_RDONLY, &ignored);
    if (r->has_net && realpath("/etc/resolv.conf", v->resolver) != NULL && !is_below(v->resolver, "/etc"))
        (void)!place_take(v, v->resolver, v->resolver, PLAIN | MOUNT_ATTR_RDONLY, &ignored);
}

static enum err take_system(struct view *v, const struct osroot *r, struct why *why) {
    struct stat st;
    enum err e = ERR_OK;
    for (const char *const *path = osroot_system; *path != NULL && e == ERR_OK; path++)
        if (lstat(*path, &st) == 0 && S_ISDIR(st.st_mode)) /* links are made anew */
            e = place_take(v, *path, *path, PLAIN | MOUNT_ATTR_RDONLY, why);
    for (const char *const *path = devices; *path != NULL && e == ERR_OK; path++)
        if (access(*path, F_OK) == 0) e = place_take(v, *path, *path, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, why);
    for (const char *const *path = secrets; *path != NULL && r->hide_secrets && e == ERR_OK; path++) {
        if (stat(*path, &st) != 0 || (st.st_mode & S_IROTH) || access(*path, R_OK) != 0) continue;
        if (S_ISDIR(st.st_mode))
            (void)place_add(v, *path);
        else
            e = place_take(v, "/dev/null", *path, PLAIN | MOUNT_ATTR_RDONLY, why);
    }
    return e;
}

static enum err take_given(struct view *v, const struct osroot *r, struct why *why) {
    enum err e = ERR_OK;
    for (const char *const *path = r->read; *path != NULL && e == ERR_OK; path++)
        e = given_take(v, *path, PLAIN | MOUNT_ATTR_RDONLY, why);
    for (const char *const *path = r->write; *path != NULL && e == ERR_OK; path++) e = given_take(v, *path, PLAIN, why);
    for (const char *const *path = r->hide; *path != NULL; path++)
        if (is_below_any(*path, r->read) || is_below_any(*path, r->write)) (void)place_add(v, *path);
    snprintf(v->tmp, sizeof v->tmp, "%s/tmp", r->space);
    if (e == ERR_OK) e = place_take(v, v->tmp, "/tmp", PLAIN, why);
    if (e == ERR_OK) e = place_take(v, r->space, r->space, PLAIN, why);
    return e;
}

/* ---- the new root ---- */

/* Those above the last name of the path, and the last one too if it is one. */
static enum err path_make(const char *path, bool is_dir, struct why *why) {
    char text[PATH_MAX];
    struct stat st;
    if (stat(path, &st) == 0) return ERR_OK;
    snprintf(text, sizeof text, "%s", path);
    for (char *slash = strchr(text + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(text, 0755) != 0 && errno != EEXIST) return fail(why, text);
        *slash = '/';
    }
    int fd = is_dir ? mkdir(text, 0755) : open(text, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
    if (fd < 0 && errno != EEXIST) return fail(why, text);
    if (!is_dir) (void)close(fd);
    return ERR_OK;
}

static enum err place_hang(const struct osroot_place *p, struct why *why) {
    enum err e = path_make(p->path, p->is_dir, why);
    if (e != ERR_OK) return e;
    if (p->tree < 0) /* made read-only at the end: something may have to be hung into it */
        return mount("none", p->path, "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=755") == 0 ? ERR_OK
                                                                                               : fail(why, p->path);
    if (move_mount(p->tree, "", AT_FDCWD, p->path, MOVE_MOUNT_F_EMPTY_PATH) != 0) return fail(why, p->path);
    (void)close(p->tree);
    return ERR_OK;
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const struct osroot_place *)a)->path, ((const struct osroot_place *)b)->path);
}

static enum err read_only(const char *path, struct why *why) {
    struct mount_attr set = {.attr_set = MOUNT_ATTR_RDONLY};
    return mount_setattr(AT_FDCWD, path, 0, &set, sizeof set) == 0 ? ERR_OK : fail(why, path);
}

static enum err hang_all(struct view *v, struct why *why) {
    enum err e = ERR_OK;
    qsort(v->places, v->count, sizeof v->places[0], by_path);
    for (uint32_t i = 0; i < v->count && e == ERR_OK; i++) e = place_hang(&v->places[i], why);
    for (uint32_t i = 0; i < v->count && e == ERR_OK; i++)
        if (v->places[i].tree < 0) e = read_only(v->places[i].path, why);
    return e;
}

/* The machine's links, like /bin to usr/bin, and the usual ones of /dev. */
static void links_make(const char *const targets[], uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (targets[i] != NULL) (void)!symlink(targets[i], osroot_system[i]);
    (void)!symlink("/proc/self/fd", "/dev/fd");
    (void)!symlink("/proc/self/fd/0", "/dev/stdin");
    (void)!symlink("/proc/self/fd/1", "/dev/stdout");
    (void)!symlink("/proc/self/fd/2", "/dev/stderr");
}

enum err osroot_proc(struct why *why) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return fail(why, "mounts of its own");
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) return fail(why, "/proc");
    return ERR_OK;
}

/* /proc comes first: without one in sight the kernel gives an ordinary user no other. */
static enum err root_turn(struct why *why) {
    if (mount("none", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755") != 0) return fail(why, "a new root");
    if (mkdir(STAGE "/proc", 0555) != 0 || mkdir(STAGE "/dev", 0755) != 0 || mkdir(STAGE "/dev/shm", 01777) != 0)
        return fail(why, "a new root");
    if (mount("proc", STAGE "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) return fail(why, "/proc");
    if (mount("none", STAGE "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, SHM_OPTIONS) != 0)
        return fail(why, "/dev/shm");
    if (chdir(STAGE) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) return fail(why, "a new root");
    if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) return fail(why, "the old root");
    return ERR_OK;
}

enum err osroot_enter(const struct osroot *r, struct why *why) {
    struct view v = {.count = 0};
    char links[sizeof osroot_system / sizeof osroot_system[0]][64] = {{0}};
    const char *targets[sizeof links / sizeof links[0]] = {NULL};
    uint32_t count = 0;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return fail(why, "mounts of its own");
    for (; osroot_system[count] != NULL; count++)
        if (readlink(osroot_system[count], links[count], sizeof links[count] - 1) > 0) targets[count] = links[count];
    enum err e = take_system(&v, r, why);
    if (e == ERR_OK) e = take_given(&v, r, why);
    if (e == ERR_OK) take_extras(&v, r);
    mode_t mask = umask(022); /* whoever the process will be, it has to get through */
    if (e == ERR_OK) e = root_turn(why);
    if (e == ERR_OK) links_make(targets, count);
    if (e == ERR_OK) e = hang_all(&v, why);
    (void)umask(mask);
    return e == ERR_OK ? read_only("/", why) : e;
}
