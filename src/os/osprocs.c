/* osprocs.c: see osprocs.h. One pass over /proc and no more: a process that comes or goes meanwhile is seen or not. */
#include "osprocs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct row {
    uint32_t pid, parent;
    bool below;
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
    const char *end = strrchr(text, ')');
    if (end == NULL || strlen(end) < 5) return false;
    *ret = (struct row){(uint32_t)strtoul(name, NULL, 10), (uint32_t)strtoul(end + 4, NULL, 10), false};
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
