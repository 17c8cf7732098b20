/* regexp_test.c: patterns of parameters mean what POSIX's extended regular expressions mean, where both have the same
 * signs: random patterns over two letters, each against every text of up to five of them. */
#include "test.h"

#include <regex.h>
#include <stdio.h>

#include "regexp.h"

#define PATTERNS 20000
#define TEXT_MAX 5

struct writing {
    struct test_random random;
    char text[200];
    size_t len;
};

static void put(struct writing *w, const char *text) {
    if (w->len + 10 > sizeof w->text) return; /* it is left out, and so is the pattern */
    w->len += (size_t)snprintf(w->text + w->len, sizeof w->text - w->len, "%s", text);
}

static void write_piece(struct writing *w, uint32_t depth);

static void write_branches(struct writing *w, uint32_t depth) {
    for (uint64_t branches = 1 + test_random_below(&w->random, 2), i = 0; i < branches; i++) {
        if (i > 0) put(w, "|");
        for (uint64_t pieces = 1 + test_random_below(&w->random, 3); pieces > 0; pieces--) write_piece(w, depth);
    }
}

static void write_piece(struct writing *w, uint32_t depth) {
    static const char *const atoms[] = {"a", "b", ".", "[ab]", "[^a]", "[a-b]"};
    static const char *const often[] = {"", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,2}", "{2,}", "{0}"};
    if (depth < 3 && test_random_below(&w->random, 4) == 0) {
        put(w, "(");
        write_branches(w, depth + 1);
        put(w, ")");
    } else {
        put(w, atoms[test_random_below(&w->random, sizeof atoms / sizeof atoms[0])]);
    }
    put(w, often[test_random_below(&w->random, sizeof often / sizeof often[0])]);
}

static void compare(const char *pattern, const regex_t *theirs, const struct regexp *ours) {
    for (uint32_t len = 0; len <= TEXT_MAX; len++)
        for (uint32_t bits = 0; bits < 1u << len; bits++) {
            char text[TEXT_MAX + 1] = "";
            uint64_t steps = 0;
            for (uint32_t i = 0; i < len; i++) text[i] = bits >> i & 1 ? 'b' : 'a';
            bool wanted = regexec(theirs, text, 0, NULL, 0) == 0;
            if (regexp_fits(ours, slice_str(text), &steps) != wanted) fail_msg("`%s` and `%s`", pattern, text);
        }
}

static void patterns_mean_what_posix_says(void **state) {
    (void)state;
    struct writing w;
    uint32_t compared = 0;
    w.random.state = 4711;
    for (int i = 0; i < PATTERNS; i++) {
        char anchored[sizeof w.text + 8];
        regex_t theirs;
        struct regexp ours;
        struct why why = {{0}};
        w.len = 0;
        write_branches(&w, 0);
        if (w.len + 10 > sizeof w.text) continue;
        snprintf(anchored, sizeof anchored, "^(%s)$", w.text);
        if (regcomp(&theirs, anchored, REG_EXTENDED | REG_NOSUB) != 0) continue;
        if (regexp_read(slice_str(w.text), &ours, &why) != ERR_OK) fail_msg("`%s`: %s", w.text, why.text);
        compare(w.text, &theirs, &ours);
        regfree(&theirs);
        compared++;
    }
    assert_true(compared > PATTERNS / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(patterns_mean_what_posix_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
