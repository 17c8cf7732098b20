/* wire.c: the table of wire.h as data, and messages in frames. */
#include "wire.h"

#include "panic.h"

#define OPCODES 256

static const struct wire_info infos[OPCODES] = {
#define X(op, number, type, word, sender, answer, lane, text) \
    [op] = {word, &type##_desc, WIRE_FROM_##sender, WIRE_LANE_##lane, answer, text},
    WIRE_TABLE(X)
#undef X
};

const struct wire_info *wire_info(uint8_t opcode) {
    return infos[opcode].desc ? &infos[opcode] : NULL;
}

const char *wire_word(uint8_t opcode) {
    return infos[opcode].desc ? infos[opcode].word : "unknown";
}

void wire_put(struct buf *out, enum wire_op op, uint8_t flags, uint32_t request, const void *message) {
    REQUIRE(infos[op].desc != NULL);
    size_t opened = frame_open(out, (uint8_t)op, flags, request);
    tlv_encode(infos[op].desc, message, out);
    frame_close(out, opened);
}

enum err wire_take(const struct frame *frame, struct arena *arena, void *ret, struct why *why) {
    const struct tlv_desc *desc = infos[frame->opcode].desc;
    if (!desc) return why_set(why, ERR_UNSUPPORTED, "opcode %u is not known", frame->opcode);
    enum err e = tlv_decode(desc, frame->body, TLV_SKIP_UNKNOWN, arena, ret, why);
    return e ? why_wrap(why, e, "%s", infos[frame->opcode].word) : ERR_OK;
}
