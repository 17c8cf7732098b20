/* websocket.c: see websocket.h. */
#include "websocket.h"

#include "base64.h"
#include "panic.h"
#include "utf8.h"

#define SALT "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* of the RFC */
#define KEY_BYTES 24u
#define CONTROL_BYTES_MAX 125u
#define MASK_BYTES 4u
#define FIN 0x80u
#define RESERVED 0x70u
#define OPCODE 0x0fu
#define MASKED 0x80u
#define LENGTH 0x7fu
#define LENGTH_16 126u
#define LENGTH_64 127u

/* ---- the handshake ---- */

static bool is_base64(uint8_t c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

bool websocket_key_is_good(struct slice key) {
    if (key.len != KEY_BYTES || key.ptr[22] != '=' || key.ptr[23] != '=') return false;
    for (size_t i = 0; i < 22; i++)
        if (!is_base64(key.ptr[i])) return false;
    return true;
}

_Static_assert(KEY_BYTES + sizeof SALT - 1 == WEBSOCKET_SALTED_BYTES, "a key and its salt");

void websocket_salt(struct slice good_key, uint8_t ret[WEBSOCKET_SALTED_BYTES]) {
    REQUIRE(good_key.len == KEY_BYTES);
    memcpy(ret, good_key.ptr, KEY_BYTES);
    memcpy(ret + KEY_BYTES, SALT, sizeof SALT - 1);
}

void websocket_accept(const uint8_t sha1[WEBSOCKET_SHA1_BYTES], char ret[WEBSOCKET_ACCEPT_BYTES]) {
    struct buf text;
    buf_init(&text, WEBSOCKET_ACCEPT_BYTES);
    base64_put(&text, slice_of(sha1, WEBSOCKET_SHA1_BYTES));
    ENSURE(text.len == WEBSOCKET_ACCEPT_BYTES - 1);
    memcpy(ret, text.at, text.len);
    ret[WEBSOCKET_ACCEPT_BYTES - 1] = 0;
    buf_fini(&text);
}

/* ---- out ---- */

static void put_be(struct buf *out, uint64_t v, uint32_t bytes) {
    for (uint32_t i = bytes; i-- > 0;) buf_put_u8(out, (uint8_t)(v >> (8 * i)));
}

void websocket_head_put(struct buf *out, enum websocket_op op, size_t payload_bytes) {
    REQUIRE(op < WEBSOCKET_CLOSE || payload_bytes <= CONTROL_BYTES_MAX);
    buf_put_u8(out, (uint8_t)(FIN | (unsigned)op));
    if (payload_bytes < LENGTH_16) {
        buf_put_u8(out, (uint8_t)payload_bytes);
    } else if (payload_bytes <= UINT16_MAX) {
        buf_put_u8(out, LENGTH_16);
        put_be(out, payload_bytes, 2);
    } else {
        buf_put_u8(out, LENGTH_64);
        put_be(out, payload_bytes, 8);
    }
}

void websocket_close_put(struct buf *out, uint16_t code, const char *why) {
    struct slice text = utf8_cut(slice_str(why), CONTROL_BYTES_MAX - 2);
    websocket_head_put(out, WEBSOCKET_CLOSE, 2 + text.len);
    put_be(out, code, 2);
    buf_put_slice(out, text);
}

/* ---- in ---- */

void websocket_in_init(struct websocket_in *in) {
    *in = (struct websocket_in){0};
    buf_init(&in->held, WEBSOCKET_HEAD_BYTES_MAX + WEBSOCKET_MESSAGE_BYTES_MAX);
    buf_init(&in->message, WEBSOCKET_MESSAGE_BYTES_MAX);
}

void websocket_in_fini(struct websocket_in *in) {
    buf_fini(&in->held);
    buf_fini(&in->message);
}

static bool bad(struct websocket_in *in, struct websocket_got *ret, uint16_t code, const char *why) {
    in->is_over = true;
    *ret = (struct websocket_got){.what = WEBSOCKET_BAD, .code = code, .why = why};
    return true;
}

/* How long the head is, as far as its first two bytes tell. */
static size_t head_bytes(const struct buf *held) {
    if (held->len < 2) return 2;
    uint8_t length = held->at[1] & LENGTH;
    return 2 + (length == LENGTH_16 ? 2u : length == LENGTH_64 ? 8u : 0u) + MASK_BYTES;
}

static uint64_t payload_bytes(const struct buf *held) {
    uint8_t length = held->at[1] & LENGTH;
    uint32_t wide = length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0;
    uint64_t v = 0;
    if (wide == 0) return length;
    for (uint32_t i = 0; i < wide; i++) v = v << 8 | held->at[2 + i];
    return v;
}

/* What the first two bytes may not be; NULL = they are in order. */
static const char *check_start(const struct websocket_in *in) {
    uint8_t op = in->held.at[0] & OPCODE, length = in->held.at[1] & LENGTH;
    bool whole = (in->held.at[0] & FIN) != 0, control = op >= WEBSOCKET_CLOSE;
    if (in->held.at[0] & RESERVED) return "a reserved bit is set, and no extension was agreed on";
    if (op > WEBSOCKET_PONG || (op > WEBSOCKET_BINARY && !control)) return "an opcode that has no meaning";
    if (!(in->held.at[1] & MASKED)) return "frames of a client are masked";
    if (control && (!whole || length > CONTROL_BYTES_MAX)) return "a control frame is one frame of at most 125 bytes";
    if (op == WEBSOCKET_CONTINUATION && in->fragments == 0) return "a continuation of nothing";
    if (!control && op != WEBSOCKET_CONTINUATION && in->fragments != 0) return "a message inside another";
    return NULL;
}

static bool length_is_shortest(const struct buf *held) {
    uint8_t length = held->at[1] & LENGTH;
    uint64_t bytes = payload_bytes(held);
    return length == LENGTH_64 ? bytes > UINT16_MAX && bytes >> 63 == 0 : length != LENGTH_16 || bytes >= LENGTH_16;
}

static bool code_is_good(uint16_t code) {
    return (code >= 3000 && code < 5000) ||
           (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006);
}

static bool take_close(struct websocket_in *in, struct slice payload, struct websocket_got *ret) {
    unsigned said = payload.len >= 2 ? (unsigned)payload.ptr[0] << 8 | payload.ptr[1] : 0;
    uint16_t code = (uint16_t)said;
    if (payload.len == 1 || (payload.len >= 2 && !code_is_good(code)))
        return bad(in, ret, WEBSOCKET_PROTOCOL, "a close with a code that means nothing");
    if (payload.len > 2 && !utf8_is_valid(slice_of(payload.ptr + 2, payload.len - 2)))
        return bad(in, ret, WEBSOCKET_BAD_TEXT, "the reason of a close is not UTF-8");
    in->is_over = true;
    *ret = (struct websocket_got){.what = WEBSOCKET_GOT_CLOSE, .code = code};
    return true;
}

/* False: the message has more to come. */
static bool take_data(struct websocket_in *in, uint8_t op, bool last, struct slice payload, struct websocket_got *ret) {
    bool first = op != WEBSOCKET_CONTINUATION;
    uint8_t kind = first ? op : in->fragments;
    if (!first || !last) {
        if (first) buf_clear(&in->message);
        buf_put_slice(&in->message, payload);
        if (in->message.full) return bad(in, ret, WEBSOCKET_TOO_BIG, "the message is too long");
        payload = buf_slice(&in->message);
    }
    in->fragments = last ? 0 : kind;
    if (!last) return false;
    if (kind == WEBSOCKET_TEXT && !utf8_is_valid(payload))
        return bad(in, ret, WEBSOCKET_BAD_TEXT, "a text that is not UTF-8");
    *ret = (struct websocket_got){.what = WEBSOCKET_GOT_MESSAGE, .is_text = kind == WEBSOCKET_TEXT, .payload = payload};
    return true;
}

static bool take_whole(struct websocket_in *in, struct websocket_got *ret) {
    size_t head = head_bytes(&in->held);
    const uint8_t *mask = in->held.at + head - MASK_BYTES;
    struct slice payload = slice_of(in->held.at + head, in->held.len - head);
    for (size_t i = 0; i < payload.len; i++) in->held.at[head + i] ^= mask[i % MASK_BYTES];
    uint8_t op = in->held.at[0] & OPCODE;
    in->is_taken = true;
    if (op == WEBSOCKET_CLOSE) return take_close(in, payload, ret);
    if (op < WEBSOCKET_CLOSE) return take_data(in, op, (in->held.at[0] & FIN) != 0, payload, ret);
    *ret = (struct websocket_got){.what = op == WEBSOCKET_PING ? WEBSOCKET_GOT_PING : WEBSOCKET_GOT_PONG,
                                  .payload = payload};
    return true;
}

static void move(struct websocket_in *in, struct slice *bytes, size_t upto) {
    size_t count = upto - in->held.len;
    if (count > bytes->len) count = bytes->len;
    buf_put_slice(&in->held, slice_of(bytes->ptr, count));
    *bytes = slice_of(bytes->ptr + count, bytes->len - count);
}

bool websocket_take(struct websocket_in *in, struct slice *bytes, struct websocket_got *ret) {
    while (!in->is_over) {
        if (in->is_taken) buf_clear(&in->held);
        in->is_taken = false;
        if (in->held.len < 2) move(in, bytes, 2);
        if (in->held.len < 2) return false;
        const char *why = check_start(in);
        if (why != NULL) return bad(in, ret, WEBSOCKET_PROTOCOL, why);
        size_t head = head_bytes(&in->held);
        if (in->held.len < head) move(in, bytes, head);
        if (in->held.len < head) return false;
        uint64_t payload = payload_bytes(&in->held);
        if (!length_is_shortest(&in->held))
            return bad(in, ret, WEBSOCKET_PROTOCOL, "a length that is not the shortest");
        if (payload > WEBSOCKET_MESSAGE_BYTES_MAX) return bad(in, ret, WEBSOCKET_TOO_BIG, "the frame is too long");
        if (in->held.len < head + payload) move(in, bytes, head + (size_t)payload);
        if (in->held.len < head + payload) return false;
        if (take_whole(in, ret)) return true;
    }
    return false;
}
