/* orion_session.c: requests in, answers out. See orion_session.h. */
#include "orion_session.h"

#include "orion_gate.h"
#include "session.h"
#include "web_impl.h"

/* ---- life ---- */

static void opened(void *ctx, conn_id conn, const struct net_peer *peer) {
    struct server *s = ctx;
    s->handler.opened(ctx, conn, peer);
    struct session *n = session_of(s, conn);
    if (n != NULL) n->is_orion = true;
}

void orion_init(struct server *s) {
    s->orion.handler = s->handler;
    s->orion.handler.opened = opened;
    s->orion.opened_ms = s->world.clock->mono(s->world.clock).ms;
    vec_init(&s->orion.flows, sizeof(struct orion_dag));
    orion_stream_init(s);
}

void orion_fini(struct server *s) {
    vec_fini(&s->orion.flows);
    orion_stream_fini(s);
}

/* ---- requests ---- */

static void serve_dag(struct server *s, struct session *n) {
    const struct http_request *r = &n->web->in.request;
    const struct limits *l = s->limits;
    struct orion_rules rules = {.tasks_max = (uint32_t)l->orion_tasks_max,
                                .dependencies_max = (uint32_t)l->orion_dependencies_max,
                                .retries_max = (uint32_t)l->retries_max,
                                .priority_max = (uint32_t)l->priority_max,
                                .work_ms_least = s->options.orion->work_ms_least,
                                .work_ms_most = s->options.orion->work_ms_most};
    struct why why = {{0}};
    struct wire_flow flow;
    arena_reset(&s->webs.arena);
    enum err e = orion_flow(r->body, *http_header(r, "idempotency-key"), &rules, l, &s->webs.arena, &flow, &why);
    if (e != ERR_OK) {
        web_say_error(s, n, e, 400, why.text, NULL, NULL);
        return;
    }
    struct wire_submit submit = {.flows = {&flow, 1}};
    web_give(s, n, WIRE_SUBMIT, &submit);
}

static void serve_view(struct server *s, struct session *n, enum wire_orion_what what) {
    struct wire_orion_get get = {.what = (uint8_t)what};
    web_give(s, n, WIRE_ORION_GET, &get);
}

void orion_serve(struct server *s, struct session *n) {
    switch ((enum orion_call)n->web->orion) {
    case ORION_DAG: serve_dag(s, n); return;
    case ORION_STATUS:
    case ORION_LIVE:
    case ORION_ADMIN:
    case ORION_METRICS: serve_view(s, n, WIRE_ORION_NUMBERS); return;
    case ORION_STATE: serve_view(s, n, WIRE_ORION_TASKS); return;
    case ORION_DAGS: serve_view(s, n, WIRE_ORION_DAGS); return;
    case ORION_CRASH: web_give(s, n, WIRE_PLAYGROUND_DO, &(struct wire_playground_do){.what = WIRE_PLUG_KILL}); return;
    case ORION_RECOVER: web_say_error(s, n, ERR_STATE, 0, "scheduler is already running", NULL, NULL); return;
    case ORION_WS: orion_stream_begin(s, n); return;
    case ORION_HEALTH:
    case ORION_READY:
    case ORION_NOTHING: break; /* orion_admit has answered */
    }
    web_say_error(s, n, ERR_NOT_FOUND, 0, "there is nothing at this path", NULL, NULL);
}

/* ---- answers ---- */

void orion_head(struct server *s, struct session *n) {
    const struct slice *origin = orion_origin(s, n);
    if (origin == NULL) return;
    buf_cut(&s->webs.out, s->webs.out.len - 2);
    orion_cors_put(&s->webs.out, *origin);
    buf_put_slice(&s->webs.out, SLICE("\r\n"));
}

/* Orion knows fewer statuses: what is wrong with a request is 400, and what passes by waiting says so. */
struct api_said orion_refusal(struct json *j, enum err e, uint16_t status, struct slice text, uint32_t retry_after_ms) {
    uint16_t usual = (uint16_t)err_http_status(e);
    if (usual == 422) usual = 400;
    if (e == ERR_NO_SPACE) usual = 503;
    orion_error(j, text.len > 0 ? text : slice_str(err_meaning(e)));
    return (struct api_said){status != 0 ? status : usual, retry_after_ms / 1000 + (retry_after_ms % 1000 != 0)};
}

static struct api_said answer_submitted(struct json *j, const struct wire_submitted *m) {
    const struct wire_submitted_flow *flow = m->flows.at;
    if (flow->code.len > 0) return orion_refusal(j, api_err_of(flow->code), 0, flow->message, flow->retry_after_ms);
    orion_accepted(j, flow->flow, flow->job_count);
    return (struct api_said){.status = flow->repeated ? 200 : 201};
}

static void answer_view(struct server *s, struct json *j, enum orion_call call, const struct wire_orion *v) {
    if (call == ORION_METRICS)
        orion_metrics(&s->webs.json, v);
    else if (call == ORION_STATE)
        orion_state(j, v);
    else if (call == ORION_DAGS)
        orion_dags(j, v);
    else if (call == ORION_LIVE)
        orion_live(j, v);
    else if (call == ORION_ADMIN)
        orion_admin(j, true, v->crashed_ms);
    else
        orion_numbers(j, v);
}

void orion_answer(struct server *s, struct session *n, uint8_t op, const void *message) {
    enum orion_call call = (enum orion_call)n->web->orion;
    struct api_said said = {.status = 200};
    struct json j;
    buf_clear(&s->webs.json);
    json_init(&j, &s->webs.json);
    if (op == WIRE_ERROR) {
        const struct wire_error *m = message;
        said = orion_refusal(&j, api_err_of(m->code), 0, m->message, m->retry_after_ms);
    } else if (op == WIRE_BUSY) {
        const struct wire_busy *m = message;
        said = orion_refusal(&j, ERR_BUSY, s->draining ? 503 : 429, m->reason, m->retry_after_ms);
    } else if (op == WIRE_SUBMITTED) {
        said = answer_submitted(&j, message);
    } else if (op == WIRE_ORION) {
        answer_view(s, &j, call, message);
    } else {
        orion_crashed(&j, s->world.clock->wall(s->world.clock).ms);
    }
    if (s->webs.json.full)
        web_say_error(s, n, ERR_LIMIT, 0, "the answer is too large", NULL, NULL);
    else
        web_say_body(s, n, &said, call == ORION_METRICS && op == WIRE_ORION ? ORION_TYPE_METRICS : "application/json");
}
