/* simspace.c: see simspace.h. */
#include "simspace.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "panic.h"

#define FILE_BYTES_MAX ((size_t)64 << 20)
#define NAME_BYTES 128u
#define PATH_BYTES 512u

struct simspace_file {
    char inside[PATH_BYTES];
    struct buf bytes;
};

struct dir {
    char name[NAME_BYTES];
    struct vec files; /* of struct simspace_file */
};

static struct dir *dir_of(const struct simspace *s, const char *name) {
    for (uint32_t i = 0; i < s->dirs.count; i++) {
        struct dir *d = vec_at(&s->dirs, i);
        if (strcmp(d->name, name) == 0) return d;
    }
    return NULL;
}

static struct simspace_file *file_of(const struct dir *d, const char *inside) {
    for (uint32_t i = 0; d != NULL && i < d->files.count; i++) {
        struct simspace_file *f = vec_at(&d->files, i);
        if (strcmp(f->inside, inside) == 0) return f;
    }
    return NULL;
}

static void dir_fini(struct dir *d) {
    for (uint32_t i = 0; i < d->files.count; i++) buf_fini(&((struct simspace_file *)vec_at(&d->files, i))->bytes);
    vec_fini(&d->files);
}

static void op_remove(struct space *space, const char *name) {
    struct simspace *s = (struct simspace *)space;
    struct dir *d = dir_of(s, name);
    if (d == NULL) return;
    dir_fini(d);
    *d = *(struct dir *)vec_at(&s->dirs, s->dirs.count - 1);
    s->dirs.count--;
}

static enum err op_make(struct space *space, const char *name, struct why *why) {
    struct simspace *s = (struct simspace *)space;
    (void)why;
    op_remove(space, name);
    struct dir *d = vec_push(&s->dirs);
    REQUIRE(strlen(name) < sizeof d->name);
    snprintf(d->name, sizeof d->name, "%s", name);
    vec_init(&d->files, sizeof(struct simspace_file));
    return ERR_OK;
}

static void op_path(struct space *space, const char *name, const char *inside, char ret[SPACE_PATH_MAX]) {
    (void)space;
    snprintf(ret, SPACE_PATH_MAX, "/sim/%s/%s", name, inside);
}

static enum err op_write_at(struct space *space, const char *name, const char *inside, uint64_t offset,
                            struct slice bytes, bool executable, struct why *why) {
    struct dir *d = dir_of((struct simspace *)space, name);
    (void)executable;
    if (d == NULL && name[0] == '.') { /* one that stays is made on the way */
        (void)op_make(space, name, why);
        d = dir_of((struct simspace *)space, name);
    }
    if (d == NULL) return why_set(why, ERR_NOT_FOUND, "no workspace %s", name);
    struct simspace_file *f = file_of(d, inside);
    if (f == NULL) {
        f = vec_push(&d->files);
        REQUIRE(strlen(inside) < sizeof f->inside);
        snprintf(f->inside, sizeof f->inside, "%s", inside);
        buf_init(&f->bytes, FILE_BYTES_MAX);
    }
    if (offset == 0) buf_clear(&f->bytes);
    REQUIRE(offset == f->bytes.len);
    buf_put_slice(&f->bytes, bytes);
    return f->bytes.full ? why_set(why, ERR_NO_SPACE, "%s is too large", inside) : ERR_OK;
}

static enum err op_write(struct space *space, const char *name, const char *inside, struct slice bytes, bool executable,
                         struct why *why) {
    return op_write_at(space, name, inside, 0, bytes, executable, why);
}

static enum err op_read_at(struct space *space, const char *name, const char *inside, uint64_t offset, size_t most,
                           struct buf *ret, struct why *why) {
    struct simspace_file *f = file_of(dir_of((struct simspace *)space, name), inside);
    if (f == NULL) return why_set(why, ERR_NOT_FOUND, "no file %s", inside);
    size_t left = offset < f->bytes.len ? f->bytes.len - (size_t)offset : 0;
    if (left > 0) buf_put(ret, f->bytes.at + offset, left < most ? left : most);
    return ret->full ? why_set(why, ERR_LIMIT, "%s is too large", inside) : ERR_OK;
}

static enum err op_read(struct space *space, const char *name, const char *inside, struct buf *ret, struct why *why) {
    return op_read_at(space, name, inside, 0, SIZE_MAX, ret, why);
}

static enum err op_size(struct space *space, const char *name, const char *inside, uint64_t *ret, struct why *why) {
    const struct simspace_file *f = file_of(dir_of((struct simspace *)space, name), inside);
    if (f == NULL) return why_set(why, ERR_NOT_FOUND, "no file %s", inside);
    *ret = f->bytes.len;
    return ERR_OK;
}

static void op_match(struct space *space, const char *name, const char *pattern, space_match_fn each, void *ctx) {
    struct dir *d = dir_of((struct simspace *)space, name);
    for (uint32_t i = 0; d != NULL && i < d->files.count; i++) {
        const struct simspace_file *f = vec_at(&d->files, i);
        if (fnmatch(pattern, f->inside, FNM_PATHNAME) == 0) each(ctx, f->inside);
    }
}

static const struct space_ops ops = {op_make,    op_path, op_write, op_write_at, op_read,
                                     op_read_at, op_size, op_match, op_remove};

void simspace_put(struct simspace *s, const char *name, const char *inside, struct slice bytes) {
    struct why why;
    if (dir_of(s, name) != NULL) ENSURE(op_write(&s->space, name, inside, bytes, false, &why) == ERR_OK);
}

void simspace_init(struct simspace *s) {
    s->space.ops = &ops;
    vec_init(&s->dirs, sizeof(struct dir));
}

void simspace_fini(struct simspace *s) {
    for (uint32_t i = 0; i < s->dirs.count; i++) dir_fini(vec_at(&s->dirs, i));
    vec_fini(&s->dirs);
}
