/* hook.h: a command of the user's that is told something, as JSON on its standard input. One at a time, at most once a
 * second; what is to be told meanwhile is told when it has ended, once. When it fails, or takes too long and is killed,
 * it is told again after a wait that doubles. */
#ifndef REEVE_HOOK_H
#define REEVE_HOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "slice.h"

struct hook {
    const char *command; /* for /bin/sh -c */
    int64_t timeout_ms;
    void (*log)(const char *line);
    bool is_due;         /* there is something to tell */
    bool is_killed;
    pid_t pid;           /* 0: none runs */
    int64_t started_ms, again_ms, wait_ms;
};

/* Whether it would be started now: the owner then gathers what is to be told. */
bool hook_is_ready(const struct hook *h, int64_t now_ms);
void hook_start(struct hook *h, struct slice text, int64_t now_ms);
void hook_pass(struct hook *h, int64_t now_ms); /* ends what takes too long */
int64_t hook_next(const struct hook *h);        /* when something is due; TIME_NEVER */
/* A child ended: was it the hook? */
bool hook_ended(struct hook *h, pid_t pid, int status, int64_t now_ms);
void hook_end(struct hook *h); /* kills it */

#endif
