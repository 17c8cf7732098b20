/* serve_titan_peers.h: Titan's own workers (titan_worker/titan_peers.h) beside the server of this process. */
#ifndef REEVE_SERVE_TITAN_PEERS_H
#define REEVE_SERVE_TITAN_PEERS_H

#include "titan_peers.h"

struct osloop;
struct server;

struct serve_titan_peers {
    struct server *server;
    const char *data; /* directory of the server: each of them has one below it */
    void (*log)(void *ctx, const char *line);
    void *log_ctx;
};

/* `address` is where the server listens, for their agents; what it points to stays. */
struct titan_peers *serve_titan_peers_open(struct serve_titan_peers *p, struct osloop *loop, const char *address,
                                           const char *tenant, const char *build, const struct limits *limits);

#endif
