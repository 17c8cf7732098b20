/* curllib.c: see curllib.h. */
#include "curllib.h"

#include <dlfcn.h>

enum err curllib_load(struct curllib *ret, struct why *why) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return why_set(why, ERR_UNSUPPORTED, "this worker cannot make requests: libcurl is not installed (%s)",
                       dlerror());
    bool good = true;
#define X(result, name, arguments)                                \
    *(void **)(void *)&ret->name = dlsym(library, "curl_" #name); \
    good = good && ret->name != NULL;
    CURLLIB_TABLE(X)
#undef X
    good = good && ret->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    return good ? ERR_OK : why_set(why, ERR_UNSUPPORTED, "this worker cannot make requests: its libcurl is too old");
}
