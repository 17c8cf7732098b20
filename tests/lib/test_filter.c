/* test_filter.c: linked into every test program: with REEVE_TEST_ONLY=PATTERN it runs only the tests whose name fits,
 * where `*` stands for any characters (`make check ONLY=PATTERN`). */
#include <stdlib.h>

#include "test.h"

__attribute__((constructor)) static void test_filter_set(void) {
    const char *pattern = getenv("REEVE_TEST_ONLY");
    if (pattern != NULL && pattern[0] != 0) cmocka_set_test_filter(pattern);
}
