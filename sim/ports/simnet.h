/* simnet.h: connections between the nodes of a world, behind port/net.h, on a network that delays, cuts, breaks and
 * loses.
 *
 * A connection is two streams of bytes. Within one, bytes arrive in order, without gaps and once, in pieces of any
 * size: what is lost is lost with everything behind it, and the connection is then broken. An end learns of that
 * later, or only by what it does not hear. A partition holds bytes back until it heals, as retransmission does. Bytes
 * for a process that stands still wait; those for one that died are answered with a reset, once its machine is back.
 *
 * Node 0 is the server, the only one that accepts. Handlers are called from events, never from inside a call; after
 * each, the owner's `wake` is called. */
#ifndef REEVE_SIMNET_H
#define REEVE_SIMNET_H

#include "net.h"
#include "rng.h"
#include "vec.h"

struct world;
struct simlink;
struct simnet;

#define NET_NODES_MAX 14u
#define NET_SERVER 0u

struct simnode {
    struct net net; /* first: what the port gives back */
    struct simnet *n;
    uint32_t number;
    bool up;                     /* its process exists */
    int64_t still_until_us;      /* it stands still: nothing is heard before */
    struct net_handler acceptor; /* of the server */
    void (*wake)(void *ctx);     /* something was heard: a pass is due */
    void *ctx;
};

struct simnet {
    struct world *w;
    struct rng rng;
    struct vec links; /* of struct simlink *; the number of a connection is its place + 1 */
    struct vec live;  /* of uint32_t: places of those that are not over */
    bool cut[NET_NODES_MAX][NET_NODES_MAX]; /* from, to */
    struct simnode nodes[NET_NODES_MAX];
};

void simnet_init(struct simnet *n, struct world *w, struct rng rng);
void simnet_fini(struct simnet *n);
struct net *simnet_port(struct simnet *n, uint32_t node, void (*wake)(void *ctx), void *ctx);
uint32_t simnet_node_of(const struct simnet *n, conn_id c); /* that dialled */
/* The process at a node is there, or gone with its connections: its peers are told by the kernel of its machine, or,
 * when that is gone too, by nobody. */
void simnet_up(struct simnet *n, uint32_t node);
void simnet_down(struct simnet *n, uint32_t node, bool told);
void simnet_part(struct simnet *n); /* cuts some nodes off, in one direction or both */
void simnet_heal(struct simnet *n);
void simnet_calm(struct simnet *n); /* what is broken is noticed now */

#endif
