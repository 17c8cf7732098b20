/* listener.h: a connection to a server that tells of demand for one kind of worker. It dials, says hello, watches; and
 * again, with longer and longer pauses, when it breaks. While nothing changes nothing is said and nobody wakes up: that
 * the other side is still there is the kernel's business (keepalive).
 *
 * Written against ports, like the worker: the loop's owner calls listener_pass after each turn, and again at
 * listener_next. */
#ifndef REEVE_LISTENER_H
#define REEVE_LISTENER_H

#include "clock.h"
#include "net.h"
#include "wire.h"

struct listener_options {
    struct net *net;
    struct clock *clock;
    const char *(*server)(void *ctx); /* before each dial: where it is by now */
    const char *token;                /* NULL: the socket or a certificate vouches */
    const char *tenant;               /* that workers are for; NULL: the token's */
    const char *build;
    struct wire_worker_info kind;
    void (*heard)(void *ctx, const struct wire_demands *m); /* valid during the call */
    void (*lost)(void *ctx);                                /* what was heard last may be so no longer */
    void (*log)(void *ctx, const char *line);
    void *ctx;
};

enum listener_state { LISTENER_DOWN, LISTENER_DIALLING, LISTENER_HELLO, LISTENER_ASKED, LISTENER_UP };

struct listener {
    struct listener_options o;
    enum listener_state state;
    conn_id conn;
    int64_t due_ms; /* down: of the next dial; on the way up: of giving up; up: TIME_NEVER */
    uint32_t failures, request, watch;
    bool was_refused;
    struct buf in;
    struct arena arena; /* of one frame */
};

void listener_init(struct listener *l, const struct listener_options *o);
void listener_fini(struct listener *l);
void listener_pass(struct listener *l);
mono_time listener_next(const struct listener *l);
/* A worker takes nothing new. Lost when the connection breaks: whoever wants it says it again. */
void listener_drain(struct listener *l, struct slice worker);

#endif
