/* frame_test.c: frames come out as they went in, in whatever pieces they arrive, and what is no frame is refused. */
#include "test.h"

#include <stdlib.h>

#include "frame.h"

#define BODY_MAX 1000u

static void put(struct buf *out, uint8_t opcode, uint8_t flags, uint32_t request, const char *body) {
    size_t opened = frame_open(out, opcode, flags, request);
    buf_put_slice(out, slice_str(body));
    frame_close(out, opened);
}

static void the_header_is_big_endian(void **state) {
    (void)state;
    struct buf out;
    buf_init(&out, 100);
    put(&out, 0x19, FRAME_ANSWER | FRAME_MORE, 0x01020304, "body");
    static const uint8_t expected[] = {2, 0x19, 3, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 4, 'b', 'o', 'd', 'y'};
    assert_int_equal(out.len, sizeof expected);
    assert_memory_equal(out.at, expected, sizeof expected);
    buf_fini(&out);
}

static void frames_follow_each_other(void **state) {
    (void)state;
    struct buf out;
    buf_init(&out, 100);
    put(&out, 1, 0, 7, "first");
    put(&out, 2, FRAME_ANSWER, 8, "");
    struct slice in = buf_slice(&out);
    struct frame frame;
    size_t need;
    struct why why;
    assert_int_equal(frame_take(&in, BODY_MAX, &frame, &need, &why), ERR_OK);
    assert_int_equal(need, 0);
    assert_int_equal(frame.opcode, 1);
    assert_int_equal(frame.flags, 0);
    assert_int_equal(frame.request, 7);
    assert_true(slice_eq(frame.body, SLICE("first")));
    assert_int_equal(frame_take(&in, BODY_MAX, &frame, &need, &why), ERR_OK);
    assert_int_equal(frame.opcode, 2);
    assert_int_equal(frame.flags, FRAME_ANSWER);
    assert_int_equal(frame.body.len, 0);
    assert_int_equal(in.len, 0);
    assert_int_equal(frame_take(&in, BODY_MAX, &frame, &need, &why), ERR_OK);
    assert_int_equal(need, FRAME_HEADER_BYTES);
    buf_fini(&out);
}

/* Each beginning is in memory of exactly its size, so that the sanitizer sees a byte read too many. */
static void a_part_of_a_frame_asks_for_the_rest(void **state) {
    (void)state;
    struct buf out;
    buf_init(&out, 100);
    put(&out, 9, 0, 1, "some body");
    for (size_t len = 0; len < out.len; len++) {
        uint8_t *part = malloc(len ? len : 1);
        assert_non_null(part);
        memcpy(part, out.at, len);
        struct slice in = slice_of(part, len);
        struct frame frame = {.opcode = 77};
        size_t need = 0;
        struct why why;
        assert_int_equal(frame_take(&in, BODY_MAX, &frame, &need, &why), ERR_OK);
        assert_int_equal(need, len < FRAME_HEADER_BYTES ? FRAME_HEADER_BYTES : out.len);
        assert_int_equal(in.len, len);
        assert_int_equal(frame.opcode, 77);
        free(part);
    }
    buf_fini(&out);
}

static void what_is_no_frame_is_refused(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint8_t byte;
        enum err err;
        const char *why;
    } cases[] = {
        {0, 1, ERR_UNSUPPORTED, "a frame of version 1, not 2"},
        {0, 3, ERR_UNSUPPORTED, "a frame of version 3, not 2"},
        {2, 4, ERR_INVALID, "flags 0x04 of a frame are not known"},
        {2, FRAME_MORE, ERR_INVALID, "a frame says more and is no answer"},
        {3, 1, ERR_INVALID, "reserved bytes of a frame are not zero"},
        {8, 1, ERR_INVALID, "reserved bytes of a frame are not zero"},
        {11, 1, ERR_INVALID, "reserved bytes of a frame are not zero"},
        {14, 4, ERR_LIMIT, "a frame of 1028 bytes, at most 1000 (frame_bytes_max)"},
        {12, 255, ERR_LIMIT, "a frame of 4278190084 bytes, at most 1000 (frame_bytes_max)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out;
        buf_init(&out, 100);
        put(&out, 9, 0, 5, "body");
        out.at[cases[i].at] = cases[i].byte;
        struct slice in = buf_slice(&out);
        struct frame frame;
        size_t need;
        struct why why;
        assert_int_equal(frame_take(&in, BODY_MAX, &frame, &need, &why), cases[i].err);
        assert_string_equal(why.text, cases[i].why);
        buf_fini(&out);
    }
}

static void another_version_is_refused_at_its_first_byte(void **state) {
    (void)state;
    struct slice in = SLICE("G");
    struct frame frame;
    size_t need;
    struct why why;
    assert_int_equal(frame_take(&in, BODY_MAX, &frame, &need, &why), ERR_UNSUPPORTED);
}

static void an_answer_names_its_request(void **state) {
    (void)state;
    struct buf out;
    buf_init(&out, 100);
    put(&out, 9, FRAME_ANSWER, 5, "");
    memset(out.at + 4, 0, 4);
    struct slice in = buf_slice(&out);
    struct frame frame;
    size_t need;
    struct why why;
    assert_int_equal(frame_take(&in, BODY_MAX, &frame, &need, &why), ERR_INVALID);
    assert_panics((void)frame_open(&out, 9, FRAME_ANSWER, 0));
    assert_panics((void)frame_open(&out, 9, FRAME_MORE, 1));
    assert_panics((void)frame_open(&out, 9, 8, 1));
    buf_fini(&out);
}

static void a_full_buffer_stays_full(void **state) {
    (void)state;
    for (size_t max = 0; max <= FRAME_HEADER_BYTES + 4; max++) {
        struct buf out;
        buf_init(&out, max);
        put(&out, 9, 0, 5, "body");
        assert_int_equal(out.full, max < FRAME_HEADER_BYTES + 4);
        buf_fini(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_is_big_endian),
        cmocka_unit_test(frames_follow_each_other),
        cmocka_unit_test(a_part_of_a_frame_asks_for_the_rest),
        cmocka_unit_test(what_is_no_frame_is_refused),
        cmocka_unit_test(another_version_is_refused_at_its_first_byte),
        cmocka_unit_test(an_answer_names_its_request),
        cmocka_unit_test(a_full_buffer_stays_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
