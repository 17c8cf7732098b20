/* titan.c: see titan.h. */
#include "titan.h"

#include "panic.h"

const char *titan_op_word(uint8_t opcode) {
    switch (opcode) {
#define X(op, number, word) \
    case number: return word;
        TITAN_OPS(X)
#undef X
    }
    return NULL;
}

enum err titan_take(struct slice *in, size_t body_bytes_max, struct titan_frame *ret, size_t *ret_need,
                    struct why *why) {
    const uint8_t *h = in->ptr;
    if (in->len > 0 && h[0] != TITAN_VERSION)
        return why_set(why, ERR_UNSUPPORTED, "a frame of version %u, not 1", h[0]);
    if (in->len < TITAN_HEADER_BYTES) {
        *ret_need = TITAN_HEADER_BYTES;
        return ERR_OK;
    }
    uint32_t body_bytes = (uint32_t)h[4] << 24 | (uint32_t)h[5] << 16 | (uint32_t)h[6] << 8 | h[7];
    if (body_bytes > body_bytes_max)
        return why_set(why, ERR_LIMIT, "a frame of %u bytes, at most %zu", body_bytes, body_bytes_max);
    size_t frame_bytes = TITAN_HEADER_BYTES + (size_t)body_bytes;
    if (in->len < frame_bytes) {
        *ret_need = frame_bytes;
        return ERR_OK;
    }
    *ret = (struct titan_frame){.opcode = h[1], .body = slice_of(h + TITAN_HEADER_BYTES, body_bytes)};
    *ret_need = 0;
    *in = slice_of(h + frame_bytes, in->len - frame_bytes);
    return ERR_OK;
}

void titan_put(struct buf *out, uint8_t opcode, struct slice body) {
    REQUIRE(body.len <= UINT32_MAX);
    uint32_t n = (uint32_t)body.len;
    const uint8_t header[TITAN_HEADER_BYTES] = {
        TITAN_VERSION, opcode, 0, 0, (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n,
    };
    buf_put(out, header, sizeof header);
    buf_put(out, body.ptr, body.len);
}

void titan_reply_put(struct buf *out, struct slice text) {
    static const char *const failures[] = {"ERROR", "UNKNOWN", "SERVER_ERROR", "UPLOAD_FAILED", "DEPLOY_FAILED"};
    uint8_t opcode = TITAN_ACK;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        struct slice word = slice_str(failures[i]);
        if (text.len >= word.len && slice_eq(slice_of(text.ptr, word.len), word)) opcode = TITAN_ERROR;
    }
    titan_put(out, opcode, text);
}
