/* asset.c: see asset.h. */
#include "asset.h"

#define INDEX "/index.html"
#define HASHED "/assets/" /* names that change with what is in them */

/* Everything comes from here, nothing is written into a page, and no page of others may frame ours. */
#define POLICY                                                                                          \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "        \
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; " \
    "frame-ancestors 'none'"

/* The first words of the console's pages. */
static const char *const pages[] = {"flows",     "jobs",  "approvals", "new",    "workers",    "services", "dead",
                                    "schedules", "store", "audit",     "agents", "playground", "login"};

static bool is_page(struct slice path) {
    if (path.len == 0 || path.ptr[0] != '/') return false;
    struct slice word = slice_of(path.ptr + 1, path.len - 1);
    const uint8_t *slash = word.len > 0 ? memchr(word.ptr, '/', word.len) : NULL;
    if (slash != NULL) word.len = (size_t)(slash - word.ptr);
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        if (slice_eq(word, slice_str(pages[i]))) return true;
    return path.len == 1;
}

const struct asset *asset_find(const struct assets *a, struct slice path) {
    if (a == NULL) return NULL;
    if (is_page(path)) path = SLICE(INDEX);
    for (uint32_t i = 0; i < a->count; i++)
        if (slice_eq(path, slice_str(a->all[i].path))) return &a->all[i];
    return NULL;
}

/* Whether a list with commas has the word, whatever follows it after a semicolon. */
static bool lists(struct slice list, const char *word) {
    while (list.len > 0) {
        const uint8_t *comma = memchr(list.ptr, ',', list.len);
        struct slice item = slice_of(list.ptr, comma != NULL ? (size_t)(comma - list.ptr) : list.len);
        size_t used = item.len + (comma != NULL);
        const uint8_t *end = item.len > 0 ? memchr(item.ptr, ';', item.len) : NULL;
        if (end != NULL) item.len = (size_t)(end - item.ptr);
        while (item.len > 0 && item.ptr[0] == ' ') item = slice_of(item.ptr + 1, item.len - 1);
        while (item.len > 0 && item.ptr[item.len - 1] == ' ') item.len--;
        if (http_text_is(item, word)) return true;
        list = slice_of(list.ptr + used, list.len - used);
    }
    return false;
}

static bool takes_gzip(const struct http_request *r) {
    const struct slice *accepted = http_header(r, "accept-encoding");
    return accepted == NULL || lists(*accepted, "gzip") || lists(*accepted, "*");
}

static bool has_it(const struct http_request *r, const char *etag) {
    const struct slice *known = http_header(r, "if-none-match");
    return known != NULL && (lists(*known, etag) || lists(*known, "*"));
}

void asset_head(const struct asset *a, const struct http_request *r, struct http_head *ret) {
    bool hashed = strncmp(a->path, HASHED, sizeof HASHED - 1) == 0, known = has_it(r, a->etag);
    *ret = (struct http_head){.status = 200,
                              .type = a->type,
                              .length = (int64_t)a->bytes.len,
                              .encoding = "gzip",
                              .etag = a->etag,
                              .cache = hashed ? "public, max-age=31536000, immutable" : "no-cache",
                              .policy = POLICY};
    if (known) {
        ret->status = 304;
        ret->type = ret->encoding = NULL;
        ret->length = HTTP_NO_BODY;
    } else if (!takes_gzip(r)) {
        *ret = (struct http_head){.status = 406};
    }
}
