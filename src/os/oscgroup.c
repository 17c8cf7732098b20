/* oscgroup.c: see oscgroup.h. Everything about one job runs in its keeper, which may wait. */
#include "oscgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "panic.h"

#define GROUP_PREFIX "reeve."
#define GROUP_PATH_MAX (OSCGROUP_PATH_MAX + 32u)
/* The kernel lets go of a group a moment after its last process. */
#define REMOVE_TRIES 50
#define REMOVE_WAIT_NS 2000000

static void group_path(const struct oscgroup *g, uint32_t tree, pid_t keeper, char ret[GROUP_PATH_MAX]) {
    snprintf(ret, GROUP_PATH_MAX, "%s/" GROUP_PREFIX "%d", g->trees[tree].path, (int)keeper);
}

static void group_remove(const char *path) {
    const struct timespec wait = {0, REMOVE_WAIT_NS};
    for (int i = 0; i < REMOVE_TRIES && rmdir(path) != 0 && errno == EBUSY; i++) (void)nanosleep(&wait, NULL);
}

void oscgroup_remove(const struct oscgroup *g, pid_t keeper) {
    for (uint32_t i = 0; g != NULL && i < g->tree_count; i++) {
        char path[GROUP_PATH_MAX];
        group_path(g, i, keeper, path);
        group_remove(path);
    }
}

/* One that is dead and not yet buried does not count. "pid (name) state ..." */
static bool lives(pid_t pid) {
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (!oscgroup_files_get(path, "stat", text, sizeof text)) return false;
    const char *end = strrchr(text, ')');
    return end != NULL && end[1] == ' ' && end[2] != 'Z' && end[2] != 'X';
}

static void tree_sweep(const struct oscgroup *g, uint32_t tree) {
    DIR *dir = opendir(g->trees[tree].path);
    if (dir == NULL) return;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char path[GROUP_PATH_MAX];
        size_t len = strlen(GROUP_PREFIX);
        if (strncmp(entry->d_name, GROUP_PREFIX, len) != 0) continue;
        pid_t keeper = (pid_t)strtol(entry->d_name + len, NULL, 10);
        if (keeper <= 0 || lives(keeper)) continue;
        group_path(g, tree, keeper, path);
        (void)rmdir(path); /* refused while something lives in it */
    }
    (void)closedir(dir);
}

void oscgroup_sweep(const struct oscgroup *g) {
    for (uint32_t i = 0; i < g->tree_count; i++) tree_sweep(g, i);
}

/* ---- the beginning ---- */

static unsigned limits_named(const struct proc_limits *l) {
    return (l->memory_bytes != 0 ? PROC_BIT(PROC_LIMIT_MEMORY) : 0) |
           (l->cpu_milli != 0 ? PROC_BIT(PROC_LIMIT_CPU) : 0) | (l->pids != 0 ? PROC_BIT(PROC_LIMIT_PIDS) : 0);
}

/* Version 1 kills one process for its memory and lets the others go on; a word to the keeper makes it all of them. */
static int oom_watch(const char *path) {
    char text[64];
    char control[GROUP_PATH_MAX + 24];
    snprintf(control, sizeof control, "%s/memory.oom_control", path);
    int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), file = open(control, O_RDONLY | O_CLOEXEC);
    snprintf(text, sizeof text, "%d %d", event, file);
    int code = event < 0 || file < 0 ? EIO : oscgroup_files_put(path, "cgroup.event_control", text);
    if (file >= 0) (void)close(file);
    if (code == 0) return event;
    if (event >= 0) (void)close(event);
    return -1;
}

static enum err group_make(struct oscgroup_job *j, uint32_t tree, struct why *why) {
    struct oscgroup_kind kind = j->groups->trees[tree].kind;
    char path[GROUP_PATH_MAX], procs[GROUP_PATH_MAX + 16];
    group_path(j->groups, tree, getpid(), path);
    snprintf(procs, sizeof procs, "%s/cgroup.procs", path);
    bool is_made = mkdir(path, 0755) == 0;
    if (!is_made && errno == EEXIST) { /* of an earlier process of that number */
        group_remove(path);
        is_made = mkdir(path, 0755) == 0;
    }
    if (!is_made) return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    j->trees |= 1u << tree;
    enum err e = oscgroup_files_write(path, kind, &j->limits, why);
    if (e != ERR_OK) return why_wrap(why, e, "%s", path);
    j->enter[tree] = open(procs, O_WRONLY | O_CLOEXEC);
    if (j->enter[tree] < 0) return why_set(why, ERR_IO, "%s: %s", procs, strerrordesc_np(errno));
    bool is_memory = j->limits.memory_bytes != 0 && (kind.keeps & PROC_BIT(PROC_LIMIT_MEMORY));
    if (is_memory && kind.version == OSCGROUP_V1) j->oom = oom_watch(path);
    return ERR_OK;
}

enum err oscgroup_begin(const struct oscgroup *g, const struct proc_limits *l, struct oscgroup_job *ret,
                        struct why *why) {
    static const struct oscgroup nothing = {0};
    unsigned named = limits_named(l);
    *ret = (struct oscgroup_job){.groups = g != NULL ? g : &nothing, .limits = *l, .enter = {-1, -1, -1}, .oom = -1};
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < ret->groups->tree_count && e == ERR_OK; i++)
        if (named & ret->groups->trees[i].kind.keeps) e = group_make(ret, i, why);
    unsigned open = named & ~ret->groups->keeps;
    ret->weak = ret->groups->memory_by_rlimit ? (uint8_t)(open & PROC_BIT(PROC_LIMIT_MEMORY)) : 0;
    ret->unkept = (uint8_t)(open & ~ret->weak);
    if (e == ERR_OK) return ERR_OK;
    struct proc_usage ignored = {0};
    oscgroup_end(ret, &ignored);
    return why_wrap(why, e, "its limits cannot be kept");
}

/* ---- the process itself ---- */

/* Never more than it had: a limit takes away. */
static int rlimit_lower(__rlimit_resource_t which, uint64_t most) {
    struct rlimit now;
    if (most == 0) return 0;
    if (getrlimit(which, &now) != 0) return errno;
    rlim_t to = now.rlim_max != RLIM_INFINITY && now.rlim_max < most ? now.rlim_max : most;
    struct rlimit lower = {to, to};
    return setrlimit(which, &lower) == 0 ? 0 : errno;
}

int oscgroup_enter(const struct oscgroup_job *j) {
    for (uint32_t i = 0; i < OSCGROUP_TREES_MAX; i++)
        if (j->enter[i] >= 0 && write(j->enter[i], "0", 1) != 1) return errno;
    int code = rlimit_lower(RLIMIT_NOFILE, j->limits.open_files);
    if (code == 0) code = rlimit_lower(RLIMIT_FSIZE, j->limits.file_bytes);
    if (code == 0 && j->weak) code = rlimit_lower(RLIMIT_DATA, j->limits.memory_bytes);
    return code;
}

/* ---- the end ---- */

/* The word by `oom` comes before the kernel has killed anyone, and also when memory is short in a group above. */
bool oscgroup_is_oom(struct oscgroup_job *j) {
    for (uint32_t i = 0; j->oom >= 0 && i < j->groups->tree_count && !j->is_oom; i++) {
        char path[GROUP_PATH_MAX];
        if (!(j->trees & (1u << i)) || !(j->groups->trees[i].kind.keeps & PROC_BIT(PROC_LIMIT_MEMORY))) continue;
        group_path(j->groups, i, getpid(), path);
        j->is_oom = oscgroup_files_is_oom(path);
    }
    return j->is_oom;
}

/* Version 1 has no call for it; but it has a list, which is much faster read than all of /proc. */
static void group_kill(const char *path, enum oscgroup_version version) {
    char procs[GROUP_PATH_MAX + 16], line[32];
    if (version == OSCGROUP_V2) {
        (void)!oscgroup_files_put(path, "cgroup.kill", "1");
        return;
    }
    snprintf(procs, sizeof procs, "%s/cgroup.procs", path);
    FILE *f = fopen(procs, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        pid_t pid = (pid_t)strtol(line, NULL, 10);
        if (pid > 1) (void)kill(pid, SIGKILL); /* 0 is one that this namespace does not show */
    }
    if (f != NULL) (void)fclose(f);
}

void oscgroup_kill(const struct oscgroup_job *j) {
    for (uint32_t i = 0; j->trees != 0 && i < j->groups->tree_count; i++) {
        char path[GROUP_PATH_MAX];
        if (!(j->trees & (1u << i))) continue;
        group_path(j->groups, i, getpid(), path);
        group_kill(path, j->groups->trees[i].kind.version);
        return; /* the same processes are in all of them */
    }
}

void oscgroup_end(struct oscgroup_job *j, struct proc_usage *usage) {
    usage->unkept = j->unkept;
    usage->weak = j->weak;
    if (j->oom >= 0) (void)close(j->oom); /* first: a group that goes makes it readable */
    j->oom = -1;
    for (uint32_t i = 0; j->trees != 0 && i < j->groups->tree_count; i++) {
        char path[GROUP_PATH_MAX];
        if (!(j->trees & (1u << i))) continue;
        if (j->enter[i] >= 0) (void)close(j->enter[i]);
        j->enter[i] = -1;
        group_path(j->groups, i, getpid(), path);
        oscgroup_files_read(path, j->groups->trees[i].kind, usage);
        group_remove(path);
    }
    j->trees = 0;
    if (!j->is_oom) return;
    usage->oom_is_own = true;
    if (usage->oom_kills == 0) usage->oom_kills = 1; /* we were faster than the kernel */
}
