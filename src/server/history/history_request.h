/* history_request.h: requests about flows that have left memory. The history answers later; the request is kept as it
 * came and goes on when the answer is there. What it says leaves like any other read. */
#ifndef REEVE_HISTORY_REQUEST_H
#define REEVE_HISTORY_REQUEST_H

#include "history.h"
#include "pool.h"
#include "server_impl.h"

struct past_wait;
typedef void (*past_fn)(struct server *s, struct request *r, struct past_wait *w, const struct history_answer *a);

struct past_wait {
    conn_id conn; /* first: never 0 while in use */
    uint32_t request;
    uint8_t op;
    struct bytes *body; /* of the request */
    past_fn then;
    struct arena arena; /* for what `then` needs beside the request */
    void *kept;
};

void past_init(struct server *s);
void past_fini(struct server *s);
/* Asks the history; `then` is called in a later pass, unless the client has gone. NULL: it could not be asked, and the
 * request was answered so. Whatever `then` needs goes into the arena of the result. */
struct past_wait *past_ask(struct server *s, struct request *r, const struct history_query *q, past_fn then);
void past_answered(void *ctx, const struct history_answer *a); /* of a history_taker */

/* The flow of the target is not in memory: true when the history is asked for it in place of the handler, which has
 * nothing more to do. For get, why, logs, wait, and the jobs of a flow. */
bool past_look(struct server *s, struct request *r, struct slice target);
/* For those who want to change it: "there is no flow" as it is for one that was there once. */
enum err past_explain(struct server *s, const struct session *n, struct slice target, enum err e, struct why *why);

/* Of a list answer: old flows may be missing. */
bool past_is_partial(struct server *s);

#endif
