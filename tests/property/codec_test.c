/* codec_test.c: every kind of record and of snapshot object, with random values: it comes back equal and has one
 * encoding only; every truncation and every mutation of its bytes is an error or another value with its own one. */
#include <stdio.h>

#include "test.h"

#include "buf.h"
#include "objects.h"
#include "record.h"
#include "state.h"
#include "tlvgen.h"

#define ROUNDS 60
#define ONE(kind, number, type, word, text) +1u

static const enum record_kind record_kinds[] = {
#define X(kind, number, type, word, text) kind,
    RECORD_TABLE(X)
#undef X
};
#define RECORD_KINDS (sizeof record_kinds / sizeof *record_kinds)

static uint64_t draw(void *ctx) {
    return test_random_next(ctx);
}

struct coder {
    struct test_random random;
    struct tlvgen gen;
    struct arena arena;
    struct buf first, second;
};

static void coder_init(struct coder *c, uint64_t seed) {
    c->random.state = seed;
    arena_init(&c->arena, 65536, (size_t)1 << 28);
    c->gen = (struct tlvgen){.draw = draw, .ctx = &c->random, .arena = &c->arena};
    buf_init(&c->first, (size_t)1 << 24);
    buf_init(&c->second, (size_t)1 << 24);
}

static void coder_fini(struct coder *c) {
    arena_fini(&c->arena);
    buf_fini(&c->first);
    buf_fini(&c->second);
}

/* ---- described structs ---- */

/* What decodes must encode to the same bytes. */
static bool decodes_canonically(struct coder *c, const struct tlv_desc *desc, struct slice bytes) {
    struct why why;
    void *value = arena_alloc(&c->arena, desc->size);
    if (tlv_decode(desc, bytes, TLV_STRICT, &c->arena, value, &why) != ERR_OK) return false;
    assert_int_equal(tlv_check(desc, value, &why), ERR_OK);
    buf_clear(&c->second);
    tlv_encode(desc, value, &c->second);
    if (!slice_eq(buf_slice(&c->second), bytes)) fail_msg("%s: two encodings of one value", desc->name);
    return true;
}

static void check_desc(struct coder *c, const struct tlv_desc *desc) {
    for (int round = 0; round < ROUNDS; round++) {
        void *value = arena_alloc(&c->arena, desc->size);
        c->gen.small = round % 4 == 0;
        tlvgen_fill(&c->gen, desc, value);
        buf_clear(&c->first);
        tlv_encode(desc, value, &c->first);
        struct slice bytes = buf_slice(&c->first);
        if (!decodes_canonically(c, desc, bytes)) fail_msg("%s: its own encoding is refused", desc->name);
        size_t step = 1 + bytes.len / 200;
        for (size_t len = 0; len < bytes.len; len += step) (void)decodes_canonically(c, desc, slice_of(bytes.ptr, len));
        for (int i = 0; i < 100 && bytes.len; i++) {
            size_t at = (size_t)test_random_below(&c->random, bytes.len);
            uint8_t before = c->first.at[at];
            c->first.at[at] = (uint8_t)test_random_next(&c->random);
            (void)decodes_canonically(c, desc, bytes);
            c->first.at[at] = before;
        }
        arena_reset(&c->arena);
    }
}

static void every_record_message(void **state) {
    (void)state;
    struct coder c;
    coder_init(&c, 11);
    uint32_t kinds = 0;
    for (uint32_t kind = 0; kind < REC_KIND_END; kind++) {
        const struct tlv_desc *desc = record_desc((enum record_kind)kind);
        if (desc == NULL) continue;
        check_desc(&c, desc);
        kinds++;
    }
    assert_int_equal(kinds, RECORD_KINDS);
    coder_fini(&c);
}

static void every_snapshot_object(void **state) {
    (void)state;
    struct coder c;
    coder_init(&c, 12);
    uint32_t kinds = 0;
    for (uint32_t kind = 0; kind < OBJ_KIND_END; kind++) {
        const struct tlv_desc *desc = object_desc((enum object_kind)kind);
        if (desc == NULL) continue;
        check_desc(&c, desc);
        kinds++;
    }
    assert_int_equal(kinds, 0u OBJECT_TABLE(ONE));
    assert_null(object_desc(OBJ_KIND_END));
    check_desc(&c, &flow_head_desc);
    check_desc(&c, &rec_job_desc);
    check_desc(&c, &options_desc);
    check_desc(&c, &worker_info_desc);
    coder_fini(&c);
}

/* ---- records in their frames ---- */

static bool record_decodes_canonically(struct coder *c, struct slice bytes) {
    struct cursor cursor = cursor_of(bytes);
    struct record record;
    struct why why;
    if (record_decode(&cursor, &c->arena, &record, &why) != ERR_OK) {
        assert_true(strlen(why.text) > 0);
        return false;
    }
    buf_clear(&c->second);
    record_encode(&record, &c->second);
    size_t used = bytes.len - cursor_left(&cursor);
    assert_true(slice_eq(buf_slice(&c->second), slice_of(bytes.ptr, used)));
    return cursor_left(&cursor) == 0;
}

static void every_record_frame(void **state) {
    (void)state;
    struct coder c;
    coder_init(&c, 13);
    for (uint32_t round = 0; round < ROUNDS * RECORD_KINDS; round++) {
        struct record record = {.kind = record_kinds[round % RECORD_KINDS], .version = RECORD_VERSION};
        c.gen.small = round % 3 == 0;
        tlvgen_fill(&c.gen, record_desc(record.kind), &record.body);
        buf_clear(&c.first);
        record_encode(&record, &c.first);
        struct slice bytes = buf_slice(&c.first);
        assert_true(record_decodes_canonically(&c, bytes));
        size_t step = 1 + bytes.len / 100;
        for (size_t len = 0; len < bytes.len; len += step) /* a frame that is cut is never a record */
            assert_false(record_decodes_canonically(&c, slice_of(bytes.ptr, len)));
        for (int i = 0; i < 50; i++) {
            size_t at = (size_t)test_random_below(&c.random, bytes.len);
            uint8_t before = c.first.at[at];
            c.first.at[at] ^= (uint8_t)(1u << test_random_below(&c.random, 8));
            (void)record_decodes_canonically(&c, bytes);
            c.first.at[at] = before;
        }
        arena_reset(&c.arena);
    }
    coder_fini(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_message),
        cmocka_unit_test(every_snapshot_object),
        cmocka_unit_test(every_record_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
