/* cookie.h: the session of a browser. It is a text that only this server can have made (hmac_token.h): whose token it
 * stands for, until when, and a number of its own. Nothing is stored, so it survives a restart, and whoever has the
 * secret of the data directory can check it; what it may do is looked up with each request, so it ends with its token.
 * That someone logged out is a record (core/model/directory_state.h).
 *
 * A browser sends a cookie to every port of a host, so a service of a job on another port is sent ours, and a page of
 * someone else can make a browser send it along. So it is half of a session: every request also shows the `csrf` that
 * the login gave to our page and to nobody else, and that the page keeps by its origin, port included. */
#ifndef REEVE_COOKIE_H
#define REEVE_COOKIE_H

#include "auth.h"
#include "http.h"

#define COOKIE_NAME "reeve_session"
#define COOKIE_NAME_BYTES 24u
#define COOKIE_WHO_BYTES 24u /* with the zero, as all of these */
#define COOKIE_BYTES 160u
#define COOKIE_CSRF_BYTES 96u
#define COOKIE_CSRF_HEADER "reeve-csrf"
#define COOKIE_PROTOCOL "reeve"

struct cookie {
    char who[COOKIE_WHO_BYTES]; /* the id of a token, or "uid:N": who came by the Unix socket */
    int64_t expires_ms;         /* wall */
    uint64_t number;
};

/* False: a browser cannot be this caller (a job, a certificate). */
bool cookie_who(const struct caller *c, char ret[COOKIE_WHO_BYTES]);
/* What it may do now. ERR_UNAUTHENTICATED: its token is gone or has expired. */
CHECKED enum err cookie_caller(struct auth *a, const char *who, wall_time now, struct caller *ret, struct why *why);

void cookie_make(const struct auth *a, const struct cookie *c, char ret[COOKIE_BYTES]);
/* ERR_UNAUTHENTICATED: it is not ours, too old, or over. */
CHECKED enum err cookie_read(const struct auth *a, struct slice text, wall_time now, struct cookie *ret,
                             struct why *why);
void cookie_csrf(const struct auth *a, const struct cookie *c, char ret[COOKIE_CSRF_BYTES]);
/* Whether the request shows it: in its header, or, because a page cannot give a WebSocket headers, as a subprotocol
 * "csrf.PROOF" beside "reeve". */
bool cookie_csrf_is_shown(const struct auth *a, const struct cookie *c, const struct http_request *r);

/* Browsers keep cookies by host, not by port: two servers on one host are told apart by the port that they are called
 * by. "reeve_session_7070", or "reeve_session" for one that is called without. */
void cookie_name(const struct http_request *r, char ret[COOKIE_NAME_BYTES]);
void cookie_name_of(const struct http_request *r, const char *front, char ret[COOKIE_NAME_BYTES]); /* another one */
/* The value in the head of a request. False: there is none, or more than one. */
bool cookie_find(const struct http_request *r, struct slice *ret);
bool cookie_find_named(const struct http_request *r, const char *name, struct slice *ret);
/* Reads this value, which came with the request, and wants to be shown its other half. ERR_UNAUTHENTICATED as above. */
CHECKED enum err cookie_check(const struct auth *a, struct slice text, const struct http_request *r, wall_time now,
                              struct cookie *ret, struct why *why);

#endif
