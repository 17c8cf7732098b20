/* titan_session.h: Titan's protocol (proto/titan/titan.h) as a further dialect of a session, on a listener of its own.
 *
 * A frame becomes messages of the wire, one after the other, in the same lanes as everybody's; what answers the last
 * one becomes the text that Titan's clients expect. One frame of a connection is served at a time, so answers leave in
 * order; what came behind it waits. The protocol has no callers: whoever reaches the listener is the principal `titan`
 * of one tenant, and everything he sends is refused by the same rules as anybody's. */
#ifndef REEVE_TITAN_SESSION_H
#define REEVE_TITAN_SESSION_H

#include "arena.h"
#include "buf.h"
#include "dialect.h"
#include "heap.h"
#include "net.h"
#include "pool.h"
#include "server_impl.h"
#include "titan_book.h"
#include "titan_gates.h"
#include "vec.h"

struct request;
struct server;
struct session;

#define TITAN_PRINCIPAL "titan"

struct titan_options {
    const char *tenant;
    const char *dead_status;          /* of a job that failed for good */
    bool gates;                       /* scripts that only wait for a person are gates (titan_gates.h) */
    bool backoff;                     /* jobs wait between attempts; else they are tried again at once */
    const char *listen;               /* address of the listener; Titan's own, when there is none */
    const char *http_listen;          /* address of the listener for the dashboard's interface; empty = there is none */
    int64_t dag_seconds, job_seconds; /* how long an attempt may run: of a job of a DAG, of one alone */
    /* What Titan's own workers say; the answer is put into `ret`. NULL = they cannot attach here. */
    void (*worker)(void *ctx, conn_id conn, const char *address, uint8_t opcode, struct slice body, struct buf *ret);
    void *worker_ctx;
};

/* What goes on when a message is answered; `more`: further answers follow. */
typedef void (*titan_told_fn)(struct server *s, struct session *n, uint8_t op, const void *message, bool more);

/* What goes on when a frame would be answered: of a request by HTTP, which may be several frames (titan_web.h). */
typedef void (*titan_said_fn)(struct server *s, struct session *n, struct slice text);

struct titan_talk {           /* one connection */
    conn_id conn;             /* first: never 0 while in use */
    uint32_t index, position; /* in the pool, in the heap of deadlines */
    bool busy;                /* a frame is being served, the one at the front of session.in */
    bool has_served;          /* one before it was */
    bool keeps;               /* more than one frame came: it stays open; else it is closed behind its answer */
    bool ready;               /* is in the list of those with something to do */
    size_t frame_bytes;       /* of it */
    uint8_t opcode;
    uint32_t request; /* id of the last message */
    titan_told_fn told;
    void *work;         /* of what serves it, in the arena */
    titan_said_fn said; /* by HTTP, so the next one; else NULL */
    void *page;         /* of the request, in the arena */
    struct arena arena; /* until it is answered */
    struct buf heard;   /* answers, as frames */
    struct buf later;   /* came while it was busy */
    struct buf text;    /* an answer that comes together in pieces */
    int64_t since_ms;   /* the frame that is coming began */
    uint64_t unsent;    /* of its answers, when it was last looked at */
};

struct titan {
    const struct titan_options *options;     /* NULL = it has no listeners */
    struct net_handler handler, web_handler; /* of those: its protocol, its dashboard */
    struct pool talks;                       /* struct titan_talk */
    struct vec ready;                        /* conn_id: with something to do at the end of the pass */
    int64_t next_ms;                         /* when something is due */
    struct heap deadlines;
    struct buf out;
};

struct titan *titan_of(const struct server *s);
const struct net_handler *titan_handler(struct server *s);     /* of the listener for Titan's protocol */
const struct net_handler *titan_web_handler(struct server *s); /* of that for its dashboard's interface */

void titan_init(struct server *s);
void titan_fini(struct server *s);

extern const struct dialect_ops titan_dialect;
extern const struct request_row titan_own_row; /* what both dialects ask about the state (req_titan.c) */
void titan_step(struct server *s);             /* each pass: goes on with what was answered */
int64_t titan_expire(struct server *s);        /* ends what takes too long; when the next one is due */

/* ---- talks; the dashboard's interface has one for each connection, too (titan_web.h) ---- */

struct titan_talk *talk_of(const struct session *n);
/* A connection that is to be served; NULL: there are too many, and it was ended. */
struct titan_talk *titan_talk_open(struct server *s, struct session *n);
void titan_talk_close(struct server *s, struct titan_talk *t);
/* What answers a message: kept until the pass is over. */
void titan_tell(struct server *s, struct session *n, enum wire_op op, uint8_t flags, uint32_t request,
                const void *message);
void titan_heard(struct server *s, struct session *n, struct slice frames);
uint64_t titan_memory_bytes(const struct titan_talk *t);
void titan_be(const struct server *s, struct session *n); /* the principal that all are */
void titan_talk_reset(struct titan_talk *t);              /* what was served is answered */

/* ---- for those who serve a frame ---- */

/* The next message; the arena of the talk holds what `then` will need. */
void titan_ask(struct server *s, struct session *n, uint8_t op, const void *message, titan_told_fn then);
/* The answer: the last word about a frame, which is gone with everything in the arena when this returns; by HTTP it
 * is what `said` makes of it. */
void titan_say(struct server *s, struct session *n, struct slice text);
void titan_sayf(struct server *s, struct session *n, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* True: the message was refused, and the frame was answered with `ERROR: ` and the reason. */
bool titan_refused(struct server *s, struct session *n, uint8_t op, const void *message);

/* Up to the first bar, which is taken off; false: there is none, and nothing was taken. */
bool titan_cut(struct slice *in, struct slice *ret);

void req_titan(struct server *s, struct request *r); /* req_titan.c */

#endif
