/* json_read_test.c: what is JSON and what is not, what the tokens say, and what a refusal tells. */
#include <stdio.h>

#include "test.h"

#include "json_oracle.h"
#include "json_tree.h"
#include "limit.h"

struct fixture {
    struct limits limits;
    struct arena arena;
    struct why why;
    const struct json_node *root;
};

static void begin(struct fixture *x) {
    *x = (struct fixture){0};
    limits_default(&x->limits);
    arena_init(&x->arena, 1024, (size_t)1 << 24);
}

static enum err read_tree(struct fixture *x, struct slice in) {
    return json_tree_read(in, &x->limits, &x->arena, &x->root, &x->why);
}

/* ---- conformance ---- */

/* clang-format off */
#define T(literal) {(const uint8_t *)(literal), sizeof(literal) - 1}
static const struct slice accepted[] = {
    /* values on their own */
    T("null"), T("true"), T("false"), T("0"), T("\"\""), T("[]"), T("{}"), T(" null "), T("\t\r\n []\n"),
    /* arrays */
    T("[1]"), T("[1,2]"), T("[[]]"), T("[[],[[]],{}]"), T("[null,1,\"1\",{}]"), T("[ 1 , 2 ]"), T("[\"\"]"), T("[1\n,2]"),
    /* objects */
    T("{\"\":0}"), T("{\"a\":1,\"b\":2}"), T("{\"a\":{\"a\":{\"a\":[]}}}"), T("{ \"a\" : 1 , \"b\" : 2 }"),
    T("{\"a\":[{\"a\":1},{\"a\":2}],\"b\":3}"), T("{\"a\":1,\"A\":1,\"a \":1,\"\\u0061b\":1}"), T("{\"a\\u0000b\":0}"),
    /* numbers */
    T("-0"), T("[123]"), T("[-1]"), T("1.5"), T("0.0"), T("-0.25"), T("1e3"), T("1E3"), T("1e+3"), T("1e-3"), T("1.5e10"),
    T("0e1"), T("0e+1"), T("1e00001"), T("123456789012345678901234567890"), T("1e999999"), T("-1e-999999"), T("20e1"),
    T("9007199254740993"), T("18446744073709551615"), T("0.1000000000000000055511151231257827021181583404541015625"),
    /* texts */
    T("\"a\""), T("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), T("\"\\u0061\\u00e9\\u20aC\""), T("\"\\uD83D\\uDe00\""), T("\"\\u0000\""),
    T("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""), T("\"\x7f\""), T("\"\\uffff\""), T("\"\xef\xbf\xbf\""), T("\"\xf4\x8f\xbf\xbf\""),
    T("\"/\""), T("\"\xe2\x80\xa8\""), T("\"\\u2028\""), T("\"\\\\u0000\""), T("\"12345678\\n12345678\""), T("\"// no comment\""),
    T("\"a long plain text that takes the reader eight bytes at a time\""), T("\"\xed\x9f\xbf\xee\x80\x80\""),
};

static const struct slice refused[] = {
    /* nothing, or not one value */
    T(""), T(" "), T("\n"), T("1 2"), T("[] []"), T("{}{}"), T("null,"), T("[]]"), T("{}}"), T("\"\"x"), T("\0"), T("1\0"), T("[]\x01"),
    /* marks and comments */
    T("\xef\xbb\xbf{}"), T("// a\n1"), T("/* a */1"), T("[1/**/]"), T("#\n1"), T("\xff\xfe"), T("\f1"), T("\v1"), T("\xc2\xa0[]"), T("[\xe2\x81\xa0]"),
    /* words */
    T("nul"), T("nulll"), T("NULL"), T("True"), T("tru"), T("fals"), T("falsee"), T("nan"), T("NaN"), T("Infinity"), T("-Infinity"), T("undefined"), T("a"), T("[truth]"),
    /* numbers */
    T("-"), T("+1"), T("01"), T("-01"), T("00"), T("1."), T(".5"), T("-.5"), T("1.e1"), T("1e"), T("1e+"), T("1e1.5"), T("1E-"), T("0x1"), T("1_000"), T("1a"),
    T("--1"), T("1-"), T("- 1"), T("1 000"), T("0e"), T("[1.]"), T("[-]"), T("[1e]"), T("1.5.5"), T("\xef\xbc\x91"), T("1,5"), T("[0 1]"),
    /* texts */
    T("\""), T("\"a"), T("'a'"), T("\"a\nb\""), T("\"a\tb\""), T("\"\0\""), T("\"\x1f\""), T("\"\\x41\""), T("\"\\a\""), T("\"\\'\""), T("\"\\\""), T("\"\\"), T("\"\\u\""),
    T("\"\\u12\""), T("\"\\u123g\""), T("\"\\U0041\""), T("\"\\u 041\""), T("\"\\u+041\""), T("\"\\ud800\""), T("\"\\udc00\""), T("\"\\ud800\\u0041\""), T("\"\\ud800\\ud800\""), T("\"\\ud800\\udc0\""), T("\"\\ud800\\ue000\""),
    T("\"\\ud800x\""), T("\"\\ud800\\n\""), T("\"\\\0\""), T("\"\\\xc3\xa9\""), T("\"\\u00\xc3\xa9\""),
    /* not UTF-8 */
    T("\"\x80\""), T("\"\xc3\""), T("\"\xc3(\""), T("\"\xc0\xaf\""), T("\"\xe0\x80\x80\""), T("\"\xed\xa0\x80\""), T("\"\xf4\x90\x80\x80\""), T("\"\xf8\x88\x80\x80\x80\""), T("\"\xff\""), T("\"\xe2\x82\""),
    T("\xc3\xa9"), T("[\xff]"), T("{\"\xff\":0}"), T("\"12345678\xff\""), T("\"\xc1\x81\""), T("\"\xf0\x80\x80\x80\""),
    /* arrays */
    T("["), T("[1"), T("[1,"), T("[,"), T("[,1]"), T("[1,]"), T("[1,,2]"), T("[1 2]"), T("[1;2]"), T("[1}"), T("]"), T("[\"a\""), T("[[]"), T("[1:2]"), T("[*]"), T("[\"\",]"), T("[{}"),
    /* objects */
    T("{"), T("{\"a\""), T("{\"a\":"), T("{\"a\":1"), T("{\"a\":1,"), T("{\"a\":1,}"), T("{,}"), T("{\"a\"}"), T("{\"a\",1}"), T("{\"a\":}"), T("{\"a\" 1}"), T("{\"a\"::1}"), T("{a:1}"), T("{'a':1}"),
    T("{1:1}"), T("{null:1}"), T("{[]:1}"), T("{\"a\":1 \"b\":2}"), T("{\"a\":1;\"b\":2}"), T("{\"a\":1]"), T("}"), T("{\"a\":1,,\"b\":2}"), T("{:1}"), T("{\"a\":1:2}"), T("{\"a\":b}"), T("{\"a\":1,\"b\"}"),
    /* keys that occur twice, however they are written */
    T("{\"a\":1,\"a\":2}"), T("{\"a\":1,\"b\":2,\"\\u0061\":3}"), T("[{\"x\":{\"\":1,\"\":1}}]"), T("{\"12345678\":0,\"12345678\":0}"),
    T("{\"a\":0,\"b\":0,\"c\":0,\"d\":0,\"e\":0,\"f\":0,\"g\":0,\"h\":0,\"i\":0,\"j\":0,\"k\":0,\"l\":0,\"m\":0,\"n\":0,\"o\":0,\"p\":0,\"q\":0,\"r\":0,\"c\":0}"),
};
/* clang-format on */

static void what_is_json_is_accepted(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        struct fixture x;
        begin(&x);
        if (read_tree(&x, accepted[i]) != ERR_OK) fail_msg("%.*s: %s", SLICE_FMT(accepted[i]), x.why.text);
        arena_fini(&x.arena);
        assert_true(json_oracle_agree(accepted[i]));
    }
}

static void what_is_not_json_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct fixture x;
        begin(&x);
        if (read_tree(&x, refused[i]) != ERR_INVALID) fail_msg("case %zu is accepted: %.*s", i, SLICE_FMT(refused[i]));
        assert_memory_equal(x.why.text, "line ", 5);
        assert_null(x.root);
        arena_fini(&x.arena);
        assert_false(json_oracle_agree(refused[i]));
    }
}

/* Every beginning of a text is refused, unless it is a value already. */
static void a_cut_text_is_refused(void **state) {
    (void)state;
    struct slice text = SLICE("{\"a\":[1.5e3,-0,\"\\u00e9\\ud83d\\ude00\",true,null],\"\xc3\xa9\":{\"b\":false}}");
    for (size_t len = 0; len < text.len; len++) assert_false(json_oracle_agree(slice_of(text.ptr, len)));
    assert_true(json_oracle_agree(text));
}

/* ---- values ---- */

static void escapes_become_utf8(void **state) {
    (void)state;
    struct fixture x;
    begin(&x);
    assert_int_equal(read_tree(&x, SLICE("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u00e9\\u20ac\\ud83d\\ude00z\"")),
                     ERR_OK);
    struct slice expected = SLICE("a\"\\/\b\f\n\r\t\0\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
    assert_true(slice_eq(x.root->text, expected));
    arena_fini(&x.arena);
}

static void a_text_without_escapes_is_not_copied(void **state) {
    (void)state;
    struct fixture x;
    begin(&x);
    struct slice in = SLICE("{\"key\":\"value \xc3\xa9\"}");
    assert_int_equal(read_tree(&x, in), ERR_OK);
    assert_ptr_equal(x.root->first->key.ptr, in.ptr + 2);
    assert_ptr_equal(x.root->first->text.ptr, in.ptr + 8);
    assert_int_equal(x.root->first->text.len, 8);
    arena_fini(&x.arena);
}

static void integers_are_exact(void **state) {
    (void)state;
    int64_t i;
    uint64_t u;
    assert_int_equal(json_number_i64(SLICE("9007199254740993"), &i), ERR_OK); /* 2^53 + 1 is no double */
    assert_int_equal(i, 9007199254740993);
    assert_int_equal(json_number_i64(SLICE("-9223372036854775808"), &i), ERR_OK);
    assert_int_equal(i, INT64_MIN);
    assert_int_equal(json_number_i64(SLICE("9223372036854775807"), &i), ERR_OK);
    assert_int_equal(i, INT64_MAX);
    assert_int_equal(json_number_i64(SLICE("-0"), &i), ERR_OK);
    assert_int_equal(i, 0);
    assert_int_equal(json_number_u64(SLICE("18446744073709551615"), &u), ERR_OK);
    assert_true(u == UINT64_MAX);
    assert_int_equal(json_number_i64(SLICE("9223372036854775808"), &i), ERR_LIMIT);
    assert_int_equal(json_number_i64(SLICE("-9223372036854775809"), &i), ERR_LIMIT);
    assert_int_equal(json_number_u64(SLICE("18446744073709551616"), &u), ERR_LIMIT);
    assert_int_equal(json_number_u64(SLICE("184467440737095516150"), &u), ERR_LIMIT);
    assert_int_equal(json_number_u64(SLICE("-1"), &u), ERR_LIMIT);
    assert_int_equal(json_number_i64(SLICE("1.0"), &i), ERR_INVALID);
    assert_int_equal(json_number_u64(SLICE("1e3"), &u), ERR_INVALID);
    assert_int_equal(json_number_i64(SLICE(""), &i), ERR_INVALID);
}

static void reals_are_the_nearest_double(void **state) {
    (void)state;
    double d;
    assert_int_equal(json_number_f64(SLICE("0.1"), &d), ERR_OK);
    assert_true(d == 0.1);
    assert_int_equal(json_number_f64(SLICE("-2.5e-3"), &d), ERR_OK);
    assert_true(d == -0.0025);
    assert_int_equal(json_number_f64(SLICE("1e309"), &d), ERR_LIMIT);
    assert_int_equal(json_number_f64(SLICE(""), &d), ERR_INVALID);
    assert_int_equal(json_number_f64(SLICE("1x"), &d), ERR_INVALID);
}

static void the_tree_keeps_order_and_places(void **state) {
    (void)state;
    struct fixture x;
    begin(&x);
    struct slice in = SLICE("{\n  \"b\": [1, {}],\n  \"a\": true\n}");
    assert_int_equal(read_tree(&x, in), ERR_OK);
    assert_int_equal(x.root->kind, JSON_OBJECT);
    assert_int_equal(x.root->count, 2);
    const struct json_node *b = x.root->first, *a = b->next;
    assert_null(a->next);
    assert_true(slice_eq(b->key, SLICE("b")));
    assert_int_equal(b->kind, JSON_ARRAY);
    assert_int_equal(b->count, 2);
    assert_int_equal(b->first->kind, JSON_NUMBER);
    assert_false(b->first->is_member);
    assert_int_equal(b->first->next->kind, JSON_OBJECT);
    assert_true(a->truth);
    assert_ptr_equal(json_tree_get(x.root, SLICE("a")), a);
    assert_null(json_tree_get(x.root, SLICE("c")));
    assert_null(json_tree_get(b, SLICE("c")));
    struct json_place place = json_place(in, a->at);
    assert_int_equal(place.line, 3);
    assert_int_equal(place.column, 8);
    place = json_place(in, a->key_at);
    assert_int_equal(place.column, 3);
    arena_fini(&x.arena);
}

static void the_reader_skips_what_nobody_wants(void **state) {
    (void)state;
    struct fixture x;
    begin(&x);
    struct json_read r;
    const struct json_token *t = NULL;
    json_read_init(&r, SLICE("[{\"a\":[1,{\"b\":2}],\"c\":3},[],4]"), &x.limits, &x.arena, &x.why);
    assert_int_equal(json_read_next(&r, &t), ERR_OK);
    assert_int_equal(json_read_next(&r, &t), ERR_OK);
    assert_int_equal(t->kind, JSON_OBJECT);
    assert_int_equal(json_read_skip(&r), ERR_OK);
    assert_int_equal(json_read_next(&r, &t), ERR_OK);
    assert_int_equal(t->kind, JSON_ARRAY);
    assert_int_equal(json_read_skip(&r), ERR_OK);
    assert_int_equal(json_read_next(&r, &t), ERR_OK);
    assert_int_equal(t->kind, JSON_NUMBER);
    assert_int_equal(json_read_next(&r, &t), ERR_OK);
    assert_int_equal(t->kind, JSON_ARRAY_END);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(json_read_next(&r, &t), ERR_OK);
        assert_int_equal(t->kind, JSON_OVER);
    }
    json_read_init(&r, SLICE("[[1,}]"), &x.limits, &x.arena, &x.why);
    assert_int_equal(json_read_next(&r, &t), ERR_OK);
    assert_int_equal(json_read_skip(&r), ERR_INVALID);
    assert_int_equal(json_read_next(&r, &t), ERR_LIMIT); /* of no further use */
    arena_fini(&x.arena);
}

/* ---- refusals ---- */

static void a_refusal_names_place_and_expectation(void **state) {
    (void)state;
    static const struct {
        const char *in, *why;
    } cases[] = {
        {"", "line 1, column 1: expected a value, found the end"},
        {"[1,\n 2,\n x]", "line 3, column 2: expected a value, found 'x'"},
        {"[x", "line 1, column 2: expected a value or ], found 'x'"},
        {"{\"gr\xc3\xbc\xc3\x9f\" 1}", "line 1, column 9: expected a colon after the key, found '1'"},
        {"{\"a\":1\n\"b\":2}", "line 2, column 1: expected a comma or }, found '\"'"},
        {"[1 2]", "line 1, column 4: expected a comma or ], found '2'"},
        {"{\"a\":1,}", "line 1, column 8: expected a key in quotes, found '}'"},
        {"{a", "line 1, column 2: expected a key in quotes or }, found 'a'"},
        {"{} x", "line 1, column 4: expected nothing after the value, found 'x'"},
        {"[01]", "line 1, column 2: expected no leading zero"},
        {"[1.]", "line 1, column 4: expected a digit after the point, found ']'"},
        {"-", "line 1, column 2: expected a digit, found the end"},
        {"1e", "line 1, column 3: expected a digit of the exponent, found the end"},
        {" \"abc", "line 1, column 2: expected a closing quote, found the end"},
        {"\"a\nb\"", "line 1, column 3: expected control characters in a text to be escaped"},
        {"\"a\xff\"", "line 1, column 3: expected UTF-8 in a text"},
        {"\"\\ud800\"", "line 1, column 2: expected both halves of a surrogate pair"},
        {"{\"a\":1,\n \"b\":2,\n \"a\":3}", "line 3, column 2: expected each key of an object once"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture x;
        begin(&x);
        assert_int_equal(read_tree(&x, slice_str(cases[i].in)), ERR_INVALID);
        assert_string_equal(x.why.text, cases[i].why);
        arena_fini(&x.arena);
    }
}

static void the_second_of_equal_keys_is_named(void **state) {
    (void)state;
    char text[4096];
    for (int keys = 2; keys < 60; keys++) {
        struct fixture x;
        begin(&x);
        size_t len = (size_t)snprintf(text, sizeof text, "{");
        for (int i = 0; i < keys; i++) len += (size_t)snprintf(text + len, sizeof text - len, "\"common%d\":0,", i);
        (void)snprintf(text + len, sizeof text - len, "\"common%d\":0}", keys / 2);
        struct why why;
        char expected[80];
        (void)snprintf(expected, sizeof expected, "line 1, column %zu: expected each key", len + 1);
        assert_int_equal(json_tree_read(slice_str(text), &x.limits, &x.arena, &x.root, &why), ERR_INVALID);
        assert_memory_equal(why.text, expected, strlen(expected));
        arena_fini(&x.arena);
    }
}

static void limits_are_kept(void **state) {
    (void)state;
    struct fixture x;
    begin(&x);
    x.limits.json_depth_max = 8;
    assert_int_equal(read_tree(&x, SLICE("[[[[[[[[]]]]]]]]")), ERR_OK);
    assert_int_equal(read_tree(&x, SLICE("[[[[[[[[[]]]]]]]]]")), ERR_LIMIT);
    assert_string_equal(x.why.text, "line 1, column 9: nested too deep (json_depth_max)");
    assert_int_equal(read_tree(&x, SLICE("[[[[[[[{\"a\":{}}]]]]]]]")), ERR_LIMIT);
    x.limits.json_bytes_max = 1024;
    char text[1026];
    memset(text, ' ', sizeof text);
    text[0] = '1';
    assert_int_equal(read_tree(&x, slice_of(text, 1024)), ERR_OK);
    assert_int_equal(read_tree(&x, slice_of(text, 1025)), ERR_LIMIT);
    assert_string_equal(x.why.text, "a JSON text of 1025 bytes, at most 1024 (json_bytes_max)");
    arena_fini(&x.arena);
}

static void a_full_arena_is_a_refusal(void **state) {
    (void)state;
    struct slice in = SLICE("{\"a\":[\"\\n\",\"\\t\",\"\\u00e9\"],\"b\":{\"c\":{\"d\":1}}}");
    bool has_fitted = false;
    for (size_t bytes = 64; bytes < 8192; bytes += 8) {
        struct fixture x;
        begin(&x);
        arena_init(&x.arena, 64, bytes);
        enum err e = read_tree(&x, in);
        assert_true(e == ERR_LIMIT || e == ERR_OK);
        assert_true(e == ERR_OK || !has_fitted);
        has_fitted = e == ERR_OK;
        arena_fini(&x.arena);
    }
    assert_true(has_fitted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_json_is_accepted),
        cmocka_unit_test(what_is_not_json_is_refused),
        cmocka_unit_test(a_cut_text_is_refused),
        cmocka_unit_test(escapes_become_utf8),
        cmocka_unit_test(a_text_without_escapes_is_not_copied),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(reals_are_the_nearest_double),
        cmocka_unit_test(the_tree_keeps_order_and_places),
        cmocka_unit_test(the_reader_skips_what_nobody_wants),
        cmocka_unit_test(a_refusal_names_place_and_expectation),
        cmocka_unit_test(the_second_of_equal_keys_is_named),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(a_full_arena_is_a_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
