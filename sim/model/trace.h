/* trace.h: what happens in a run, told in words of its own.
 *
 * The simulator writes a trace while it runs the real thing; the second model (model.h) and the checkers (check.h)
 * read it and judge. So that a mistake in the product cannot hide in the judge, this file shares nothing with it: own
 * enums, own structs, only the two headers below. An adapter on the simulator's side translates.
 *
 * One run is one sequence of entries in the order in which things happened. Three sorts:
 *
 *   records   TR_…  what the engine decided, in the order of LSNs, told when the record is applied (not when it is
 *                   durable). After a TW_RESTART the LSNs go on behind the head that was recovered: records that were
 *                   lost are not taken back one by one, the restart says where history now ends.
 *   talk      TA_…  what clients and workers asked and the answers that really reached them.
 *   world     TW_…  what an observer outside all processes sees: durability, crashes, processes, clocks.
 *
 * All pointers are valid during the call that passes the entry; whoever keeps something copies it. */
#ifndef REEVE_TRACE_H
#define REEVE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct trace_bytes { /* a name, a key, a hash; compared byte for byte */
    const uint8_t *at;
    uint32_t len;
};

enum trace_state {
    TS_WAITING,
    TS_HELD,
    TS_READY,
    TS_DISPATCHED,
    TS_RUNNING,
    TS_CHECKING,
    TS_SUCCEEDED,
    TS_FAILED,
    TS_TIMED_OUT,
    TS_CANCELLED,
    TS_DENIED,
    TS_QUARANTINED,
    TS_SKIPPED,
    TS_COUNT
};

enum trace_cause {
    TC_NONE,
    TC_EXIT,
    TC_LOST,
    TC_UPSTREAM,
    TC_NO_WORKER,
    TC_REJECTED,
    TC_DISPATCH,
    TC_RUN_TIMEOUT,
    TC_DEADLINE,
    TC_VERDICT,
    TC_NO_VERDICT,
    TC_REQUEST,
    TC_SAGA,
    TC_UNHEALTHY,
    TC_REPLACED,
    TC_CHILDREN,
    TC_FLOW_TIMEOUT,
    TC_OUTCOME,
    TC_COUNT
};

enum trace_flow_state { TF_RUNNING, TF_SUCCEEDED, TF_FAILED, TF_CANCELLED, TF_COUNT };

/* How far a flow is in undoing what it did. */
enum trace_unwinding { TZ_NONE, TZ_STOPPING, TZ_COMPENSATING, TZ_DONE, TZ_COUNT };

enum trace_job_kind { /* only what the rules tell apart */
    TK_WORK, /* runs on a worker */
    TK_GATE,
    TK_BARRIER,
    TK_EXTERNAL,
    TK_SERVICE, /* deploys: done when what it deployed is healthy */
    TK_COUNT
};

enum trace_upstream { TU_FAIL, TU_SKIP, TU_RUN, TU_COUNT };

/* TU_RUN is the older word for TT_ALL_DONE. */
enum trace_trigger { TT_ALL_SUCCEEDED, TT_NONE_FAILED, TT_ONE_SUCCEEDED, TT_ALL_DONE, TT_COUNT };

/* When a job has its turn, and where a flow is. */
enum trace_stage { TH_MAIN, TH_SUCCESS, TH_FAILURE, TH_FINALLY, TH_OVER, TH_COUNT };

#define TRACE_RETRY_LOST 1u
#define TRACE_RETRY_TIMEOUT 2u
#define TRACE_RETRY_EXIT 4u

enum trace_gate {
    TG_CONDITION,
    TG_RENDER,
    TG_POLICY,
    TG_APPROVAL,
    TG_EXTERNAL,
    TG_OUTPUT,
    TG_SERVICE,
    TG_EXPANSION,
    TG_COUNT
};
#define TRACE_GATE_BIT(g) (1u << (g))

enum trace_stop { TX_NONE, TX_CANCEL, TX_DEADLINE, TX_RUN_TIMEOUT, TX_DISPATCH_TIMEOUT, TX_MOVE, TX_COUNT };

enum trace_outcome { TO_OK, TO_EXIT, TO_LOST, TO_STOPPED, TO_REFUSED, TO_COUNT };

enum trace_due { TD_START, TD_DEADLINE, TD_START_WITHIN, TD_COUNT };

enum trace_verdict {
    TV_ALLOW,
    TV_DENY,
    TV_CONSTRAIN,
    TV_HOLD,
    TV_AGAIN,
    TV_QUARANTINE,
    TV_REDACT,
    TV_FAIL,
    TV_COUNT
};

enum trace_catch_up { TP_ALL, TP_LAST, TP_NONE, TP_CATCH_UP_COUNT };
enum trace_overlap { TP_SKIP, TP_QUEUE, TP_REPLACE, TP_OVERLAP_COUNT };
enum trace_slot_end {
    TSLOT_MISSED,
    TSLOT_OVERLAP,
    TSLOT_FULL,
    TSLOT_QUEUED,
    TSLOT_REPLACES,
    TSLOT_EXCLUDED,
    TSLOT_COUNT
};
enum trace_fire { TFIRE_SLOT, TFIRE_WAITED, TFIRE_BACKFILL, TFIRE_ASKED, TFIRE_KEY, TFIRE_COUNT };

#define TRACE_NO_JOB UINT32_MAX

/* ---- what a job is ---- */

struct trace_foreign { /* a parent in another flow */
    uint64_t flow;
    uint32_t ordinal;
    enum trace_state seen; /* its end as it was known when the record was made; TS_WAITING: still open then */
};

struct trace_amount { /* a custom resource */
    struct trace_bytes name;
    uint64_t amount;
};

struct trace_job {
    struct trace_bytes name;
    const uint32_t *parents; /* ordinals in the same flow */
    uint32_t parent_count;
    const struct trace_foreign *foreign;
    uint32_t foreign_count;
    enum trace_job_kind kind;
    uint32_t priority;
    uint32_t retries;
    uint32_t free_losses; /* attempts up to this number cost none of them when they are lost */
    uint32_t retry_on;    /* TRACE_RETRY_ bits of the ends that are tried again; 0 = all */
    uint32_t backoff_base_ms, backoff_cap_ms, backoff_jitter_ms;
    enum trace_upstream on_upstream;
    enum trace_trigger trigger;
    enum trace_stage stage;
    bool exclusive;
    bool delay_from_submit;
    int64_t delay_ms;
    int64_t not_before_ms;       /* wall; 0 = none */
    int64_t deadline_ms;         /* wall; 0 = none */
    int64_t start_within_ms;     /* 0 = none */
    int64_t dispatch_timeout_ms; /* 0 = none */
    int64_t run_timeout_ms;      /* 0 = none */
    uint32_t gates;              /* TRACE_GATE_BITs as the job asks for them */
    int64_t approval_ms;
    uint32_t quorum;             /* 0 means 1 */
    bool four_eyes;
    bool policy_open;
    const uint32_t *fatal_exits;
    uint32_t fatal_exit_count;
    uint32_t cpu_milli;
    uint64_t memory_bytes;
    uint32_t gpus;
    const struct trace_amount *resources;
    uint32_t resource_count;
    const struct trace_bytes *keys; /* concurrency keys */
    uint32_t key_count;
    const struct trace_bytes *rates;
    uint32_t rate_count;
    uint32_t message_bytes; /* what it counts against the bytes of its tenant */
    const struct trace_job *undo; /* its compensation; NULL = none */
    /* A foreach job runs once per item. */
    const struct trace_job *child; /* what each of its children is; NULL = it is no foreach job */
    uint32_t max_parallel;
    bool fail_fast;
    uint32_t allow_count, allow_percent; /* one of them is 0 */
    struct trace_bytes service;     /* TK_SERVICE: what it deploys */
    const struct trace_job *runner; /* TK_SERVICE: what then runs; else NULL */
    uint32_t restart_base_ms, restart_cap_ms;
    int64_t restart_reset_ms, healthy_within_ms;
    bool start_first;               /* of a runner: it may run beside the version that it replaces */
    struct trace_bytes replica_of;  /* of a runner: its set; of a barrier: the set that it trims; len 0 = none */
    uint32_t replicas;              /* of a barrier: to so many */
    struct trace_bytes cache_key; /* 32 bytes; len 0 = none */
    int64_t cache_ms;             /* how long its result may be used again; 0 = the standard time */
    bool calls;                   /* an external job with attempts: TK_WORK, that may have to wait for a word */
    uint32_t poll_ms, poll_cap_ms;
};

/* ---- records ---- */

/* Attempts are named by (flow, ordinal, attempt), workers by the id they keep, incarnations by number. */
enum trace_kind {
    TR_OPENED,       /* as.opened */
    TR_SUBMITTED,    /* as.jobs */
    TR_ADDED,        /* as.jobs: key, key_hash unused */
    TR_CANCELLED,    /* as.job: ordinal TRACE_NO_JOB = the whole flow */
    TR_PAUSED,       /* as.pause */
    TR_RETRIED,      /* as.job */
    TR_DISCARDED,    /* as.job */
    TR_RERUN,        /* as.job: flow alone */
    TR_FORGOTTEN,    /* as.job: flow alone */
    TR_CONTINUED,    /* as.job: flow alone */
    TR_WORKER,       /* as.worker: attached */
    TR_WORKER_DRAIN, /* as.worker: on */
    TR_WORKER_GONE,  /* as.worker */
    TR_ASSIGNED,     /* as.attempt: worker, incarnation, fence */
    TR_STARTED,      /* as.attempt */
    TR_STOPPING,     /* as.attempt: stop */
    TR_ENDED,        /* as.attempt: outcome, exit_code, fatal */
    TR_DUE,          /* as.due */
    TR_FLOW_DUE,     /* as.flow_due */
    TR_VERDICT,      /* as.verdict */
    TR_KEY_EXPIRED,  /* as.key */
    TR_STORE,        /* as.change: a change of the store; what it means to clients is told by TA_STORE */
    TR_LIMIT,        /* as.limit */
    TR_POLICY,       /* as.policy */
    TR_REVOKED,      /* as.job */
    TR_SERVICE,      /* as.service */
    TR_SCALED,       /* as.scaled */
    TR_HEALTH,       /* as.health */
    TR_EXPANDED,     /* as.expanded */
    TR_SCHEDULE,          /* as.schedule */
    TR_SCHEDULE_REMOVED,  /* as.slot: names alone */
    TR_SCHEDULE_PAUSED,   /* as.slot: on; slot_ms = slots up to this were called off */
    TR_SCHEDULE_SLOT,     /* as.slot: what, slot_ms, count */
    TR_SCHEDULE_BACKFILL, /* as.slot: slots */
    TR_MEMO_KEPT,    /* as.memo: flow, ordinal, expires_ms */
    TR_MEMO_HIT,     /* as.memo: flow, ordinal, and whose result it was given */
    TR_MEMO_DROPPED, /* as.memo: tenant, key */
    TR_CLOCK,        /* as.clock; its own time is the old one */
    TR_CHECKPOINT,   /* as.checkpoint */
    TR_IDENTITY,     /* as.identity */
    TR_OTHER,        /* a record without meaning for the rules (pools, topics, tenants): keeps the LSNs dense */
    TR_END,          /* kinds below this are records */

    TA_ASKED,        /* as.asked: a command was handed to the server */
    TA_ANSWERED,     /* as.answered: its answer reached the sender */
    TA_STORE,        /* as.store: a command about the store was decided, in this order */
    TA_STORE_ANSWER, /* as.store_answer: and what its sender was told of it */

    TW_DURABLE,      /* as.durable: the journal said "durable up to" */
    TW_RELEASED,     /* as.released: an effect left the engine */
    TW_SEEN,         /* as.seen: someone outside read the state of a job */
    TW_CRASHED,      /* the server died; what was held back is gone */
    TW_RESTARTED,    /* as.restarted: the server took over again */
    TW_PROCESS,      /* as.process: a real process began */
    TW_PROCESS_END,  /* as.process: and ended, or was killed */
    TW_MACHINE,      /* as.machine: a worker's whole machine was paused or went on */
    TW_WHY,          /* as.why: at the end of a run, what the server says of a job that has not ended */
    TW_UNDO,         /* as.undo: by the rules the last record made a compensation a job of its flow */
    TW_VERSION,      /* as.version: by the rules the last record made a flow that is a version of a service */
    TW_CHANGED,      /* as.touch: a command that came on a connection was decided, and changed something */
    TW_TOLD,         /* as.touch: an assignment left on a connection */
    TW_QUIET,        /* faults stopped, everything had time to finish: what is not over must have a reason */
    TRACE_KIND_COUNT
};

struct trace_clock {
    int64_t from_ms, by_ms;
};

struct trace_opened {
    uint64_t epoch;
};

struct trace_jobs {
    uint64_t flow;
    struct trace_bytes tenant;
    struct trace_bytes key;      /* len 0 = none */
    struct trace_bytes key_hash; /* of the submitted body */
    int64_t key_expires_ms;
    bool more;
    bool undo_failures; /* every failure starts the compensations */
    int64_t timeout_ms;  /* of the main jobs; 0 = none */
    int64_t deadline_ms; /* wall; 0 = none */
    const struct trace_job *jobs; /* ordinals go on where the flow's jobs end */
    uint32_t job_count;
    struct trace_bytes schedule;  /* that made it; len 0 = a client did */
    int64_t slot_ms;
    enum trace_fire fire;
    struct trace_bytes zone; /* of the slot */
    struct trace_bytes cause; /* TFIRE_KEY: the key that started it */
    uint32_t cause_count;     /* changes of it since it began to wait */
    struct trace_bytes source; /* hash of the file that it was made from; len 0 = none */
    struct trace_bytes source_name;
};

/* A schedule as it was set: slots at anchor + k * every, k = 1, 2, …, up to the end. */
struct trace_schedule {
    struct trace_bytes tenant, name;
    int64_t every_ms, anchor_ms;
    int64_t start_ms, end_ms; /* 0 = none */
    int64_t after_ms;
    enum trace_catch_up catch_up;
    enum trace_overlap overlap;
    bool paused;
    struct trace_bytes zone;
    unsigned when; /* TRACE_KEY_ bits: this key starts it, and there are no slots; 0 = the clock does */
    struct trace_bytes key;
    bool key_prefix;
    int64_t min_interval_ms;
    int64_t day_from_ms, day_until_ms; /* slots from, and before, that its calendar leaves out; 0 = none */
    struct trace_bytes source, source_name; /* of its flows */
    int64_t late_ms;      /* later than this is missed */
    uint32_t catch_up_max, waiting_max;
};

#define TRACE_KEY_SET 1u
#define TRACE_KEY_CHANGED 2u
#define TRACE_KEY_DELETED 4u

enum trace_change_kind { TCHANGE_SET, TCHANGE_GONE, TCHANGE_MEMBERS, TCHANGE_NONE };

struct trace_change { /* of keys of the store */
    struct trace_bytes tenant;
    uint64_t flow; /* in its namespace; 0 = the tenant's own */
    enum trace_change_kind what;
    const struct trace_bytes *keys, *values; /* values of SET: texts that differ when the values do */
    uint32_t count;
    const struct trace_bytes *added, *removed; /* MEMBERS, of the only key */
    uint32_t added_count, removed_count;
};

struct trace_slot {
    struct trace_bytes tenant, name;
    enum trace_slot_end what;
    int64_t slot_ms;
    uint64_t count;
    bool on;
    const int64_t *slots;
    uint32_t slot_count;
};

struct trace_ref {
    uint64_t flow;
    uint32_t ordinal;
    /* A flow forgotten by the engine itself: how long it must stay, and how far the history was. */
    int64_t keep_ms, dead_keep_ms;
    uint64_t projected_lsn;
};

struct trace_pause {
    bool of_flow; /* else of a pool or tenant */
    uint64_t flow;
    struct trace_bytes name;
    bool on;
};

struct trace_worker {
    struct trace_bytes worker;
    uint64_t incarnation;
    bool on;
    bool own; /* drain: by the worker itself */
    uint32_t slots;
    uint32_t cpu_milli; /* what it offers; 0 of a kind means none */
    uint64_t memory_bytes;
    uint32_t gpus;
    const struct trace_amount *resources;
    uint32_t resource_count;
    struct trace_bytes tenant; /* whose jobs it runs, and no others; len 0 = everybody's */
};

struct trace_attempt {
    uint64_t flow;
    uint32_t ordinal;
    uint32_t attempt;
    struct trace_bytes worker;
    uint64_t incarnation;
    uint64_t fence; /* assigned: 0 when not known */
    enum trace_stop stop;
    enum trace_outcome outcome;
    uint32_t exit_code;
    bool fatal;
    int64_t again_ms; /* ended: it is not over, and asked again then; 0 = it is */
    int64_t retry_after_ms; /* ended: a retry waits at least so long */
    int64_t ended_ago_ms;   /* ended: so long before it was recorded */
};

struct trace_due_of {
    uint64_t flow;
    uint32_t ordinal;
    enum trace_due due;
};

struct trace_flow_due {
    uint64_t flow;
    bool is_deadline; /* it is late; else its main jobs have run for too long */
};

enum trace_principal { TP_UNKNOWN, TP_PERSON, TP_SERVICE, TP_AGENT, TP_WORKER, TP_JOB, TP_COUNT };

struct trace_verdict_on {
    uint64_t flow; /* the job the question was about */
    uint32_t ordinal;
    enum trace_gate gate;
    uint64_t question;
    uint32_t revision;
    enum trace_verdict verdict;
    int64_t again_ms;
    bool fatal;
    uint64_t policy; /* version of the rules that answered */
    enum trace_principal by; /* what the one who answered is */
    struct trace_bytes cache_key; /* of a rendered spec; len 0 = none */
};

/* The children of a flow have ordinals from TRACE_FIRST_CHILD on, in the order of these records. */
#define TRACE_FIRST_CHILD ((uint32_t)1 << 31)

struct trace_expanded {
    uint64_t flow;
    uint32_t ordinal;
    uint64_t question;
    uint32_t revision;
    uint32_t count;
};

/* A result that is kept; in a record some of it, in a comparison all but the job. */
struct trace_memo {
    uint64_t flow;
    uint32_t ordinal;
    uint64_t from_flow; /* the job that ran */
    uint32_t from_ordinal;
    struct trace_bytes tenant, key;
    int64_t expires_ms;
    int64_t standard_ms; /* how long one is kept whose job does not say */
    uint32_t most;       /* of one tenant */
};

struct trace_key {
    struct trace_bytes tenant;
    struct trace_bytes key;
};

enum trace_limit_kind { TL_KEY, TL_RATE, TL_TENANT, TL_COUNT };

struct trace_limit {
    struct trace_bytes tenant;
    enum trace_limit_kind kind;
    struct trace_bytes name;     /* of a key or rate */
    bool clear;                  /* a key is 1 wide, a rate and a tenant are free, as if never set */
    uint32_t width;
    uint64_t rate_milli, burst;  /* tokens in 1,000 s, tokens when full */
    uint32_t running;            /* 0 = no limit, so in the next two */
    uint64_t queued, bytes;
};

struct trace_checkpoint { /* of the journal: what it covers */
    uint64_t number, from_lsn, upto_lsn;
};

enum trace_identity_what {
    TID_BEGINS,        /* first */
    TID_TOKEN,         /* id, hash, is_admin */
    TID_TOKEN_ENDED,   /* id */
    TID_LINK,          /* hash, instead, expires_ms */
    TID_LINK_SPENT,    /* hash */
    TID_SESSION_ENDED,
    TID_SECRETS,
    TID_COUNT
};

struct trace_identity {
    enum trace_identity_what what;
    struct trace_bytes id, hash, instead;
    bool is_admin; /* of all tenants, for ever */
    int64_t expires_ms;
    const struct trace_identity *first; /* the tokens with which it begins */
    uint32_t first_count;
};

struct trace_policy {
    uint64_t version; /* now in force */
};

enum trace_desired { TY_RUNNING, TY_STOPPED, TY_REMOVED, TY_COUNT };

struct trace_service {
    struct trace_bytes tenant;
    struct trace_bytes name;
    enum trace_desired desired;
};

struct trace_scaled {
    struct trace_bytes tenant;
    struct trace_bytes name; /* of the set */
    uint32_t replicas;
    uint32_t from; /* new ones are copies of this one; 0 = there are none */
};

struct trace_health {
    uint64_t flow;
    uint32_t ordinal;
    uint32_t attempt;
    bool healthy;
};

/* ---- talk ---- */

enum trace_ask {
    TQ_SUBMIT,
    TQ_ADD,
    TQ_CANCEL,
    TQ_RETRY,
    TQ_DISCARD,
    TQ_RERUN,
    TQ_FORGET,
    TQ_VERDICT,
    TQ_ATTACH,
    TQ_STARTED,
    TQ_DONE,
    TQ_HEALTH,
    TQ_READ,
    TQ_OTHER,
    TQ_COUNT
};

enum trace_answer {
    TN_OK,
    TN_CONFLICT, /* contradicts what is recorded */
    TN_STALE,    /* of an earlier attempt, incarnation, revision or epoch */
    TN_STATE,    /* not possible in its present state */
    TN_MISSING,  /* there is no such thing */
    TN_BUSY,     /* too much at once, no space: try again */
    TN_REFUSED,  /* any other refusal */
    TN_COUNT
};

/* A question and its answer are paired by `call`, unique in a run for each sending (a client that repeats a request
 * after a lost answer makes a new call). */
struct trace_asked {
    uint64_t call;
    enum trace_ask ask;
    struct trace_bytes tenant;
    struct trace_bytes key;      /* submit; len 0 = none */
    struct trace_bytes key_hash; /* submit: of the body, also without a key */
    struct trace_bytes source;   /* submit: hash of its file; len 0 = none */
    uint32_t job_count;          /* submit, add */
    uint64_t flow;               /* all but submit */
    uint32_t ordinal;
    uint32_t attempt;            /* started, done */
    enum trace_outcome outcome;  /* done */
    bool healthy;                /* health */
    struct trace_bytes worker;   /* attach, started, health, done */
    uint64_t incarnation;
    int64_t decided_ms;          /* time of its batch */
};

struct trace_answered {
    uint64_t call;
    enum trace_answer answer;
    uint64_t lsn;       /* of the state it was computed from */
    uint64_t flow;      /* submit, add */
    uint32_t job_count; /* jobs of that flow by the answer */
    bool repeated;
    uint64_t epoch;     /* attach */
};

/* ---- the store ---- */

enum trace_store_op { TB_READ, TB_SET, TB_DELETE, TB_INCREASE, TB_ADD, TB_REMOVE, TB_EXPIRE, TB_OP_COUNT };
enum trace_store_if { TI_ALWAYS, TI_ABSENT, TI_PRESENT, TI_VERSION, TI_VALUE, TI_COUNT };
#define TRACE_STORE_MAX 4u /* keys or members in one command of the simulator's clients */

struct trace_store {
    uint64_t call;
    uint64_t lsn;       /* of the state after it was decided */
    bool recorded;      /* it made records */
    int64_t decided_ms; /* time of its batch */
    enum trace_store_op op;
    struct trace_bytes tenant;
    uint64_t flow; /* 0 = the tenant's own namespace */
    struct trace_bytes keys[TRACE_STORE_MAX];   /* the first alone but for set, delete and read */
    struct trace_bytes values[TRACE_STORE_MAX]; /* set: of each key; add, remove: members */
    uint32_t count;     /* keys of a set, delete or read; members of an add or remove */
    enum trace_store_if condition;
    uint64_t version;          /* of the condition */
    struct trace_bytes value;  /* of the condition */
    int64_t number;
    int64_t expires_ms; /* 0 = never */
    bool keep_expiry;
};

struct trace_store_item { /* what a read showed of a key */
    bool found;
    struct trace_bytes value; /* a number as text; a set as its members in order, each with a 0 behind it */
    uint64_t version;
    int64_t expires_ms; /* 0 = never */
};

struct trace_store_answer {
    uint64_t call;
    enum trace_answer answer;
    int64_t number;
    uint64_t version;
    struct trace_store_item items[TRACE_STORE_MAX]; /* read */
};

/* ---- world ---- */

struct trace_durable {
    uint64_t lsn;
};

enum trace_effect {
    TE_ANSWER,
    TE_EVENT,
    TE_ASSIGN,
    TE_STOP,
    TE_DROP,
    TE_QUESTION,
    TE_SLOTS,
    TE_TOKEN_ENDED,
    TE_CHANGED,
    TE_PUBLISHED,
    TE_COUNT
};

struct trace_released {
    enum trace_effect effect;
    uint64_t lsn;
    uint64_t epoch; /* of the sender; to workers */
};

struct trace_seen {
    uint64_t lsn; /* of the state that was read */
    uint64_t flow;
    uint32_t ordinal;
    enum trace_state state;
};

struct trace_restarted {
    uint64_t epoch;
    uint64_t head; /* last LSN recovered */
};

struct trace_process {
    struct trace_bytes worker;
    uint64_t incarnation;
    uint64_t flow;
    uint32_t ordinal;
    uint32_t attempt;
    uint64_t fence;
    struct trace_bytes undoes; /* the job that it says it undoes, by name; len 0 = none */
};

struct trace_machine {
    struct trace_bytes worker;
    bool paused;
};

struct trace_why {
    uint64_t flow;
    uint32_t ordinal;
    bool has_reason; /* something other than "nothing" */
};

struct trace_undo {
    uint64_t flow;
    uint32_t ordinal;
    uint32_t undoes;
    const struct trace_job *job;
};

struct trace_version {
    uint64_t flow; /* its one job is number 0 */
    struct trace_bytes tenant;
    struct trace_bytes service;
    const struct trace_job *runner;
    uint64_t by_flow; /* the job that deploys it; 0 = a set was scaled */
    uint32_t by_ordinal;
};

struct trace_touch {
    struct trace_bytes by; /* tenant of the connection */
    struct trace_bytes of; /* of the flow, or of the worker */
    uint64_t flow;         /* 0 = a worker */
};

struct trace_entry {
    enum trace_kind kind;
    int64_t time_ms; /* records: wall time of the batch; else the virtual wall time at which it happened */
    /* Records only. */
    uint64_t lsn;
    uint64_t epoch; /* of the batch */
    uint64_t seed;  /* of the batch */
    uint64_t sum;   /* checksum of the record as bytes, to tell two records under one LSN apart; 0 = not known */
    bool replayed;  /* read back from the journal after a restart: for the checker of the log alone */
    struct trace_bytes principal; /* who caused it; len 0 = the engine itself, a worker, or nobody */
    union {
        struct trace_opened opened;
        struct trace_clock clock;
        struct trace_jobs jobs;
        struct trace_ref job;
        struct trace_pause pause;
        struct trace_worker worker;
        struct trace_attempt attempt;
        struct trace_due_of due;
        struct trace_flow_due flow_due;
        struct trace_verdict_on verdict;
        struct trace_expanded expanded;
        struct trace_key key;
        struct trace_limit limit;
        struct trace_schedule schedule;
        struct trace_slot slot;
        struct trace_change change;
        struct trace_memo memo;
        struct trace_asked asked;
        struct trace_answered answered;
        struct trace_store store;
        struct trace_store_answer store_answer;
        struct trace_durable durable;
        struct trace_released released;
        struct trace_seen seen;
        struct trace_restarted restarted;
        struct trace_process process;
        struct trace_machine machine;
        struct trace_why why;
        struct trace_undo undo;
        struct trace_policy policy;
        struct trace_checkpoint checkpoint;
        struct trace_identity identity;
        struct trace_service service;
        struct trace_scaled scaled;
        struct trace_health health;
        struct trace_version version;
        struct trace_touch touch;
    } as;
};

static inline bool trace_is_record(enum trace_kind kind) {
    return kind < TR_END;
}
static inline bool trace_is_terminal(enum trace_state s) {
    return s >= TS_SUCCEEDED;
}

/* ---- what the engine says of a job and of a flow, for comparison with the model ---- */

struct trace_job_state {
    uint64_t flow;
    uint32_t ordinal;
    enum trace_state state;
    enum trace_cause cause;
    uint32_t attempt;
    uint32_t used;
    int64_t due_ms;   /* of a WAITING job that waits for a time; else 0 (or "never"): not compared */
    int64_t since_ms; /* in this state */
    uint32_t parents_open; /* of its own flow and of others; compared for jobs that have not started */
    uint32_t root;         /* ordinal of the job that dragged it down, TRACE_NO_JOB = none or in another flow */
    enum trace_stop stop;
    bool dead_letter;
    bool has_question;
    enum trace_gate gate; /* of the open question */
    uint32_t revision;
    uint32_t undoes; /* ordinal + 1 of the job it is the compensation of; 0 = it is none */
    uint64_t from_flow; /* whose result it was given; 0 = nobody's */
    uint32_t from_ordinal;
};

struct trace_schedule_now {
    struct trace_bytes tenant, name;
    int64_t after_ms;
    bool paused;
    uint64_t flow;
    uint32_t waiting;
    uint64_t fired, missed, skipped, excluded;
};

#define TRACE_VERSIONS_MAX 8u /* that a service remembers */
enum trace_version_state { TVERSION_DEPLOYS, TVERSION_CURRENT, TVERSION_RETIRED, TVERSION_FAILED };

struct trace_version_now {
    uint64_t flow; /* that ran it */
    uint64_t by_flow;
    uint32_t by_ordinal; /* the job that deployed it */
    enum trace_version_state state;
};

struct trace_service_now {
    struct trace_bytes tenant, name;
    struct trace_version_now versions[TRACE_VERSIONS_MAX]; /* the last ones, oldest first */
    uint32_t version_count;
    enum trace_desired desired;
    uint64_t current; /* flow of the version that is to run; 0 = none */
    bool deploying;
    bool healthy;
    int64_t since_ms;
};

struct trace_flow_now {
    uint64_t flow;
    enum trace_flow_state state;
    bool settling; /* a long consequence is not yet through: its jobs are not compared */
    bool more;
    uint32_t job_count;
    enum trace_unwinding unwinding;
    uint32_t undo_count; /* compensations that were entered and are not yet jobs */
    enum trace_stage stage;
    enum trace_stage called; /* by the end of the main jobs; TH_MAIN = neither, or not yet */
    bool timed_out, late;
    struct trace_bytes source; /* hash of its file; len 0 = none */
};

#endif
