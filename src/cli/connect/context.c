/* context.c: see context.h. */
#include "context.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "limit.h"
#include "server_address.h"
#include "wire_json.h"

#define FILE_NAME "contexts.json"
#define FILE_BYTES_MAX (1u << 20)
#define READ_BYTES 65536u
#define PIN_MAX 128u

static const struct tlv_field context_fields[] = {
    TLV_FIELD(1, TLV_TEXT, context, name, .max = CONTEXT_NAME_MAX),
    TLV_FIELD(2, TLV_TEXT, context, server, .max = SERVER_ADDRESS_BYTES_MAX),
    TLV_FIELD(3, TLV_TEXT, context, tls_ca, .max = PATH_MAX),
    TLV_FIELD(4, TLV_TEXT, context, tls_pin, .max = PIN_MAX),
    TLV_FIELD(5, TLV_TEXT, context, tls_cert, .max = PATH_MAX),
    TLV_FIELD(6, TLV_TEXT, context, token, .max = CONTEXT_TOKEN_MAX),
    TLV_FIELD(7, TLV_TEXT, context, refresh, .max = CONTEXT_TOKEN_MAX),
    TLV_FIELD(8, TLV_TEXT, context, token_url, .max = CONTEXT_URL_MAX),
    TLV_FIELD(9, TLV_TEXT, context, client_id, .max = CONTEXT_URL_MAX),
    TLV_FIELD(10, TLV_TEXT, context, login_ca, .max = CONTEXT_CA_MAX),
    TLV_FIELD(11, TLV_I64, context, token_ends_ms),
};
static const struct tlv_desc context_desc = TLV_DESC("context", context, context_fields);

static const struct tlv_field contexts_fields[] = {
    TLV_FIELD(1, TLV_LIST, contexts, contexts, .max = CONTEXTS_MAX, .sub = &context_desc),
    TLV_FIELD(2, TLV_TEXT, contexts, used, .max = CONTEXT_NAME_MAX),
};
static const struct tlv_desc contexts_desc = TLV_DESC("contexts", contexts, contexts_fields);

struct context *context_find(const struct contexts *contexts, struct slice name) {
    struct context *list = contexts->contexts.at;
    for (uint32_t i = 0; i < contexts->contexts.count; i++)
        if (slice_eq(list[i].name, name)) return &list[i];
    return NULL;
}

enum err context_need(const struct contexts *contexts, struct slice name, struct context **ret, struct why *why) {
    struct context *found = context_find(contexts, name);
    if (found == NULL)
        return why_set(why, ERR_NOT_FOUND, "there is no context %.*s; `reeve context ls` lists contexts",
                       SLICE_FMT(name));
    *ret = found;
    return ERR_OK;
}

/* ---- the directory ---- */

static enum err folder_of(char ret[PATH_MAX], struct why *why) {
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int len = 0;
    if (config != NULL && config[0] == '/') /* a relative one is to be ignored, says the standard */
        len = snprintf(ret, PATH_MAX, "%s/reeve", config);
    else if (home != NULL && home[0] == '/')
        len = snprintf(ret, PATH_MAX, "%s/.config/reeve", home);
    if (len > 0 && len < PATH_MAX) return ERR_OK;
    return why_set(why, ERR_STATE, "contexts need a directory: set HOME or XDG_CONFIG_HOME");
}

/* With its parents, for the owner alone. */
static enum err folder_make(char path[PATH_MAX], struct why *why) {
    for (char *at = path + 1; at != NULL;) {
        at = strchr(at, '/');
        if (at != NULL) *at = 0;
        bool failed = mkdir(path, 0700) != 0 && errno != EEXIST;
        if (failed) return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
        if (at != NULL) *at++ = '/';
    }
    return ERR_OK;
}

/* ---- reading ---- */

static enum err check_owner(int fd, const char *path, struct why *why) {
    struct stat st;
    if (fstat(fd, &st) != 0) return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    if (!S_ISREG(st.st_mode)) return why_set(why, ERR_FORBIDDEN, "%s is not a file", path);
    if (st.st_uid != geteuid())
        return why_set(why, ERR_FORBIDDEN, "%s belongs to another user: make it your own, or remove it", path);
    if ((st.st_mode & 077) != 0)
        return why_set(why, ERR_FORBIDDEN, "%s holds tokens and others may read it: run `chmod 600 %s`", path, path);
    return ERR_OK;
}

static enum err read_text(int fd, const char *path, struct arena *arena, struct slice *ret, struct why *why) {
    struct buf all;
    ssize_t n = 1;
    buf_init(&all, FILE_BYTES_MAX);
    while (n != 0 && !all.full) {
        uint8_t *at = buf_space(&all, READ_BYTES);
        if (at == NULL) break;
        n = read(fd, at, READ_BYTES);
        buf_cut(&all, all.len - READ_BYTES + (n > 0 ? (size_t)n : 0));
        if (n < 0 && errno != EINTR) break;
    }
    enum err e = n < 0      ? why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno))
                 : all.full ? why_set(why, ERR_LIMIT, "%s is longer than %u bytes", path, FILE_BYTES_MAX)
                            : ERR_OK;
    if (e == ERR_OK) *ret = arena_slice(arena, buf_slice(&all));
    buf_fini(&all);
    return e;
}

/* Texts become terminated, for those who hand them to the system. */
static enum err own_texts(const struct tlv_desc *d, void *message, struct arena *arena, struct why *why) {
    for (uint32_t i = 0; i < d->field_count; i++) {
        struct slice *s = (void *)((uint8_t *)message + d->fields[i].offset);
        if (d->fields[i].type != TLV_TEXT) continue;
        if (s->len > 0 && memchr(s->ptr, 0, s->len) != NULL)
            return why_set(why, ERR_INVALID, "%s has a zero byte", d->fields[i].name);
        char *own = arena_alloc(arena, s->len + 1);
        snprintf(own, s->len + 1, "%.*s", SLICE_FMT(*s));
        *s = slice_of(own, s->len);
    }
    return ERR_OK;
}

static enum err parse(struct slice text, struct arena *arena, struct contexts *ret, struct why *why) {
    struct limits limits;
    const struct json_node *tree;
    limits_default(&limits);
    enum err e = json_tree_read(text, &limits, arena, &tree, why);
    if (e == ERR_OK && tree->kind != JSON_OBJECT) e = why_set(why, ERR_INVALID, "expected an object");
    struct wire_json_in in = {.text = text, .arena = arena, .why = why};
    if (e == ERR_OK) e = wire_json_read(&in, tree, &contexts_desc, ret);
    if (e == ERR_OK) e = own_texts(&contexts_desc, ret, arena, why);
    struct context *list = ret->contexts.at;
    for (uint32_t i = 0; e == ERR_OK && i < ret->contexts.count; i++) {
        if (list[i].name.len == 0 || list[i].server.len == 0)
            e = why_set(why, ERR_INVALID, "a context needs a name and a server");
        if (e == ERR_OK) e = own_texts(&context_desc, &list[i], arena, why);
    }
    return e;
}

static enum err read_file(const char *path, struct arena *arena, struct contexts *ret, struct why *why) {
    struct contexts got = {0};
    struct slice text;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ELOOP)
        return why_set(why, ERR_FORBIDDEN, "%s is a symbolic link: put the file itself there", path);
    if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
        return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    if (fd >= 0) {
        enum err e = check_owner(fd, path, why);
        if (e == ERR_OK) e = read_text(fd, path, arena, &text, why);
        close(fd);
        if (e != ERR_OK) return e;
        e = parse(text, arena, &got, why);
        if (e != ERR_OK) return why_wrap(why, e, "%s", path);
    }
    *ret = got;
    return ERR_OK;
}

static enum err path_in(const char *folder, char ret[PATH_MAX], struct why *why) {
    if (snprintf(ret, PATH_MAX, "%s/" FILE_NAME, folder) < PATH_MAX) return ERR_OK;
    return why_set(why, ERR_LIMIT, "%s: the path is too long", folder);
}

enum err contexts_read(struct arena *arena, struct contexts *ret, struct why *why) {
    char folder[PATH_MAX], path[PATH_MAX];
    enum err e = folder_of(folder, why);
    if (e == ERR_OK) e = path_in(folder, path, why);
    return e == ERR_OK ? read_file(path, arena, ret, why) : e;
}

/* ---- writing ---- */

static enum err replace(const char *folder, const char *path, struct slice bytes, struct why *why) {
    char fresh[PATH_MAX];
    if (snprintf(fresh, sizeof fresh, "%s.new", path) >= (int)sizeof fresh)
        return why_set(why, ERR_LIMIT, "%s: the path is too long", path);
    (void)unlink(fresh);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool good = fd >= 0 && write(fd, bytes.ptr, bytes.len) == (ssize_t)bytes.len && fsync(fd) == 0;
    if (fd >= 0) good &= close(fd) == 0;
    if (good) good = rename(fresh, path) == 0;
    if (!good) {
        int error = errno;
        (void)unlink(fresh);
        return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(error));
    }
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at >= 0) (void)fsync(at), close(at); /* after a power cut there may be the old file, never half of one */
    return ERR_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp((const char *)((const struct context *)a)->name.ptr,
                  (const char *)((const struct context *)b)->name.ptr);
}

static enum err write_file(const char *folder, const char *path, const struct contexts *contexts, struct arena *arena,
                           struct why *why) {
    struct buf out;
    struct json json;
    struct limits limits;
    const void *parts[] = {contexts};
    limits_default(&limits);
    if (contexts->contexts.count > 0)
        qsort(contexts->contexts.at, contexts->contexts.count, sizeof(struct context), by_name);
    buf_init(&out, FILE_BYTES_MAX);
    json_init(&json, &out);
    json_object(&json);
    wire_json_put(&(struct wire_json_out){&json, arena, &limits}, &contexts_desc, parts, 1, NULL);
    json_object_end(&json);
    buf_put_u8(&out, '\n');
    enum err e = out.full ? why_set(why, ERR_LIMIT, "too many contexts") : replace(folder, path, buf_slice(&out), why);
    buf_fini(&out);
    return e;
}

enum err contexts_change(struct arena *arena, contexts_change_fn change, void *ctx, struct why *why) {
    char folder[PATH_MAX], path[PATH_MAX];
    struct contexts contexts;
    enum err e = folder_of(folder, why);
    if (e == ERR_OK) e = folder_make(folder, why);
    if (e == ERR_OK) e = path_in(folder, path, why);
    if (e != ERR_OK) return e;
    int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* the file is replaced, its directory stays */
    if (lock < 0 || flock(lock, LOCK_EX) != 0) e = why_set(why, ERR_IO, "%s: %s", folder, strerrordesc_np(errno));
    if (e == ERR_OK) e = read_file(path, arena, &contexts, why);
    if (e == ERR_OK) e = change(ctx, &contexts, why);
    if (e == ERR_OK) e = write_file(folder, path, &contexts, arena, why);
    if (lock >= 0) close(lock);
    return e;
}
