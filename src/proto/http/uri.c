/* uri.c: see uri.h. */
#include "uri.h"

#include "hex.h"
#include "utf8.h"

static struct slice after(struct slice s, size_t bytes) {
    return slice_of(s.ptr + bytes, s.len - bytes);
}

static bool begins(struct slice s, const char *with) {
    size_t len = strlen(with);
    return s.len >= len && memcmp(s.ptr, with, len) == 0;
}

/* What is before the byte; the rest, without it, is left in *s. Without the byte, all of it. */
static struct slice cut_at(struct slice *s, char byte) {
    const uint8_t *at = s->len > 0 ? memchr(s->ptr, byte, s->len) : NULL;
    struct slice before = at != NULL ? slice_of(s->ptr, (size_t)(at - s->ptr)) : *s;
    *s = at != NULL ? after(*s, before.len + 1) : slice_of(s->ptr + s->len, 0);
    return before;
}

bool uri_split(struct slice target, struct slice *ret_authority, struct slice *ret_path, struct slice *ret_query) {
    struct slice authority = {0};
    bool rooted = target.len > 0 && target.ptr[0] == '/'; /* as nearly all are */
    size_t scheme = rooted ? 0 : begins(target, "http://") ? 7 : begins(target, "https://") ? 8 : 0;
    if (scheme > 0) {
        struct slice rest = after(target, scheme);
        authority = rest;
        for (size_t i = 0; i < rest.len && authority.len == rest.len; i++)
            if (rest.ptr[i] == '/' || rest.ptr[i] == '?') authority.len = i;
        target = after(rest, authority.len);
        if (authority.len == 0) return false;
    }
    if (!rooted && scheme == 0 && !slice_eq(target, SLICE("*"))) return false;
    if (target.len > 0 && memchr(target.ptr, '#', target.len) != NULL) return false;
    *ret_path = cut_at(&target, '?');
    *ret_query = target;
    *ret_authority = authority;
    return true;
}

bool uri_word_next(struct slice *path, struct slice *ret) {
    if (path->len == 0 || path->ptr[0] != '/') return false;
    struct slice rest = after(*path, 1);
    const uint8_t *end = rest.len > 0 ? memchr(rest.ptr, '/', rest.len) : NULL;
    size_t len = end != NULL ? (size_t)(end - rest.ptr) : rest.len;
    *ret = slice_of(rest.ptr, len);
    *path = after(rest, len);
    return true;
}

bool uri_pair_next(struct slice *query, struct slice *ret_key, struct slice *ret_value) {
    while (query->len > 0) {
        struct slice pair = cut_at(query, '&');
        if (pair.len == 0) continue;
        *ret_key = cut_at(&pair, '=');
        *ret_value = pair;
        return true;
    }
    return false;
}

/* Most texts are as they were meant. */
static bool is_decoded(struct slice text) {
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c == 0 || c == '%' || c == '+' || c >= 0x80) return false;
    }
    return true;
}

enum err uri_decode(struct slice text, bool in_query, struct arena *arena, struct slice *ret, struct why *why) {
    if (is_decoded(text)) {
        *ret = text;
        return ERR_OK;
    }
    uint8_t *to = arena_try(arena, text.len + 1);
    size_t len = 0;
    if (to == NULL) return why_set(why, ERR_LIMIT, "no room for a target of %zu bytes", text.len);
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c == '%') {
            int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? hex_digit(text.ptr[i + 2]) : -1;
            if (high < 0 || low < 0) return why_set(why, ERR_INVALID, "a %% is not followed by two digits");
            c = (uint8_t)(high * 16 + low);
            i += 2;
        } else if (c == '+' && in_query) {
            c = ' ';
        }
        if (c == 0) return why_set(why, ERR_INVALID, "a zero byte in the target");
        to[len++] = c;
    }
    if (!utf8_is_valid(slice_of(to, len))) return why_set(why, ERR_INVALID, "the target is not UTF-8");
    *ret = slice_of(to, len);
    return ERR_OK;
}
