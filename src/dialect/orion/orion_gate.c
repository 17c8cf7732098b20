/* orion_gate.c: who may come by Orion's listener, and how often. See orion_session.h. */
#include "orion_gate.h"

#include <stdio.h>

#include "authenticate.h"
#include "hash.h"
#include "http_dialect.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"

static void refuse(struct server *s, struct session *n, uint16_t status, enum err e, const char *text) {
    web_say_error(s, n, e, status, text, NULL, NULL);
}

/* ---- pages ---- */

static bool is_listed(struct slice origin, const char *origins) {
    struct slice left = slice_str(origins != NULL ? origins : "");
    while (left.len > 0) {
        const uint8_t *comma = memchr(left.ptr, ',', left.len);
        struct slice one = slice_of(left.ptr, comma != NULL ? (size_t)(comma - left.ptr) : left.len);
        if (slice_eq(one, origin)) return true;
        left = comma != NULL ? slice_of(comma + 1, left.len - one.len - 1) : slice_of(left.ptr, 0);
    }
    return false;
}

const struct slice *orion_origin(const struct server *s, const struct session *n) {
    const struct slice *origin = http_header(&web_of(n)->in.request, "origin");
    if (origin == NULL) return NULL;
    return web_is_own_page(n, *origin) || is_listed(*origin, orion_of(s)->options->origins) ? origin : NULL;
}

static bool check_page(struct server *s, struct session *n) {
    if (!web_knows_host(s, n)) {
        refuse(s, n, 421, ERR_INVALID, "this server is not called that here: http_hosts names what it may be called");
        return false;
    }
    if (http_header_count(&web_of(n)->in.request, "origin") == 0 || orion_origin(s, n) != NULL) return true;
    refuse(s, n, 0, ERR_FORBIDDEN,
           "pages of this origin may not talk to this server: --cors-origin names those that may");
    return false;
}

/* ---- rights ---- */

/* The request whose rights each call uses; the stream tells what ORION_GET shows. */
static uint8_t request_of(enum orion_call call) {
    switch (call) {
    case ORION_DAG: return WIRE_SUBMIT;
    case ORION_CRASH:
    case ORION_RECOVER: return WIRE_PLAYGROUND_DO;
    case ORION_STATUS:
    case ORION_LIVE:
    case ORION_ADMIN:
    case ORION_STATE:
    case ORION_METRICS:
    case ORION_DAGS:
    case ORION_WS: return WIRE_ORION_GET;
    case ORION_HEALTH:
    case ORION_READY:
    case ORION_NOTHING: break; /* answered to anyone */
    }
    return 0;
}

static bool is_admin(enum orion_call call) {
    return call == ORION_CRASH || call == ORION_RECOVER;
}

/* ---- callers ---- */

static bool is_loopback(const struct session *n) {
    return n->is_local || strncmp(n->address, "127.", 4) == 0 || strncmp(n->address, "[::1]", 5) == 0 ||
           strncmp(n->address, "[::ffff:127.", 12) == 0;
}

static struct slice token_of(const struct http_request *r) {
    const struct slice *given = http_header(r, "authorization"), *orion = http_header(r, ORION_TOKEN_HEADER);
    if (given != NULL && given->len > 7 && http_text_is(slice_of(given->ptr, 7), "bearer "))
        return slice_of(given->ptr + 7, given->len - 7);
    return orion != NULL ? *orion : (struct slice){0};
}

static bool may_be_guest(const struct server *s, const struct session *n) {
    if (s->options.needs_tls && !n->is_tls) return false;
    return orion_of(s)->options->guests == ORION_GUESTS_EVERYONE ||
           (orion_of(s)->options->guests == ORION_GUESTS_LOOPBACK && is_loopback(n));
}

static bool check_caller(struct server *s, struct session *n, enum orion_call call) {
    struct slice token = token_of(&web_of(n)->in.request);
    struct why why = {{0}};
    enum err e = ERR_OK;
    n->state = SESSION_NEW;
    n->job = (struct attempt_effect){0};
    n->who = (struct caller){0};
    if (token.len > 0 || !may_be_guest(s, n)) {
        e = authenticate(s, n, token, (struct slice){0}, &why);
    } else {
        n->who.roles = ROLE_BIT(ROLE_SUBMITTER) | ROLE_BIT(ROLE_VIEWER);
        snprintf(n->who.name, sizeof n->who.name, "%s", ORION_GUEST);
    }
    if (e != ERR_OK) {
        refuse(s, n, 0, e, why.text);
        return false;
    }
    /* What concerns all tenants is asked for by who is of none. */
    if (n->who.tenant[0] == 0 && !is_admin(call))
        snprintf(n->who.tenant, sizeof n->who.tenant, "%s", orion_of(s)->options->tenant);
    n->state = SESSION_OPEN;
    return true;
}

/* ---- how often ---- */

static struct orion_bucket *bucket_of(struct server *s, const char *address, size_t len) {
    struct orion_bucket *b = &orion_of(s)->buckets[hash64(address, len, 0) % ORION_BUCKETS];
    if (strlen(b->address) == len && memcmp(b->address, address, len) == 0) return b;
    /* Another one's place: who is turned out had it least to fear, and a full bucket is what a newcomer gets. */
    *b = (struct orion_bucket){.at_ms = web_now(s), .level_milli = s->limits->orion_burst * 1000};
    snprintf(b->address, sizeof b->address, "%.*s", (int)len, address);
    return b;
}

/* Orion's 5 a second and 10 at once, by address; nobody on this machine is counted. */
static bool check_rate(struct server *s, struct session *n) {
    if (is_loopback(n)) return true;
    const char *colon = strrchr(n->address, ':');
    size_t len = colon != NULL ? (size_t)(colon - n->address) : strlen(n->address);
    struct orion_bucket *b = bucket_of(s, n->address, len < 47 ? len : 47);
    int64_t now = web_now(s), most = s->limits->orion_burst * 1000;
    b->level_milli += (now - b->at_ms) * s->limits->orion_rate;
    if (b->level_milli > most) b->level_milli = most;
    b->at_ms = now;
    if (b->level_milli < 1000) {
        refuse(s, n, 429, ERR_BUSY, "rate limit exceeded");
        return false;
    }
    b->level_milli -= 1000;
    return true;
}

/* ---- heads ---- */

/* What anyone may ask. */
static bool answer_health(struct server *s, struct session *n, enum orion_call call) {
    bool well = call == ORION_HEALTH || server_unready(s) == NULL;
    if (call != ORION_HEALTH && call != ORION_READY) return false;
    if (well)
        web_say_status(s, n, 200, call == ORION_HEALTH ? "alive" : "ready", NULL);
    else
        refuse(s, n, 503, ERR_BUSY, "scheduler offline");
    return true;
}

static bool check_call(struct server *s, struct session *n, enum orion_call call) {
    const struct http_request *r = &web_of(n)->in.request;
    const struct slice *key = http_header(r, "idempotency-key");
    if (is_admin(call) && token_of(r).len == 0) {
        refuse(s, n, 0, ERR_UNAUTHENTICATED, "admin demo token required");
        return false;
    }
    if (call == ORION_DAG && !check_rate(s, n)) return false;
    if (!check_caller(s, n, call)) return false;
    struct why why = {{0}};
    enum err e = request_may(s, n, request_of(call), &why);
    if (e != ERR_OK && is_admin(call)) {
        refuse(s, n, 401, ERR_UNAUTHENTICATED, "admin demo token required: this one has no role for it");
        return false;
    }
    if (e != ERR_OK) {
        refuse(s, n, 0, e, why.text);
        return false;
    }
    if (call == ORION_DAG && (key == NULL || key->len == 0)) {
        refuse(s, n, 0, ERR_INVALID, "missing Idempotency-Key header");
        return false;
    }
    return true;
}

bool orion_admit(struct server *s, struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    bool fits = false;
    enum orion_call call = orion_find(r, &fits);
    if (!check_page(s, n)) return false;
    if (r->verb == HTTP_VERB_OPTIONS) {
        web_say_nothing(s, n, "GET, POST, OPTIONS");
        return false;
    }
    if (call == ORION_NOTHING) {
        refuse(s, n, 0, ERR_NOT_FOUND, "there is nothing at this path");
        return false;
    }
    if (!fits) {
        web_say_error(s, n, ERR_UNSUPPORTED, 405, "method not allowed", NULL, orion_verb(call));
        return false;
    }
    if (answer_health(s, n, call)) return false;
    if (s->draining) {
        refuse(s, n, 503, ERR_BUSY, "scheduler is offline or recovering");
        return false;
    }
    web_of(n)->call = (uint8_t)call;
    return check_call(s, n, call);
}
