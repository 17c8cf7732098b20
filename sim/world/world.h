/* world.h: one simulated world: a server, its disk, workers, clients and the network between them, on one clock and one
 * seed. Everything that happens is an event of its queue; two worlds of one seed go through the same events.
 *
 * The life of a world: a time of faults; then all faults stop, partitions heal, and people keep answering and resuming;
 * then everything must come to its end within a bounded time; then the last checks. Whoever finds a broken promise
 * calls world_red, which does not return. */
#ifndef REEVE_WORLD_H
#define REEVE_WORLD_H

#include "adapter.h"
#include "auth.h"
#include "clock.h"
#include "equeue.h"
#include "hostile.h"
#include "rng.h"
#include "serverhost.h"
#include "sim_plan.h"
#include "simclient.h"
#include "simmsg.h"
#include "simnet.h"
#include "workerhost.h"

#define NOTE_LINES 40u
#define NOTE_BYTES 200u

/* A flow that some answer has named: what clients act upon. */
struct known_flow {
    flow_id id;
    uint32_t tenant; /* of the workload's */
    uint32_t job_count;
    bool more;      /* parts are still owed */
    bool over;      /* a read showed every job ended */
    bool forgotten; /* it has left memory: what a history would know of it is here */
    enum job_state first; /* how its first job had ended then */
};

struct world_bearer { /* somebody whom the server knows by a token */
    char principal[16], tenant[16];
    char token[AUTH_TOKEN_BYTES];
};

struct world {
    struct sim_plan plan;
    struct rng rng;
    struct equeue queue;
    struct simnet net;
    struct msgs msgs;
    struct vec tokens; /* of world_bearer */
    struct serverhost server;
    struct workerhost workers[PLAN_WORKERS_MAX];
    struct simclient clients[PLAN_CLIENTS_MAX + 1]; /* the last one answers questions and tidies up */
    struct hostile hostiles[HOSTILE_COUNT];         /* when the plan has them; the last nodes */
    uint32_t node_count;
    struct adapter adapter;

    int64_t wall_start_ms;
    int64_t wall_jump_ms; /* sum of all jumps of the wall clock */
    int64_t wall_jump_most_ms; /* the furthest ahead it was */
    bool quiet;           /* faults are over */
    uint32_t jobs_left;   /* that may still be submitted */
    uint64_t policy;      /* version that the rules have */
    bool large_done;      /* the large flow of this world, if it has one, was submitted */
    struct vec flows;     /* of known_flow */

    uint64_t hash; /* of everything noted */
    uint64_t events;
    bool text; /* keep the last lines for people */
    bool loud; /* print every line */
    char lines[NOTE_LINES][NOTE_BYTES];
    uint64_t line_count;
};

struct world_result {
    uint64_t hash;
    struct digest digest;
    uint64_t events;
    uint64_t records;
    uint32_t crashes;
    int64_t virtual_ms;
};

enum world_voice { WORLD_SILENT, WORLD_TEXT, WORLD_LOUD };

struct world *world_new(uint64_t seed, enum world_voice voice);
void world_free(struct world *w);
void world_run(struct world *w, struct world_result *ret);

/* The request of a client that came as this one on that connection; NULL = it is of somebody else. */
struct peer_pending *world_pending(struct world *w, uint32_t node, conn_id conn, uint32_t request);
void world_answer(struct world *w, struct msg *m); /* that came by the back door */
struct slice world_tenant(const struct world *w, uint32_t node); /* of its connections; empty = of all, or of several */
const char *world_token(const struct world *w, const char *principal, const char *tenant);
int64_t world_now_ms(const struct world *w);
wall_time world_wall(const struct world *w);
mono_time world_mono(const struct world *w); /* of every machine */
int64_t world_us_of(int64_t mono_ms);        /* virtual time of a monotonic one */
wall_time world_true(const struct world *w); /* as a clock that never jumped would show it */
struct known_flow *world_flow(struct world *w, flow_id id); /* NULL when no answer has named it */

/* A promise is broken: prints what and when, the last lines and how to see it again, and ends the process. */
_Noreturn void world_red(struct world *w, const char *check, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void world_note(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void world_mix(struct world *w, uint64_t a, uint64_t b, uint64_t c) {
    uint64_t at = (uint64_t)w->queue.now_us;
    w->hash = (w->hash ^ (a * 0x9e3779b97f4a7c15ULL) ^ (b << 32) ^ c ^ (at << 17)) * 0xff51afd7ed558ccdULL;
    w->hash ^= w->hash >> 29;
    w->events++;
}

/* Every event worth telling: three numbers go into the hash of the run, the text is made only for a reader. */
#define WORLD_NOTE(w, a, b, c, ...)                                  \
    do {                                                             \
        world_mix((w), (uint64_t)(a), (uint64_t)(b), (uint64_t)(c)); \
        if ((w)->text) world_note((w), __VA_ARGS__);                 \
    } while (0)

#endif
