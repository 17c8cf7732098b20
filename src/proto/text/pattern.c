/* pattern.c: see pattern.h. Only the last star is ever gone back to: what an earlier one took can only have been too
 * little. */
#include "pattern.h"

/* The class that opens at `at`, behind its bracket; *ret_end is behind the one that closes it. */
static bool in_class(struct slice p, size_t at, uint8_t c, size_t *ret_end) {
    bool negated = at < p.len && p.ptr[at] == '^', found = false;
    at += negated;
    while (at < p.len && p.ptr[at] != ']') {
        if (p.ptr[at] == '\\' && at + 1 < p.len) {
            found |= p.ptr[at + 1] == c;
            at += 2;
        } else if (at + 2 < p.len && p.ptr[at + 1] == '-') {
            uint8_t low = p.ptr[at], high = p.ptr[at + 2];
            found |= low <= high ? c >= low && c <= high : c >= high && c <= low;
            at += 3;
        } else {
            found |= p.ptr[at++] == c;
        }
    }
    *ret_end = at < p.len ? at + 1 : at;
    return found != negated;
}

/* One character of the text against what stands at `at`, which is no star. */
static bool one(struct slice p, size_t at, uint8_t c, size_t *ret_next) {
    *ret_next = at + 1;
    if (p.ptr[at] == '?') return true;
    if (p.ptr[at] == '[') return in_class(p, at + 1, c, ret_next);
    if (p.ptr[at] == '\\' && at + 1 < p.len) {
        *ret_next = at + 2;
        return p.ptr[at + 1] == c;
    }
    return p.ptr[at] == c;
}

bool pattern_matches(struct slice pattern, struct slice text, uint64_t *steps) {
    size_t p = 0, t = 0, star = SIZE_MAX, taken = 0, next = 0;
    while (t < text.len) {
        ++*steps;
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = ++p;
            taken = t;
        } else if (p < pattern.len && one(pattern, p, text.ptr[t], &next)) {
            *steps += next - p;
            p = next;
            t++;
        } else if (star != SIZE_MAX) {
            if (star == pattern.len) return true; /* whatever follows */
            *steps += p < pattern.len ? next - p : 0;
            p = star;
            t = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*') p++;
    return p == pattern.len;
}

bool pattern_is_cheap(struct slice pattern) {
    const uint8_t *star = pattern.len > 0 ? memchr(pattern.ptr, '*', pattern.len) : NULL;
    return star == NULL || star == pattern.ptr + pattern.len - 1;
}

struct slice pattern_prefix(struct slice pattern) {
    size_t len = 0;
    while (len < pattern.len && memchr("*?[\\", pattern.ptr[len], 4) == NULL) len++;
    return slice_of(pattern.ptr, len);
}
