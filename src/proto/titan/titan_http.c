/* titan_http.c: paths of Titan's dashboard. See titan_http.h. */
#include "titan_http.h"

#include "uri.h"

static const struct {
    enum titan_call call;
    enum http_verb verb;
    enum titan_body body;
    const char *path;
} table[] = {
#define X(call, verb, body, path) {call, HTTP_VERB_##verb, body, path},
    TITAN_CALLS(X)
#undef X
};

/* A word is never empty, and a slash at the end is one too many, as there. */
static bool path_fits(struct slice path, const char *pattern, struct slice *ret_word) {
    struct slice wanted = slice_str(pattern), want, is;
    while (uri_word_next(&wanted, &want)) {
        if (slice_eq(want, SLICE("**"))) {
            if (path.len < 2) return false;
            *ret_word = slice_of(path.ptr + 1, path.len - 1);
            return true;
        }
        if (!uri_word_next(&path, &is)) return false;
        if (slice_eq(want, SLICE("*")) && is.len > 0)
            *ret_word = is;
        else if (!slice_eq(want, is))
            return false;
    }
    return path.len == 0;
}

bool titan_http_find(const struct http_request *r, struct arena *arena, struct titan_asked *ret) {
    enum http_verb verb = r->verb == HTTP_VERB_HEAD ? HTTP_VERB_GET : r->verb;
    bool found = false;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct slice word = {0}, plain = {0};
        struct why ignored;
        if (!path_fits(r->path, table[i].path, &word)) continue;
        if (word.len > 0 && uri_decode(word, false, arena, &plain, &ignored) != ERR_OK) continue;
        bool fits = table[i].verb == verb;
        if (found && !fits) continue; /* what was found before stands; two paths may differ in their verb alone */
        *ret = (struct titan_asked){.call = table[i].call,
                                    .body = table[i].body,
                                    .fits = fits,
                                    .allow = table[i].verb == HTTP_VERB_GET ? "GET, HEAD, OPTIONS" : "POST, OPTIONS",
                                    .word = plain};
        found = true;
        if (fits) return true;
    }
    return found;
}

struct slice titan_http_query(const struct http_request *r, const char *key, struct arena *arena) {
    struct slice query = r->query, is, value, plain;
    struct why ignored;
    while (uri_pair_next(&query, &is, &value))
        if (slice_eq(is, slice_str(key)) && uri_decode(value, true, arena, &plain, &ignored) == ERR_OK) return plain;
    return (struct slice){0};
}

struct slice titan_dag_name(struct slice id) {
    size_t prefix = sizeof TITAN_DAG_PREFIX - 1;
    bool has = id.len >= prefix && memcmp(id.ptr, TITAN_DAG_PREFIX, prefix) == 0;
    return has ? slice_of(id.ptr + prefix, id.len - prefix) : id;
}

static bool is_plain(uint8_t c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
           c == '_';
}

/* As there: separators and blanks become one underscore, other bytes go, and so do dots and underscores at the ends. */
struct slice titan_file_name(struct slice sent, struct arena *arena) {
    uint8_t *name = arena_space(arena, sent.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < sent.len; i++) {
        uint8_t c = sent.ptr[i];
        bool is_gap = c == '/' || c == '\\' || c == ' ' || (c >= '\t' && c <= '\r');
        if (is_gap && len > 0 && name[len - 1] != '_')
            name[len++] = '_';
        else if (is_plain(c))
            name[len++] = c;
    }
    while (len > 0 && (name[len - 1] == '.' || name[len - 1] == '_')) len--;
    while (len > 0 && (name[0] == '.' || name[0] == '_')) name++, len--;
    return slice_of(name, len);
}
