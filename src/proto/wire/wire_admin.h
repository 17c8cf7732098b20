/* wire_admin.h: messages that set things up: tokens, schedules, services, pools, topics, tenants, limits, drains. */
#ifndef REEVE_WIRE_ADMIN_H
#define REEVE_WIRE_ADMIN_H

#include "wire_flow.h"

/* ---- tokens ---- */

/* What a principal is, by the numbers of the journal. */
enum wire_principal {
    WIRE_PRINCIPAL_UNKNOWN,
    WIRE_PRINCIPAL_PERSON,
    WIRE_PRINCIPAL_SERVICE,
    WIRE_PRINCIPAL_AGENT,
    WIRE_PRINCIPAL_WORKER,
    WIRE_PRINCIPAL_JOB,
    WIRE_PRINCIPAL_COUNT
};
extern const char *const wire_principal_words[];

struct wire_token_new {
    struct slice name; /* of the principal */
    struct slice tenant;
    struct tlv_list roles; /* of wire_name */
    int64_t expires_ms;    /* wall time; 0 = never */
    uint8_t kind;          /* enum wire_principal; unknown = by its roles: a worker, or a person */
};

struct wire_token_given { /* the only time that the token itself is shown */
    uint64_t lsn;
    struct slice id, token;
};

struct wire_token_view {
    struct slice id, name, tenant;
    struct tlv_list roles; /* of wire_name */
    int64_t created_ms, expires_ms, used_ms; /* used: since the server started; 0 = not */
    uint8_t kind; /* enum wire_principal */
};

struct wire_token_list {
    uint64_t lsn;
    struct tlv_list tokens; /* of wire_token_view */
};

struct wire_login_link {
    uint64_t lsn;
    struct slice url;    /* empty = the server does not know where it is reached */
    struct slice ticket; /* what is new in it */
    int64_t expires_ms;  /* wall */
};

/* From a browser, about itself: HTTP makes them of a link and of a logout, and nobody else may send them. */
struct wire_login_use {
    struct slice ticket;
};
struct wire_logout {
    uint64_t session; /* the number in its cookie */
};

/* ---- schedules ---- */

#define WIRE_AHEAD_MAX 100u /* slots told ahead */
#define WIRE_CALENDAR_MAX 1048576u

enum wire_catch_up { WIRE_CATCH_UP_ALL, WIRE_CATCH_UP_LAST, WIRE_CATCH_UP_NONE, WIRE_CATCH_UP_COUNT };
enum wire_overlap { WIRE_OVERLAP_SKIP, WIRE_OVERLAP_QUEUE, WIRE_OVERLAP_REPLACE, WIRE_OVERLAP_COUNT };

struct wire_schedule_set {
    struct slice name;
    struct slice expression; /* cron or interval, with a time zone */
    uint8_t catch_up, overlap;
    bool paused;
    int64_t start_ms, end_ms; /* wall; 0 = none */
    struct wire_flow flow;
    struct slice calendar; /* days on which it does not run: `weekdays mon-fri; not 2026-12-25; excluded skip` */
    struct slice key;      /* in place of `expression`: a key of the store; with a `*` at its end, all that begin so */
    struct slice when;     /* set, changed, deleted: a list with commas; empty = changed */
    int64_t min_interval_ms;
    bool own_changes;      /* changes by its own flows count as well */
};

enum wire_schedule_op {
    WIRE_SCHEDULE_REMOVE,
    WIRE_SCHEDULE_PAUSE,
    WIRE_SCHEDULE_RESUME,
    WIRE_SCHEDULE_BACKFILL,
    WIRE_SCHEDULE_OP_COUNT
};

struct wire_schedule_change {
    struct slice name;
    uint8_t op;               /* enum wire_schedule_op */
    int64_t since_ms, until_ms; /* backfill: slots from, and before */
    struct slice since, until;  /* or as text: 2026-11-01 or 2026-11-01T02:30, in the schedule's zone */
};

struct wire_schedule_run {
    struct slice name;
    struct slice slot; /* as `since`; empty = now */
    struct slice key;  /* of a schedule that a key starts: as if this one had changed */
};

struct wire_schedule_ls {
    struct slice cursor;
    uint32_t most;
    struct slice name; /* only this one */
    uint32_t ahead;    /* how many slots to come are told of each */
    bool details;      /* with what became of the last slots */
    struct slice since, until; /* with the slots from, and before, as for a backfill */
};

struct wire_moment {
    int64_t ms;        /* wall */
    struct slice text; /* as the zone of the schedule writes it: 2026-03-29T02:30:00+01:00 */
};

struct wire_slot { /* what became of one, or of several that were missed together */
    struct slice what; /* fired, missed, overlap, full, queued, replaces, paused, excluded */
    int64_t slot_ms;
    struct slice slot; /* as text */
    uint64_t count;
    struct slice flow, state; /* fired */
    struct slice text;        /* excluded: which day it was; fired: the key that started the flow */
};

struct wire_schedule_view {
    struct slice name, expression;
    uint8_t catch_up, overlap;
    bool paused;
    int64_t next_ms, fired_ms;
    struct slice flow; /* the last that was made */
    bool running;
    struct slice code, text; /* why it does not fire now */
    uint64_t fired, missed, skipped;
    uint32_t waiting;        /* slots that wait for an earlier flow */
    struct tlv_list ahead;   /* of wire_moment */
    struct slice zone;       /* empty = UTC */
    struct slice principal;  /* on whose behalf its flows run */
    struct slice next;       /* next_ms as text */
    struct tlv_list slots;   /* of wire_slot: the last ones, the newest first; with details */
    struct tlv_list between; /* of wire_moment: with since and until */
    struct slice calendar;   /* as it was set */
    uint64_t excluded;       /* slots on days that the calendar leaves out */
};

struct wire_schedule_list {
    uint64_t lsn;
    struct slice cursor;
    struct tlv_list schedules; /* of wire_schedule_view */
};

/* ---- services ---- */

enum wire_desired {
    WIRE_DESIRED_RUNNING,
    WIRE_DESIRED_STOPPED,
    WIRE_DESIRED_REMOVED,
    WIRE_DESIRED_RESTART, /* stopped, then running; refused unless it is to run */
    WIRE_DESIRED_COUNT
};

struct wire_service_set {
    struct slice name;
    uint8_t desired; /* enum wire_desired */
    uint32_t replicas; /* of a service with replicas: scale it to so many, in place of `desired`; 0 = not said */
};

struct wire_service_get {
    struct slice name;
};

struct wire_service_rollback {
    struct slice name;
    uint32_t version; /* 0 = the last one before the current that was healthy */
};

struct wire_service_version {
    uint32_t version;
    struct slice state; /* version_state_words */
    struct slice by;    /* who deployed it; empty = not known */
    struct slice flow;  /* that deployed it; it may have left memory */
    struct slice job;   /* that ran or runs it */
    int64_t begun_ms, healthy_ms, ended_ms; /* 0 = not yet, or never */
    uint32_t restarts;
    bool kept; /* it can be deployed once more */
};

struct wire_service_view {
    struct slice name, state;
    struct slice job; /* its current version */
    bool healthy;
    uint32_t restarts; /* how often this version was started again */
    struct slice worker;
    int64_t since_ms;
    uint32_t version, previous_version; /* previous: what comes back when a deployment fails */
    bool deploying;
    uint32_t port;
    struct slice code, text; /* why it is not healthy, as a word and as a sentence; empty = it is */
    int64_t due_ms;          /* of its next start; 0 = that is not what it waits for */
    uint32_t attempt;        /* of this version: one more than restarts, 0 = it was never started */
    struct tlv_list versions; /* of wire_service_version, the newest first; of service_get */
    struct slice replica_of; /* the service that it is a replica of; empty = of none */
    uint32_t replica;        /* its number there */
    struct slice update;     /* stop_first or start_first */
    bool overlaps;           /* the previous version runs on until this one is healthy; … */
    bool previous_healthy;   /* … and is healthy itself, … */
    uint32_t previous_port;  /* … at this port; 0 = nobody said so */
};

struct wire_service_list {
    uint64_t lsn;
    struct slice cursor;
    struct tlv_list services; /* of wire_service_view */
};

/* ---- the rest ---- */

struct wire_page { /* token_ls, service_ls, limit_ls */
    struct slice cursor;
    uint32_t most;
};

enum wire_pool_state { WIRE_POOL_ACTIVE, WIRE_POOL_DRAINING, WIRE_POOL_INACTIVE, WIRE_POOL_STATE_COUNT };

struct wire_pool {
    struct slice name;
    uint8_t state; /* enum wire_pool_state */
    bool refuse_overload;
    struct tlv_list capabilities; /* of wire_name */
};

struct wire_topic {
    struct slice name;
    struct tlv_list pools; /* of wire_name; empty = the mapping is removed */
};

struct wire_tenant {
    struct slice name;
    uint32_t weight; /* 0 = 1 */
};

enum wire_limit_kind { WIRE_LIMIT_KEY, WIRE_LIMIT_RATE, WIRE_LIMIT_TENANT, WIRE_LIMIT_KIND_COUNT };

struct wire_limit {
    struct slice tenant;
    uint8_t kind; /* enum wire_limit_kind */
    struct slice name;
    bool clear;
    uint32_t width;
    uint64_t rate_milli, burst;
    uint32_t running;
    uint64_t queued, bytes;
};

struct wire_limit_view {
    struct slice tenant;
    uint8_t kind; /* enum wire_limit_kind */
    struct slice name;
    bool set;                   /* else a job names it, and what holds without a word does */
    uint32_t width, taken;      /* of a key */
    uint64_t rate_milli, burst; /* of a rate */
    uint64_t level_milli;       /* thousandths of a token that it holds */
    uint32_t running_max, running; /* of a tenant; 0 = no limit */
    uint64_t queued_max, queued;
    uint64_t bytes_max, bytes;
};

struct wire_limit_list {
    uint64_t lsn;
    struct slice cursor;
    struct tlv_list limits; /* of wire_limit_view */
};

struct wire_drain {
    struct slice worker;
    bool undo; /* it takes jobs again */
    bool end;  /* it is to end when it is drained; the server passes this on to it */
};

extern const struct tlv_desc wire_token_new_desc, wire_token_given_desc, wire_token_view_desc, wire_token_list_desc,
    wire_login_link_desc, wire_login_use_desc, wire_logout_desc,
    wire_schedule_set_desc, wire_schedule_change_desc, wire_schedule_run_desc, wire_schedule_ls_desc, wire_moment_desc,
    wire_slot_desc, wire_schedule_view_desc, wire_schedule_list_desc,
    wire_service_set_desc, wire_service_get_desc, wire_service_rollback_desc, wire_service_view_desc,
    wire_service_list_desc, wire_page_desc, wire_pool_desc,
    wire_topic_desc, wire_tenant_desc, wire_limit_desc, wire_limit_view_desc, wire_limit_list_desc,
    wire_drain_desc;

/* ---- workers on the server's machine ---- */

struct wire_worker_start {
    uint32_t slots;         /* 0 = 4 */
    struct slice name;      /* empty = any */
    struct tlv_list labels; /* of wire_pair */
};

struct wire_worker_started {
    struct slice worker; /* its id; it attaches in a moment */
    uint32_t pid;
};

/* ---- the audit trail ---- */

struct wire_audit { /* what is left empty does not choose */
    struct slice flow, principal;
    struct slice verb;   /* what was done, like "submit" */
    struct slice object; /* a flow, flow/job, or the name of a pool, schedule, worker, key … */
    struct slice tenant;
    struct slice kind; /* of record, its word */
    bool people;       /* only what someone did */
    int64_t since_ms, until_ms;
    struct slice cursor;
    uint32_t most;
};

struct wire_audit_record {
    uint64_t lsn;
    int64_t time_ms;
    struct slice principal, kind;
    struct slice target; /* flow, flow/job, or the name of what it is about */
    struct slice text;
    struct slice verb, tenant;
};

struct wire_audited { /* newest first */
    struct tlv_list records; /* of wire_audit_record */
    struct slice cursor;     /* of the next page, which may be there though this one is short */
};

struct wire_checkpoint { /* of the journal; number 0 = there is none. Hashes, key and signature are hexadecimal */
    uint32_t shard;
    uint64_t number, lsn, from_lsn, upto_lsn;
    int64_t time_ms;
    struct slice chain, key, signature;
};

struct wire_audit_verify {
    struct slice key; /* public, hexadecimal: every checkpoint must be signed by it; empty = by the key that it names */
    struct slice since; /* a checkpoint that was kept elsewhere, as JSON; empty = none */
};

struct wire_audit_verified {
    bool ok;
    struct slice text; /* what was found, or what does not fit */
    uint64_t from_lsn, upto_lsn, last_lsn, checkpoints, keys;
    bool whole; /* from the first record of the chain on */
    struct wire_checkpoint checkpoint;
};

struct wire_audit_export {
    struct wire_audit filter; /* cursor: of the page before; most: about so many kilobytes, 0 = 1024 */
    struct slice format;      /* jsonl, ocsf */
};

#define WIRE_LINES_MAX (1u << 26)

struct wire_audit_exported {
    struct slice lines;
    struct slice cursor; /* of the next page; empty = that was all */
};

extern const struct tlv_desc wire_audit_desc, wire_audit_record_desc, wire_audited_desc, wire_worker_start_desc,
    wire_worker_started_desc, wire_checkpoint_desc, wire_audit_verify_desc, wire_audit_verified_desc,
    wire_audit_export_desc, wire_audit_exported_desc;

#endif
