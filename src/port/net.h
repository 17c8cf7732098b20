/* net.h: streams of bytes to and from peers, as a loop offers them.
 *
 * Two implementations: os/ (libuv, with TLS) and sim/ (a network that loses, delays and parts). A connection is a
 * number that is never used again. All calls are the loop thread's and none of them waits: what is given to `send` is
 * copied and goes out as the peer takes it; who sends watches `unsent`. A handler is never called from inside one of
 * the calls, so its owner needs no guard against itself. */
#ifndef REEVE_NET_H
#define REEVE_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "slice.h"

typedef struct {
    uint64_t v;
} conn_id; /* 0 = none */

struct net_peer {
    const char *address; /* for people: "127.0.0.1:40122", "unix:1000" */
    bool is_local;       /* a Unix socket: `uid` is what the kernel says */
    uint32_t uid;
    bool is_of_job; /* a Unix socket: a job of this machine connected it, or that cannot be told */
    bool is_tls;
    struct slice certified; /* name in the client's certificate, which was checked; empty = it gave none */
    struct slice certified_role, certified_tenant; /* that the certificate says it is for; empty = it says none */
};

/* What the owner of connections hears, in order for each of them: opened, received and drained, closed. */
struct net_handler {
    void (*opened)(void *ctx, conn_id c, const struct net_peer *peer); /* accepted, or a dial that came through */
    void (*received)(void *ctx, conn_id c, struct slice bytes);        /* valid during the call */
    void (*drained)(void *ctx, conn_id c);                             /* everything that `unsent` told of is out */
    void (*closed)(void *ctx, conn_id c, const char *why); /* by the peer or by failure (a dial's too), not by us */
    void *ctx;
};

struct net {
    const struct net_ops *ops;
};

struct net_ops {
    /* "host:port", "tls://host:port" or "unix:/path". The result comes as `opened` or `closed`. */
    conn_id (*dial)(struct net *n, const char *address, const struct net_handler *handler);
    void (*send)(struct net *n, conn_id c, struct slice bytes);
    uint64_t (*unsent)(struct net *n, conn_id c);     /* bytes given to send and not yet taken by the peer */
    void (*pause)(struct net *n, conn_id c, bool on); /* while on, nothing is read: the peer feels it */
    void (*close)(struct net *n, conn_id c);          /* when what was sent is out, at the latest after some seconds */
    /* A TCP port of this machine that nobody listens at; 0 = none is left. No other worker of this machine gets it
     * until it is given back, or we end. */
    uint32_t (*take_port)(struct net *n);
    void (*give_port)(struct net *n, uint32_t port);
    /* A number for the sockets that listen at a TCP port of this machine: the same as long as they are the same ones.
     * 0 = there are none, or that cannot be told. */
    uint64_t (*listeners)(struct net *n, uint32_t port);
};

#endif
