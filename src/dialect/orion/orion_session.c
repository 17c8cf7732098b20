/* orion_session.c: requests in, answers out. See orion_session.h. */
#include "orion_session.h"

#include "http_dialect.h"
#include "lane.h"
#include "orion_gate.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"

/* ---- life ---- */

static void opened(void *ctx, conn_id conn, const struct net_peer *peer) {
    (void)session_open(ctx, conn, peer, &orion_dialect);
}

void orion_init(struct server *s) {
    orion_of(s)->options = dialect_options(s, &orion_dialect);
    orion_of(s)->handler = s->handler;
    orion_of(s)->handler.opened = opened;
    orion_of(s)->opened_ms = s->world.clock->mono(s->world.clock).ms;
}

/* ---- requests ---- */

static bool decode_dag(struct server *s, struct request *r) {
    struct session *n = r->session;
    const struct http_request *http = &web_of(n)->in.request;
    const struct limits *l = s->limits;
    struct orion_rules rules = {.tasks_max = (uint32_t)l->orion_tasks_max,
                                .dependencies_max = (uint32_t)l->orion_dependencies_max,
                                .retries_max = (uint32_t)l->retries_max,
                                .priority_max = (uint32_t)l->priority_max,
                                .work_ms_least = orion_of(s)->options->work_ms_least,
                                .work_ms_most = orion_of(s)->options->work_ms_most};
    struct why why = {{0}};
    struct wire_flow *flow = ARENA_NEW(r->arena, struct wire_flow);
    struct wire_submit *submit = ARENA_NEW(r->arena, struct wire_submit);
    enum err e = orion_flow(http->body, *http_header(http, "idempotency-key"), &rules, l, r->arena, flow, &why);
    if (e != ERR_OK) {
        web_say_error(s, n, e, 400, why.text, NULL, NULL);
        return false;
    }
    *submit = (struct wire_submit){.flows = {flow, 1}};
    r->message = submit;
    return true;
}

static bool decode(struct server *s, const struct lane_entry *e, struct request *r) {
    enum orion_call call = (enum orion_call)web_of(r->session)->call;
    (void)e;
    if (call == ORION_DAG) return decode_dag(s, r);
    if (call == ORION_CRASH) {
        struct wire_playground_do *kill = ARENA_NEW(r->arena, struct wire_playground_do);
        kill->what = WIRE_PLUG_KILL;
        r->message = kill;
        return true;
    }
    struct wire_orion_get *get = ARENA_NEW(r->arena, struct wire_orion_get);
    get->what = call == ORION_STATE ? WIRE_ORION_TASKS : call == ORION_DAGS ? WIRE_ORION_DAGS : WIRE_ORION_NUMBERS;
    r->message = get;
    return true;
}

static void serve(struct server *s, struct session *n) {
    switch ((enum orion_call)web_of(n)->call) {
    case ORION_DAG: web_give(s, n, WIRE_SUBMIT); return;
    case ORION_STATUS:
    case ORION_LIVE:
    case ORION_ADMIN:
    case ORION_METRICS:
    case ORION_STATE:
    case ORION_DAGS: web_give(s, n, WIRE_ORION_GET); return;
    case ORION_CRASH: web_give(s, n, WIRE_PLAYGROUND_DO); return;
    case ORION_RECOVER: web_say_error(s, n, ERR_STATE, 0, "scheduler is already running", NULL, NULL); return;
    case ORION_WS: orion_stream_begin(s, n); return;
    case ORION_HEALTH:
    case ORION_READY:
    case ORION_NOTHING: break; /* orion_admit has answered */
    }
    web_say_error(s, n, ERR_NOT_FOUND, 0, "there is nothing at this path", NULL, NULL);
}

/* ---- answers ---- */

static void head(struct server *s, struct session *n) {
    const struct slice *origin = orion_origin(s, n);
    if (origin == NULL) return;
    buf_cut(&webs_of(s)->out, webs_of(s)->out.len - 2);
    orion_cors_put(&webs_of(s)->out, *origin);
    buf_put_slice(&webs_of(s)->out, SLICE("\r\n"));
}

/* Orion knows fewer statuses: what is wrong with a request is 400, and what passes by waiting says so. */
static struct api_said refusal(struct json *j, enum err e, uint16_t status, struct slice text, const char *field,
                               uint32_t retry_after_ms) {
    (void)field;
    uint16_t usual = (uint16_t)err_http_status(e);
    if (usual == 422) usual = 400;
    if (e == ERR_NO_SPACE) usual = 503;
    orion_error(j, text.len > 0 ? text : slice_str(err_meaning(e)));
    return (struct api_said){status != 0 ? status : usual, retry_after_ms / 1000 + (retry_after_ms % 1000 != 0)};
}

static struct api_said answer_submitted(struct json *j, const struct wire_submitted *m) {
    const struct wire_submitted_flow *flow = m->flows.at;
    if (flow->code.len > 0) return refusal(j, api_err_of(flow->code), 0, flow->message, NULL, flow->retry_after_ms);
    orion_accepted(j, flow->flow, flow->job_count);
    return (struct api_said){.status = flow->repeated ? 200 : 201};
}

static void answer_view(struct server *s, struct json *j, enum orion_call call, const struct wire_orion *v) {
    if (call == ORION_METRICS)
        orion_metrics(&webs_of(s)->json, v);
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

static void answer(struct server *s, struct session *n, uint8_t op, const void *message) {
    enum orion_call call = (enum orion_call)web_of(n)->call;
    struct api_said said = {.status = 200};
    struct json j;
    buf_clear(&webs_of(s)->json);
    json_init(&j, &webs_of(s)->json);
    if (op == WIRE_ERROR) {
        const struct wire_error *m = message;
        said = refusal(&j, api_err_of(m->code), 0, m->message, NULL, m->retry_after_ms);
    } else if (op == WIRE_BUSY) {
        const struct wire_busy *m = message;
        said = refusal(&j, ERR_BUSY, s->draining ? 503 : 429, m->reason, NULL, m->retry_after_ms);
    } else if (op == WIRE_SUBMITTED) {
        said = answer_submitted(&j, message);
    } else if (op == WIRE_ORION) {
        answer_view(s, &j, call, message);
    } else {
        orion_crashed(&j, s->world.clock->wall(s->world.clock).ms);
    }
    if (webs_of(s)->json.full)
        web_say_error(s, n, ERR_LIMIT, 0, "the answer is too large", NULL, NULL);
    else
        web_say_body(s, n, &said, call == ORION_METRICS && op == WIRE_ORION ? ORION_TYPE_METRICS : "application/json");
}

/* ---- the dialect ---- */

static const char *listen(const struct server *s) {
    return orion_of(s)->options->listen;
}

static const struct http_face face = {listen, orion_admit, serve, head, refusal, answer};

static bool open(struct server *s, struct session *n) {
    return web_open(s, n, &face);
}

static const struct request_row own_row = {.roles = CAN_LOOK | CAN_OPERATE, .names = NAMES_NOTHING, .serve = req_orion};

const struct dialect_ops orion_dialect = {.name = "HTTP",
                                          .spoken = SPOKEN_ORION,
                                          .first = SNIFF_BIT(SNIFF_HTTP),
                                          .misfits = HTTP_MISFITS,
                                          .open = open,
                                          .closed = web_closed,
                                          .received = web_received,
                                          .decode = decode,
                                          .tell = web_tell,
                                          .frames = web_frames,
                                          .refuse = web_refuse,
                                          .misfit = web_misfit,
                                          .drained = web_drained,
                                          .is_idle = web_is_idle,
                                          .memory_bytes = web_memory_bytes,
                                          .part_bytes = web_part_bytes,
                                          .own_op = WIRE_ORION_GET,
                                          .own_row = &own_row};
