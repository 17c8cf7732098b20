/* http_head.c: a whole head into a request, each byte looked at once, most of them eight at a time. What is refused has
 * been used to make two readers see two messages: a carriage return on its own, a folded line, a control character, a
 * blank before a colon, more than one space in the first line. */
#include "http_impl.h"

#include "limit.h"
#include "uri.h"

/* ---- bytes ---- */

static const uint64_t ones = 0x0101010101010101u;

/* RFC 9110, 5.6.2. */
bool http_is_token_byte(uint8_t c) {
    static const uint64_t good[4] = {0x03ff6cfa00000000, 0x57ffffffc7fffffe, 0, 0}; /* a bit for each byte */
    return good[c >> 6] >> (c & 63) & 1;
}

/* In values: all but control characters. */
static bool is_plain(uint8_t c) {
    return c >= 0x20 && c != 0x7f;
}

/* The same of eight bytes at once: no byte below 0x20 and none that is 0x7f, each by the borrow of a subtraction. A
 * borrow may go on into the next byte, but begins at one that is not plain. */
static bool are_plain(const uint8_t *at) {
    uint64_t x, y;
    memcpy(&x, at, sizeof x);
    y = x ^ (0x7f * ones);
    return ((((x - 0x20 * ones) & ~x) | ((y - ones) & ~y)) & (0x80 * ones)) == 0;
}

/* In targets: what is seen, of ASCII. */
static bool is_visible(uint8_t c) {
    return c > 0x20 && c < 0x7f;
}

/* Below 0x21 it borrows, 0x7f becomes 0x80, and what is above has that bit already. */
static bool are_visible(const uint8_t *at) {
    uint64_t x;
    memcpy(&x, at, sizeof x);
    return (((x - 0x21 * ones) | x | (x + ones)) & (0x80 * ones)) == 0;
}

static const uint8_t *skip_plain(const uint8_t *at, const uint8_t *end) {
    while (end - at >= 8 && are_plain(at)) at += 8;
    while (at < end && is_plain(*at)) at++;
    return at;
}

static const uint8_t *skip_visible(const uint8_t *at, const uint8_t *end) {
    while (end - at >= 8 && are_visible(at)) at += 8;
    while (at < end && is_visible(*at)) at++;
    return at;
}

/* Why this byte cannot stand where it does; NULL = there are places for it. */
static const char *bad_byte(const uint8_t *at) {
    if (*at == '\r') return at[1] != '\n' ? "a carriage return without its line feed" : NULL;
    return is_plain(*at) || *at == '\t' ? NULL : "a control character";
}

/* ---- the first line ---- */

/* It is not as it should be: which of its parts, and so which status. */
static void line_refuse(struct http_in *in, const uint8_t *at) {
    const uint8_t *end = at;
    for (; *end != '\n'; end++)
        if (bad_byte(end) != NULL) {
            http_refuse(in, 400, ERR_INVALID, bad_byte(end));
            return;
        }
    struct slice line = slice_of(at, (size_t)(end - at) - 1);
    const uint8_t *first = memchr(line.ptr, ' ', line.len),
                  *last = first != NULL ? memrchr(line.ptr, ' ', line.len) : NULL;
    if (first == last || memchr(first + 1, ' ', (size_t)(last - first - 1)) != NULL ||
        memchr(at, '\t', line.len) != NULL) {
        http_refuse(in, 400, ERR_INVALID, "the first line is not of the form METHOD TARGET HTTP/1.1");
        return;
    }
    struct slice version = slice_of(last + 1, (size_t)(line.ptr + line.len - last - 1));
    bool is_http = version.len == 8 && memcmp(version.ptr, "HTTP/", 5) == 0;
    if (!is_http)
        http_refuse(in, 400, ERR_INVALID, "the first line does not end with HTTP/1.1");
    else if (memcmp(version.ptr + 5, "1.1", 3) != 0 && memcmp(version.ptr + 5, "1.0", 3) != 0)
        http_refuse(in, 505, ERR_UNSUPPORTED, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    else
        http_refuse(in, 400, ERR_INVALID, "the target has a byte that has no place in one");
}

static bool verb_is(struct slice method, const char *word, size_t len) {
    return method.len == len && memcmp(method.ptr, word, len) == 0;
}

static enum http_verb verb_of(struct http_in *in, struct slice method) {
#define X(verb, word) \
    if (verb_is(method, word, sizeof word - 1)) return verb;
    HTTP_VERB_TABLE(X)
#undef X
    if (verb_is(method, "TRACE", 5)) return HTTP_VERB_COUNT;
    bool is_word = method.len > 0;
    for (size_t i = 0; i < method.len; i++) is_word &= http_is_token_byte(method.ptr[i]);
    if (!is_word)
        http_refuse(in, 400, ERR_INVALID, "the method is no word");
    else if (verb_is(method, "CONNECT", 7))
        http_refuse(in, 400, ERR_INVALID, "there are no tunnels here");
    else
        http_refuse(in, 501, ERR_UNSUPPORTED, "that method is not known here");
    return HTTP_VERB_COUNT;
}

/* METHOD SP target SP HTTP/1.x, with one space each. Returns the line behind it. */
static const uint8_t *line_read(struct http_in *in, const uint8_t *at, const uint8_t *end) {
    static const char version[] = " HTTP/1.";
    struct http_request *r = &in->request;
    const uint8_t *target = memchr(at, ' ', (size_t)(end - at));
    const uint8_t *after = target != NULL ? skip_visible(++target, end) : end;
    size_t len = sizeof version - 1;
    bool fits = target != NULL && after > target && (size_t)(end - after) >= len + 3 &&
                memcmp(after, version, len) == 0 && (after[len] == '1' || after[len] == '0') &&
                after[len + 1] == '\r' && after[len + 2] == '\n';
    if (!fits) {
        line_refuse(in, at);
        return end;
    }
    r->minor = after[len] - '0';
    r->target = slice_of(target, (size_t)(after - target));
    if (r->target.len > (uint64_t)in->limits->http_target_bytes_max)
        http_refuse_limit(in, 414, "the target", "http_target_bytes_max", in->limits->http_target_bytes_max);
    r->verb = verb_of(in, slice_of(at, (size_t)(target - 1 - at)));
    return after + len + 3;
}

/* ---- headers ---- */

static struct http_header *header_new(struct http_in *in) {
    struct vec *v = &in->headers;
    if (v->count < v->slots) return vec_at(v, v->count++);
    return vec_push(v);
}

static const uint8_t *header_refuse(struct http_in *in, const uint8_t *line, const uint8_t *at, const uint8_t *end) {
    bool folded = at == line && (*at == ' ' || *at == '\t');
    const char *bad = bad_byte(at);
    http_refuse(in, 400, ERR_INVALID,
                folded        ? "a header that goes on in the next line"
                : bad != NULL ? bad
                              : "the name of a header is no word");
    return end;
}

/* NAME: blanks VALUE blanks. Returns the line behind it. */
static const uint8_t *header_read(struct http_in *in, const uint8_t *line, const uint8_t *end) {
    const uint8_t *at = line;
    while (http_is_token_byte(*at)) at++; /* a line ends with what is none */
    if (*at != ':' || at == line) return header_refuse(in, line, at, end);
    struct slice name = slice_of(line, (size_t)(at - line));
    for (at++; *at == ' ' || *at == '\t';) at++;
    const uint8_t *value = at;
    while (*(at = skip_plain(at, end)) == '\t') at++;
    if (*at != '\r' || at[1] != '\n') return header_refuse(in, line, at, end);
    const uint8_t *next = at + 2;
    while (at > value && (at[-1] == ' ' || at[-1] == '\t')) at--;
    if (in->headers.count >= (uint64_t)in->limits->http_headers_max) {
        http_refuse_limit(in, 431, "the list of headers", "http_headers_max", in->limits->http_headers_max);
        return end;
    }
    *header_new(in) = (struct http_header){name, slice_of(value, (size_t)(at - value))};
    in->request.names |= http_name_bit(name.ptr, name.len);
    return next;
}

/* ---- what it means ---- */

/* Whether a list of words has this one. */
static bool list_has(struct slice list, const char *word) {
    while (list.len > 0) {
        const uint8_t *comma = memchr(list.ptr, ',', list.len);
        size_t len = comma != NULL ? (size_t)(comma - list.ptr) : list.len;
        struct slice one = slice_of(list.ptr, len);
        while (one.len > 0 && (one.ptr[0] == ' ' || one.ptr[0] == '\t')) one = slice_of(one.ptr + 1, one.len - 1);
        while (one.len > 0 && (one.ptr[one.len - 1] == ' ' || one.ptr[one.len - 1] == '\t')) one.len--;
        if (http_text_is(one, word)) return true;
        list = comma != NULL ? slice_of(comma + 1, list.len - len - 1) : slice_of(list.ptr, 0);
    }
    return false;
}

/* RFC 9112, 9.3; some proxies still say it in their own header. */
static bool keeps_alive(const struct http_request *r) {
    bool keep = false, close = false;
    if (!(r->names & (http_name_bit("connection", 10) | http_name_bit("proxy-connection", 16)))) return r->minor > 0;
    for (uint32_t i = 0; i < r->header_count; i++) {
        const struct http_header *h = &r->headers[i];
        if (!http_text_is(h->name, "connection") && !http_text_is(h->name, "proxy-connection")) continue;
        close |= list_has(h->value, "close");
        keep |= list_has(h->value, "keep-alive");
    }
    return !close && (keep || r->minor > 0);
}

/* A name or an address, perhaps with a port; who asks is told by other means. */
static bool is_authority(struct slice s) {
    for (size_t i = 0; i < s.len; i++) {
        uint8_t c = s.ptr[i];
        bool is_word = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        if (!is_word && memchr("-._~:[]", c, 7) == NULL) return false;
    }
    return true;
}

static void meaning_check(struct http_in *in) {
    struct http_request *r = &in->request;
    if (!uri_split(r->target, &r->authority, &r->path, &r->query) || !is_authority(r->authority))
        http_refuse(in, 400, ERR_INVALID, "the target is neither a path nor an address of http");
    uint32_t hosts = http_header_count(r, "host");
    if (hosts > 1 || (hosts == 0 && r->minor == 1)) http_refuse(in, 400, ERR_INVALID, "one host header is needed");
    r->keep_alive = keeps_alive(r);
    if (http_header_count(r, "expect") == 0 || r->minor == 0) return; /* RFC 9110, 10.1.1: of 1.0 it is ignored */
    const struct slice *expect = http_header(r, "expect");
    r->wants_continue = expect != NULL && http_text_is(*expect, "100-continue");
    if (!r->wants_continue)
        http_refuse(in, 417, ERR_UNSUPPORTED, "the only expectation that is met here is 100-continue");
}

void http_head_read(struct http_in *in) {
    struct http_request *r = &in->request;
    const uint8_t *at = in->head.at, *end = at + in->head.len - 2; /* of the lines; the empty one is behind it */
    at = line_read(in, at, end);
    while (at < end && in->state != HTTP_IN_BAD) at = header_read(in, at, end);
    if (in->state == HTTP_IN_BAD) return;
    r->headers = (const struct http_header *)(const void *)in->headers.at;
    r->header_count = in->headers.count;
    meaning_check(in);
    if (in->state != HTTP_IN_BAD) in->state = HTTP_IN_BODY;
}
