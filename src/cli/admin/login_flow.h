/* login_flow.h: the two ways to a token of an identity provider. */
#ifndef REEVE_LOGIN_FLOW_H
#define REEVE_LOGIN_FLOW_H

#include "cli.h"
#include "json_tree.h"
#include "limit.h"
#include "login_token.h"

struct login_issuer {
    struct slice name, url, client_id, scopes, ca;
    struct slice authorization_url, token_url, device_url; /* by login_flow_places; terminated; empty: it has none */
};

/* Where the provider is to be asked, by its discovery document. */
CHECKED enum err login_flow_places(struct cli *c, struct login_issuer *is);
CHECKED enum err login_flow_browser(struct cli *c, const struct login_issuer *is, struct login_token *ret);
CHECKED enum err login_flow_device(struct cli *c, const struct login_issuer *is, struct login_token *ret);

#endif
