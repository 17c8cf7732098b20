/* bearer.c: see bearer.h. */
#include "bearer.h"

#include "panic.h"

static enum err check(const struct bearer_world *w, const struct issuer *is, const struct jwt *t,
                      const struct jwt_wanted *wanted, struct bearer *ret, struct why *why) {
    const struct public_key *key = NULL;
    struct bearer b = {.issuer = is, .expires_ms = t->expires_ms + is->margin_ms};
    REQUIRE(is >= w->issuers->all && is < w->issuers->all + w->issuers->count);
    if (!(is->algs & SIGNATURE_BIT(t->alg)))
        return why_set(why, ERR_UNAUTHENTICATED, "issuer %.*s may not sign by the algorithm of this token",
                       SLICE_FMT(is->name));
    enum err e = keyring_find(&w->rings[is - w->issuers->all], w->mono_ms, t->kid, t->alg, &key, why);
    if (e == ERR_OK) e = jwt_verify(t, w->verifier, key, why);
    if (e == ERR_OK) e = jwt_check(t, wanted, why);
    if (e == ERR_OK) e = mapping_of(is, t->claims, &b.as, why);
    if (e == ERR_OK) *ret = b;
    return e;
}

enum err bearer_check(const struct bearer_world *w, struct slice token, struct bearer *ret, struct why *why) {
    struct jwt t;
    enum err e = jwt_read(token, w->limits, w->arena, &t, why);
    if (e != ERR_OK) return e;
    const struct issuer *is = issuers_by_url(w->issuers, t.issuer);
    if (is == NULL || is->audience_count == 0)
        return why_set(why, ERR_UNAUTHENTICATED, "this server accepts no tokens of the issuer that made this one");
    struct jwt_wanted wanted = {
        .audiences = is->audiences, .audience_count = is->audience_count, .margin_ms = is->margin_ms, .now = w->now};
    return check(w, is, &t, &wanted, ret, why);
}

enum err bearer_check_login(const struct bearer_world *w, const struct issuer *is, struct slice token,
                            struct slice nonce, struct bearer *ret, struct why *why) {
    struct jwt t;
    REQUIRE(nonce.len > 0 && is->client_id.len > 0);
    enum err e = jwt_read(token, w->limits, w->arena, &t, why);
    if (e != ERR_OK) return e;
    if (!slice_eq(t.issuer, is->url))
        return why_set(why, ERR_UNAUTHENTICATED, "the answer is of another issuer than the one that was asked");
    struct jwt_wanted wanted = {.audiences = &is->client_id,
                                .audience_count = 1,
                                .client = is->client_id,
                                .nonce = nonce,
                                .margin_ms = is->margin_ms,
                                .now = w->now};
    return check(w, is, &t, &wanted, ret, why);
}
