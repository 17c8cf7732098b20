/* request_table.h: every message that a client or a worker sends, and what serves it. See requests.h. */
#ifndef REEVE_REQUEST_TABLE_H
#define REEVE_REQUEST_TABLE_H

#include "requests.h"

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
    X(WIRE_WAIT,             CAN_LOOK | CAN_OPERATE | CAN_JOB, NAMES_FLOWS,   0,                    event_ring_wait)     \
    X(WIRE_SUBSCRIBE,        CAN_LOOK | CAN_OPERATE,       NAMES_FLOWS,       0,                    subscribers_add_live) \
    X(WIRE_LOGS,             CAN_LOOK | CAN_OPERATE | CAN_JOB, NAMES_FLOWS,   0,                    req_logs)            \
    X(WIRE_STATS,            CAN_LOOK | CAN_OPERATE,       NAMES_NOTHING,     0,                    req_stats)           \
    X(WIRE_BLOB_BEGIN,       CAN_SUBMIT | CAN_WORK | CAN_OPERATE | CAN_JOB, NAMES_OWN, 0,           req_blob_begin)      \
    X(WIRE_BLOB_PART,        CAN_SUBMIT | CAN_WORK | CAN_OPERATE | CAN_JOB, NAMES_OWN, 0,           req_blob_part)       \
    X(WIRE_BLOB_END,         CAN_SUBMIT | CAN_WORK | CAN_OPERATE | CAN_JOB, NAMES_OWN, 0,           req_blob_end)        \
    X(WIRE_BLOB_PUT,         CAN_SUBMIT | CAN_WORK | CAN_OPERATE | CAN_JOB, NAMES_OWN, 0,           req_blob_put)        \
    X(WIRE_BLOB_GET,         CAN_ALL,                      NAMES_OWN,         0,                    req_blob_get)        \
    X(WIRE_BLOB_LS,          CAN_LOOK | CAN_OPERATE,       NAMES_NOTHING,     0,                    req_blob_ls)         \
    X(WIRE_KV_CHANGE,        CAN_SUBMIT | CAN_OPERATE | CAN_JOB, NAMES_FLOWS, 0,                    req_kv_change)       \
    X(WIRE_KV_GET,           CAN_LOOK | CAN_OPERATE | CAN_JOB, NAMES_FLOWS,   0,                    req_kv_get)          \
    X(WIRE_KV_WATCH,         CAN_LOOK | CAN_OPERATE | CAN_JOB, NAMES_FLOWS,   0,                    req_kv_watch)        \
    X(WIRE_TOKEN_NEW,        CAN_ADMIN,                    NAMES_ALL_TENANTS, 0,                    req_token_new)       \
    X(WIRE_TOKEN_REVOKE,     CAN_ADMIN,                    NAMES_ALL_TENANTS, 0,                    req_token_revoke)    \
    X(WIRE_TOKEN_LS,         CAN_ADMIN,                    NAMES_ALL_TENANTS, 0,                    req_token_ls)        \
    X(WIRE_SCHEDULE_SET,     CAN_SUBMIT | CAN_OPERATE,     NAMES_OWN,         0,                    req_schedule_set)    \
    X(WIRE_SCHEDULE_CHANGE,  CAN_SUBMIT | CAN_OPERATE,     NAMES_OWN,         0,                    req_schedule_change) \
    X(WIRE_SCHEDULE_RUN,     CAN_SUBMIT | CAN_OPERATE,     NAMES_OWN,         0,                    req_schedule_run)    \
    X(WIRE_SCHEDULE_LS,      CAN_LOOK | CAN_OPERATE,       NAMES_OWN,         0,                    req_schedule_ls)     \
    X(WIRE_SERVICE_SET,      CAN_SUBMIT | CAN_OPERATE,     NAMES_OWN,         0,                    req_service_set)     \
    X(WIRE_SERVICE_GET,      CAN_LOOK | CAN_OPERATE,       NAMES_OWN,         0,                    req_service_get)     \
    X(WIRE_SERVICE_ROLLBACK, CAN_SUBMIT | CAN_OPERATE,     NAMES_OWN,         0,                    req_service_rollback) \
    X(WIRE_SERVICE_LS,       CAN_LOOK | CAN_OPERATE,       NAMES_NOTHING,     0,                    req_service_ls)      \
    X(WIRE_POOL,             CAN_OPERATE,                  NAMES_ALL_TENANTS, 0,                    req_pool)            \
    X(WIRE_TOPIC,            CAN_OPERATE,                  NAMES_ALL_TENANTS, 0,                    req_topic)           \
    X(WIRE_TENANT,           CAN_ADMIN,                    NAMES_ALL_TENANTS, 0,                    req_tenant)          \
    X(WIRE_LIMIT,            CAN_OPERATE,                  NAMES_TENANT,      0,                    req_limit)           \
    X(WIRE_LIMIT_LS,         CAN_LOOK | CAN_OPERATE,       NAMES_NOTHING,     0,                    req_limit_ls)        \
    X(WIRE_DRAIN,            CAN_OPERATE | CAN_WORK,       NAMES_WORKER,      0,                    req_drain)           \
    X(WIRE_DEMAND_WATCH,     CAN_LOOK | CAN_WORK | CAN_OPERATE, NAMES_DEMAND, 0,                    demand_watch)        \
    X(WIRE_CALLBACK,         CAN_SUBMIT | CAN_OPERATE,     NAMES_FLOWS,       0,                    req_callback)        \
    X(WIRE_FOLLOW,           CAN_LOOK | CAN_OPERATE,       NAMES_FLOWS,       0,                    subscribers_add)     \
    X(WIRE_TALE,             CAN_LOOK | CAN_OPERATE,       NAMES_FLOWS,       0,                    flow_events_read)    \
    X(WIRE_ATTACH,           CAN_WORK,                     NAMES_NOTHING,     0,                    req_attach)          \
    X(WIRE_HEARTBEAT,        CAN_WORK,                     NAMES_NOTHING,     REQUEST_NEEDS_ATTACH, req_heartbeat)       \
    X(WIRE_CREDIT,           CAN_WORK,                     NAMES_NOTHING,     REQUEST_NEEDS_ATTACH, req_credit)          \
    X(WIRE_DETACH,           CAN_WORK,                     NAMES_NOTHING,     REQUEST_NEEDS_ATTACH, req_detach)          \
    X(WIRE_STARTED,          CAN_WORK,                     NAMES_ATTEMPTS,    REQUEST_NEEDS_ATTACH, req_started)         \
    X(WIRE_PROGRESS,         CAN_WORK,                     NAMES_ATTEMPTS,    REQUEST_NEEDS_ATTACH, req_progress)        \
    X(WIRE_HEALTH,           CAN_WORK,                     NAMES_ATTEMPTS,    REQUEST_NEEDS_ATTACH, req_health)          \
    X(WIRE_LOG,              CAN_WORK,                     NAMES_ATTEMPTS,    REQUEST_NEEDS_ATTACH, req_log)             \
    X(WIRE_DONE,             CAN_WORK,                     NAMES_ATTEMPTS,    REQUEST_NEEDS_ATTACH, req_done)            \
    X(WIRE_STATS_PAST,       CAN_LOOK | CAN_OPERATE,       NAMES_ALL_TENANTS, 0,                    req_stats_past)      \
    X(WIRE_METRICS,          CAN_LOOK | CAN_OPERATE,       NAMES_ALL_TENANTS, 0,                    req_metrics)         \
    X(WIRE_DEAD_RETRY,       CAN_SUBMIT | CAN_OPERATE,     NAMES_FLOWS,       0,                    req_dead)            \
    X(WIRE_DEAD_DISCARD,     CAN_SUBMIT | CAN_OPERATE,     NAMES_FLOWS,       0,                    req_dead)            \
    X(WIRE_AUDIT,            CAN_OPERATE,                  NAMES_ALL_TENANTS, 0,                    req_audit)           \
    X(WIRE_AUDIT_CHECKPOINT, CAN_OPERATE,                  NAMES_ALL_TENANTS, 0,                    req_checkpoint)      \
    X(WIRE_AUDIT_VERIFY,     CAN_OPERATE,                  NAMES_ALL_TENANTS, 0,                    req_audit_verify)    \
    X(WIRE_AUDIT_EXPORT,     CAN_OPERATE,                  NAMES_ALL_TENANTS, 0,                    req_audit_export)    \
    X(WIRE_WORKER_START,     CAN_OPERATE,                  NAMES_STANDARD,    0,                    req_launch)          \
    X(WIRE_PLAYGROUND_GET,   CAN_LOOK | CAN_OPERATE,       NAMES_ALL_TENANTS, 0,                    req_playground)      \
    X(WIRE_PLAYGROUND_DO,    CAN_OPERATE,                  NAMES_ALL_TENANTS, 0,                    req_playground_do)   \
    X(WIRE_LOGIN_NEW,        CAN_LOOK | CAN_OPERATE,       NAMES_NOTHING,     0,                    req_login_new)       \
    X(WIRE_LOGIN_USE,        CAN_EVERYONE,                 NAMES_OWN,         0,                    req_login_use)       \
    X(WIRE_LOGOUT,           CAN_EVERYONE,                 NAMES_OWN,         0,                    req_logout)          \
    X(WIRE_SOURCE_GET,       CAN_LOOK | CAN_OPERATE | CAN_JOB, NAMES_FLOWS,   0,                    req_source_get)      \
    X(WIRE_AGAIN,            CAN_SUBMIT | CAN_OPERATE,     NAMES_FLOWS,       0,                    req_again)
/* clang-format on */

#endif
