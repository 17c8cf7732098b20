/* test.c: the helpers behind test.h. */
#include "test.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>

#include "hash.h"

#define FILE_WAIT_MS 60000

jmp_buf test_panic_jump;

void test_panic_catch(const char *file, int line, const char *fact) {
    (void)file;
    (void)line;
    (void)fact;
    longjmp(test_panic_jump, 1);
}

uint64_t test_random_next(struct test_random *r) {
    r->state += 0x9e3779b97f4a7c15ULL;
    return hash_mix(r->state);
}

uint64_t test_random_below(struct test_random *r, uint64_t below) {
    REQUIRE(below > 0);
    return test_random_next(r) % below;
}

void assert_has(const char *text, const char *part) {
    if (strstr(text, part) == NULL) fail_msg("`%s` is not in: %s", part, text);
}

void assert_has_not(const char *text, const char *part) {
    if (strstr(text, part) != NULL) fail_msg("`%s` is in: %s", part, text);
}

const char *test_file_line(const char *path) {
    static char text[512];
    for (int ms = 0; ms < FILE_WAIT_MS; ms += 10) {
        FILE *f = fopen(path, "re");
        bool got = f != NULL && fgets(text, sizeof text, f) != NULL && strchr(text, '\n') != NULL;
        if (f != NULL) (void)fclose(f);
        if (got) return text;
        (void)poll(NULL, 0, 10);
    }
    fail_msg("%s does not come", path);
    return NULL;
}
