/* serve_forward.h: the audit trail is handed on while the server runs: the child that does it (forward_child.h) is
 * started, told how far the journal is durable, and started again when it ends. The server hears how far it is. */
#ifndef REEVE_SERVE_FORWARD_H
#define REEVE_SERVE_FORWARD_H

#include "osforward.h"
#include "server.h"
#include "settings.h"
#include "wtime.h"

struct serve_forward {
    struct osloop *loop;
    struct server *server;
    struct osforward *child; /* NULL: none runs */
    char kept[SETTING_TEXT_MAX + 32];
    const char *args[OSFORWARD_ARGS];
    uint64_t told_lsn;
    int64_t told_ms, again_ms;
    bool is_on, has_ended;
    void (*log)(void *ctx, enum server_level level, const char *what, const char *text);
    void *log_ctx;
    bool is_bad;
};

CHECKED enum err serve_forward_check(const struct settings *s, struct why *why);
/* Nothing, when the setting names no target or no other process can read the journal. */
void serve_forward_open(struct serve_forward *f, const struct settings *s, const char *locator);
void serve_forward_pass(struct serve_forward *f);
mono_time serve_forward_next(const struct serve_forward *f);
void serve_forward_close(struct serve_forward *f); /* before the loop */

#endif
