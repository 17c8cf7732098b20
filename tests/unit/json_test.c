/* json_test.c: commas, escapes, and text that is not text. */
#include "test.h"

#include "json.h"

struct fixture {
    struct buf out;
    struct json j;
};

static void begin(struct fixture *x) {
    buf_init(&x->out, 4096);
    json_init(&x->j, &x->out);
}

static void end(struct fixture *x, const char *expected) {
    assert_int_equal(x->out.len, strlen(expected));
    assert_memory_equal(x->out.at, expected, x->out.len);
    assert_int_equal(x->j.depth, 0);
    buf_fini(&x->out);
}

static void commas_are_its_business(void **state) {
    (void)state;
    struct fixture x;
    begin(&x);
    json_object(&x.j);
    json_key(&x.j, "a");
    json_u64(&x.j, UINT64_MAX);
    json_key(&x.j, "b");
    json_array(&x.j);
    json_i64(&x.j, -1);
    json_bool(&x.j, true);
    json_null(&x.j);
    json_array(&x.j);
    json_array_end(&x.j);
    json_object(&x.j);
    json_object_end(&x.j);
    json_array_end(&x.j);
    json_key(&x.j, "c");
    json_bool(&x.j, false);
    json_object_end(&x.j);
    end(&x, "{\"a\":18446744073709551615,\"b\":[-1,true,null,[],{}],\"c\":false}");
}

static void text_is_escaped(void **state) {
    (void)state;
    struct fixture x;
    begin(&x);
    json_text(&x.j, SLICE("a\"b\\c\n\r\t\x01\x1f\x7f/\xc3\xa9"));
    end(&x, "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u001f\x7f/\xc3\xa9\"");
}

#define BAD "\xef\xbf\xbd"

static void bad_utf8_is_replaced_byte_by_byte(void **state) {
    (void)state;
    static const struct {
        struct slice in;
        const char *out;
    } cases[] = {
        {{(const uint8_t *)"\xff", 1}, "\"" BAD "\""},
        {{(const uint8_t *)"a\x80z", 3}, "\"a" BAD "z\""},
        {{(const uint8_t *)"\xc3", 1}, "\"" BAD "\""},                         /* cut */
        {{(const uint8_t *)"\xc0\xaf", 2}, "\"" BAD BAD "\""},                 /* overlong */
        {{(const uint8_t *)"\xed\xa0\x80", 3}, "\"" BAD BAD BAD "\""},         /* a surrogate */
        {{(const uint8_t *)"\xf4\x90\x80\x80", 4}, "\"" BAD BAD BAD BAD "\""}, /* too large */
        {{(const uint8_t *)"\xf0\x9f\x98\x80", 4}, "\"\xf0\x9f\x98\x80\""},    /* fine */
        {{NULL, 0}, "\"\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture x;
        begin(&x);
        json_text(&x.j, cases[i].in);
        end(&x, cases[i].out);
    }
}

static void bytes_as_hex_and_base64(void **state) {
    (void)state;
    struct fixture x;
    begin(&x);
    json_array(&x.j);
    json_hex(&x.j, SLICE("\x00\xff\x1a"));
    json_base64(&x.j, SLICE(""));
    json_base64(&x.j, SLICE("f"));
    json_base64(&x.j, SLICE("fo"));
    json_base64(&x.j, SLICE("foo"));
    json_base64(&x.j, SLICE("\xff\xef\xfe"));
    json_array_end(&x.j);
    end(&x, "[\"00ff1a\",\"\",\"Zg==\",\"Zm8=\",\"Zm9v\",\"/+/+\"]");
}

static void depth_is_bounded(void **state) {
    (void)state;
    struct fixture x;
    begin(&x);
    for (int i = 0; i < JSON_DEPTH_MAX; i++) json_array(&x.j);
    assert_panics(json_array(&x.j));
    for (int i = 0; i < JSON_DEPTH_MAX; i++) json_array_end(&x.j);
    assert_panics(json_array_end(&x.j));
    buf_fini(&x.out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_are_its_business),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(bad_utf8_is_replaced_byte_by_byte),
        cmocka_unit_test(bytes_as_hex_and_base64),
        cmocka_unit_test(depth_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
