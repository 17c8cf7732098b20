/* pattern_test.c: patterns of names, as Redis has them. */
#include "test.h"

#include "pattern.h"

static bool matches(const char *pattern, const char *text) {
    uint64_t steps = 0;
    bool is = pattern_matches(slice_str(pattern), slice_str(text), &steps);
    assert_true(steps <= (strlen(pattern) + 1) * (strlen(text) + 1) * 2);
    return is;
}

static void patterns_match_as_in_redis(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "anything", true},
        {"a*", "abc", true},
        {"a*", "ba", false},
        {"*c", "abc", true},
        {"a*b*c", "axxbyyc", true},
        {"a*b*c", "acb", false},
        {"a?c", "abc", true},
        {"a?c", "ac", false},
        {"h[ae]llo", "hello", true},
        {"h[^e]llo", "hello", false},
        {"h[^e]llo", "hallo", true},
        {"[a-c]x", "bx", true},
        {"[c-a]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"[\\]]", "]", true},
        {"[", "a", false},
        {"[a", "a", true},
        {"a\\", "a\\", true},
        {"**a**", "xxaxx", true},
        {"*ab", "aab", true},
        {"n.*", "n.x", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (matches(cases[i].pattern, cases[i].text) != cases[i].matches)
            fail_msg("%s on %s: %d was expected", cases[i].pattern, cases[i].text, cases[i].matches);
}

/* With a star after each letter, trying every way would take longer than the world has. */
static void no_pattern_is_slow(void **state) {
    (void)state;
    char pattern[1001] = "", text[1001] = "";
    for (int i = 0; i < 500; i++) memcpy(pattern + 2 * i, "*a", 2);
    memset(text, 'a', 1000);
    assert_true(matches(pattern, text));
    text[999] = 'b';
    assert_false(matches(pattern, text));
}

static void the_prefix_is_what_all_matches_begin_with(void **state) {
    (void)state;
    assert_int_equal(pattern_prefix(SLICE("user:*")).len, 5);
    assert_int_equal(pattern_prefix(SLICE("user")).len, 4);
    assert_int_equal(pattern_prefix(SLICE("u[a]")).len, 1);
    assert_int_equal(pattern_prefix(SLICE("u\\*")).len, 1);
    assert_int_equal(pattern_prefix(SLICE("?")).len, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_in_redis),
        cmocka_unit_test(no_pattern_is_slow),
        cmocka_unit_test(the_prefix_is_what_all_matches_begin_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
