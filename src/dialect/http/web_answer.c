/* web_answer.c: what leaves by HTTP. Messages come when they may leave; here they become a head and a JSON text, or the
 * chunks of a stream. Nothing here ends a session: whoever sends may still be using it. */
#include "http_out.h"
#include "panic.h"
#include "server_impl.h"
#include "session.h"
#include "web_impl.h"

#define TYPE_JSON "application/json"
#define TYPE_TEXT "text/plain; charset=utf-8"
#define TYPE_METRICS "text/plain; version=0.0.4; charset=utf-8"

/* ---- heads ---- */

void web_put_head(struct server *s, struct session *n, struct http_head *h) {
    const struct web *w = web_of(n);
    const struct http_request *r = &w->in.request;
    bool whole = w->in.state == HTTP_IN_WHOLE;
    h->close = !whole || !r->keep_alive || n->state != SESSION_OPEN || s->draining || n->goodbye;
    h->wall_ms = s->world.clock->wall(s->world.clock).ms;
    h->date = &webs_of(s)->date;
    buf_clear(&webs_of(s)->out);
    http_head_put(&webs_of(s)->out, h);
    webs_of(s)->answers[h->status / 100]++;
    if (w->face->head != NULL) w->face->head(s, n);
    /* To an older peer the new word is told: it will be used again. */
    if (!h->close && r->minor == 0) {
        buf_cut(&webs_of(s)->out, webs_of(s)->out.len - 2);
        buf_put_slice(&webs_of(s)->out, SLICE("Connection: keep-alive\r\n\r\n"));
    }
}

static void put_head(struct server *s, struct session *n, const struct api_said *said, const char *type, int64_t length,
                     const char *allow) {
    struct http_head h = {
        .status = said->status, .type = type, .length = length, .retry_after_s = said->retry_after_s, .allow = allow};
    web_put_head(s, n, &h);
}

void web_say_body(struct server *s, struct session *n, const struct api_said *said, const char *type) {
    struct webs *all = webs_of(s);
    ENSURE(!all->json.full);
    put_head(s, n, said, type, (int64_t)all->json.len, NULL);
    if (web_of(n)->in.request.verb != HTTP_VERB_HEAD) buf_put_slice(&all->out, buf_slice(&all->json));
    session_send_raw(s, n, buf_slice(&all->out));
    web_finished(s, n);
}

void web_send_json(struct server *s, struct session *n, struct http_head *h) {
    struct webs *all = webs_of(s);
    ENSURE(!all->json.full);
    buf_put_u8(&all->json, '\n');
    h->type = TYPE_JSON;
    h->length = (int64_t)all->json.len;
    web_put_head(s, n, h);
    if (web_of(n)->in.request.verb != HTTP_VERB_HEAD) buf_put_slice(&all->out, buf_slice(&all->json));
    session_send_raw(s, n, buf_slice(&all->out));
    web_finished(s, n);
}

/* What is in webs.json, as the answer. */
static void send_json(struct server *s, struct session *n, const struct api_said *said, const char *allow) {
    struct http_head h = {.status = said->status, .retry_after_s = said->retry_after_s, .allow = allow};
    web_send_json(s, n, &h);
}

struct json web_json(struct server *s) {
    struct json j;
    buf_clear(&webs_of(s)->json);
    json_init(&j, &webs_of(s)->json);
    return j;
}

void web_say_error(struct server *s, struct session *n, enum err e, uint16_t status, const char *text,
                   const char *field, const char *allow) {
    struct json j = web_json(s);
    uint32_t retry_ms = err_is_retryable(e) ? 1000 : 0;
    struct api_said said = web_of(n)->face->refusal(&j, e, status, slice_str(text), field, retry_ms);
    send_json(s, n, &said, allow);
}

void web_say_wait(struct server *s, struct session *n, uint32_t wait_ms, const char *text) {
    struct json j = web_json(s);
    struct api_said said = api_error(&j, ERR_BUSY, 0, slice_str(text), NULL, wait_ms);
    send_json(s, n, &said, NULL);
}

void web_say_status(struct server *s, struct session *n, uint16_t status, const char *word, const char *note) {
    struct json j = web_json(s);
    json_object(&j);
    json_key(&j, "status");
    json_str(&j, word);
    if (note != NULL) {
        json_key(&j, "note");
        json_str(&j, note);
    }
    json_object_end(&j);
    send_json(s, n, &(struct api_said){.status = status}, NULL);
}

void web_say_nothing(struct server *s, struct session *n, const char *allow) {
    put_head(s, n, &(struct api_said){.status = 204}, NULL, HTTP_NO_BODY, allow);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
    web_finished(s, n);
}

void web_say_continue(struct server *s, struct session *n) {
    buf_clear(&webs_of(s)->out);
    http_continue_put(&webs_of(s)->out);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
}

void web_misfit(struct server *s, struct session *n, const char *text) {
    web_say_error(s, n, ERR_INVALID, 400, text, NULL, NULL);
}

void web_refuse(struct server *s, struct session *n, uint32_t request, enum err e, const char *text) {
    struct web *w = web_of(n);
    (void)request;
    if (web_is_stream(w)) web_stream_last_word(s, n, WEBSOCKET_POLICY, text);
    if (w->streaming || w->ending || http_in_is_idle(&w->in)) return; /* nothing is owed, or it is too late */
    bool slow = !w->busy && e == ERR_UNAUTHENTICATED;                 /* the hello of HTTP is a head */
    web_say_error(s, n, slow ? ERR_INVALID : e, slow ? 408 : 0, slow ? "the request did not arrive in time" : text,
                  NULL, NULL);
}

/* ---- streams ---- */

/* What is sent of a piece: its bytes, or a line that tells of them. */
static struct slice piece_of(struct server *s, const struct web *w, const struct wire_log_piece *p) {
    if (!w->marks) return p->data;
    struct buf *line = &webs_of(s)->json;
    buf_clear(line);
    buf_printf(line, "{\"offset\":%llu,\"bytes\":%zu,\"stream\":\"%s\",\"time_ms\":%lld}\n",
               (unsigned long long)p->offset, p->data.len, wire_stream_words[p->stream], (long long)p->time_ms);
    return buf_slice(line);
}

/* False: the part that was asked for is not there, and that was said. */
static bool put_stream_head(struct server *s, struct session *n, bool is_log, uint64_t from, uint64_t total) {
    const struct web *w = web_of(n);
    char range[64];
    struct http_head h = {.status = 200,
                          .type = w->marks ? "application/x-ndjson"
                                  : is_log ? "text/plain; charset=utf-8"
                                           : "application/octet-stream",
                          .length = w->in.request.minor == 0 ? HTTP_UNTIL_CLOSE : HTTP_CHUNKED};
    if (w->ranged && !web_range_text(from, w->range_most, total, range)) {
        struct json j = web_json(s);
        (void)api_error(&j, ERR_INVALID, 416, SLICE("the range is empty"), NULL, 0);
        h = (struct http_head){.status = 416, .range = range};
        web_send_json(s, n, &h);
        return false;
    }
    if (w->ranged) {
        h.status = 206;
        h.range = range;
    }
    web_put_head(s, n, &h);
    return true;
}

static void send_piece(struct server *s, struct session *n, enum wire_op op, const void *message, bool last) {
    struct web *w = web_of(n);
    const struct http_request *r = &w->in.request;
    struct wire_log_data log = {0};
    const struct wire_blob_data *blob = message;
    struct wire_log_piece one;
    bool is_log = op == WIRE_LOG_DATA;
    if (is_log) {
        log = *(const struct wire_log_data *)message;
    } else {
        one = (struct wire_log_piece){.data = blob->data};
        log.pieces = (struct tlv_list){&one, 1};
    }
    buf_clear(&webs_of(s)->out);
    const struct wire_log_piece *first = log.pieces.at;
    uint64_t total = is_log ? log.bytes : blob->bytes;
    uint64_t from = !is_log ? blob->offset : log.pieces.count > 0 ? first->offset : total;
    if (!w->streaming && !put_stream_head(s, n, is_log, from, total)) return;
    w->streaming = true;
    bool silent = r->verb == HTTP_VERB_HEAD;
    for (uint32_t i = 0; !silent && i < log.pieces.count; i++)
        if (r->minor == 0)
            buf_put_slice(&webs_of(s)->out, piece_of(s, w, &first[i]));
        else
            http_chunk_put(&webs_of(s)->out, piece_of(s, w, &first[i]));
    if (last && !silent && r->minor != 0) http_chunk_last(&webs_of(s)->out);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
    if (r->minor == 0 && last) w->in.request.keep_alive = false; /* its end is the end of the connection */
    web_deadline(s, w, web_now(s) + s->limits->http_idle_ms);
    if (last) web_finished(s, n);
}

/* The head said that all is well; that it is not can be told only by an end that comes too early. */
static void break_off(struct server *s, struct session *n) {
    server_log(s, SERVER_WARN, "http", "%s: a stream broke off", n->address);
    web_of(n)->in.request.keep_alive = false;
    web_finished(s, n);
}

/* ---- answers ---- */

/* The parts of an answer: those that were held, and the last. */
static uint32_t parts_take(struct server *s, const struct web *w, const void *last, const void ***ret) {
    struct slice held = buf_slice(&w->held), left = held;
    struct frame f;
    struct why why;
    size_t need = 0;
    uint32_t count = 1, n = 0;
    while (left.len > 0 && frame_take(&left, SIZE_MAX, &f, &need, &why) == ERR_OK && need == 0) count++;
    const void **parts = ARENA_ARRAY(&webs_of(s)->arena, const void *, count);
    for (left = held; n + 1 < count; n++) {
        ENSURE(frame_take(&left, SIZE_MAX, &f, &need, &why) == ERR_OK);
        void *message = arena_alloc(&webs_of(s)->arena, wire_info(f.opcode)->desc->size);
        ENSURE(wire_take(&f, &webs_of(s)->arena, message, &why) == ERR_OK);
        parts[n] = message;
    }
    parts[n] = last;
    *ret = parts;
    return count;
}

/* Head and text, into webs.out. */
static void make(struct server *s, struct session *n, uint8_t op, const void *const *parts, uint32_t count) {
    const struct web *w = web_of(n);
    struct json j = web_json(s);
    const char *type = TYPE_JSON;
    struct wire_json_out x = {.json = &j, .arena = &webs_of(s)->arena, .limits = s->limits};
    struct api_said said = {.status = 200};
    if (w->match.route->answer == API_ANSWER_TEXT && op == WIRE_EXPOSED) {
        type = TYPE_METRICS;
        buf_put_slice(&webs_of(s)->json, ((const struct wire_metrics *)parts[0])->text);
    } else if (w->match.route->answer == API_ANSWER_TEXT && op == WIRE_SOURCE_GOT) {
        type = TYPE_TEXT;
        buf_put_slice(&webs_of(s)->json, ((const struct wire_source_got *)parts[0])->text);
    } else {
        said = api_answer(w->match.route, op, parts, count, &x);
        buf_put_u8(&webs_of(s)->json, '\n');
    }
    if (webs_of(s)->json.full || w->held.full) {
        j = web_json(s);
        type = TYPE_JSON;
        said = api_error(&j, ERR_LIMIT, 0, SLICE("the answer is too large: ask for a page of it"), NULL, 0);
        buf_put_u8(&webs_of(s)->json, '\n');
    }
    if (op == WIRE_BUSY && s->draining) said.status = 503;
    put_head(s, n, &said, type, (int64_t)webs_of(s)->json.len, NULL);
    if (w->in.request.verb != HTTP_VERB_HEAD) buf_put_slice(&webs_of(s)->out, buf_slice(&webs_of(s)->json));
}

/* A request that no route names was refused: a login link, or a logout. */
static void say_refusal(struct server *s, struct session *n, enum wire_op op, const void *message) {
    struct json j = web_json(s);
    const struct wire_error *m = message;
    const struct wire_busy *busy = message;
    bool is_busy = op == WIRE_BUSY;
    ENSURE(is_busy || op == WIRE_ERROR);
    struct api_said said =
        web_of(n)->face->refusal(&j, is_busy ? ERR_BUSY : err_find(m->code, ERR_INVALID), 0,
                                 is_busy ? busy->reason : m->message, NULL, is_busy ? busy->retry_after_ms : 0);
    send_json(s, n, &said, NULL);
}

/* Head and text of one message, or of several parts. */
static void answer(struct server *s, struct session *n, enum wire_op op, const void *message) {
    struct web *w = web_of(n);
    const void **parts;
    if (op == WIRE_ERROR || op == WIRE_BUSY) buf_clear(&w->held); /* it alone is the answer */
    if (w->face->answer != NULL) {
        w->face->answer(s, n, (uint8_t)op, message);
        return;
    }
    if (w->mount == NULL && w->match.route == NULL) { /* a login link or a logout that was refused */
        say_refusal(s, n, op, message);
        return;
    }
    uint32_t count = parts_take(s, w, message, &parts);
    if (w->mount != NULL) {
        w->mount->answer(s, n, (uint8_t)op, parts, count);
        return;
    }
    make(s, n, (uint8_t)op, parts, count);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
    web_finished(s, n);
}

static bool is_awaited(const struct session *n, uint32_t request) {
    return web_of(n)->busy && web_of(n)->request == request;
}

bool web_make(struct server *s, struct session *n, uint32_t request, enum wire_op op, const void *message,
              struct slice *ret) {
    const struct web *w = web_of(n);
    bool is_piece = op == WIRE_LOG_DATA || op == WIRE_BLOB_DATA;
    if (!is_awaited(n, request) || w->mount != NULL || w->streaming || w->held.len > 0 || is_piece) return false;
    if (w->match.route == NULL || w->match.route->answer == API_ANSWER_STREAM) return false;
    arena_reset(&webs_of(s)->arena);
    make(s, n, (uint8_t)op, &message, 1);
    *ret = buf_slice(&webs_of(s)->out);
    return true;
}

void web_made(struct server *s, struct session *n, uint32_t request, struct slice made) {
    if (!is_awaited(n, request)) return;
    session_send_raw(s, n, made);
    web_finished(s, n);
}

/* ---- messages ---- */

enum web_hearing { HEARS_NOTHING, HEARS_PIECE, HEARS_CHANGE, HEARS_BREAK, HEARS_PART, HEARS_ANSWER };

/* What a message is to a connection. */
static enum web_hearing hearing_of(const struct session *n, enum wire_op op, uint8_t flags, uint32_t request) {
    const struct web *w = web_of(n);
    if (!(flags & FRAME_ANSWER) || !is_awaited(n, request)) return HEARS_NOTHING;
    if ((op == WIRE_LOG_DATA || op == WIRE_BLOB_DATA) && w->mount == NULL) return HEARS_PIECE;
    if (op == WIRE_KV_EVENT && w->stream != WEB_STREAM_NONE) return HEARS_CHANGE;
    if (w->streaming && w->mount == NULL) return HEARS_BREAK;
    return flags & FRAME_MORE ? HEARS_PART : HEARS_ANSWER;
}

static void hear(struct server *s, struct session *n, enum web_hearing what, enum wire_op op, uint8_t flags,
                 const void *message) {
    switch (what) {
    case HEARS_PIECE: send_piece(s, n, op, message, !(flags & FRAME_MORE)); return;
    case HEARS_CHANGE: web_stream_tell(s, n, op, message); return;
    case HEARS_BREAK: break_off(s, n); return;
    case HEARS_ANSWER: answer(s, n, op, message); return;
    case HEARS_PART:
    case HEARS_NOTHING: return;
    }
}

void web_tell(struct server *s, struct session *n, enum wire_op op, uint8_t flags, uint32_t request,
              const void *message) {
    if (op == WIRE_GOODBYE) web_goodbye(s, n);
    enum web_hearing what = hearing_of(n, op, flags, request);
    if (what == HEARS_PART) wire_put(&web_of(n)->held, op, flags, request, message);
    if (what == HEARS_NOTHING || what == HEARS_PART) return;
    arena_reset(&webs_of(s)->arena);
    hear(s, n, what, op, flags, message);
}

void web_frames(struct server *s, struct session *n, struct slice frames) {
    struct frame f;
    struct why why;
    size_t need = 0;
    while (frames.len > 0) {
        struct slice before = frames;
        ENSURE(frame_take(&frames, SIZE_MAX, &f, &need, &why) == ERR_OK && need == 0);
        enum wire_op op = (enum wire_op)f.opcode;
        enum web_hearing what = hearing_of(n, op, f.flags, f.request);
        if (what == HEARS_PART) buf_put_slice(&web_of(n)->held, slice_of(before.ptr, before.len - frames.len));
        if (what == HEARS_NOTHING || what == HEARS_PART) continue;
        arena_reset(&webs_of(s)->arena);
        void *message = arena_alloc(&webs_of(s)->arena, wire_info(f.opcode)->desc->size);
        ENSURE(wire_take(&f, &webs_of(s)->arena, message, &why) == ERR_OK);
        hear(s, n, what, op, f.flags, message);
    }
}
