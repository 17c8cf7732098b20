/* wire_worker.h: what a worker and its server say to each other. A worker dials in, lists what it holds, gives credit;
 * the server assigns. Attempts are named by numbers here, as the journal names them.
 *
 * Everything from a worker is fenced by the incarnation it attached with, everything to a worker by the epoch: a worker
 * refuses an epoch below the highest it has seen. Log, result and end of an attempt travel on one connection in that
 * order. */
#ifndef REEVE_WIRE_WORKER_H
#define REEVE_WIRE_WORKER_H

#include "wire_flow.h"

struct wire_attempt { /* shard, flow, ordinal of the job, number of the attempt */
    uint32_t shard;
    uint64_t flow;
    uint32_t ordinal;
    uint32_t attempt;
};

/* ---- coming, staying, going ---- */

enum wire_held_phase { WIRE_HELD_ASSIGNED, WIRE_HELD_RUNNING, WIRE_HELD_FINISHED, WIRE_HELD_COUNT };

struct wire_held {
    struct wire_attempt attempt;
    uint8_t phase; /* enum wire_held_phase */
};

struct wire_worker_info {
    struct slice pool;
    struct tlv_list capabilities; /* of wire_name */
    struct tlv_list labels;       /* of wire_pair */
    uint32_t slots, cpu_milli;
    uint64_t memory_bytes;
    uint32_t gpus;
    struct tlv_list resources; /* of wire_amount */
    bool permanent;
    struct slice build;
};

struct wire_load {
    uint32_t credit; /* attempts it is willing to hold in all */
    uint32_t cpu_percent, gpu_percent;
};

struct wire_attach {
    struct slice worker; /* the id it keeps on its disk */
    uint64_t incarnation;
    uint64_t epoch_seen; /* the highest */
    struct wire_worker_info info;
    struct wire_load load;
    struct tlv_list held; /* of wire_held: everything */
};

struct wire_attached {
    uint64_t lsn;
    uint64_t epoch;
    uint32_t lease_ms, heartbeat_ms;
};

struct wire_heartbeat {
    struct wire_load load;
    uint64_t sent_ms; /* clock of the worker, opaque to the server */
};

struct wire_lease { /* answers a heartbeat: the lease runs from when that was sent */
    uint64_t epoch;
    uint32_t lease_ms;
    uint64_t sent_ms;
};

struct wire_detach { /* it goes, holding nothing */
    struct slice reason;
};

/* ---- to the worker ---- */

struct wire_input { /* the result of a parent */
    struct slice job;
    struct slice result, result_hash;
    struct tlv_list artifacts; /* of wire_kept */
};

struct wire_assignment {
    struct wire_attempt attempt;
    uint64_t fence;
    struct slice job; /* for people: flow/name */
    uint8_t kind;     /* enum job_kind */
    struct slice body; /* a `run` message, rendered */
    struct tlv_list env; /* of wire_pair: what the server adds */
    struct slice token; /* of this attempt, ends with it */
    struct slice tenant, trace;
    struct slice constraints; /* put on it by a verdict */
    int64_t run_timeout_ms;
    bool exclusive;
    struct tlv_list inputs; /* of wire_input */
    bool compensation;
    struct slice refusal; /* not empty: it cannot be run, and this is why; the worker reports it as refused */
    uint32_t cpu_milli, gpus; /* what was reserved for it on this worker */
    uint64_t memory_bytes;
};

struct wire_assign {
    uint64_t epoch;
    struct tlv_list assignments; /* of wire_assignment */
};

enum wire_stop_cause {
    WIRE_STOP_CANCEL,
    WIRE_STOP_DEADLINE,
    WIRE_STOP_RUN_TIMEOUT,
    WIRE_STOP_DISPATCH_TIMEOUT,
    WIRE_STOP_DROP, /* it is not, or no longer, this worker's: kill, and say nothing */
    WIRE_STOP_COUNT
};

struct wire_stopped {
    struct wire_attempt attempt;
    uint8_t cause; /* enum wire_stop_cause */
    uint32_t grace_ms;
};

struct wire_stop_attempts {
    uint64_t epoch;
    struct tlv_list stops; /* of wire_stopped */
};

/* ---- from the worker ---- */

struct wire_attempts { /* started */
    struct tlv_list attempts; /* of wire_attempt */
};

struct wire_progress_item {
    struct wire_attempt attempt;
    uint32_t percent;
    struct slice text;
};

struct wire_progress {
    struct tlv_list items; /* of wire_progress_item */
};

struct wire_health_item {
    struct wire_attempt attempt;
    bool healthy;
    struct slice text; /* why not, by the last probe */
    uint32_t port;     /* its $PORT */
};

struct wire_health {
    struct tlv_list items; /* of wire_health_item */
};

struct wire_log_batch {
    struct wire_attempt attempt;
    struct tlv_list pieces; /* of wire_log_piece, by offset, without gaps */
};

struct wire_log {
    struct tlv_list batches; /* of wire_log_batch */
};

struct wire_log_mark {
    struct wire_attempt attempt;
    uint64_t offset; /* everything before it is durable */
};

struct wire_log_ack {
    struct tlv_list marks; /* of wire_log_mark */
};

enum wire_outcome {
    WIRE_OUTCOME_OK,
    WIRE_OUTCOME_EXIT,
    WIRE_OUTCOME_STOPPED,
    WIRE_OUTCOME_REFUSED,
    WIRE_OUTCOME_COUNT
};

enum wire_hit { WIRE_HIT_NONE, WIRE_HIT_MEMORY, WIRE_HIT_PIDS, WIRE_HIT_FILE_SIZE, WIRE_HIT_COUNT };

struct wire_end {
    struct wire_attempt attempt;
    uint8_t outcome; /* enum wire_outcome */
    uint32_t exit_code, signal;
    bool fatal;
    struct slice result;      /* JSON, small */
    struct slice result_hash; /* or: of a blob */
    uint64_t log_bytes, log_cut_bytes;
    struct slice reason;
    struct tlv_list artifacts; /* of wire_kept */
    int64_t started_ms, ended_ms; /* wall clock of the worker */
    uint64_t cpu_ms, memory_bytes_max;
    uint8_t hit;           /* enum wire_hit: which of its limits it ran into */
    uint32_t hit_count;    /* processes killed for their memory, forks refused */
    uint64_t throttled_ms; /* held back by its limit of cpu */
    struct slice unkept;   /* which limits this worker could not keep, or not in full: for people */
    uint32_t retry_after_ms; /* a failure: a server that it asked wants no further attempt before; 0 = does not say */
    uint64_t ended_ago_ms;   /* how long before this message was sent it ended; 0 = just now, or unknown */
};

struct wire_done {
    struct tlv_list ends; /* of wire_end */
};

struct wire_end_ack {
    struct wire_attempt attempt;
    struct slice code, message; /* empty = recorded; else it will never be */
    bool repeated;
};

struct wire_done_ack {
    uint64_t lsn;
    struct tlv_list acks; /* of wire_end_ack, in the order of the request */
};

extern const struct tlv_desc wire_attempt_desc, wire_held_desc, wire_worker_info_desc, wire_load_desc, wire_input_desc,
    wire_assignment_desc, wire_stopped_desc, wire_progress_item_desc, wire_health_item_desc, wire_log_batch_desc,
    wire_log_mark_desc, wire_end_desc, wire_end_ack_desc;
extern const struct tlv_desc wire_attach_desc, wire_attached_desc, wire_heartbeat_desc, wire_lease_desc,
    wire_detach_desc, wire_assign_desc, wire_stop_attempts_desc, wire_attempts_desc, wire_progress_desc,
    wire_health_desc, wire_log_desc, wire_log_ack_desc, wire_done_desc, wire_done_ack_desc;

#endif
