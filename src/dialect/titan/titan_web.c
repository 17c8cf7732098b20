/* titan_web.c: requests in, answers out, and who may come. See titan_web.h. */
#include "titan_web.h"

#include <stdarg.h>
#include <stdio.h>

#include "multipart.h"
#include "session.h"
#include "web_impl.h"

#define ERROR_BYTES_MAX 1024u

/* ---- life ---- */

static void opened(void *ctx, conn_id conn, const struct net_peer *peer) {
    struct server *s = ctx;
    s->handler.opened(ctx, conn, peer);
    struct session *n = session_of(s, conn);
    struct titan_talk *t = n != NULL ? titan_talk_open(s, n) : NULL;
    if (t == NULL) return;
    t->has_served = true; /* no frame is on its way (titan_fleet.h) */
    n->is_dash = true;
}

void titan_web_init(struct server *s) {
    s->titan.web_handler = s->handler;
    s->titan.web_handler.opened = opened;
}

/* ---- heads ---- */

static void refuse(struct server *s, struct session *n, uint16_t status, enum err e, const char *text) {
    web_say_error(s, n, e, status, text, NULL, NULL);
}

/* Any page in a browser of this machine can send to loopback, and its name server can lead its own name there. What a
 * browser sends for another page says so; Titan's scripts say nothing of pages. */
static bool check_page(struct server *s, struct session *n) {
    const struct http_request *r = &n->web->in.request;
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
    const struct http_request *r = &n->web->in.request;
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

bool titan_web_admit(struct server *s, struct session *n) {
    const struct http_request *r = &n->web->in.request;
    struct titan_asked asked;
    arena_reset(&s->webs.arena);
    if (!check_page(s, n)) return false;
    bool found = titan_http_find(r, &s->webs.arena, &asked);
    if (r->verb == HTTP_VERB_OPTIONS) {
        web_say_nothing(s, n, found ? asked.allow : "GET, HEAD, POST, OPTIONS");
    } else if (!found) {
        refuse(s, n, 0, ERR_NOT_FOUND, "there is nothing at this path");
    } else if (!asked.fits) {
        web_say_error(s, n, ERR_UNSUPPORTED, 405, "method not allowed", NULL, asked.allow);
    } else if (s->draining) {
        refuse(s, n, 503, ERR_BUSY, "the server is stopping");
    } else if (check_body(s, n, asked.body)) {
        n->web->titan = (uint8_t)asked.call;
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
    session_send_raw(s, n, buf_slice(&s->webs.out));
    titan_talk_reset(n->titan);
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

void titan_web_serve(struct server *s, struct session *n) {
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
    n->web->busy = n->titan->busy = true;
    n->titan->said = said_otherwise;
    if (!titan_http_find(&n->web->in.request, &n->titan->arena, &asked)) asked = (struct titan_asked){0};
    titan_page_fn page = pages[n->web->titan];
    if (page != NULL)
        page(s, n, asked.word);
    else
        page_elsewhere(s, n, page_path((enum titan_call)n->web->titan));
}

/* Sets aside what an earlier frame of this request has left. */
void titan_page_call(struct server *s, struct session *n, titan_serve_fn serve, struct slice body, titan_said_fn said) {
    struct titan_talk *t = n->titan;
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
    char *text = arena_alloc(&n->titan->arena, (size_t)len + 1);
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

void titan_page_say(struct server *s, struct session *n, uint16_t status) {
    struct http_head h = {.status = status};
    if (s->webs.json.full) {
        struct json j = web_json(s);
        h.status = titan_web_refusal(&j, ERR_LIMIT, 0, SLICE("the answer is too large"), 0).status;
    }
    titan_talk_reset(n->titan);
    web_send_json(s, n, &h);
}

void titan_page_text(struct server *s, struct session *n, struct slice text) {
    struct api_said said = {.status = 200};
    buf_clear(&s->webs.json);
    buf_put_slice(&s->webs.json, text);
    titan_talk_reset(n->titan);
    web_say_body(s, n, &said, "text/plain; charset=utf-8");
}

void titan_page_error(struct server *s, struct session *n, uint16_t status, const char *format, ...) {
    char text[ERROR_BYTES_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct json j = web_json(s);
    (void)titan_web_refusal(&j, ERR_INVALID, status, slice_str(text), 0);
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

/* Flask answers what is wrong with a request by 400. */
struct api_said titan_web_refusal(struct json *j, enum err e, uint16_t status, struct slice text,
                                  uint32_t retry_after_ms) {
    uint16_t usual = (uint16_t)err_http_status(e);
    json_object(j);
    json_key(j, "error"), json_text(j, text.len > 0 ? text : slice_str(err_meaning(e)));
    json_object_end(j);
    return (struct api_said){status != 0 ? status : usual == 422 ? 400 : usual, (retry_after_ms + 999) / 1000};
}

bool titan_page_refused(struct server *s, struct session *n, uint8_t op, const void *message) {
    const struct wire_error *error = message;
    const struct wire_busy *busy = message;
    if (op != WIRE_ERROR && op != WIRE_BUSY) return false;
    struct json j = web_json(s);
    struct api_said said = op == WIRE_ERROR ? titan_web_refusal(&j, api_err_of(error->code), 0, error->message, 0)
                                            : titan_web_refusal(&j, ERR_BUSY, 503, busy->reason, 0);
    titan_page_say(s, n, said.status);
    return true;
}

void titan_web_broken(struct server *s, struct session *n, uint8_t op, const void *message) {
    if (!titan_page_refused(s, n, op, message)) titan_page_error(s, n, 500, "the file could not be read");
}

/* ---- keys ---- */

static void walk_ask(struct server *s, struct session *n, struct slice after);

static void walk_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct titan_walk *w = n->titan->work;
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
    const struct titan_walk *w = n->titan->work;
    struct wire_kv_get get = {.prefix = slice_str(w->prefix), .after = after, .most = w->most};
    titan_ask(s, n, WIRE_KV_GET, &get, walk_told);
}

void titan_page_walk(struct server *s, struct session *n, const struct titan_walk *w) {
    n->titan->work = arena_copy(&n->titan->arena, w, sizeof *w);
    walk_ask(s, n, (struct slice){0});
}
