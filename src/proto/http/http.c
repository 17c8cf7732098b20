/* http.c: see http.h. A head is gathered until it is whole and then read in one go (http_head.c), so that all its parts
 * are slices of one buffer; a body is taken as it comes (http_body.c). */
#include "http.h"

#include "http_impl.h"
#include "limit.h"
#include "panic.h"

#define KEPT_BYTES_MAX 4096u /* of buffers, from one message of a connection to the next */
#define KEPT_HEADERS_MAX 32u

const char *http_verb_word(enum http_verb verb) {
    static const char *const words[HTTP_VERB_COUNT] = {
#define X(verb, word) [verb] = word,
        HTTP_VERB_TABLE(X)
#undef X
    };
    REQUIRE(verb < HTTP_VERB_COUNT);
    return words[verb];
}

/* ---- refusals ---- */

void http_refuse(struct http_in *in, uint16_t status, enum err e, const char *text) {
    if (in->state == HTTP_IN_BAD) return;
    in->state = HTTP_IN_BAD;
    in->status = status;
    in->err = why_set(&in->why, e, "%s", text);
}

void http_refuse_limit(struct http_in *in, uint16_t status, const char *what, const char *limit, int64_t most) {
    if (in->state == HTTP_IN_BAD) return;
    in->state = HTTP_IN_BAD;
    in->status = status;
    in->err = why_set(&in->why, ERR_LIMIT, "%s is longer than %lld (%s)", what, (long long)most, limit);
}

/* ---- the end of a head ---- */

/* Walks from line feed to line feed, to the empty line: *ret_whole. How many bytes are of the head. A line feed on its
 * own is refused at once: whoever sends it would wait for an answer to what looks whole to it. */
static size_t lines_walk(struct http_in *in, struct slice bytes, bool *ret_whole) {
    const uint8_t *at = bytes.ptr, *end = at + bytes.len, *feed;
    while (at < end && (feed = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        size_t len = in->line_bytes + (size_t)(feed - at); /* with its carriage return */
        uint8_t before = feed > at ? feed[-1] : len > 0 ? in->head.at[in->head.len - 1] : 0;
        if (before != '\r') {
            http_refuse(in, 400, ERR_INVALID, "a line feed without its carriage return");
            return bytes.len;
        }
        at = feed + 1;
        in->line_bytes = 0;
        if (len == 1) {
            *ret_whole = true;
            return (size_t)(at - bytes.ptr);
        }
        in->has_line = true;
    }
    in->line_bytes += (uint32_t)(end - at);
    return bytes.len;
}

static size_t head_feed(struct http_in *in, struct slice bytes) {
    const struct limits *limits = in->limits;
    size_t start = 0;
    bool whole = false;
    while (in->head.len == 0 && in->blank < 2 && start < bytes.len && bytes.ptr[start] == "\r\n"[in->blank])
        in->blank++, start++;
    if (start == bytes.len) return start;
    if (in->blank == 1) {
        http_refuse(in, 400, ERR_INVALID, "a carriage return without its line feed");
        return bytes.len;
    }
    size_t used = lines_walk(in, slice_of(bytes.ptr + start, bytes.len - start), &whole);
    if (in->state == HTTP_IN_BAD) return bytes.len;
    buf_put(&in->head, bytes.ptr + start, used);
    if (!in->has_line &&
        in->head.len > (uint64_t)limits->http_target_bytes_max + HTTP_METHOD_BYTES_MAX + sizeof " HTTP/1.1")
        http_refuse_limit(in, 414, "the target", "http_target_bytes_max", limits->http_target_bytes_max);
    else if (in->head.full)
        http_refuse_limit(in, 431, "the head", "http_head_bytes_max", limits->http_head_bytes_max);
    else if (whole)
        http_head_read(in);
    if (in->state == HTTP_IN_BODY) http_body_begin(in);
    return start + used;
}

size_t http_in_feed(struct http_in *in, struct slice bytes) {
    switch (in->state) {
    case HTTP_IN_HEAD: return head_feed(in, bytes);
    case HTTP_IN_BODY: return http_body_feed(in, bytes);
    case HTTP_IN_WHOLE:
    case HTTP_IN_BAD: break;
    }
    return 0;
}

bool http_in_is_idle(const struct http_in *in) {
    return in->state == HTTP_IN_HEAD && in->head.len == 0;
}

/* ---- life ---- */

void http_in_init(struct http_in *in, const struct limits *limits) {
    *in = (struct http_in){.limits = limits};
    buf_init(&in->head, (size_t)limits->http_head_bytes_max);
    buf_init(&in->body, (size_t)limits->http_body_bytes_max);
    vec_init(&in->headers, sizeof(struct http_header));
    http_in_next(in);
}

void http_in_fini(struct http_in *in) {
    buf_fini(&in->head);
    buf_fini(&in->body);
    vec_fini(&in->headers);
}

/* Idle connections are many: they keep what a usual request needs, not what the largest did. */
static void forget(struct buf *b) {
    size_t most = b->max;
    if (b->slots > KEPT_BYTES_MAX) {
        buf_fini(b);
        buf_init(b, most);
    }
    buf_clear(b);
}

void http_in_next(struct http_in *in) {
    forget(&in->head);
    forget(&in->body);
    if (in->headers.slots > KEPT_HEADERS_MAX) {
        vec_fini(&in->headers);
        vec_init(&in->headers, sizeof(struct http_header));
    }
    in->headers.count = 0;
    in->state = HTTP_IN_HEAD;
    in->request = (struct http_request){0};
    in->blank = 0;
    in->has_line = in->is_chunked = in->has_rare_ext = false;
    in->line_bytes = 0;
}

/* ---- looking at headers ---- */

static uint8_t lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

bool http_text_is(struct slice text, const char *word) {
    if (text.len != strlen(word)) return false;
    if (text.len == 0 || memcmp(text.ptr, word, text.len) == 0) return true; /* as most write it */
    for (size_t i = 0; i < text.len; i++)
        if (lower(text.ptr[i]) != lower((uint8_t)word[i])) return false;
    return true;
}

/* What was asked for is in small letters, and in a name, which is a token, nothing but the large one differs from a
 * small letter by that bit. */
static bool is_named(const struct http_header *h, const char *name, size_t len) {
    const uint64_t small = 0x2020202020202020u;
    uint64_t x, y;
    size_t i = 0;
    if (h->name.len != len) return false;
    for (; i + 8 <= len; i += 8) {
        memcpy(&x, h->name.ptr + i, sizeof x);
        memcpy(&y, name + i, sizeof y);
        if ((x | small) != y) return false;
    }
    for (; i < len; i++)
        if ((h->name.ptr[i] | 0x20) != (uint8_t)name[i]) return false;
    return true;
}

uint32_t http_headers_named(const struct http_request *r, const char *name, size_t len) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->header_count; i++) count += is_named(&r->headers[i], name, len);
    return count;
}

const struct slice *http_header_find(const struct http_request *r, const char *name, size_t len) {
    const struct slice *found = NULL;
    for (uint32_t i = 0; i < r->header_count; i++) {
        if (!is_named(&r->headers[i], name, len)) continue;
        if (found != NULL) return NULL;
        found = &r->headers[i].value;
    }
    return found;
}
