/* resp_session.h: the shared store by RESP (proto/resp/resp.h), a dialect of a session: on the main port after AUTH
 * with a token, on a listener of its own without.
 *
 * What comes is kept until the pass, which serves commands straight from those bytes: reads from the state, changes by
 * the engine, one after the other on one thread, so that a command which reads and then writes, and a whole EXEC, are
 * atomic without further ado. Replies are held until the LSN of the state they tell of is durable, and leave in one
 * piece. See docs/adr/0091. */
#ifndef REEVE_RESP_SESSION_H
#define REEVE_RESP_SESSION_H

#include "buf.h"
#include "dialect.h"
#include "net.h"
#include "pool.h"
#include "server_impl.h"
#include "slice.h"
#include "vec.h"

struct server;
struct session;
struct store_effect;

#define RESP_GUEST "resp"

/* Keys that are made from the state, as another system has them: read, never written. Assembly says which. */
struct resp_key_map {
    bool (*get)(struct server *s, uint32_t tenant, struct slice key, struct buf *ret); /* false: no such key */
    /* Each member of such a set, until `each` returns false. */
    bool (*members)(struct server *s, uint32_t tenant, struct slice key, bool (*each)(void *arg, struct slice member),
                    void *arg);
};
extern const struct resp_key_map resp_key_map;

struct resp_options {
    const char *tenant; /* of who comes by the listener of its own */
};

#define RESP_BOOKMARKS 1024u

struct resp_bookmark { /* where a SCAN goes on */
    uint64_t number;   /* 0 = nobody's */
    struct bytes *where;
    uint64_t mixed; /* of whom and of what: nobody goes on with another's */
};

struct resps {
    const struct resp_options *options; /* NULL = it has no listener of its own */
    struct net_handler handler;         /* of that */
    struct pool all;                    /* struct resp */
    struct vec ready;                   /* conn_id: with commands to serve */
    struct vec serving;                 /* those of the present pass */
    struct vec holding;                 /* conn_id: with replies that wait */
    struct buf made;                    /* the value of a key that is made from the state */
    struct resp_bookmark *bookmarks;
    uint64_t bookmark_last;
    uint64_t command_count;
    uint64_t work;     /* of the present pass: see resp_ask */
    uint64_t pass;     /* number of the present one */
    int64_t opened_ms; /* monotonic */
};

struct resps *resps_of(const struct server *s);
const struct net_handler *resp_handler(struct server *s); /* of the listener of its own */

void resp_init(struct server *s);
void resp_fini(struct server *s);

extern const struct dialect_ops resp_dialect;

/* For server.c: inside a pass, and at its end. */
void resp_serve(struct server *s);
void resp_step(struct server *s);
bool resp_waits(const struct server *s);    /* a pass is due for those who are ready */
bool resp_is_quiet(const struct server *s); /* no reply is held */
bool resp_has_connections(const struct server *s);

#endif
