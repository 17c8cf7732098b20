/* falseclock.c: see falseclock.h. */
#include "falseclock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

#ifndef FALSECLOCK_SHIM
#define FALSECLOCK_SHIM "build/dev/falseclock.so"
#endif

static char path[64];

void falseclock_set(int64_t ahead_ms) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &ahead_ms, sizeof ahead_ms, 0), sizeof ahead_ms);
    close(fd);
}

void falseclock_begin(void) {
    char options[1024];
    const char *had = getenv("ASAN_OPTIONS");
    snprintf(path, sizeof path, "/tmp/reeve-clock-%s", "XX"
             "XX"
             "XX"); /* mkstemp fills it in */
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    falseclock_set(0);
    /* a sanitizer wants to be the first that is loaded, and has no reason to where nobody takes its functions */
    snprintf(options, sizeof options, "%s%sverify_asan_link_order=0", had != NULL ? had : "", had != NULL ? ":" : "");
    assert_int_equal(setenv("ASAN_OPTIONS", options, 1), 0);
    assert_int_equal(setenv("FALSECLOCK", path, 1), 0);
    assert_int_equal(setenv("LD_PRELOAD", FALSECLOCK_SHIM, 1), 0);
}

void falseclock_end(void) {
    (void)unsetenv("LD_PRELOAD");
    (void)unsetenv("FALSECLOCK");
    (void)unlink(path);
}
