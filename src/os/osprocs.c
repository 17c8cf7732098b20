/* osprocs.c: see osprocs.h. Below: one pass over /proc and no more: a process that comes or goes meanwhile is seen or
 * not. Above: from child to parent; when one of them dies on the way, its child has another parent: we begin anew. */
#include "osprocs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ossupervisor.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#define NAME_BYTES 16u /* of a process, as the kernel keeps it */
#define ABOVE_MAX 4096u
#define WALKS_MAX 16

struct row {
    uint32_t pid, parent;
    bool below;
    char name[NAME_BYTES];
};

/* "pid (name) state parent ...", and the name may hold anything. */
static bool row_read(int proc, const char *name, struct row *ret) {
    char path[64], text[512];
    snprintf(path, sizeof path, "%s/stat", name);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (got <= 0) return false;
    text[got] = 0;
    const char *begin = strchr(text, '('), *end = strrchr(text, ')');
    if (begin == NULL || end == NULL || strlen(end) < 5) return false;
    *ret = (struct row){.pid = (uint32_t)strtoul(name, NULL, 10), .parent = (uint32_t)strtoul(end + 4, NULL, 10)};
    snprintf(ret->name, sizeof ret->name, "%.*s", (int)(end - begin - 1), begin + 1);
    return ret->pid != 0;
}

static void rows_read(struct vec *rows) {
    DIR *dir = opendir("/proc");
    if (dir == NULL) return;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        struct row row;
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
        if (row_read(dirfd(dir), entry->d_name, &row)) *(struct row *)vec_push(rows) = row;
    }
    (void)closedir(dir);
}

static bool is_in(const struct u32vec *list, uint32_t value) {
    for (uint32_t i = 0; list != NULL && i < list->count; i++)
        if (list->at[i] == value) return true;
    return false;
}

void osprocs_below(pid_t root, const struct u32vec *skip, struct u32vec *ret) {
    struct vec rows;
    vec_init(&rows, sizeof(struct row));
    rows_read(&rows);
    ret->count = 0;
    u32vec_push(ret, (uint32_t)root);
    for (uint32_t next = 0; next < ret->count; next++) { /* `ret` is also the queue of those to look below */
        uint32_t parent = ret->at[next];
        for (uint32_t i = 0; i < rows.count; i++) {
            struct row *r = vec_at(&rows, i);
            if (r->parent != parent || r->below || is_in(skip, r->pid)) continue;
            r->below = true;
            u32vec_push(ret, r->pid);
        }
    }
    ret->count--; /* the root itself is not below */
    memmove(ret->at, ret->at + 1, ret->count * sizeof *ret->at);
    vec_fini(&rows);
}

/* ---- above ---- */

static bool above_read(uint32_t pid, struct row *ret) {
    char name[16];
    int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(name, sizeof name, "%u", pid);
    bool got = proc >= 0 && row_read(proc, name, ret);
    if (proc >= 0) (void)close(proc);
    return got;
}

/* This process and all above it, as far as can be seen. */
static void own_read(struct u32vec *ret) {
    struct row row;
    ret->count = 0;
    for (uint32_t pid = (uint32_t)getpid(); pid != 0 && ret->count < ABOVE_MAX; pid = row.parent) {
        u32vec_push(ret, pid);
        row = (struct row){0};
        if (!above_read(pid, &row)) return;
    }
}

enum osprocs_walk { WALK_OUTSIDE, WALK_JOB, WALK_BROKEN };

static enum osprocs_walk walk_up(uint32_t pid, const struct u32vec *own) {
    for (uint32_t i = 0; i < ABOVE_MAX; i++) {
        struct row row = {0};
        if (pid == 0) return i > 0 ? WALK_OUTSIDE : WALK_BROKEN; /* 0: of a namespace that we cannot see */
        if (is_in(own, pid)) return WALK_OUTSIDE;
        /* Of another user's processes /proc may tell nothing (hidepid); those that keep our jobs are not among them. */
        if (!above_read(pid, &row)) return kill((pid_t)pid, 0) != 0 && errno == EPERM ? WALK_OUTSIDE : WALK_BROKEN;
        if (strcmp(row.name, OSSUPERVISOR_NAME) == 0 || strcmp(row.name, OSSUPERVISOR_FORK_SERVER_NAME) == 0)
            return WALK_JOB;
        pid = row.parent;
    }
    return WALK_BROKEN;
}

bool osprocs_is_of_job(pid_t pid) {
    struct u32vec own = {0};
    enum osprocs_walk found = WALK_BROKEN;
    for (int i = 0; i < WALKS_MAX && found == WALK_BROKEN; i++) {
        own_read(&own);
        found = walk_up((uint32_t)pid, &own);
    }
    u32vec_fini(&own);
    return found != WALK_OUTSIDE;
}

bool osprocs_peer_is_of_job(int fd, pid_t pid) {
    int held = -1;
    socklen_t len = sizeof held;
    bool can_hold = getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &held, &len) == 0;
    if (!can_hold && errno != ENOPROTOOPT) return true; /* it is gone */
    bool is_of_job = osprocs_is_of_job(pid);
    if (can_hold) {
        struct pollfd ended = {.fd = held, .events = POLLIN};
        if (poll(&ended, 1, 0) != 0) is_of_job = true; /* then what we saw may have been another */
        (void)close(held);
    }
    return is_of_job;
}
