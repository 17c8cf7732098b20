/* forward_target.h: where the audit trail goes: a file that grows, or a server that takes pages by POST. */
#ifndef REEVE_FORWARD_TARGET_H
#define REEVE_FORWARD_TARGET_H

#include <stdint.h>

#include "curllib.h"
#include "err.h"

/* What the setting may say: file:/PATH, https://…, or http:// of this machine. */
CHECKED enum err forward_target_check(const char *target, struct why *why);

#define FORWARD_HEADERS_MAX 16u
#define FORWARD_HEADER_BYTES 1024u

struct forward_target {
    const char *url;
    const char *path; /* of a file; NULL = it is a server */
    int fd;
    struct curllib lib;
    CURL *curl;
    char headers[FORWARD_HEADERS_MAX][FORWARD_HEADER_BYTES];
    uint32_t header_count;
    size_t answered; /* bytes of an answer, which nobody reads */
};

/* The texts stay the caller's. It is open until the process ends. */
CHECKED enum err forward_target_open(const char *target, const char *headers, struct forward_target *t,
                                     struct why *why);
/* ERR_OK: it is there, durable as far as the target says. Else nothing of it is, and it may be tried again. */
CHECKED enum err forward_target_put(struct forward_target *t, struct slice lines, uint64_t last_lsn, struct why *why);

#endif
