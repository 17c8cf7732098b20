/* test.c: the helpers behind test.h. */
#include "test.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include "hash.h"

#define FILE_WAIT_MS 60000
#define COMMAND_BYTES 4096

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

int test_shell(char *said, size_t said_bytes, const char *format, ...) {
    char command[COMMAND_BYTES];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(command, sizeof command, format, args);
    va_end(args);
    assert_true(len > 0 && (size_t)len < sizeof command);
    FILE *f = popen(command, "re");
    assert_non_null(f);
    said[fread(said, 1, said_bytes - 1, f)] = 0;
    int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int64_t test_mono_us(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t test_mono_ms(void) {
    return test_mono_us() / 1000;
}
