/* login_state.h: what a browser is given while it is at an identity provider, so that the answer that it brings back is
 * the one to its own question. Nothing is stored: the cookie is a text that only this server can have made
 * (hmac_token.h), and `state`, `nonce` and the PKCE verifier are other proofs of the same text. Who sees one of them
 * knows none of the others; who has another browser's answer has not its cookie. */
#ifndef REEVE_LOGIN_STATE_H
#define REEVE_LOGIN_STATE_H

#include "auth.h"
#include "hmac_token.h"
#include "issuers.h"

#define LOGIN_STATE_BYTES 160u
#define LOGIN_STATE_TEXT_BYTES (HMAC_TOKEN_HEX_BYTES + 1u)
#define LOGIN_STATE_MS (10 * 60 * 1000) /* to type a password and find the phone */

struct login_state {
    char issuer[ISSUER_NAME_MAX + 1];
    int64_t expires_ms; /* wall */
    uint64_t number;
};

enum login_state_text { LOGIN_STATE_STATE, LOGIN_STATE_NONCE, LOGIN_STATE_VERIFIER };

void login_state_make(const struct auth *a, const struct login_state *l, char ret[LOGIN_STATE_BYTES]);
/* ERR_UNAUTHENTICATED: it is not ours, or too old. */
CHECKED enum err login_state_read(const struct auth *a, struct slice text, wall_time now, struct login_state *ret,
                                  struct why *why);
void login_state_text(const struct auth *a, const struct login_state *l, enum login_state_text which,
                      char ret[LOGIN_STATE_TEXT_BYTES]);

#endif
