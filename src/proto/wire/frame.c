/* frame.c: see frame.h. Reserved bytes and unknown flags are refused: they are zero until a later version gives them a
 * meaning, and a stream that has lost its place is noticed at the first header. */
#include "frame.h"

#include "panic.h"

#define FLAGS_KNOWN (FRAME_ANSWER | FRAME_MORE)
#define LENGTH_AT 12u

static uint32_t load_u32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void store_u32(uint8_t *at, uint32_t v) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(v >> (24 - 8 * i));
}

static enum err check_header(const uint8_t *h, size_t body_bytes_max, struct why *why) {
    if (h[0] != FRAME_VERSION) return why_set(why, ERR_UNSUPPORTED, "a frame of version %u, not 2", h[0]);
    if (h[3] != 0 || load_u32(h + 8) != 0) return why_set(why, ERR_INVALID, "reserved bytes of a frame are not zero");
    if (h[2] & ~FLAGS_KNOWN) return why_set(why, ERR_INVALID, "flags 0x%02x of a frame are not known", h[2]);
    if (h[2] == FRAME_MORE) return why_set(why, ERR_INVALID, "a frame says more and is no answer");
    if (h[2] && load_u32(h + 4) == 0) return why_set(why, ERR_INVALID, "a frame answers no request");
    uint32_t body_bytes = load_u32(h + LENGTH_AT);
    if (body_bytes > body_bytes_max)
        return why_set(why, ERR_LIMIT, "a frame of %u bytes, at most %zu (frame_bytes_max)", body_bytes,
                       body_bytes_max);
    return ERR_OK;
}

enum err frame_take(struct slice *in, size_t body_bytes_max, struct frame *ret, size_t *ret_need, struct why *why) {
    if (in->len < FRAME_HEADER_BYTES) {
        if (in->len > 0 && in->ptr[0] != FRAME_VERSION)
            return why_set(why, ERR_UNSUPPORTED, "a frame of version %u, not 2", in->ptr[0]);
        *ret_need = FRAME_HEADER_BYTES;
        return ERR_OK;
    }
    const uint8_t *header = in->ptr;
    enum err e = check_header(header, body_bytes_max, why);
    if (e) return e;
    size_t frame_bytes = FRAME_HEADER_BYTES + (size_t)load_u32(header + LENGTH_AT);
    if (in->len < frame_bytes) {
        *ret_need = frame_bytes;
        return ERR_OK;
    }
    *ret = (struct frame){
        .opcode = header[1],
        .flags = header[2],
        .request = load_u32(header + 4),
        .body = slice_of(header + FRAME_HEADER_BYTES, frame_bytes - FRAME_HEADER_BYTES),
    };
    *ret_need = 0;
    *in = slice_of(header + frame_bytes, in->len - frame_bytes);
    return ERR_OK;
}

size_t frame_open(struct buf *out, uint8_t opcode, uint8_t flags, uint32_t request) {
    REQUIRE((flags & ~FLAGS_KNOWN) == 0);
    REQUIRE(flags != FRAME_MORE);
    REQUIRE(flags == 0 || request != 0);
    size_t opened = out->len;
    uint8_t header[FRAME_HEADER_BYTES] = {FRAME_VERSION, opcode, flags};
    store_u32(header + 4, request);
    buf_put(out, header, sizeof header);
    return opened;
}

void frame_close(struct buf *out, size_t opened) {
    if (out->full) return;
    REQUIRE(out->len >= opened + FRAME_HEADER_BYTES);
    size_t body_bytes = out->len - opened - FRAME_HEADER_BYTES;
    REQUIRE(body_bytes <= UINT32_MAX);
    store_u32(out->at + opened + LENGTH_AT, (uint32_t)body_bytes);
}
