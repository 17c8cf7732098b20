/* web_range.c: parts of logs and blobs by the Range header (RFC 9110, 14). One range; of a log also its end. A log only
 * grows, so a part of it is never out of date; an If-Range names what we never gave for a log, and is then ignored
 * together with its Range, as the standard says. */
#include <stdio.h>

#include "web_impl.h"

static bool number_take(struct slice *text, uint64_t *ret) {
    uint64_t v = 0;
    size_t i = 0;
    for (; i < text->len && text->ptr[i] >= '0' && text->ptr[i] <= '9'; i++) {
        if (i == 18) return false;
        v = v * 10 + (text->ptr[i] - '0');
    }
    *text = slice_of(text->ptr + i, text->len - i);
    *ret = v;
    return i > 0;
}

bool web_range_take(const struct http_request *r, uint8_t op, void *message, uint64_t *ret_most) {
    const struct slice *given = http_header(r, "range");
    uint64_t from = 0, to = 0;
    if (given == NULL || given->len < 7 || memcmp(given->ptr, "bytes=", 6) != 0 || r->query.len > 0) return false;
    if (http_header_count(r, "if-range") > 0 || (r->verb != HTTP_VERB_GET && r->verb != HTTP_VERB_HEAD)) return false;
    struct slice left = slice_of(given->ptr + 6, given->len - 6);
    bool has_from = number_take(&left, &from);
    if (left.len == 0 || left.ptr[0] != '-') return false;
    left = slice_of(left.ptr + 1, left.len - 1);
    bool has_to = number_take(&left, &to);
    if (left.len > 0 || (!has_from && !has_to) || (has_from && has_to && to < from)) return false;
    if (!has_from && (op != WIRE_LOGS || to == 0)) return false;
    *ret_most = has_from && has_to ? to - from + 1 : 0;
    if (op == WIRE_LOGS) {
        struct wire_logs *m = message;
        m->now = true;
        m->offset = from;
        m->most = *ret_most;
        m->tail_bytes = has_from ? 0 : to;
    } else {
        struct wire_blob_get *m = message;
        m->offset = from;
        m->most = *ret_most;
    }
    return true;
}

bool web_range_text(uint64_t from, uint64_t most, uint64_t total, char ret[64]) {
    if (from >= total) {
        snprintf(ret, 64, "bytes */%llu", (unsigned long long)total);
        return false;
    }
    uint64_t end = most == 0 || most > total - from ? total : from + most;
    snprintf(ret, 64, "bytes %llu-%llu/%llu", (unsigned long long)from, (unsigned long long)end - 1,
             (unsigned long long)total);
    return true;
}
