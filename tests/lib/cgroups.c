/* cgroups.c: see cgroups.h. */
#include "cgroups.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "test.h"

#define MOUNT "/sys/fs/cgroup"
#define GONE_MS 5000

static bool put(const char *dir, const char *name, const char *text) {
    char path[640];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    int code = errno;
    if (fd >= 0) close(fd);
    errno = code;
    return done;
}

static bool refuse(struct cgroups *c, const char *what) {
    int code = errno;
    cgroups_remove(c);
    snprintf(c->why_not, sizeof c->why_not, "%s: %s", what, strerror(code));
    return false;
}

/* Where we are in the hierarchy of a controller: "4:memory:/a/b". */
static bool own_group(const char *controller, char ret[256]) {
    char line[512], wanted[64];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");
    snprintf(wanted, sizeof wanted, ":%s:/", controller);
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL) {
        const char *at = strstr(line, wanted);
        found = at != NULL;
        if (found) snprintf(ret, 256, "%s", at + strlen(wanted) - 1);
    }
    if (f != NULL) fclose(f);
    ret[strcspn(ret, "\n")] = 0;
    return found;
}

static bool make_v1(struct cgroups *c) {
    static const char *const controllers[] = {"memory", "cpu", "pids"};
    c->version = 1;
    for (int i = 0; i < 3; i++) {
        char own[256] = "", base[400];
        struct statfs fs;
        snprintf(base, sizeof base, MOUNT "/%s", controllers[i]);
        errno = ENOENT;
        if (!own_group(controllers[i], own) || statfs(base, &fs) != 0 || fs.f_type != CGROUP_SUPER_MAGIC)
            return refuse(c, base);
        char *dir = c->dirs[i];
        snprintf(dir, sizeof c->dirs[i], "%s%s/reeve-test.%d", base, strcmp(own, "/") == 0 ? "" : own, (int)getpid());
        if (mkdir(dir, 0755) != 0) return refuse(c, dir);
        c->count++;
    }
    return true;
}

/* Below the root of the hierarchy, the only place where processes may be beside groups. */
static bool make_v2(struct cgroups *c) {
    static const char *const controls[] = {"memory.max", "cpu.max", "pids.max"};
    char path[640];
    c->version = 2;
    snprintf(c->dirs[0], sizeof c->dirs[0], MOUNT "/reeve-test.%d", (int)getpid());
    if (!put(MOUNT, "cgroup.subtree_control", "+memory +cpu +pids")) return refuse(c, MOUNT "/cgroup.subtree_control");
    if (mkdir(c->dirs[0], 0755) != 0) return refuse(c, c->dirs[0]);
    c->count = 1;
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", c->dirs[0], controls[i]);
        if (access(path, W_OK) != 0) return refuse(c, path);
    }
    return true;
}

bool cgroups_make(struct cgroups *c) {
    struct statfs fs;
    *c = (struct cgroups){0};
    if (statfs(MOUNT, &fs) != 0) return refuse(c, MOUNT);
    return fs.f_type == CGROUP2_SUPER_MAGIC ? make_v2(c) : make_v1(c);
}

bool cgroups_enter(const struct cgroups *c) {
    for (uint32_t i = 0; i < c->count; i++)
        if (!put(c->dirs[i], "cgroup.procs", "0")) return false;
    return true;
}

static bool is_of_a_job(const char *name) {
    return strncmp(name, "reeve.", 6) == 0 && isdigit((unsigned char)name[6]);
}

uint32_t cgroups_of_jobs(const struct cgroups *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        DIR *dir = opendir(c->dirs[i]);
        assert_non_null(dir);
        for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) count += is_of_a_job(e->d_name);
        closedir(dir);
    }
    return count;
}

void cgroups_remove(struct cgroups *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        char leaf[640];
        snprintf(leaf, sizeof leaf, "%s/reeve.main", c->dirs[i]);
        (void)rmdir(leaf);
        for (int ms = 0; rmdir(c->dirs[i]) != 0; ms += 10) { /* the last of its processes may just be ending */
            if (ms > GONE_MS) fail_msg("%s: %s", c->dirs[i], strerror(errno));
            (void)poll(NULL, 0, 10);
        }
    }
    c->count = 0;
}
