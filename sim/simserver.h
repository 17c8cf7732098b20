/* simserver.h: a stand-in server: the real engine over the real file journal, on a simulated disk, with the sessions of
 * workers and clients. It follows the rules of engine.h and journal.h to the letter (one append in flight, nothing
 * shown before it is durable, a file error stops the process) and can die at any moment: between a batch taken and
 * durable, inside a disk call, before or after each single effect.
 *
 * It must not repair anything: what a crash swallowed has to come back by the engine's own resume. */
#ifndef REEVE_SIMSERVER_H
#define REEVE_SIMSERVER_H

#include "clock.h"
#include "engine.h"
#include "file.h"
#include "ledger.h"
#include "map.h"
#include "pool.h"
#include "simdisk.h"
#include "simlog.h"
#include "simnet.h"
#include "vec.h"

struct session { /* the connection of a worker */
    uint64_t number;
    uint64_t incarnation;
    bool closed;
};

enum crash_kind { CRASH_KILL, CRASH_POWER };

struct simserver {
    struct world *w;
    struct rng rng;
    struct simdisk *disk;
    struct clock clock; /* for the journal */
    struct simlog log;

    bool up;
    uint64_t generation; /* rises with each start and crash: events of an earlier life are ignored */
    uint32_t crash_count;
    uint32_t refused_opens; /* failed starts in a row */
    int64_t frozen_until_us;

    bool power_doubt; /* the power may have failed in a call whose error nobody needs to report */

    struct engine *engine;
    struct journal *journal;
    struct batch_clock batch_clock;
    uint64_t epoch;
    uint64_t durable_lsn;
    uint64_t released_lsn; /* highest LSN anything outside was told about */
    uint64_t projected_lsn; /* how far the history says it is, in this life */
    int64_t opened_ms;
    int64_t tick_at_us; /* earliest planned tick; 0 = none */
    bool pass_planned;

    struct vec inbox; /* of struct msg *, oldest first */
    struct session sessions[NET_NODES_MAX];
    struct ledger ledger;
    int64_t heard_ms[NET_NODES_MAX];      /* last word of each worker in this life */
    bool attached[NET_NODES_MAX];         /* in this life: only then a heartbeat renews */
    bool lapsed[NET_NODES_MAX];           /* was silent for a lease since the last batch was taken */
    uint64_t incarnations[NET_NODES_MAX]; /* highest that attached */

    bool appending;
    bool append_early; /* the bytes go to the disk at the beginning of the append, not at its end */
    bool append_written;
    struct batch batch;

    struct pool calls; /* commands without an answer yet */
    struct map call_by_token;
    uint64_t call_last;
};

void simserver_init(struct simserver *s, struct world *w, struct rng rng);
void simserver_fini(struct simserver *s);
void simserver_start(struct simserver *s);
void simserver_crash(struct simserver *s, enum crash_kind kind); /* restarts by itself, later */
void simserver_stop(struct simserver *s); /* cleanly when it is still, else as a crash */
void simserver_freeze(struct simserver *s, int64_t ms);
void simserver_receive(struct simserver *s, struct msg *m);
void simserver_hang_up(struct simserver *s,
                       uint32_t node); /* the connection to a worker is noticed to be gone */
void simserver_snapshot(struct simserver *s);
void simserver_history(struct simserver *s, uint64_t lag); /* a history that is so many records behind says so */
void simserver_compare(struct simserver *s); /* live state, full replay and snapshot plus tail must agree */
bool simserver_is_still(const struct simserver *s); /* up, and everything applied is durable */

/* ---- shared by simserver.c and simrecover.c ---- */
mono_time simserver_mono(const struct simserver *s);
void simserver_inputs(struct simserver *s, struct inputs *ret);
void simserver_pump(struct simserver *s); /* after a pass: append, release, plan the next tick */
bool simserver_recover(struct simserver *s);
bool simserver_disk_failed(struct simserver *s, enum err err, const char *what, const char *text);

#endif
