/* requests.h: who may send what, decided in one place. One row per message that a client or a worker sends: the roles
 * that may send it, whose things it names, what must have happened before, and what serves it. What a message looks
 * like, its lane and its answer are in the table of the wire (wire.h).
 *
 * Every request goes through request_check before anything of it is served, by whatever dialect it came: those of the
 * native wire, of HTTP and of agents arrive as messages (route.c); a dialect that has no messages names the row whose
 * rights it uses (RESP: resp_command.c; Orion: orion_gate.c; uploads: upload.c). The rule for things is one: what
 * belongs to another tenant is answered like what is not there. */
#ifndef REEVE_REQUESTS_H
#define REEVE_REQUESTS_H

#include "auth.h"
#include "wire.h"

struct server;
struct session;
struct request;

/* ---- roles ---- */

#define CAN_LOOK (ROLE_BIT(ROLE_VIEWER) | ROLE_BIT(ROLE_INSPECT) | ROLE_BIT(ROLE_SUBMITTER) | ROLE_BIT(ROLE_APPROVER))
#define CAN_SUBMIT ROLE_BIT(ROLE_SUBMITTER)
#define CAN_APPROVE ROLE_BIT(ROLE_APPROVER)
#define CAN_OPERATE ROLE_BIT(ROLE_OPERATOR)
#define CAN_WORK ROLE_BIT(ROLE_WORKER)
#define CAN_JOB ROLE_BIT(ROLE_JOB) /* of its own flow, and of its tenant's store and blobs */
#define CAN_CALL_BACK ROLE_BIT(ROLE_CALLBACK)
#define CAN_ADMIN ROLE_BIT(ROLE_ADMIN) /* may send everything, so it is named where nobody else may */
#define CAN_ALL (CAN_LOOK | CAN_OPERATE | CAN_WORK | CAN_JOB)
#define CAN_EVERYONE (CAN_ALL | CAN_CALL_BACK)

/* ---- whose things ---- */

enum request_names {
    NAMES_NOTHING,     /* nothing that is there: it makes, or lists, things of the caller's tenant */
    NAMES_OWN,         /* things that are looked for in the caller's tenant only: keys, blobs, schedules, services; or
                          on its connection only: streams, uploads */
    NAMES_FLOWS,       /* flows and jobs, found by target.h: those of others are not there */
    NAMES_LIST,        /* a list: of a flow, as above, or of a worker */
    NAMES_QUESTION,    /* a question, or the job that stands before it */
    NAMES_WORKER,      /* a worker: that of another tenant is not there; a worker's token names itself only */
    NAMES_PAUSED,      /* a flow, as above; a tenant or a pool */
    NAMES_TENANT,      /* a tenant: a token of one names no other */
    NAMES_STANDARD,    /* the tenant of workers that are started here */
    NAMES_TITAN,       /* the tenant of Titan's protocol */
    NAMES_EXTERNAL,    /* an external job: by role, or by its own token */
    NAMES_DEMAND,      /* demand: a worker's token names its kind of worker */
    NAMES_ATTEMPTS,    /* attempts of the attached worker: the engine fences all others */
    NAMES_ALL_TENANTS, /* what all tenants share */
    NAMES_COUNT
};

/* ---- the table ---- */

#define REQUEST_NEEDS_ATTACH 1u /* the words of a worker, on a connection that the engine has attached */

/* clang-format off */
/*     opcode                roles                         names              flags                 served by */
#define REQUEST_TABLE(X)                                                                                              \
    X(WIRE_HELLO,            CAN_EVERYONE,                 NAMES_NOTHING,     0,                    request_hello)       \
    X(WIRE_ERROR,            CAN_EVERYONE,                 NAMES_NOTHING,     0,                    request_nothing)     \
    X(WIRE_PING,             CAN_ALL,                      NAMES_NOTHING,     0,                    request_ping)        \
    X(WIRE_PONG,             CAN_EVERYONE,                 NAMES_NOTHING,     0,                    request_nothing)     \
    X(WIRE_GOODBYE,          CAN_ALL,                      NAMES_NOTHING,     0,                    request_goodbye)     \
    X(WIRE_STOP,             CAN_ALL,                      NAMES_OWN,         0,                    request_stop)        \
    X(WIRE_SUBMIT,           CAN_SUBMIT | CAN_OPERATE,     NAMES_NOTHING,     0,                    req_submit)          \
    X(WIRE_ADD_JOBS,         CAN_SUBMIT | CAN_OPERATE | CAN_JOB, NAMES_FLOWS, 0,                    req_add)             \
    X(WIRE_CANCEL,           CAN_SUBMIT | CAN_OPERATE,     NAMES_FLOWS,       0,                    req_targets)         \
    X(WIRE_PAUSE,            CAN_SUBMIT | CAN_OPERATE,     NAMES_PAUSED,      0,                    req_pause)           \
    X(WIRE_RESUME,           CAN_SUBMIT | CAN_OPERATE,     NAMES_PAUSED,      0,                    req_pause)           \
    X(WIRE_RETRY,            CAN_SUBMIT | CAN_OPERATE,     NAMES_FLOWS,       0,                    req_targets)         \
    X(WIRE_DISCARD,          CAN_SUBMIT | CAN_OPERATE,     NAMES_FLOWS,       0,                    req_targets)         \
    X(WIRE_RERUN,            CAN_SUBMIT | CAN_OPERATE,     NAMES_FLOWS,       0,                    req_targets)         \
    X(WIRE_VERDICT,          CAN_APPROVE,                  NAMES_QUESTION,    0,                    req_verdict)         \
    X(WIRE_COMPLETE,         CAN_EVERYONE,                 NAMES_EXTERNAL,    0,                    req_complete)        \
    X(WIRE_GET,              CAN_LOOK | CAN_OPERATE | CAN_JOB, NAMES_FLOWS,   0,                    req_get)             \
    X(WIRE_LIST,             CAN_LOOK | CAN_OPERATE | CAN_JOB, NAMES_LIST,    0,                    req_list)            \
    X(WIRE_WHY,              CAN_LOOK | CAN_OPERATE | CAN_JOB, NAMES_FLOWS,   0,                    req_why)             \
    X(WIRE_WAIT,             CAN_LOOK | CAN_OPERATE | CAN_JOB, NAMES_FLOWS,   0,                    event_ring_wait)           \
    X(WIRE_SUBSCRIBE,        CAN_LOOK | CAN_OPERATE,       NAMES_FLOWS,       0,                    event_ring_subscribe)      \
    X(WIRE_LOGS,             CAN_LOOK | CAN_OPERATE | CAN_JOB, NAMES_FLOWS,   0,                    stream_logs)         \
    X(WIRE_STATS,            CAN_LOOK | CAN_OPERATE,       NAMES_NOTHING,     0,                    req_stats)           \
    X(WIRE_BLOB_BEGIN,       CAN_SUBMIT | CAN_WORK | CAN_OPERATE | CAN_JOB, NAMES_OWN, 0,           stream_blob_begin)   \
    X(WIRE_BLOB_PART,        CAN_SUBMIT | CAN_WORK | CAN_OPERATE | CAN_JOB, NAMES_OWN, 0,           stream_blob_part)    \
    X(WIRE_BLOB_END,         CAN_SUBMIT | CAN_WORK | CAN_OPERATE | CAN_JOB, NAMES_OWN, 0,           stream_blob_end)     \
    X(WIRE_BLOB_PUT,         CAN_SUBMIT | CAN_WORK | CAN_OPERATE | CAN_JOB, NAMES_OWN, 0,           stream_blob_put)     \
    X(WIRE_BLOB_GET,         CAN_ALL,                      NAMES_OWN,         0,                    stream_blob_get)     \
    X(WIRE_BLOB_LS,          CAN_LOOK | CAN_OPERATE,       NAMES_NOTHING,     0,                    stream_blob_ls)      \
    X(WIRE_KV_CHANGE,        CAN_SUBMIT | CAN_OPERATE | CAN_JOB, NAMES_FLOWS, 0,                    req_kv_change)       \
    X(WIRE_KV_GET,           CAN_LOOK | CAN_OPERATE | CAN_JOB, NAMES_FLOWS,   0,                    req_kv_get)          \
    X(WIRE_KV_WATCH,         CAN_LOOK | CAN_OPERATE | CAN_JOB, NAMES_FLOWS,   0,                    req_kv_watch)        \
    X(WIRE_TOKEN_NEW,        CAN_ADMIN,                    NAMES_ALL_TENANTS, 0,                    req_token_new)       \
    X(WIRE_TOKEN_REVOKE,     CAN_ADMIN,                    NAMES_ALL_TENANTS, 0,                    req_token_revoke)    \
    X(WIRE_TOKEN_LS,         CAN_ADMIN,                    NAMES_ALL_TENANTS, 0,                    req_token_ls)        \
    X(WIRE_SCHEDULE_SET,     CAN_SUBMIT | CAN_OPERATE,     NAMES_OWN,         0,                    req_schedule_set)    \
    X(WIRE_SCHEDULE_CHANGE,  CAN_SUBMIT | CAN_OPERATE,     NAMES_OWN,         0,                    req_schedule_change) \
    X(WIRE_SCHEDULE_LS,      CAN_LOOK | CAN_OPERATE,       NAMES_OWN,         0,                    req_schedule_ls)     \
    X(WIRE_SERVICE_SET,      CAN_SUBMIT | CAN_OPERATE,     NAMES_OWN,         0,                    req_service_set)     \
    X(WIRE_SERVICE_LS,       CAN_LOOK | CAN_OPERATE,       NAMES_NOTHING,     0,                    req_service_ls)      \
    X(WIRE_POOL,             CAN_OPERATE,                  NAMES_ALL_TENANTS, 0,                    req_pool)            \
    X(WIRE_TOPIC,            CAN_OPERATE,                  NAMES_ALL_TENANTS, 0,                    req_topic)           \
    X(WIRE_TENANT,           CAN_ADMIN,                    NAMES_ALL_TENANTS, 0,                    req_tenant)          \
    X(WIRE_LIMIT,            CAN_OPERATE,                  NAMES_TENANT,      0,                    req_limit)           \
    X(WIRE_LIMIT_LS,         CAN_LOOK | CAN_OPERATE,       NAMES_NOTHING,     0,                    req_limit_ls)        \
    X(WIRE_DRAIN,            CAN_OPERATE | CAN_WORK,       NAMES_WORKER,      0,                    req_drain)           \
    X(WIRE_DEMAND_WATCH,     CAN_LOOK | CAN_WORK | CAN_OPERATE, NAMES_DEMAND, 0,                    demand_watch)        \
    X(WIRE_CALLBACK,         CAN_SUBMIT | CAN_OPERATE,     NAMES_FLOWS,       0,                    req_callback)        \
    X(WIRE_FOLLOW,           CAN_LOOK | CAN_OPERATE,       NAMES_FLOWS,       0,                    subscribers_add)       \
    X(WIRE_TALE,             CAN_LOOK | CAN_OPERATE,       NAMES_FLOWS,       0,                    flow_events_read)            \
    X(WIRE_ATTACH,           CAN_WORK,                     NAMES_NOTHING,     0,                    req_attach)          \
    X(WIRE_HEARTBEAT,        CAN_WORK,                     NAMES_NOTHING,     REQUEST_NEEDS_ATTACH, req_heartbeat)       \
    X(WIRE_CREDIT,           CAN_WORK,                     NAMES_NOTHING,     REQUEST_NEEDS_ATTACH, req_credit)          \
    X(WIRE_DETACH,           CAN_WORK,                     NAMES_NOTHING,     REQUEST_NEEDS_ATTACH, req_detach)          \
    X(WIRE_STARTED,          CAN_WORK,                     NAMES_ATTEMPTS,    REQUEST_NEEDS_ATTACH, req_started)         \
    X(WIRE_PROGRESS,         CAN_WORK,                     NAMES_ATTEMPTS,    REQUEST_NEEDS_ATTACH, req_progress)        \
    X(WIRE_HEALTH,           CAN_WORK,                     NAMES_ATTEMPTS,    REQUEST_NEEDS_ATTACH, req_health)          \
    X(WIRE_LOG,              CAN_WORK,                     NAMES_ATTEMPTS,    REQUEST_NEEDS_ATTACH, stream_log)          \
    X(WIRE_DONE,             CAN_WORK,                     NAMES_ATTEMPTS,    REQUEST_NEEDS_ATTACH, req_done)            \
    X(WIRE_METRICS,          CAN_LOOK | CAN_OPERATE,       NAMES_ALL_TENANTS, 0,                    req_metrics)         \
    X(WIRE_DEAD_RETRY,       CAN_SUBMIT | CAN_OPERATE,     NAMES_FLOWS,       0,                    req_dead)            \
    X(WIRE_DEAD_DISCARD,     CAN_SUBMIT | CAN_OPERATE,     NAMES_FLOWS,       0,                    req_dead)            \
    X(WIRE_AUDIT,            CAN_OPERATE,                  NAMES_ALL_TENANTS, 0,                    req_audit)           \
    X(WIRE_WORKER_START,     CAN_OPERATE,                  NAMES_STANDARD,    0,                    req_launch)          \
    X(WIRE_ORION_GET,        CAN_LOOK | CAN_OPERATE,       NAMES_NOTHING,     0,                    req_orion)           \
    X(WIRE_PLAYGROUND_GET,   CAN_LOOK | CAN_OPERATE,       NAMES_ALL_TENANTS, 0,                    req_playground)      \
    X(WIRE_PLAYGROUND_DO,    CAN_OPERATE,                  NAMES_ALL_TENANTS, 0,                    req_playground_do)   \
    X(WIRE_LOGIN_NEW,        CAN_LOOK | CAN_OPERATE,       NAMES_NOTHING,     0,                    req_login_new)       \
    X(WIRE_TITAN_GET,        CAN_LOOK | CAN_OPERATE,       NAMES_TITAN,       0,                    req_titan)
/* clang-format on */

typedef void (*request_fn)(struct server *s, struct request *r);

struct request_row {
    uint32_t roles; /* 0: there is no such request */
    enum request_names names;
    uint8_t flags;
    request_fn serve;
};

const struct request_row *request_row(uint8_t opcode); /* NULL = nobody sends it */

/* Whether someone with these roles may send this opcode. An administrator may send everything. */
bool role_may(uint32_t roles, uint8_t opcode);
/* What can be said before the message is looked at, and does not follow from the state: is there such a request, has
 * the caller its role, is its token still valid, is it attached. */
CHECKED enum err request_may(const struct server *s, const struct session *n, uint8_t opcode, struct why *why);
/* All of it: request_may, whether the attempt that a job's token is of is still open, and whether the things that the
 * message names are there for the caller. `message`: the struct of the opcode; NULL for a dialect without messages,
 * which names nothing of others. Whoever serves it then sets `checked` of the server to its connection, and back. */
CHECKED enum err request_check(struct server *s, const struct session *n, uint8_t opcode, const void *message,
                               struct why *why);

#endif
