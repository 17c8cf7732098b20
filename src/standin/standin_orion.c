/* standin_orion.c: what the supervisor says on the listener for Orion's interface while the server is dead. */
#include "orion.h"
#include "standin_impl.h"

/* Recovering is one request there, which is answered when it is done. */
static bool recover(struct standin *u, const struct http_request *r, struct json *j, uint16_t *ret_status) {
    struct why why = {{0}};
    if (standin_check(u, r, &why) != ERR_OK) {
        orion_error(j, SLICE("admin demo token required"));
        *ret_status = 401;
        return true;
    }
    if (!slice_eq(u->now.server, SLICE("running"))) {
        u->recover_wanted = true;
        return false;
    }
    orion_recovered(j, u->back_ms, u->back_ms - u->died_ms);
    return true;
}

static bool say(struct standin *u, const struct http_request *r, struct json *j, uint16_t *ret_status) {
    bool fits = false;
    enum orion_call call = orion_find(r, &fits);
    if (call != ORION_NOTHING && !fits) {
        orion_error(j, SLICE("method not allowed"));
        *ret_status = 405;
        return true;
    }
    switch (call) {
    case ORION_HEALTH: orion_status(j, "alive"); return true;
    case ORION_ADMIN: orion_admin(j, false, u->died_ms); return true;
    case ORION_STATE: orion_offline(j, standin_wall_ms()); return true;
    case ORION_RECOVER: return recover(u, r, j, ret_status);
    case ORION_CRASH:
        orion_error(j, SLICE("scheduler is already stopped"));
        *ret_status = 409;
        return true;
    case ORION_NOTHING:
        orion_error(j, SLICE("there is nothing at this path"));
        *ret_status = 404;
        return true;
    case ORION_DAG: orion_error(j, SLICE("scheduler is offline or recovering")); break;
    case ORION_STATUS:
    case ORION_LIVE:
    case ORION_DAGS:
    case ORION_READY:
    case ORION_METRICS:
    case ORION_WS: orion_error(j, SLICE("scheduler offline")); break;
    }
    *ret_status = 503;
    return true;
}

bool standin_orion(struct standin *u, const struct http_request *r, struct buf *out) {
    const struct slice *origin = http_header(r, "origin");
    bool preflight = r->verb == HTTP_VERB_OPTIONS;
    struct standin_said said = {.status = preflight ? 204 : 200, .head_only = r->verb == HTTP_VERB_HEAD};
    struct buf body;
    struct json j;
    buf_init(&body, 65536);
    json_init(&j, &body);
    bool now = preflight || say(u, r, &j, &said.status);
    if (said.status == 503) said.retry_after_s = 1;
    if (now) {
        standin_put(out, &said, &body);
        if (origin != NULL && standin_is_allowed(u, *origin)) standin_insert_cors(out, *origin);
    }
    buf_fini(&body);
    return now;
}
