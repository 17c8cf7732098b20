/* dotenv_test.c: files of NAME=VALUE lines. */
#include "test.h"

#include "dotenv.h"

static struct arena arena;
static struct dotenv_pair pairs[8];
static uint32_t count;
static struct why why;

static enum err read_text(const char *text) {
    count = 0;
    why = (struct why){{0}};
    return dotenv_read(slice_str(text), &arena, 8, pairs, &count, &why);
}

static void is_read(const char *text, const char *name, const char *value) {
    if (read_text(text) != ERR_OK) fail_msg("%s: %s", text, why.text);
    assert_int_equal(count, 1);
    if (!slice_eq(pairs[0].name, slice_str(name)) || !slice_eq(pairs[0].value, slice_str(value)))
        fail_msg("%s: found %.*s=%.*s", text, SLICE_FMT(pairs[0].name), SLICE_FMT(pairs[0].value));
}

static void is_refused(const char *text, const char *words) {
    assert_int_equal(read_text(text), ERR_INVALID);
    assert_has(why.text, words);
}

static void lines_are_names_and_values(void **state) {
    (void)state;
    is_read("DAY=2026-03-31", "DAY", "2026-03-31");
    is_read("# c\n\n  export  DAY = 2026 \r\n", "DAY", "2026");
    is_read("A=", "A", "");
    is_read("A=b=c", "A", "b=c");
    is_read("A=b # why", "A", "b");
    is_read("A=b#c", "A", "b#c");
    is_read("A='a # b $HOME \\n'", "A", "a # b $HOME \\n");
    is_read("A=\"a\\nb \\\"c\\\" \\$d \\x\" # why", "A", "a\nb \"c\" $d \\x");
    is_read("exported=1", "exported", "1");
    is_read("my-day=$HOME", "my-day", "$HOME");
    assert_int_equal(read_text("A=1\nB=2"), ERR_OK);
    assert_int_equal(count, 2);
    assert_int_equal(read_text(""), ERR_OK);
}

static void a_line_that_is_none_is_refused_with_its_number(void **state) {
    (void)state;
    is_refused("A=1\nB", "line 2: expected NAME=VALUE, found `B`");
    is_refused("=1", "line 1: expected NAME=VALUE");
    is_refused("a b=1", "line 1: expected NAME=VALUE");
    is_refused("A='x", "line 1: the value of A has a quote that does not end");
    is_refused("A=\"x\\\"", "line 1: the value of A has a quote that does not end");
    is_refused("A='x' y", "or something behind its quotes");
    assert_int_equal(read_text("a=1\nb=1\nc=1\nd=1\ne=1\nf=1\ng=1\nh=1\ni=1"), ERR_LIMIT);
    assert_has(why.text, "line 9: more than 8 values");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_names_and_values),
        cmocka_unit_test(a_line_that_is_none_is_refused_with_its_number),
    };
    arena_init(&arena, 4096, 1 << 20);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&arena);
    return failed;
}
