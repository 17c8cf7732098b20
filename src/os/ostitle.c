/* ostitle.c: see ostitle.h. The kernel shows the memory in which it put the arguments; the environment follows it
 * there, and it reads on into that when the last byte of the arguments is not the zero that was there. */
#include "ostitle.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char *area;
static size_t area_bytes, args_bytes; /* args_bytes: of the arguments, its beginning */

static void extend(char **list) {
    for (; *list != NULL; list++)
        if (*list == area + area_bytes) area_bytes += strlen(*list) + 1;
}

void ostitle_init(int argc, char **argv, char **environment) {
    if (argc < 1) return;
    area = argv[0];
    extend(argv);
    args_bytes = area_bytes;
    extend(environment);
}

void ostitle_set(const char *format, ...) {
    va_list args;
    if (area_bytes == 0) return;
    memset(area, 0, args_bytes);
    va_start(args, format);
    (void)vsnprintf(area, area_bytes, format, args);
    va_end(args);
}
