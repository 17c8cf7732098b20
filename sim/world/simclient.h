/* simclient.h: a client: submits flows, meddles with everything that can be meddled with, reads, and remembers
 * what it was told (by way of the adapter, which judges every answer that arrives).
 *
 * A client has one request under way. When no answer comes it sends the same again, with the same idempotency key, or
 * gives up; at times it uses a key again for something else, which must be refused. The last client of a world is the
 * *house*: it answers questions, and when the faults are over it sees to it that nothing waits for a person. */
#ifndef REEVE_SIMCLIENT_H
#define REEVE_SIMCLIENT_H

#include "rng.h"
#include "simpeer.h"

struct world;

#define CLIENT_DEAD_MAX 16u
#define CLIENT_PEOPLE 6u /* p1, p2, …: who answer questions beside clients */

struct simclient {
    struct world *w;
    struct rng rng;
    struct rng side;  /* for what came later than the first seeds */
    struct rng words; /* for words about what is done outside */
    struct rng identity_rng;
    uint32_t links, tokens; /* made by the house */
    uint32_t node;
    bool is_house;
    uint64_t request;
    uint32_t limits_set; /* limits it has changed at the beginning */
    struct msg *asking;  /* under way */
    uint32_t sent_count; /* how often */
    int64_t sent_us;
    struct msg *last_submit;               /* for a key used twice */
    struct seen_job dead[CLIENT_DEAD_MAX]; /* dead letters it read about */
    uint32_t dead_count;
    uint32_t round;   /* of the house */
    struct vec peers; /* of struct simpeer *: a connection for each name and tenant it acts for */
    struct rng store_rng;
    struct rng expand_rng;      /* what is about foreach jobs */
    uint64_t store_versions[8]; /* of each key of simstore, the last that was told */
};

void simclient_init(struct simclient *c, struct world *w, uint32_t node, bool is_house, struct rng rng);
void simclient_fini(struct simclient *c);
void simclient_start(struct simclient *c);
void simclient_receive(struct simclient *c, const struct msg *m);
struct peer_pending *simclient_pending(struct simclient *c, conn_id conn, uint32_t request); /* NULL = it has none */
/* For what else clients do: a new message, and sending it as the one request under way. */
struct msg *simclient_message(struct simclient *c, enum command_kind kind);
void simclient_ask(struct simclient *c, struct msg *m);

#endif
