/* panic.c: the last words of the process. Uses nothing that could fail again: no allocation, no buffered streams. */
#include "panic.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static panic_hook hook_active;

void panic_hook_set(panic_hook hook) {
    hook_active = hook;
}

_Noreturn void panic(const char *file, int line, const char *fact) {
    panic_hook hook = hook_active;
    hook_active = NULL; /* a panic inside the hook must not come back here */
    if (hook) hook(file, line, fact);

    char text[512];
    int len = snprintf(text, sizeof text, "reeve: panic at %s:%d: %s\n", file, line, fact);
    if (len > 0) {
        size_t bytes = (size_t)len < sizeof text ? (size_t)len : sizeof text - 1;
        ssize_t written = write(STDERR_FILENO, text, bytes);
        (void)written; /* nobody is left to tell */
    }
    abort();
}
