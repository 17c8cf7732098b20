/* orion.h: Orion's HTTP interface, the third dialect of a session: its paths, its DAGs as flows of ours, and its
 * answers as its clients expect them. Nothing here knows a connection or the state; where Orion's own behaviour is
 * a defect (errors that are no JSON, times that are zero), this does what was meant.
 *
 * A DAG is a flow; a task is a job of kind sleep (payload `work` and any other text: 50 to 199 ms; `sleep`: 2 s) or
 * fail (payload `fail`, after such a time). How long a task takes is decided by its id and the request's key, so
 * that the same request again is the same flow. Payload and priority travel as labels of the job, and are shown as
 * they were sent. */
#ifndef REEVE_ORION_H
#define REEVE_ORION_H

#include "http.h"
#include "json.h"
#include "wire_flow.h"
#include "wire_orion.h"
#include "wire_run.h"

#define ORION_GUEST "orion" /* principal of who comes without a token */
#define ORION_TOKEN_HEADER "x-orion-admin-token"
#define ORION_PRIORITY_LABEL "priority"
#define ORION_PAYLOAD_LABEL "payload"
#define ORION_TYPE_METRICS "text/plain; version=0.0.4; charset=utf-8"

/* ---- paths ---- */

/*     call             verb  path                      what it answers */
#define ORION_TABLE(X)                                                                                 \
    X(ORION_DAG,        POST, "/api/v1/dag",            "takes a DAG: a JSON array of tasks")          \
    X(ORION_STATUS,     GET,  "/api/v1/status",         "how many tasks are in which state")           \
    X(ORION_LIVE,       GET,  "/api/v1/metrics/live",   "the same, and how the server is")             \
    X(ORION_STATE,      GET,  "/api/v1/dag/state",      "every task")                                  \
    X(ORION_DAGS,       GET,  "/api/v1/dags",           "every DAG with the ids of its tasks")         \
    X(ORION_HEALTH,     GET,  "/healthz",               "that the process is alive")                   \
    X(ORION_READY,      GET,  "/readyz",                "that it takes work")                          \
    X(ORION_METRICS,    GET,  "/metrics",               "for Prometheus, by Orion's names")            \
    X(ORION_WS,         GET,  "/ws",                    "what happens, as a WebSocket")                \
    X(ORION_CRASH,      POST, "/admin/simulate-crash",  "pulls the plug")                              \
    X(ORION_RECOVER,    POST, "/admin/recover",         "starts the server again")                     \
    X(ORION_ADMIN,      GET,  "/admin/status",          "whether it runs")

enum orion_call {
    ORION_NOTHING, /* no such path */
#define X(call, verb, path, text) call,
    ORION_TABLE(X)
#undef X
};
/* HEAD counts as GET. `ret_fits`: the method is the one of that path. */
enum orion_call orion_find(const struct http_request *r, bool *ret_fits);
const char *orion_verb(enum orion_call call); /* of a path */

/* ---- a DAG comes ---- */

struct orion_rules {
    uint32_t tasks_max, dependencies_max, retries_max, priority_max;
    int64_t work_ms_least, work_ms_most;
};

/* The flow in `arena`. Refusals are Orion's sentences. */
CHECKED enum err orion_flow(struct slice body, struct slice key, const struct orion_rules *rules,
                            const struct limits *limits, struct arena *arena, struct wire_flow *ret, struct why *why);
/* Lower is first there, higher here; far from 0 levels meet at the ends. */
int64_t orion_priority(int64_t sent, uint32_t priority_max);

/* ---- answers ---- */

void orion_error(struct json *j, struct slice text);
void orion_status(struct json *j, const char *word);
void orion_accepted(struct json *j, struct slice dag, uint32_t count);
void orion_numbers(struct json *j, const struct wire_orion *v);
void orion_live(struct json *j, const struct wire_orion *v);
void orion_state(struct json *j, const struct wire_orion *v);
void orion_offline(struct json *j, int64_t now_ms); /* the state, while there is no server */
void orion_dags(struct json *j, const struct wire_orion *v);
void orion_admin(struct json *j, bool running, int64_t crashed_ms);
void orion_crashed(struct json *j, int64_t now_ms);
void orion_recovered(struct json *j, int64_t now_ms, int64_t downtime_ms);
void orion_metrics(struct buf *out, const struct wire_orion *v);

#define ORION_TIME_BYTES 40u
const char *orion_time(int64_t wall_ms, char ret[ORION_TIME_BYTES]); /* RFC 3339; 0 is Go's zero */

/* What a page of another origin may do, once it is allowed: header lines. */
void orion_cors_put(struct buf *out, struct slice origin);

#endif
