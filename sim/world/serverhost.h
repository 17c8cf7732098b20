/* serverhost.h: the server's machine: the real server (src/server) on a simulated disk, network and clock. It starts
 * the server, drives its passes and what its threads would do, kills it, cuts its power, and starts it again.
 *
 * As the server's guest it sees every command, record and effect: it keeps its own copy of what became durable, tells
 * the judges, and checks that nothing leaves early. It may kill the server before or after each single effect: from
 * there on nothing that the dying process does reaches disk or network.
 *
 * The *back door* is for what the wire cannot say yet: commands of a calendar, of a policy, of services, which will
 * live inside the server's process. It must not repair anything: what a crash swallowed has to come back by the
 * engine's own resume. */
#ifndef REEVE_SERVERHOST_H
#define REEVE_SERVERHOST_H

#include "ledger.h"
#include "map.h"
#include "observer.h"
#include "pool.h"
#include "proofeye.h"
#include "server.h"
#include "simdisk.h"
#include "simlog.h"
#include "simmsg.h"
#include "simnet.h"
#include "simram.h"
#include "vec.h"

struct log_owed {
    struct job_ref job;
    uint32_t attempt;
    uint64_t bytes;
};

enum host_crash { CRASH_KILL, CRASH_POWER };

struct serverhost {
    struct world *w;
    struct rng rng;
    struct rng clock_rng; /* what the server draws: how much it draws moves nothing else */
    struct simdisk *disk;
    struct ram *ram; /* its journal, in place of files on the disk; NULL = it is there */
    struct clock clock;
    struct observer guest;
    struct net tap; /* first in the way of everything that the server sends */
    struct net *net;
    struct simlog log;
    struct proofeye proof;

    struct server *server; /* NULL: its process does not exist */
    struct engine *engine; /* inside it */
    uint64_t generation;   /* rises with each start and crash: events of an earlier life are ignored */
    uint32_t crash_count;
    enum ram_fault armed, struck; /* the last fault of the journal, and the last one that came to pass */
    bool is_reopening;            /* the server has lost its shard by it */
    uint32_t refused_opens;       /* failed starts in a row */
    bool doomed;                  /* it dies as soon as the present call returns; nothing it does counts */
    enum host_crash doom;
    bool power_doubt; /* the power may have failed in a call whose error nobody needs to report */

    uint64_t epoch;
    uint64_t durable_lsn;
    uint64_t history_lsn;   /* how far the history is */
    uint64_t projected_lsn; /* how far the server was told it is, in this life */
    int64_t last_ms;        /* wall time of the last pass */
    int64_t pass_at_us;     /* earliest planned pass; 0 = none */
    bool step_planned;
    bool appending; /* a batch is on its way */
    bool compacting;
    int64_t stop_by_us; /* a clean stop is under way; 0 = none */
    int64_t frozen_us;  /* since when it stands still; 0 = it runs */

    struct vec inbox; /* of struct msg *: came by the back door */
    struct ledger ledger;
    int64_t heard_ms[NET_NODES_MAX];      /* last word of each worker in this life */
    bool attached[NET_NODES_MAX];         /* in this life: only then a heartbeat renews */
    bool lapsed[NET_NODES_MAX];           /* was silent for a lease since the last batch was taken */
    uint64_t incarnations[NET_NODES_MAX]; /* highest that attached */

    struct vec logs;   /* of struct log_owed: output of attempts whose end was acknowledged */
    struct pool calls; /* commands without an answer yet */
    struct map call_by_token;
    uint64_t call_last;  /* of all lives */
    uint64_t lsn_before; /* of the command being decided */
};

void serverhost_init(struct serverhost *h, struct world *w, struct rng rng);
void serverhost_fini(struct serverhost *h);
void serverhost_start(struct serverhost *h);
void serverhost_crash(struct serverhost *h, enum host_crash kind); /* restarts by itself, later */
void serverhost_stop(struct serverhost *h);                        /* as people stop it */
void serverhost_freeze(struct serverhost *h, int64_t ms);
void serverhost_door(struct serverhost *h, struct msg *m);   /* arrives a moment later, if somebody is there */
void serverhost_history(struct serverhost *h, uint64_t lag); /* the history is now so many records behind */
void serverhost_compact(struct serverhost *h);
void serverhost_check_logs(struct serverhost *h);     /* whatever was acknowledged can be read */
void serverhost_check_sources(struct serverhost *h);  /* the file that a flow names is its own, and there */
void serverhost_compare(struct serverhost *h);        /* live state, full replay and snapshot plus tail must agree */
bool serverhost_is_still(const struct serverhost *h); /* up, and everything applied is durable */

/* ---- shared by serverhost.c and servereye.c ---- */
void serverhost_doom(struct serverhost *h, enum host_crash kind);
void servereye_init(struct serverhost *h);   /* fills in the guest and the tap */
void servereye_forget(struct serverhost *h); /* the process is gone with all its calls, and what was on its way to it */

#endif
