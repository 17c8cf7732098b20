/* titan_web.c: requests in, answers out, and who may come. See titan_web.h. */
#include "titan_web.h"

#include <stdarg.h>
#include <stdio.h>

#include "http_dialect.h"
#include "multipart.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"

#define ERROR_BYTES_MAX 1024u

/* ---- life ---- */

static void opened(void *ctx, conn_id conn, const struct net_peer *peer) {
    (void)session_open(ctx, conn, peer, &titan_web_dialect);
}

void titan_web_init(struct server *s) {
    titan_of(s)->web_handler = s->handler;
    titan_of(s)->web_handler.opened = opened;
}

/* ---- heads ---- */

static void refuse(struct server *s, struct session *n, uint16_t status, enum err e, const char *text) {
    web_say_error(s, n, e, status, text, NULL, NULL);
}

/* Any page in a browser of this machine can send to loopback, and its name server can lead its own name there. What a
 * browser sends for another page says so; Titan's scripts say nothing of pages. */
static bool check_page(struct server *s, struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    const struct slice *origin = http_header(r, "origin"), *site = http_header(r, "sec-fetch-site");
    bool reads = r->verb == HTTP_VERB_GET || r->verb == HTTP_VERB_HEAD;
    if (!web_knows_host(s, n)) {
        refuse(s, n, 421, ERR_FORBIDDEN, "this server is not called that here: http_hosts names what it may be called");
        return false;
    }
    bool foreign = http_header_count(r, "origin") > 0 && (origin == NULL || !web_is_own_page(n, *origin));
    if (!foreign && !reads && http_header_count(r, "sec-fetch-site") > 0)
        foreign = site == NULL || (!slice_eq(*site, SLICE("same-origin")) && !slice_eq(*site, SLICE("none")));
    if (foreign) refuse(s, n, 0, ERR_FORBIDDEN, "pages of other origins may not talk to this server");
    return !foreign;
}

static bool check_body(struct server *s, struct session *n, enum titan_body body) {
    const struct http_request *r = &web_of(n)->in.request;
    const struct slice *type = http_header(r, "content-type");
    struct multipart ignored;
    if (body == TITAN_BODY_JSON && !web_is_json(r))
        refuse(s, n, 415, ERR_UNSUPPORTED, "this is sent as content-type: application/json");
    else if (body == TITAN_BODY_FORM && (type == NULL || !multipart_begin(*type, (struct slice){0}, &ignored)))
        refuse(s, n, 400, ERR_INVALID, "No file part");
    else
        return true;
    return false;
}

static bool admit(struct server *s, struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    struct titan_asked asked;
    arena_reset(&webs_of(s)->arena);
    if (!check_page(s, n)) return false;
    bool found = titan_http_find(r, &webs_of(s)->arena, &asked);
    if (r->verb == HTTP_VERB_OPTIONS) {
        web_say_nothing(s, n, found ? asked.allow : "GET, HEAD, POST, OPTIONS");
    } else if (!found) {
        refuse(s, n, 0, ERR_NOT_FOUND, "there is nothing at this path");
    } else if (!asked.fits) {
        web_say_error(s, n, ERR_UNSUPPORTED, 405, "method not allowed", NULL, asked.allow);
    } else if (s->draining) {
        refuse(s, n, 503, ERR_BUSY, "the server is stopping");
    } else if (check_body(s, n, asked.body)) {
        web_of(n)->call = (uint8_t)asked.call;
        titan_be(s, n);
        return true;
    }
    return false;
}

/* ---- requests ---- */

/* What the pages show, the console has: there, live, and for who has logged in. */
static void page_elsewhere(struct server *s, struct session *n, const char *path) {
    char place[600];
    snprintf(place, sizeof place, "%.*s%s", SLICE_FMT(bytes_slice(s->reached_at)), path);
    struct http_head h = {.status = 302, .length = 0, .location = place};
    web_put_head(s, n, &h);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
    titan_talk_reset(talk_of(n));
    web_finished(s, n);
}

static const char *page_path(enum titan_call call) {
    return call == TITAN_CALL_PAGE_NEW    ? "/new"
           : call == TITAN_CALL_PAGE_RUNS ? "/agents"
           : call == TITAN_CALL_PAGE      ? "/"
                                          : "/flows";
}

/* Of a message that could not be asked, or a frame that nobody expected to fail. */
static void said_otherwise(struct server *s, struct session *n, struct slice text) {
    titan_page_error(s, n, 400, "%.*s", SLICE_FMT(titan_page_reason(text)));
}

static void page_serve(struct server *s, struct session *n) {
    static const titan_page_fn pages[TITAN_CALL_COUNT] = {[TITAN_CALL_LOGS] = titan_page_logs,
                                                          [TITAN_CALL_DAGS] = titan_page_dags,
                                                          [TITAN_CALL_SUBMIT] = titan_page_submit,
                                                          [TITAN_CALL_DRAFT_SAVE] = titan_page_draft_save,
                                                          [TITAN_CALL_DRAFTS] = titan_page_drafts,
                                                          [TITAN_CALL_DRAFT] = titan_page_draft,
                                                          [TITAN_CALL_REDEPLOY] = titan_page_redeploy,
                                                          [TITAN_CALL_REPLAY] = titan_page_replay,
                                                          [TITAN_CALL_DAG_CANCEL] = titan_page_dag_cancel,
                                                          [TITAN_CALL_JOB_CANCEL] = titan_page_job_cancel,
                                                          [TITAN_CALL_PENDING] = titan_page_pending,
                                                          [TITAN_CALL_APPROVE] = titan_page_approve,
                                                          [TITAN_CALL_REJECT] = titan_page_reject,
                                                          [TITAN_CALL_FILES] = titan_page_files,
                                                          [TITAN_CALL_FILE] = titan_page_file,
                                                          [TITAN_CALL_SCRIPTS] = titan_page_scripts,
                                                          [TITAN_CALL_UPLOAD] = titan_page_upload,
                                                          [TITAN_CALL_MANIFEST] = titan_page_manifest,
                                                          [TITAN_CALL_LAUNCH] = titan_page_launch};
    struct titan_asked asked;
    web_of(n)->busy = talk_of(n)->busy = true;
    talk_of(n)->said = said_otherwise;
    if (!titan_http_find(&web_of(n)->in.request, &talk_of(n)->arena, &asked)) asked = (struct titan_asked){0};
    titan_page_fn page = pages[web_of(n)->call];
    if (page != NULL)
        page(s, n, asked.word);
    else
        page_elsewhere(s, n, page_path((enum titan_call)web_of(n)->call));
}

/* Sets aside what an earlier frame of this request has left. */
void titan_page_call(struct server *s, struct session *n, titan_serve_fn serve, struct slice body, titan_said_fn said) {
    struct titan_talk *t = talk_of(n);
    size_t most = t->text.max;
    buf_fini(&t->text);
    buf_init(&t->text, most);
    t->said = said;
    serve(s, n, body);
}

struct slice titan_page_print(struct session *n, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = arena_alloc(&talk_of(n)->arena, (size_t)len + 1);
    va_start(args, format);
    (void)vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return slice_of(text, (size_t)len);
}

struct slice titan_page_reason(struct slice text) {
    struct slice word = SLICE("ERROR: ");
    bool has = text.len > word.len && memcmp(text.ptr, word.ptr, word.len) == 0;
    return has ? slice_of(text.ptr + word.len, text.len - word.len) : text;
}

/* ---- answers ---- */

/* Flask answers what is wrong with a request by 400. */
static struct api_said refusal(struct json *j, enum err e, uint16_t status, struct slice text, const char *field,
                               uint32_t retry_after_ms) {
    (void)field;
    uint16_t usual = (uint16_t)err_http_status(e);
    json_object(j);
    json_key(j, "error"), json_text(j, text.len > 0 ? text : slice_str(err_meaning(e)));
    json_object_end(j);
    return (struct api_said){status != 0 ? status : usual == 422 ? 400 : usual, (retry_after_ms + 999) / 1000};
}

void titan_page_say(struct server *s, struct session *n, uint16_t status) {
    struct http_head h = {.status = status};
    if (webs_of(s)->json.full) {
        struct json j = web_json(s);
        h.status = refusal(&j, ERR_LIMIT, 0, SLICE("the answer is too large"), NULL, 0).status;
    }
    titan_talk_reset(talk_of(n));
    web_send_json(s, n, &h);
}

void titan_page_text(struct server *s, struct session *n, struct slice text) {
    struct api_said said = {.status = 200};
    buf_clear(&webs_of(s)->json);
    buf_put_slice(&webs_of(s)->json, text);
    titan_talk_reset(talk_of(n));
    web_say_body(s, n, &said, "text/plain; charset=utf-8");
}

void titan_page_error(struct server *s, struct session *n, uint16_t status, const char *format, ...) {
    char text[ERROR_BYTES_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct json j = web_json(s);
    (void)refusal(&j, ERR_INVALID, status, slice_str(text), NULL, 0);
    titan_page_say(s, n, status);
}

void titan_page_failed(struct server *s, struct session *n, uint16_t status, const char *key, struct slice text) {
    struct json j = web_json(s);
    json_object(&j);
    json_key(&j, "status"), json_str(&j, "error");
    json_key(&j, key), json_text(&j, text);
    json_object_end(&j);
    titan_page_say(s, n, status);
}

bool titan_page_refused(struct server *s, struct session *n, uint8_t op, const void *message) {
    const struct wire_error *error = message;
    const struct wire_busy *busy = message;
    if (op != WIRE_ERROR && op != WIRE_BUSY) return false;
    struct json j = web_json(s);
    struct api_said said = op == WIRE_ERROR ? refusal(&j, api_err_of(error->code), 0, error->message, NULL, 0)
                                            : refusal(&j, ERR_BUSY, 503, busy->reason, NULL, 0);
    titan_page_say(s, n, said.status);
    return true;
}

/* What comes in place of a file that was to be streamed. */
static void broken(struct server *s, struct session *n, uint8_t op, const void *message) {
    if (!titan_page_refused(s, n, op, message)) titan_page_error(s, n, 500, "the file could not be read");
}

/* ---- keys ---- */

static void walk_ask(struct server *s, struct session *n, struct slice after);

static void walk_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct titan_walk *w = talk_of(n)->work;
    const struct wire_kv_items *m = message;
    size_t prefix = strlen(w->prefix);
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    const struct wire_kv_item *items = m->items.at;
    for (uint32_t i = 0; i < m->items.count; i++)
        w->take(n, slice_of(items[i].key.ptr + prefix, items[i].key.len - prefix), &items[i]);
    if (m->after.len > 0)
        walk_ask(s, n, m->after);
    else
        w->done(s, n);
}

static void walk_ask(struct server *s, struct session *n, struct slice after) {
    const struct titan_walk *w = talk_of(n)->work;
    struct wire_kv_get get = {.prefix = slice_str(w->prefix), .after = after, .most = w->most};
    titan_ask(s, n, WIRE_KV_GET, &get, walk_told);
}

void titan_page_walk(struct server *s, struct session *n, const struct titan_walk *w) {
    talk_of(n)->work = arena_copy(&talk_of(n)->arena, w, sizeof *w);
    walk_ask(s, n, (struct slice){0});
}

/* ---- the dialect ---- */

static const char *listen(const struct server *s) {
    return titan_of(s)->options->http_listen;
}

static const struct http_face face = {
    .listen = listen, .admit = admit, .serve = page_serve, .refusal = refusal, .answer = broken};

static bool open(struct server *s, struct session *n) {
    if (!web_open(s, n, &face)) return false;
    struct titan_talk *t = titan_talk_open(s, n);
    if (t == NULL) return false;
    web_of(n)->own = t;
    t->has_served = true; /* no frame is on its way (titan_fleet.h) */
    return true;
}

static void closed(struct server *s, struct session *n) {
    titan_talk_close(s, web_of(n)->own);
    web_closed(s, n);
}

/* What the talk has asked for is its own; files that are streamed and refusals leave as by HTTP. */
static void tell(struct server *s, struct session *n, enum wire_op op, uint8_t flags, uint32_t request,
                 const void *message) {
    if (talk_of(n)->busy)
        titan_tell(s, n, op, flags, request, message);
    else
        web_tell(s, n, op, flags, request, message);
}

static void frames(struct server *s, struct session *n, struct slice bytes) {
    if (talk_of(n)->busy)
        titan_heard(s, n, bytes);
    else
        web_frames(s, n, bytes);
}

static uint64_t memory_bytes(const struct session *n) {
    return web_memory_bytes(n) + titan_memory_bytes(talk_of(n));
}

const struct dialect_ops titan_web_dialect = {.name = "HTTP",
                                              .spoken = SPOKEN_TITAN,
                                              .first = SNIFF_BIT(SNIFF_HTTP),
                                              .misfits = HTTP_MISFITS,
                                              .open = open,
                                              .closed = closed,
                                              .received = web_received,
                                              .decode = request_decode,
                                              .tell = tell,
                                              .frames = frames,
                                              .refuse = web_refuse,
                                              .misfit = web_misfit,
                                              .drained = web_drained,
                                              .is_idle = web_is_idle,
                                              .memory_bytes = memory_bytes,
                                              .part_bytes = web_part_bytes,
                                              .own_op = WIRE_TITAN_GET,
                                              .own_row = &titan_own_row};
