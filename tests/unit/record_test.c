/* record_test.c: the frame around a record, and records as JSON. */
#include "test.h"

#include "json.h"
#include "record.h"

static void encode(struct buf *out, const struct record *r) {
    buf_init(out, 1 << 20);
    record_encode(r, out);
    assert_false(out->full);
}

static enum err decode(struct slice bytes, struct why *why) {
    struct cursor c = cursor_of(bytes);
    struct record r;
    struct arena arena;
    arena_init(&arena, 1024, 1 << 20);
    enum err e = record_decode(&c, &arena, &r, why);
    arena_fini(&arena);
    return e;
}

static void a_record_has_known_bytes(void **state) {
    (void)state;
    struct record r = {.kind = REC_STARTED, .version = 1};
    r.body.as_REC_STARTED = (struct rec_attempt){.flow = 300, .ordinal = 2, .attempt = 1};
    struct buf out;
    encode(&out, &r);
    /* kind 15, version 1, 7 bytes: tag 4 = 300, tag 5 = 2, tag 6 = 1 */
    const uint8_t expected[] = {15, 1, 7, 4 << 1, 0xac, 0x02, 5 << 1, 2, 6 << 1, 1};
    assert_int_equal(out.len, sizeof expected);
    assert_memory_equal(out.at, expected, sizeof expected);
    buf_fini(&out);
}

/* A message of 128 bytes and more needs a longer length, which is put in afterwards. */
static void a_long_message_has_a_longer_length(void **state) {
    (void)state;
    static char text[4096];
    memset(text, 'x', sizeof text);
    for (size_t len = 110; len < 4096; len += len < 140 ? 1 : 777) {
        struct record r = {.kind = REC_CANCELLED, .version = 1};
        r.body.as_REC_CANCELLED.reason = slice_of(text, len);
        struct buf out;
        encode(&out, &r);
        struct cursor c = cursor_of(buf_slice(&out));
        struct record back;
        struct arena arena;
        arena_init(&arena, 1024, 1 << 20);
        assert_int_equal(record_decode(&c, &arena, &back, NULL), ERR_OK);
        assert_int_equal(back.body.as_REC_CANCELLED.reason.len, len);
        assert_int_equal(cursor_left(&c), 0);
        arena_fini(&arena);
        buf_fini(&out);
    }
}

/* No room: the buffer says so, at whatever byte it ends. */
static void a_full_buffer_says_so_at_every_byte(void **state) {
    (void)state;
    static char text[300];
    struct record r = {.kind = REC_CANCELLED, .version = 1};
    r.body.as_REC_CANCELLED.reason = slice_of(text, 300);
    struct buf whole;
    encode(&whole, &r);
    for (size_t room = 1; room < whole.len; room++) {
        struct buf out;
        buf_init(&out, room);
        record_encode(&r, &out);
        assert_true(out.full);
        buf_fini(&out);
    }
    buf_fini(&whole);
}

static void frames_that_are_no_record_are_refused(void **state) {
    (void)state;
    struct why why;
    const uint8_t unknown[] = {29, 1, 0}, zero[] = {0, 1, 0}, huge[] = {0xff, 0xff, 0x03, 1, 0}, later[] = {15, 2, 0},
                  older[] = {15, 0, 0}, cut[] = {15, 1, 3, 8}, bad[] = {15, 1, 2, 8, 0};
    assert_int_equal(decode(slice_of(NULL, 0), &why), ERR_CORRUPT);
    assert_int_equal(decode(slice_of(unknown, 3), &why), ERR_UNSUPPORTED);
    assert_non_null(strstr(why.text, "record kind 29 is not known"));
    assert_int_equal(decode(slice_of(zero, 3), &why), ERR_UNSUPPORTED);
    assert_int_equal(decode(slice_of(huge, 5), &why), ERR_UNSUPPORTED);
    assert_int_equal(decode(slice_of(later, 3), &why), ERR_UNSUPPORTED);
    assert_non_null(strstr(why.text, "started of version 2"));
    assert_int_equal(decode(slice_of(older, 3), &why), ERR_UNSUPPORTED);
    assert_int_equal(decode(slice_of(cut, 4), &why), ERR_CORRUPT);
    assert_non_null(strstr(why.text, "cut short"));
    assert_int_equal(decode(slice_of(bad, 5), &why), ERR_INVALID); /* a default written out */
    assert_non_null(strstr(why.text, "record started"));
}

static void words_and_tables(void **state) {
    (void)state;
    assert_string_equal(record_word(REC_OPENED), "opened");
    assert_string_equal(record_word(REC_TENANT), "tenant");
    assert_string_equal(record_word(REC_KIND_END), "unknown");
    assert_string_equal(record_word((enum record_kind)0), "unknown");
    assert_null(record_desc((enum record_kind)0));
    assert_null(record_desc(REC_KIND_END));
    struct record r = {.kind = REC_KIND_END, .version = 1};
    struct buf out;
    buf_init(&out, 100);
    assert_panics(record_encode(&r, &out));
    buf_fini(&out);
}

static void a_record_is_shown_as_json(void **state) {
    (void)state;
    struct record r = {.kind = REC_ENDED, .version = 1};
    r.body.as_REC_ENDED = (struct rec_ended){.flow = 7, .attempt = 1, .outcome = OUTCOME_EXIT, .reason = SLICE("no")};
    r.body.as_REC_ENDED.head.principal = SLICE("ann");
    struct buf out;
    struct json j;
    buf_init(&out, 4096);
    json_init(&j, &out);
    json_object(&j);
    record_json(&r, &j);
    json_object_end(&j);
    const char expected[] =
        "{\"kind\":\"ended\",\"principal\":\"ann\",\"flow\":7,\"attempt\":1,\"outcome\":\"exit\",\"reason\":\"no\"}";
    assert_int_equal(out.len, strlen(expected));
    assert_memory_equal(out.at, expected, out.len);
    buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_has_known_bytes),
        cmocka_unit_test(a_long_message_has_a_longer_length),
        cmocka_unit_test(a_full_buffer_says_so_at_every_byte),
        cmocka_unit_test(frames_that_are_no_record_are_refused),
        cmocka_unit_test(words_and_tables),
        cmocka_unit_test(a_record_is_shown_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
