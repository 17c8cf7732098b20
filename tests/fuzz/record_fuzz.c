/* record_fuzz.c: whatever record_decode accepts must encode to the very bytes it came from, and print as JSON. */
#include "json.h"
#include "panic.h"
#include "record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_accepted(const struct record *r, struct slice bytes) {
    struct buf out;
    buf_init(&out, (size_t)1 << 24);
    record_encode(r, &out);
    ENSURE(slice_eq(buf_slice(&out), bytes));
    struct json j;
    buf_clear(&out);
    json_init(&j, &out);
    json_object(&j);
    record_json(r, &j);
    json_object_end(&j);
    buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cursor c = cursor_of(slice_of(data, size));
    struct arena arena;
    arena_init(&arena, 4096, (size_t)1 << 24);
    while (cursor_left(&c) > 0) {
        const uint8_t *start = c.at;
        struct record record;
        struct why why;
        if (record_decode(&c, &arena, &record, &why) != ERR_OK) break;
        check_accepted(&record, slice_of(start, (size_t)(c.at - start)));
    }
    arena_fini(&arena);
    return 0;
}
