/* login_ticket.c: see login_ticket.h. */
#include "login_ticket.h"

#include <stdio.h>

/* Where a ticket of this principal goes: in place of its oldest when its share is used up, else where none is good any
 * more, else in place of the oldest of all. */
static struct login_ticket *place_for(struct login_tickets *t, const char *who, int64_t now_ms) {
    struct login_ticket *own = NULL, *empty = NULL, *oldest = NULL;
    uint32_t own_count = 0;
    for (uint32_t i = 0; i < LOGIN_TICKETS_MAX; i++) {
        struct login_ticket *one = &t->all[i];
        if (one->who[0] == 0 || one->expires_ms <= now_ms) {
            if (empty == NULL) empty = one;
            continue;
        }
        if (oldest == NULL || one->number < oldest->number) oldest = one;
        if (strcmp(one->who, who) != 0) continue;
        own_count++;
        if (own == NULL || one->number < own->number) own = one;
    }
    return own_count >= LOGIN_TICKETS_EACH ? own : empty != NULL ? empty : oldest;
}

void login_ticket_make(struct login_tickets *t, const struct auth *a, const char *who, int64_t now_ms,
                       int64_t expires_ms, char ret[LOGIN_TICKET_BYTES]) {
    struct login_ticket *made = place_for(t, who, now_ms);
    uint64_t high = a->clock->random(a->clock), low = a->clock->random(a->clock);
    snprintf(ret, LOGIN_TICKET_BYTES, "%016llx%016llx", (unsigned long long)high, (unsigned long long)low);
    a->hasher->whole(a->hasher, slice_str(ret), made->hash);
    snprintf(made->who, sizeof made->who, "%s", who);
    made->expires_ms = expires_ms;
    made->number = ++t->made_count;
}

bool login_ticket_use(struct login_tickets *t, const struct auth *a, struct slice text, int64_t now_ms,
                      char ret_who[COOKIE_WHO_BYTES]) {
    uint8_t hash[DIGEST_BYTES];
    a->hasher->whole(a->hasher, text, hash);
    for (uint32_t i = 0; i < LOGIN_TICKETS_MAX; i++) {
        struct login_ticket *one = &t->all[i];
        if (one->who[0] == 0 || memcmp(one->hash, hash, sizeof hash) != 0) continue;
        bool good = now_ms < one->expires_ms;
        memcpy(ret_who, one->who, sizeof one->who);
        *one = (struct login_ticket){0};
        return good;
    }
    return false;
}
