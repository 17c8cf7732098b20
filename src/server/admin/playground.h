/* playground.h: a server whose plug can be pulled (`reeve up --playground`), and an honest account of what its
 * successor found.
 *
 *  * Before anything leaves, the server notes in memory that outlives it (`plug.mark`, which its supervisor holds)
 * up to which record and which flow everything is durable: whatever was ever acknowledged is below that. Its
 * successor reads the journal and compares: records and flows that are noted and not there are `lost`. That of the
 * attempts under way none was started twice without need is counted as workers come back. */
#ifndef REEVE_PLAYGROUND_H
#define REEVE_PLAYGROUND_H

#include "effect.h"
#include "vec.h"
#include "wire_playground.h"

struct held_attempt;
struct request;
struct server;

struct playground_mark {
    uint64_t lsn;   /* durable */
    uint64_t flows; /* the highest number given to a flow */
};

struct kill_switch {                       /* what the supervisor hands to the server */
    volatile struct playground_mark *mark; /* survives the process */
    bool killed;                           /* there was a server before this one, and `before` is its last mark */
    struct playground_mark before;
    uint32_t kills;
    uint32_t pid; /* of this process */
};

struct playground {
    const struct kill_switch *kill_switch; /* NULL = this is no playground */
    int64_t since_ms;        /* wall: when it was ready */
    struct wire_recovery recovery;
    struct vec open; /* struct attempt_effect: under way when the plug was pulled, not heard of since */
    bool kill_wanted;
};

/* After the journal was read, before anything is derived from it. `records` were read in `took_ms`. */
void playground_init(struct server *s, uint64_t records, int64_t took_ms);
void playground_fini(struct server *s);
void playground_mark(struct server *s); /* before anything leaves */
/* A worker is back and holds these: how did what it had go on? */
void playground_attached(struct server *s, uint32_t worker, const struct held_attempt *held, uint32_t count);
void playground_event(struct server *s, const struct event *e);

void req_playground(struct server *s, struct request *r);
void req_playground_do(struct server *s, struct request *r);

#endif
