/* audit_verb.h: what each kind of record means to somebody who reads the audit trail: what was done, in a word, and its
 * class in the Open Cybersecurity Schema Framework (OCSF 1.3, schema.ocsf.io). One table: the filter `verb` and both
 * formats of an export use it. */
#ifndef REEVE_AUDIT_VERB_H
#define REEVE_AUDIT_VERB_H

#include "record.h"

/*     record kind            verb               OCSF class     activity   what it is done to */
#define AUDIT_VERB_TABLE(X)                                                  \
    X(REC_OPENED,            "start",            LIFECYCLE,     START,     "server")   \
    X(REC_SUBMITTED,         "submit",           API,           CREATE,    "flow")     \
    X(REC_ADDED,             "add",              API,           CREATE,    "flow")     \
    X(REC_CANCELLED,         "cancel",           API,           UPDATE,    "flow")     \
    X(REC_PAUSED,            "pause",            API,           UPDATE,    "flow")     \
    X(REC_RETRIED,           "retry",            API,           UPDATE,    "job")      \
    X(REC_DISCARDED,         "discard",          API,           UPDATE,    "job")      \
    X(REC_RERUN,             "rerun",            API,           UPDATE,    "flow")     \
    X(REC_FORGOTTEN,         "forget",           API,           REMOVE,    "flow")     \
    X(REC_CONTINUED,         "continue",         API,           OTHER,     "flow")     \
    X(REC_WORKER,            "attach",           LIFECYCLE,     START,     "worker")   \
    X(REC_WORKER_DRAIN,      "drain",            API,           UPDATE,    "worker")   \
    X(REC_WORKER_GONE,       "detach",           LIFECYCLE,     STOP,      "worker")   \
    X(REC_ASSIGNED,          "assign",           API,           OTHER,     "job")      \
    X(REC_STARTED,           "begin",            API,           OTHER,     "job")      \
    X(REC_STOPPING,          "stop",             API,           OTHER,     "job")      \
    X(REC_ENDED,             "end",              API,           OTHER,     "job")      \
    X(REC_DUE,               "due",              API,           OTHER,     "job")      \
    X(REC_VERDICT,           "decide",           API,           UPDATE,    "job")      \
    X(REC_KEY_EXPIRED,       "expire-key",       API,           OTHER,     "key")      \
    X(REC_POOL,              "set-pool",         API,           UPDATE,    "pool")     \
    X(REC_TOPIC,             "set-topic",        API,           UPDATE,    "topic")    \
    X(REC_TENANT,            "set-tenant",       API,           UPDATE,    "tenant")   \
    X(REC_POLICY,            "set-policy",       API,           UPDATE,    "policy")   \
    X(REC_REVOKED,           "revoke-grant",     API,           OTHER,     "job")      \
    X(REC_STORE_SET,         "store-set",        API,           UPDATE,    "key")      \
    X(REC_STORE_DELETED,     "store-delete",     API,           REMOVE,    "key")      \
    X(REC_STORE_MEMBERS,     "store-members",    API,           UPDATE,    "key")      \
    X(REC_STORE_EXPIRY,      "store-expire",     API,           UPDATE,    "key")      \
    X(REC_STORE_EXPIRED,     "store-expired",    API,           OTHER,     "key")      \
    X(REC_LIMIT,             "set-limit",        API,           UPDATE,    "limit")    \
    X(REC_SCHEDULE,          "set-schedule",     SCHEDULED,     SET,       "schedule") \
    X(REC_SCHEDULE_REMOVED,  "remove-schedule",  SCHEDULED,     GONE,      "schedule") \
    X(REC_SCHEDULE_PAUSED,   "pause-schedule",   SCHEDULED,     DISABLE,   "schedule") \
    X(REC_SCHEDULE_SLOT,     "skip-slot",        SCHEDULED,     OTHER,     "schedule") \
    X(REC_SCHEDULE_BACKFILL, "backfill",         SCHEDULED,     BEGIN,     "schedule") \
    X(REC_MEMO_KEPT,         "keep-result",      API,           OTHER,     "job")      \
    X(REC_MEMO_HIT,          "reuse-result",     API,           OTHER,     "job")      \
    X(REC_MEMO_DROPPED,      "drop-result",      API,           OTHER,     "job")      \
    X(REC_SERVICE,           "set-service",      API,           UPDATE,    "service")  \
    X(REC_HEALTH,            "health",           API,           OTHER,     "service")  \
    X(REC_SCALED,            "scale",            API,           UPDATE,    "service")  \
    X(REC_EXPANDED,          "expand",           API,           OTHER,     "job")      \
    X(REC_FLOW_DUE,          "flow-due",         API,           OTHER,     "flow")     \
    X(REC_CLOCK,             "set-clock",        LIFECYCLE,     OTHER,     "server")   \
    X(REC_DIRECTORY,         "begin-identity",   LIFECYCLE,     OTHER,     "server")   \
    X(REC_TOKEN,             "set-token",        ACCOUNT,       CREATE,    "token")    \
    X(REC_TOKEN_ENDED,       "revoke-token",     ACCOUNT,       DELETED,   "token")    \
    X(REC_SESSION_ENDED,     "logout",           AUTH,          LOGOFF,    "session")  \
    X(REC_TICKET,            "login-link",       AUTH,          OTHER,     "session")  \
    X(REC_TICKET_SPENT,      "login",            AUTH,          LOGON,     "session")  \
    X(REC_SECRETS,           "rekey",            LIFECYCLE,     OTHER,     "server")   \
    X(REC_CHECKPOINT,        "checkpoint",       LIFECYCLE,     OTHER,     "journal")

/* Classes and activities of OCSF 1.3. The category is the first digit of the class. */
enum ocsf_class {
    OCSF_SCHEDULED = 1006,
    OCSF_ACCOUNT = 3001,
    OCSF_AUTH = 3002,
    OCSF_LIFECYCLE = 6002,
    OCSF_API = 6003,
};
enum ocsf_activity {
    /* API Activity */
    OCSF_CREATE = 1,
    OCSF_UPDATE = 3,
    OCSF_REMOVE = 4,
    /* Application Lifecycle */
    OCSF_START = 3,
    OCSF_STOP = 4,
    /* Scheduled Job Activity */
    OCSF_SET = 2,
    OCSF_GONE = 3,
    OCSF_DISABLE = 5,
    OCSF_BEGIN = 6,
    /* Account Change; 1 is to create one */
    OCSF_DELETED = 6,
    /* Authentication */
    OCSF_LOGON = 1,
    OCSF_LOGOFF = 2,
    /* all */
    OCSF_OTHER = 99,
};

struct audit_verb {
    const char *verb;
    enum ocsf_class class;
    enum ocsf_activity activity;
    const char *object; /* a flow, a job … */
};

const struct audit_verb *audit_verb_of(enum record_kind kind);
const char *audit_class_name(enum ocsf_class class);

#endif
