/* budget.h: the memory that connections make the server hold: one bound over all of them, and a share for each
 * principal.
 *
 * Everything that a connection makes the server hold is *charged* to the account of its principal: bytes that came and
 * are not served, answers that were made and not taken. One number per connection, looked at again whenever it may have
 * changed, so that nothing can be given back twice or never. All unauthenticated together have one account.
 *
 * A principal above its share is answered `busy`, and what it has begun to send is refused; others do not notice.
 * Should all together pass the bound, the largest connection of the largest account goes. See docs/adr/0110. */
#ifndef REEVE_BUDGET_H
#define REEVE_BUDGET_H

#include "err.h"
#include "lane.h"
#include "map.h"
#include "pool.h"
#include "wire.h"

struct server;
struct session;

struct account {
    uint64_t key; /* first: never 0 while in use */
    uint64_t bytes;
    uint32_t connections;
    struct fifo ready[WIRE_LANE_COUNT]; /* connections with requests that wait (fair_queue.h) */
    bool is_listed[WIRE_LANE_COUNT];    /* in the lane's turns */
    uint64_t pass, spent_us;            /* on its commands by RESP, in that pass */
};

struct budget {
    struct pool accounts; /* struct account */
    struct map by_key;
    uint64_t bytes;
    int64_t swept_ms;
    uint64_t closed_count; /* connections that were closed for the sake of others */
};

struct account *budget_account(const struct server *s, const struct session *n); /* never NULL */

/* The session belongs to n->who, or to the unauthenticated. Refused: that principal has its share of connections. */
CHECKED enum err budget_join(struct server *s, struct session *n, struct why *why);
void budget_welcome(struct server *s, struct session *n); /* the same for who needs nobody to authenticate for it */
void budget_leave(struct server *s, struct session *n);
void budget_release(struct server *s, uint32_t account); /* frees it if nobody needs it any more */

/* Charges what the session holds now. */
void budget_charge(struct server *s, struct session *n);
/* Its principal holds more than its share. */
bool budget_is_over(const struct server *s, const struct session *n);
/* At the end of a pass: closes what has to go. */

#endif
