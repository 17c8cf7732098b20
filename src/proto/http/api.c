/* api.c: see api.h. */
#include "api.h"

#include "panic.h"
#include "uri.h"

#define PAIRS_MAX 128u /* of a query */

/* clang-format off */
#define GET(path, op, field, preset, answer, about, text_) \
    {HTTP_VERB_GET, path, op, field, preset, API_BODY_NONE, API_ANSWER_##answer, about, .text = text_}
#define DO(verb, path, op, field, preset, answer, about, text_) \
    {HTTP_VERB_##verb, path, op, field, preset, API_BODY_FIELDS, API_ANSWER_##answer, about, .text = text_}

static const struct api_route routes[] = {
/*      path                               message          field      preset           answer   about */
    GET("/flows",                          WIRE_LIST,       NULL,      "what=flows",    MESSAGE, "flows",     "a page of flows, the newest first"),
    {HTTP_VERB_POST, "/flows", WIRE_SUBMIT, NULL, NULL, API_BODY_FLOW, API_ANSWER_ITEM, "flows", .text = "submits a flow file in JSON; header Idempotency-Key"},
    GET("/flows/{flow}",                   WIRE_GET,        "target",  NULL,            MESSAGE, NULL,        "a flow; with details=true its jobs"),
    GET("/flows/{flow}/jobs",              WIRE_LIST,       "flow",    "what=jobs",     MESSAGE, "jobs",      "a page of the jobs of a flow"),
    {HTTP_VERB_POST, "/flows/{flow}/jobs", WIRE_ADD_JOBS, "flow", NULL, API_BODY_FLOW, API_ANSWER_ITEM, "flows", .text = "adds jobs to a running flow: the body is a flow file in JSON, whose jobs may need those of the flow"},
    GET("/flows/{flow}/graph",             WIRE_LIST,       "flow",    "what=jobs&graph=true", MESSAGE, "jobs", "a page of the jobs of a flow with parents and attempts; with items_of the items of one"),
    {HTTP_VERB_GET, "/flows/{flow}/source", WIRE_SOURCE_GET, "flow", NULL, API_BODY_NONE, API_ANSWER_TEXT, NULL, .text = "the file that a flow was submitted from, byte for byte"},
    DO(POST, "/flows/{flow}/again",        WIRE_AGAIN,      "flow",    NULL,            ITEM,    "flows",     "submits the file of a flow once more as another flow; params take the place of those it had"),
    DO(POST, "/submit",                    WIRE_SUBMIT,     NULL,      NULL,            MESSAGE, "flows",     "submits flows as messages: spec, params and, to be kept, the file that the spec was made from"),
    GET("/flows/{flow}/wait",              WIRE_WAIT,       "targets", NULL,            MESSAGE, "over",      "answers when the flow is over, or after timeout_ms"),
    DO(POST, "/flows/{flow}/cancel",       WIRE_CANCEL,     "targets", NULL,            ITEM,    "results",   "ends a flow"),
    DO(POST, "/flows/{flow}/rerun",        WIRE_RERUN,      "targets", NULL,            ITEM,    "results",   "starts a finished flow again where it failed"),
    DO(POST, "/flows/{flow}/pause",        WIRE_PAUSE,      "name",    "scope=flow",    MESSAGE, NULL,        "stops starting new jobs of a flow"),
    DO(POST, "/flows/{flow}/resume",       WIRE_RESUME,     "name",    "scope=flow",    MESSAGE, NULL,        "resumes a paused flow"),
    GET("/jobs/{flow}/{job}",              WIRE_GET,        "target",  "details=true",  ITEM,    "jobs",      "a job with its attempts and what it runs"),
    GET("/jobs/{flow}/{job}/why",          WIRE_WHY,        "job",     NULL,            MESSAGE, NULL,        "the one reason why it does not run"),
    GET("/jobs/{flow}/{job}/logs",         WIRE_LOGS,       "job",     NULL,            BYTES,   NULL,        "what an attempt wrote, both outputs, as bytes; with marks=true a line of JSON per piece: where it begins, its length, stream and time"),
    GET("/jobs/{flow}/{job}/wait",         WIRE_WAIT,       "targets", NULL,            MESSAGE, "over",      "answers when the job is over, or after timeout_ms"),
    DO(POST, "/jobs/{flow}/{job}/cancel",  WIRE_CANCEL,     "targets", NULL,            ITEM,    "results",   "ends a job and what depends on it"),
    DO(POST, "/jobs/{flow}/{job}/retry",   WIRE_RETRY,      "targets", NULL,            ITEM,    "results",   "gives a dead job new attempts"),
    DO(POST, "/jobs/{flow}/{job}/discard", WIRE_DISCARD,    "targets", NULL,            ITEM,    "results",   "drops a dead letter"),
    DO(POST, "/jobs/{flow}/{job}/complete", WIRE_COMPLETE,  "job",     NULL,            MESSAGE, NULL,        "ends an external job"),
    DO(POST, "/jobs/{flow}/{job}/callback", WIRE_CALLBACK,  "job",     NULL,            MESSAGE, NULL,        "makes a token with which someone outside can end an external job"),
    DO(POST, "/callback/{token}",          WIRE_COMPLETE,   "token",   NULL,            MESSAGE, NULL,        "ends an external job, with its token and no other right"),
    DO(POST, "/jobs/{flow}/{job}/verdict", WIRE_VERDICT,    "job",     NULL,            MESSAGE, NULL,        "answers the question of this job"),
    GET("/dead",                           WIRE_LIST,       NULL,      "what=dead",     MESSAGE, "jobs",      "a page of dead letters"),
    DO(POST, "/dead/retry",                WIRE_DEAD_RETRY, NULL,     NULL,            MESSAGE, "results",   "gives dead letters new attempts: targets, or all that fit flow, name, states, times; at most 1,000 at once"),
    DO(POST, "/dead/discard",              WIRE_DEAD_DISCARD, NULL,   NULL,            MESSAGE, "results",   "drops dead letters, chosen in the same way"),
    GET("/questions",                      WIRE_LIST,       NULL,      "what=questions", MESSAGE, "questions", "a page of what waits for a decision"),
    DO(POST, "/questions/{question}/verdict", WIRE_VERDICT, "question", NULL,           MESSAGE, NULL,        "answers a question, for the hash that was shown"),
    GET("/workers",                        WIRE_LIST,       NULL,      "what=workers",  MESSAGE, "workers",   "a page of workers"),
    GET("/workers/{worker}",               WIRE_LIST,       "name",    "what=worker",   ITEM,    "workers",   "a worker, with what it offers and what of it is taken"),
    GET("/workers/{worker}/jobs",          WIRE_LIST,       "name",    "what=running",  MESSAGE, "jobs",      "a page of the jobs that a worker holds, the oldest first"),
    DO(POST, "/workers/{worker}/drain",    WIRE_DRAIN,      "worker",  NULL,            MESSAGE, NULL,        "lets a worker take no new jobs; with undo it takes jobs again"),
    DO(POST, "/workers",                   WIRE_WORKER_START, NULL,   NULL,            MESSAGE, NULL,        "starts a worker on the server's machine, where the server may"),
    GET("/demand",                         WIRE_DEMAND_WATCH, NULL,    "once=true",     MESSAGE, "rows",      "which jobs wait for room"),
    GET("/schedules",                      WIRE_SCHEDULE_LS, NULL,     NULL,            MESSAGE, "schedules", "a page of schedules"),
    GET("/schedules/{name}",               WIRE_SCHEDULE_LS, "name",  "details=true",  ITEM,    "schedules", "a schedule with what became of its last slots; with ahead its next ones, with since and until those between"),
    DO(PUT, "/schedules/{name}",           WIRE_SCHEDULE_SET, "name",  NULL,            MESSAGE, NULL,        "sets a schedule; flow.spec is a flow file in JSON"),
    DO(DELETE, "/schedules/{name}",        WIRE_SCHEDULE_CHANGE, "name", "op=remove",   MESSAGE, NULL,        "removes a schedule"),
    DO(POST, "/schedules/{name}/pause",    WIRE_SCHEDULE_CHANGE, "name", "op=pause",    MESSAGE, NULL,        "pauses a schedule"),
    DO(POST, "/schedules/{name}/resume",   WIRE_SCHEDULE_CHANGE, "name", "op=resume",   MESSAGE, NULL,        "resumes a schedule"),
    DO(POST, "/schedules/{name}/backfill", WIRE_SCHEDULE_CHANGE, "name", "op=backfill", MESSAGE, NULL,        "fires for slots of the past: since and until, as dates or times of its zone"),
    {HTTP_VERB_POST, "/schedules/{name}/run", WIRE_SCHEDULE_RUN, "name", NULL, API_BODY_FIELDS, API_ANSWER_ITEM, "flows", .text = "a run of it now, for now or for `slot`"},
    GET("/services",                       WIRE_SERVICE_LS, NULL,      NULL,            MESSAGE, "services",  "a page of services"),
    GET("/services/{name}",                WIRE_SERVICE_GET, "name",   NULL,            ITEM,    "services",  "a service with the versions that it remembers"),
    {HTTP_VERB_POST, "/services/{name}/rollback", WIRE_SERVICE_ROLLBACK, "name", NULL, API_BODY_FIELDS, API_ANSWER_ITEM, "flows", .text = "deploys an earlier version of a service once more: `version`, or the last one before the current that was healthy"},
    DO(PUT, "/services/{name}",            WIRE_SERVICE_SET, "name",   NULL,            MESSAGE, NULL,        "starts, stops or removes a service"),
    GET("/store",                          WIRE_KV_GET,     NULL,      NULL,            MESSAGE, "items",     "keys of the shared store: by name, or a page by prefix"),
    GET("/store/events",                   WIRE_KV_WATCH,   NULL,      NULL,            WATCH,   NULL,        "changes of a key, or with prefix=true of every key with that prefix, as server-sent events; with channel=true what is published there"),
    DO(POST, "/store",                     WIRE_KV_CHANGE,  NULL,      NULL,            MESSAGE, NULL,        "changes keys of the shared store, or publishes"),
    GET("/blobs",                          WIRE_BLOB_LS,    NULL,      NULL,            MESSAGE, "blobs",     "a page of the tenant's blobs"),
    {HTTP_VERB_POST, "/blobs", WIRE_BLOB_PUT, NULL, NULL, API_BODY_BYTES, API_ANSWER_MESSAGE, NULL, .text = "stores the body, of any type and length, and tells its hash when it is durable"},
    GET("/blobs/{hash}",                   WIRE_BLOB_GET,   "hash",    NULL,            BYTES,   NULL,        "the bytes of a blob"),
    DO(POST, "/session/link",              WIRE_LOGIN_NEW,  NULL,      NULL,            MESSAGE, NULL,        "makes a link that logs a browser in as the caller, once"),
    GET("/tokens",                         WIRE_TOKEN_LS,   NULL,      NULL,            MESSAGE, "tokens",    "a page of tokens, without their secrets"),
    DO(POST, "/tokens",                    WIRE_TOKEN_NEW,  NULL,      NULL,            MESSAGE, NULL,        "a new token, shown once"),
    DO(DELETE, "/tokens/{id}",             WIRE_TOKEN_REVOKE, "targets", NULL,          ITEM,    "results",   "revokes a token"),
    GET("/audit",                          WIRE_AUDIT,      NULL,      NULL,            MESSAGE, "records",   "a page of the journal's records, newest first, also of those in the archive"),
    DO(PUT, "/pools/{name}",               WIRE_POOL,       "name",    NULL,            MESSAGE, NULL,        "sets a pool"),
    DO(POST, "/pools/{name}/pause",        WIRE_PAUSE,      "name",    "scope=pool",    MESSAGE, NULL,        "stops starting new jobs of a pool"),
    DO(POST, "/pools/{name}/resume",       WIRE_RESUME,     "name",    "scope=pool",    MESSAGE, NULL,        "resumes a paused pool"),
    DO(PUT, "/topics/{name}",              WIRE_TOPIC,      "name",    NULL,            MESSAGE, NULL,        "maps a topic to pools"),
    DO(PUT, "/tenants/{name}",             WIRE_TENANT,     "name",    NULL,            MESSAGE, NULL,        "sets the share of a tenant"),
    DO(POST, "/tenants/{name}/pause",      WIRE_PAUSE,      "name",    "scope=tenant",  MESSAGE, NULL,        "stops starting new jobs of a tenant"),
    DO(POST, "/tenants/{name}/resume",     WIRE_RESUME,     "name",    "scope=tenant",  MESSAGE, NULL,        "resumes a paused tenant"),
    GET("/limits",                         WIRE_LIMIT_LS,   NULL,      NULL,            MESSAGE, "limits",    "a page of limits, with what is taken of them"),
    DO(POST, "/limits",                    WIRE_LIMIT,      NULL,      NULL,            MESSAGE, NULL,        "limits a key, a rate or a tenant"),
    GET("/events",                         WIRE_FOLLOW,     NULL,      "state_first=false", STREAM,  NULL,        "everything that happens, as WebSocket (Upgrade) or server-sent events; header Last-Event-ID counts as since"),
    GET("/flows/{flow}/events",            WIRE_TALE,       "flow",    NULL,            TALE,    "events",    "what happened to a flow, from its beginning on"),
    GET("/stats",                          WIRE_STATS,      NULL,      NULL,            MESSAGE, "numbers",   "the counters of the server"),
    GET("/stats/history",                  WIRE_STATS_PAST, NULL,      NULL,            MESSAGE, "samples",   "some of them minute by minute, for the last day or since the server started"),
    {HTTP_VERB_GET, "/metrics", WIRE_METRICS, NULL, NULL, API_BODY_NONE, API_ANSWER_TEXT, NULL, .text = "the counters for Prometheus, text format 0.0.4", .bare = true},
    GET("/playground",                     WIRE_PLAYGROUND_GET, NULL,  NULL,            MESSAGE, NULL,        "of `reeve up --playground`: the server and its last recovery"),
    DO(POST, "/playground/kill",           WIRE_PLAYGROUND_DO, NULL,   "what=kill",     MESSAGE, NULL,        "pulls the plug: the server is killed with SIGKILL"),
    DO(POST, "/playground/recover",        WIRE_PLAYGROUND_DO, NULL,   "what=recover",  MESSAGE, NULL,        "starts a killed server again, before it happens by itself"),
};
/* clang-format on */

const struct api_route *api_routes(uint32_t *ret_count) {
    *ret_count = sizeof routes / sizeof routes[0];
    return routes;
}

/* ---- paths ---- */

/* False: another path. Writes what stands in the place of braces. Each request is held against many patterns, so these
 * are walked as they are written, and left at the first letter that differs. */
static bool path_fits(const char *pattern, const struct slice *words, uint32_t count, struct slice *ret,
                      uint32_t *ret_count) {
    uint32_t n = 0, braced = 0;
    for (const char *at = pattern; *at == '/'; n++) {
        if (n == count || words[n].len == 0) return false;
        if (*++at == '{') {
            ret[braced++] = words[n];
            while (*at != '/' && *at != 0) at++;
            continue;
        }
        const uint8_t *letter = words[n].ptr, *end = letter + words[n].len;
        while (letter < end && *at == (char)*letter && *at != '/') at++, letter++;
        if (letter < end || (*at != '/' && *at != 0)) return false;
    }
    *ret_count = braced;
    return n == count;
}

struct api_path { /* of a request, in its words */
    struct slice words[API_WORDS_MAX];
    uint32_t count; /* 0: none of ours can be it */
    bool bare;      /* without the prefix */
};

static enum err path_read(struct slice path, struct arena *arena, struct api_path *ret, struct why *why) {
    size_t prefix = sizeof API_PREFIX - 1;
    struct slice raw;
    ret->count = 0;
    ret->bare = path.len < prefix || memcmp(path.ptr, API_PREFIX, prefix) != 0;
    if (!ret->bare) path = slice_of(path.ptr + prefix, path.len - prefix);
    uint32_t count = 0;
    while (uri_word_next(&path, &raw)) {
        if (count == API_WORDS_MAX) return ERR_OK;
        enum err e = uri_decode(raw, false, arena, &ret->words[count++], why);
        if (e != ERR_OK) return e;
    }
    if (path.len == 0 && count > 0 && ret->words[0].len > 0) ret->count = count; /* not "/api/v1x" */
    return ERR_OK;
}

enum err api_find(const struct http_request *r, struct arena *arena, struct api_match *ret, struct why *why) {
    enum http_verb wanted = r->verb == HTTP_VERB_HEAD ? HTTP_VERB_GET : r->verb;
    struct api_path path;
    *ret = (struct api_match){0};
    enum err e = path_read(r->path, arena, &path, why);
    if (e != ERR_OK || path.count == 0) return e;
    char first = (char)path.words[0].ptr[0];
    for (size_t i = 0; i < sizeof routes / sizeof routes[0] && ret->route == NULL; i++) {
        struct slice found[API_WORDS_MAX];
        uint32_t n = 0;
        if (routes[i].path[1] != first) continue; /* most are told apart by a letter */
        if (routes[i].bare != path.bare || !path_fits(routes[i].path, path.words, path.count, found, &n)) continue;
        ret->verbs |= 1u << routes[i].verb;
        if (routes[i].verb == HTTP_VERB_GET) ret->verbs |= 1u << HTTP_VERB_HEAD;
        if (routes[i].verb != wanted) continue;
        ret->route = &routes[i];
        ret->word_count = n;
        ret->in_request = true;
        for (uint32_t k = 0; k < n; k++) {
            ret->words[k] = found[k];
            ret->in_request &= found[k].ptr >= r->path.ptr && found[k].ptr < r->path.ptr + r->path.len;
        }
    }
    return ERR_OK;
}

void api_again(const struct api_route *route, const struct http_request *r, struct arena *arena,
               struct api_match *ret) {
    struct api_path path;
    struct why why;
    *ret = (struct api_match){.route = route};
    ENSURE(path_read(r->path, arena, &path, &why) == ERR_OK);
    ENSURE(path_fits(route->path, path.words, path.count, ret->words, &ret->word_count));
}

/* ---- messages ---- */

/* What the path says, nothing else may say again. */
static bool is_fixed(const struct api_route *route, struct slice name) {
    struct slice preset = slice_str(route->preset != NULL ? route->preset : ""), key, value;
    while (uri_pair_next(&preset, &key, &value))
        if (slice_eq(name, key)) return true;
    return route->field != NULL && slice_eq(name, slice_str(route->field));
}

static enum err take_pair(struct wire_json_in *x, const struct tlv_desc *d, struct slice key, struct slice value,
                          const struct api_route *route, void *message) {
    enum err e = uri_decode(key, true, x->arena, &key, x->why);
    if (e == ERR_OK) e = uri_decode(value, true, x->arena, &value, x->why);
    if (e == ERR_OK && is_fixed(route, key))
        e = why_set(x->why, ERR_INVALID, "`%.*s` is given by the path", SLICE_FMT(key));
    return e == ERR_OK ? wire_json_set(x, d, key, value, message) : e;
}

static enum err take_query(struct wire_json_in *x, const struct tlv_desc *d, const struct api_route *route,
                           struct slice query, void *message) {
    struct slice key, value;
    enum err e = ERR_OK;
    for (uint32_t count = 0; e == ERR_OK && uri_pair_next(&query, &key, &value); count++) {
        if (count == PAIRS_MAX) return why_set(x->why, ERR_LIMIT, "a query has at most %u parameters", PAIRS_MAX);
        e = take_pair(x, d, key, value, route, message);
    }
    return e;
}

static enum err take_preset(struct wire_json_in *x, const struct tlv_desc *d, const struct api_route *route,
                            void *message) {
    struct slice preset = slice_str(route->preset != NULL ? route->preset : ""), key, value;
    enum err e = ERR_OK;
    while (e == ERR_OK && uri_pair_next(&preset, &key, &value)) e = wire_json_set(x, d, key, value, message);
    return e;
}

static enum err check_body(struct wire_json_in *x, const struct api_route *route, const struct json_node *root) {
    if (root->kind != JSON_OBJECT)
        return why_set(x->why, ERR_INVALID, "the body: expected an object, found %s", json_kind_word(root->kind));
    for (const struct json_node *n = root->first; n != NULL; n = n->next)
        if (is_fixed(route, n->key))
            return why_set(x->why, ERR_INVALID, "`%.*s` is given by the path", SLICE_FMT(n->key));
    return ERR_OK;
}

static enum err take_fields(struct wire_json_in *x, const struct api_route *route, const struct http_request *r,
                            const struct limits *limits, void *message) {
    const struct json_node *root = NULL;
    if (r->body.len == 0) return ERR_OK;
    x->text = r->body;
    enum err e = json_tree_read(r->body, limits, x->arena, &root, x->why);
    if (e == ERR_OK) e = check_body(x, route, root);
    return e == ERR_OK ? wire_json_read(x, root, wire_info(route->op)->desc, message) : e;
}

/* Jobs for a flow that is there: as a flow file, too. */
static enum err take_jobs(struct wire_json_in *x, const struct api_route *route, const struct http_request *r,
                          struct wire_add_jobs *ret) {
    if (r->body.len == 0) return why_set(x->why, ERR_INVALID, "the body is missing: a flow file in JSON");
    enum err e = take_query(x, &wire_add_jobs_desc, route, r->query, ret);
    if (e != ERR_OK) return e;
    if (ret->spec.len > 0) return why_set(x->why, ERR_INVALID, "`spec` is given by the body");
    ret->spec = r->body;
    return ERR_OK;
}

/* The flow file stays as it is: who reads flow files reads it. */
static enum err take_flow(struct wire_json_in *x, const struct api_route *route, const struct http_request *r,
                          struct wire_submit *ret) {
    struct wire_flow *flow = ARENA_NEW(x->arena, struct wire_flow);
    const struct slice *key = http_header(r, "idempotency-key");
    if (r->body.len == 0) return why_set(x->why, ERR_INVALID, "the body is missing: a flow file in JSON");
    enum err e = take_query(x, &wire_flow_desc, route, r->query, flow);
    if (e != ERR_OK) return e;
    if (flow->spec.len > 0) return why_set(x->why, ERR_INVALID, "`spec` is given by the body");
    if (key != NULL) flow->key = *key;
    flow->spec = r->body;
    ret->flows = (struct tlv_list){flow, 1};
    return ERR_OK;
}

static enum err take_words(struct wire_json_in *x, const struct api_match *m, const struct tlv_desc *d, void *message) {
    size_t len = 0;
    if (m->route->field == NULL) return ERR_OK;
    for (uint32_t i = 0; i < m->word_count; i++) len += m->words[i].len + 1;
    if (len > WIRE_TEXT_MAX) return why_set(x->why, ERR_LIMIT, "the names in the path are too long");
    uint8_t *text = arena_alloc(x->arena, len + 1), *at = text;
    for (uint32_t i = 0; i < m->word_count; i++) {
        if (i > 0) *at++ = '/';
        memcpy(at, m->words[i].ptr, m->words[i].len);
        at += m->words[i].len;
    }
    return wire_json_set(x, d, slice_str(m->route->field), slice_of(text, (size_t)(at - text)), message);
}

enum err api_message(const struct api_match *m, const struct http_request *r, const struct limits *limits,
                     struct wire_json_in *x, void **ret) {
    const struct api_route *route = m->route;
    const struct tlv_desc *d = wire_info(route->op)->desc;
    void *message = arena_alloc(x->arena, d->size);
    enum err e = ERR_OK;
    switch (route->body) {
    case API_BODY_NONE: e = take_query(x, d, route, r->query, message); break;
    case API_BODY_FIELDS: e = take_fields(x, route, r, limits, message); break;
    case API_BODY_FLOW:
        e = route->op == WIRE_ADD_JOBS ? take_jobs(x, route, r, message) : take_flow(x, route, r, message);
        break;
    case API_BODY_BYTES: ((struct wire_blob_put *)message)->data = r->body; break;
    }
    if (e == ERR_OK && route->body == API_BODY_NONE && r->body.len > 0)
        e = why_set(x->why, ERR_INVALID, "a body has no meaning here");
    if (e == ERR_OK && (route->body == API_BODY_FIELDS || route->body == API_BODY_BYTES) && r->query.len > 0)
        e = why_set(x->why, ERR_INVALID, "a query has no meaning here: say it in the body");
    if (e == ERR_OK) e = take_preset(x, d, route, message);
    if (e == ERR_OK) e = take_words(x, m, d, message);
    if (e == ERR_OK) e = tlv_check(d, message, x->why);
    if (e == ERR_OK) *ret = message;
    return e;
}
