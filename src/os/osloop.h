/* osloop.h: the one loop of a process, on libuv: connections (port/net.h), descriptors, signals, and one timer.
 *
 * Each turn waits for something to happen, calls back everyone whom it concerns, then calls the owner's `pass` once;
 * what the pass and the callbacks sent leaves right after it, one write per connection. Then `next` tells when the
 * owner must be called though nothing happens. There are no periodic wake-ups: an idle process sleeps.
 *
 * All calls are the loop thread's. Whoever frees what a callback refers to takes the callback back first. */
#ifndef REEVE_OSLOOP_H
#define REEVE_OSLOOP_H

#include "err.h"
#include "net.h"
#include "wtime.h"

struct osloop;
struct ostls;

struct osloop_owner {
    void (*pass)(void *ctx);
    mono_time (*next)(void *ctx); /* TIME_NEVER: only when something happens. In the past: at once */
    void *ctx;
};

CHECKED enum err osloop_open(uint32_t connections_max, struct osloop **ret, struct why *why);
void osloop_close(struct osloop *l); /* everything that is open is closed, without further callbacks */
void osloop_own(struct osloop *l, const struct osloop_owner *owner);
void osloop_run(struct osloop *l);  /* until stopped */
void osloop_stop(struct osloop *l); /* after the present turn, when what was sent is out or some seconds passed */

/* ---- connections ---- */

struct net *osloop_net(struct osloop *l);

#define OSLOOP_ADDRESS_MAX 128u
/* "host:port" (a host is a numeric address or localhost; port 0 = any), or "unix:/path", which replaces a socket that
 * nobody listens on. `ret` is what it listens on. */
CHECKED enum err osloop_listen(struct osloop *l, const char *address, const struct net_handler *handler,
                               char ret[OSLOOP_ADDRESS_MAX], struct why *why);
/* The same on a TCP socket that is bound already; whoever bound it keeps a copy. The loop closes this one. */
CHECKED enum err osloop_listen_at(struct osloop *l, int fd, const struct net_handler *handler,
                                  char ret[OSLOOP_ADDRESS_MAX], struct why *why);
void osloop_listen_end(struct osloop *l); /* all of them; connections stay */
/* With it, TCP listeners take TLS as well as plain connections, told apart by the first byte; NULL = plain only. May be
 * replaced at any time, for connections to come. The loop frees it. */
void osloop_tls_server(struct osloop *l, struct ostls *tls);
/* For dials to "tls://host:port". The loop frees it. */
void osloop_tls_client(struct osloop *l, struct ostls *tls);
/* Whether an address can be reached from other machines. False for what is no address. */
bool osloop_is_public(const char *address);

/* ---- descriptors and signals ---- */

typedef struct { uint64_t v; } watch_id; /* 0 = none */

enum osloop_when { OSLOOP_READABLE = 1, OSLOOP_WRITABLE = 2 };

/* `ready` is called while the descriptor is so (level-triggered; an error or a hang-up counts as readable). The
 * descriptor stays the caller's and must not be closed before unwatch. Takes sockets, pipes, pidfds, eventfds. */
CHECKED enum err osloop_watch(struct osloop *l, int fd, unsigned when, void (*ready)(void *ctx, unsigned when),
                              void *ctx, watch_id *ret, struct why *why);
void osloop_watch_set(struct osloop *l, watch_id w, unsigned when); /* 0 = paused */
void osloop_unwatch(struct osloop *l, watch_id w);                  /* fine with 0 */

CHECKED enum err osloop_signal(struct osloop *l, int number, void (*fn)(void *ctx, int number), void *ctx,
                               struct why *why);

#endif
