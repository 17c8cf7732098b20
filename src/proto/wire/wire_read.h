/* wire_read.h: messages that look and change nothing: one thing, lists, reasons, events, logs, numbers.
 *
 * States, causes and reasons are words here, not numbers: an older client prints what a newer server says. Lists come
 * in pages; the cursor of a page is opaque, and empty when there is no next one. */
#ifndef REEVE_WIRE_READ_H
#define REEVE_WIRE_READ_H

#include "wire_session.h"

/* ---- what is shown ---- */

struct wire_flow_view {
    struct slice flow; /* its id */
    struct slice name, state, principal, tenant;
    bool paused, more, cancelling;
    struct slice unwinding;
    int64_t created_ms, finished_ms;
    uint32_t job_count;
    struct tlv_list states; /* of wire_amount: jobs in each state that has any */
    struct tlv_list labels; /* of wire_pair */
    bool archived;          /* it has left memory and comes from the history */
    struct slice schedule;  /* that made it; empty = a submit did */
    int64_t slot_ms;        /* for this slot of it */
    struct slice trigger;   /* the key of the store that started it; empty = none did */
    struct slice slot;      /* the same, as its zone writes it: 2026-03-29T02:30:00+01:00 */
    uint32_t compensations_not_run; /* of a flow that is over: jobs that succeeded and were not undone … */
    struct slice not_run_because;   /* … and why; empty while the count is 0 */
    uint32_t upstream_failed; /* of the failed jobs: those that failed only because of another */
    struct slice params;      /* as they were given: a JSON object */
    struct slice source_name; /* of the file it was submitted from */
    uint64_t source_bytes;    /* of that file; 0 = not known */
    struct slice source;      /* hash of the blob that keeps it; empty = it is not kept */
    struct slice again_of;    /* the flow whose file this one ran again */
    struct slice stage;       /* of one with jobs behind its main ones: main, on_success, on_failure, finally, over */
    struct slice called;      /* on_success or on_failure, once the main jobs are over */
    bool timed_out, late;
    int64_t timeout_at_ms, deadline_ms; /* when its time is over, and from when on it is late; 0 = never */
};

struct wire_attempt_view {
    uint32_t attempt;
    struct slice worker, outcome;
    uint32_t exit_code, signal;
    int64_t assigned_ms, started_ms, ended_ms;
    uint64_t log_bytes, log_cut_bytes;
    struct slice reason;
    struct tlv_list artifacts; /* of wire_kept */
    uint64_t cpu_ms, memory_bytes_max;
    struct slice hit;      /* which of its limits it ran into; empty = none */
    uint32_t hit_count;    /* processes killed for their memory, forks refused */
    uint64_t throttled_ms; /* held back by its limit of cpu */
    struct slice unkept;   /* which of its limits were not kept, or not in full: for people */
};

struct wire_job_view {
    struct slice job; /* flow/name */
    struct slice state, cause, kind;
    uint32_t attempt, attempts_max;
    int64_t since_ms, due_ms;
    struct slice worker, pool;
    uint64_t question;
    struct slice root; /* the job that dragged it down */
    bool dead_letter;
    uint32_t percent;
    uint32_t exit_code, signal;
    struct slice reason;
    struct slice result, result_hash;
    struct tlv_list parents;  /* of wire_name; with details */
    struct slice body;        /* a `run` message; with details */
    struct slice body_hash;
    struct tlv_list attempts; /* of wire_attempt_view; with details */
    struct tlv_list artifacts; /* of wire_kept: what it left when it succeeded; with details */
    uint32_t items;            /* of a foreach job that got them: how many; so the next three */
    uint32_t items_begun, items_open, items_bad; /* that began, of these under way, and that ended badly */
    int64_t started_ms, ended_ms; /* of its last attempt; 0 = not yet */
    struct slice stage;           /* of a job behind the main ones: on_success, on_failure, finally */
    struct slice code, waits_for; /* as `why` tells it; in lists that were asked for reasons */
};

/* It never ran: a job that it needs failed. */
static inline bool wire_is_upstream_failed(const struct wire_job_view *v) {
    return slice_eq(v->state, SLICE("failed")) && slice_eq(v->cause, SLICE("upstream"));
}

struct wire_question_view {
    uint64_t question;
    uint32_t revision;
    struct slice gate, job;
    struct slice hash; /* of what is to be decided on */
    int64_t asked_ms, deadline_ms;
    uint32_t votes, quorum;
    bool four_eyes;
    struct slice role;
    struct slice body; /* what is to be decided on: a rendered `run` message */
};

struct wire_worker_view {
    struct slice worker;
    uint64_t incarnation;
    struct slice pool, build;
    bool attached, draining, permanent;
    uint32_t slots, active;
    uint32_t cpu_percent, gpu_percent;
    struct tlv_list capabilities; /* of wire_name */
    struct tlv_list labels;       /* of wire_pair */
    int64_t seen_ms;
    struct slice tenant; /* that it serves; empty = all */
    /* What it offers to attempts that ask for a share, and what of it is taken. */
    uint32_t cpu_milli, cpu_milli_taken;
    uint64_t memory_bytes, memory_bytes_taken;
    uint32_t gpus, gpus_taken;
    struct tlv_list resources, resources_taken; /* of wire_amount */
};

/* ---- messages ---- */

struct wire_get {
    struct slice target;
    bool details; /* of a flow: its jobs; of a job: spec and attempts */
};

struct wire_got {
    uint64_t lsn;
    struct wire_flow_view flow;
    struct tlv_list jobs; /* of wire_job_view; the one job, or a part of the jobs of the flow: more frames follow */
};

enum wire_list_what {
    WIRE_LIST_FLOWS,
    WIRE_LIST_JOBS,
    WIRE_LIST_DEAD, /* the dead letters */
    WIRE_LIST_QUESTIONS,
    WIRE_LIST_WORKERS,
    WIRE_LIST_RUNNING, /* the jobs that the worker `name` holds */
    WIRE_LIST_WORKER,  /* the worker `name` alone */
    WIRE_LIST_COUNT
};

struct wire_list {
    uint8_t what; /* enum wire_list_what */
    uint32_t most; /* things on a page; 0 = the standard */
    struct slice cursor;
    struct slice flow;      /* only of this one */
    struct slice name;      /* begins with */
    struct tlv_list states; /* of wire_name: one of these */
    struct tlv_list labels; /* of wire_pair: all of these */
    int64_t since_ms, until_ms;
    struct slice text; /* in names, labels and error texts */
    bool graph;            /* of jobs: with parents and attempts, without results */
    struct slice items_of; /* of jobs: the items of this foreach job in place of the flow's own */
    struct slice job; /* of flows: only such as have a job of this name; what has left memory may only look like it */
    struct slice label; /* of flows: only such as have a label of that name, whatever its value */
    bool newest; /* of dead letters: the newest first */
    struct slice schedule; /* of flows: only those that this schedule made */
    bool items; /* of jobs: behind each foreach job its items */
    bool reasons; /* of jobs: why those that do not run wait */
    bool apart; /* of jobs: the state `failed` is without WIRE_UPSTREAM_FAILED */
};

#define WIRE_UPSTREAM_FAILED "upstream_failed" /* in `states`: failed only because of another job */

struct wire_listed {
    uint64_t lsn;
    struct slice cursor;
    struct tlv_list flows;     /* of wire_flow_view */
    struct tlv_list jobs;      /* of wire_job_view */
    struct tlv_list questions; /* of wire_question_view */
    struct tlv_list workers;   /* of wire_worker_view */
    bool partial; /* of flows: the history is being made anew, old ones may be missing yet */
};

struct wire_why {
    struct slice job;
};

struct wire_reason {
    uint64_t lsn;
    struct slice job, state;
    struct slice code, text; /* the one reason, as a word and as a sentence */
    uint32_t parents_open;
    struct slice parent; /* that it waits for; of one that failed because of another, that one */
    int64_t until_ms; /* when it ends by itself; 0 = never */
    struct slice limit;
    uint64_t question;
    struct slice worker;
    struct slice gate; /* with a question: what it is about */
    int64_t poll_ms; /* outside: when it is asked how it is */
};

struct wire_wait {
    struct tlv_list targets; /* of wire_name */
    bool any;                /* the first that is over suffices */
    int64_t timeout_ms;      /* 0 = for ever */
};

struct wire_waited { /* one frame whenever something is over; the last one without FRAME_MORE */
    uint64_t lsn;
    struct tlv_list over; /* of wire_job_view; of a flow: its id and state */
    bool timed_out;
};

/* Deprecated: `follow` has all of it. What is no longer in memory is a gap. */
struct wire_subscribe {
    uint64_t after_lsn; /* events behind this one; 0 with `from_start` unset = from now on */
    uint32_t after_ordinal;
    bool from_start;     /* as far back as memory reaches */
    struct tlv_list targets; /* of wire_name: only of these */
    bool state_first;    /* begins with the present state as events */
};

struct wire_event {
    uint64_t lsn;
    uint32_t ordinal;
    struct slice kind; /* flow, job, worker, service */
    int64_t time_ms;
    struct slice target; /* flow, job, worker or service */
    struct slice from, to, cause;
    uint32_t attempt;
    struct slice worker;
    int64_t due_ms;
    struct slice schedule; /* of a flow that a schedule made */
    int64_t slot_ms;
};

struct wire_events {
    struct tlv_list events; /* of wire_event */
    bool gap; /* some before these are no longer to be had, or this client was too slow */
};

/* Events from a position on, as long as the connection lives, also such as are no longer in memory. */
struct wire_follow {
    struct slice since;   /* "LSN.ORDINAL": behind this event; empty = from now on */
    struct slice flow, job; /* only of this one; at most one of them is said */
    struct tlv_list type; /* of wire_name: flow, job, worker, service, metrics; none = all */
    bool once;            /* up to the present, then it ends */
    struct tlv_list targets; /* of wire_name: only of these flows and jobs, in place of `flow` and `job` */
    bool state_first;     /* begins with the present state of the jobs that were named, as events */
};

/* What happened to a flow, from its birth on. */
struct wire_tale {
    struct slice flow;
    struct slice since; /* behind this event */
    uint32_t most;      /* events; 0 = as many as one answer may have */
};

struct wire_told {
    uint64_t lsn;
    struct tlv_list events; /* of wire_event */
    struct slice cursor;    /* there are more: to be sent as `since` */
    bool gap;               /* the archive no longer has the beginning */
};

struct wire_logs {
    struct slice job;
    uint32_t attempt; /* 0 = the last */
    uint64_t offset;
    uint64_t tail_bytes; /* in place of the offset: this many from the end */
    uint64_t most;       /* bytes; 0 = all */
    bool follow;
    bool now; /* what there is now and no more; the answer says how much that is. Nothing is followed */
    bool marks; /* HTTP: for each piece where it begins, its length, stream and time, in place of its bytes */
};

struct wire_log_data {
    uint32_t attempt;
    struct tlv_list pieces; /* of wire_log_piece */
    uint64_t cut_bytes;     /* left out of the log for its length */
    bool over;              /* the attempt has ended and this was all */
    struct slice job;       /* following a service: whose attempt it is; another version is another job */
    uint64_t bytes;         /* of the log when it was asked for, with `now` */
};

struct wire_stats {
    uint64_t lsn;
    struct tlv_list numbers; /* of wire_amount */
};

/* Counters over time: a sample each minute, of the last day, as far as this server remembers it. */
struct wire_stats_past {
    int64_t since_ms; /* wall time; 0 = all there are */
    uint64_t step_ms; /* samples are at least this far apart */
};

struct wire_sample {
    int64_t time_ms;
    struct tlv_list numbers; /* of wire_amount: those of `stats` that a chart shows */
};

struct wire_numbers_past {
    uint64_t lsn;
    struct tlv_list samples; /* of wire_sample; the oldest first, the last is of now */
};

#define WIRE_METRICS_MAX (1u << 20)
struct wire_metrics {
    uint64_t lsn;
    struct slice text; /* as Prometheus reads it, text format 0.0.4 */
};

struct wire_empty { /* a request without fields */
    bool unused;
};

extern const struct tlv_desc wire_flow_view_desc, wire_attempt_view_desc, wire_job_view_desc, wire_question_view_desc,
    wire_worker_view_desc, wire_event_desc;
extern const struct tlv_desc wire_get_desc, wire_got_desc, wire_list_desc, wire_listed_desc, wire_why_desc,
    wire_reason_desc, wire_wait_desc, wire_waited_desc, wire_subscribe_desc, wire_events_desc, wire_follow_desc,
    wire_tale_desc, wire_told_desc, wire_logs_desc, wire_log_data_desc, wire_stats_desc, wire_stats_past_desc,
    wire_sample_desc, wire_numbers_past_desc, wire_metrics_desc, wire_empty_desc;

#endif
