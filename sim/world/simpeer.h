/* simpeer.h: a connection of a client: it dials, says hello with its token, sends requests as frames and hears their
 * answers. When it breaks, requests under way are forgotten: whoever asked loses patience and asks again. */
#ifndef REEVE_SIMPEER_H
#define REEVE_SIMPEER_H

#include "buf.h"
#include "net.h"
#include "simmsg.h"
#include "vec.h"

struct world;

enum peer_state { PEER_DOWN, PEER_DIALLING, PEER_HELLO, PEER_UP };

struct peer_pending { /* a request under way */
    uint32_t request; /* on this connection */
    int64_t sent_us;
    struct msg *ask;
    struct msg *answer; /* as far as it has come; NULL = nothing yet */
    uint64_t call;      /* that it became in the server; 0 = not yet decided */
};

struct simpeer {
    struct world *w;
    struct net *net;
    uint32_t node;
    char principal[16], tenant[16]; /* tenant: empty = all */
    const char *token;
    enum peer_state state;
    conn_id conn;
    int64_t dialled_us;
    uint32_t request;
    struct buf in;
    struct vec pending; /* of struct peer_pending */
    struct vec waiting; /* of struct msg *: until it is up */
    void (*answered)(void *ctx, struct msg *answer);
    void *ctx;
};

void simpeer_init(struct simpeer *p, struct world *w, uint32_t node, struct slice principal, struct slice tenant);
void simpeer_fini(struct simpeer *p);
void simpeer_send(struct simpeer *p, struct msg *m); /* the caller keeps its reference */
/* The request of that number; NULL = there is none. */
struct peer_pending *simpeer_pending(struct simpeer *p, uint32_t request);

#endif
