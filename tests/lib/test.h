/* test.h: what every test program includes first: cmocka, and a way to expect a panic. */
#ifndef REEVE_TEST_H
#define REEVE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "panic.h"

extern jmp_buf test_panic_jump;
void test_panic_catch(const char *file, int line, const char *fact);

/* Fails unless the statement panics. Memory held by the statement itself may be lost. */
#define assert_panics(statement)                  \
    do {                                          \
        panic_hook_set(test_panic_catch);         \
        if (setjmp(test_panic_jump) == 0) {       \
            statement;                            \
            panic_hook_set(NULL);                 \
            fail_msg("no panic: %s", #statement); \
        }                                         \
    } while (0)

void assert_has(const char *text, const char *part);
void assert_has_not(const char *text, const char *part);

/* Waits until the file has a whole line, up to a minute; the line, in a buffer of its own. */
const char *test_file_line(const char *path);

/* Runs a command (printf's format) in a shell. What it prints is in `said`, cut to fit and terminated. Returns its exit
 * code, or -1 when it was killed. */
int test_shell(char *said, size_t said_bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));

int64_t test_mono_us(void); /* of the monotonic clock */
int64_t test_mono_ms(void);

/* A small generator for tests: the same seed gives the same test. */
struct test_random {
    uint64_t state;
};
uint64_t test_random_next(struct test_random *r);
uint64_t test_random_below(struct test_random *r, uint64_t below);

#endif
