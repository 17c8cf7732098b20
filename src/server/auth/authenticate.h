/* authenticate.h: who is calling, and whether this way of coming will do: by token, by certificate, by Unix socket. */
#ifndef REEVE_AUTHENTICATE_H
#define REEVE_AUTHENTICATE_H

#include "server_impl.h"

/* What the certificate of a connection says of its peer. */
void authenticate_certificate(struct caller *c, const struct net_peer *peer);
/* Fills n->who, and n->job of a token of an attempt. No token: the connection itself has to authenticate. `tenant`: the
 * one to act for; empty = that of the token. */
CHECKED enum err authenticate(struct server *s, struct session *n, struct slice token, struct slice tenant,
                              struct why *why);
/* The same for who has proved before, by a cookie or a ticket, to be `who` (cookie.h). */
CHECKED enum err authenticate_cookie(struct server *s, struct session *n, const char *who, struct slice tenant,
                                     struct why *why);
/* It speaks for an agent (MCP): whatever its token is, it is none of a person. */
void authenticate_agent(struct caller *who);
/* For a login: a token that a person has, so not that of a job. */
CHECKED enum err authenticate_login(struct server *s, struct session *n, struct slice token, struct why *why);

#endif
