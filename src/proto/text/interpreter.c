/* interpreter.c: see interpreter.h. */
#include "interpreter.h"

#include <stddef.h>

static const struct interpreter interpreters[] = {
    {".py", {"python3", NULL, NULL}},
    {".sh", {"/bin/sh", NULL, NULL}},
    {".js", {"node", NULL, NULL}},
    {".jar", {"java", "-jar", NULL}},
};

const struct interpreter *interpreter_of(struct slice name) {
    for (size_t i = 0; i < sizeof interpreters / sizeof interpreters[0]; i++) {
        struct slice ending = slice_str(interpreters[i].ending);
        if (name.len > ending.len && slice_eq(slice_of(name.ptr + name.len - ending.len, ending.len), ending))
            return &interpreters[i];
    }
    return NULL;
}
