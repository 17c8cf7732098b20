/* cookie.c: see cookie.h. */
#include "cookie.h"

#include <stdio.h>
#include <stdlib.h>

#include "hmac_token.h"
#include "oidc.h"
#include "view_directory.h"

#define PREFIX "rvs_"
#define CSRF_PREFIX "rvx_" /* another text is proved, so one cannot be used as the other */
#define PROTOCOL_PREFIX "csrf."
#define UID_PREFIX "uid:"
#define PORT_DIGITS_MAX 5u

/* ---- who ---- */

static bool is_uid(const char *who) {
    return strncmp(who, UID_PREFIX, sizeof UID_PREFIX - 1) == 0;
}

bool cookie_who(const struct caller *c, char ret[COOKIE_WHO_BYTES]) {
    bool by_socket = c->id[0] == 0 && (c->roles & ROLE_BIT(ROLE_ADMIN)) && is_uid(c->name);
    if (c->id[0] == 0 && !by_socket) return false;
    return snprintf(ret, COOKIE_WHO_BYTES, "%s", by_socket ? c->name : c->id) < (int)COOKIE_WHO_BYTES;
}

enum err cookie_caller(struct auth *a, const char *who, wall_time now, struct caller *ret, struct why *why) {
    if (oidc_is_session(who)) return oidc_session_caller(a->oidc, who, now, ret, why);
    if (!is_uid(who)) return auth_by_id(a, slice_str(who), now, ret, why);
    *ret = (struct caller){.roles = ROLE_BIT(ROLE_ADMIN), .kind = KIND_PERSON};
    snprintf(ret->name, sizeof ret->name, "%s", who);
    return ERR_OK;
}

/* ---- texts ---- */

/* "rvs_WHO.EXPIRES.NUMBER." and the proof of that. */
static size_t write_it(const struct auth *a, const char *prefix, const struct cookie *c, char out[COOKIE_BYTES]) {
    int len = snprintf(out, COOKIE_BYTES, "%s%s.%llx.%llx.", prefix, c->who, (unsigned long long)c->expires_ms,
                       (unsigned long long)c->number);
    return hmac_token_append(a, out, (size_t)len);
}

void cookie_make(const struct auth *a, const struct cookie *c, char ret[COOKIE_BYTES]) {
    (void)write_it(a, PREFIX, c, ret);
}

enum err cookie_read(const struct auth *a, struct slice text, wall_time now, struct cookie *ret, struct why *why) {
    char given[COOKIE_BYTES] = {0}, ours[COOKIE_BYTES];
    unsigned long long expires = 0, number = 0;
    struct cookie c = {0};
    if (text.len >= sizeof given) return why_set(why, ERR_UNAUTHENTICATED, "invalid cookie");
    if (text.len > 0) memcpy(given, text.ptr, text.len);
    bool good = sscanf(given, PREFIX "%23[^.].%16llx.%16llx.", c.who, &expires, &number) == 3 && expires <= INT64_MAX;
    c.expires_ms = (int64_t)expires;
    c.number = number;
    if (!good || !hmac_token_is_same(text, ours, write_it(a, PREFIX, &c, ours)))
        return why_set(why, ERR_UNAUTHENTICATED, "invalid cookie: log in again");
    if (a->state == NULL) return why_set(why, ERR_BUSY, "the server is reading its journal: try again");
    if (c.expires_ms <= now.ms || view_session_has_ended(a->state, slice_str(c.who), c.number, c.expires_ms))
        return why_set(why, ERR_UNAUTHENTICATED, "the session has expired: log in again");
    *ret = c;
    return ERR_OK;
}

void cookie_csrf(const struct auth *a, const struct cookie *c, char ret[COOKIE_CSRF_BYTES]) {
    char text[COOKIE_BYTES];
    size_t len = write_it(a, CSRF_PREFIX, c, text);
    snprintf(ret, COOKIE_CSRF_BYTES, "%s", text + len - HMAC_TOKEN_HEX_BYTES);
}

static struct slice shown_by_protocol(const struct http_request *r) {
    const struct slice *list = http_header(r, "sec-websocket-protocol");
    struct slice left = list != NULL ? *list : (struct slice){0}, prefix = SLICE(PROTOCOL_PREFIX);
    while (left.len > 0) {
        const uint8_t *comma = memchr(left.ptr, ',', left.len);
        struct slice item = slice_of(left.ptr, comma != NULL ? (size_t)(comma - left.ptr) : left.len);
        size_t used = item.len + (comma != NULL);
        while (item.len > 0 && item.ptr[0] == ' ') item = slice_of(item.ptr + 1, item.len - 1);
        if (slice_begins(item, prefix)) return slice_of(item.ptr + prefix.len, item.len - prefix.len);
        left = slice_of(left.ptr + used, left.len - used);
    }
    return (struct slice){0};
}

bool cookie_csrf_is_shown(const struct auth *a, const struct cookie *c, const struct http_request *r) {
    const struct slice *header = http_header(r, COOKIE_CSRF_HEADER);
    struct slice given = header != NULL ? *header : shown_by_protocol(r);
    char ours[COOKIE_CSRF_BYTES];
    cookie_csrf(a, c, ours);
    return given.len > 0 && hmac_token_is_same(given, ours, strlen(ours));
}

enum err cookie_check(const struct auth *a, struct slice text, const struct http_request *r, wall_time now,
                      struct cookie *ret, struct why *why) {
    struct cookie c;
    enum err e = cookie_read(a, text, now, &c, why);
    if (e == ERR_OK && !cookie_csrf_is_shown(a, &c, r))
        e = why_set(why, ERR_UNAUTHENTICATED,
                    "a cookie alone is not enough: send the header Reeve-CSRF with the `csrf` of the login, or log in "
                    "again");
    if (e == ERR_OK) *ret = c;
    return e;
}

/* ---- heads ---- */

static struct slice port_of(struct slice host) {
    size_t at = host.len;
    while (at > 0 && host.ptr[at - 1] >= '0' && host.ptr[at - 1] <= '9') at--;
    bool is_port = at > 0 && host.ptr[at - 1] == ':' && host.len - at > 0 && host.len - at <= PORT_DIGITS_MAX;
    return is_port ? slice_of(host.ptr + at, host.len - at) : (struct slice){0};
}

void cookie_name_of(const struct http_request *r, const char *front, char ret[COOKIE_NAME_BYTES]) {
    const struct slice *host = http_header(r, "host");
    struct slice port = host != NULL ? port_of(*host) : (struct slice){0};
    snprintf(ret, COOKIE_NAME_BYTES, "%s%s%.*s", front, port.len > 0 ? "_" : "", SLICE_FMT(port));
}

void cookie_name(const struct http_request *r, char ret[COOKIE_NAME_BYTES]) {
    cookie_name_of(r, COOKIE_NAME, ret);
}

/* RFC 6265, 4.2.1: pairs with "; " between them. */
bool cookie_find_named(const struct http_request *r, const char *own, struct slice *ret) {
    const struct slice *header = http_header(r, "cookie");
    struct slice left = header != NULL ? *header : (struct slice){0}, name;
    char text[COOKIE_NAME_BYTES + 1];
    uint32_t count = 0;
    snprintf(text, sizeof text, "%s=", own);
    name = slice_str(text);
    while (left.len > 0) {
        const uint8_t *end = memchr(left.ptr, ';', left.len);
        struct slice pair = slice_of(left.ptr, end != NULL ? (size_t)(end - left.ptr) : left.len);
        size_t used = pair.len + (end != NULL);
        while (pair.len > 0 && pair.ptr[0] == ' ') pair = slice_of(pair.ptr + 1, pair.len - 1);
        if (pair.len > name.len && memcmp(pair.ptr, name.ptr, name.len) == 0) {
            *ret = slice_of(pair.ptr + name.len, pair.len - name.len);
            count++;
        }
        left = slice_of(left.ptr + used, left.len - used);
    }
    return count == 1;
}

bool cookie_find(const struct http_request *r, struct slice *ret) {
    char own[COOKIE_NAME_BYTES];
    cookie_name(r, own);
    return cookie_find_named(r, own, ret);
}
