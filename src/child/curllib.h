/* curllib.h: libcurl, loaded when a request is made: nobody else pays for it. */
#ifndef REEVE_CURLLIB_H
#define REEVE_CURLLIB_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "err.h"

/*    result          name              arguments */
#define CURLLIB_TABLE(X)                                                      \
    X(CURLcode,       global_init,      (long))                               \
    X(CURL *,         easy_init,        (void))                               \
    X(CURLcode,       easy_setopt,      (CURL *, CURLoption, ...))            \
    X(CURLcode,       easy_perform,     (CURL *))                             \
    X(CURLcode,       easy_getinfo,     (CURL *, CURLINFO, ...))              \
    X(void,           easy_reset,       (CURL *))                             \
    X(void,           easy_cleanup,     (CURL *))                             \
    X(const char *,   easy_strerror,    (CURLcode))                           \
    X(struct curl_slist *, slist_append, (struct curl_slist *, const char *)) \
    X(void,           slist_free_all,   (struct curl_slist *))                \
    X(CURLU *,        url,              (void))                               \
    X(CURLUcode,      url_set,          (CURLU *, CURLUPart, const char *, unsigned)) \
    X(CURLUcode,      url_get,          (const CURLU *, CURLUPart, char **, unsigned)) \
    X(void,           url_cleanup,      (CURLU *))                            \
    X(void,           free,             (void *))

struct curllib {
#define X(result, name, arguments) result(*name) arguments;
    CURLLIB_TABLE(X)
#undef X
};

CHECKED enum err curllib_load(struct curllib *ret, struct why *why);

#endif
