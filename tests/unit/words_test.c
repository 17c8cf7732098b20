/* words_test.c: lines of the shell as words, and which of them a history leaves out. */
#include "test.h"

#include <stdio.h>

#include "words.h"

static struct words w;

/* The words, each in brackets; what is wrong behind them. */
static const char *split(const char *line) {
    static char text[2048];
    struct arena a;
    arena_init(&a, 4096, 1 << 20);
    words_split(&w, &a, slice_str(line));
    text[0] = 0;
    for (int i = 0; i < w.count; i++) {
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "[%s]", w.word[i]);
    }
    size_t end = strlen(text);
    if (w.wrong != NULL) snprintf(text + end, sizeof text - end, "%s", w.wrong);
    arena_fini(&a);
    return text;
}

static void words_are_what_a_shell_makes_of_them(void **state) {
    (void)state;
    assert_string_equal(split(""), "");
    assert_string_equal(split("  ls   f11\t-a "), "[ls][f11][-a]");
    assert_string_equal(split("run sh -c 'echo \"a b\"; exit 1'"), "[run][sh][-c][echo \"a b\"; exit 1]");
    assert_string_equal(split("kv set k \"it's \\\"so\\\"\""), "[kv][set][k][it's \"so\"]");
    assert_string_equal(split("a\\ b c''d \"\""), "[a b][cd][]");
    assert_string_equal(split("ls # all of them"), "[ls]");
    assert_string_equal(split("ls a#b"), "[ls][a#b]");
    assert_string_equal(split("run 'open"), "[run][open]missing closing quote");
}

static void the_last_word_may_be_half_typed(void **state) {
    (void)state;
    split("logs f1");
    assert_true(w.is_open && w.last_at == 5);
    split("logs f1 ");
    assert_false(w.is_open);
    split("logs 'f1 x");
    assert_true(w.is_open && w.last_at == 5);
}

static void there_is_a_limit(void **state) {
    (void)state;
    static char line[WORDS_MAX * 2 + 10];
    for (uint32_t i = 0; i < WORDS_MAX + 2; i++) memcpy(line + i * 2, "x ", 2);
    assert_has(split(line), "too many words");
    assert_int_equal(w.count, WORDS_MAX);
}

static void secrets_are_not_kept(void **state) {
    (void)state;
    static const char *const secret[] = {" ls",
                                         "run -e PASSWORD=x -- true",
                                         "kv set db_secret 5",
                                         "run -e API_KEY=1 a",
                                         "run -e GITHUB_TOKEN=abc a",
                                         "run curl -H 'Authorization: Bearer x'"};
    static const char *const plain[] = {"ls", "token new bob", "run -- echo hello", "kv set colour red"};
    for (size_t i = 0; i < sizeof secret / sizeof secret[0]; i++) assert_true(words_are_secret(slice_str(secret[i])));
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) assert_false(words_are_secret(slice_str(plain[i])));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_what_a_shell_makes_of_them),
        cmocka_unit_test(the_last_word_may_be_half_typed),
        cmocka_unit_test(there_is_a_limit),
        cmocka_unit_test(secrets_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
