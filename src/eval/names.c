/* names.c: see names.h. */
#include "names.h"

static bool is_letter(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(uint8_t c) {
    return is_letter(c) || (c >= '0' && c <= '9');
}

static uint8_t byte_at(struct slice text, size_t at) {
    return at < text.len ? text.ptr[at] : 0;
}

/* [[ … ]], [==[ … ]==]; `at` when it is none. */
static size_t skip_long(struct slice text, size_t at) {
    size_t level = 0, i = at + 1;
    if (byte_at(text, at) != '[') return at;
    while (byte_at(text, i + level) == '=') level++;
    if (byte_at(text, i + level) != '[') return at;
    for (i += level + 1; i < text.len; i++) {
        size_t same = 0;
        if (text.ptr[i] != ']') continue;
        while (byte_at(text, i + 1 + same) == '=') same++;
        if (same == level && byte_at(text, i + 1 + same) == ']') return i + same + 2;
    }
    return text.len;
}

static size_t skip_string(struct slice text, size_t at) {
    uint8_t quote = text.ptr[at];
    size_t i = at + 1;
    while (i < text.len && text.ptr[i] != quote) i += text.ptr[i] == '\\' ? 2 : 1;
    return i < text.len ? i + 1 : text.len;
}

size_t names_skip(struct slice text, size_t at) {
    uint8_t c = byte_at(text, at);
    if (c == '"' || c == '\'') return skip_string(text, at);
    if (c == '[') return skip_long(text, at);
    if (c != '-' || byte_at(text, at + 1) != '-') return at;
    size_t behind = skip_long(text, at + 2);
    if (behind != at + 2) return behind;
    while (at < text.len && text.ptr[at] != '\n') at++;
    return at;
}

static size_t skip_space(struct slice text, size_t at) {
    while (at < text.len && (text.ptr[at] == ' ' || (text.ptr[at] >= '\t' && text.ptr[at] <= '\r'))) at++;
    return at;
}

static struct slice word_at(struct slice text, size_t at) {
    size_t to = at;
    while (to < text.len && is_word(text.ptr[to])) to++;
    return slice_of(text.ptr + at, to - at);
}

/* `.NAME` or `["NAME"]` at `at`; an empty name when it is something else. */
static struct slice name_behind(struct slice text, size_t at) {
    at = skip_space(text, at);
    if (byte_at(text, at) == '.' && byte_at(text, at + 1) != '.') return word_at(text, skip_space(text, at + 1));
    if (byte_at(text, at) != '[') return slice_of(NULL, 0);
    size_t from = skip_space(text, at + 1);
    if (byte_at(text, from) != '"' && byte_at(text, from) != '\'') return slice_of(NULL, 0);
    size_t to = skip_string(text, from);
    struct slice inside = slice_of(text.ptr + from + 1, to - from > 2 ? to - from - 2 : 0);
    bool plain = inside.len > 0 && memchr(inside.ptr, '\\', inside.len) == NULL;
    return plain && byte_at(text, skip_space(text, to)) == ']' ? inside : slice_of(NULL, 0);
}

/* A word behind one point is a field, behind two the right side of a concatenation. */
static bool is_field(struct slice text, size_t at) {
    while (at > 0 && (text.ptr[at - 1] == ' ' || text.ptr[at - 1] == '\n')) at--;
    if (at == 0) return false;
    if (text.ptr[at - 1] == ':') return true;
    return text.ptr[at - 1] == '.' && (at < 2 || text.ptr[at - 2] != '.');
}

bool names_next(struct slice text, size_t *at, struct name_ref *ret) {
    size_t i = *at;
    while (i < text.len) {
        size_t behind = names_skip(text, i);
        if (behind != i) {
            i = behind;
            continue;
        }
        struct slice word = word_at(text, i);
        if (word.len == 0) {
            i++;
            continue;
        }
        enum scope_root root = is_letter(text.ptr[i]) && !is_field(text, i) ? scope_root_of(word) : ROOT_COUNT;
        i += word.len;
        if (root == ROOT_COUNT) continue;
        *ret = (struct name_ref){root, name_behind(text, i)};
        *at = i;
        return true;
    }
    *at = i;
    return false;
}

enum scope_stage names_stage(struct slice text) {
    enum scope_stage latest = STAGE_SUBMIT;
    struct name_ref ref;
    for (size_t at = 0; names_next(text, &at, &ref);)
        if (scope_stage_of(ref.root) > latest) latest = scope_stage_of(ref.root);
    return latest;
}

unsigned names_roots(struct slice text) {
    unsigned roots = 0;
    struct name_ref ref;
    for (size_t at = 0; names_next(text, &at, &ref);) roots |= ROOT_BIT(ref.root);
    return roots;
}

/* In doubt yes: only `for NAME in` and `for NAME,` are surely something else. */
bool names_counts(struct slice text) {
    for (size_t i = 0; i < text.len;) {
        size_t behind = names_skip(text, i);
        struct slice word = behind == i ? word_at(text, i) : slice_of(NULL, 0);
        i = behind != i ? behind : i + (word.len > 0 ? word.len : 1);
        if (!slice_eq(word, SLICE("for"))) continue;
        size_t name = skip_space(text, i), next = skip_space(text, name + word_at(text, name).len);
        if (byte_at(text, next) != ',' && !slice_eq(word_at(text, next), SLICE("in"))) return true;
    }
    return false;
}
