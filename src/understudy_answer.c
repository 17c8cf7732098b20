/* understudy_answer.c: what the supervisor says while the server is dead. See understudy.h. */
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "auth.h"
#include "http_out.h"
#include "osclock.h"
#include "osdigest.h"
#include "osdisk.h"
#include "understudy.h"

#define TYPE_JSON "application/json"
#define PREFIX API_PREFIX "/playground"

static int64_t wall_ms(void) {
    return osclock()->wall(osclock()).ms;
}

/* ---- writing ---- */

static void put(struct buf *out, uint16_t status, uint32_t retry_after_s, const struct buf *body, bool head_only) {
    struct http_head h = {.status = status,
                          .type = TYPE_JSON,
                          .length = (int64_t)body->len,
                          .close = true,
                          .wall_ms = wall_ms(),
                          .retry_after_s = retry_after_s};
    http_head_put(out, &h);
    if (!head_only) buf_put_slice(out, buf_slice(body));
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
    put(out, status, retry_after_s, &body, false);
    buf_fini(&body);
}

void understudy_refuse(struct understudy *u, uint16_t status, enum err e, const char *text, struct buf *out) {
    (void)u;
    say(out, status != 0 ? status : (uint16_t)err_http_status(e), err_word(e), text, 0);
}

static void say_how_it_is(const struct understudy *u, bool head_only, struct buf *out) {
    struct buf body;
    struct json j;
    buf_init(&body, 4096);
    json_init(&j, &body);
    wire_playground_json(&j, &u->now);
    put(out, 200, 0, &body, head_only);
    buf_fini(&body);
}

/* ---- who ---- */

static struct slice token_of(const struct http_request *r) {
    const struct slice *given = http_header(r, "authorization"), *orion = http_header(r, "x-orion-admin-token");
    if (given != NULL && given->len > 7 && http_text_is(slice_of(given->ptr, 7), "bearer "))
        return slice_of(given->ptr + 7, given->len - 7);
    return orion != NULL ? *orion : (struct slice){0};
}

/* As the server would: the tokens are in a file of the data directory, as hashes. */
static enum err check_caller(const struct understudy *u, const struct http_request *r, struct why *why) {
    struct disk *disk = NULL;
    struct auth auth = {0};
    struct caller who = {0};
    struct slice token = token_of(r);
    bool first = false;
    if (token.len == 0) return why_set(why, ERR_UNAUTHENTICATED, "nobody vouches for this connection: send a token");
    enum err e = osdisk_open(u->data, &disk, why);
    if (e != ERR_OK) return e;
    e = auth_open(&auth, disk, osclock(), osdigest(), &first, why);
    if (e == ERR_OK) e = auth_check(&auth, token, osclock()->wall(osclock()), &who, why);
    if (e == ERR_OK && !role_may(who.roles, WIRE_PLAYGROUND_DO))
        e = why_set(why, ERR_FORBIDDEN, "%s may not %s: the role for it is missing", who.name,
                    wire_word(WIRE_PLAYGROUND_DO));
    auth_close(&auth);
    osdisk_close(disk);
    return e;
}

/* ---- what ---- */

static bool path_is(const struct http_request *r, const char *path) {
    return slice_eq(r->path, slice_str(path));
}

static void change(struct understudy *u, const struct http_request *r, struct buf *out) {
    struct why why = {{0}};
    enum err e = check_caller(u, r, &why);
    if (e != ERR_OK) {
        understudy_refuse(u, 0, e, why.text, out);
    } else if (path_is(r, PREFIX "/kill")) {
        understudy_refuse(u, 0, ERR_STATE, "the server is dead already", out);
    } else {
        u->recover_wanted = true;
        say_how_it_is(u, false, out);
    }
}

bool understudy_answer(struct understudy *u, const struct http_request *r, bool is_orion, struct buf *out) {
    bool looks = r->verb == HTTP_VERB_GET || r->verb == HTTP_VERB_HEAD;
    (void)is_orion;
    if (looks && path_is(r, PREFIX))
        say_how_it_is(u, r->verb == HTTP_VERB_HEAD, out);
    else if (r->verb == HTTP_VERB_POST && (path_is(r, PREFIX "/recover") || path_is(r, PREFIX "/kill")))
        change(u, r, out);
    else
        say(out, 503, "unavailable", "the server is dead: it is started again soon", 1);
    return true;
}
