/* regexp_test.c: patterns of parameters: what fits, what is refused, and that nothing makes them slow. */
#include "test.h"

#include "regexp.h"

static struct regexp read_good(const char *pattern) {
    struct regexp r;
    struct why why = {{0}};
    if (regexp_read(slice_str(pattern), &r, &why) != ERR_OK) fail_msg("%s: %s", pattern, why.text);
    return r;
}

static bool fits(const char *pattern, const char *text) {
    struct regexp r = read_good(pattern);
    uint64_t steps = 0;
    bool is = regexp_fits(&r, slice_str(text), &steps);
    assert_true(steps <= (uint64_t)(r.step_count + r.range_count + 1) * (strlen(text) + 1) * 2);
    return is;
}

static void the_whole_text_fits(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool fits;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"a", "a", true},
        {"a", "ab", false},
        {"a", "ba", false},
        {"^a$", "a", true},
        {"v[0-9]+", "v12", true},
        {"v[0-9]+", "v", false},
        {"v[0-9]+", "v1x", false},
        {"v\\d+\\.\\d+", "v1.20", true},
        {"v\\d+\\.\\d+", "v1x20", false},
        {"a*", "", true},
        {"a*", "aaaa", true},
        {"a?b", "b", true},
        {"a?b", "aab", false},
        {"a|bc|", "bc", true},
        {"a|bc|", "", true},
        {"a|bc|", "ac", false},
        {"(a|b)*c", "ababc", true},
        {"(?:ab)+", "abab", true},
        {"(?:ab)+", "aba", false},
        {"a{3}", "aaa", true},
        {"a{3}", "aa", false},
        {"a{2,}", "a", false},
        {"a{2,}", "aaaaa", true},
        {"a{1,3}", "aaaa", false},
        {"a{0,2}", "", true},
        {"a{0,2}", "aa", true},
        {"a{0,2}", "aaa", false},
        {"a{0}b", "b", true},
        {"(a{1,2}b){2}", "abaab", true},
        {"(a{1,2}b){2}", "aaabab", false},
        {"(a*)*b", "aaab", true},
        {"(a|)+", "aa", true},
        {"()*a", "a", true},
        {"[^abc]", "d", true},
        {"[^abc]", "b", false},
        {"[\\w.-]+", "a_B.9-", true},
        {"[\\w.-]+", "a b", false},
        {"[\\D]+", "ab", true},
        {"[\\D]+", "a1", false},
        {"\\S+\\s\\S+", "a b", true},
        {"\\W", "ä", true},
        {".", "ä", true},
        {"..", "ä", false},
        {".", "\n", false},
        {"[ä-ü]", "ö", true},
        {"\\(\\[\\]\\)", "([])", true},
        {"[-a]", "-", true},
        {"a\\$", "a$", true},
        {"\\t", "\t", true},
        {"(a|b|c|d){2,3}", "dcb", true},
        {"(a|b|c|d){2,3}", "dcba", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (fits(cases[i].pattern, cases[i].text) != cases[i].fits)
            fail_msg("`%s` and `%s`", cases[i].pattern, cases[i].text);
}

static void a_pattern_that_cannot_be_matched_in_time_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *text;
        enum err err;
    } cases[] = {
        {"(a)\\1", "character 5 of the pattern: a backreference cannot be used", ERR_UNSUPPORTED},
        {"(?=a)", "only `(?:` can be used", ERR_UNSUPPORTED},
        {"(?<n>a)", "only `(?:` can be used", ERR_UNSUPPORTED},
        {"\\bx", "an unknown escape", ERR_UNSUPPORTED},
        {"a^b", "`^` and `$` can only stand", ERR_UNSUPPORTED},
        {"*a", "character 1 of the pattern: nothing stands before it", ERR_INVALID},
        {"a**", "character 3 of the pattern: nothing stands before it", ERR_INVALID},
        {"a*?", "nothing stands before it", ERR_INVALID},
        {"a|*", "nothing stands before it", ERR_INVALID},
        {"(", "`(` without its `)`", ERR_INVALID},
        {")", "`)` without its `(`", ERR_INVALID},
        {"[a", "`[` without a set and its `]`", ERR_INVALID},
        {"[]", "`[` without a set and its `]`", ERR_INVALID},
        {"a]", "write a backslash before it", ERR_INVALID},
        {"[z-a]", "a range that is no range", ERR_INVALID},
        {"[a-\\d]", "a range that is no range", ERR_INVALID},
        {"a\\", "a backslash without a character behind it", ERR_INVALID},
        {"a{", "expected a number of repetitions", ERR_INVALID},
        {"a{2", "expected `}`", ERR_INVALID},
        {"a{3,2}", "at most fewer than at least", ERR_INVALID},
        {"a{501}", "more than 500 repetitions", ERR_LIMIT},
        {"((a{100}){100}){100}", "more than 1000 steps", ERR_LIMIT},
        {"(((((((((((((((((((((a)))))))))))))))))))))", "more than 20 groups", ERR_LIMIT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct regexp r;
        struct why why = {{0}};
        enum err e = regexp_read(slice_str(cases[i].pattern), &r, &why);
        if (e != cases[i].err || strstr(why.text, cases[i].text) == NULL)
            fail_msg("%s: %s (%s)", cases[i].pattern, why.text, err_word(e));
    }
}

/* What takes backtracking engines minutes takes as many steps as the text is long. */
static void no_pattern_is_slow(void **state) {
    (void)state;
    static const char *const slow[] = {"(a*)*b", "(a|a)*b", "(a|aa)+b", "(.*)(.*)(.*)(.*)b", "(a?){200}(a){200}"};
    char text[5001];
    memset(text, 'a', 5000);
    text[5000] = 0;
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++) assert_false(fits(slow[i], text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_text_fits),
        cmocka_unit_test(a_pattern_that_cannot_be_matched_in_time_is_refused),
        cmocka_unit_test(no_pattern_is_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
