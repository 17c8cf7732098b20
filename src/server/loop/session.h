/* session.h: one connection: who is calling, what waits, how fast it takes its answers; and everything that is sent on
 * it. How it speaks is its dialect's (dialect.h). */
#ifndef REEVE_SESSION_H
#define REEVE_SESSION_H

#include "auth.h"
#include "buf.h"
#include "bytes.h"
#include "dialect.h"
#include "effect.h"
#include "joblog.h"
#include "lane.h"
#include "net.h"
#include "netaddr.h"
#include "vec.h"
#include "wire.h"

enum session_state {
    SESSION_NEW,  /* nothing known yet */
    SESSION_OPEN, /* its hello was accepted */
    SESSION_OVER, /* refused or taken over: nothing more is read */
};

/* A worker's session is in session_by_worker from the moment the engine accepted its `attach` to its end, and in no
 * other moment: then, and only then, worker_number is not 0. */
enum attach_state {
    ATTACH_NONE,  /* no worker */
    ATTACH_ASKED, /* the engine accepted its attach; `attached` leaves when that is durable */
    ATTACH_DONE,
};

struct log_mark { /* of a worker's session: taken, not yet acknowledged */
    struct log_key key;
    uint64_t offset, ticket;
};

struct session {
    conn_id conn; /* first: never 0 while in use */
    enum session_state state;
    bool is_local, is_of_job, is_tls, goodbye;
    uint8_t spoken;                    /* enum sniff: what its first bytes were; SNIFF_MORE = too few have come */
    const struct dialect_ops *only;    /* its listener speaks nothing else; NULL = it came by the shared port */
    const struct dialect_ops *dialect; /* NULL = its first bytes have not told yet */
    void *dialect_state;
    uint32_t uid;
    int64_t opened_ms;
    char address[64];
    uint8_t address_bytes[NETADDR_BYTES_MAX]; /* the same without the port, for records */
    uint8_t address_len;                      /* 0 = it is of no network */
    struct caller certified; /* by its certificate; no name = it showed none */
    struct buf in;           /* came, and its dialect has not used it up */
    uint8_t peer;            /* enum wire_peer */
    struct caller who;
    struct attempt_effect job; /* came with the token of this attempt; flow 0 = it did not */
    uint64_t job_key;          /* under which it is in sessions_by_job (job_token.c); 0 = it is not */
    uint32_t job_next;         /* the next one there */
    uint32_t calls;            /* not answered yet */
    bool watches;              /* keys of the store, or did */
    struct u32vec watch_ids;   /* requests that watch */
    bool kv_gap;               /* a message of the store was left out */
    bool paused;               /* not read: its logs wait for the disk */
    bool choked;               /* not read: it does not take its answers */
    uint64_t sent_bytes;       /* since it was last looked at whether it does */
    uint64_t unsent;           /* not taken then */
    uint64_t owed;             /* answers that were made and may not leave yet */
    uint32_t account;          /* of its principal (budget.h) */
    uint64_t charged;          /* to it */
    int64_t stalled_ms;        /* since when it has taken nothing; 0 = nobody has looked */

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

/* ---- listeners ---- */

void session_handler(struct server *s, struct net_handler *ret); /* of the shared port: first bytes choose a dialect */
/* What `opened` of a listener that speaks one dialect only calls; the other functions of its handler are those of the
 * shared port. NULL: there are too many, and it was ended. */
struct session *session_open(struct server *s, conn_id conn, const struct net_peer *peer,
                             const struct dialect_ops *only);
bool session_speak(struct server *s, struct session *n, const struct dialect_ops *d); /* false: it was ended */

/* ---- life ---- */

void session_came(struct server *s, conn_id conn);                /* bytes did; fine when it is gone */
struct session *session_of(const struct server *s, conn_id conn); /* NULL: it is gone */
struct slice session_tenant(const struct session *n);             /* whose blobs it sees, and whose worker it is */
/* What its records say of it beside the name; nothing of a worker, whose words are many and say who it is. */
struct rec_caller session_caller(const struct session *n);
void session_free_all(struct server *s);
/* Those that may have something in the shard, which goes: all that have said how they speak. It hears nothing of it. */
void session_end_spoken(struct server *s);
/* The table of workers is changed by these two only. NULL: no session is that worker's. */
struct session *session_of_worker(const struct server *s, uint32_t number);
void session_worker_add(struct server *s, struct session *n, uint32_t number);
void session_worker_remove(struct server *s, struct session *n); /* nothing if it is none */

/* ---- out ---- */

/* One message, or frames of several, by its dialect. */
void session_send(struct server *s, struct session *n, enum wire_op op, uint8_t flags, uint32_t request,
                  const void *message);
void session_send_bytes(struct server *s, struct session *n, struct slice frames);
void session_send_raw(struct server *s, struct session *n, struct slice bytes); /* for dialects: as they are */
/* Puts a request into its lane, or says why not. `body` is copied. */
void session_enqueue(struct server *s, struct session *n, uint8_t op, uint32_t request, struct slice body);
void session_pause(struct server *s, struct session *n, bool on); /* while on, it is not read */
/* An answer that ends the request. No answer to request 0. */
void session_answer(struct server *s, struct session *n, uint32_t request, enum wire_op op, const void *message);
void session_error(struct server *s, struct session *n, uint32_t request, enum err e, const char *text);
void session_busy(struct server *s, struct session *n, uint32_t request, const char *reason, uint32_t retry_ms);
/* Says why and hangs up. */
void session_refuse(struct server *s, struct session *n, uint32_t request, enum err e, const char *text);
void session_end(struct server *s, struct session *n);

/* ---- how fast it takes its answers ---- */

void session_look(struct server *s, struct session *n);    /* how much of them it has not taken */
bool session_is_slow(struct server *s, struct session *n); /* there are enough for now: no further ones are made */
void session_choke(struct server *s, struct session *n);   /* it is not read until it took them */
void session_hold(struct server *s, struct session *n);    /* it is: its requests wait until it took them */
/* Whether it may be told of something that it follows: it has not left more than `most` bytes lying, or when its
 * principal holds too much in all, hardly anything. */
bool session_may_be_told(struct server *s, struct session *n, uint64_t most);

#endif
