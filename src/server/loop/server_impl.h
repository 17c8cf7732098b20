/* server_impl.h: the server's own structs, shared by the files of this folder and nobody else. */
#ifndef REEVE_SERVER_IMPL_H
#define REEVE_SERVER_IMPL_H

#include "arena.h"
#include "auth.h"
#include "blob_log_store.h"
#include "budget.h"
#include "buf.h"
#include "bytes.h"
#include "call.h"
#include "cookie.h"
#include "dialect.h"
#include "engine.h"
#include "heap.h"
#include "lane.h"
#include "map.h"
#include "metric.h"
#include "observer.h"
#include "pool.h"
#include "requests.h"
#include "server.h"
#include "session.h"
#include "shard.h"
#include "vec.h"
#include "view.h"
#include "wire.h"
#include "zone_book.h"

#define TENANT_STANDARD "default" /* of callers without one */

/* ---- the server ---- */

struct server {
    struct arena birth; /* holds this object */
    struct server_world world;
    struct server_options options;
    struct limits *limits; /* of options */
    struct net_handler handler;
    struct bytes *build;
    struct bytes *reached_at; /* by HTTP, from outside: "https://host:port"; NULL = nobody has said */

    struct shard *shard; /* for server_shard alone */
    struct blob_log_store store;
    struct auth auth;
    int64_t now_ms; /* monotonic, of the present pass */

    bool woken;      /* a descriptor of server_fds is readable, and stays so until it is read */
    uint32_t served; /* requests of the present pass */

    enum err failed;
    struct why failed_why;
    bool draining;
    bool clean; /* it closes with everything durable: the journal is sealed */

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
    struct arena arena;                 /* of one request */
    struct arena frame_arena;           /* of one frame that goes out */
    struct buf out;                     /* one frame, or the frames of one answer */
    struct zone_book zones;
    conn_id checked;                    /* whose request may send commands: request_check let it pass */
    uint64_t busy_count, request_count;
    uint64_t forward_lsn, forward_failures; /* of the audit trail that is handed on */
    bool is_forwarding, is_forward_bad;
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
struct shard *server_shard(const struct server *s); /* see shard.h */
const struct state *server_state(const struct server *s);

#endif
