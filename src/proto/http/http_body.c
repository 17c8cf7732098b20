/* http_body.c: bodies of requests, by their length or in chunks. Extensions of chunks and trailers are read by their
 * grammar and forgotten (RFC 9112, 7.1): both have been used to hide requests, so whatever another reader could end at
 * another byte is refused. */
#include "hex.h"
#include "http_impl.h"

#include "limit.h"

#define LENGTH_DIGITS_MAX 18u /* of content-length: all such numbers fit 64 bits */
#define CHUNK_DIGITS_MAX 15u  /* hexadecimal, likewise */
#define FORGOTTEN_BYTES_MAX 4096u

/* ---- where it ends ---- */

static bool number_read(struct slice s, uint64_t *ret) {
    uint64_t n = 0;
    if (s.len == 0 || s.len > LENGTH_DIGITS_MAX) return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9') return false;
        n = n * 10 + (uint64_t)(s.ptr[i] - '0');
    }
    *ret = n;
    return true;
}

/* RFC 9112, 6.3: chunked anywhere but at the end leaves open where the body ends. */
static void coding_take(struct http_in *in, struct slice coding) {
    static const char word[] = "chunked,";
    bool goes_on = coding.len >= sizeof word - 1 && http_text_is(slice_of(coding.ptr, sizeof word - 1), word);
    if (in->request.minor == 0)
        http_refuse(in, 400, ERR_INVALID, "transfer-encoding is not of HTTP/1.0");
    else if (goes_on)
        http_refuse(in, 400, ERR_INVALID, "chunked is not the last transfer-encoding");
    else if (!http_text_is(coding, "chunked"))
        http_refuse(in, 501, ERR_UNSUPPORTED, "the only transfer-encoding that is read here is chunked");
    in->is_chunked = true;
    in->chunk = HTTP_CHUNK_SIZE;
    in->digits = 0;
    in->left_bytes = 0;
    in->forgotten_bytes = 0;
}

static void length_take(struct http_in *in, struct slice length) {
    if (!number_read(length, &in->left_bytes)) {
        http_refuse(in, 400, ERR_INVALID, "content-length is no number");
        return;
    }
    uint64_t usual = (uint64_t)in->limits->http_body_bytes_max;
    uint64_t most = in->body_bytes_max != NULL ? in->body_bytes_max(in) : usual;
    if (in->left_bytes > most)
        http_refuse_limit(in, 413, "the body", most == usual ? "http_body_bytes_max" : "blob_bytes_max", (int64_t)most);
}

/* Not even a blank may stand between the value and the end of its line. */
static bool ends_its_line(const struct slice *value) {
    return value == NULL || value->ptr[value->len] == '\r';
}

static void whole(struct http_in *in) {
    in->state = HTTP_IN_WHOLE;
    in->request.body = buf_slice(&in->body);
}

void http_body_begin(struct http_in *in) {
    const struct http_request *r = &in->request;
    uint32_t lengths = http_header_count(r, "content-length"), codings = http_header_count(r, "transfer-encoding");
    const struct slice *length = http_header(r, "content-length"), *coding = http_header(r, "transfer-encoding");
    in->left_bytes = 0;
    if (lengths > 0 && codings > 0)
        http_refuse(in, 400, ERR_INVALID,
                    "both content-length and transfer-encoding: where the body ends is not clear");
    else if (lengths > 1 || codings > 1)
        http_refuse(in, 400, ERR_INVALID, "the length of the body is given more than once");
    else if (!ends_its_line(length) || !ends_its_line(coding))
        http_refuse(in, 400, ERR_INVALID, "a blank behind the length of the body");
    else if (coding != NULL)
        coding_take(in, *coding);
    else if (length != NULL)
        length_take(in, *length);
    if (in->state == HTTP_IN_BODY && !in->is_chunked && in->left_bytes == 0) whole(in);
}

/* ---- as it comes ---- */

/* As much as there is of what is left. */
static size_t data_take(struct http_in *in, struct slice bytes) {
    size_t len = bytes.len < in->left_bytes ? bytes.len : (size_t)in->left_bytes;
    if (in->body.len + len > (uint64_t)in->limits->http_body_bytes_max) {
        http_refuse_limit(in, 413, "the body", "http_body_bytes_max", in->limits->http_body_bytes_max);
        return bytes.len;
    }
    buf_put(&in->body, bytes.ptr, len);
    in->left_bytes -= len;
    return len;
}

/* ---- what is forgotten ---- */

static void ext_begin(struct http_in *in, enum http_chunk what) {
    in->chunk = what;
    in->word_bytes = 0;
}

static void ext_refuse(struct http_in *in) {
    http_refuse(in, 400, ERR_INVALID, "an extension of a chunk that is not read here");
}

static bool is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\t';
}

/* In quotes; a quote or a backslash stands behind a backslash (RFC 9110, 5.6.4). */
static void quoted_take(struct http_in *in, uint8_t byte) {
    bool is_text = byte == '\t' || (byte >= ' ' && byte != 0x7f);
    in->has_rare_ext |= byte == '\\' || byte == '\t' || byte >= 0x80;
    if (!is_text)
        ext_refuse(in);
    else if (in->chunk == HTTP_CHUNK_EXT_ESCAPED)
        in->chunk = HTTP_CHUNK_EXT_QUOTED;
    else if (byte == '\\')
        in->chunk = HTTP_CHUNK_EXT_ESCAPED;
    else if (byte == '"')
        in->chunk = HTTP_CHUNK_EXT_BEHIND;
}

/* Blanks may stand before and behind ; and = (RFC 9112, 7.1.1), and nowhere else. */
static void blank_take(struct http_in *in) {
    bool is_name = in->chunk == HTTP_CHUNK_EXT_NAME, is_value = in->chunk == HTTP_CHUNK_EXT_VALUE;
    in->has_rare_ext = true;
    if ((is_name || is_value) && in->word_bytes == 0) return;
    if (is_name)
        in->chunk = HTTP_CHUNK_EXT_NAME_GAP;
    else if (is_value || in->chunk == HTTP_CHUNK_EXT_BEHIND)
        in->chunk = HTTP_CHUNK_EXT_GAP;
}

/* ;name, ;name=value, ;name="value" */
static void ext_take(struct http_in *in, uint8_t byte) {
    bool is_name = in->chunk == HTTP_CHUNK_EXT_NAME, is_value = in->chunk == HTTP_CHUNK_EXT_VALUE;
    bool is_gap = in->chunk == HTTP_CHUNK_EXT_GAP || in->chunk == HTTP_CHUNK_EXT_NAME_GAP;
    bool is_whole = in->chunk == HTTP_CHUNK_EXT_BEHIND || ((is_name || is_value) && in->word_bytes > 0);
    bool is_named = in->chunk == HTTP_CHUNK_EXT_NAME_GAP || (is_name && is_whole);
    in->forgotten_bytes++;
    if (in->chunk == HTTP_CHUNK_EXT_QUOTED || in->chunk == HTTP_CHUNK_EXT_ESCAPED)
        quoted_take(in, byte);
    else if (is_blank(byte))
        blank_take(in);
    else if ((is_name || is_value) && http_is_token_byte(byte))
        in->word_bytes++;
    else if (is_value && byte == '"' && in->word_bytes == 0)
        in->chunk = HTTP_CHUNK_EXT_QUOTED;
    else if (byte == '=' && is_named)
        ext_begin(in, HTTP_CHUNK_EXT_VALUE);
    else if (byte == ';' && (is_whole || is_gap))
        ext_begin(in, HTTP_CHUNK_EXT_NAME);
    else if (byte == '\r' && is_whole)
        in->chunk = HTTP_CHUNK_SIZE_LF;
    else
        ext_refuse(in);
}

/* Fields that say where messages end, or whom they are for, have no business behind the body (RFC 9110, 6.5.1). */
static bool is_bad_trailer(const struct http_in *in) {
    static const char *const names[] = {"content-length", "transfer-encoding", "host",    "connection",
                                        "upgrade",        "authorization",     "trailer", "proxy-connection"};
    struct slice name = slice_of(in->trailer, in->word_bytes);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (slice_eq(name, slice_str(names[i]))) return true;
    return false;
}

static void trailer_take(struct http_in *in, uint8_t byte) {
    in->forgotten_bytes++;
    if (in->chunk == HTTP_CHUNK_TRAILER_VALUE) {
        if (byte == '\r')
            in->chunk = HTTP_CHUNK_TRAILER_LF;
        else if ((byte < ' ' && byte != '\t') || byte == 0x7f)
            http_refuse(in, 400, ERR_INVALID, "a control character in a trailer");
    } else if (http_is_token_byte(byte) && in->word_bytes < HTTP_TRAILER_NAME_BYTES) {
        in->trailer[in->word_bytes++] = (char)(byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte);
    } else if (byte == ':' && in->word_bytes > 0 && !is_bad_trailer(in)) {
        in->chunk = HTTP_CHUNK_TRAILER_VALUE;
    } else {
        http_refuse(in, 400, ERR_INVALID, "a trailer that is not read here");
    }
}

/* The empty line, or a trailer before it. */
static void last_take(struct http_in *in, uint8_t byte) {
    if (byte == '\r') {
        in->chunk = HTTP_CHUNK_LAST_LF;
        return;
    }
    ext_begin(in, HTTP_CHUNK_TRAILER_NAME);
    trailer_take(in, byte);
}

static void size_take(struct http_in *in, uint8_t byte) {
    int digit = hex_digit(byte);
    if (digit >= 0 && in->digits < CHUNK_DIGITS_MAX) {
        in->left_bytes = in->left_bytes << 4 | (uint64_t)digit;
        in->digits++;
    } else if (byte == '\r' && in->digits > 0) {
        in->chunk = HTTP_CHUNK_SIZE_LF;
    } else if (byte == ';' && in->digits > 0) {
        ext_begin(in, HTTP_CHUNK_EXT_NAME);
    } else if (is_blank(byte) && in->digits > 0) {
        ext_begin(in, HTTP_CHUNK_EXT_GAP);
        in->has_rare_ext = true;
    } else {
        http_refuse(in, 400, ERR_INVALID, "the size of a chunk is no number that is read here");
    }
}

static void expect(struct http_in *in, uint8_t byte, char expected, enum http_chunk next, const char *text) {
    if (byte == (uint8_t)expected)
        in->chunk = next;
    else
        http_refuse(in, 400, ERR_INVALID, text);
}

/* A byte that is not data. */
static void frame_take_byte(struct http_in *in, uint8_t byte) {
    switch (in->chunk) {
    case HTTP_CHUNK_SIZE: size_take(in, byte); break;
    case HTTP_CHUNK_EXT_NAME:
    case HTTP_CHUNK_EXT_VALUE:
    case HTTP_CHUNK_EXT_QUOTED:
    case HTTP_CHUNK_EXT_ESCAPED:
    case HTTP_CHUNK_EXT_BEHIND:
    case HTTP_CHUNK_EXT_NAME_GAP:
    case HTTP_CHUNK_EXT_GAP: ext_take(in, byte); break;
    case HTTP_CHUNK_TRAILER_NAME:
    case HTTP_CHUNK_TRAILER_VALUE: trailer_take(in, byte); break;
    case HTTP_CHUNK_TRAILER_LF:
        expect(in, byte, '\n', HTTP_CHUNK_LAST_CR, "a carriage return without its line feed");
        break;
    case HTTP_CHUNK_SIZE_LF:
        expect(in, byte, '\n', in->left_bytes > 0 ? HTTP_CHUNK_DATA : HTTP_CHUNK_LAST_CR,
               "the size of a chunk does not end with its line");
        break;
    case HTTP_CHUNK_DATA: break;
    case HTTP_CHUNK_DATA_CR: expect(in, byte, '\r', HTTP_CHUNK_DATA_LF, "a chunk is longer than its size"); break;
    case HTTP_CHUNK_DATA_LF:
        expect(in, byte, '\n', HTTP_CHUNK_SIZE, "a carriage return without its line feed");
        in->digits = 0;
        break;
    case HTTP_CHUNK_LAST_CR: last_take(in, byte); break;
    case HTTP_CHUNK_LAST_LF:
        if (byte == '\n')
            whole(in);
        else
            http_refuse(in, 400, ERR_INVALID, "a carriage return without its line feed");
        break;
    }
}

static size_t chunks_feed(struct http_in *in, struct slice bytes) {
    size_t i = 0;
    while (i < bytes.len && in->state == HTTP_IN_BODY) {
        if (in->chunk != HTTP_CHUNK_DATA) {
            frame_take_byte(in, bytes.ptr[i++]);
            if (in->forgotten_bytes > FORGOTTEN_BYTES_MAX)
                http_refuse(in, 400, ERR_LIMIT, "extensions of chunks and trailers are longer than 4096 bytes");
            continue;
        }
        i += data_take(in, slice_of(bytes.ptr + i, bytes.len - i));
        if (in->left_bytes == 0) in->chunk = HTTP_CHUNK_DATA_CR;
    }
    return i;
}

size_t http_body_feed(struct http_in *in, struct slice bytes) {
    if (in->is_chunked) return chunks_feed(in, bytes);
    size_t used = data_take(in, bytes);
    if (in->left_bytes == 0 && in->state == HTTP_IN_BODY) whole(in);
    return used;
}
