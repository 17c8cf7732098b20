/* multipart.c: see multipart.h. */
#include "multipart.h"

#include <string.h>
#include <strings.h>

#define BOUNDARY_BYTES_MAX 70u /* RFC 2046, 5.1.1 */
#define TYPE "multipart/form-data"
#define DISPOSITION "content-disposition:"
#define FORM_DATA "form-data"

static struct slice after(struct slice s, size_t bytes) {
    return bytes > 0 ? slice_of(s.ptr + bytes, s.len - bytes) : s;
}

static bool begins(struct slice s, const char *with) {
    size_t len = strlen(with);
    return s.len >= len && strncasecmp((const char *)s.ptr, with, len) == 0;
}

static struct slice skip_blanks(struct slice s) {
    while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\t')) s = after(s, 1);
    return s;
}

static const uint8_t *find(struct slice in, struct slice what) {
    return in.len > 0 ? memmem(in.ptr, in.len, what.ptr, what.len) : NULL;
}

/* Takes `; key=value` off the front, the value perhaps in quotes; what is escaped in them stays so. */
static bool param_next(struct slice *rest, struct slice *ret_key, struct slice *ret_value) {
    struct slice s = skip_blanks(*rest);
    if (s.len == 0 || s.ptr[0] != ';') return false;
    s = skip_blanks(after(s, 1));
    size_t key = 0, len = 0;
    while (key < s.len && s.ptr[key] != '=' && s.ptr[key] != ';' && s.ptr[key] != ' ') key++;
    if (key == 0 || key == s.len || s.ptr[key] != '=') return false;
    *ret_key = slice_of(s.ptr, key);
    s = after(s, key + 1);
    if (s.len > 0 && s.ptr[0] == '"') {
        s = after(s, 1);
        while (len < s.len && s.ptr[len] != '"') len += s.ptr[len] == '\\' && len + 1 < s.len ? 2 : 1;
        if (len >= s.len) return false;
        *ret_value = slice_of(s.ptr, len);
        *rest = after(s, len + 1);
        return true;
    }
    while (len < s.len && s.ptr[len] != ';' && s.ptr[len] != ' ' && s.ptr[len] != '\t') len++;
    *ret_value = slice_of(s.ptr, len);
    *rest = after(s, len);
    return true;
}

bool multipart_begin(struct slice type, struct slice body, struct multipart *ret) {
    struct slice key, value;
    *ret = (struct multipart){.left = body};
    if (!begins(type, TYPE)) return false;
    struct slice rest = after(type, sizeof TYPE - 1);
    while (param_next(&rest, &key, &value))
        if (key.len == 8 && begins(key, "boundary")) ret->boundary = value;
    return ret->boundary.len > 0 && ret->boundary.len <= BOUNDARY_BYTES_MAX;
}

/* The line of a boundary, from `at` on: where it ends, and whether it is the last. False: it is none. */
static bool line_read(struct slice in, struct slice boundary, struct slice *ret_rest, bool *ret_last) {
    if (in.len < boundary.len + 2 || memcmp(in.ptr, "--", 2) != 0 ||
        memcmp(in.ptr + 2, boundary.ptr, boundary.len) != 0)
        return false;
    in = after(in, boundary.len + 2);
    *ret_last = in.len >= 2 && memcmp(in.ptr, "--", 2) == 0;
    if (*ret_last) return true;
    in = skip_blanks(in);
    if (in.len < 2 || memcmp(in.ptr, "\r\n", 2) != 0) return false;
    *ret_rest = after(in, 2);
    return true;
}

static void disposition_read(struct slice line, struct multipart_part *ret) {
    struct slice rest = skip_blanks(after(line, sizeof DISPOSITION - 1)), key, value;
    if (!begins(rest, FORM_DATA)) return;
    rest = after(rest, sizeof FORM_DATA - 1);
    while (param_next(&rest, &key, &value)) {
        if (key.len == 4 && begins(key, "name")) ret->name = value;
        if (key.len == 8 && begins(key, "filename")) ret->filename = value, ret->has_filename = true;
    }
}

static void head_read(struct slice head, struct multipart_part *ret) {
    while (head.len > 0) {
        const uint8_t *end = find(head, SLICE("\r\n"));
        size_t len = end != NULL ? (size_t)(end - head.ptr) : head.len;
        struct slice line = slice_of(head.ptr, len);
        if (begins(line, DISPOSITION)) disposition_read(line, ret);
        head = end != NULL ? after(head, len + 2) : after(head, len);
    }
}

/* What lies before the next line of the boundary, which begins with the end of the line before it. */
static bool data_read(struct multipart *m, struct slice *ret) {
    struct slice in = m->left, rest = {0};
    bool last = false;
    for (size_t from = 0; from < in.len;) {
        const uint8_t *end = find(after(in, from), SLICE("\r\n--"));
        if (end == NULL) return false;
        size_t len = (size_t)(end - in.ptr);
        if (line_read(after(in, len + 2), m->boundary, &rest, &last)) {
            *ret = slice_of(in.ptr, len);
            m->left = after(in, len + 2);
            return true;
        }
        from = len + 2;
    }
    return false;
}

enum err multipart_next(struct multipart *m, struct multipart_part *ret, struct why *why) {
    bool last = false;
    *ret = (struct multipart_part){0};
    if (!line_read(m->left, m->boundary, &m->left, &last))
        return why_set(why, ERR_INVALID, "the form does not begin with its boundary, or ends without it");
    if (last) return ERR_NOT_FOUND;
    if (m->count++ == MULTIPART_PARTS_MAX)
        return why_set(why, ERR_LIMIT, "a form has at most %u parts", MULTIPART_PARTS_MAX);
    struct slice head = m->left;
    if (head.len > MULTIPART_HEAD_BYTES_MAX) head.len = MULTIPART_HEAD_BYTES_MAX;
    bool none = head.len >= 2 && memcmp(head.ptr, "\r\n", 2) == 0;
    const uint8_t *end = none ? head.ptr : find(head, SLICE("\r\n\r\n"));
    if (end == NULL) return why_set(why, ERR_INVALID, "a part of the form has no end of its head");
    head.len = (size_t)(end - head.ptr);
    head_read(head, ret);
    /* From the line end before the data on: there may be no data at all. */
    m->left = after(m->left, head.len + (none ? 0 : 2));
    struct slice data;
    if (!data_read(m, &data)) return why_set(why, ERR_INVALID, "a part of the form has no end");
    ret->data = data.len >= 2 ? after(data, 2) : slice_of(data.ptr, 0);
    return ERR_OK;
}
