/* login_ticket.h: what is new in a login link: a long random text that lets one browser in, once and soon, as whoever
 * asked for it. Kept in memory only, and only its hash: a restart of the server voids what was not used. */
#ifndef REEVE_LOGIN_TICKET_H
#define REEVE_LOGIN_TICKET_H

#include "cookie.h"

#define LOGIN_TICKETS_EACH 4u /* of one principal: its own oldest makes room, never that of another */
#define LOGIN_TICKETS_MAX \
    1024u /* for 256 principals who all use their share within the life of a link; then the oldest goes */
#define LOGIN_TICKET_BYTES 40u

struct login_tickets {
    struct login_ticket {
        uint8_t hash[DIGEST_BYTES];
        char who[COOKIE_WHO_BYTES]; /* empty = there is none */
        int64_t expires_ms;         /* monotonic */
        uint64_t number;            /* in the order in which they were made */
    } all[LOGIN_TICKETS_MAX];
    uint64_t made_count;
};

void login_ticket_make(struct login_tickets *t, const struct auth *a, const char *who, int64_t now_ms,
                       int64_t expires_ms, char ret[LOGIN_TICKET_BYTES]);
/* Uses it up. False: there is none of that text, it was used before, or it came too late. */
bool login_ticket_use(struct login_tickets *t, const struct auth *a, struct slice text, int64_t now_ms,
                      char ret_who[COOKIE_WHO_BYTES]);

#endif
