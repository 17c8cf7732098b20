/* titan_test.c: frames of TITAN_PROTO v1 come out as they went in, and what is no such frame is refused. */
#include "test.h"

#include "titan.h"

static void a_frame_is_eight_bytes_and_its_text(void **state) {
    (void)state;
    struct buf out;
    buf_init(&out, 100);
    titan_put(&out, TITAN_KV_GET, SLICE("key"));
    static const uint8_t expected[] = {1, 0x61, 0, 0, 0, 0, 0, 3, 'k', 'e', 'y'};
    assert_int_equal(out.len, sizeof expected);
    assert_memory_equal(out.at, expected, sizeof expected);
    struct slice in = buf_slice(&out);
    struct titan_frame frame;
    size_t need;
    struct why why;
    assert_int_equal(titan_take(&in, 3, &frame, &need, &why), ERR_OK);
    assert_int_equal(need, 0);
    assert_int_equal(frame.opcode, TITAN_KV_GET);
    assert_true(slice_eq(frame.body, SLICE("key")));
    assert_int_equal(in.len, 0);
    buf_fini(&out);
}

static void what_is_not_whole_says_how_much_it_needs(void **state) {
    (void)state;
    static const uint8_t bytes[] = {1, 0x60, 0xff, 0xff, 0, 0, 0, 2, 'a', 'b'};
    for (size_t len = 0; len < sizeof bytes; len++) {
        struct slice in = slice_of(bytes, len);
        struct titan_frame frame;
        size_t need;
        struct why why;
        assert_int_equal(titan_take(&in, 100, &frame, &need, &why), ERR_OK);
        assert_int_equal(need, len < TITAN_HEADER_BYTES ? TITAN_HEADER_BYTES : sizeof bytes);
        assert_int_equal(in.len, len);
    }
}

static void other_versions_and_long_bodies_are_refused(void **state) {
    (void)state;
    struct titan_frame frame;
    size_t need;
    struct why why;
    struct slice other = SLICE("\x02");
    assert_int_equal(titan_take(&other, 100, &frame, &need, &why), ERR_UNSUPPORTED);
    struct slice negative = slice_of("\x01\x04\0\0\xff\xff\xff\xff", 8);
    assert_int_equal(titan_take(&negative, TITAN_BODY_BYTES_MAX, &frame, &need, &why), ERR_LIMIT);
}

static void a_reply_is_an_error_when_its_text_begins_like_one(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint8_t opcode;
    } cases[] = {
        {"", TITAN_ACK},
        {"OK", TITAN_ACK},
        {"ERR", TITAN_ACK},
        {"ERROR: no", TITAN_ERROR},
        {"ERROR_NOT_FOUND", TITAN_ERROR},
        {"UNKNOWN_SERVICE: x", TITAN_ERROR},
        {"SERVER_ERROR: x", TITAN_ERROR},
        {"UPLOAD_FAILED: x", TITAN_ERROR},
        {"DEPLOY_FAILED: x", TITAN_ERROR},
        {"NULL", TITAN_ACK},
        {"NOT_FOUND", TITAN_ACK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out;
        buf_init(&out, 100);
        titan_reply_put(&out, slice_str(cases[i].text));
        assert_int_equal(out.at[1], cases[i].opcode);
        buf_fini(&out);
    }
}

static void opcodes_have_words(void **state) {
    (void)state;
    assert_string_equal(titan_op_word(0x19), "START_SERVICE_ARCHIVE");
    assert_null(titan_op_word(0x58));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_is_eight_bytes_and_its_text),
        cmocka_unit_test(what_is_not_whole_says_how_much_it_needs),
        cmocka_unit_test(other_versions_and_long_bodies_are_refused),
        cmocka_unit_test(a_reply_is_an_error_when_its_text_begins_like_one),
        cmocka_unit_test(opcodes_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
