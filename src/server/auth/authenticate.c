/* authenticate.c: see authenticate.h. */
#include "authenticate.h"

#include <stdio.h>

#include "callback_token.h"
#include "job_token.h"
#include "oidc.h"

/* A certificate vouches for workers only; whoever else shows one needs a token all the same. */
void authenticate_certificate(struct caller *c, const struct net_peer *peer) {
    if (peer->certified.len == 0 || peer->certified.len >= AUTH_NAME_MAX) return;
    if (peer->certified_tenant.len >= AUTH_NAME_MAX) return;
    snprintf(c->name, sizeof c->name, "%.*s", SLICE_FMT(peer->certified));
    snprintf(c->tenant, sizeof c->tenant, "%.*s", SLICE_FMT(peer->certified_tenant));
    c->kind = KIND_WORKER;
    if (slice_eq(peer->certified_role, slice_str(role_words[ROLE_WORKER]))) c->roles = ROLE_BIT(ROLE_WORKER);
}

/* Whether this way of coming will do, whoever it is. For a job its worker has shown a certificate. */
static enum err check_way(const struct server *s, const struct session *n, bool is_job, struct why *why) {
    if (n->is_local) return ERR_OK;
    if (s->options.needs_tls && !n->is_tls)
        return why_set(why, ERR_FORBIDDEN,
                       "this server requires TLS: use tls://HOST:PORT. If a token was sent without TLS, treat it as "
                       "compromised and revoke it");
    if (s->options.certified == SERVER_CERTIFIED_EVERYONE && n->certified.name[0] == 0 && !is_job)
        return why_set(why, ERR_UNAUTHENTICATED, "this server requires a client certificate: pass one with --tls-cert");
    return ERR_OK;
}

/* A certificate bounds what a token may do: its tenant is the only one. */
static enum err bound(struct session *n, struct why *why) {
    if (n->certified.tenant[0] == 0) return ERR_OK;
    if (n->who.tenant[0] != 0 && strcmp(n->who.tenant, n->certified.tenant) != 0)
        return why_set(why, ERR_FORBIDDEN, "the token belongs to tenant %s, the certificate to tenant %s",
                       n->who.tenant, n->certified.tenant);
    memcpy(n->who.tenant, n->certified.tenant, sizeof n->who.tenant);
    return ERR_OK;
}

/* One of ours, which has no dots, or one that an identity provider has signed. */
static enum err authenticate_token(struct server *s, struct session *n, struct slice token, struct why *why) {
    enum err e = jwt_looks_like(token)
                     ? oidc_caller(s, token, &n->who, why)
                     : auth_check(&s->auth, token, s->world.clock->wall(s->world.clock), &n->who, why);
    return e == ERR_OK ? bound(n, why) : e;
}

static enum err authenticate_caller(struct server *s, struct session *n, struct slice token, struct why *why) {
    /* By their looks: tokens that this server has made itself (hmac_token.h) say what they are. */
    bool is_job = slice_begins(token, SLICE(JOB_TOKEN_PREFIX));
    bool is_callback = slice_begins(token, SLICE(CALLBACK_TOKEN_PREFIX));
    enum err e = check_way(s, n, is_job || is_callback, why);
    if (e != ERR_OK) return e;
    if (is_job) {
        e = job_token_check(s, token, &n->who, &n->job, why);
        if (e == ERR_OK) job_token_attend(s, n);
        return e;
    }
    if (is_callback) return callback_token_caller(s, token, &n->who, why);
    if (token.len > 0) return authenticate_token(s, n, token, why);
    if (n->certified.roles != 0) {
        n->who = n->certified;
        return ERR_OK;
    }
    bool is_ours = n->is_local && (n->uid == s->options.uid || n->uid == 0);
    if (is_ours && n->is_of_job)
        return why_set(
            why, ERR_UNAUTHENTICATED,
            "the calling process belongs to a job, or has ended; a job has the rights of its own token: send it "
            "(REEVE_TOKEN)");
    if (is_ours) {
        n->who = (struct caller){.roles = ROLE_BIT(ROLE_ADMIN), .kind = KIND_PERSON};
        snprintf(n->who.name, sizeof n->who.name, "uid:%u", n->uid);
        return ERR_OK;
    }
    if (n->is_local)
        return why_set(why, ERR_UNAUTHENTICATED, "user %u is not the server's user: send a token (REEVE_TOKEN)",
                       n->uid);
    return why_set(why, ERR_UNAUTHENTICATED, "authentication required: send a token (REEVE_TOKEN)");
}

void authenticate_agent(struct caller *who) {
    who->kind = KIND_AGENT;
    who->is_by_mcp = true;
}

static enum err choose_tenant(struct session *n, struct slice wanted, struct why *why) {
    if (wanted.len == 0) return ERR_OK;
    if (wanted.len >= AUTH_NAME_MAX) return why_set(why, ERR_INVALID, "the tenant's name is too long");
    if (n->who.tenant[0] != 0 && !slice_eq(wanted, slice_str(n->who.tenant)))
        return why_set(why, ERR_FORBIDDEN, "this token is limited to tenant %s", n->who.tenant);
    snprintf(n->who.tenant, sizeof n->who.tenant, "%.*s", SLICE_FMT(wanted));
    return ERR_OK;
}

enum err authenticate(struct server *s, struct session *n, struct slice token, struct slice tenant, struct why *why) {
    enum err e = authenticate_caller(s, n, token, why);
    if (e == ERR_OK) e = budget_join(s, n, why); /* before it names a tenant: that one is no other principal */
    return e == ERR_OK ? choose_tenant(n, tenant, why) : e;
}

enum err authenticate_cookie(struct server *s, struct session *n, const char *who, struct slice tenant,
                             struct why *why) {
    enum err e = check_way(s, n, false, why);
    if (e == ERR_OK) e = cookie_caller(&s->auth, who, s->world.clock->wall(s->world.clock), &n->who, why);
    if (e == ERR_OK) e = bound(n, why);
    if (e == ERR_OK) e = budget_join(s, n, why);
    return e == ERR_OK ? choose_tenant(n, tenant, why) : e;
}

enum err authenticate_login(struct server *s, struct session *n, struct slice token, struct why *why) {
    enum err e = check_way(s, n, false, why);
    if (e == ERR_OK && jwt_looks_like(token)) /* a session stands for a token of ours, or for a login there */
        e = why_set(why, ERR_UNAUTHENTICATED, "a token of an identity provider opens no session: log in at /login");
    return e == ERR_OK ? authenticate_token(s, n, token, why) : e;
}
