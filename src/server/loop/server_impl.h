/* server_impl.h: the server's own structs, shared by the files of this folder and nobody else. */
#ifndef REEVE_SERVER_IMPL_H
#define REEVE_SERVER_IMPL_H

#include "arena.h"
#include "auth.h"
#include "blob_gc.h"
#include "blob_log_store.h"
#include "budget.h"
#include "buf.h"
#include "bytes.h"
#include "call.h"
#include "cookie.h"
#include "demand.h"
#include "dialect.h"
#include "engine.h"
#include "evaluator.h"
#include "event_ring.h"
#include "fifo.h"
#include "file.h"
#include "flow_events.h"
#include "flow_retention.h"
#include "heap.h"
#include "history_writer.h"
#include "items.h"
#include "lane.h"
#include "map.h"
#include "metric.h"
#include "observer.h"
#include "playground.h"
#include "pool.h"
#include "route.h"
#include "schedule_slots.h"
#include "server.h"
#include "session.h"
#include "stream.h"
#include "subscribers.h"
#include "vec.h"
#include "view.h"
#include "wire.h"
#include "writer.h"

#define TENANT_STANDARD "default" /* of callers without one */

/* ---- the server ---- */

enum append_state { APPEND_NONE, APPEND_AWAY, APPEND_FULL };

struct held_done { /* waits for its logs to be durable */
    conn_id conn;
    uint32_t request;
    struct bytes *body;
    uint64_t ticket;
};

struct server {
    struct arena birth; /* holds this object */
    struct server_world world;
    struct server_options options;
    struct limits *limits; /* of options */
    struct net_handler handler;
    struct bytes *build;
    struct bytes *reached_at; /* by HTTP, from outside: "https://host:port"; NULL = nobody has said */

    struct journal *journal;
    struct writer *writer;
    struct engine *engine;
    struct blob_log_store store;
    struct auth auth;
    struct batch_clock batch_clock;
    int64_t clock_step_ms; /* found at the start, for the first pass */
    uint64_t clock_steps;  /* how often this process has set it right */
    bool clock_is_apart;   /* by more than drift, and somebody was told */
    char note[200];
    uint64_t epoch;
    int64_t now_ms; /* monotonic, of the present pass */
    bool stood_still; /* before it: another comes at once */

    enum append_state append;
    struct batch batch;
    int64_t append_again_ms; /* full: when it is tried again */
    int64_t appended_ms;     /* last; 0 = sealed since */
    int64_t fill_by_ms;      /* 0 = not waiting for more */
    uint64_t appended_bytes; /* since the last compaction */
    uint64_t sync_count;     /* of the journal: batches and seals made durable by this process */
    uint64_t sync[SYNC_SLOTS]; /* how long appends took */
    uint64_t given_us;       /* the last append */
    uint64_t room_bytes;     /* of the journal when it was last asked, and what was appended since */
    int64_t room_ms;
    uint64_t seed; /* of the randomness of passes */
    bool woken; /* a descriptor of server_fds is readable, and stays so until it is read */
    bool trimming;
    bool compacting;
    uint32_t served;         /* requests of the present pass */
    int64_t vault_again_ms;  /* no space: when it is tried again */

    enum err failed;
    struct why failed_why;
    bool draining;

    struct pool sessions;
    struct map session_by_conn;
    struct map session_by_worker; /* number of the worker -> session */
    struct map sessions_by_job;   /* a job -> the first session that came with a token of it */
    struct vec jobs_ended;        /* conn_id: of these perhaps, since the last look */
    struct vec unauthenticated;   /* conn_id: connections that have not said hello */
    struct vec hung_up;           /* struct closed_session: sessions the engine has yet to hear of */
    struct budget budget;
    struct fifo turns[WIRE_LANE_COUNT]; /* accounts whose connections have requests (fair_queue.h) */
    uint64_t turn_us;                   /* when the last request was served */
    struct vec used_up;                 /* struct buf: requests of sessions that ended in this pass */
    struct pool calls;
    uint64_t call_last;
    struct vec with_assigns; /* conn_id */
    struct vec held_dones;   /* struct held_done */
    struct event_ring event_ring;
    struct subscribers subscribers;
    struct flow_events flow_events;
    struct streams streams;
    struct items items;
    struct evaluator evaluator;
    struct flow_retention flow_retention;
    struct history_writer history_writer;
    uint32_t launches;  /* workers that are being started */
    struct pool audits; /* struct audit_wait: pages of the audit trail that are being read */
    struct pool history_requests; /* struct history_request_wait: requests that the history was asked for */
    struct schedule_slots schedule_slots;
    struct blob_gc blob_gc;
    struct demands demands;
    struct playground playground;
    struct dialect_place webs, orion, titan, resps;
    struct arena arena; /* of one request */
    struct arena frame_arena; /* of one frame that goes out */
    struct buf out;     /* one frame, or the frames of one answer */
    conn_id checked; /* whose request may send commands: request_check let it pass */
    uint64_t busy_count, request_count, command_count;
};

struct closed_session {
    uint64_t conn;
    struct bytes *worker; /* attached as; NULL = it was no worker */
    uint64_t incarnation;
    bool watches;
};

void server_log(struct server *s, enum server_level level, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void server_fail(struct server *s, enum err e, const struct why *why);
/* Every command goes this way. `conn` and `request` say where it comes from; 0 = from the server itself. Returns what
 * was decided, which nobody outside may hear before it is durable. */
enum err server_command(struct server *s, conn_id conn, uint32_t request, const struct command *cmd);

/* The same with the answer at once, for who holds it back until engine_lsn of this moment is durable. */
void server_ask(struct server *s, conn_id conn, const struct command *cmd, struct reply *ret);

/* Why it takes no new work now, for who looks after the machine; NULL: it does. */
const char *server_unready(struct server *s);
/* How far the machine's clock is ahead of the journal's, as of now; below 0: behind. */
int64_t server_clock_apart(struct server *s);
/* What is wrong and keeps no work away, for the same; NULL: nothing. Valid until the next call. */
const char *server_note(struct server *s);

static inline const struct state *server_state(const struct server *s) {
    return engine_state(s->engine);
}

#endif
