/* websocket.h: WebSocket (RFC 6455) on the server's side, without I/O: the answer to a handshake, heads of frames that
 * go out, and a strict reader of what clients send. Nobody needs to send us much, so messages are short and held whole.
 *
 *     while (websocket_take(&in, &bytes, &got)) switch (got.what) …
 *
 * A frame that is not as it should be ends the reading: got.code is what to close with. */
#ifndef REEVE_WEBSOCKET_H
#define REEVE_WEBSOCKET_H

#include "buf.h"

#define WEBSOCKET_MESSAGE_BYTES_MAX 4096u
#define WEBSOCKET_HEAD_BYTES_MAX 14u
#define WEBSOCKET_SALTED_BYTES 60u
#define WEBSOCKET_SHA1_BYTES 20u
#define WEBSOCKET_ACCEPT_BYTES 29u /* with its 0 */

enum websocket_op {
    WEBSOCKET_CONTINUATION = 0,
    WEBSOCKET_TEXT = 1,
    WEBSOCKET_BINARY = 2,
    WEBSOCKET_CLOSE = 8,
    WEBSOCKET_PING = 9,
    WEBSOCKET_PONG = 10,
};

enum websocket_code { /* of a close */
    WEBSOCKET_NORMAL = 1000,
    WEBSOCKET_GOING_AWAY = 1001,
    WEBSOCKET_PROTOCOL = 1002,
    WEBSOCKET_BAD_TEXT = 1007,
    WEBSOCKET_POLICY = 1008,
    WEBSOCKET_TOO_BIG = 1009,
};

/* ---- the handshake ---- */

bool websocket_key_is_good(struct slice key); /* 16 bytes in base64 */
/* The answer to a key is the SHA-1 of the salted key, as text. The caller makes the digest (port/digest.h). */
void websocket_salt(struct slice good_key, uint8_t ret[WEBSOCKET_SALTED_BYTES]);
void websocket_accept(const uint8_t sha1[WEBSOCKET_SHA1_BYTES], char ret[WEBSOCKET_ACCEPT_BYTES]);

/* ---- out: one frame, unmasked, not in fragments ---- */

void websocket_head_put(struct buf *out, enum websocket_op op, size_t payload_bytes);
void websocket_close_put(struct buf *out, uint16_t code, const char *why);

/* ---- in ---- */

struct websocket_in {
    struct buf held;     /* the frame that is being read, head and payload */
    struct buf message;  /* payloads of fragments so far */
    uint8_t fragments;   /* enum websocket_op of the message that they belong to; 0 = none is open */
    bool is_taken;       /* what is in `held` was told */
    bool is_over;        /* after a close, or after what was refused */
};

enum websocket_what {
    WEBSOCKET_GOT_MESSAGE,
    WEBSOCKET_GOT_PING,
    WEBSOCKET_GOT_PONG,
    WEBSOCKET_GOT_CLOSE,
    WEBSOCKET_BAD,
};

struct websocket_got {
    enum websocket_what what;
    bool is_text;         /* of a message */
    struct slice payload; /* valid until the next call */
    uint16_t code;        /* of a close: the peer's, or 0; of a bad frame: ours */
    const char *why;      /* of a bad frame */
};

void websocket_in_init(struct websocket_in *in);
void websocket_in_fini(struct websocket_in *in);
/* Takes bytes off the front until something is whole. False: they are used up, or nothing more is read. */
bool websocket_take(struct websocket_in *in, struct slice *bytes, struct websocket_got *ret);

#endif
