/* titan_http.h: the HTTP interface of Titan's dashboard: its paths, and what comes by them. Pure. */
#ifndef REEVE_TITAN_HTTP_H
#define REEVE_TITAN_HTTP_H

#include "http.h"
#include "titan_job.h"

enum titan_body { TITAN_BODY_NONE, TITAN_BODY_JSON, TITAN_BODY_FORM }; /* none: what comes is not looked at */

/* clang-format off */
/*     call                  verb   body                path; * is a word, ** all that follows */
#define TITAN_CALLS(X)                                                                          \
    X(TITAN_CALL_LOGS,       GET,   TITAN_BODY_NONE,    "/api/logs_raw/*")                      \
    X(TITAN_CALL_DAGS,       GET,   TITAN_BODY_NONE,    "/api/dag_status")                      \
    X(TITAN_CALL_SUBMIT,     POST,  TITAN_BODY_JSON,    "/api/dag/submit")                      \
    X(TITAN_CALL_DRAFT_SAVE, POST,  TITAN_BODY_JSON,    "/api/dag/save_draft")                  \
    X(TITAN_CALL_DRAFTS,     GET,   TITAN_BODY_NONE,    "/api/dag/constructor_states")          \
    X(TITAN_CALL_DRAFT,      GET,   TITAN_BODY_NONE,    "/api/dag/constructor_state/*")         \
    X(TITAN_CALL_REDEPLOY,   POST,  TITAN_BODY_NONE,    "/api/dag/redeploy/*")                  \
    X(TITAN_CALL_REPLAY,     POST,  TITAN_BODY_NONE,    "/api/dag/replay/*")                    \
    X(TITAN_CALL_DAG_CANCEL, POST,  TITAN_BODY_NONE,    "/api/dag/*/cancel")                    \
    X(TITAN_CALL_JOB_CANCEL, POST,  TITAN_BODY_NONE,    "/api/job/*/cancel")                    \
    X(TITAN_CALL_PENDING,    GET,   TITAN_BODY_NONE,    "/api/hitl/pending")                    \
    X(TITAN_CALL_APPROVE,    POST,  TITAN_BODY_NONE,    "/api/hitl/approve/*")                  \
    X(TITAN_CALL_REJECT,     POST,  TITAN_BODY_NONE,    "/api/hitl/reject/*")                   \
    X(TITAN_CALL_FILES,      GET,   TITAN_BODY_NONE,    "/api/workspace/files")                 \
    X(TITAN_CALL_FILE,       GET,   TITAN_BODY_NONE,    "/api/workspace/file/**")               \
    X(TITAN_CALL_SCRIPTS,    GET,   TITAN_BODY_NONE,    "/api/perm_files")                      \
    X(TITAN_CALL_UPLOAD,     POST,  TITAN_BODY_FORM,    "/api/upload_script")                   \
    X(TITAN_CALL_MANIFEST,   POST,  TITAN_BODY_JSON,    "/api/manifest/sync")                   \
    X(TITAN_CALL_LAUNCH,     POST,  TITAN_BODY_JSON,    "/api/worker/launch")                   \
    X(TITAN_CALL_PAGE,       GET,   TITAN_BODY_NONE,    "/")                                    \
    X(TITAN_CALL_PAGE_NEW,   GET,   TITAN_BODY_NONE,    "/dags/new")                            \
    X(TITAN_CALL_PAGE_DAGS,  GET,   TITAN_BODY_NONE,    "/dags")                                \
    X(TITAN_CALL_PAGE_DAG,   GET,   TITAN_BODY_NONE,    "/dags/*")                              \
    X(TITAN_CALL_PAGE_RUNS,  GET,   TITAN_BODY_NONE,    "/agents")                              \
    X(TITAN_CALL_PAGE_LOG,   GET,   TITAN_BODY_NONE,    "/logs/*")
/* clang-format on */

enum titan_call {
#define X(call, verb, body, path) call,
    TITAN_CALLS(X)
#undef X
        TITAN_CALL_COUNT /* none of them */
};

struct titan_asked {
    enum titan_call call;
    enum titan_body body;
    bool fits;         /* the verb is that of the path */
    const char *allow; /* verbs that are */
    struct slice word; /* of the path, without escapes; in the arena */
};

/* False: nothing is at this path. */
bool titan_http_find(const struct http_request *r, struct arena *arena, struct titan_asked *ret);
/* The first value of that name in the query; empty = it has none, or not one that can be read. */
struct slice titan_http_query(const struct http_request *r, const char *key, struct arena *arena);

/* ---- a DAG as the page sends it ---- */

struct titan_dag {
    struct slice name;
    struct titan_jobs jobs;    /* all of them named, gates among them */
    struct slice nodes, edges; /* of the drawing, as JSON; empty = none came */
    struct slice *gates;       /* ids without the prefix DAG- */
    uint32_t gate_count;
};

CHECKED enum err titan_dag_json(struct slice text, const struct limits *limits, struct arena *arena,
                                struct titan_dag *ret, struct why *why);
struct slice titan_dag_name(struct slice id); /* without the prefix DAG- */

/* A file name that is safe everywhere, made of one that a browser sends: letters, digits, `_`, `-`, `.`, no path. */
struct slice titan_file_name(struct slice sent, struct arena *arena);

#endif
