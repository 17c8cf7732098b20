/* orion_session.h: Orion's interface (proto/orion/orion.h) as a third dialect of a session, on a listener of its own.
 * Its requests become messages of the wire and go into the same lanes; what answers them becomes Orion's JSON on its
 * way out.
 *
 * Orion's clients bring no token. Who comes from this machine (or from wherever `guests` allows it) without one is
 * a guest: principal `orion`, of one tenant, who may send DAGs and see those that came by this door. Whoever brings
 * a token is who it says; pulling the plug takes one. Pages are let in by their origin, which is named one by one. */
#ifndef REEVE_ORION_SESSION_H
#define REEVE_ORION_SESSION_H

#include "dialect.h"
#include "net.h"
#include "orion.h"
#include "orion_stream.h"
#include "server_impl.h"
#include "vec.h"
#include "wire_orion.h"

struct request;
struct server;
struct session;

enum orion_guests { ORION_GUESTS_NOBODY, ORION_GUESTS_LOOPBACK, ORION_GUESTS_EVERYONE };

struct orion_options {
    const char *tenant;  /* of guests, and of tokens that are for all */
    const char *listen;  /* its address, as it was set */
    const char *origins; /* of pages that may come from elsewhere, with commas */
    enum orion_guests guests;
    int64_t work_ms_least, work_ms_most; /* how long a task works */
    int64_t crashed_ms;                  /* of a playground: when its plug was last pulled; 0 = never */
};

#define ORION_BUCKETS 256u /* two addresses that share one turn each other out */

struct orion_bucket { /* requests of one address beyond loopback */
    char address[48];
    int64_t at_ms, level_milli;
};

struct orion_dag {
    flow_id id;
    uint64_t counted_lsn; /* it is over, and these are its numbers as of its end by this record; 0 = they may change */
    uint64_t retried, took_count, took_ms, within[WIRE_ORION_BOUNDS]; /* as in wire_orion */
};

struct orion {
    const struct orion_options *options; /* NULL = it has no listener */
    struct net_handler handler;          /* of that */
    int64_t opened_ms;                   /* monotonic */
    uint64_t dropped; /* messages to clients of the stream that were let go, which had not taken them */
    struct orion_bucket buckets[ORION_BUCKETS];
};

struct orion_dags {   /* what it knows of the state, so it is of the shard */
    struct vec flows; /* of orion_dag: those of this dialect, oldest first */
    uint64_t seen;    /* flows up to this number have been looked at */
};

extern const uint8_t orion_dags_slot;

struct orion *orion_of(const struct server *s);
const struct net_handler *orion_handler(struct server *s);

static inline struct orion_dags *orion_dags_of(const struct server *s) {
    return shard_part(server_shard(s), orion_dags_slot);
}

void orion_init(struct server *s);

extern const struct dialect_ops orion_dialect;

bool orion_admit(struct server *s, struct session *n); /* as http_face.admit (orion_gate.c) */

void req_orion(struct server *s, struct request *r); /* req_orion.c */

#endif
