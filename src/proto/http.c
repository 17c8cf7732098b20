/* http.c: see http.h. A head is gathered whole, scanned as it comes, and then given to llhttp in one piece, so that all
 * its spans are slices of one buffer; a body is given as it comes. */
#include "http.h"

#include <llhttp.h>

#include "panic.h"
#include "uri.h"

#define KEPT_BYTES_MAX 4096u /* of buffers, from one message of a connection to the next */
#define KEPT_HEADERS_MAX 32u
#define METHOD_BYTES_MAX 16u

_Static_assert(sizeof(llhttp_t) <= HTTP_CORE_WORDS * sizeof(uint64_t), "llhttp's state fits");

static const char *const verb_words[HTTP_VERB_COUNT] = {
#define X(verb, word) [verb] = word,
    HTTP_VERB_TABLE(X)
#undef X
};

const char *http_verb_word(enum http_verb verb) {
    REQUIRE(verb < HTTP_VERB_COUNT);
    return verb_words[verb];
}

static llhttp_t *core_of(struct http_in *in) {
    return (llhttp_t *)(void *)in->core;
}

/* ---- refusals ---- */

static void refuse(struct http_in *in, uint16_t status, enum err e, const char *text) {
    if (in->state == HTTP_IN_BAD) return; /* the first one counts */
    in->state = HTTP_IN_BAD;
    in->status = status;
    in->err = why_set(&in->why, e, "%s", text);
}

static void refuse_limit(struct http_in *in, uint16_t status, const char *what, const char *limit, int64_t most) {
    if (in->state == HTTP_IN_BAD) return;
    in->state = HTTP_IN_BAD;
    in->status = status;
    in->err = why_set(&in->why, ERR_LIMIT, "%s is longer than %lld (%s)", what, (long long)most, limit);
}

/* ---- what llhttp tells us ---- */

static int on_url(llhttp_t *core, const char *at, size_t len) {
    ((struct http_in *)core->data)->request.target = slice_of(at, len);
    return 0;
}

/* Trailers would be headers that nobody scanned. */
static int on_header_field(llhttp_t *core, const char *at, size_t len) {
    struct http_in *in = core->data;
    if (in->state == HTTP_IN_BODY) {
        refuse(in, 400, ERR_INVALID, "a chunked body with trailers is not read here");
        return HPE_USER;
    }
    if (in->headers.count >= (uint64_t)in->limits->http_headers_max) {
        refuse_limit(in, 431, "the list of headers", "http_headers_max", in->limits->http_headers_max);
        return HPE_USER;
    }
    ((struct http_header *)vec_push(&in->headers))->name = slice_of(at, len);
    return 0;
}

static int on_header_value(llhttp_t *core, const char *at, size_t len) {
    struct http_in *in = core->data;
    struct http_header *h = vec_at(&in->headers, in->headers.count - 1);
    while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t')) len--;
    h->value = slice_of(at, len);
    return 0;
}

static int on_headers_complete(llhttp_t *core) {
    core->upgrade = 0; /* we go on with HTTP/1.1, which is allowed */
    return HPE_PAUSED;
}

static int on_extension(llhttp_t *core, const char *at, size_t len) {
    (void)at, (void)len;
    refuse(core->data, 400, ERR_INVALID, "a chunk with an extension is not read here");
    return HPE_USER;
}

static int on_body(llhttp_t *core, const char *at, size_t len) {
    struct http_in *in = core->data;
    if (in->body.len + len > (uint64_t)in->limits->http_body_bytes_max) {
        refuse_limit(in, 413, "the body", "http_body_bytes_max", in->limits->http_body_bytes_max);
        return HPE_USER;
    }
    buf_put(&in->body, at, len);
    return 0;
}

static int on_message_complete(llhttp_t *core) {
    struct http_in *in = core->data;
    in->state = HTTP_IN_WHOLE;
    in->request.body = buf_slice(&in->body);
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_headers_complete = on_headers_complete,
    .on_chunk_extension_name = on_extension,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

/* ---- the head ---- */

/* RFC 9110, 5.6.2. */
static bool is_token(struct slice s) {
    static const uint64_t good[4] = {0x03ff6cfa00000000, 0x57ffffffc7fffffe, 0, 0}; /* a bit for each byte */
    for (size_t i = 0; i < s.len; i++)
        if (!(good[s.ptr[i] >> 6] >> (s.ptr[i] & 63) & 1)) return false;
    return s.len > 0;
}

static bool is_number(struct slice s) {
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9') return false;
    return s.len > 0;
}

/* METHOD SP target SP HTTP/1.x, with one space each; llhttp forgives more. */
static void check_line(struct http_in *in) {
    struct slice head = buf_slice(&in->head);
    const uint8_t *end = memchr(head.ptr, '\r', head.len);
    struct slice line = slice_of(head.ptr, (size_t)(end - head.ptr));
    const uint8_t *first = memchr(line.ptr, ' ', line.len);
    const uint8_t *last = line.len > 0 ? memrchr(line.ptr, ' ', line.len) : NULL;
    if (first == NULL || last == first || memchr(line.ptr, '\t', line.len) != NULL ||
        memchr(first + 1, ' ', (size_t)(last - first - 1)) != NULL) {
        refuse(in, 400, ERR_INVALID, "the first line is not of the form METHOD TARGET HTTP/1.1");
        return;
    }
    struct slice version = slice_of(last + 1, (size_t)(line.ptr + line.len - last - 1));
    bool is_http = version.len == 8 && memcmp(version.ptr, "HTTP/", 5) == 0;
    if (!is_http)
        refuse(in, 400, ERR_INVALID, "the first line does not end with HTTP/1.1");
    else if (!slice_eq(version, SLICE("HTTP/1.1")) && !slice_eq(version, SLICE("HTTP/1.0")))
        refuse(in, 505, ERR_UNSUPPORTED, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    else if (last - first - 1 > in->limits->http_target_bytes_max)
        refuse_limit(in, 414, "the target", "http_target_bytes_max", in->limits->http_target_bytes_max);
    else if (!is_token(slice_of(line.ptr, (size_t)(first - line.ptr))))
        refuse(in, 400, ERR_INVALID, "the method is no word");
}

/* Where the body ends must be said once and in one way. */
static void check_length(struct http_in *in) {
    const struct http_request *r = &in->request;
    uint32_t lengths = http_header_count(r, "content-length"), codings = http_header_count(r, "transfer-encoding");
    const struct slice *length = http_header(r, "content-length"), *coding = http_header(r, "transfer-encoding");
    if (lengths > 0 && codings > 0)
        refuse(in, 400, ERR_INVALID, "both content-length and transfer-encoding: where the body ends is not clear");
    else if (lengths > 1 || codings > 1)
        refuse(in, 400, ERR_INVALID, "the length of the body is given more than once");
    else if (length != NULL && (!is_number(*length) || length->len > 18))
        refuse(in, 400, ERR_INVALID, "content-length is no number");
    else if (coding != NULL && r->minor == 0)
        refuse(in, 400, ERR_INVALID, "transfer-encoding is not of HTTP/1.0");
    else if (coding != NULL && !http_text_is(*coding, "chunked"))
        refuse(in, 501, ERR_UNSUPPORTED, "the only transfer-encoding that is read here is chunked");
    if (in->state == HTTP_IN_BAD || length == NULL) return;
    uint64_t most = in->body_bytes_max != NULL ? in->body_bytes_max(in) : (uint64_t)in->limits->http_body_bytes_max;
    if (core_of(in)->content_length > most)
        refuse_limit(in, 413, "the body",
                     most == (uint64_t)in->limits->http_body_bytes_max ? "http_body_bytes_max" : "blob_bytes_max",
                     (int64_t)most);
}

static void check_headers(struct http_in *in) {
    struct http_request *r = &in->request;
    for (uint32_t i = 0; i < r->header_count; i++)
        if (!is_token(r->headers[i].name)) refuse(in, 400, ERR_INVALID, "the name of a header is no word");
    uint32_t hosts = http_header_count(r, "host");
    if (hosts > 1 || (hosts == 0 && r->minor == 1)) refuse(in, 400, ERR_INVALID, "one host header is needed");
    check_length(in);
    const struct slice *expect = http_header(r, "expect");
    if (http_header_count(r, "expect") == 0 || r->minor == 0) return; /* RFC 9110, 10.1.1: of 1.0 it is ignored */
    r->wants_continue = expect != NULL && http_text_is(*expect, "100-continue");
    if (!r->wants_continue) refuse(in, 417, ERR_UNSUPPORTED, "the only expectation that is met here is 100-continue");
}

static enum http_verb verb_of(llhttp_t *core) {
    const char *word = llhttp_method_name((llhttp_method_t)core->method);
    for (uint32_t i = 0; i < HTTP_VERB_COUNT; i++)
        if (strcmp(word, verb_words[i]) == 0) return (enum http_verb)i;
    return HTTP_VERB_COUNT;
}

static void head_parse(struct http_in *in) {
    llhttp_t *core = core_of(in);
    struct http_request *r = &in->request;
    check_line(in);
    if (in->state == HTTP_IN_BAD) return;
    llhttp_errno_t got = llhttp_execute(core, (const char *)in->head.at, in->head.len);
    if (in->state == HTTP_IN_BAD) return;
    if (got == HPE_INVALID_METHOD) {
        refuse(in, 501, ERR_UNSUPPORTED, "that method is not known here");
        return;
    }
    if (got != HPE_PAUSED) {
        const char *reason = llhttp_get_error_reason(core);
        refuse(in, 400, ERR_INVALID, reason != NULL && reason[0] != 0 ? reason : "the head is not of HTTP/1.1");
        return;
    }
    r->verb = verb_of(core);
    r->minor = core->http_minor;
    r->headers = (const struct http_header *)(const void *)in->headers.at;
    r->header_count = in->headers.count;
    r->keep_alive = llhttp_should_keep_alive(core);
    if (!uri_split(r->target, &r->authority, &r->path, &r->query))
        refuse(in, 400, ERR_INVALID, "the target is neither a path nor an address of http");
    check_headers(in);
    if (in->state == HTTP_IN_BAD) return;
    in->state = HTTP_IN_BODY;
    llhttp_resume(core);
    (void)http_in_feed(in, (struct slice){0}); /* without a body it is whole now */
}

/* ---- feeding ---- */

static size_t head_feed(struct http_in *in, struct slice bytes) {
    size_t i = 0;
    while (in->head.len == 0 && in->blank < 2 && i < bytes.len && bytes.ptr[i] == "\r\n"[in->blank]) in->blank++, i++;
    size_t start = i;
    enum http_scanned got = in->blank == 1 && i < bytes.len ? HTTP_SCAN_BAD : HTTP_SCAN_MORE;
    const char *text = "a carriage return without its line feed";
    if (got == HTTP_SCAN_MORE) {
        size_t used;
        got = http_scan(&in->scan, slice_of(bytes.ptr + i, bytes.len - i), &used, &text);
        i += used;
    }
    if (got == HTTP_SCAN_BAD) {
        refuse(in, 400, ERR_INVALID, text);
        return bytes.len;
    }
    buf_put(&in->head, bytes.ptr + start, i - start);
    bool in_first = in->scan.lines == 0;
    if (in_first && in->head.len > (uint64_t)in->limits->http_target_bytes_max + METHOD_BYTES_MAX + sizeof " HTTP/1.1")
        refuse_limit(in, 414, "the target", "http_target_bytes_max", in->limits->http_target_bytes_max);
    else if (in->head.full)
        refuse_limit(in, 431, "the head", "http_head_bytes_max", in->limits->http_head_bytes_max);
    else if (got == HTTP_SCAN_END)
        head_parse(in);
    return i;
}

static size_t body_feed(struct http_in *in, struct slice bytes) {
    llhttp_t *core = core_of(in);
    const char *data = bytes.len > 0 ? (const char *)bytes.ptr : "";
    llhttp_errno_t got = llhttp_execute(core, data, bytes.len);
    if (in->state == HTTP_IN_BAD || got == HPE_OK) return bytes.len;
    if (in->state == HTTP_IN_WHOLE) {
        const char *end = llhttp_get_error_pos(core);
        return end >= data && end <= data + bytes.len ? (size_t)(end - data) : 0;
    }
    const char *reason = llhttp_get_error_reason(core);
    refuse(in, 400, ERR_INVALID, reason != NULL && reason[0] != 0 ? reason : "the body is not as it should be");
    return bytes.len;
}

size_t http_in_feed(struct http_in *in, struct slice bytes) {
    switch (in->state) {
    case HTTP_IN_HEAD: return head_feed(in, bytes);
    case HTTP_IN_BODY: return body_feed(in, bytes);
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
    in->scan = (struct http_scan){0};
    in->blank = 0;
    llhttp_init(core_of(in), HTTP_REQUEST, &settings);
    core_of(in)->data = in;
}

/* ---- looking at headers ---- */

static uint8_t lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

bool http_text_is(struct slice text, const char *word) {
    size_t i = 0;
    for (; i < text.len && word[i] != 0; i++)
        if (lower(text.ptr[i]) != lower((uint8_t)word[i])) return false;
    return i == text.len && word[i] == 0;
}

/* Each request is asked for two dozen of them: most are told apart by their length. What was asked for is in small
 * letters, and in a name, which is a token, nothing but the large one differs from a small letter by that bit. */
static bool is_named(const struct http_header *h, const char *name, size_t len) {
    if (h->name.len != len) return false;
    for (size_t i = 0; i < len; i++)
        if ((h->name.ptr[i] | 0x20) != (uint8_t)name[i]) return false;
    return true;
}

uint32_t http_header_count(const struct http_request *r, const char *name) {
    uint32_t count = 0;
    size_t len = strlen(name);
    for (uint32_t i = 0; i < r->header_count; i++) count += is_named(&r->headers[i], name, len);
    return count;
}

const struct slice *http_header(const struct http_request *r, const char *name) {
    const struct slice *found = NULL;
    size_t len = strlen(name);
    for (uint32_t i = 0; i < r->header_count; i++) {
        if (!is_named(&r->headers[i], name, len)) continue;
        if (found != NULL) return NULL;
        found = &r->headers[i].value;
    }
    return found;
}
