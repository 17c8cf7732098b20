/* command.h: what the world asks of the engine, and what it gets for an answer.
 *
 * Commands are filled by whoever parsed a request; slices belong to the caller and are read during engine_command
 * only. `principal` and `tenant` come from the caller's credentials, never from the request. */
#ifndef REEVE_COMMAND_H
#define REEVE_COMMAND_H

#include "ids.h"
#include "job.h"
#include "options.h"
#include "record.h"

enum command_kind {
    CMD_SUBMIT,
    CMD_ADD,
    CMD_CANCEL,
    CMD_PAUSE,
    CMD_RETRY,
    CMD_DISCARD,
    CMD_RERUN,
    CMD_FORGET,
    CMD_ATTACH,
    CMD_DETACH,
    CMD_HEARTBEAT,
    CMD_STARTED,
    CMD_PROGRESS,
    CMD_DONE,
    CMD_DRAIN,
    CMD_VERDICT,
    CMD_POOL,
    CMD_TOPIC,
    CMD_TENANT,
    CMD_STORE,
    CMD_LIMIT,
    CMD_POLICY,
    CMD_SERVICE,
    CMD_HEALTH,
    CMD_SCHEDULE,
    CMD_SCHEDULE_REMOVE,
    CMD_SCHEDULE_PAUSE,
    CMD_SCHEDULE_BACKFILL,
    CMD_SCHEDULE_RUN,
    CMD_SCHEDULE_SLOTS,
    CMD_CHECKPOINT, /* the journal was hashed up to a record, and the hash is signed */
    CMD_IDENTITY,
    CMD_PROJECTED, /* the history is durable up to an LSN; kept in memory only, told again after a restart */
    CMD_READ, /* changes nothing; its answer proves that everything it could have seen is durable */
    CMD_COUNT
};

/* A parent by name: in the same flow (flow.v == 0) or in another one. For a flow that has left memory the caller fills
 * `seen` and `seen_ordinal` from the history and sets `has_seen`; they are used only when the engine no longer knows
 * the flow. */
struct parent_ref {
    struct slice name;
    flow_id flow;
    uint32_t shard;
    bool has_seen;
    uint32_t seen_ordinal;
    enum job_state seen;
};

struct job_spec {
    struct slice name;
    uint32_t profile; /* position in the command's option sets */
    const struct parent_ref *parents;
    uint32_t parent_count;
    struct slice body;
    struct slice body_hash; /* 32 bytes; needed when the options have gates */
    uint32_t undo_profile;  /* of its compensation: position + 1 in the command's option sets; 0 = it has none */
    struct slice undo_body;
    struct slice undo_hash; /* 32 bytes; needed when the compensation's options have the policy gate */
    struct slice service;   /* that a job of kind service deploys */
    struct slice cache_key; /* 32 bytes: a hash of all that its result depends on; empty = always run it */
};

struct cmd_jobs {
    const struct options *profiles;
    uint32_t profile_count;
    const struct job_spec *jobs;
    uint32_t job_count;
    bool more;
};

struct cmd_submit {
    struct slice name;
    struct slice key;
    struct slice key_hash; /* 32 bytes, needed with a key */
    int64_t key_ms;        /* 0 = the standard time */
    struct slice trace;
    enum compensate_on compensate_on;
    int64_t timeout_ms;    /* of the main jobs, from now on; 0 = none */
    int64_t deadline_ms;   /* wall: when it is late; 0 = none */
    int64_t late_after_ms; /* the same, from now on; 0 = none */
    const struct label *labels;
    uint32_t label_count;
    struct cmd_jobs jobs;
    const struct slice *set_keys; /* for each option set bytes that say the same, however it was written; NULL = none */
    struct flow_source source; /* its blob is there, and durable */
    bool check; /* say whether it would be accepted; nothing is recorded */
    struct job_ref adder; /* the job that submits, while its attempt is open; flow 0 = somebody else does */
    uint64_t fence;       /* of that attempt */
};

struct cmd_add {
    flow_id flow;
    struct cmd_jobs jobs;
    struct job_ref adder; /* the job that asks, while its attempt is open; flow 0 = somebody else does */
    uint64_t fence;       /* of that attempt */
};

struct cmd_cancel {
    flow_id flow;
    bool whole;
    uint32_t ordinal;
    struct slice reason;
};

struct cmd_pause {
    enum pause_scope scope;
    flow_id flow;
    struct slice name;
    bool on;
};

enum held_phase { HELD_ASSIGNED, HELD_RUNNING, HELD_FINISHED, HELD_PHASE_COUNT };

struct held_attempt { /* one line of what a worker says it holds */
    struct job_ref job;
    uint32_t attempt;
    enum held_phase phase;
};

struct cmd_attach {
    struct slice worker; /* the id it keeps on its disk */
    uint64_t incarnation; /* rises with each start of the worker */
    struct worker_info info;
    const struct held_attempt *held;
    uint32_t held_count;
};

struct cmd_worker { /* detach, heartbeat, drain */
    struct slice worker;
    uint64_t incarnation;
    uint32_t credit; /* how many attempts it is willing to hold in all */
    uint32_t cpu_percent;
    uint32_t gpu_percent;
    bool on;  /* drain */
    bool own; /* drain: the worker itself says so */
};

struct cmd_attempt { /* started, progress, health, done */
    struct slice worker;
    uint64_t incarnation;
    struct job_ref job;
    uint32_t attempt;
    uint32_t percent; /* progress */
    bool healthy;     /* health: of a service, sent when it changes, so to `note` */
    uint32_t port;    /* where it listens; 0 = it has none */
    struct slice note; /* health: why it is not; progress: what it waits for, empty = nothing */
    enum outcome outcome;
    uint32_t exit_code;
    uint32_t signal;
    struct slice result;
    struct slice result_hash;
    uint64_t log_bytes;
    uint64_t log_cut_bytes;
    struct slice reason;
    struct tlv_list artifacts; /* of rec_artifact */
    bool fatal; /* a failure that no further attempt can mend */
    struct rec_usage usage;
    bool again; /* of an external job, with a good outcome: it is not over yet */
    uint32_t retry_after_ms; /* a failure: no further attempt before that, within the limit */
    uint64_t ended_ago_ms;   /* done: how long ago, by the worker's clock */
};

struct cmd_verdict {
    question_id question; /* 0 = a late quarantine of `job`, which has succeeded; or, with `outside`, */
    bool outside;         /* the word from outside about `job`, an external one that has attempts, */
    uint32_t begun;       /* and that this attempt of it has begun; 0 = whichever did */
    struct job_ref job;
    uint32_t revision;
    struct slice hash;
    enum verdict verdict;
    struct slice reason;
    struct slice payload;
    struct slice payload_hash; /* 32 bytes, with a rendered body */
    int64_t again_ms;
    uint64_t policy; /* version of the rules that answered; not below the one in force, for questions to a policy */
    struct slice items;  /* with the yes to an expansion: hash of the blob that holds them, 32 bytes; empty for none */
    uint32_t item_count;
    bool fatal; /* with a deny or a quarantine: the flow's saga unwinds */
    struct slice result;      /* with an external allow: what the other system gave back */
    struct slice result_hash; /* 32 bytes; names a blob when `result` is empty */
    struct slice cache_key; /* 32 bytes, with a rendered body: of what was rendered */
};

struct cmd_pool {
    struct slice name;
    enum pool_state state;
    bool refuse_overload;
    const struct name_item *capabilities;
    uint32_t capability_count;
};

struct cmd_topic {
    struct slice name;
    const struct name_item *pools;
    uint32_t pool_count;
};

struct cmd_tenant {
    struct slice name;
    uint32_t weight;
};

enum store_op {
    STORE_SET,     /* entries get their values, all or none */
    STORE_DELETE,  /* entries, by key alone; reply.number: how many were there */
    STORE_INCREASE,   /* key is changed by `number`; reply.number: what it is now */
    STORE_ADD,     /* members to the set `key`; reply.number: how many are new */
    STORE_REMOVE,  /* members from the set `key`; reply.number: how many were there */
    STORE_EXPIRE,  /* key gets another expiry, or none; reply.number: 1, or 0 when there is no such key */
    STORE_PUBLISH, /* `value` on channel `key`; reply.number: how many watch it */
    STORE_WATCH,   /* key, prefix or channel, by this session until it ends */
    STORE_UNWATCH, /* one watch of this session, or (watch 0) all: the session is over */
    STORE_OP_COUNT
};

/* What must hold, or nothing is changed (ERR_CONFLICT). For several entries: of each of them. */
enum store_if {
    STORE_ALWAYS,
    STORE_IF_ABSENT,
    STORE_IF_PRESENT,
    STORE_IF_VERSION, /* its version is `version`; 0 = it is not there */
    STORE_IF_VALUE,   /* its value is `value` */
    STORE_IF_COUNT
};

struct store_entry {
    struct slice key, value;
};

struct cmd_store { /* namespace: the caller's tenant, or `flow` in it */
    enum store_op op;
    flow_id flow;
    const struct store_entry *entries; /* set, delete */
    uint32_t entry_count;
    enum store_if condition; /* set, delete */
    uint64_t version;
    struct slice key;
    struct slice value;
    int64_t number;
    const struct slice *members; /* add, remove */
    uint32_t member_count;
    int64_t expires_ms; /* set, expire: wall time; 0 = never */
    bool keep_expiry;   /* set: what the key had */
    uint64_t session;   /* watch, unwatch: not 0 */
    uint64_t watch;     /* number given by the session; a second watch under it replaces the first */
    bool prefix, of_channel;
    flow_id by; /* the caller is a job of this flow; 0 = it is none */
};

struct cmd_limit { /* see rec_limit */
    struct slice tenant; /* whose; a caller of a tenant may set keys and rates of its own */
    enum limit_kind kind;
    struct slice name;
    bool clear;
    uint32_t width;
    uint64_t rate_milli, burst;
    uint32_t running;
    uint64_t queued, bytes;
};

struct cmd_policy {
    uint64_t version; /* now in force */
};

struct cmd_service {
    struct slice tenant; /* whose; a caller of a tenant may leave it out */
    struct slice name;
    enum service_desired desired;
    bool restart; /* in place of `desired`: stop, and then run again */
    uint32_t replicas; /* in place of `desired`: of the set `name`, as many as this; 0 = not said */
};

struct cmd_schedule {
    struct slice name;
    struct slice expression; /* checked by the caller; the core does not read it */
    struct slice zone;       /* of it, by its name; its flows carry it. Empty = UTC */
    enum catch_up catch_up;
    enum overlap overlap;
    bool paused;
    int64_t start_ms, end_ms; /* wall; 0 = none */
    struct slice flow_name;
    enum compensate_on compensate_on;
    int64_t timeout_ms, late_after_ms; /* as of a submit; the deadline counts from the slot */
    const struct label *labels;
    uint32_t label_count;
    struct cmd_jobs jobs; /* without parents in other flows and without absolute times */
    struct slice calendar; /* checked by the caller, as the expression */
    unsigned when;         /* KEY_ bits: this key starts its flows; 0 = the clock does */
    struct slice key;
    bool key_prefix, own_changes;
    int64_t min_interval_ms;
    struct flow_source source; /* of its flows: its blob is there, and durable */
};

struct cmd_schedule_name { /* remove, pause, backfill, run */
    struct slice name;
    bool on;                /* pause */
    const int64_t *slots;   /* backfill: slots of the past, ascending; run: the one that it is for */
    uint32_t slot_count;
    struct slice key;       /* run, of one that a key starts: as if this one had changed; empty = none */
};

/* The slots of a schedule that follow `after_ms`, ascending. When more than the asked number lie before now, the
 * oldest are left out and counted in `earlier`; what room is left is filled with slots to come. Kept in memory only:
 * after a restart, and whenever they run out, the engine asks again. */
struct cmd_slots_excluded { /* the slots of one day, which the calendar leaves out */
    int64_t slot_ms;        /* the last of them: one of the slots that are named, in the same order */
    int64_t first_ms;
    uint64_t count;
};

struct cmd_schedule_slots {
    uint64_t revision; /* as in the effect that asked */
    int64_t after_ms;  /* the same */
    const int64_t *slots;
    uint32_t slot_count;
    uint64_t earlier;
    bool last; /* none follows the last of them */
    const struct cmd_slots_excluded *excluded;
    uint32_t excluded_count;
};

struct cmd_checkpoint { /* as rec_checkpoint */
    uint64_t number, from_lsn, upto_lsn;
    struct slice chain, key, signature;
};

enum identity_op {
    IDENTITY_BEGIN,       /* log, secrets, tokens, sessions: once in the life of a journal */
    IDENTITY_TOKEN_SET,   /* tokens[0]; made, or when its id is known, changed */
    IDENTITY_TOKEN_END,   /* id */
    IDENTITY_SESSION_END, /* sessions[0] */
    IDENTITY_TICKET_ADD,  /* hash, who, expires_ms */
    IDENTITY_TICKET_USE,  /* hash */
    IDENTITY_SECRETS,     /* secrets: in place of all there are */
    IDENTITY_OP_COUNT
};

struct cmd_identity { /* hashes and ciphertext are the shell's work */
    enum identity_op op;
    uint64_t log;
    const struct rec_secret *secrets;
    uint32_t secret_count;
    const struct rec_token_info *tokens; /* ascending by hash */
    uint32_t token_count;
    const struct rec_session *sessions;
    uint32_t session_count;
    struct slice id;
    struct slice hash; /* 32 bytes */
    struct slice who;
    int64_t expires_ms;
};

struct command {
    enum command_kind kind;
    uint64_t token; /* comes back with the answer; 0 = nobody waits for one */
    struct slice principal;
    struct slice tenant;
    struct rec_caller caller; /* more about the principal; all zero = the engine or the server itself */
    union {
        struct cmd_submit submit;
        struct cmd_add add;
        struct cmd_cancel cancel;
        struct cmd_pause pause;
        struct job_ref job; /* retry, discard */
        flow_id flow;       /* rerun, forget */
        struct cmd_attach attach;
        struct cmd_worker worker;
        struct cmd_attempt attempt;
        struct cmd_verdict verdict;
        struct cmd_pool pool;
        struct cmd_topic topic;
        struct cmd_tenant tenant_set;
        struct cmd_store store;
        struct cmd_limit limit;
        struct cmd_service service;
        struct cmd_identity identity;
        struct cmd_policy policy;
        struct cmd_checkpoint checkpoint;
        uint64_t lsn; /* projected */
        struct cmd_schedule schedule;
        struct cmd_schedule_name schedule_name;
        struct cmd_schedule_slots schedule_slots;
    } as;
};

struct reply {
    enum err err;
    flow_id flow;       /* submit, add */
    uint32_t job_count; /* jobs of that flow now */
    bool repeated;      /* answered from an idempotency key, or an acknowledgement given before */
    int64_t lease_ms;   /* attach, heartbeat */
    uint64_t epoch;     /* attach */
    int64_t number;     /* store: see enum store_op */
    uint64_t version;   /* store: of the (first) key now; also in a conflict; 0 = it is not there */
    struct why why;     /* last: text when err is not ERR_OK */
};

/* Most replies have no text: what it could hold need not be cleared and copied for each. */
static inline void reply_clear(struct reply *r) {
    memset(r, 0, offsetof(struct reply, why));
    r->why.text[0] = 0;
}

static inline void reply_copy(struct reply *to, const struct reply *from) {
    memcpy(to, from, offsetof(struct reply, why));
    if (from->err != ERR_OK)
        to->why = from->why;
    else
        to->why.text[0] = 0;
}

#endif
