/* oscgroup_find.c: which control groups this process may make groups in, see oscgroup.h.
 *
 * /proc/self/cgroup says in which group it is in each hierarchy, /proc/self/mountinfo where those are mounted, and with
 * which part of them as root. Whether groups can be made there is tried, not concluded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oscgroup.h"
#include "panic.h"

#define LEAF "reeve.main"
#define TEXT_BYTES_MAX 4096u

const char *const oscgroup_by_words[OSCGROUP_BY_COUNT] = {"auto", "cgroup2", "cgroup1", "rlimit", "none"};
static const char *const controllers[PROC_LIMIT_COUNT] = {"memory", "cpu", "pids"};

/* ---- what /proc says ---- */

struct mount {
    const char *root, *point, *type, *options;
};

/* "36 35 98:0 ROOT POINT rw,noatime master:1 - TYPE source OPTIONS" */
static bool mount_read(char *line, struct mount *ret) {
    const char *fields[16] = {0};
    uint32_t count = 0, dash = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *rest = line, *word; count < 16 && (word = strsep(&rest, " ")) != NULL; count++) {
        fields[count] = word;
        if (strcmp(word, "-") == 0 && dash == 0) dash = count;
    }
    if (dash < 6 || dash + 3 >= count) return false;
    *ret = (struct mount){fields[3], fields[4], fields[dash + 1], fields[dash + 3]};
    return true;
}

/* Words with commas between them. */
static bool list_has(const char *list, const char *word) {
    for (size_t len = strlen(word); *list != 0; list += *list == ',') {
        size_t own = strcspn(list, ",");
        if (own == len && strncmp(list, word, len) == 0) return true;
        list += own;
    }
    return false;
}

static FILE *proc_open(const char *proc, const char *name) {
    char path[OSCGROUP_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", proc, name);
    return fopen(path, "re");
}

/* The group of this process in the hierarchy of a controller; of version 2 without one. "4:memory:/a/b" */
static bool own_group(const char *proc, const char *controller, char ret[OSCGROUP_PATH_MAX]) {
    char line[TEXT_BYTES_MAX];
    bool found = false;
    FILE *f = proc_open(proc, "cgroup");
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL) {
        char *list = strchr(line, ':'), *path = list != NULL ? strchr(list + 1, ':') : NULL;
        if (path == NULL) continue;
        *path++ = 0;
        path[strcspn(path, "\n")] = 0;
        found = controller != NULL ? list_has(list + 1, controller) : list[1] == 0;
        if (found) snprintf(ret, OSCGROUP_PATH_MAX, "%s", path);
    }
    if (f != NULL) (void)fclose(f);
    return found;
}

/* The directory of a group, below a mount that shows it. */
static bool group_directory(const struct mount *m, const char *group, char ret[OSCGROUP_PATH_MAX]) {
    size_t root = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root);
    if (strncmp(group, m->root, root) != 0 || (group[root] != '/' && group[root] != 0)) return false;
    if (strstr(group, "/..") != NULL) return false; /* outside of what this namespace shows */
    const char *inside = strcmp(group + root, "/") == 0 ? "" : group + root;
    return (size_t)snprintf(ret, OSCGROUP_PATH_MAX, "%s%s", m->point, inside) < OSCGROUP_PATH_MAX;
}

static bool own_directory(const char *proc, const char *controller, char ret[OSCGROUP_PATH_MAX]) {
    char group[OSCGROUP_PATH_MAX];
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    if (!own_group(proc, controller, group)) return false;
    FILE *f = proc_open(proc, "mountinfo");
    while (f != NULL && !found && getline(&line, &room, f) > 0) {
        struct mount m;
        if (!mount_read(line, &m) || strcmp(m.type, controller != NULL ? "cgroup" : "cgroup2") != 0) continue;
        if (controller != NULL && !list_has(m.options, controller)) continue;
        found = group_directory(&m, group, ret);
    }
    free(line);
    if (f != NULL) (void)fclose(f);
    return found;
}

/* ---- trying ---- */

static void lack(struct oscgroup *g, const char *path, const char *what, int code) {
    if (g->lacking.text[0] == 0)
        (void)why_set(&g->lacking, ERR_OK, "%s%s: %s", path, what, code == 0 ? "not there" : strerrordesc_np(code));
}

/* Which of `wanted` a group that is made here keeps. */
static unsigned group_try(struct oscgroup *g, const char *path, enum oscgroup_version version, unsigned wanted) {
    char group[OSCGROUP_PATH_MAX + 32], file[OSCGROUP_PATH_MAX + 64];
    unsigned keeps = 0;
    snprintf(group, sizeof group, "%s/reeve.%d", path, (int)getpid());
    if (mkdir(group, 0755) != 0 && errno != EEXIST) {
        lack(g, path, "", errno);
        return 0;
    }
    for (uint32_t i = 0; i < PROC_LIMIT_COUNT; i++) {
        if (!(wanted & PROC_BIT(i))) continue;
        snprintf(file, sizeof file, "%s/%s", group, oscgroup_files_control(version, (enum proc_limit)i));
        if (access(file, W_OK) == 0)
            keeps |= PROC_BIT(i);
        else
            lack(g, file, "", errno);
    }
    (void)rmdir(group);
    return keeps;
}

static void tree_add(struct oscgroup *g, const char *path, enum oscgroup_version version, unsigned wanted) {
    unsigned keeps = group_try(g, path, version, wanted);
    if (keeps == 0) return;
    g->keeps |= keeps;
    for (uint32_t i = 0; i < g->tree_count; i++) {
        if (strcmp(g->trees[i].path, path) != 0) continue;
        g->trees[i].kind.keeps |= keeps;
        return;
    }
    ENSURE(g->tree_count < OSCGROUP_TREES_MAX);
    struct oscgroup_tree *t = &g->trees[g->tree_count++];
    snprintf(t->path, sizeof t->path, "%s", path);
    t->kind = (struct oscgroup_kind){version, keeps};
}

static void find_v1(struct oscgroup *g, const char *proc) {
    char path[OSCGROUP_PATH_MAX];
    for (uint32_t i = 0; i < PROC_LIMIT_COUNT; i++) {
        if ((g->keeps & PROC_BIT(i)) || !own_directory(proc, controllers[i], path)) continue;
        tree_add(g, path, OSCGROUP_V1, PROC_BIT(i));
    }
}

/* ---- version 2 ---- */

/* Controllers by their names, with blanks between them. */
static unsigned controllers_read(const char *path, const char *file) {
    char text[TEXT_BYTES_MAX];
    unsigned set = 0;
    if (!oscgroup_files_get(path, file, text, sizeof text)) return 0;
    for (char *rest = text, *word; (word = strsep(&rest, " \n")) != NULL;)
        for (uint32_t i = 0; i < PROC_LIMIT_COUNT; i++)
            if (strcmp(word, controllers[i]) == 0) set |= PROC_BIT(i);
    return set;
}

static int controllers_enable(const char *path, unsigned set) {
    char text[64] = "";
    for (uint32_t i = 0; i < PROC_LIMIT_COUNT; i++)
        if (set & PROC_BIT(i))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s+%s", text[0] ? " " : "", controllers[i]);
    return oscgroup_files_put(path, "cgroup.subtree_control", text);
}

static bool is_this_program(const char *pid, const struct stat *self) {
    char path[64], own[32], other_name[32];
    struct stat other;
    snprintf(path, sizeof path, "/proc/%.20s/exe", pid);
    if (stat(path, &other) == 0) return other.st_ino == self->st_ino && other.st_dev == self->st_dev;
    if (errno != EACCES) return false;
    snprintf(path, sizeof path, "/proc/%.20s", pid); /* one that guards its secrets (ossecret.h) shows its name only */
    return oscgroup_files_get("/proc/self", "comm", own, sizeof own) &&
           oscgroup_files_get(path, "comm", other_name, sizeof other_name) && strcmp(own, other_name) == 0;
}

/* A group hands its controllers on only when no process is in it. So we go into a leaf, with what else is this program:
 * server and supervisor, when one unit runs all of them. Strangers are not moved; they make it fail. */
static void leaf_enter(const char *path) {
    char leaf[OSCGROUP_PATH_MAX + 16], text[TEXT_BYTES_MAX];
    struct stat self;
    snprintf(leaf, sizeof leaf, "%s/" LEAF, path);
    if (mkdir(leaf, 0755) != 0 && errno != EEXIST) return;
    if (stat("/proc/self/exe", &self) != 0 || !oscgroup_files_get(path, "cgroup.procs", text, sizeof text)) return;
    for (char *rest = text, *pid; (pid = strsep(&rest, "\n")) != NULL;) {
        if (!is_this_program(pid, &self)) continue;
        (void)!oscgroup_files_put(leaf, "cgroup.procs", pid);
    }
}

static void find_v2(struct oscgroup *g, const char *proc) {
    char path[OSCGROUP_PATH_MAX];
    if (!own_directory(proc, NULL, path)) return;
    size_t len = strlen(path), leaf = strlen("/" LEAF);
    if (len > leaf && strcmp(path + len - leaf, "/" LEAF) == 0) path[len - leaf] = 0; /* another one put us there */
    unsigned offered = controllers_read(path, "cgroup.controllers");
    unsigned handed_on = controllers_read(path, "cgroup.subtree_control");
    if (offered == 0) return;
    int code = (offered & ~handed_on) != 0 ? controllers_enable(path, offered & ~handed_on) : 0;
    if (code == EBUSY) {
        leaf_enter(path);
        code = controllers_enable(path, offered & ~handed_on);
    }
    if (code != 0) lack(g, path, "/cgroup.subtree_control", code);
    tree_add(g, path, OSCGROUP_V2, offered & controllers_read(path, "cgroup.subtree_control"));
}

/* ---- */

enum err oscgroup_find(enum oscgroup_by by, const char *proc, struct oscgroup *ret, struct why *why) {
    static const unsigned all = PROC_BIT(PROC_LIMIT_COUNT) - 1;
    struct oscgroup g = {.memory_by_rlimit = by != OSCGROUP_BY_NOTHING};
    if (by == OSCGROUP_AUTO || by == OSCGROUP_BY_V2) find_v2(&g, proc);
    if ((by == OSCGROUP_AUTO || by == OSCGROUP_BY_V1) && g.keeps != all) find_v1(&g, proc);
    if (g.keeps == 0 && g.lacking.text[0] == 0)
        (void)why_set(&g.lacking, ERR_OK, "no control group offers memory, cpu or pids here");
    if (g.keeps == 0 && (by == OSCGROUP_BY_V1 || by == OSCGROUP_BY_V2))
        return why_set(why, ERR_UNSUPPORTED, "limits by %s are not possible: %s", oscgroup_by_words[by],
                       g.lacking.text);
    if (by == OSCGROUP_BY_RLIMIT || by == OSCGROUP_BY_NOTHING)
        (void)why_set(&g.lacking, ERR_OK, "it was told to use %s", oscgroup_by_words[by]);
    if (g.keeps == all) g.lacking.text[0] = 0;
    *ret = g;
    oscgroup_sweep(ret);
    return ERR_OK;
}

void oscgroup_describe(const struct oscgroup *g, char *ret, size_t size) {
    size_t len = (size_t)snprintf(ret, size, "limits:");
    for (uint32_t i = 0; i < PROC_LIMIT_COUNT && len < size; i++) {
        const char *by = i == PROC_LIMIT_MEMORY && g->memory_by_rlimit ? "for each process by itself" : "not kept";
        for (uint32_t k = 0; k < g->tree_count; k++)
            if (g->trees[k].kind.keeps & PROC_BIT(i))
                by = g->trees[k].kind.version == OSCGROUP_V2 ? "by cgroup2" : "by cgroup1";
        len += (size_t)snprintf(ret + len, size - len, "%s %s %s", i > 0 ? "," : "", controllers[i], by);
    }
    if (g->lacking.text[0] != 0 && len < size) snprintf(ret + len, size - len, " (%s)", g->lacking.text);
}
