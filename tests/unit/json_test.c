/* json_test.c: commas, escapes, and text that is not text. */
#include "test.h"

#include <stdio.h>

#include "json.h"
#include "json_tree.h"
#include "limit.h"
#include "utf8.h"

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

/* Texts are looked at eight bytes at a time: each byte, at each place of such a piece, comes back as it was. */
static void each_byte_is_seen_everywhere(void **state) {
    (void)state;
    struct limits limits;
    struct arena arena;
    limits_default(&limits);
    arena_init(&arena, 4096, 65536);
    for (unsigned c = 0; c < 256; c++)
        for (size_t at = 0; at < 24; at++) {
            struct fixture x;
            const struct json_node *node;
            struct why why;
            uint8_t text[24];
            memset(text, 'a', sizeof text);
            text[at] = (uint8_t)c;
            struct slice s = slice_of(text, sizeof text);
            assert_int_equal(utf8_is_valid(s), c < 0x80);
            begin(&x);
            json_text(&x.j, s);
            arena_reset(&arena);
            if (json_tree_read(buf_slice(&x.out), &limits, &arena, &node, &why) != ERR_OK)
                fail_msg("byte %u at %zu: %s", c, at, why.text);
            if (c < 0x80 && !slice_eq(node->text, s)) fail_msg("byte %u at %zu", c, at);
            buf_fini(&x.out);
        }
    arena_fini(&arena);
}

static void numbers_have_all_their_digits(void **state) {
    (void)state;
    struct buf out;
    char text[32];
    buf_init(&out, 64);
    for (uint64_t base = 1, n = 0; n < 20; n++, base *= 10)
        for (uint64_t v = base > 2 ? base - 2 : 0; v < base + 12; v++) {
            buf_clear(&out);
            buf_put_decimal(&out, v);
            snprintf(text, sizeof text, "%llu", (unsigned long long)v);
            if (!slice_eq(buf_slice(&out), slice_str(text))) fail_msg("%s", text);
        }
    buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_are_its_business),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(bad_utf8_is_replaced_byte_by_byte),
        cmocka_unit_test(bytes_as_hex_and_base64),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(each_byte_is_seen_everywhere),
        cmocka_unit_test(numbers_have_all_their_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
