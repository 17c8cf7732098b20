/* wire_test.c: frames that an earlier version wrote are read for ever, and written the same.
 *
 * tests/golden/wire-v2.txt has a line per message: its word, its frame in hex, and what it says, as JSON; `run`, the
 * body of a job, has no frame of its own. A line is never changed. For a new message, or one that has grown, append
 * what this prints, every field filled in:
 *
 *     golden_wire_test --print WORD */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

#include "json.h"
#include "wire.h"

#define FILE_NAME "tests/golden/wire-v2.txt"
#define FRAME_MAX ((size_t)1 << 16)

/* ---- a message with every field filled in ---- */

static void fill(const struct tlv_desc *d, uint32_t depth, struct arena *arena, void *ret);

static struct slice pattern(struct arena *arena, size_t len, uint8_t first) {
    uint8_t *at = arena_alloc(arena, len);
    for (size_t i = 0; i < len; i++) at[i] = (uint8_t)(first + i);
    return slice_of(at, len);
}

static void fill_field(const struct tlv_field *f, uint32_t depth, struct arena *arena, void *at) {
    uint64_t number = (uint64_t)f->tag * 100 + depth;
    switch ((enum tlv_type)f->type) {
    case TLV_BOOL: *(bool *)at = true; return;
    case TLV_U8: *(uint8_t *)at = (uint8_t)(f->tag + depth); return;
    case TLV_ENUM: *(uint8_t *)at = (uint8_t)(f->max - 1); return;
    case TLV_U16: memcpy(at, &(uint16_t){(uint16_t)number}, sizeof(uint16_t)); return;
    case TLV_U32: memcpy(at, &(uint32_t){(uint32_t)number}, sizeof(uint32_t)); return;
    case TLV_U64: memcpy(at, &(uint64_t){number << 32}, sizeof(uint64_t)); return;
    case TLV_I64: memcpy(at, &(int64_t){-(int64_t)number}, sizeof(int64_t)); return;
    case TLV_TEXT: *(struct slice *)at = slice_str(f->name); return;
    case TLV_BYTES: *(struct slice *)at = pattern(arena, 3, 0xfe); return;
    case TLV_HASH: *(struct slice *)at = pattern(arena, 32, (uint8_t)f->tag); return;
    case TLV_U32S: {
        static const uint32_t numbers[] = {0, 300, UINT32_MAX};
        *(struct tlv_u32s *)at = (struct tlv_u32s){numbers, 3};
        return;
    }
    case TLV_MSG: fill(f->sub, depth, arena, at); return;
    case TLV_LIST: {
        void *item = arena_alloc(arena, f->sub->size);
        fill(f->sub, depth + 1, arena, item);
        *(struct tlv_list *)at = (struct tlv_list){item, 1};
        return;
    }
    case TLV_RAW: return;
    }
}

static void fill(const struct tlv_desc *d, uint32_t depth, struct arena *arena, void *ret) {
    for (uint32_t i = 0; i < d->field_count; i++)
        fill_field(&d->fields[i], depth, arena, (uint8_t *)ret + d->fields[i].offset);
}

static void put_json(struct buf *out, const struct tlv_desc *desc, const void *message) {
    struct json j;
    json_init(&j, out);
    json_object(&j);
    tlv_json(desc, message, &j);
    json_object_end(&j);
}

static void print_line(const char *word, struct slice bytes, const struct tlv_desc *desc, const void *message) {
    struct buf json;
    buf_init(&json, FRAME_MAX);
    put_json(&json, desc, message);
    printf("%s ", word);
    for (size_t i = 0; i < bytes.len; i++) printf("%02x", bytes.ptr[i]);
    printf(" %.*s\n", SLICE_FMT(buf_slice(&json)));
    buf_fini(&json);
}

static void print_frame(uint8_t op, struct arena *arena) {
    const struct wire_info *info = wire_info(op);
    void *message = arena_alloc(arena, info->desc->size);
    fill(info->desc, 1, arena, message);
    struct buf frame;
    buf_init(&frame, FRAME_MAX);
    bool is_answer = info->sender == WIRE_FROM_SERVER && op != WIRE_ASSIGN && op != WIRE_CANCEL_ATTEMPT;
    wire_put(&frame, op, is_answer ? FRAME_ANSWER : 0, 0x01020300u + op, message);
    print_line(info->word, buf_slice(&frame), info->desc, message);
    buf_fini(&frame);
}

static void print_run(struct arena *arena) {
    struct wire_run run = {.exit_code = 0};
    fill(&wire_run_desc, 1, arena, &run);
    struct buf bytes;
    buf_init(&bytes, FRAME_MAX);
    tlv_encode(&wire_run_desc, &run, &bytes);
    print_line("run", buf_slice(&bytes), &wire_run_desc, &run);
    buf_fini(&bytes);
}

static int print(const char *word) {
    struct arena arena;
    arena_init(&arena, 4096, (size_t)1 << 20);
    for (int op = 0; op < 256; op++) {
        if (!wire_info((uint8_t)op)) continue;
        if (strcmp(wire_word((uint8_t)op), word) == 0 || strcmp(word, "all") == 0) print_frame((uint8_t)op, &arena);
    }
    if (strcmp(word, "run") == 0 || strcmp(word, "all") == 0) print_run(&arena);
    arena_fini(&arena);
    return 0;
}

/* ---- the lines ---- */

static size_t from_hex(const char *hex, uint8_t *ret) {
    size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++) {
        char digits[3] = {hex[2 * i], hex[2 * i + 1], 0};
        ret[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return len;
}

static void check_json(const char *word, const struct tlv_desc *desc, const void *message, const char *json) {
    struct buf out;
    buf_init(&out, FRAME_MAX);
    put_json(&out, desc, message);
    if (!slice_eq(buf_slice(&out), slice_str(json))) fail_msg("%s says %.*s", word, SLICE_FMT(buf_slice(&out)));
    buf_fini(&out);
}

static void check_run(struct slice bytes, const char *json, struct arena *arena) {
    struct wire_run run;
    struct why why;
    assert_int_equal(tlv_decode(&wire_run_desc, bytes, TLV_STRICT, arena, &run, &why), ERR_OK);
    check_json("run", &wire_run_desc, &run, json);
    struct buf out;
    buf_init(&out, FRAME_MAX);
    tlv_encode(&wire_run_desc, &run, &out);
    assert_true(slice_eq(buf_slice(&out), bytes));
    buf_fini(&out);
}

static void check_frame(const char *word, struct slice all, const char *json, struct arena *arena) {
    struct slice in = all;
    struct frame frame;
    size_t need;
    struct why why;
    assert_int_equal(frame_take(&in, FRAME_MAX, &frame, &need, &why), ERR_OK);
    assert_int_equal(need, 0);
    assert_int_equal(in.len, 0);
    assert_string_equal(wire_word(frame.opcode), word);
    const struct tlv_desc *desc = wire_info(frame.opcode)->desc;
    void *message = arena_alloc(arena, desc->size);
    assert_int_equal(wire_take(&frame, arena, message, &why), ERR_OK);
    check_json(word, desc, message, json);
    struct buf out;
    buf_init(&out, FRAME_MAX);
    wire_put(&out, frame.opcode, frame.flags, frame.request, message);
    assert_true(slice_eq(buf_slice(&out), all));
    buf_fini(&out);
}

static void check_line(const char *word, const char *hex, const char *json, struct arena *arena) {
    uint8_t bytes[FRAME_MAX];
    struct slice all = slice_of(bytes, from_hex(hex, bytes));
    if (strcmp(word, "run") == 0) {
        check_run(all, json, arena);
    } else {
        check_frame(word, all, json, arena);
    }
}

static void old_frames_are_read_and_written(void **state) {
    (void)state;
    bool has_line[256] = {false}, has_run = false;
    struct arena arena;
    arena_init(&arena, 4096, (size_t)1 << 20);
    FILE *file = fopen(FILE_NAME, "r");
    assert_non_null(file);
    static char line[3 * FRAME_MAX];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *hex = strchr(line, ' ');
        assert_non_null(hex);
        *hex++ = 0;
        char *json = strchr(hex, ' ');
        assert_non_null(json);
        *json++ = 0;
        check_line(line, hex, json, &arena);
        for (int op = 0; op < 256; op++)
            if (strcmp(wire_word((uint8_t)op), line) == 0) has_line[op] = true;
        if (strcmp(line, "run") == 0) has_run = true;
        arena_reset(&arena);
    }
    (void)fclose(file);
    assert_true(has_run);
    for (int op = 0; op < 256; op++)
        if (wire_info((uint8_t)op) && !has_line[op]) fail_msg("%s has no line in " FILE_NAME, wire_word((uint8_t)op));
    arena_fini(&arena);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--print") == 0) return print(argv[2]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(old_frames_are_read_and_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
