/* dotenv.c: see dotenv.h. */
#include "dotenv.h"

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static struct slice trim(struct slice s) {
    size_t from = 0, to = s.len;
    while (from < to && is_blank(s.ptr[from])) from++;
    while (to > from && is_blank(s.ptr[to - 1])) to--;
    return slice_of(s.ptr + from, to - from);
}

static bool is_name(struct slice s) {
    for (size_t i = 0; i < s.len; i++) {
        uint8_t c = s.ptr[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || (c >= '0' && c <= '9');
        if (!good) return false;
    }
    return s.len > 0;
}

/* In double quotes, the first of which is at 0; *ret_behind: where the line goes on. */
static bool escapes_read(struct slice s, struct arena *arena, struct slice *ret, size_t *ret_behind) {
    static const char letters[] = "nrt", codes[] = "\n\r\t";
    uint8_t *out = arena_alloc(arena, s.len);
    size_t len = 0, i = 1;
    for (; i < s.len && s.ptr[i] != '"'; i++) {
        uint8_t c = s.ptr[i];
        if (c == '\\' && i + 1 < s.len) {
            c = s.ptr[++i];
            const char *letter = c != 0 ? strchr(letters, c) : NULL;
            if (letter != NULL)
                c = (uint8_t)codes[letter - letters];
            else if (c != '"' && c != '\\' && c != '$')
                out[len++] = '\\';
        }
        out[len++] = c;
    }
    if (i == s.len) return false;
    *ret = slice_of(out, len);
    *ret_behind = i + 1;
    return true;
}

static bool value_read(struct slice s, struct arena *arena, struct slice *ret) {
    size_t behind = 0;
    if (s.len > 0 && s.ptr[0] == '\'') {
        const uint8_t *end = memchr(s.ptr + 1, '\'', s.len - 1);
        if (end == NULL) return false;
        *ret = slice_of(s.ptr + 1, (size_t)(end - s.ptr) - 1);
        behind = (size_t)(end - s.ptr) + 1;
    } else if (s.len > 0 && s.ptr[0] == '"') {
        if (!escapes_read(s, arena, ret, &behind)) return false;
    } else {
        size_t end = 0;
        while (end < s.len && !(s.ptr[end] == '#' && (end == 0 || is_blank(s.ptr[end - 1])))) end++;
        *ret = trim(slice_of(s.ptr, end));
        return true;
    }
    struct slice rest = trim(slice_of(s.ptr + behind, s.len - behind));
    return rest.len == 0 || rest.ptr[0] == '#';
}

static enum err line_read(struct slice line, struct arena *arena, struct dotenv_pair *ret, struct why *why) {
    struct slice before = SLICE("export");
    const uint8_t *equals = memchr(line.ptr, '=', line.len);
    struct slice name = trim(slice_of(line.ptr, equals != NULL ? (size_t)(equals - line.ptr) : line.len));
    bool exports =
        name.len > before.len && memcmp(name.ptr, before.ptr, before.len) == 0 && is_blank(name.ptr[before.len]);
    if (exports) name = trim(slice_of(name.ptr + before.len, name.len - before.len));
    if (equals == NULL || !is_name(name))
        return why_set(why, ERR_INVALID, "expected NAME=VALUE, found `%.*s`",
                       SLICE_FMT(slice_of(line.ptr, line.len < 40 ? line.len : 40)));
    struct slice value = trim(slice_of(equals + 1, line.len - (size_t)(equals + 1 - line.ptr)));
    ret->name = name;
    if (value_read(value, arena, &ret->value)) return ERR_OK;
    return why_set(why, ERR_INVALID, "the value of %.*s has a quote that does not end, or something behind its quotes",
                   SLICE_FMT(name));
}

enum err dotenv_read(struct slice text, struct arena *arena, uint32_t most, struct dotenv_pair *ret,
                     uint32_t *ret_count, struct why *why) {
    uint32_t count = 0, number = 0;
    for (size_t from = 0; from < text.len;) {
        const uint8_t *end = memchr(text.ptr + from, '\n', text.len - from);
        size_t to = end != NULL ? (size_t)(end - text.ptr) : text.len;
        struct slice line = trim(slice_of(text.ptr + from, to - from));
        number++;
        from = to + 1;
        if (line.len == 0 || line.ptr[0] == '#') continue;
        if (count == most) return why_set(why, ERR_LIMIT, "line %u: more than %u values", number, most);
        enum err e = line_read(line, arena, &ret[count++], why);
        if (e != ERR_OK) return why_wrap(why, e, "line %u", number);
    }
    *ret_count = count;
    return ERR_OK;
}
