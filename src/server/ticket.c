/* ticket.c: see ticket.h. */
#include "ticket.h"

#include <stdio.h>

void ticket_make(struct tickets *t, const struct auth *a, const char *who, int64_t expires_ms, char ret[TICKET_BYTES]) {
    struct ticket *made = &t->all[t->next++ % TICKETS_MAX];
    uint64_t high = a->clock->random(a->clock), low = a->clock->random(a->clock);
    snprintf(ret, TICKET_BYTES, "%016llx%016llx", (unsigned long long)high, (unsigned long long)low);
    a->hasher->whole(a->hasher, slice_str(ret), made->hash);
    snprintf(made->who, sizeof made->who, "%s", who);
    made->expires_ms = expires_ms;
}

bool ticket_use(struct tickets *t, const struct auth *a, struct slice text, int64_t now_ms,
                char ret_who[COOKIE_WHO_BYTES]) {
    uint8_t hash[DIGEST_BYTES];
    a->hasher->whole(a->hasher, text, hash);
    for (uint32_t i = 0; i < TICKETS_MAX; i++) {
        struct ticket *one = &t->all[i];
        if (one->who[0] == 0 || memcmp(one->hash, hash, sizeof hash) != 0) continue;
        bool good = now_ms < one->expires_ms;
        memcpy(ret_who, one->who, sizeof one->who);
        *one = (struct ticket){0};
        return good;
    }
    return false;
}
