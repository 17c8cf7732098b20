/* ossecret.c: see ossecret.h. */
#include "ossecret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#ifdef __SANITIZE_ADDRESS__
static void unguard(void) {
    (void)prctl(PR_SET_DUMPABLE, 1); /* the search for leaks at the end traces its own process */
}
#endif

void ossecret_guard(void) {
    (void)prctl(PR_SET_DUMPABLE, 0);
#ifdef __SANITIZE_ADDRESS__
    (void)atexit(unguard);
#endif
}

void ossecret_take(const char *name, char *ret, size_t size) {
    char *value = getenv(name);
    snprintf(ret, size, "%s", value != NULL ? value : "");
    if (value == NULL) return;
    explicit_bzero(value, strlen(value)); /* what /proc shows is this memory */
    (void)unsetenv(name);
}
