/* history_request.h: requests about flows that have left memory. The history answers later; the request is kept as it
 * came and goes on when the answer is there. What it says leaves like any other read. */
#ifndef REEVE_HISTORY_REQUEST_H
#define REEVE_HISTORY_REQUEST_H

#include "history.h"
#include "pool.h"
#include "server_impl.h"

struct history_request_wait;
typedef void (*history_request_fn)(struct server *s, struct request *r, struct history_request_wait *w,
                                   const struct history_answer *a);

struct history_request_wait {
    conn_id conn; /* first: never 0 while in use */
    uint32_t request;
    uint8_t op;
    struct bytes *body; /* of the request */
    history_request_fn then;
    struct arena arena; /* for what `then` needs beside the request */
    void *kept;
};

/* Asks the history; `then` is called in a later pass, unless the client has gone. NULL: it could not be asked, and the
 * request was answered so. Whatever `then` needs goes into the arena of the result. */
struct history_request_wait *history_request_ask(struct server *s, struct request *r, const struct history_query *q,
                                                 history_request_fn then);
void history_request_answered(void *ctx, const struct history_answer *a); /* of a history_taker */

/* The flow of the target is not in memory: true when the history is asked for it in place of the handler, which has
 * nothing more to do. For get, why, logs, wait, and the jobs of a flow. */
bool history_request_look(struct server *s, struct request *r, struct slice target);
/* For those who want to change it: "there is no flow" as it is for one that was there once. */
enum err history_request_explain(struct server *s, const struct session *n, struct slice target, enum err e,
                                 struct why *why);

/* Of a list answer: old flows may be missing. */
bool history_request_is_partial(struct server *s);

#endif
