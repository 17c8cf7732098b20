/* wire_fuzz.c: a stream of frames from anyone. What is taken can be put and taken again, and is then the same; what the
 * strict reader of journals takes has those very bytes. */
#include "json.h"
#include "panic.h"
#include "wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_message(const struct frame *frame, const void *message, struct arena *arena) {
    const struct tlv_desc *desc = wire_info(frame->opcode)->desc;
    struct why why;
    struct buf once, twice;
    buf_init(&once, (size_t)1 << 24);
    buf_init(&twice, (size_t)1 << 24);
    ENSURE(tlv_check(desc, message, &why) == ERR_OK);
    tlv_encode(desc, message, &once);

    void *again = arena_alloc(arena, desc->size);
    ENSURE(tlv_decode(desc, buf_slice(&once), TLV_STRICT, arena, again, &why) == ERR_OK);
    tlv_encode(desc, again, &twice);
    ENSURE(slice_eq(buf_slice(&once), buf_slice(&twice)));
    if (tlv_decode(desc, frame->body, TLV_STRICT, arena, again, &why) == ERR_OK)
        ENSURE(slice_eq(frame->body, buf_slice(&once)));

    struct json j;
    buf_clear(&twice);
    json_init(&j, &twice);
    json_object(&j);
    tlv_json(desc, message, &j);
    json_object_end(&j);
    buf_fini(&once);
    buf_fini(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct slice in = slice_of(data, size);
    struct arena arena;
    arena_init(&arena, 4096, (size_t)1 << 26);
    for (;;) {
        struct frame frame;
        size_t need;
        struct why why;
        size_t before = in.len;
        if (frame_take(&in, (size_t)1 << 20, &frame, &need, &why) != ERR_OK || need != 0) {
            ENSURE(in.len == before);
            break;
        }
        ENSURE(before - in.len == FRAME_HEADER_BYTES + frame.body.len);
        const struct wire_info *info = wire_info(frame.opcode);
        if (!info) continue;
        void *message = arena_alloc(&arena, info->desc->size);
        if (wire_take(&frame, &arena, message, &why) == ERR_OK) check_message(&frame, message, &arena);
        arena_reset(&arena);
    }
    arena_fini(&arena);
    return 0;
}
