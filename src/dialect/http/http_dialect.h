/* http_dialect.h: HTTP as a dialect of a session, and what others that are spoken over HTTP build on: dialects with a
 * listener of their own (a face), and protocols at a path of ours (a mount).
 *
 * A request is the message of the wire that it means (api.h): its head tells which, it waits in the lanes like any
 * other and is decoded from its own bytes when it is served; the message that answers it becomes a head and a text. So
 * an answer by HTTP leaves when one by native v2 would, and a route of HTTP is a line in a table.
 *
 * One request of a connection is served at a time, and further ones wait in its buffer: answers are in order, and each
 * request may come with a token of its own. */
#ifndef REEVE_HTTP_DIALECT_H
#define REEVE_HTTP_DIALECT_H

#include "api.h"
#include "cookie.h"
#include "dialect.h"
#include "fetch.h"
#include "heap.h"
#include "hmac_token.h"
#include "http.h"
#include "http_out.h"
#include "lane.h"
#include "metric.h"
#include "net.h"
#include "pool.h"
#include "rate.h"
#include "server_impl.h"
#include "session.h"
#include "vec.h"
#include "websocket.h"

struct http_face;
struct http_mount;

/* What the connection has become, when its request was for events. */
enum web_stream { WEB_STREAM_NONE, WEB_STREAM_SSE, WEB_STREAM_SOCKET };

struct web {
    conn_id conn;      /* first: never 0 while in use */
    struct http_in in; /* the request that is being read or served */
    bool looked;       /* its head was, and is in order */
    bool busy;         /* it is with the server */
    bool streaming;    /* the head of its answer is out, and the body on its way */
    bool ending;       /* nothing more is read; the connection ends when it is safe to end it */
    bool marks;        /* of a log: not its bytes, but a line for each piece of it */
    bool ranged;       /* a part was asked for: range_most bytes of it; 0 = to the end */
    uint64_t range_most;
    uint64_t upload;                /* its body is a blob, and goes there as it comes; 0 = it is not */
    bool stuck;                     /* the disk is not as fast as its body */
    uint32_t request;               /* id of the last frame */
    struct api_match match;         /* of the request that was admitted; no route = none */
    const struct http_face *face;   /* what the requests of this connection mean */
    uint8_t call;                   /* of another face than ours: what was asked, in place of a route */
    void *own;                      /* its own */
    const struct http_mount *mount; /* serves the present request, at a path of its own; NULL = the face does */
    uint32_t exchange;              /* in webs.exchanges, with it; 0 = none */
    struct buf held;                /* frames of an answer that has more to come */
    int64_t since_ms;               /* the request began, or its body */
    uint64_t body_bytes;            /* came so far, as they came */
    uint64_t unsent;                /* of its answers, when it was last looked at */
    uint32_t index, position;       /* in the pool, in the heap of deadlines */
    struct cookie cookie;           /* that the request came with, or was given; nobody's = none */
    enum web_stream stream;
    struct websocket_in socket; /* what comes on it */
    int64_t heard_ms;           /* when something last did */
    uint64_t untaken;           /* messages since it had last taken all of them */
};

struct web *web_of(const struct session *n);
bool web_is_stream(const struct web *w); /* the head of a stream of events is out */

#define LOGIN_URL_BYTES 640u
#define LOGIN_TICKET_BYTES 40u

struct logins {
    struct rate failures; /* of addresses */
    struct rate requests; /* of callers, by HTTP */
    uint64_t count, failed_count, limited_count;
};

#define WEB_CODES_MAX 8u

struct web_code { /* a browser came back from its identity provider: its code is being changed into a token */
    fetch_id fetch; /* 0: `said` is the answer */
    conn_id conn;   /* 0 = a free place */
    uint32_t request;
    char issuer[40], nonce[HMAC_TOKEN_HEX_BYTES + 1];
    uint32_t status;
    int64_t date_ms;
    struct buf said;
};

struct webs {
    struct pool all;  /* struct web */
    struct vec ready; /* conn_id: with something to do at the end of the pass */
    struct heap deadlines;
    int64_t next_ms; /* the next of them, or now */
    struct arena arena;
    struct buf json, out;
    uint64_t answers[ANSWER_CLASS_COUNT]; /* since the start of this process */
    struct http_date date;
    struct pool exchanges; /* of mounts: requests that they serve */
    struct logins logins;
    struct web_code codes[WEB_CODES_MAX];
    uint32_t code_count; /* of them in use */
};

struct webs *webs_of(const struct server *s);
struct logins *logins_of(const struct server *s);

/* ---- faces ---- */

/* What the requests of a connection mean. Ours is the JSON interface (api.h); a dialect on a listener of its own has
 * another. */
struct http_face {
    const char *(*listen)(const struct server *s); /* the address of its listener: a name that we may be called by */
    bool (*admit)(struct server *s, struct session *n); /* whether a head may be a request; else it was answered */
    void (*serve)(struct server *s, struct session *n); /* a whole request that was admitted */
    /* Further lines for the head that was just put; NULL = none. */
    void (*head)(struct server *s, struct session *n);
    /* Writes a refusal; status 0 = the usual one. */
    struct api_said (*refusal)(struct json *j, enum err e, uint16_t status, struct slice text, const char *field,
                               uint32_t retry_after_ms);
    /* The message that answers the request; NULL = as the route says. */
    void (*answer)(struct server *s, struct session *n, uint8_t op, const void *message);
};

/* Functions for dialect_ops of a dialect over HTTP. Its `open` is web_open with its face. */
bool web_open(struct server *s, struct session *n, const struct http_face *face);
void web_closed(struct server *s, struct session *n);
void web_received(struct server *s, struct session *n, struct slice bytes);
void web_tell(struct server *s, struct session *n, enum wire_op op, uint8_t flags, uint32_t request,
              const void *message);
void web_frames(struct server *s, struct session *n, struct slice frames);
void web_refuse(struct server *s, struct session *n, uint32_t request, enum err e, const char *text);
void web_misfit(struct server *s, struct session *n, const char *text);
void web_drained(struct server *s, struct session *n, bool resumes);
bool web_is_idle(const struct session *n);
uint64_t web_memory_bytes(const struct session *n);
uint64_t web_part_bytes(const struct session *n);
extern const struct event_stream_ops web_events;
#define HTTP_MISFITS (SNIFF_BIT(SNIFF_TEXT) | SNIFF_BIT(SNIFF_RESP) | SNIFF_BIT(SNIFF_TLS)) /* hear HTTP, as usual */

extern const struct dialect_ops http_dialect;

/* ---- mounts ---- */

/* A protocol at a path of our own face. Which there are is listed in assembly/dialects.c. */
struct http_mount {
    const char *path;
    const char *verbs; /* for Allow */
    size_t exchange_bytes;
    uint32_t exchanges_max;
    bool (*admit)(struct server *s, struct session *n); /* of a caller that is known; as that of a face */
    void (*serve)(struct server *s, struct session *n);
    bool (*decode)(struct server *s, struct request *r); /* what web_give announced */
    void (*answer)(struct server *s, struct session *n, uint8_t op, const void *const *parts, uint32_t count);
    void (*closed)(struct server *s, struct session *n); /* the connection goes while a request is served */
};

extern const struct http_mount *const http_mounts[]; /* the last is NULL */

/* ---- requests ---- */

bool web_is_json(const struct http_request *r); /* its body, by its type */
/* The name that the request calls us by is one of ours; a page that sends it came from here. */
bool web_knows_host(const struct server *s, const struct session *n);
bool web_is_own_page(const struct session *n, struct slice origin);

/* The request becomes one of this opcode, whose message `decode` makes when it is served. */
void web_give(struct server *s, struct session *n, uint8_t op);
/* The same with a message that is there already. */
void web_give_message(struct server *s, struct session *n, uint8_t op, const void *message);
uint32_t web_request_next(struct web *w); /* an id */
int64_t web_now(const struct server *s);  /* monotonic; passes may lie far apart */

/* ---- answers ---- */

/* A refusal: status 0 = that of the error table. `field` and `allow` may be NULL. Ends the request. */
void web_say_error(struct server *s, struct session *n, enum err e, uint16_t status, const char *text,
                   const char *field, const char *allow);
/* A refusal that says when to come again. */
void web_say_wait(struct server *s, struct session *n, uint32_t wait_ms, const char *text);
/* {"status": word} */
void web_say_status(struct server *s, struct session *n, uint16_t status, const char *word, const char *note);
void web_say_nothing(struct server *s, struct session *n, const char *allow); /* 204 */
/* Into webs.out; what the connection has a say in is filled in. */
void web_put_head(struct server *s, struct session *n, struct http_head *h);
/* An answer of one's own: what is written goes out with this head, whose type and length are filled in. */
struct json web_json(struct server *s);
void web_send_json(struct server *s, struct session *n, struct http_head *h);
/* What is in webs.json, of that type, as the answer. Ends the request. */
void web_say_body(struct server *s, struct session *n, const struct api_said *said, const char *type);
void web_finished(struct server *s, struct session *n); /* its answer is out */
void web_goodbye(struct server *s, struct session *n);  /* the server is stopping */

/* ---- streams (web_stream.c) ---- */

/* Whether the request may become one, and which; else it was answered. */
bool web_stream_check(struct server *s, struct session *n);
void web_stream_begin(struct server *s, struct session *n); /* the head; from here on it is one */
/* Are you there? Ends one that has not said a word for long, or whose token has expired. */
void web_stream_ping(struct server *s, struct session *n, int64_t period_ms);
void web_stream_end(struct server *s, struct session *n, enum websocket_code code, const char *why);
void web_stream_last_word(struct server *s, struct session *n, enum websocket_code code, const char *why);

#endif
