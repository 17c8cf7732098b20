/* objects.h: the objects of a snapshot, as described structs. Tags are part of the format: never reuse one. */
#ifndef REEVE_OBJECTS_H
#define REEVE_OBJECTS_H

#include "record.h"
#include "tlv.h"

#define OBJECT_TABLE(X)                                                                           \
    X(OBJ_HEADER, 1, snap_header, "header", "counters and position; always first")                \
    X(OBJ_TENANT, 2, snap_tenant, "tenant", "a tenant")                                           \
    X(OBJ_POOL, 3, snap_pool, "pool", "a pool")                                                   \
    X(OBJ_TOPIC, 4, snap_topic, "topic", "a topic")                                               \
    X(OBJ_WORKER, 5, snap_worker, "worker", "a worker")                                           \
    X(OBJ_FLOW, 6, snap_flow, "flow", "a flow without its jobs, which follow at once")            \
    X(OBJ_JOBS, 7, snap_jobs, "jobs", "a run of jobs of the flow before, by ordinal")             \
    X(OBJ_RUN, 8, snap_run, "run", "an open attempt, in order of fences, after all flows")        \
    X(OBJ_QUESTION, 9, snap_question, "question", "an open question")                             \
    X(OBJ_KEY, 10, snap_key, "key", "an idempotency key")                                         \
    X(OBJ_END, 11, snap_end, "end", "number of objects before it and their digest; always last")   \
    X(OBJ_ITEM, 20, snap_item, "item", "a key of the store; the members of a set follow at once, after all flows") \
    X(OBJ_MEMBERS, 21, snap_members, "members", "a run of members of the set before, ascending") \
    X(OBJ_LIMIT, 30, snap_limit, "limit", "a limit that is set, after all tenants, before all flows") \
    X(OBJ_SCHEDULE, 40, snap_schedule, "schedule", "a schedule, after all flows") \
    X(OBJ_MEMO, 41, snap_memo, "memo", "a result that is kept; those of a tenant in order of their age") \
    X(OBJ_EXPANSION, 50, snap_expansion, "expansion", "a foreach job that got its items, by ordinal, after all flows") \
    X(OBJ_CHILDREN, 51, snap_children, "children", "a run of children of the expansion before, by index") \
    X(OBJ_SERVICE, 60, snap_service, "service", "a service, after all flows") \
    X(OBJ_TALLY, 70, snap_tally, "tally", "what has happened, counted; at most one, left out when nothing has") \
    X(OBJ_DIRECTORY, 100, snap_directory, "directory", "number of the journal, and its secrets") \
    X(OBJ_TOKEN, 101, snap_token, "token", "a token, after the directory") \
    X(OBJ_SESSION, 102, snap_session, "session", "a browser session that was ended before its time") \
    X(OBJ_TICKET, 103, snap_ticket, "ticket", "a login link that nobody has used, oldest first") \
    X(OBJ_CHECKPOINT, 130, snap_checkpoint, "checkpoint", "the newest checkpoint; at most one")

enum object_kind {
#define X(kind, number, type, word, text) kind = number,
    OBJECT_TABLE(X)
#undef X
    OBJ_KIND_END
};

struct snap_header {
    uint32_t shard;
    uint64_t epoch, lsn;
    int64_t now_ms;
    uint64_t flow_last, question_last;
    uint32_t worker_last;
    uint64_t policy;
    uint64_t history_lsn;
};
struct snap_tenant {
    struct slice name;
    uint32_t weight;
    bool paused;
};
struct snap_pool {
    struct slice name;
    struct slice record; /* rec_pool; empty = only ever paused */
    bool paused;
};
struct snap_topic {
    struct slice record; /* rec_topic */
};
struct snap_worker {
    uint32_t number;
    struct slice record; /* rec_worker */
    bool draining;
    bool drains_itself;
};
struct snap_foreign {
    uint32_t parent;
    uint64_t child_flow;
    uint32_t child_ordinal;
};
struct snap_seen {
    uint32_t child;
    uint64_t parent_flow;
    uint32_t parent_ordinal;
    uint8_t state;
};
struct snap_flow {
    uint64_t id;
    struct slice tenant;
    uint32_t rules;
    uint8_t state;
    bool paused, more, cancelling;
    uint8_t sweep;
    uint32_t sweep_next, sweep_root, sweep_confirm_ms;
    struct tlv_u32s work;
    uint32_t work_edge;
    int64_t created_ms, finished_ms;
    struct slice head; /* flow_head */
    struct tlv_list foreign, seen;
    uint32_t job_count;
    uint8_t unwinding;
    struct tlv_u32s entered;
    uint8_t compensate_on;
    bool has_finale; /* so what follows */
    int64_t timeout_ms, began_ms, deadline_ms;
    uint8_t stage, called, cancelled;
    bool timed_out, late, is_again;
};
struct snap_profile {
    struct slice options;
};
struct snap_attempt { /* that is over */
    uint32_t attempt, worker;
    struct slice worker_id; /* who knows it when the worker is gone */
    uint8_t outcome, stop;
    uint32_t exit_code, signal;
    int64_t assigned_ms, started_ms, ended_ms; /* started 0 = it never was */
    uint64_t log_bytes, log_cut_bytes;
    struct slice reason;
    struct rec_usage usage;
};
struct snap_outside { /* of an external job: what was begun, or said, outside */
    uint32_t begun, polls;
    int64_t until_ms;
    uint8_t word;
    struct slice result, result_hash, reason;
};
struct snap_job {
    struct slice text; /* rec_job */
    uint32_t profile;  /* position in this object's list */
    uint8_t state, cause, flags, gates;
    uint32_t attempt, done_attempt, used, worker;
    uint32_t root; /* ordinal + 1; 0 = none */
    int64_t since_ms, due_ms;
    uint32_t parents_open;
    struct slice result, result_hash, constraints, body, body_hash;
    uint32_t undo_profile; /* position + 1 in this object's list; 0 = no compensation */
    struct slice cache_key; /* that came with its rendered spec */
    uint64_t from_flow;     /* whose result it was given; 0 = nobody's */
    uint32_t from_ordinal;
    uint32_t child_profile; /* the same, of a foreach job's children */
    uint32_t runner_profile; /* the same, of what it deploys */
    uint64_t policy; /* version that let it pass */
    struct slice artifacts; /* rec_artifacts */
    struct tlv_list attempts; /* of snap_attempt, oldest first */
    struct snap_outside outside;
};
struct snap_jobs {
    uint64_t flow;
    struct tlv_list profiles, jobs;
};
struct snap_run {
    uint64_t flow;
    uint32_t ordinal, attempt, worker;
    uint64_t incarnation, fence;
    uint8_t stop;
    int64_t confirm_ms;
    int64_t assigned_ms, started_ms;
};
struct snap_question {
    uint64_t id, flow;
    uint32_t ordinal, revision;
    uint8_t gate;
    int64_t asked_ms;
    int64_t deadline_ms; /* 0 = none */
    int64_t again_ms;
    uint32_t votes;
    struct slice voters; /* 8 bytes each, little-endian */
};
struct snap_key {
    struct slice tenant, key, hash;
    uint64_t flow;
    uint32_t job_count;
    int64_t expires_ms;
};
struct snap_item {
    struct slice tenant;
    uint64_t flow; /* 0 = the tenant's own namespace */
    struct slice key;
    uint8_t kind;
    struct slice value;
    int64_t number;
    uint64_t version;
    int64_t expires_ms; /* 0 = never */
    uint32_t members;
};
struct snap_members {
    struct tlv_list members; /* of rec_store_item */
};
struct snap_limit {
    struct slice tenant;
    uint8_t kind;
    struct slice name;
    uint32_t width;
    uint64_t rate_milli, burst;
    uint64_t level; /* millionths of a token, at filled_ms */
    int64_t filled_ms;
    uint32_t running;
    uint64_t queued, bytes;
};
struct snap_note {
    int64_t first_ms, slot_ms;
    uint64_t count, flow;
    uint8_t what, flow_state;
};
struct snap_waiting {
    int64_t slot_ms;
    uint8_t fire;
    bool replaces;
};
struct snap_change { /* of a key, that waits for its flow */
    struct slice key;
    uint8_t how;
    uint64_t version;
    uint32_t count;
    int64_t changed_ms;
};
struct snap_schedule {
    struct slice record; /* rec_schedule */
    uint64_t revision;
    bool paused;
    int64_t after_ms, fired_ms;
    uint64_t flow, fired, missed, skipped;
    struct tlv_list waiting, notes;
    uint64_t excluded;
    struct tlv_list changes; /* of snap_change, in order */
    int64_t started_ms;      /* when a key last started it */
};
struct snap_memo {
    struct slice tenant, key;
    uint64_t flow; /* the source */
    uint32_t ordinal;
    int64_t expires_ms;
    struct slice result, result_hash;
    struct slice artifacts; /* rec_artifacts */
};
struct snap_expansion {
    uint64_t flow;
    uint32_t job; /* ordinal of the foreach job */
    uint32_t first, count, next;
    struct slice items;
    uint8_t cause, pass;
    uint32_t pass_next, confirm_ms, again;
    bool is_open;
    uint32_t made; /* children that follow: those with anything to tell */
};
struct snap_child {
    uint32_t item;
    struct snap_job job; /* without text and profile, which are those of the foreach job */
};
struct snap_children {
    uint64_t flow;
    uint32_t job; /* ordinal of the foreach job */
    struct tlv_list children;
};
struct snap_version {
    uint32_t number;
    uint8_t state; /* enum version_state */
    uint32_t restarts;
    uint64_t flow, deployer;
    uint32_t deployer_ordinal;
    int64_t begun_ms, healthy_ms, ended_ms;
    struct slice spec;
};
struct snap_service {
    struct slice tenant, name;
    uint8_t desired;
    bool healthy;
    int64_t since_ms;
    uint32_t version_last;
    uint64_t current, previous, retiring; /* flows; 0 = none */
    uint32_t current_number, previous_number;
    uint64_t deployer; /* flow; 0 = none */
    uint32_t deployer_ordinal;
    uint32_t port;
    struct slice note;
    struct tlv_list versions; /* of snap_version, by number */
    bool overlaps; /* the previous version runs on; what follows is of its health */
    bool previous_healthy;
    int64_t previous_since_ms;
    uint32_t previous_port;
    struct slice previous_note;
    uint64_t retiring_too; /* flow; 0 = none */
};
struct snap_count {
    uint32_t what; /* enum tally */
    uint64_t n;
};
struct snap_tally {
    struct tlv_list counts; /* of snap_count, those that are not 0, ascending */
};
struct snap_checkpoint { /* rec_checkpoint, and where it is */
    uint64_t number, lsn, from_lsn, upto_lsn;
    int64_t time_ms;
    struct slice chain, key, signature;
};
struct snap_directory {
    uint64_t log;
    struct tlv_list secrets; /* of rec_secret */
};
struct snap_token {
    struct slice record; /* rec_token_info */
};
struct snap_session {
    struct slice who;
    uint64_t number;
    int64_t expires_ms;
};
struct snap_ticket {
    struct slice hash, who;
    int64_t expires_ms;
};
struct snap_end {
    uint64_t objects, digest_lo, digest_hi;
};

extern const struct tlv_desc snap_attempt_desc; /* also how a note keeps its facts */
const struct tlv_desc *object_desc(enum object_kind kind); /* NULL for a number that is not in the table */

#endif
