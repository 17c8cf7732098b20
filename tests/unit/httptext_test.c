/* Texts of HTTP requests: values and variables stay what they are. */
#include "test.h"

#include "http_text.h"

static const char *get(const char *name) {
    if (strcmp(name, "KEY") == 0) return "a b/\"c\"";
    if (strcmp(name, "BASE") == 0) return "http://x:1/y?z=1";
    if (strcmp(name, "LINES") == 0) return "a\r\nb: c";
    return NULL;
}

static void check(enum http_text_place place, const char *text, const char *gives) {
    struct why why = {{0}};
    struct buf out;
    buf_init(&out, 4096);
    enum err e = http_text_fill(place, slice_str(text), get, &out, &why);
    if (gives[0] == '<') {
        if (e == ERR_OK || strstr(why.text, gives + 1) == NULL) fail_msg("%s: `%s`, not `%s`", text, why.text, gives);
    } else if (e != ERR_OK || !slice_eq(buf_slice(&out), slice_str(gives))) {
        fail_msg("%s: `%.*s` (%s), not `%s`", text, SLICE_FMT(buf_slice(&out)), why.text, gives);
    }
    buf_fini(&out);
}

static void variables_are_filled_in_as_their_place_wants_them(void **state) {
    (void)state;
    check(HTTP_TEXT_URL, "http://h/${KEY}", "http://h/a%20b%2F%22c%22");
    check(HTTP_TEXT_URL, "${BASE}&k=${KEY}", "http://x:1/y?z=1&k=a%20b%2F%22c%22");
    check(HTTP_TEXT_HEADER, "Bearer ${KEY}", "Bearer a b/\"c\"");
    check(HTTP_TEXT_JSON, "{\"k\":\"${KEY}\"}", "{\"k\":\"a b/\\\"c\\\"\"}");
    check(HTTP_TEXT_BODY, "=${LINES}", "=a\r\nb: c");
}

static void what_is_no_variable_stays(void **state) {
    (void)state;
    static const char *const same[] = {"", "$", "${", "${}", "${key}", "${1A}", "${KEY", "$ {KEY}", "{KEY}", "a$"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) check(HTTP_TEXT_BODY, same[i], same[i]);
    check(HTTP_TEXT_BODY, "$${KEY} $$$$ $$${KEY}", "${KEY} $$ $a b/\"c\"");
}

static void headers_have_one_line(void **state) {
    (void)state;
    check(HTTP_TEXT_HEADER, "${LINES}", "<${LINES}: it has control characters");
    check(HTTP_TEXT_URL, "${LINES}", "<control characters");
    check(HTTP_TEXT_HEADER, "${NOT_THERE}", "<${NOT_THERE}: there is no such variable");
}

static void what_was_made_still_is_filled_in_to_itself(void **state) {
    (void)state;
    static const char *const texts[] = {"${KEY}", "$", "$$", "$${KEY}$", "a"};
    struct arena arena;
    arena_init(&arena, 4096, 1 << 20);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct slice still = http_text_still(slice_str(texts[i]), &arena);
        check(HTTP_TEXT_BODY, (const char *)still.ptr, texts[i]); /* arenas are zeroed: it ends */
    }
    arena_fini(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_filled_in_as_their_place_wants_them),
        cmocka_unit_test(what_is_no_variable_stays),
        cmocka_unit_test(headers_have_one_line),
        cmocka_unit_test(what_was_made_still_is_filled_in_to_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
