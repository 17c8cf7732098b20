/* oidc_file.c: see oidc_file.h. */
#include "oidc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth.h"
#include "buf.h"
#include "limit.h"
#include "yaml_tree.h"

#define DOCUMENT_BYTES_MAX ((size_t)1 << 20)
#define CA_BYTES_MAX ((size_t)512 << 10)
#define READ_BYTES 65536u

static enum err check_private(int fd, const char *path, struct why *why) {
    struct stat st;
    if (fstat(fd, &st) != 0) return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return why_set(why, ERR_FORBIDDEN, "%s holds a secret and belongs to uid %u: make it your own", path,
                       st.st_uid);
    if ((st.st_mode & 077) != 0)
        return why_set(why, ERR_FORBIDDEN, "%s holds a secret and others may read it: run `chmod 600 %s`", path, path);
    return ERR_OK;
}

/* A whole file into `out`. */
static enum err file_take(const char *path, bool is_secret, struct buf *out, struct why *why) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return why_set(why, ERR_NOT_FOUND, "%s: %s", path, strerrordesc_np(errno));
    enum err e = is_secret ? check_private(fd, path, why) : ERR_OK;
    for (ssize_t n = 1; e == ERR_OK && n != 0;) {
        uint8_t *at = buf_space(out, READ_BYTES);
        n = at != NULL ? read(fd, at, READ_BYTES) : -1;
        if (at != NULL) buf_cut(out, out->len - READ_BYTES + (n > 0 ? (size_t)n : 0));
        if (at == NULL) e = why_set(why, ERR_LIMIT, "%s is longer than %zu bytes", path, out->max - READ_BYTES);
        if (at != NULL && n < 0 && errno != EINTR) e = why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    }
    (void)close(fd);
    return e;
}

static void beside(const char *document, const char *path, char ret[PATH_MAX]) {
    const char *slash = strrchr(document, '/');
    int folder = slash != NULL && path[0] != '/' ? (int)(slash - document) + 1 : 0;
    snprintf(ret, PATH_MAX, "%.*s%s", folder, document, path);
}

static enum err named_read(struct issuers *s, const char *document, struct slice file, bool is_secret, size_t most,
                           struct slice *ret, struct why *why) {
    char path[PATH_MAX];
    struct buf bytes;
    if (file.len == 0) return ERR_OK;
    beside(document, (const char *)file.ptr, path);
    buf_init(&bytes, most + READ_BYTES);
    enum err e = file_take(path, is_secret, &bytes, why);
    struct slice text = buf_slice(&bytes);
    while (is_secret && text.len > 0 && strchr("\r\n", text.ptr[text.len - 1]) != NULL) text.len--;
    if (e == ERR_OK && (text.len == 0 || text.len > most))
        e = why_set(why, ERR_INVALID, "%s: expected 1 to %zu bytes", path, most);
    if (e == ERR_OK) *ret = issuers_keep(s, text);
    buf_fini(&bytes);
    return e;
}

static enum err files_read(struct issuers *s, const char *document, struct why *why) {
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < s->count; i++) {
        struct issuer *is = &s->all[i];
        e = named_read(s, document, is->secret_file, true, ISSUER_SECRET_MAX, &is->secret, why);
        if (e == ERR_OK) e = named_read(s, document, is->ca_file, false, CA_BYTES_MAX, &is->ca, why);
        if (e != ERR_OK) (void)why_wrap(why, e, "issuer %.*s", SLICE_FMT(is->name));
    }
    return e;
}

enum err oidc_file_read(const char *path, const struct limits *limits, struct issuers **ret, struct why *why) {
    const struct json_node *tree = NULL;
    struct issuers *s = NULL;
    struct arena arena;
    struct buf text;
    arena_init(&arena, 65536, (size_t)64 << 20);
    buf_init(&text, DOCUMENT_BYTES_MAX + READ_BYTES);
    enum err e = file_take(path, false, &text, why);
    if (e == ERR_OK) {
        e = yaml_tree_read(buf_slice(&text), limits, &arena, &tree, why);
        if (e == ERR_OK) e = issuers_read(tree, role_by_word, &s, why);
        if (e == ERR_OK) e = files_read(s, path, why);
        if (e != ERR_OK) (void)why_wrap(why, e, "%s", path);
    }
    if (e == ERR_OK)
        *ret = s;
    else
        issuers_free(s);
    buf_fini(&text);
    arena_fini(&arena);
    return e;
}
