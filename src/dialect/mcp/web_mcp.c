/* web_mcp.c: agents by HTTP: the Model Context Protocol, transport "streamable HTTP", at /mcp. What a text means is in
 * mcp/; each message that a tool asks goes into its lane as if the caller had sent it, so rights, limits, audit trail
 * are the caller's, and an answer leaves when its state is durable.
 *
 * Nothing is kept between requests, so a restart of the server ends no session: the id that initialize hands out is a
 * name that tells one client's calls from another's with the same token, and no record. An answer is one JSON text; who
 * wants to hear of progress, and can, gets events, the last of which is the answer. */
#include <stdio.h>

#include "authenticate.h"
#include "http_dialect.h"
#include "mcp.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"
#include "web_mcp.h"

#define VERBS "POST, OPTIONS"
#define SESSION_HEADER "mcp-session-id"
#define REVISION_HEADER "mcp-protocol-version"
#define SESSION_BYTES 129u
#define GUESTS_MAX 10000u /* calls under way at once */

struct mcp_guest { /* a request of an agent that is being served */
    conn_id conn;  /* first: never 0 while in use */
    struct server *s;
    char session[SESSION_BYTES]; /* that the agent says it is; empty = none */
    enum mcp_revision revision;
    struct mcp_world world;
    struct mcp_exchange x;
};

static struct mcp_guest *guest_of(struct server *s, const struct session *n) {
    return pool_at(&webs_of(s)->exchanges, web_of(n)->exchange);
}

static void closed(struct server *s, struct session *n) {
    struct mcp_guest *g = guest_of(s, n);
    mcp_end(&g->x);
    pool_free(&webs_of(s)->exchanges, web_of(n)->exchange);
    web_of(n)->exchange = 0;
    web_of(n)->mount = NULL;
}

/* ---- heads ---- */

static bool accepts(const struct http_request *r, const char *type) {
    const struct slice *accept = http_header(r, "accept");
    return accept != NULL && accept->len > 0 && memmem(accept->ptr, accept->len, type, strlen(type)) != NULL;
}

static bool accepts_json(const struct http_request *r) {
    return http_header_count(r, "accept") == 0 || accepts(r, "application/json") || accepts(r, "*/*");
}

/* Without the header it is a client of the revision that did not have it yet. */
static bool revision_of(const struct http_request *r, enum mcp_revision *ret) {
    const struct slice *given = http_header(r, REVISION_HEADER);
    *ret = MCP_2025_03_26;
    return given == NULL ? http_header_count(r, REVISION_HEADER) == 0 : mcp_revision_of(*given, ret);
}

static bool admit(struct server *s, struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    enum mcp_revision ignored;
    if (r->verb != HTTP_VERB_POST)
        web_say_error(s, n, ERR_UNSUPPORTED, 405, "agents POST their messages here; there is no stream to open", NULL,
                      VERBS);
    else if (!web_is_json(r))
        web_say_error(s, n, ERR_UNSUPPORTED, 415, "messages are sent as content-type: application/json", NULL, NULL);
    else if (!accepts_json(r))
        web_say_error(s, n, ERR_UNSUPPORTED, 406, "answers are application/json: say so in accept", NULL, NULL);
    else if (!revision_of(r, &ignored))
        web_say_error(s, n, ERR_UNSUPPORTED, 400, "unknown revision; expected 2025-06-18, 2025-03-26 or 2024-11-05",
                      NULL, NULL);
    else
        authenticate_agent(&n->who);
    return n->who.is_by_mcp;
}

/* ---- answers ---- */

static void send(struct server *s, struct session *n, struct http_head *h, const char *session, struct slice body) {
    web_put_head(s, n, h);
    if (session != NULL) {
        buf_cut(&webs_of(s)->out, webs_of(s)->out.len - 2);
        buf_printf(&webs_of(s)->out, "Mcp-Session-Id: %s\r\n\r\n", session);
    }
    buf_put_slice(&webs_of(s)->out, body);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
}

/* One message as an event, behind a head that was or is sent. */
static void send_event(struct server *s, struct session *n, struct slice message, bool is_last) {
    struct http_head h = {.status = 200, .type = "text/event-stream", .length = HTTP_CHUNKED};
    struct buf event;
    buf_clear(&webs_of(s)->out);
    if (!web_of(n)->streaming) web_put_head(s, n, &h);
    web_of(n)->streaming = true;
    buf_init(&event, message.len + 64);
    buf_printf(&event, "event: message\ndata: ");
    buf_put_slice(&event, message);
    buf_printf(&event, "\n\n");
    http_chunk_put(&webs_of(s)->out, buf_slice(&event));
    buf_fini(&event);
    if (is_last) http_chunk_last(&webs_of(s)->out);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
}

static void finish(struct server *s, struct session *n) {
    struct mcp_guest *g = guest_of(s, n);
    struct slice said = mcp_said(&g->x);
    if (web_of(n)->streaming) {
        send_event(s, n, said, true);
        closed(s, n);
        web_finished(s, n);
        return;
    }
    struct http_head h = {.status = said.len == 0 ? 202 : g->x.is_bad ? 400 : 200, .length = (int64_t)said.len};
    char session[40];
    if (said.len > 0) h.type = "application/json";
    snprintf(session, sizeof session, "%016llx%016llx", (unsigned long long)s->world.clock->random(s->world.clock),
             (unsigned long long)s->world.clock->random(s->world.clock));
    send(s, n, &h, g->x.was_initialize ? session : NULL, said);
    closed(s, n);
    web_finished(s, n);
}

/* Asks what the exchange wants asked, or says what came of it. Nothing may follow: an answer may come at once. */
static void advance(struct server *s, struct session *n) {
    const struct mcp_guest *g = guest_of(s, n);
    uint8_t op = 0;
    const void *message = mcp_asks(&g->x, &op);
    buf_clear(&web_of(n)->held);
    if (message != NULL)
        web_give(s, n, op);
    else
        finish(s, n);
}

/* The message lies in the exchange until it is answered. */
static bool decode(struct server *s, struct request *r) {
    uint8_t op = 0;
    r->message = mcp_asks(&guest_of(s, r->session)->x, &op);
    return r->message != NULL;
}

static void answer(struct server *s, struct session *n, uint8_t op, const void *const *parts, uint32_t count) {
    struct mcp_guest *g = guest_of(s, n);
    g->world.wall_ms = s->world.clock->wall(s->world.clock).ms;
    mcp_hear(&g->x, op, parts, count);
    advance(s, n);
}

/* ---- requests ---- */

static void hash(void *ctx, struct slice bytes, uint8_t ret[32]) {
    const struct mcp_guest *g = ctx;
    g->s->world.hasher->whole(g->s->world.hasher, bytes, ret);
}

static void notify(void *ctx, struct slice message) {
    const struct mcp_guest *g = ctx;
    struct session *n = session_of(g->s, g->conn);
    send_event(g->s, n, message, false);
}

static bool is_same_caller(const struct session *a, const struct session *b) {
    return strcmp(a->who.name, b->who.name) == 0 && strcmp(a->who.tenant, b->who.tenant) == 0 &&
           strcmp(a->who.id, b->who.id) == 0;
}

/* The request that brought the call is answered with nothing; what it waits for is stopped, and nobody hears of it. */
static void call_off(struct server *s, struct session *n) {
    struct web *w = web_of(n);
    struct wire_stop stop = {.request = w->request};
    struct http_head h = {.status = 202};
    if (w->streaming) {
        buf_clear(&webs_of(s)->out);
        http_chunk_last(&webs_of(s)->out);
        session_send_raw(s, n, buf_slice(&webs_of(s)->out));
    } else {
        send(s, n, &h, NULL, (struct slice){0});
    }
    closed(s, n);
    web_finished(s, n);
    buf_clear(&webs_of(s)->out);
    tlv_encode(&wire_stop_desc, &stop, &webs_of(s)->out);
    session_enqueue(s, n, WIRE_STOP, web_request_next(w), buf_slice(&webs_of(s)->out));
}

static void cancelled(void *ctx, struct slice id) {
    const struct mcp_guest *by = ctx;
    struct server *s = by->s;
    const struct session *caller = session_of(s, by->conn);
    if (by->session[0] == 0) return; /* ids of calls are those of a session */
    for (uint32_t i = 1; i <= webs_of(s)->exchanges.high; i++) {
        const struct mcp_guest *g = pool_at(&webs_of(s)->exchanges, i);
        if (g->conn.v == 0 || g == by || strcmp(g->session, by->session) != 0 || !g->x.is_calling) continue;
        struct session *n = session_of(s, g->conn);
        if (!slice_eq(g->x.id, id) || n == NULL || !is_same_caller(n, caller)) continue;
        call_off(s, n);
        return;
    }
}

static void serve(struct server *s, struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    const struct slice *session = http_header(r, SESSION_HEADER);
    uint32_t index = pool_alloc(&webs_of(s)->exchanges);
    if (index == 0) {
        web_say_wait(s, n, 1000, "too many calls of agents at once");
        return;
    }
    struct mcp_guest *g = pool_at(&webs_of(s)->exchanges, index);
    g->conn = n->conn;
    g->s = s;
    web_of(n)->mount = &mcp_mount;
    web_of(n)->exchange = index;
    if (session != NULL && session->len < SESSION_BYTES) memcpy(g->session, session->ptr, session->len);
    (void)revision_of(r, &g->revision);
    g->world = (struct mcp_world){.ctx = g,
                                  .limits = s->limits,
                                  .wall_ms = s->world.clock->wall(s->world.clock).ms,
                                  .place = s->options.listen,
                                  .version = s->options.build,
                                  .hash = hash,
                                  .cancelled = cancelled};
    if (accepts(r, "text/event-stream") && r->minor > 0) g->world.notify = notify;
    mcp_begin(&g->x, &g->world, &g->revision, r->body);
    advance(s, n);
}

const struct http_mount mcp_mount = {.path = "/mcp",
                                     .verbs = VERBS,
                                     .exchange_bytes = sizeof(struct mcp_guest),
                                     .exchanges_max = GUESTS_MAX,
                                     .admit = admit,
                                     .serve = serve,
                                     .decode = decode,
                                     .answer = answer,
                                     .closed = closed};
