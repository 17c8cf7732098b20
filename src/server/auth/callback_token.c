/* callback_token.c: see callback_token.h. */
#include "callback_token.h"

#include <stdio.h>

#include "hmac_token.h"
#include "server_impl.h"

/* "rvc_FLOW.ORDINAL.q|aNUMBER.EXPIRES." and the proof of that. */
static size_t write_it(struct server *s, const struct callback *c, char out[CALLBACK_TOKEN_BYTES]) {
    int len = snprintf(out, CALLBACK_TOKEN_BYTES, CALLBACK_TOKEN_PREFIX "%llx.%x.%c%llx.%llx.",
                       (unsigned long long)c->job.flow.v, c->job.ordinal, c->of_question ? 'q' : 'a',
                       (unsigned long long)c->number, (unsigned long long)c->expires_ms);
    return hmac_token_append(&s->auth, out, (size_t)len);
}

void callback_token_make(struct server *s, const struct callback *c, char ret[CALLBACK_TOKEN_BYTES]) {
    (void)write_it(s, c, ret);
}

void callback_token_url(const struct server *s, const char *token, char ret[CALLBACK_URL_BYTES]) {
    ret[0] = 0;
    if (s->reached_at == NULL) return;
    snprintf(ret, CALLBACK_URL_BYTES, "%.*s" CALLBACK_PATH "%s", SLICE_FMT(bytes_slice(s->reached_at)), token);
}

enum err callback_token_check(struct server *s, struct slice token, struct callback *ret, struct why *why) {
    char given[CALLBACK_TOKEN_BYTES] = {0}, ours[CALLBACK_TOKEN_BYTES], kind = 0;
    unsigned long long flow = 0, number = 0, expires = 0;
    unsigned ordinal = 0;
    if (token.len >= sizeof given)
        return why_set(why, ERR_UNAUTHENTICATED, "invalid token; it may have expired or been revoked");
    memcpy(given, token.ptr, token.len);
    bool good = sscanf(given, CALLBACK_TOKEN_PREFIX "%16llx.%8x.%c%16llx.%16llx.", &flow, &ordinal, &kind, &number,
                       &expires) == 5 &&
                (kind == 'q' || kind == 'a') && expires <= INT64_MAX;
    struct callback c = {{{flow}, ordinal}, kind == 'q', number, (int64_t)expires};
    if (!good || !hmac_token_is_same(token, ours, write_it(s, &c, ours)))
        return why_set(why, ERR_UNAUTHENTICATED, "invalid token; it may have expired or been revoked");
    if (c.expires_ms <= engine_now(server_shard(s)->engine).ms)
        return why_set(why, ERR_UNAUTHENTICATED, "the token has expired");
    *ret = c;
    return ERR_OK;
}

enum err callback_token_caller(struct server *s, struct slice token, struct caller *ret, struct why *why) {
    struct callback c;
    struct flow_view flow;
    enum err e = callback_token_check(s, token, &c, why);
    if (e != ERR_OK) return e;
    if (!view_flow(server_state(s), c.job.flow, &flow))
        return why_set(why, ERR_UNAUTHENTICATED, "the job that this token belongs to has finished");
    *ret = (struct caller){
        .name = "callback", .roles = ROLE_BIT(ROLE_CALLBACK), .expires_ms = c.expires_ms, .kind = KIND_SERVICE};
    snprintf(ret->tenant, sizeof ret->tenant, "%.*s", SLICE_FMT(flow.tenant));
    return ERR_OK;
}
