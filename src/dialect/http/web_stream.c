/* web_stream.c: a connection of HTTP that has become a stream of events (subscribers.h): the handshake of WebSocket or
 * the head of server-sent events, what a client sends on a WebSocket, and ends. Nothing here ends the session itself:
 * whoever sends may walk a list that the end would change; go_on in web.c does. */
#include "event_stream.h"
#include "http_out.h"
#include "panic.h"
#include "server_impl.h"
#include "session.h"
#include "web_impl.h"

#define PERIODS_OF_SILENCE 3 /* a client answers each ping; one that does not is not there any more */

/* ---- the handshake ---- */

/* RFC 9110, 7.6.1: words with commas between them. */
static bool names(const struct slice *list, const char *word) {
    struct slice left = list != NULL ? *list : (struct slice){0};
    while (left.len > 0) {
        const uint8_t *comma = memchr(left.ptr, ',', left.len);
        size_t len = comma != NULL ? (size_t)(comma - left.ptr) : left.len;
        struct slice item = slice_of(left.ptr, len);
        while (item.len > 0 && item.ptr[0] == ' ') item = slice_of(item.ptr + 1, item.len - 1);
        while (item.len > 0 && item.ptr[item.len - 1] == ' ') item.len--;
        if (http_text_is(item, word)) return true;
        left = comma != NULL ? slice_of(comma + 1, left.len - len - 1) : slice_of(left.ptr, 0);
    }
    return false;
}

static const char *check_upgrade(const struct http_request *r) {
    const struct slice *version = http_header(r, "sec-websocket-version"), *key = http_header(r, "sec-websocket-key");
    if (r->minor == 0 || !names(http_header(r, "connection"), "upgrade"))
        return "an upgrade needs HTTP/1.1 and the header Connection: Upgrade";
    if (version == NULL || !slice_eq(*version, SLICE("13"))) return "Sec-WebSocket-Version has to be 13";
    if (key == NULL || !websocket_key_is_good(*key)) return "Sec-WebSocket-Key is not 16 bytes in base64";
    return NULL;
}

bool web_stream_check(struct server *s, struct session *n) {
    struct web *w = web_of(n);
    const struct http_request *r = &w->in.request;
    bool upgrades = names(http_header(r, "upgrade"), "websocket");
    const char *why = upgrades ? check_upgrade(r) : NULL;
    if (upgrades && w->match.route != NULL && w->match.route->answer == API_ANSWER_WATCH)
        why = "this stream uses server-sent events, not WebSocket";
    w->stream = upgrades ? WEB_STREAM_SOCKET : WEB_STREAM_SSE;
    if (r->verb == HTTP_VERB_GET && why == NULL) return true;
    if (why != NULL)
        web_say_error(s, n, ERR_INVALID, 0, why, NULL, NULL);
    else
        web_say_error(s, n, ERR_UNSUPPORTED, 405, "this path answers to GET", NULL, "GET, OPTIONS");
    return false;
}

static enum event_form form_of(const struct session *n) {
    return web_of(n)->stream == WEB_STREAM_SOCKET ? EVENT_FORM_WEBSOCKET : EVENT_FORM_SSE;
}

static void put_switch(struct server *s, const struct web *w) {
    uint8_t salted[WEBSOCKET_SALTED_BYTES], sha1[DIGEST_SHA1_BYTES];
    char accept[WEBSOCKET_ACCEPT_BYTES];
    websocket_salt(*http_header(&w->in.request, "sec-websocket-key"), salted);
    s->world.hasher->sha1(s->world.hasher, slice_of(salted, sizeof salted), sha1);
    websocket_accept(sha1, accept);
    /* A browser that offers protocols wants one of them to be chosen. */
    bool chosen = names(http_header(&w->in.request, "sec-websocket-protocol"), COOKIE_PROTOCOL);
    buf_printf(&webs_of(s)->out,
               "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Accept: %s\r\n%s\r\n",
               accept, chosen ? "Sec-WebSocket-Protocol: " COOKIE_PROTOCOL "\r\n" : "");
}

void web_stream_begin(struct server *s, struct session *n) {
    struct web *w = web_of(n);
    /* The end of the stream is the end of the connection: so its bytes are the same for everyone, without chunks. */
    struct http_head head = {.status = 200,
                             .type = "text/event-stream; charset=utf-8",
                             .length = HTTP_UNTIL_CLOSE,
                             .close = true,
                             .wall_ms = s->world.clock->wall(s->world.clock).ms};
    buf_clear(&webs_of(s)->out);
    if (w->stream == WEB_STREAM_SOCKET)
        put_switch(s, w);
    else
        http_head_put(&webs_of(s)->out, &head);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
    w->streaming = true;
    w->heard_ms = web_now(s);
    web_deadline(s, w, w->heard_ms + s->limits->http_idle_ms);
    if (n->in.len > 0) web_stream_received(s, n, buf_slice(&n->in)); /* came behind the request */
    buf_clear(&n->in);
    if (n->paused) session_pause(s, n, false);
}

bool web_stream_is_watch(const struct web *w) {
    return web_is_stream(w) && w->match.route != NULL && w->match.route->answer == API_ANSWER_WATCH;
}

void web_stream_tell(struct server *s, struct session *n, enum wire_op op, const void *message) {
    const void *parts[1] = {message};
    if (!web_of(n)->streaming) web_stream_begin(s, n);
    struct json j = web_json(s);
    struct wire_json_out x = {.json = &j, .arena = &webs_of(s)->arena, .limits = s->limits};
    json_object(&j);
    wire_json_put(&x, wire_info((uint8_t)op)->desc, parts, 1, NULL);
    json_object_end(&j);
    ENSURE(!webs_of(s)->json.full);
    buf_clear(&webs_of(s)->out);
    buf_put_slice(&webs_of(s)->out, SLICE("data: "));
    buf_put_slice(&webs_of(s)->out, buf_slice(&webs_of(s)->json));
    buf_put_slice(&webs_of(s)->out, SLICE("\n\n"));
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
}

/* ---- ends ---- */

void web_stream_last_word(struct server *s, struct session *n, enum websocket_code code, const char *why) {
    if (web_of(n)->stream != WEB_STREAM_SOCKET || web_of(n)->ending) return;
    buf_clear(&webs_of(s)->out);
    websocket_close_put(&webs_of(s)->out, (uint16_t)code, why);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
}

void web_stream_end(struct server *s, struct session *n, enum websocket_code code, const char *why) {
    struct web *w = web_of(n);
    if (w->ending) return;
    web_stream_last_word(s, n, code, why);
    w->busy = w->streaming = false;
    w->ending = true;
    *(conn_id *)vec_push(&webs_of(s)->ready) = n->conn;
}

void web_stream_end_session(struct server *s, const struct cookie *c) {
    for (uint32_t i = 1; i <= webs_of(s)->all.high; i++) {
        const struct web *w = pool_at(&webs_of(s)->all, i);
        struct session *n = w->conn.v != 0 && web_is_stream(w) ? session_of(s, w->conn) : NULL;
        if (n != NULL && w->cookie.number == c->number && w->cookie.expires_ms == c->expires_ms)
            web_stream_end(s, n, WEBSOCKET_POLICY, "the session has expired");
    }
}

/* ---- what a client says ---- */

static void pong(struct server *s, struct session *n, struct slice payload) {
    buf_clear(&webs_of(s)->out);
    websocket_head_put(&webs_of(s)->out, WEBSOCKET_PONG, payload.len);
    buf_put_slice(&webs_of(s)->out, payload);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
}

void web_stream_received(struct server *s, struct session *n, struct slice bytes) {
    struct web *w = web_of(n);
    struct websocket_got got;
    w->heard_ms = web_now(s);
    if (w->stream != WEB_STREAM_SOCKET) return; /* nothing is expected, and nothing done with it */
    while (!w->ending && websocket_take(&w->socket, &bytes, &got)) {
        switch (got.what) {
        case WEBSOCKET_GOT_MESSAGE: /* nobody here has questions that are asked this way */
        case WEBSOCKET_GOT_PONG: break;
        case WEBSOCKET_GOT_PING: pong(s, n, got.payload); break;
        case WEBSOCKET_GOT_CLOSE:
            web_stream_end(s, n, got.code != 0 ? (enum websocket_code)got.code : WEBSOCKET_NORMAL, "");
            break;
        case WEBSOCKET_BAD: web_stream_end(s, n, (enum websocket_code)got.code, got.why); break;
        }
    }
}

/* ---- time ---- */

void web_stream_ping(struct server *s, struct session *n, int64_t period_ms) {
    const struct web *w = web_of(n);
    int64_t now = web_now(s);
    bool socket = w->stream == WEB_STREAM_SOCKET;
    if (w->ending) return;
    if (n->who.expires_ms != 0 && n->who.expires_ms <= s->world.clock->wall(s->world.clock).ms) {
        web_stream_end(s, n, WEBSOCKET_POLICY, "the token has expired");
        return;
    }
    if (socket && now > w->heard_ms + PERIODS_OF_SILENCE * period_ms) {
        web_stream_end(s, n, WEBSOCKET_POLICY, "no answer to pings");
        return;
    }
    buf_clear(&webs_of(s)->out);
    if (socket)
        websocket_head_put(&webs_of(s)->out, WEBSOCKET_PING, 0);
    else
        buf_put_slice(&webs_of(s)->out, SLICE(":\n\n")); /* a comment */
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
}

/* ---- events ---- */

static bool is_ending(const struct session *n) {
    return web_of(n)->ending;
}

static void end_well(struct server *s, struct session *n, const char *why) {
    web_stream_end(s, n, WEBSOCKET_NORMAL, why);
}

const struct event_stream_ops web_events = {form_of, web_stream_begin, is_ending, end_well, web_stream_ping};
