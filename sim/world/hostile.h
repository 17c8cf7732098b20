/* hostile.h: somebody with a good token of a tenant of his own, `mallory`, who means harm. One is a worker: it attaches
 * under the ids of other tenants' workers, with any incarnation, and tells of attempts that are not its own. One is a
 * client: it asks for what is not its tenant's to touch, without ids, again and again, and does not read its answers.
 *
 * What he does must change nothing of anybody else's (check_tenancy.h), and everybody else's promises must hold as if
 * he were not there. He stops when the faults do. */
#ifndef REEVE_HOSTILE_H
#define REEVE_HOSTILE_H

#include "buf.h"
#include "net.h"
#include "rng.h"
#include "wire.h"

struct world;

#define HOSTILE_COUNT 2u /* the worker, the client */
#define HOSTILE_TENANT "mallory"
#define HOSTILE_WORKER "x1" /* principals */
#define HOSTILE_OPERATOR "y1"
#define HOSTILE_VIEWER "z1"

struct hostile {
    struct world *w;
    struct rng rng;
    uint32_t node;
    bool is_worker;
    struct net *net;
    conn_id conn; /* 0 = none */
    bool is_up;   /* the connection came through */
    bool said_hello;
    uint32_t request;
    struct buf out; /* what he says in one go */
};

void hostile_init(struct hostile *h, struct world *w, uint32_t node, bool is_worker, struct rng rng);
void hostile_fini(struct hostile *h);
void hostile_start(struct hostile *h);

#endif
