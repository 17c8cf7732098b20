/* wire_test.c: every message with random values comes back equal, in whatever pieces its frame arrives; fields of later
 * versions are skipped; no cut and no changed byte does more harm than a refusal. */
#include "test.h"

#include "tlvgen.h"
#include "wire.h"

#define ROUNDS 40
#define FRAME_MAX ((size_t)1 << 24)

struct coder {
    struct test_random random;
    struct tlvgen gen;
    struct arena arena;
    struct buf first, second;
};

static uint64_t draw(void *ctx) {
    return test_random_next(ctx);
}

static void coder_init(struct coder *c, uint64_t seed) {
    c->random.state = seed;
    arena_init(&c->arena, 65536, (size_t)1 << 28);
    c->gen = (struct tlvgen){.draw = draw, .ctx = &c->random, .arena = &c->arena};
    buf_init(&c->first, FRAME_MAX);
    buf_init(&c->second, FRAME_MAX);
}

static void coder_fini(struct coder *c) {
    arena_fini(&c->arena);
    buf_fini(&c->first);
    buf_fini(&c->second);
}

/* A message with random values, as a frame in c->first. */
static void put_random(struct coder *c, uint8_t op, int round) {
    const struct tlv_desc *desc = wire_info(op)->desc;
    void *message = arena_alloc(&c->arena, desc->size);
    c->gen.small = round % 4 == 0;
    tlvgen_fill(&c->gen, desc, message);
    buf_clear(&c->first);
    wire_put(&c->first, op, round % 2 ? FRAME_ANSWER : 0, 1 + (uint32_t)round, message);
}

static enum err take(struct coder *c, struct slice in, struct frame *frame, void **ret) {
    size_t need;
    struct why why;
    enum err e = frame_take(&in, FRAME_MAX, frame, &need, &why);
    if (e) return e;
    if (need) return ERR_BUSY;
    if (!wire_info(frame->opcode)) return ERR_UNSUPPORTED;
    *ret = arena_alloc(&c->arena, wire_info(frame->opcode)->desc->size);
    return wire_take(frame, &c->arena, *ret, &why);
}

/* What was taken is put once more, into c->second. */
static void put_again(struct coder *c, const struct frame *frame, const void *message) {
    buf_clear(&c->second);
    wire_put(&c->second, frame->opcode, frame->flags, frame->request, message);
}

static void every_message_comes_back(void **state) {
    (void)state;
    struct coder c;
    coder_init(&c, 31);
    for (int op = 0; op < 256; op++) {
        if (!wire_info((uint8_t)op)) continue;
        for (int round = 0; round < ROUNDS; round++) {
            put_random(&c, (uint8_t)op, round);
            struct frame frame;
            void *message;
            assert_int_equal(take(&c, buf_slice(&c.first), &frame, &message), ERR_OK);
            put_again(&c, &frame, message);
            assert_true(slice_eq(buf_slice(&c.first), buf_slice(&c.second)));
            arena_reset(&c.arena);
        }
    }
    coder_fini(&c);
}

static void later_fields_are_skipped(void **state) {
    (void)state;
    struct coder c;
    coder_init(&c, 32);
    for (int op = 0; op < 256; op++) {
        if (!wire_info((uint8_t)op)) continue;
        for (int round = 0; round < 8; round++) {
            put_random(&c, (uint8_t)op, round);
            struct slice before = arena_slice(&c.arena, buf_slice(&c.first));
            buf_put_varint(&c.first, 5000u << 1);
            buf_put_varint(&c.first, 17);
            buf_put_varint(&c.first, 5001u << 1 | 1);
            buf_put_str(&c.first, SLICE("of the future"));
            frame_close(&c.first, 0);
            struct frame frame;
            void *message;
            assert_int_equal(take(&c, buf_slice(&c.first), &frame, &message), ERR_OK);
            put_again(&c, &frame, message);
            assert_true(slice_eq(before, buf_slice(&c.second)));
            arena_reset(&c.arena);
        }
    }
    coder_fini(&c);
}

/* Whatever is taken can be put and taken again, and is then the same. */
static void try_bytes(struct coder *c, struct slice bytes) {
    struct frame frame;
    void *message;
    if (take(c, bytes, &frame, &message) != ERR_OK) return;
    put_again(c, &frame, message);
    struct slice once = arena_slice(&c->arena, buf_slice(&c->second));
    assert_int_equal(take(c, once, &frame, &message), ERR_OK);
    put_again(c, &frame, message);
    assert_true(slice_eq(once, buf_slice(&c->second)));
}

static void changed_bytes_do_no_harm(void **state) {
    (void)state;
    struct coder c;
    coder_init(&c, 33);
    for (int op = 0; op < 256; op++) {
        if (!wire_info((uint8_t)op)) continue;
        for (int round = 0; round < ROUNDS / 4; round++) {
            put_random(&c, (uint8_t)op, round);
            size_t step = 1 + c.first.len / 50;
            for (size_t len = 0; len < c.first.len; len += step) try_bytes(&c, slice_of(c.first.at, len));
            for (int i = 0; i < 60; i++) {
                size_t at = (size_t)test_random_below(&c.random, c.first.len);
                uint8_t before = c.first.at[at];
                c.first.at[at] = (uint8_t)test_random_next(&c.random);
                try_bytes(&c, buf_slice(&c.first));
                c.first.at[at] = before;
            }
            arena_reset(&c.arena);
        }
    }
    coder_fini(&c);
}

static void the_body_of_a_job_comes_back(void **state) {
    (void)state;
    struct coder c;
    coder_init(&c, 34);
    for (int round = 0; round < ROUNDS; round++) {
        struct wire_run run, again;
        struct why why;
        tlvgen_fill(&c.gen, &wire_run_desc, &run);
        buf_clear(&c.first);
        buf_clear(&c.second);
        tlv_encode(&wire_run_desc, &run, &c.first);
        assert_int_equal(tlv_decode(&wire_run_desc, buf_slice(&c.first), TLV_STRICT, &c.arena, &again, &why), ERR_OK);
        tlv_encode(&wire_run_desc, &again, &c.second);
        assert_true(slice_eq(buf_slice(&c.first), buf_slice(&c.second)));
        arena_reset(&c.arena);
    }
    coder_fini(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_comes_back),
        cmocka_unit_test(later_fields_are_skipped),
        cmocka_unit_test(changed_bytes_do_no_harm),
        cmocka_unit_test(the_body_of_a_job_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
