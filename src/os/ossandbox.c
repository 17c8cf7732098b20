/* ossandbox.c: see ossandbox.h. Runs in forks of a keeper, with one thread. Nothing is half kept: each step that fails
 * ends the process before the job's program is run. */
#include "ossandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <limits.h>
#include <linux/sched.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "osconfine.h"
#include "osfilter.h"
#include "oslandlock.h"
#include "osroot.h"
#include "panic.h"

#define EXIT_CANNOT_RUN 126
#define WALK_FILES 16
#define RULES_MAX (2 * PROC_SANDBOX_PATHS_MAX + 32u)

static enum err fail(struct why *why, const char *what) {
    return why_set(why, ERR_UNSUPPORTED, "%s: %s", what, strerrordesc_np(errno));
}

/* ---- to a keeper ---- */

static uint32_t list_put(struct buf *b, const char *const *list) {
    uint32_t count = 0;
    for (; list != NULL && list[count] != NULL; count++) buf_put(b, list[count], strlen(list[count]) + 1);
    return count;
}

struct ossandbox_order ossandbox_put(const struct proc_sandbox *s, uint32_t uid, struct buf *texts) {
    struct ossandbox_order o = {.is_on = s->is_on, .net_off = s->net_off, .files = s->files, .uid = uid};
    if (!ossandbox_is_any(&o)) return o;
    REQUIRE(s->space != NULL);
    buf_put(texts, s->space, strlen(s->space) + 1);
    o.read_count = list_put(texts, s->read);
    o.write_count = list_put(texts, s->write);
    o.hide_count = list_put(texts, s->hide);
    return o;
}

static const char *text_take(char **at) {
    const char *text = *at;
    *at += strlen(text) + 1;
    return text;
}

static const char *const *list_take(char **at, uint32_t count, struct arena *arena) {
    const char **list = ARENA_ARRAY(arena, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++) list[i] = text_take(at);
    return list;
}

struct ossandbox ossandbox_take(const struct ossandbox_order *o, char **texts, struct arena *arena) {
    struct ossandbox s = {.o = *o};
    if (!ossandbox_is_any(o)) return s; /* most have none, and pay nothing for it */
    s.outer_uid = geteuid();
    s.outer_gid = getegid();
    s.space = text_take(texts);
    s.read = list_take(texts, o->read_count, arena);
    s.write = list_take(texts, o->write_count, arena);
    s.hide = list_take(texts, o->hide_count, arena);
    return s;
}

/* ---- namespaces ---- */

pid_t ossandbox_fork(const struct ossandbox *s) {
    unsigned long flags = SIGCHLD;
    if (s->o.is_on) flags |= CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
    if (s->o.net_off) flags |= CLONE_NEWNET;
    if (s->o.is_on && s->outer_uid != 0) flags |= CLONE_NEWUSER;
    return (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
}

static enum err text_write(const char *path, const char *text, struct why *why) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool is_good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    enum err e = is_good ? ERR_OK : fail(why, path);
    if (fd >= 0) (void)close(fd);
    return e;
}

/* In its user namespace it is who it was outside, and no one else exists. */
static enum err user_keep(const struct ossandbox *s, struct why *why) {
    char map[64];
    (void)prctl(PR_SET_DUMPABLE, 1); /* or these files are root's, when we cannot read our own program */
    enum err e = text_write("/proc/self/setgroups", "deny", why);
    snprintf(map, sizeof map, "%u %u 1", s->outer_uid, s->outer_uid);
    if (e == ERR_OK) e = text_write("/proc/self/uid_map", map, why);
    snprintf(map, sizeof map, "%u %u 1", s->outer_gid, s->outer_gid);
    return e == ERR_OK ? text_write("/proc/self/gid_map", map, why) : e;
}

static enum err loopback_raise(struct why *why) {
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return errno == EAFNOSUPPORT ? ERR_OK : fail(why, "a network of its own");
    enum err e = ioctl(fd, SIOCSIFFLAGS, &lo) == 0 ? ERR_OK : fail(why, "its loopback");
    (void)close(fd);
    return e;
}

/* ---- its directory ---- */

static uid_t give_to; /* nftw passes nothing on */

static int entry_give(const char *path, const struct stat *st, int kind, struct FTW *where) {
    (void)st, (void)kind, (void)where;
    return lchown(path, give_to, give_to);
}

/* All that we put there becomes the job's: no program of it has run yet, so nothing there is a trap. So do the pipes,
 * or it could not open /dev/stdout. */
static enum err space_give(const struct ossandbox *s, struct why *why) {
    struct stat st;
    char tmp[PATH_MAX];
    snprintf(tmp, sizeof tmp, "%s/tmp", s->space);
    if (s->o.files && mkdir(tmp, 0700) != 0 && errno != EEXIST) return fail(why, tmp);
    if (s->o.uid == 0) return ERR_OK;
    give_to = s->o.uid;
    if (nftw(s->space, entry_give, WALK_FILES, FTW_PHYS) != 0) return fail(why, s->space);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode)) (void)!fchown(fd, s->o.uid, s->o.uid);
    return ERR_OK;
}

static enum err view_make(const struct ossandbox *s, struct why *why) {
    struct osroot root = {.space = s->space,
                          .read = s->read,
                          .write = s->write,
                          .hide = s->hide,
                          .hide_secrets = s->o.uid == 0,
                          .has_net = !s->o.net_off};
    return s->o.files ? osroot_enter(&root, why) : osroot_proc(why);
}

/* ---- what the job gives up ---- */

static enum err uid_take(uint32_t uid, struct why *why) {
    if (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0)
        return fail(why, "a uid of its own");
    return ERR_OK;
}

static uint32_t rules_add(struct oslandlock_rule *rules, uint32_t count, const char *const *paths,
                          enum oslandlock_may may) {
    for (; *paths != NULL; paths++) {
        ENSURE(count < RULES_MAX);
        rules[count++] = (struct oslandlock_rule){*paths, may};
    }
    return count;
}

/* The second wall behind osroot's: should a mount be wrong, or a way to another be found, files are still refused. */
static enum err files_keep(const struct ossandbox *s, struct why *why) {
    static const char *const root[] = {"/", NULL}, *const used[] = {"/proc", "/dev", NULL};
    const char *own[] = {s->space, "/tmp", "/dev/shm", NULL};
    struct oslandlock_rule rules[RULES_MAX];
    uint32_t count = 0;
    char exe[PATH_MAX] = "", resolver[PATH_MAX] = "";
    const char *extras[] = {exe, resolver, NULL}; /* of osroot */
    (void)!readlink("/proc/self/exe", exe, sizeof exe - 1);
    (void)!realpath("/etc/resolv.conf", resolver);
    if (!s->o.files) return oslandlock_keep(rules, 0, why);
    count = rules_add(rules, count, root, OSLANDLOCK_LIST); /* what is not to be seen is not there */
    count = rules_add(rules, count, osroot_system, OSLANDLOCK_READ);
    count = rules_add(rules, count, extras, OSLANDLOCK_READ);
    count = rules_add(rules, count, used, OSLANDLOCK_USE);
    count = rules_add(rules, count, own, OSLANDLOCK_WRITE);
    count = rules_add(rules, count, s->read, OSLANDLOCK_READ);
    count = rules_add(rules, count, s->write, OSLANDLOCK_WRITE);
    return oslandlock_keep(rules, count, why);
}

static enum err job_lock(const struct ossandbox *s, struct why *why) {
    enum err e = ERR_OK;
    (void)close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    if (s->o.is_on) osconfine_bound();
    if (s->o.uid != 0) e = uid_take(s->o.uid, why);
    if (e != ERR_OK || !s->o.is_on) return e;
    e = osconfine_privileges(why);
    if (e == ERR_OK) e = files_keep(s, why);
    return e == ERR_OK ? osfilter_load(OSFILTER_SOCKETS_PLAIN, why) : e;
}

/* ---- putting it together ---- */

static _Noreturn void give_up(const struct why *why, int *ret_status) {
    *ret_status = EXIT_CANNOT_RUN << 8;
    (void)dprintf(STDERR_FILENO, "reeve: its sandbox cannot be kept: %s\n", why->text);
    _exit(EXIT_CANNOT_RUN);
}

/* Process 1. Its signals are blocked, as the keeper's are. */
static _Noreturn void first_run(pid_t job, int *ret_status) {
    (void)prctl(PR_SET_NAME, "reeve-first");
    (void)close_range(0, ~0U, 0);
    for (;;) {
        int status = 0;
        pid_t pid = waitpid(-1, &status, 0);
        if (pid != job) continue;
        *ret_status = status;
        _exit(0);
    }
}

void ossandbox_enter(const struct ossandbox *s, int *ret_status) {
    struct why why = {{0}};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    enum err e = s->o.is_on && s->outer_uid != 0 ? user_keep(s, &why) : ERR_OK;
    if (e == ERR_OK && s->o.net_off) e = loopback_raise(&why);
    if (e == ERR_OK) e = space_give(s, &why);
    if (e == ERR_OK && s->o.is_on) e = view_make(s, &why);
    if (e != ERR_OK) give_up(&why, ret_status);
    if (s->o.is_on) {
        (void)prctl(PR_SET_DUMPABLE, 0); /* the job can neither trace nor read it; this is a copy of the worker */
        pid_t job = fork();
        if (job < 0) {
            (void)fail(&why, "fork");
            give_up(&why, ret_status);
        }
        if (job > 0) first_run(job, ret_status);
    }
    if (job_lock(s, &why) != ERR_OK) give_up(&why, ret_status);
}

/* ---- what this machine can do ---- */

/* In a child: a sandbox with nothing in it. */
static _Noreturn void probe_run(const struct ossandbox *s, int errors, int *ret_status) {
    (void)dup2(errors, STDERR_FILENO);
    ossandbox_enter(s, ret_status);
    _exit(0);
}

static enum err probe(const struct ossandbox *s, int *status, struct why *why) {
    int pair[2];
    char words[sizeof why->text] = "";
    if (pipe2(pair, O_CLOEXEC) != 0) return fail(why, "pipe");
    pid_t pid = ossandbox_fork(s);
    if (pid == 0) probe_run(s, pair[1], status);
    enum err e = pid < 0 ? fail(why, "namespaces") : ERR_OK;
    (void)close(pair[1]);
    if (pid > 0) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
        (void)!read(pair[0], words, sizeof words - 1);
        const char *reason = strchr(words, ':') != NULL ? strchr(strchr(words, ':') + 1, ':') : NULL;
        if (*status != 0)
            e = why_set(why, ERR_UNSUPPORTED, "%.*s", reason != NULL ? (int)strcspn(reason + 2, "\n") : 0,
                        reason != NULL ? reason + 2 : "");
    }
    (void)close(pair[0]);
    return e;
}

static int entry_remove(const char *path, const struct stat *st, int kind, struct FTW *where) {
    (void)st, (void)kind, (void)where;
    return remove(path);
}

enum err ossandbox_probe(const char *dir, uint32_t uid, struct why *why) {
    static const char *const none[] = {NULL};
    char space[PATH_MAX];
    struct ossandbox s = {.o = {.is_on = 1, .net_off = 1, .files = 1, .uid = uid},
                          .space = space,
                          .read = none,
                          .write = none,
                          .hide = none,
                          .outer_uid = geteuid(),
                          .outer_gid = getegid()};
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) return fail(why, dir);
    if (realpath(dir, space) == NULL) return fail(why, dir);
    int *status = mmap(NULL, sizeof *status, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ENSURE(status != MAP_FAILED);
    *status = SIGKILL;
    enum err e = probe(&s, status, why);
    (void)munmap(status, sizeof *status);
    ossandbox_probe_remove(space);
    return e;
}

void ossandbox_probe_remove(const char *dir) {
    (void)nftw(dir, entry_remove, WALK_FILES, FTW_DEPTH | FTW_PHYS);
}

const char *ossandbox_extent(void) {
    int abi = oslandlock_abi();
    return abi == 0 ? "namespaces, seccomp; this kernel has no Landlock" : "namespaces, seccomp, Landlock";
}

static bool is_mapped(const char *path, uint64_t first, uint64_t last) {
    FILE *f = fopen(path, "re");
    unsigned long long inside = 0, outside = 0, count = 0;
    bool is_there = false;
    while (f != NULL && !is_there && fscanf(f, "%llu %llu %llu", &inside, &outside, &count) == 3)
        is_there = first >= inside && last < inside + count;
    if (f != NULL) (void)fclose(f);
    return is_there;
}

/* The first range is above all that are given to people, services and containers; the second, for workers in a
 * container with few ids, where nobody else is likely to be. */
enum err ossandbox_uids(uint32_t *ret_first, uint32_t *ret_last, struct why *why) {
    static const uint32_t ranges[][2] = {{1879048192u, 1879052287u}, {61184u, 65279u}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (!is_mapped("/proc/self/uid_map", ranges[i][0], ranges[i][1]) ||
            !is_mapped("/proc/self/gid_map", ranges[i][0], ranges[i][1]))
            continue;
        *ret_first = ranges[i][0];
        *ret_last = ranges[i][1];
        return ERR_OK;
    }
    return why_set(why, ERR_UNSUPPORTED, "no uids are left for jobs in this worker's user namespace");
}
