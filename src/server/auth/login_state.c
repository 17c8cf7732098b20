/* login_state.c: see login_state.h. */
#include "login_state.h"

#include <stdio.h>

#define PREFIX "rvl_"

static const char *const prefixes[] = {
    [LOGIN_STATE_STATE] = "rvls_", [LOGIN_STATE_NONCE] = "rvln_", [LOGIN_STATE_VERIFIER] = "rvlv_"};

/* "rvl_EXPIRES.NUMBER.ISSUER/" and the proof of that: the name of an issuer may have dots. */
static size_t write_it(const struct auth *a, const char *prefix, const struct login_state *l,
                       char out[LOGIN_STATE_BYTES]) {
    int len = snprintf(out, LOGIN_STATE_BYTES, "%s%llx.%llx.%s/", prefix, (unsigned long long)l->expires_ms,
                       (unsigned long long)l->number, l->issuer);
    return hmac_token_append(a, out, (size_t)len);
}

void login_state_make(const struct auth *a, const struct login_state *l, char ret[LOGIN_STATE_BYTES]) {
    (void)write_it(a, PREFIX, l, ret);
}

enum err login_state_read(const struct auth *a, struct slice text, wall_time now, struct login_state *ret,
                          struct why *why) {
    char given[LOGIN_STATE_BYTES] = {0}, ours[LOGIN_STATE_BYTES];
    unsigned long long expires = 0, number = 0;
    struct login_state l = {0};
    if (text.len > 0 && text.len < sizeof given) memcpy(given, text.ptr, text.len);
    bool good =
        sscanf(given, PREFIX "%16llx.%16llx.%32[^/]/", &expires, &number, l.issuer) == 3 && expires <= INT64_MAX;
    l.expires_ms = (int64_t)expires;
    l.number = number;
    if (!good || !hmac_token_is_same(text, ours, write_it(a, PREFIX, &l, ours)))
        return why_set(why, ERR_UNAUTHENTICATED, "this login was not begun in this browser");
    if (l.expires_ms <= now.ms) return why_set(why, ERR_UNAUTHENTICATED, "this login was begun too long ago");
    *ret = l;
    return ERR_OK;
}

void login_state_text(const struct auth *a, const struct login_state *l, enum login_state_text which,
                      char ret[LOGIN_STATE_TEXT_BYTES]) {
    char text[LOGIN_STATE_BYTES];
    size_t len = write_it(a, prefixes[which], l, text);
    snprintf(ret, LOGIN_STATE_TEXT_BYTES, "%s", text + len - HMAC_TOKEN_HEX_BYTES);
}
