/* resp_test.c: commands of RESP in any pieces, what is refused, replies of both versions. */
#include "test.h"

#include "resp.h"

static struct resp_in in;
static struct why why;
static const struct resp_rules rules = {.args_max = 4, .bulk_bytes_max = 100, .lines = true};

static int setup(void **state) {
    (void)state;
    resp_in_init(&in);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    resp_in_fini(&in);
    return 0;
}

static struct slice arg(uint32_t i) {
    assert_true(i < in.args.count);
    return *(struct slice *)vec_at(&in.args, i);
}

static void assert_arg(uint32_t i, struct slice wanted) {
    assert_int_equal(arg(i).len, wanted.len);
    assert_memory_equal(arg(i).ptr, wanted.ptr, wanted.len);
}

/* Byte by byte: nothing before the last, and then all of it. */
static void take_slowly(struct slice text, uint32_t count) {
    size_t used = 0;
    for (size_t len = 0; len < text.len; len++) {
        assert_int_equal(resp_take(&in, slice_of(text.ptr, len), &rules, &used, &why), RESP_MORE);
        assert_int_equal(used, 0);
    }
    assert_int_equal(resp_take(&in, text, &rules, &used, &why), RESP_COMMAND);
    assert_int_equal(used, text.len);
    assert_int_equal(in.args.count, count);
}

static void an_array_may_come_byte_by_byte(void **state) {
    (void)state;
    take_slowly(SLICE("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$5\r\n\r\n\0\xff*\r\n"), 3);
    assert_arg(0, SLICE("SET"));
    assert_arg(1, SLICE(""));
    assert_arg(2, SLICE("\r\n\0\xff*"));
    take_slowly(SLICE("*1\r\n$4\r\nPING\r\n"), 1);
}

static void a_line_may_come_byte_by_byte(void **state) {
    (void)state;
    take_slowly(SLICE("  set k \"a \\x41\\n\\\"\\q\" 'it\\'s \\n'\r\n"), 4);
    assert_arg(0, SLICE("set"));
    assert_arg(2, SLICE("a A\n\"q"));
    assert_arg(3, SLICE("it's \\n"));
    take_slowly(SLICE("ping\n"), 1);
    resp_in_fini(&in); /* words that are all empty need no memory */
    resp_in_init(&in);
    take_slowly(SLICE("'' \"\"\r\n"), 2);
    assert_arg(1, SLICE(""));
}

static void nothing_asked_is_a_command_without_words(void **state) {
    (void)state;
    take_slowly(SLICE("*0\r\n"), 0);
    take_slowly(SLICE("*-1\r\n"), 0);
    take_slowly(SLICE("\r\n"), 0);
    take_slowly(SLICE("   \n"), 0);
}

static void only_the_first_command_is_taken(void **state) {
    (void)state;
    struct slice text = SLICE("*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n");
    size_t used = 0;
    assert_int_equal(resp_take(&in, text, &rules, &used, &why), RESP_COMMAND);
    assert_arg(0, SLICE("a"));
    text = slice_of(text.ptr + used, text.len - used);
    assert_int_equal(resp_take(&in, text, &rules, &used, &why), RESP_COMMAND);
    assert_arg(0, SLICE("b"));
    assert_int_equal(used, text.len);
}

/* Refused with these words, whatever came before the byte that is wrong. */
static void refuses(struct slice text, const struct resp_rules *by, const char *words) {
    struct resp_in fresh;
    size_t used = 0;
    resp_in_init(&fresh);
    assert_int_equal(resp_take(&fresh, text, by, &used, &why), RESP_BAD);
    assert_string_equal(why.text, words);
    resp_in_fini(&fresh);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    static char long_line[RESP_LINE_BYTES_MAX + 1];
    const struct resp_rules strict = {.args_max = 4, .bulk_bytes_max = 100};
    memset(long_line, 'x', sizeof long_line);
    refuses(SLICE("*5\r\n"), &rules, "ERR Protocol error: invalid multibulk length");
    refuses(SLICE("*99999999999999999999\r\n"), &rules, "ERR Protocol error: invalid multibulk length");
    refuses(SLICE("*\r\n"), &rules, "ERR Protocol error: invalid multibulk length");
    refuses(SLICE("*--1\r\n"), &rules, "ERR Protocol error: invalid multibulk length");
    refuses(SLICE("*1\rx"), &rules, "ERR Protocol error: invalid multibulk length");
    refuses(SLICE("*000000000000000000000000000000000001\r\n"), &rules,
            "ERR Protocol error: too big mbulk count string");
    refuses(SLICE("*1\r\nx"), &rules, "ERR Protocol error: expected '$', got 'x'");
    refuses(SLICE("*1\r\n\x01"), &rules, "ERR Protocol error: expected '$', got '?'");
    refuses(SLICE("*1\r\n$101\r\n"), &rules, "ERR Protocol error: invalid bulk length");
    refuses(SLICE("*1\r\n$-1\r\n"), &rules, "ERR Protocol error: invalid bulk length");
    refuses(SLICE("*1\r\n$000000000000000000000000000000000001\r\n"), &rules,
            "ERR Protocol error: too big bulk count string");
    refuses(SLICE("*1\r\n$1\r\nab\r\n"), &rules, "ERR Protocol error: a string does not end where it says");
    refuses(SLICE("a 'b\r\n"), &rules, "ERR Protocol error: unbalanced quotes in request");
    refuses(SLICE("a \"b\"c\r\n"), &rules, "ERR Protocol error: unbalanced quotes in request");
    refuses(SLICE("a b c d e\r\n"), &rules, "ERR Protocol error: invalid multibulk length");
    refuses(slice_of(long_line, sizeof long_line), &rules, "ERR Protocol error: too big inline request");
    refuses(SLICE("PING\r\n"), &strict,
            "ERR Protocol error: a command begins with '*': lines of words are for the listener of --resp-listen");
}

static void replies_are_of_the_version_asked_for(void **state) {
    (void)state;
    static const struct slice wanted[] = {
        SLICE("+OK\r\n-ERR a b\r\n:-9223372036854775808\r\n:0\r\n$3\r\na\r\n\r\n$1\r\nt\r\n$1\r\nv\r\n$-1\r\n*-1\r\n"
              "*2\r\n*4\r\n*3\r\n*10\r\n"),
        SLICE("+OK\r\n-ERR a b\r\n:-9223372036854775808\r\n:0\r\n$3\r\na\r\n\r\n$1\r\nt\r\n=5\r\ntxt:v\r\n_\r\n_\r\n"
              "*2\r\n%2\r\n~3\r\n>10\r\n")};
    for (uint8_t version = 2; version <= 3; version++) {
        struct buf out;
        buf_init(&out, 4096);
        struct resp_out o = {&out, version};
        resp_simple(&o, "OK");
        resp_errorf(&o, "ERR a\n%s", "b"); /* a line must not end early */
        resp_number(&o, INT64_MIN);
        resp_number(&o, 0);
        resp_bulk(&o, SLICE("a\r\n"));
        resp_text(&o, "t");
        resp_verbatim(&o, SLICE("v"));
        resp_nil(&o);
        resp_nil_array(&o);
        resp_array(&o, 2);
        resp_map(&o, 2);
        resp_set(&o, 3);
        resp_push(&o, 10);
        assert_int_equal(out.len, wanted[version - 2].len);
        assert_memory_equal(out.at, wanted[version - 2].ptr, out.len);
        buf_fini(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_array_may_come_byte_by_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(a_line_may_come_byte_by_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_asked_is_a_command_without_words, setup, teardown),
        cmocka_unit_test_setup_teardown(only_the_first_command_is_taken, setup, teardown),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(replies_are_of_the_version_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
