/* sessionlab.h: the real server (src/server) on a simulated disk, with a clock and a network that its owner drives: no
 * thread, no system call, the same bytes give the same run. A test plays every peer itself: it opens connections on any
 * listener, writes bytes, does not read, hangs up, lets time go by, and starts the server again from its disk.
 *
 * It watches what leaves, and panics when a promise is broken:
 *  - secrecy: each of the tenants `a` and `b` has a text that only its own callers write (sessionlab_secret); it never
 *    leaves on a connection of the other one, and no worker is told to run a job of a tenant that is not its own;
 *  - tenancy: no command from a connection of one tenant changes a flow or a worker of the other one;
 *  - memory: what the server holds for its connections, and what waits for peers that do not read, is charged to their
 *    principals and stays within connection_memory_bytes_max (checked after each pass);
 *  - recovery: a server that is started again has the state that the last one had when all of it was durable;
 *  - no leak: when everybody has hung up, the server's tables are empty (sessionlab_rest). */
#ifndef REEVE_SESSIONLAB_H
#define REEVE_SESSIONLAB_H

#include "buf.h"
#include "clock.h"
#include "net.h"
#include "observer.h"
#include "server.h"
#include "simdisk.h"
#include "wire.h"

#define SESSIONLAB_CONNS 8u
#define SESSIONLAB_ATTEMPTS 16u
#define SESSIONLAB_TOKEN_BYTES 200u

enum sessionlab_door {
    SESSIONLAB_MAIN, /* native v2, HTTP and RESP */
    SESSIONLAB_RESP,
    SESSIONLAB_TITAN,
    SESSIONLAB_DASH,
    SESSIONLAB_ORION,
    SESSIONLAB_DOOR_COUNT
};

enum sessionlab_tenant {
    SESSIONLAB_NOBODY, /* has not said who it is: may see nothing of anybody */
    SESSIONLAB_A,
    SESSIONLAB_B,
    SESSIONLAB_ALL,
    SESSIONLAB_TENANT_COUNT
};

struct sessionlab_token {
    enum sessionlab_tenant tenant;
    char text[SESSIONLAB_TOKEN_BYTES]; /* empty = none */
};

struct sessionlab_attempt { /* that the server has assigned to somebody */
    struct wire_attempt attempt;
    struct sessionlab_token token;
};

struct sessionlab_conn {
    conn_id conn; /* 0 = there is none */
    enum sessionlab_door door;
    enum sessionlab_tenant tenant; /* whose secrets it may see */
    struct sessionlab_token token; /* that its owner chose for it */
    bool hung_up;                  /* by the server */
    bool paused;                   /* the server does not read it */
    bool deaf;                     /* its owner does not read */
    bool asked;                    /* the server waits to hear that all is out */
    uint64_t unsent;
    struct buf written; /* and not read by the server */
    struct buf frames;  /* received: the beginning of one that is not whole */
    struct buf tail;    /* received: the last bytes, in which a secret may begin */
    struct buf said;    /* written: the same */
};

struct sessionlab {
    struct net net;
    struct clock clock;
    struct observer guest;
    struct server *server;
    struct simdisk *disk;
    struct ram *ram;                                               /* its journal; NULL = that is on the disk */
    struct history *history;                                       /* for the next start; NULL = none */
    void (*heard)(void *ctx, conn_id conn, const struct frame *f); /* each frame that leaves; NULL = nobody listens */
    void *heard_ctx;
    int64_t now_ms;
    int64_t wall_ahead_ms; /* the wall clock of its machine has jumped so far */
    uint64_t random;
    uint64_t conn_last;
    struct sessionlab_conn conns[SESSIONLAB_CONNS];
    struct sessionlab_attempt attempts[SESSIONLAB_ATTEMPTS]; /* the last ones */
    uint32_t attempt_count;
    struct sessionlab_token callback; /* the last one that was given */
    bool compares;                    /* the next start must find this state */
    uint64_t digest[2], lsn;
    uint64_t lsn_before; /* of the command that is being decided */
};

/* Tokens of every role of every tenant, of nobody and a forged one. They are the same in every lab of a process. */
uint32_t sessionlab_tokens(const struct sessionlab_token **ret);
/* What only callers of that tenant write, and nobody else may read; "" of the others. */
const char *sessionlab_secret(enum sessionlab_tenant t);

void sessionlab_init(struct sessionlab *l);
void sessionlab_init_ram(struct sessionlab *l, struct history *history); /* its journal is in memory */
void sessionlab_fini(struct sessionlab *l);                              /* sessionlab_rest, and the end */
void sessionlab_abandon(struct sessionlab *l);                           /* the end of one whose server has failed */

/* A new connection in that place; the one that was there hangs up. */
void sessionlab_open(struct sessionlab *l, uint32_t place, enum sessionlab_door door, const struct net_peer *peer,
                     const struct sessionlab_token *token);
void sessionlab_close(struct sessionlab *l, uint32_t place);
/* Bytes for the server. Those with another tenant's secret are left out: fuzzers copy what they see compared. */
void sessionlab_write(struct sessionlab *l, uint32_t place, struct slice bytes);
void sessionlab_read(struct sessionlab *l, uint32_t place, bool on); /* off: its owner stops reading */

void sessionlab_pass(struct sessionlab *l);   /* a turn of the loop: what was written comes first */
void sessionlab_step(struct sessionlab *l);   /* what the server's threads would do */
void sessionlab_settle(struct sessionlab *l); /* until all is durable and said */
/* The process ends and starts again: stopped with all of it durable, or killed in the middle. */
void sessionlab_restart(struct sessionlab *l, bool clean);
/* Everybody hangs up; nothing may be left of them. */
void sessionlab_rest(struct sessionlab *l);

/* ---- shared by sessionlab.c and sessionlab_core.c ---- */
uint32_t sessionlab_watches(const struct engine *e); /* of the store, of all sessions */

#endif
