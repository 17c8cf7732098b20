/* standin_answer.c: what the supervisor says while the server is dead. See standin_server.h. */
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "asset.h"
#include "console_assets.h"
#include "cookie.h"
#include "engine.h"
#include "fold.h"
#include "http_out.h"
#include "journal_engine.h"
#include "orion.h"
#include "osclock.h"
#include "osdigest.h"
#include "requests.h"
#include "standin_impl.h"
#include "view_directory.h"

#define TYPE_JSON "application/json"
#define PREFIX API_PREFIX "/playground"

int64_t standin_wall_ms(void) {
    return osclock()->wall(osclock()).ms;
}

/* ---- writing ---- */

void standin_put(struct buf *out, const struct standin_said *said, const struct buf *body) {
    bool none = said->status == 204;
    struct http_head h = {.status = said->status,
                          .type = none ? NULL : TYPE_JSON,
                          .length = none ? HTTP_NO_BODY : (int64_t)body->len,
                          .close = true,
                          .wall_ms = standin_wall_ms(),
                          .retry_after_s = said->retry_after_s};
    http_head_put(out, &h);
    if (!none && !said->head_only) buf_put_slice(out, buf_slice(body));
}

bool standin_is_allowed(const struct standin *u, struct slice origin) {
    struct slice left = slice_str(u->origins != NULL ? u->origins : "");
    while (left.len > 0) {
        const uint8_t *comma = memchr(left.ptr, ',', left.len);
        struct slice one = slice_of(left.ptr, comma != NULL ? (size_t)(comma - left.ptr) : left.len);
        if (slice_eq(one, origin)) return true;
        left = comma != NULL ? slice_of(comma + 1, left.len - one.len - 1) : slice_of(left.ptr, 0);
    }
    return false;
}

/* Behind the first line. */
void standin_insert_cors(struct buf *out, struct slice origin) {
    struct buf whole;
    const uint8_t *end = memchr(out->at, '\n', out->len);
    size_t first = (size_t)(end - out->at) + 1;
    buf_init(&whole, out->max);
    buf_put(&whole, out->at, first);
    orion_cors_put(&whole, origin);
    buf_put(&whole, out->at + first, out->len - first);
    buf_clear(out);
    buf_put_slice(out, buf_slice(&whole));
    buf_fini(&whole);
}

static void say(struct buf *out, uint16_t status, const char *code, const char *message, uint32_t retry_after_s) {
    struct buf body;
    struct json j;
    buf_init(&body, 4096);
    json_init(&j, &body);
    json_object(&j);
    json_key(&j, "code");
    json_str(&j, code);
    json_key(&j, "message");
    json_str(&j, message);
    if (retry_after_s > 0) {
        json_key(&j, "retry_after");
        json_u64(&j, retry_after_s);
    }
    json_object_end(&j);
    standin_put(out, &(struct standin_said){status, retry_after_s, false}, &body);
    buf_fini(&body);
}

void standin_refuse(struct standin *u, uint16_t status, enum err e, const char *text, struct buf *out) {
    (void)u;
    say(out, status != 0 ? status : (uint16_t)err_http_status(e), err_word(e), text, 0);
}

static void say_how_it_is(const struct standin *u, bool head_only, struct buf *out) {
    struct buf body;
    struct json j;
    buf_init(&body, 4096);
    json_init(&j, &body);
    wire_playground_json(&j, &u->now);
    standin_put(out, &(struct standin_said){200, 0, head_only}, &body);
    buf_fini(&body);
}

/* ---- who ---- */

static struct slice token_of(const struct http_request *r) {
    const struct slice *given = http_header(r, "authorization"), *orion = http_header(r, ORION_TOKEN_HEADER);
    if (given != NULL && given->len > 7 && http_text_is(slice_of(given->ptr, 7), "bearer "))
        return slice_of(given->ptr + 7, given->len - 7);
    return orion != NULL ? *orion : (struct slice){0};
}

/* A token says who it is; a browser shows its cookie and what the login gave to the page. */
static enum err find_caller(struct auth *auth, const struct http_request *r, struct caller *ret, struct why *why) {
    wall_time now = osclock()->wall(osclock());
    struct slice token = token_of(r), text;
    struct cookie cookie;
    if (token.len > 0) return auth_check(auth, token, now, ret, why);
    if (!cookie_find(r, &text))
        return why_set(why, ERR_UNAUTHENTICATED, "authentication required: send a token (REEVE_TOKEN)");
    enum err e = cookie_check(auth, text, r, now, &cookie, why);
    return e == ERR_OK ? cookie_caller(auth, cookie.who, now, ret, why) : e;
}

/* As the server would: the tokens are in its journal, which is read for this one question. */
static enum err check_in(const struct state *state, uint32_t shard, struct disk *disk, const struct http_request *r,
                         struct why *why) {
    struct auth auth = {0};
    struct caller who = {0};
    if (view_log(state) == 0)
        return why_set(why, ERR_UNAUTHENTICATED, "the server has not started yet: try again in a moment");
    enum err e = auth_open(&auth, disk, osclock(), osdigest(), shard, state, why);
    if (e == ERR_OK) e = find_caller(&auth, r, &who, why);
    if (e == ERR_OK && !role_may(who.roles, WIRE_PLAYGROUND_DO))
        e = why_set(why, ERR_FORBIDDEN, "%s is not allowed to %s: its token lacks the role", who.name,
                    wire_word(WIRE_PLAYGROUND_DO));
    if (e == ERR_OK && who.tenant[0] != 0)
        e = why_set(why, ERR_FORBIDDEN, "that concerns all tenants, and this token is for tenant %s only", who.tenant);
    auth_close(&auth);
    return e;
}

enum err standin_check(const struct standin *u, const struct http_request *r, struct why *why) {
    struct journal_located from;
    struct fold fold = {0};
    enum err e = journal_engine_locate(u->data, &from, why);
    if (e != ERR_OK) return e;
    e = fold_run(from.reader, UINT64_MAX, &fold, why);
    if (e == ERR_OK) e = check_in(engine_state(fold.engine), fold.shard, from.disk, r, why);
    engine_free(fold.engine);
    journal_located_close(&from);
    return e;
}

/* ---- what ---- */

static bool path_is(const struct http_request *r, const char *path) {
    return slice_eq(r->path, slice_str(path));
}

static void change(struct standin *u, const struct http_request *r, struct buf *out) {
    struct why why = {{0}};
    enum err e = standin_check(u, r, &why);
    if (e != ERR_OK) {
        standin_refuse(u, 0, e, why.text, out);
    } else {
        /* A kill is done: browsers send again what a server died of before it answered. */
        if (!path_is(r, PREFIX "/kill")) u->recover_wanted = true;
        say_how_it_is(u, false, out);
    }
}

/* The console's own files: the page must not go with its server. */
static bool answer_asset(const struct http_request *r, struct buf *out) {
    const struct asset *found = asset_find(&console_assets, r->path);
    struct http_head h;
    if (found == NULL) return false;
    asset_head(found, r, &h);
    if (h.status == 406) return false;
    h.close = true;
    h.wall_ms = standin_wall_ms();
    http_head_put(out, &h);
    if (h.status == 200 && r->verb == HTTP_VERB_GET) buf_put_slice(out, found->bytes);
    return true;
}

bool standin_answer(struct standin *u, const struct http_request *r, bool is_orion, struct buf *out) {
    bool looks = r->verb == HTTP_VERB_GET || r->verb == HTTP_VERB_HEAD;
    if (is_orion) return standin_orion(u, r, out);
    if (looks && path_is(r, PREFIX))
        say_how_it_is(u, r->verb == HTTP_VERB_HEAD, out);
    else if (r->verb == HTTP_VERB_POST && (path_is(r, PREFIX "/recover") || path_is(r, PREFIX "/kill")))
        change(u, r, out);
    else if (!looks || !answer_asset(r, out))
        say(out, 503, "unavailable", "the server is dead: it is started again soon", 1);
    return true;
}
