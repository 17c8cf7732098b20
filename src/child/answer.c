/* answer.c: see answer.h. */
#include "answer.h"

#include <string.h>
#include <time.h>

#include "json.h"
#include "json_read.h"
#include "limit.h"
#include "utf8.h"

void answer_init(struct answer *a, uint64_t bytes_max, FILE *file) {
    *a = (struct answer){.bytes_max = bytes_max, .file = file};
    arena_init(&a->arena, 4096, (size_t)1 << 28);
    buf_init(&a->body, file != NULL ? 1 : (size_t)bytes_max + 1);
}

void answer_fini(struct answer *a) {
    arena_fini(&a->arena);
    buf_fini(&a->body);
}

void answer_again(struct answer *a) {
    a->header_count = 0;
    a->head_bytes = 0;
    a->bytes = 0;
    buf_clear(&a->body);
    if (a->file != NULL) rewind(a->file);
}

/* ---- the head ---- */

static struct slice trimmed(struct slice s) {
    while (s.len > 0 && strchr(" \t\r\n", s.ptr[s.len - 1]) != NULL) s.len--;
    while (s.len > 0 && strchr(" \t", s.ptr[0]) != NULL) s = slice_of(s.ptr + 1, s.len - 1);
    return s;
}

static struct slice small(struct answer *a, struct slice name) {
    uint8_t *copy = arena_alloc(&a->arena, name.len + 1);
    for (size_t i = 0; i < name.len; i++)
        copy[i] = name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? (uint8_t)(name.ptr[i] + 32) : name.ptr[i];
    return slice_of(copy, name.len);
}

/* A token of RFC 9110, 5.6.2. */
static bool is_name(struct slice name) {
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] <= ' ' || name.ptr[i] > '~' || strchr("\"(),/:;<=>?@[\\]{}", name.ptr[i]) != NULL) return false;
    return name.len > 0;
}

/* Of one that comes again the values are joined, as a list. */
static struct slice joined(struct answer *a, struct slice first, struct slice second) {
    uint8_t *both = arena_alloc(&a->arena, first.len + 2 + second.len);
    memcpy(both, first.ptr, first.len);
    memcpy(both + first.len, ", ", 2);
    memcpy(both + first.len + 2, second.ptr, second.len);
    return slice_of(both, first.len + 2 + second.len);
}

bool answer_head_line(struct answer *a, struct slice line) {
    if (line.len >= 5 && memcmp(line.ptr, "HTTP/", 5) == 0) { /* also after an interim answer */
        a->header_count = 0;
        return true;
    }
    const uint8_t *colon = line.len > 0 ? memchr(line.ptr, ':', line.len) : NULL;
    if (colon == NULL) return true;
    a->head_bytes += line.len;
    struct slice name = small(a, slice_of(line.ptr, (size_t)(colon - line.ptr)));
    if (!is_name(name)) return true; /* as JSON two of them could be one key */
    struct slice value = trimmed(slice_of(colon + 1, line.len - name.len - 1));
    uint32_t at = 0;
    while (at < a->header_count && !slice_eq(a->headers[at].name, name)) at++;
    if (at == ANSWER_HEADERS_MAX || a->head_bytes > ANSWER_HEAD_BYTES_MAX) {
        (void)why_set(&a->why, ERR_LIMIT, "the head of the answer has more than %u headers or %u bytes",
                      ANSWER_HEADERS_MAX, ANSWER_HEAD_BYTES_MAX);
        return false;
    }
    if (at < a->header_count && a->headers[at].value.len > 0)
        a->headers[at].value = joined(a, a->headers[at].value, value);
    else
        a->headers[at] = (struct answer_header){name, arena_slice(&a->arena, value)};
    if (at == a->header_count) a->header_count++;
    return true;
}

struct slice answer_header(const struct answer *a, const char *name) {
    for (uint32_t i = 0; i < a->header_count; i++)
        if (slice_eq(a->headers[i].name, slice_str(name))) return a->headers[i].value;
    return (struct slice){0};
}

/* ---- when to come again ---- */

/* The three ways to write a date (RFC 9110, 5.6.7). */
static bool date_read(struct slice text, int64_t *ret_s) {
    static const char *const formats[] = {"%a, %d %b %Y %H:%M:%S GMT", "%a, %d-%b-%y %H:%M:%S GMT",
                                          "%a %b %d %H:%M:%S %Y"};
    char date[64];
    if (text.len == 0 || text.len >= sizeof date || memchr(text.ptr, 0, text.len) != NULL) return false;
    memcpy(date, text.ptr, text.len);
    date[text.len] = 0;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct tm parts = {0};
        const char *end = strptime(date, formats[i], &parts);
        if (end == NULL || *end != 0) continue;
        *ret_s = (int64_t)timegm(&parts);
        return true;
    }
    return false;
}

/* Digits and nothing else; a number that is too large becomes the largest. */
static bool seconds_read(struct slice text, int64_t *ret_s) {
    int64_t s = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        if (s <= ANSWER_RETRY_MS_MAX) s = s * 10 + (text.ptr[i] - '0');
    }
    *ret_s = s;
    return text.len > 0;
}

uint32_t answer_retry_ms(const struct answer *a, int64_t now_s) {
    struct slice text = answer_header(a, "retry-after");
    int64_t wait_s = 0, at_s = 0;
    if (!seconds_read(text, &wait_s)) {
        if (!date_read(text, &at_s)) return 0;
        (void)date_read(answer_header(a, "date"), &now_s);
        wait_s = at_s - now_s;
    }
    if (wait_s <= 0) return 0;
    return wait_s < ANSWER_RETRY_MS_MAX / 1000 ? (uint32_t)(wait_s * 1000) : ANSWER_RETRY_MS_MAX;
}

/* ---- the body ---- */

bool answer_body(struct answer *a, struct slice bytes) {
    a->bytes += bytes.len;
    if (a->bytes > a->bytes_max) {
        (void)why_set(&a->why, ERR_LIMIT, "the answer is longer than %llu bytes (max_bytes)",
                      (unsigned long long)a->bytes_max);
        return false;
    }
    if (a->file == NULL) {
        buf_put_slice(&a->body, bytes);
        return true;
    }
    if (fwrite(bytes.ptr, 1, bytes.len, a->file) == bytes.len) return true;
    (void)why_set(&a->why, ERR_IO, "the answer cannot be written to its file");
    return false;
}

/* ---- telling it ---- */

static bool is_json(struct slice text) {
    struct limits limits;
    struct json_read r;
    struct arena arena;
    struct why ignored;
    const struct json_token *token = NULL;
    enum err e = ERR_OK;
    limits_default(&limits);
    arena_init(&arena, 65536, (size_t)1 << 30);
    json_read_init(&r, text, &limits, &arena, &ignored);
    do e = json_read_next(&r, &token);
    while (e == ERR_OK && token->kind != JSON_OVER);
    arena_fini(&arena);
    return e == ERR_OK;
}

static bool looks_like_json(const struct answer *a) {
    struct slice type = answer_header(a, "content-type");
    if (type.len > 0 && memmem(type.ptr, type.len, "json", 4) != NULL) return true;
    struct slice body = trimmed(buf_slice(&a->body));
    return body.len > 0 && (body.ptr[0] == '{' || body.ptr[0] == '[');
}

/* `"name":`, behind a comma unless it is the first; what stands before it is an open object. */
static void key(struct buf *out, struct slice name) {
    struct json j;
    if (out->len > 0 && out->at[out->len - 1] != '{') buf_put_u8(out, ',');
    json_init(&j, out);
    json_text(&j, name);
    buf_put_u8(out, ':');
}

static void text(struct buf *out, const char *name, struct slice value) {
    struct json j;
    key(out, slice_str(name));
    json_init(&j, out);
    json_text(&j, value);
}

static void tell_body(const struct answer *a, struct buf *out) {
    struct slice body = buf_slice(&a->body);
    struct json j;
    if (body.len == 0) return;
    if (looks_like_json(a) && is_json(body)) {
        key(out, SLICE("json"));
        buf_put_slice(out, body);
    } else if (utf8_is_valid(body)) {
        text(out, "text", body);
    } else {
        key(out, SLICE("base64"));
        json_init(&j, out);
        json_base64(&j, body);
    }
}

void answer_tell(const struct answer *a, uint32_t status, struct slice url, struct slice saved, struct buf *out) {
    buf_printf(out, "{\"status\":%u,\"bytes\":%llu", status, (unsigned long long)a->bytes);
    text(out, "url", url);
    key(out, SLICE("headers"));
    buf_put_u8(out, '{');
    for (uint32_t i = 0; i < a->header_count; i++) {
        struct json j;
        key(out, a->headers[i].name);
        json_init(&j, out);
        json_text(&j, a->headers[i].value);
    }
    buf_put_u8(out, '}');
    if (saved.len > 0)
        text(out, "file", saved);
    else
        tell_body(a, out);
    buf_put_slice(out, SLICE("}\n"));
}
