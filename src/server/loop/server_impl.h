/* server_impl.h: the server's own structs, shared by the files of this folder and nobody else. */
#ifndef REEVE_SERVER_IMPL_H
#define REEVE_SERVER_IMPL_H

#include "arena.h"
#include "auth.h"
#include "blob_log_store.h"
#include "budget.h"
#include "buf.h"
#include "bytes.h"
#include "cookie.h"
#include "engine.h"
#include "fifo.h"
#include "heap.h"
#include "http.h"
#include "http_out.h"
#include "lane.h"
#include "login_ticket.h"
#include "map.h"
#include "metric.h"
#include "observer.h"
#include "orion_session.h"
#include "pool.h"
#include "rate.h"
#include "resp_session.h"
#include "server.h"
#include "shard.h"
#include "titan_session.h"
#include "vec.h"
#include "view.h"
#include "websocket.h"
#include "wire.h"

#define TENANT_STANDARD "default" /* of callers without one */

/* ---- connections (session.c) ---- */

enum session_state {
    SESSION_NEW,   /* nothing known yet */
    SESSION_OPEN,  /* its hello was accepted */
    SESSION_OVER,  /* refused or taken over: nothing more is read */
};

struct web; /* below */
struct resp; /* resp_impl.h */

/* A worker's session is in session_by_worker from the moment the engine accepted its `attach` to its end, and in no
 * other moment: then, and only then, worker_number is not 0. */
enum attach_state {
    ATTACH_NONE,  /* no worker */
    ATTACH_ASKED, /* the engine accepted its attach; `attached` leaves when that is durable */
    ATTACH_DONE,
};

struct session {
    conn_id conn; /* first: never 0 while in use */
    enum session_state state;
    bool is_local, is_of_job, is_tls, goodbye;
    bool is_orion; /* came by the listener for Orion's interface (orion_session.h) */
    bool is_dash;  /* came by the listener for Titan's dashboard (titan_web.h), and has a titan_talk beside its web */
    bool is_resp;  /* came by the listener for RESP (resp_session.h) */
    uint8_t spoken; /* enum sniff: what its first bytes were; SNIFF_MORE = too few have come */
    uint32_t uid;
    int64_t opened_ms;
    char address[64];
    struct caller certified; /* by its certificate; no name = it showed none */
    struct buf in; /* the beginning of a frame that is not whole yet */
    struct web *web; /* speaks HTTP; NULL = it does not */
    struct titan_talk *titan; /* speaks Titan's protocol (titan_session.h); NULL = it does not */
    struct resp *resp; /* speaks RESP; NULL = it does not */
    uint8_t peer;  /* enum wire_peer */
    struct caller who;
    struct attempt_effect job; /* came with the token of this attempt; flow 0 = it did not */
    uint64_t job_key;          /* under which it is in sessions_by_job (job_token.c); 0 = it is not */
    uint32_t job_next;         /* the next one there */
    uint32_t calls; /* not answered yet */
    bool watches;   /* keys of the store, or did */
    struct u32vec watch_ids; /* requests that watch */
    bool kv_gap;    /* a message of the store was left out */
    bool paused;        /* not read: its logs wait for the disk */
    bool choked;        /* not read: it does not take its answers */
    uint64_t sent_bytes; /* since it was last looked at whether it does */
    uint64_t unsent;     /* not taken then */
    uint64_t owed;       /* answers that were made and may not leave yet */
    uint32_t account;    /* of its principal (budget.h) */
    uint64_t charged;    /* to it */
    int64_t stalled_ms;  /* since when it has taken nothing; 0 = nobody has looked */

    struct lane lanes[WIRE_LANE_COUNT]; /* its requests (fair_queue.h) */
    bool is_ready[WIRE_LANE_COUNT];     /* it waits for its turn with them */
    bool is_held;                       /* it does not, for it does not take its answers; those of the second lane */

    enum attach_state attach;
    struct bytes *worker; /* its id */
    uint32_t worker_number;
    uint64_t incarnation;
    struct vec assigns; /* struct attempt_effect: for the next frame */
    struct buf early;   /* frames that must not come before `attached` */
    struct vec marks;   /* struct log_mark: logs taken, not yet durable */
};

/* ---- HTTP: a second dialect of a session (web.h) ---- */

/* What the connection has become, when its request was for events. */
enum web_stream { WEB_STREAM_NONE, WEB_STREAM_SSE, WEB_STREAM_SOCKET };

struct web {
    conn_id conn;      /* first: never 0 while in use */
    struct http_in in; /* the request that is being read or served */
    bool looked;       /* its head was, and is in order */
    bool busy;         /* it is with the server */
    bool streaming;    /* the head of its answer is out, and the body on its way */
    bool ending;       /* nothing more is read; the connection ends when it is safe to end it */
    bool ranged;       /* a part was asked for: range_most bytes of it; 0 = to the end */
    uint64_t range_most;
    uint64_t upload;   /* its body is a blob, and goes there as it comes; 0 = it is not */
    bool stuck;        /* the disk is not as fast as its body */
    uint32_t request;  /* id of the last frame */
    struct api_match match; /* of the request that was admitted; no route = none */
    uint8_t orion; /* enum orion_call, in place of a route */
    uint8_t titan; /* enum titan_call, the same for is_dash */
    uint32_t mcp;  /* the exchange with an agent that the request began, in webs.mcps; 0 = none */
    struct buf held;    /* frames of an answer that has more to come */
    int64_t since_ms;   /* the request began, or its body */
    uint64_t body_bytes; /* came so far, as they came */
    uint64_t unsent;     /* of its answers, when it was last looked at */
    uint32_t index, position; /* in the pool, in the heap of deadlines */
    struct cookie cookie; /* that the request came with, or was given; nobody's = none */
    enum web_stream stream;
    struct websocket_in socket; /* what comes on it */
    int64_t heard_ms;           /* when something last did */
    uint64_t untaken;           /* messages since it had last taken all of them */
};

struct webs {
    struct pool all; /* struct web */
    struct heap deadlines;
    struct vec ready; /* conn_id: an answer is out, and more to do */
    struct arena arena;
    struct buf json, out;
    uint64_t answers[ANSWER_CLASS_COUNT]; /* since the start of this process */
    struct http_date date;
    struct pool mcps; /* struct mcp_guest: calls of agents that are under way (web_mcp.c) */
};

/* ---- logins of browsers (web_session.c) ---- */

#define LOGIN_URL_BYTES 640u

struct logins {
    struct login_tickets tickets;
    struct rate failures; /* of addresses */
    struct rate requests; /* of callers, by HTTP */
    uint64_t count, failed_count, limited_count;
};

/* ---- calls: commands on their way through the engine (call.c) ---- */

struct part { /* what became of one thing of a request */
    enum err err;
    bool refused; /* before the engine saw it */
    bool repeated;
    uint32_t job_count;
    flow_id flow;
    int64_t number;
    uint64_t version;
    uint32_t lease_ms;
    struct slice text;   /* of a refusal */
    struct slice target; /* as the request named it */
    struct wire_attempt attempt;
};

struct call {
    uint64_t number; /* first: never 0 while in use */
    conn_id conn;
    uint32_t request;
    uint8_t op;
    uint32_t part_count, answered;
    struct part one; /* the only part, mostly */
    struct part *parts;
    struct arena arena;
    bool is_read;
    bool is_made;     /* what is held are no frames, but what leaves by HTTP */
    bool is_list;     /* its answer lists what became of each, also of one alone */
    bool more;        /* and there are others */
    struct bytes *held; /* of a read: the frames, made when it was decided; perhaps none */
    uint64_t sent_ms;   /* of a heartbeat */
};

/* ---- requests (route.c) ---- */

struct request {
    struct session *session;
    uint8_t op;
    uint32_t id;
    struct slice body;   /* of the frame */
    const void *message; /* the struct of its opcode */
    struct arena *arena; /* until it is served */
};

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
    struct webs webs;
    struct logins logins;
    struct budget budget;
    struct fifo turns[WIRE_LANE_COUNT]; /* accounts whose connections have requests (fair_queue.h) */
    uint64_t turn_us;                   /* when the last request was served */
    struct vec used_up;                 /* struct buf: requests of sessions that ended in this pass */
    struct orion orion;
    struct titan titan;
    struct resps resps;
    struct arena arena; /* of one request */
    struct arena frame_arena; /* of one frame that goes out */
    struct buf out;     /* one frame, or the frames of one answer */
    conn_id checked; /* whose request may send commands: request_check let it pass */
    uint64_t busy_count, request_count;
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
/* See shard.h. */
static inline struct shard *server_shard(const struct server *s) {
    return s->shard;
}

static inline const struct state *server_state(const struct server *s) {
    return engine_state(server_shard(s)->engine);
}

#endif
