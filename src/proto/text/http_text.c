/* http_text.c: see http_text.h. */
#include "http_text.h"

#include <string.h>

#include "json.h"

#define NAME_BYTES_MAX 128u

bool http_text_has_control(struct slice text) {
    for (size_t i = 0; i < text.len; i++)
        if ((text.ptr[i] < 0x20 && text.ptr[i] != '\t') || text.ptr[i] == 0x7f) return true;
    return false;
}

static bool is_unreserved(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != 0 && strchr("-._~", c) != NULL);
}

static void put_percent(struct slice value, struct buf *out) {
    for (size_t i = 0; i < value.len; i++) {
        if (is_unreserved(value.ptr[i]))
            buf_put_u8(out, value.ptr[i]);
        else
            buf_printf(out, "%%%02X", value.ptr[i]);
    }
}

/* Without its quotes: they stand in the text already. */
static void put_json(struct slice value, struct buf *out) {
    struct buf string;
    struct json j;
    buf_init(&string, value.len * 6 + 16);
    json_init(&j, &string);
    json_text(&j, value);
    buf_put(out, string.at + 1, string.len - 2);
    buf_fini(&string);
}

enum err http_text_put(enum http_text_place place, bool is_first, struct slice value, struct buf *out,
                       struct why *why) {
    bool as_it_is = place == HTTP_TEXT_BODY || place == HTTP_TEXT_HEADER || (place == HTTP_TEXT_URL && is_first);
    if (place != HTTP_TEXT_BODY && as_it_is && http_text_has_control(value))
        return why_set(why, ERR_INVALID, "it has control characters, which have no place in an HTTP request");
    if (as_it_is)
        buf_put_slice(out, value);
    else if (place == HTTP_TEXT_URL)
        put_percent(value, out);
    else
        put_json(value, out);
    return ERR_OK;
}

struct slice http_text_still(struct slice text, struct arena *arena) {
    size_t dollars = 0, len = 0;
    for (size_t i = 0; i < text.len; i++) dollars += text.ptr[i] == '$';
    uint8_t *copy = arena_alloc(arena, text.len + dollars + 1);
    for (size_t i = 0; i < text.len; i++) {
        copy[len++] = text.ptr[i];
        if (text.ptr[i] == '$') copy[len++] = '$';
    }
    return slice_of(copy, len);
}

/* The length of `${NAME}` at the beginning of the text, or 0. */
static size_t variable_at(struct slice text, char name[NAME_BYTES_MAX]) {
    size_t i = 2;
    if (text.len < 4 || text.ptr[0] != '$' || text.ptr[1] != '{') return 0;
    for (; i < text.len && i - 2 < NAME_BYTES_MAX - 1; i++) {
        uint8_t c = text.ptr[i];
        bool fits = (c >= 'A' && c <= 'Z') || c == '_' || (i > 2 && c >= '0' && c <= '9');
        if (!fits) break;
        name[i - 2] = (char)c;
    }
    if (i == 2 || i == text.len || text.ptr[i] != '}') return 0;
    name[i - 2] = 0;
    return i + 1;
}

enum err http_text_fill(enum http_text_place place, struct slice text, http_text_get get, struct buf *out,
                        struct why *why) {
    char name[NAME_BYTES_MAX] = {0};
    for (size_t at = 0; at < text.len;) {
        struct slice rest = slice_of(text.ptr + at, text.len - at);
        size_t len = variable_at(rest, name);
        if (len > 0) {
            const char *value = get(name);
            if (value == NULL) return why_set(why, ERR_NOT_FOUND, "${%s}: there is no such variable here", name);
            enum err e = http_text_put(place, at == 0, slice_str(value), out, why);
            if (e != ERR_OK) return why_wrap(why, e, "${%s}", name);
            at += len;
        } else {
            buf_put_u8(out, rest.ptr[0]);
            at += rest.len > 1 && rest.ptr[0] == '$' && rest.ptr[1] == '$' ? 2 : 1;
        }
    }
    return ERR_OK;
}
