/* websocket_fuzz.c: what any client may send on a WebSocket. In whatever pieces it arrives, the same is read from it
 * and it is refused with the same code; texts are UTF-8, control frames are short, and after an end nothing is read.
 * What is wrong with the first two bytes of a frame is known here a second time, from a table. */
#include "hash.h"
#include "panic.h"
#include "utf8.h"
#include "websocket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    uint32_t count, sum;
    uint16_t code;
    bool over;
};

static void check(const struct websocket_got *got) {
    switch (got->what) {
    case WEBSOCKET_GOT_MESSAGE:
        ENSURE(got->payload.len <= WEBSOCKET_MESSAGE_BYTES_MAX);
        ENSURE(!got->is_text || utf8_is_valid(got->payload));
        break;
    case WEBSOCKET_GOT_PING:
    case WEBSOCKET_GOT_PONG: ENSURE(got->payload.len <= 125); break;
    case WEBSOCKET_GOT_CLOSE: ENSURE(got->code == 0 || (got->code >= 1000 && got->code < 5000)); break;
    case WEBSOCKET_BAD: ENSURE(got->code == 1002 || got->code == 1007 || got->code == 1009); break;
    }
}

static struct seen read_all(const uint8_t *data, size_t size, size_t step) {
    struct websocket_in in;
    struct websocket_got got;
    struct seen seen = {0};
    websocket_in_init(&in);
    for (size_t at = 0; at < size; at += step) {
        struct slice piece = slice_of(data + at, size - at < step ? size - at : step);
        while (websocket_take(&in, &piece, &got)) {
            ENSURE(!seen.over);
            check(&got);
            seen.over = got.what == WEBSOCKET_GOT_CLOSE || got.what == WEBSOCKET_BAD;
            seen.code = got.code;
            seen.count++;
            seen.sum = crc32c(seen.sum, &got.what, sizeof got.what);
            if (got.payload.len > 0) seen.sum = crc32c(seen.sum, got.payload.ptr, got.payload.len);
        }
        ENSURE(seen.over || piece.len == 0);
    }
    websocket_in_fini(&in);
    return seen;
}

/* Whether the frame at the front is one that no client may send, by its first two bytes alone. */
static bool starts_badly(const uint8_t *data, size_t size) {
    static const bool known[16] = {[0] = true, [1] = true, [2] = true, [8] = true, [9] = true, [10] = true};
    return size >= 2 &&
           ((data[0] & 0x70) != 0 || !known[data[0] & 0x0f] || !(data[1] & 0x80) || (data[0] & 0x0f) == 0 ||
            ((data[0] & 0x08) != 0 && (!(data[0] & 0x80) || (data[1] & 0x7f) > 125)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct seen whole = read_all(data, size, size > 0 ? size : 1);
    static const size_t steps[] = {1, 2, 3, 7, 64};
    if (starts_badly(data, size)) ENSURE(whole.count == 1 && whole.code == WEBSOCKET_PROTOCOL);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct seen pieces = read_all(data, size, steps[i]);
        ENSURE(pieces.count == whole.count && pieces.sum == whole.sum && pieces.code == whole.code);
    }
    return 0;
}
