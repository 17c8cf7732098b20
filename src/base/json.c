/* json.c: JSON text straight into a buffer. No tree, no allocation of its own. */
#include "json.h"

#include "base64.h"
#include "panic.h"
#include "utf8.h"

void json_init(struct json *j, struct buf *out) {
    REQUIRE(out != NULL);
    *j = (struct json){.out = out};
}

static void put_text(struct json *j, const char *text) {
    buf_put(j->out, text, strlen(text));
}

static uint32_t comma_bit(const struct json *j) {
    return 1u << (j->depth - 1);
}

/* Before a value or a key: the comma, if a member stands before it on this level. */
static void separate(struct json *j) {
    if (j->depth == 0) return;
    if (j->comma & comma_bit(j)) buf_put_u8(j->out, ',');
    j->comma |= comma_bit(j);
}

static void open_level(struct json *j, char bracket) {
    separate(j);
    REQUIRE(j->depth < JSON_DEPTH_MAX);
    j->depth++;
    j->comma &= ~comma_bit(j);
    buf_put_u8(j->out, (uint8_t)bracket);
}

static void close_level(struct json *j, char bracket) {
    REQUIRE(j->depth > 0);
    j->depth--;
    buf_put_u8(j->out, (uint8_t)bracket);
}

void json_object(struct json *j) {
    open_level(j, '{');
}

void json_object_end(struct json *j) {
    close_level(j, '}');
}

void json_array(struct json *j) {
    open_level(j, '[');
}

void json_array_end(struct json *j) {
    close_level(j, ']');
}

static void put_escaped(struct json *j, uint8_t c) {
    switch (c) {
    case '"': put_text(j, "\\\""); return;
    case '\\': put_text(j, "\\\\"); return;
    case '\n': put_text(j, "\\n"); return;
    case '\r': put_text(j, "\\r"); return;
    case '\t': put_text(j, "\\t"); return;
    }
    buf_printf(j->out, "\\u%04x", (unsigned)c);
}

static bool is_plain(uint8_t c) {
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* The same of eight bytes at once: the highest bit, or a borrow that sets it. A borrow may go on into the next byte,
 * but begins at one that is not plain. */
static bool are_plain(const uint8_t *at) {
    const uint64_t ones = 0x0101010101010101u;
    uint64_t x;
    memcpy(&x, at, sizeof x);
    uint64_t quote = x ^ ('"' * ones), slash = x ^ ('\\' * ones);
    return ((x | (x - 0x20 * ones) | (quote - ones) | (slash - ones)) & (0x80 * ones)) == 0;
}

static size_t plain_run(struct slice s) {
    size_t run = 0;
    while (run + 8 <= s.len && are_plain(s.ptr + run)) run += 8;
    while (run < s.len && is_plain(s.ptr[run])) run++;
    return run;
}

/* Some byte of the text needs care. */
static void put_carefully(struct json *j, struct slice s) {
    buf_put_u8(j->out, '"');
    while (s.len > 0) {
        size_t run = plain_run(s);
        if (run == 0 && s.ptr[0] >= 0x80) run = utf8_sequence(s);
        if (run > 0) {
            buf_put(j->out, s.ptr, run);
        } else {
            run = 1;
            if (s.ptr[0] >= 0x80) {
                put_text(j, "\xef\xbf\xbd");
            } else {
                put_escaped(j, s.ptr[0]);
            }
        }
        s = slice_of(s.ptr + run, s.len - run);
    }
    buf_put_u8(j->out, '"');
}

static void put_quoted(struct json *j, struct slice s) {
    if (plain_run(s) < s.len) {
        put_carefully(j, s);
        return;
    }
    uint8_t *at = buf_space(j->out, s.len + 2);
    if (at == NULL) return;
    at[0] = '"';
    if (s.len > 0) memcpy(at + 1, s.ptr, s.len);
    at[s.len + 1] = '"';
}

void json_key_slice(struct json *j, struct slice key) {
    REQUIRE(j->depth > 0);
    separate(j);
    put_quoted(j, key);
    buf_put_u8(j->out, ':');
    j->comma &= ~comma_bit(j); /* its value follows without a comma */
}

void json_key(struct json *j, const char *key) {
    json_key_slice(j, slice_str(key));
}

void json_key_own(struct json *j, const char *key) {
    size_t len = strlen(key);
    REQUIRE(j->depth > 0);
    bool goes_on = j->comma & comma_bit(j);
    uint8_t *at = buf_space(j->out, len + 3 + goes_on);
    if (at != NULL) {
        if (goes_on) *at++ = ',';
        at[0] = '"';
        memcpy(at + 1, key, len);
        at[len + 1] = '"';
        at[len + 2] = ':';
    }
    j->comma &= ~comma_bit(j); /* its value follows without a comma */
}

void json_raw(struct json *j, struct slice value) {
    separate(j);
    buf_put_slice(j->out, value);
}

void json_text(struct json *j, struct slice s) {
    separate(j);
    put_quoted(j, s);
}

void json_str(struct json *j, const char *text) {
    json_text(j, slice_str(text));
}

void json_u64(struct json *j, uint64_t v) {
    separate(j);
    buf_put_decimal(j->out, v);
}

void json_i64(struct json *j, int64_t v) {
    separate(j);
    if (v < 0) buf_put_u8(j->out, '-');
    buf_put_decimal(j->out, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void json_bool(struct json *j, bool v) {
    separate(j);
    put_text(j, v ? "true" : "false");
}

void json_null(struct json *j) {
    separate(j);
    put_text(j, "null");
}

void json_hex(struct json *j, struct slice s) {
    static const char digits[] = "0123456789abcdef";
    separate(j);
    buf_put_u8(j->out, '"');
    for (size_t i = 0; i < s.len; i++) {
        uint8_t pair[2] = {(uint8_t)digits[s.ptr[i] >> 4], (uint8_t)digits[s.ptr[i] & 15]};
        buf_put(j->out, pair, sizeof pair);
    }
    buf_put_u8(j->out, '"');
}

void json_base64(struct json *j, struct slice s) {
    separate(j);
    buf_put_u8(j->out, '"');
    base64_put(j->out, s);
    buf_put_u8(j->out, '"');
}
