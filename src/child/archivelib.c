/* archivelib.c: see archivelib.h. */
#include "archivelib.h"

#include <dlfcn.h>

#define LIBRARY "libarchive.so.13"

enum err archivelib_load(struct archivelib *ret, struct why *why) {
    struct archivelib lib;
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return why_set(why, ERR_UNSUPPORTED,
                       "archives need " LIBRARY
                       " on the worker, and it is not there (Debian: apt install libarchive13)");
#define X(name)                                 \
    *(void **)&lib.name = dlsym(handle, #name); \
    if (lib.name == NULL) return why_set(why, ERR_UNSUPPORTED, LIBRARY " is not the library we know: it has no " #name);
    ARCHIVELIB_FUNCTIONS(X)
#undef X
    *ret = lib;
    return ERR_OK;
}
