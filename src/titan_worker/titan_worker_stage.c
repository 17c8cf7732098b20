/* titan_worker_stage.c: files that the master stages. The newest of each name is kept, in a directory of its own, and
 * whoever runs it takes a copy at once: what is staged later under the same name does not reach a job that was started
 * before. */
#include <stdio.h>

#include "titan_worker_impl.h"

#define FILES_MAX 1000u /* names; beyond it the oldest goes: what is staged is run right after */

static void space_of(uint64_t serial, char ret[48]) {
    snprintf(ret, 48, "staged-%llu", (unsigned long long)serial);
}

bool titan_worker_stage_is_name(struct slice name) {
    if (name.len == 0 || name.len >= TITAN_WORKER_NAME_MAX || name.ptr[0] == '.') return false;
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '/' || name.ptr[i] == '\\' || name.ptr[i] < ' ') return false;
    return true;
}

static struct titan_worker_file *find(const struct titan_worker *h, struct slice name) {
    for (uint32_t i = h->files.count; i > 0; i--) {
        struct titan_worker_file *f = vec_at(&h->files, i - 1);
        if (slice_eq(slice_str(f->name), name)) return f;
    }
    return NULL;
}

static void drop(struct titan_worker *h, struct titan_worker_file *f) {
    char space[48];
    space_of(f->serial, space);
    h->w.space->ops->remove(h->w.space, space);
    struct titan_worker_file *end = vec_at(&h->files, h->files.count);
    memmove(f, f + 1, (size_t)((uint8_t *)end - (uint8_t *)(f + 1)));
    h->files.count--;
}

enum err titan_worker_stage_put(struct titan_worker *h, struct slice name, struct slice bytes, char ret[SPACE_PATH_MAX],
                                struct why *why) {
    char space[48];
    struct titan_worker_file *before = find(h, name);
    struct titan_worker_file file = {.serial = ++h->serial};
    memcpy(file.name, name.ptr, name.len);
    space_of(file.serial, space);
    enum err e = h->w.space->ops->make(h->w.space, space, why);
    if (e == ERR_OK) e = h->w.space->ops->write(h->w.space, space, file.name, bytes, true, why);
    if (e != ERR_OK) {
        h->w.space->ops->remove(h->w.space, space);
        return e;
    }
    if (before != NULL) drop(h, before);
    if (h->files.count == FILES_MAX) drop(h, vec_at(&h->files, 0));
    *(struct titan_worker_file *)vec_push(&h->files) = file;
    h->w.space->ops->path(h->w.space, space, file.name, ret);
    return ERR_OK;
}

void titan_worker_stage_path(struct titan_worker *h, struct slice name, char ret[SPACE_PATH_MAX]) {
    const struct titan_worker_file *f = find(h, name);
    char space[48] = "staged", file[TITAN_WORKER_NAME_MAX] = "";
    if (f != NULL) space_of(f->serial, space);
    if (titan_worker_stage_is_name(name)) memcpy(file, name.ptr, name.len);
    h->w.space->ops->path(h->w.space, space, file, ret);
}

enum err titan_worker_stage_get(struct titan_worker *h, struct slice name, struct buf *ret, struct why *why) {
    const struct titan_worker_file *f = find(h, name);
    char space[48], path[SPACE_PATH_MAX];
    titan_worker_stage_path(h, name, path);
    if (f == NULL) return why_set(why, ERR_NOT_FOUND, "File not found at %s", path);
    space_of(f->serial, space);
    return h->w.space->ops->read(h->w.space, space, f->name, ret, why);
}
