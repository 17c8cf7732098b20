/* record.h: the catalogue of records. A record is the only thing that changes durable state (apply.h).
 *
 * In a batch each record is `varint kind, varint version, varint length, message`; the message is described by the
 * tables in record.c (tlv.h). Every message starts with the same three fields: who caused it (empty: the engine
 * itself, or the worker that holds the attempt), for which tenant (empty: that of the flow named in the record) and the
 * W3C trace context (empty: that of the flow). One that a session caused ends with more about its principal
 * (rec_caller). docs/formats/records.md is generated from the tables. */
#ifndef REEVE_RECORD_H
#define REEVE_RECORD_H

#include "arena.h"
#include "buf.h"
#include "checkpoint.h"
#include "err.h"
#include "ids.h"
#include "options.h"
#include "tlv.h"

/*     kind                 number  struct             word               what it says */
#define RECORD_TABLE(X)                                                                                        \
    X(REC_OPENED,           1,  rec_opened,        "opened",          "a server took the journal over")        \
    X(REC_SUBMITTED,        2,  rec_submitted,     "submitted",       "a flow was accepted")                   \
    X(REC_ADDED,            3,  rec_added,         "added",           "jobs were added to a flow")             \
    X(REC_CANCELLED,        4,  rec_cancelled,     "cancelled",       "someone asked to cancel")               \
    X(REC_PAUSED,           5,  rec_paused,        "paused",          "a flow, pool or tenant paused or went on") \
    X(REC_RETRIED,          6,  rec_job_only,      "retried",         "a dead job was given a new budget")     \
    X(REC_DISCARDED,        7,  rec_job_only,      "discarded",       "a dead letter was put away")            \
    X(REC_RERUN,            8,  rec_flow_only,     "rerun",           "a finished flow starts again where it failed") \
    X(REC_FORGOTTEN,        9,  rec_forgotten,     "forgotten",       "a finished flow left memory")           \
    X(REC_CONTINUED,        10, rec_flow_only,     "continued",       "the next step of a long consequence")   \
    X(REC_WORKER,           11, rec_worker,        "worker",          "a worker attached")                     \
    X(REC_WORKER_DRAIN,     12, rec_worker_drain,  "worker_drain",    "a worker stops or resumes taking jobs") \
    X(REC_WORKER_GONE,      13, rec_worker_gone,   "worker_gone",     "a worker is no longer known")           \
    X(REC_ASSIGNED,         14, rec_assigned,      "assigned",        "a worker was given an attempt")         \
    X(REC_STARTED,          15, rec_attempt,       "started",         "the worker says it runs")               \
    X(REC_STOPPING,         16, rec_stopping,      "stopping",        "a running attempt was told to stop")    \
    X(REC_ENDED,            17, rec_ended,         "ended",           "an attempt is over")                    \
    X(REC_DUE,              18, rec_due,           "due",             "the time a job waited for has come")    \
    X(REC_VERDICT,          19, rec_verdict,       "verdict",         "a question was answered")               \
    X(REC_KEY_EXPIRED,      20, rec_key_expired,   "key_expired",     "an idempotency key is forgotten")       \
    X(REC_POOL,             21, rec_pool,          "pool",            "a pool was set")                        \
    X(REC_TOPIC,            22, rec_topic,         "topic",           "a topic was mapped to pools")           \
    X(REC_TENANT,           23, rec_tenant,        "tenant",          "a tenant was set")                      \
    X(REC_POLICY,           24, rec_policy,        "policy",          "the policy has a new version")          \
    X(REC_REVOKED,          25, rec_job_only,      "revoked",         "a permission of an earlier policy is void") \
    X(REC_STORE_SET,        30, rec_store_set,     "store_set",       "keys of the store got values, all at once") \
    X(REC_STORE_DELETED,    31, rec_store_keys,    "store_deleted",   "keys of the store were deleted, all at once") \
    X(REC_STORE_MEMBERS,    32, rec_store_members, "store_members",   "members of a set of the store came or went") \
    X(REC_STORE_EXPIRY,     33, rec_store_expiry,  "store_expiry",    "a key of the store got another time to expire") \
    X(REC_STORE_EXPIRED,    34, rec_store_keys,    "store_expired",   "the time of a key of the store has come") \
    X(REC_LIMIT,            40, rec_limit,         "limit",           "a key, a rate or a tenant was limited") \
    X(REC_SCHEDULE,         60, rec_schedule,      "schedule",        "a schedule was set")                    \
    X(REC_SCHEDULE_REMOVED, 61, rec_schedule_name, "schedule_removed", "a schedule is gone")                   \
    X(REC_SCHEDULE_PAUSED,  62, rec_schedule_paused, "schedule_paused", "a schedule paused or went on")        \
    X(REC_SCHEDULE_SLOT,    63, rec_schedule_slot, "schedule_slot",   "what became of slots that did not fire") \
    X(REC_SCHEDULE_BACKFILL, 64, rec_schedule_backfill, "schedule_backfill", "slots of the past are to run again") \
    X(REC_MEMO_KEPT,        65, rec_memo_kept,     "memo_kept",       "the result of a job is kept for others")  \
    X(REC_MEMO_HIT,         66, rec_memo_hit,      "memo_hit",        "a job was given the result of another")   \
    X(REC_MEMO_DROPPED,     67, rec_memo_dropped,  "memo_dropped",    "a result is kept no longer")    \
    X(REC_SERVICE,          80, rec_service,       "service",         "a service is to run, to stop or to go")  \
    X(REC_HEALTH,           81, rec_health,        "health",          "a worker says how a service fares")        \
    X(REC_SCALED,           82, rec_scaled,        "scaled",          "a service is to have so many replicas")  \
    X(REC_EXPANDED,         90, rec_expanded,      "expanded",        "a foreach job got its items") \
    X(REC_CLOCK,            92, rec_clock,         "clock",           "the clock was wrong and is set right") \
    X(REC_FLOW_DUE,         93, rec_flow_due,      "flow_due",        "the timeout or deadline of a flow has come") \
    X(REC_DIRECTORY,        100, rec_directory,    "directory",       "identity begins: secrets, first tokens") \
    X(REC_TOKEN,            101, rec_token,        "token",           "a token was made or changed")            \
    X(REC_TOKEN_ENDED,      102, rec_token_ended,  "token_ended",     "a token was revoked")                    \
    X(REC_SESSION_ENDED,    103, rec_session_ended, "session_ended",  "a browser session was ended before its time") \
    X(REC_TICKET,           104, rec_ticket,       "ticket",          "a login link was made")               \
    X(REC_TICKET_SPENT,     105, rec_ticket_spent, "ticket_spent",    "a login link was used")               \
    X(REC_SECRETS,          106, rec_secrets,      "secrets",         "the secrets of the server were encrypted anew") \
    X(REC_CHECKPOINT,       130, rec_checkpoint,   "checkpoint",      "what was written so far, hashed and signed")

enum record_kind {
#define X(kind, number, type, word, text) kind = number,
    RECORD_TABLE(X)
#undef X
    REC_KIND_END
};

#define RECORD_VERSION 1u

/* What a principal is. Fixed when its token or session is made; 0 in records of the engine and of earlier versions. */
enum principal_kind { KIND_UNKNOWN, KIND_PERSON, KIND_SERVICE, KIND_AGENT, KIND_WORKER, KIND_JOB, KIND_COUNT };
extern const char *const principal_kind_words[];

/* How a request was spoken. */
enum spoken {
    SPOKEN_INSIDE,
    SPOKEN_NATIVE,
    SPOKEN_HTTP,
    SPOKEN_MCP,
    SPOKEN_RESP,
    SPOKEN_ORION,
    SPOKEN_TITAN,
    SPOKEN_COUNT
};
extern const char *const spoken_words[];

#define TOKEN_ID_BYTES 12u /* with the zero */

struct rec_caller { /* about the principal, for the audit; nothing is decided by it */
    uint8_t kind;         /* enum principal_kind */
    struct slice token;   /* id of its token; empty = it came without one */
    uint8_t dialect;      /* enum spoken */
    struct slice address; /* of its connection: 4 or 16 bytes; empty = of this machine, by the Unix socket */
};

struct rec_head { /* tags 1 to 3 of every message, and 200: of one that a session caused */
    struct slice principal;
    struct slice tenant;
    struct slice trace;
    struct rec_caller caller;
};

struct rec_opened {
    struct rec_head head;
    uint64_t epoch;
    struct slice build; /* version of the program */
};

struct rec_clock { /* the time of its batch is the old one; from here on it is that plus by_ms */
    struct rec_head head;
    int64_t from_ms; /* what was noted at this time or later was noted by the wrong clock */
    int64_t by_ms;   /* never 0 */
};

/* A parent in another flow. `seen` is its end as it was known when the record was made; WAITING (0) = still open then:
 * the engine holds an edge to it. */
struct rec_foreign {
    uint64_t flow;
    uint32_t shard;
    uint32_t ordinal;
    uint8_t seen; /* enum job_state */
};

struct rec_job {
    struct slice name;
    uint32_t profile;         /* position in the record's list of option sets */
    struct tlv_u32s parents;  /* ordinals in this flow, ascending, each below the job's own */
    struct tlv_list foreign;  /* of rec_foreign */
    struct slice body;        /* the spec as the worker gets it; opaque here */
    struct slice body_hash;   /* SHA-256 of what an approver is shown; empty without gates */
    struct slice undo_body;   /* the spec of its compensation */
    uint32_t undo_profile;    /* of the compensation: position + 1 in the record's list; 0 = it has none */
    uint32_t undoes;          /* a compensation, made by apply: ordinal + 1 of the job it undoes */
    struct slice undo_hash;   /* of the compensation, as body_hash */
    struct slice cache_key;   /* hash of all that its result depends on; empty = it is not memoised */
    uint32_t child_profile;   /* a foreach job: position + 1 of its children's options in the record's list; else 0 */
    struct slice service;     /* that it deploys, by its name; empty = none */
    uint32_t runner_profile;  /* of what it deploys: position + 1 in the record's list; 0 = it deploys nothing */
    struct slice raw;         /* this message as bytes */
};

#define SOURCE_PARAMS_MAX 65536u
#define STORE_KEY_BYTES_MAX 1024u

struct flow_source { /* what a flow was made from, for people and to run it again; nothing is decided by it */
    struct slice hash;   /* of the blob that keeps it; empty = none, or not kept */
    struct slice name;   /* of the file */
    uint64_t bytes;      /* of the file, also when it is not kept; 0 = not known */
    struct slice params; /* as they were given: a JSON object; empty = none */
    uint64_t again_of;   /* the flow whose file this one ran again; 0 = none */
};

/* What a flow was started by, when a key of the store did it (key_cause.h); for templates and people. */
struct flow_cause {
    struct slice key;   /* empty = no key did */
    struct slice value; /* that it had then, if it was not too long; a number as text */
    uint8_t how;        /* KEY_ bits of the last change; 0 = no key did */
    uint64_t version;   /* of the key after the last change; 0 = it was gone */
    uint32_t count;     /* changes since the first that waited */
};

/* How a key of the store was changed. */
#define KEY_SET 1u     /* written, also with the value that it had */
#define KEY_CHANGED 2u /* it is new, or has another value */
#define KEY_DELETED 4u /* removed, or its time was over */
#define KEY_HOW_ALL (KEY_SET | KEY_CHANGED | KEY_DELETED)

#define CAUSE_VALUE_MAX 65536u
#define CAUSE_FIELD(tag_, tlv_, type_, member_, ...) \
    { .tag = (tag_), TLV_AT(tlv_, type_, cause.member_), __VA_ARGS__ }
#define CAUSE_FIELDS(type)                                                                        \
    CAUSE_FIELD(90, TLV_BYTES, type, key, .name = "trigger_key", .max = STORE_KEY_BYTES_MAX),     \
        CAUSE_FIELD(91, TLV_BYTES, type, value, .name = "trigger_value", .max = CAUSE_VALUE_MAX), \
        CAUSE_FIELD(92, TLV_U8, type, how, .name = "trigger_how"),                                \
        CAUSE_FIELD(93, TLV_U64, type, version, .name = "trigger_version"),                       \
        CAUSE_FIELD(94, TLV_U32, type, count, .name = "trigger_count")

/* Its fields, the same in the records of a submit and of a schedule, and in the head of the flow. */
#define SOURCE_FIELD(tag_, tlv_, type_, member_, ...) \
    { .tag = (tag_), TLV_AT(tlv_, type_, source.member_), __VA_ARGS__ }
#define SOURCE_FIELDS(type)                                                                    \
    SOURCE_FIELD(70, TLV_HASH, type, hash, .name = "source"),                                  \
        SOURCE_FIELD(71, TLV_TEXT, type, name, .name = "source_name", .max = 255),             \
        SOURCE_FIELD(72, TLV_U64, type, bytes, .name = "source_bytes"),                        \
        SOURCE_FIELD(73, TLV_BYTES, type, params, .name = "params", .max = SOURCE_PARAMS_MAX), \
        SOURCE_FIELD(74, TLV_U64, type, again_of, .name = "again_of")

struct rec_submitted {
    struct rec_head head;
    uint64_t flow;
    struct slice name;
    struct slice key;        /* idempotency key, unique per tenant; empty = none */
    struct slice key_hash;   /* SHA-256 of the submitted body */
    int64_t key_expires_ms;
    struct tlv_list labels;  /* of label */
    bool more;               /* parts follow by REC_ADDED: the flow does not end before the last */
    struct tlv_list profiles; /* of options */
    struct tlv_list jobs;     /* of rec_job; ordinals count from 0 in this order */
    struct slice schedule;    /* the flow was made by this schedule of the tenant; empty = by a submit */
    int64_t slot_ms;          /* for this slot of it */
    uint8_t fire;             /* enum fire: where the slot came from */
    struct slice constraints; /* that these jobs have from the one that submitted them */
    struct slice zone;        /* of the schedule, for people and templates; empty = UTC */
    uint8_t compensate_on;    /* enum compensate_on */
    struct flow_source source;
    int64_t timeout_ms;       /* of its main jobs; 0 = none */
    int64_t deadline_ms;      /* from then on it is late; 0 = none */
    bool has_stages;          /* jobs of it wait for the end of the main ones */
    struct flow_cause cause;
    struct slice raw;
};

struct rec_added {
    struct rec_head head;
    uint64_t flow;
    bool more;
    struct tlv_list profiles;
    struct tlv_list jobs; /* ordinals go on where the flow's jobs end */
    struct slice constraints; /* that these jobs have from the one that added them */
    bool has_stages; /* some of them wait for the end of the main jobs */
};

#define WHOLE_FLOW UINT32_MAX

struct rec_cancelled {
    struct rec_head head;
    uint64_t flow;
    bool whole;       /* the flow, not one job */
    uint32_t ordinal;
    struct slice reason;
    uint32_t confirm_ms; /* how long workers may take to confirm that a running attempt was stopped */
};

enum pause_scope { PAUSE_FLOW, PAUSE_POOL, PAUSE_TENANT, PAUSE_SCOPE_COUNT };

struct rec_paused {
    struct rec_head head;
    uint8_t scope;
    uint64_t flow;
    struct slice name; /* of the pool or tenant */
    bool on;
};

struct rec_job_only {
    struct rec_head head;
    uint64_t flow;
    uint32_t ordinal;
};

struct rec_forgotten {
    struct rec_head head;
    uint64_t flow;
    uint64_t history_lsn; /* the history was durable up to here; 0 = nobody knew, or nobody asked */
};
struct rec_flow_only {
    struct rec_head head;
    uint64_t flow;
};

struct rec_worker {
    struct rec_head head;
    struct slice worker;
    uint64_t incarnation;
    struct worker_info info;
    struct slice raw;
};

struct rec_worker_drain {
    struct rec_head head;
    struct slice worker;
    bool on;
    bool own; /* the worker itself says so: it holds until it attaches anew */
};

struct rec_worker_gone {
    struct rec_head head;
    struct slice worker;
};

struct rec_assigned {
    struct rec_head head;
    uint64_t flow;
    uint32_t ordinal;
    uint32_t attempt;
    struct slice worker;
    uint64_t incarnation;
};

struct rec_attempt {
    struct rec_head head;
    uint64_t flow;
    uint32_t ordinal;
    uint32_t attempt;
};

/* Why a running attempt is being stopped; decides what its end counts as. */
enum stop_cause {
    STOP_NONE,
    STOP_CANCEL,
    STOP_DEADLINE,
    STOP_RUN_TIMEOUT,
    STOP_DISPATCH_TIMEOUT,
    STOP_MOVE, /* of a service: its worker drains */
    STOP_COUNT
};

struct rec_stopping {
    struct rec_head head;
    uint64_t flow;
    uint32_t ordinal;
    uint32_t attempt;
    uint8_t stop;
    uint32_t confirm_ms;
};

enum outcome {
    OUTCOME_OK,
    OUTCOME_EXIT,    /* ended by itself, not well */
    OUTCOME_LOST,    /* its worker is gone, or never confirmed a stop */
    OUTCOME_STOPPED, /* the worker confirms that it was stopped or never started */
    OUTCOME_REFUSED, /* the worker could not start it */
    OUTCOME_COUNT
};

extern const char *const stop_words[];
extern const char *const outcome_words[];
#define ARTIFACTS_MAX 256u /* of one attempt; also of what its worker may name */

struct rec_artifact { /* a file that an attempt left, kept as a blob */
    struct slice name;
    struct slice hash;
    uint64_t bytes;
};

struct rec_artifacts {
    struct tlv_list files; /* of rec_artifact */
    struct slice raw;      /* how the state keeps them */
};

/* Which limit of its own an attempt ran into; for people, nothing is decided by it. */
enum hit {
    HIT_NONE,
    HIT_MEMORY,
    HIT_PIDS,
    HIT_FILE_SIZE,
    HIT_COUNT
};

extern const char *const hit_words[];
#define UNKEPT_BYTES_MAX 256u

struct rec_usage { /* what an attempt used, by its worker's word; all 0 = it is not known */
    uint64_t cpu_ms;
    uint64_t memory_bytes_max;
    uint64_t throttled_ms; /* it was held back by its limit of cpu */
    uint8_t hit;           /* enum hit */
    uint32_t hit_count;    /* processes killed for their memory, forks refused */
    struct slice unkept;   /* of its limits: which ones its worker could not keep, or not in full */
};

struct rec_ended {
    struct rec_head head;
    uint64_t flow;
    uint32_t ordinal;
    uint32_t attempt;
    uint8_t outcome;
    uint32_t exit_code;
    uint32_t signal;
    bool fatal;               /* no retry, and the flow's saga unwinds */
    struct slice result;      /* JSON, small */
    struct slice result_hash; /* SHA-256 of the result; names a blob when `result` is empty */
    uint64_t log_bytes;       /* durable on the server before this record */
    uint64_t log_cut_bytes;
    struct slice reason;
    struct rec_artifacts artifacts; /* durable on the server before this record, as is a result that is a blob */
    struct rec_usage usage;
    int64_t again_ms; /* an external job is not over yet: when it is asked again; 0 = it is */
    uint32_t retry_after_ms; /* a retry waits at least so long, and as long as its backoff */
    uint64_t ended_ago_ms; /* it ended so long before this record, at most since its start; 0 = with this record */
};

/* What a flow waited for, beside its jobs. */
enum flow_due {
    FLOW_DUE_TIMEOUT,  /* its main jobs are called off, and it has failed */
    FLOW_DUE_DEADLINE, /* it is late from here on, and goes on */
    FLOW_DUE_COUNT
};
extern const char *const flow_due_words[FLOW_DUE_COUNT];

struct rec_flow_due {
    struct rec_head head;
    uint64_t flow;
    uint8_t due;         /* enum flow_due */
    uint32_t confirm_ms; /* timeout: how long workers may take to confirm that a running attempt was stopped */
};

/* What a due job was waiting for. */
enum due_cause {
    DUE_START,        /* delay, earliest start or backoff is over */
    DUE_DEADLINE,     /* too late: TIMED_OUT */
    DUE_START_WITHIN, /* no worker in time: FAILED, no_worker */
    DUE_COUNT
};

struct rec_due {
    struct rec_head head;
    uint64_t flow;
    uint32_t ordinal;
    uint8_t due;
};

enum verdict {
    VERDICT_ALLOW,
    VERDICT_DENY,
    VERDICT_CONSTRAIN,  /* allow, with constraints */
    VERDICT_HOLD,       /* a person must approve */
    VERDICT_AGAIN,      /* ask again at `again_ms` */
    VERDICT_QUARANTINE, /* of an output */
    VERDICT_REDACT,     /* of an output: allow, with `payload` in place of the result */
    VERDICT_FAIL,       /* of a condition, an expansion, a template: it could not be evaluated, the job fails */
    VERDICT_COUNT
};

struct rec_verdict {
    struct rec_head head; /* principal: who answered; empty: nobody did in time */
    uint64_t question;    /* 0 = a late word on the output of a job that has succeeded, or one about an external
                             job that has attempts */
    uint64_t flow;
    uint32_t ordinal;
    uint8_t gate;
    uint32_t revision;
    struct slice hash;  /* of what they saw */
    uint8_t verdict;
    struct slice reason;
    struct slice payload; /* constraints, a rendered body or a redacted result */
    struct slice payload_hash; /* SHA-256 of a rendered body */
    int64_t again_ms;
    uint64_t policy;    /* version of the rules that answered */
    bool fatal;         /* a deny or quarantine: the flow's saga unwinds */
    struct slice cache_key; /* with a rendered body: its own */
    struct slice result;      /* with an external allow: what the other system gave back */
    struct slice result_hash; /* SHA-256 of it; names a blob when `result` is empty */
    struct slice trouble;     /* of a deployment that did not become healthy: what its version said last */
};

struct rec_policy {
    struct rec_head head;
    uint64_t version; /* rises */
};

struct rec_key_expired {
    struct rec_head head; /* tenant: whose key */
    struct slice key;
};

enum pool_state { POOL_ACTIVE, POOL_DRAINING, POOL_INACTIVE, POOL_STATE_COUNT };

struct rec_pool {
    struct rec_head head;
    struct slice name;
    uint8_t state;
    bool refuse_overload;
    struct tlv_list capabilities; /* of name_item; empty = whatever its workers offer */
    struct slice raw;
};

struct rec_topic {
    struct rec_head head;
    struct slice name;
    struct tlv_list pools; /* of name_item, in order of preference; empty = mapping removed */
    struct slice raw;
};

struct rec_tenant {
    struct rec_head head;
    struct slice name;
    uint32_t weight; /* share under load; 0 means 1 */
};

/* A place in the store: the tenant in the head, and a flow (0 = what the whole tenant shares). */
enum item_kind { ITEM_TEXT, ITEM_NUMBER, ITEM_SET, ITEM_KIND_COUNT };
#define STORE_VALUE_BYTES_MAX (1u << 24)

struct rec_store_entry {
    struct slice key;
    uint8_t kind;       /* text or number */
    struct slice value; /* text */
    int64_t number;
    int64_t expires_ms; /* wall; 0 = never */
};

struct rec_store_set {
    struct rec_head head;
    uint64_t flow;
    struct tlv_list entries; /* of rec_store_entry */
    uint64_t by;             /* flow whose job did it, when a schedule made that flow; else 0 */
};

struct rec_store_item { /* a key, or a member of a set */
    struct slice text;
};

struct rec_store_keys {
    struct rec_head head;
    uint64_t flow;
    struct tlv_list keys; /* of rec_store_item */
    uint64_t by;          /* as in rec_store_set */
};

struct rec_store_members {
    struct rec_head head;
    uint64_t flow;
    struct slice key;
    struct tlv_list added, removed; /* of rec_store_item; a set without members is no longer there */
    uint64_t by;                    /* as in rec_store_set */
};

struct rec_store_expiry {
    struct rec_head head;
    uint64_t flow;
    struct slice key;
    int64_t expires_ms; /* wall; 0 = never */
};

enum limit_kind {
    LIMIT_KEY,    /* how many attempts with this key are open at once */
    LIMIT_RATE,   /* how many attempts with this rate begin in a time */
    LIMIT_TENANT, /* the tenant as a whole */
    LIMIT_KIND_COUNT
};
extern const char *const limit_kind_words[];

struct rec_limit {
    struct rec_head head; /* tenant: whose */
    uint8_t kind;
    struct slice name;    /* of the key or rate */
    bool clear;           /* no longer set: a key is 1 wide, a rate and a tenant are free */
    uint32_t width;       /* key; 0 = nobody passes */
    uint64_t rate_milli;  /* rate: tokens in 1,000 s */
    uint64_t burst;       /* rate: tokens when it is full */
    uint32_t running;     /* tenant: attempts open at once; 0 = no limit, so in the next two */
    uint64_t queued;      /* tenant: jobs that have not ended */
    uint64_t bytes;       /* tenant: of the messages of those jobs */
};

/* Slots missed while nothing could fire: run all of them in order, the newest alone, or none. */
enum catch_up { CATCH_UP_ALL, CATCH_UP_LAST, CATCH_UP_NONE, CATCH_UP_COUNT };
/* A slot comes while the flow of an earlier one is running: leave it out, let it wait, or call the earlier one off. */
enum overlap { OVERLAP_SKIP, OVERLAP_QUEUE, OVERLAP_REPLACE, OVERLAP_COUNT };

/* A named object of a tenant. The slots themselves are inputs: `expression` is opaque here. */
struct rec_schedule {
    struct rec_head head; /* principal: on whose behalf its flows run */
    struct slice name;
    struct slice expression;
    uint8_t catch_up, overlap;
    bool paused;
    int64_t start_ms;   /* no slot before; 0 = none */
    int64_t end_ms;     /* no slot after; 0 = none */
    int64_t after_ms;   /* no slot at or before this fires */
    struct slice flow_name;
    struct tlv_list labels;   /* of label */
    struct tlv_list profiles; /* of options */
    struct tlv_list jobs;     /* of rec_job, without parents in other flows */
    struct slice zone;       /* of the expression; empty = UTC */
    uint8_t compensate_on;    /* of its flows, so the next three */
    int64_t timeout_ms;
    int64_t late_after_ms;    /* the deadline, counted from the slot; 0 = none */
    bool has_stages;
    struct slice calendar;    /* days on which it does not run: as opaque as the expression; empty = none */
    uint8_t when;             /* KEY_ bits: a key starts its flows in place of the clock; 0 = the clock does */
    struct slice key;         /* that key, or what all such keys begin with */
    bool key_prefix;
    bool own_changes;         /* changes by its own flows start further ones */
    int64_t min_interval_ms;  /* from one start to the next at least */
    struct flow_source source; /* of its flows; the blob stays for as long as the schedule does */
    struct slice raw;
};

struct rec_schedule_name {
    struct rec_head head;
    struct slice name;
};

struct rec_schedule_paused {
    struct rec_head head;
    struct slice name;
    bool on;
    int64_t after_ms; /* off: slots up to this were called off by the pause */
};

/* What became of a slot. SLOT_FIRED is never recorded by itself: REC_SUBMITTED says it. */
enum slot_end {
    SLOT_FIRED,
    SLOT_MISSED,   /* its time passed while nothing could fire, and catch-up leaves it out */
    SLOT_OVERLAP,  /* an earlier flow was running: left out */
    SLOT_FULL,     /* too many were waiting */
    SLOT_QUEUED,   /* waits until the earlier flow is over */
    SLOT_REPLACES, /* the same, and the earlier flow was called off for it */
    SLOT_PAUSED,   /* called off by a pause; never recorded by itself */
    SLOT_EXCLUDED, /* its day is one of those that the calendar of the schedule leaves out */
    SLOT_END_COUNT
};

struct rec_schedule_slot {
    struct rec_head head;
    struct slice name;
    uint8_t what;     /* enum slot_end */
    int64_t first_ms; /* MISSED: the first of them that was named; EXCLUDED: of its day */
    int64_t slot_ms;  /* the slot, or the last of them */
    uint64_t count;   /* how many slots; 1 but for MISSED and EXCLUDED */
};

struct rec_slot {
    int64_t slot_ms;
};

struct rec_schedule_backfill {
    struct rec_head head;
    struct slice name;
    struct tlv_list slots; /* of rec_slot, ascending, none of them to come */
};

struct rec_memo_kept {
    struct rec_head head;
    uint64_t flow; /* the job, which has succeeded */
    uint32_t ordinal;
    int64_t expires_ms;
};

struct rec_memo_hit {
    struct rec_head head;
    uint64_t flow;
    uint32_t ordinal;
    uint64_t from_flow; /* the source: the job that ran, in memory or not */
    uint32_t from_ordinal;
};

struct rec_memo_dropped { /* its time is over, or it made room; one that a verdict ends needs no record of its own */
    struct rec_head head; /* tenant: whose */
    struct slice key;
};

enum fire {
    FIRE_SLOT,
    FIRE_WAITED,
    FIRE_BACKFILL,
    FIRE_ASKED, /* a person did: beside the slots */
    FIRE_KEY,   /* a key of the store was changed */
    FIRE_COUNT
};

/* What a service is meant to do. A deployment makes it running. */
enum service_desired { SERVICE_RUNNING, SERVICE_STOPPED, SERVICE_REMOVED, SERVICE_DESIRED_COUNT };
extern const char *const service_desired_words[];

struct rec_service {
    struct rec_head head; /* tenant: whose */
    struct slice name;
    uint8_t desired;
};

struct rec_scaled {
    struct rec_head head; /* tenant: whose */
    struct slice name;    /* of the set */
    uint32_t replicas;
    uint32_t from;        /* number of the replica that new ones are copies of; 0 = there are no new ones */
};

struct rec_health {
    struct rec_head head;
    uint64_t flow; /* the version */
    uint32_t ordinal;
    uint32_t attempt;
    bool healthy;
    uint32_t port;     /* where it listens; 0 = it has none */
    struct slice note; /* why it is not healthy, for people */
};

/* The answer to the expansion question of a foreach job. Nothing else is recorded of a child before it is assigned:
 * children are named by their index, and their ordinals are FIRST_CHILD_ORDINAL and up in the order of expansions. */
#define EXPAND_ITEMS_MAX 1000000u
#define FIRST_CHILD_ORDINAL ((uint32_t)1 << 31)

struct rec_expanded {
    struct rec_head head; /* principal: the evaluator */
    uint64_t flow;
    uint32_t ordinal;     /* of the foreach job, which is also the template of its children */
    uint64_t question;
    uint32_t revision;
    struct slice hash;    /* of what was evaluated */
    struct slice items;   /* SHA-256 of the blob that holds them; empty when there are none */
    uint32_t count;
};

/* The journal up to a record, as a hash, and who vouches for it (docs/formats/proof.md). Nothing is decided by it. */
struct rec_checkpoint {
    struct rec_head head;
    uint64_t number;        /* from 1, without gaps */
    uint64_t from_lsn;      /* the first record that it adds: what follows the checkpoint before */
    uint64_t upto_lsn;      /* the last one; below its own */
    struct slice chain;     /* over all batches up to there; 32 bytes */
    struct slice key;       /* public, of whoever signed; 32 bytes */
    struct slice signature; /* 64 bytes */
};

/* ---- identity ---- */

/* A role is a bit; which bit stands for which role is format. The core knows one of them. */
#define ROLE_BIT_ADMIN 1u
#define SECRET_BYTES_MAX 256u
#define DIRECTORY_WHO_BYTES 64u /* with the zero: whose browser session it is */

struct rec_secret { /* encrypted: the data key under the key file, everything else under the data key */
    uint64_t number;     /* with the shard it is the associated data; never used again */
    uint8_t kind;        /* enum secret_kind */
    struct slice sealed; /* nonce, ciphertext, tag */
};
enum secret_kind { SECRET_DATA_KEY, SECRET_HMAC, SECRET_KIND_COUNT };

struct rec_token_info {
    struct slice id;
    struct slice hash;    /* of the token, under the data key: worth nothing without it */
    struct slice name;    /* of its principal */
    struct slice tenant;  /* empty = all */
    uint32_t roles;
    uint8_t kind;         /* enum principal_kind */
    int64_t created_ms;
    int64_t expires_ms;   /* 0 = never */
    struct slice raw;
};

/* A browser session that is over before it expires. Number 0: all of that principal that expire until then. */
struct rec_session {
    struct slice who;
    uint64_t number;
    int64_t expires_ms;
};

struct rec_directory {
    struct rec_head head;
    uint64_t log;            /* the number of this journal, random, never 0; tokens are bound to it */
    struct tlv_list secrets; /* of rec_secret */
    struct tlv_list tokens;  /* of rec_token_info */
    struct tlv_list ended;   /* of rec_session */
};

struct rec_token {
    struct rec_head head;
    struct rec_token_info token;
};

struct rec_token_ended {
    struct rec_head head;
    struct slice id;
};

struct rec_session_ended {
    struct rec_head head;
    struct rec_session session;
};

struct rec_ticket {
    struct rec_head head;
    struct slice hash;
    struct slice who;
    int64_t expires_ms;
    struct slice instead; /* hash of the one that makes room; empty = there is room */
};

struct rec_ticket_spent {
    struct rec_head head;
    struct slice hash;
};

struct rec_secrets {
    struct rec_head head;
    struct tlv_list secrets; /* of rec_secret: all there are from now on */
};

union record_body {
#define X(kind, number, type, word, text) struct type as_##kind;
    RECORD_TABLE(X)
#undef X
    struct rec_head head;
};

struct record {
    enum record_kind kind;
    uint32_t version;
    union record_body body;
};

const struct tlv_desc *record_desc(enum record_kind kind); /* NULL for a number that is not in the table */
const char *record_word(enum record_kind kind);
const char *key_how_word(unsigned how); /* deleted, changed or set: the strongest of its KEY_ bits; 0: none */
extern const char *const slot_end_words[];
extern const struct tlv_desc rec_job_desc; /* also how a job's spec is kept in memory */
extern const struct tlv_desc rec_artifacts_desc; /* also how the state and snapshots keep them */
extern const struct tlv_desc rec_usage_desc;     /* the same */
bool rec_artifacts_fit(struct slice bytes); /* whether a snapshot's can be read */
extern const struct tlv_desc rec_token_info_desc; /* also how the state and snapshots keep a token */
extern const struct tlv_desc rec_secret_desc;     /* also how a snapshot keeps it */
extern const struct tlv_desc rec_store_item_desc; /* also how a snapshot keeps members */
extern const char *const item_kind_words[];

void record_encode(const struct record *r, struct buf *out);
/* Takes one record off the cursor. ERR_CORRUPT for bytes that are no record, ERR_UNSUPPORTED for a later version. */
CHECKED enum err record_decode(struct cursor *c, struct arena *arena, struct record *ret, struct why *why);
/* Passes over one record: its kind and, without looking into it, its message. False: those bytes are no record. */
bool record_pass(struct cursor *c, enum record_kind *ret_kind, struct slice *ret_message);
/* The same, but sets of options are left as bytes (`raw`): apply needs no more, and most of them it knows already. */
CHECKED enum err record_outline(struct cursor *c, struct arena *arena, struct record *ret, struct why *why);
/* Writes "kind" and the fields as members of the JSON object that is open in `out`. */
void record_json(const struct record *r, struct json *out);

#endif
