/* check_history.h: the records of a run as the checkers need them: flows, jobs, attempts, and which of that survived.
 *
 * It believes every record and judges nothing. A restart takes back what was recorded behind the head that was
 * recovered. The checkers share one history; each sees it as it was before the entry at hand. */
#ifndef REEVE_CHECK_HISTORY_H
#define REEVE_CHECK_HISTORY_H

#include <stddef.h>

#include "trace.h"

#define CHECK_TEXT_BYTES 320

struct check_bytes { /* a copy of trace_bytes */
    uint8_t *at;
    uint32_t len;
};

struct check_amount {
    struct check_bytes name;
    uint64_t amount;
};

struct check_attempt {
    uint32_t attempt;
    struct check_bytes worker;
    uint64_t incarnation;
    uint64_t assigned_lsn;
    uint64_t ended_lsn; /* 0 = open */
    enum trace_outcome outcome;
    bool again; /* it ended well, and its job is not over */
};

struct check_job {
    uint64_t lsn;
    struct check_bytes name;
    bool has_undo;
    uint32_t undoes; /* ordinal of the job it is the compensation of; TRACE_NO_JOB */
    enum trace_job_kind kind;
    enum trace_trigger trigger;
    enum trace_stage stage;
    uint32_t retries, free_losses;
    uint32_t gates; /* TRACE_GATE_BITs */
    bool exclusive;
    uint32_t cpu_milli, gpus;
    uint64_t memory_bytes;
    struct check_amount *resources;
    uint32_t resource_count;
    struct check_bytes *keys, *rates;
    uint32_t key_count, rate_count;
    uint32_t *parents;
    uint32_t parent_count;
    struct trace_foreign *foreign;
    uint32_t foreign_count;
    struct check_attempt *attempts;
    uint32_t attempt_count;
    /* A foreach job, and its children once it got its items. */
    struct check_job *child; /* what each of them is; NULL = it is no foreach job */
    uint32_t max_parallel, allow_count, allow_percent;
    struct check_job *children; /* everything but their attempts belongs to `child` */
    uint32_t child_count, first_child;
    uint64_t expanded_lsn; /* 0 = no items yet */
    uint32_t child_of;     /* of a child: ordinal of its foreach job; TRACE_NO_JOB */
    struct check_bytes cache_key; /* as submitted */
    bool is_rekeyed;              /* its rendered spec brought another */
    uint64_t told_lsn; /* someone outside has said that it is done; 0 = nobody */
    uint64_t given_lsn;           /* when it was given a result, last; 0 = never */
    uint64_t from_flow;           /* whose */
    uint32_t from_ordinal;
};

struct check_flow {
    uint64_t id;
    uint64_t lsn;
    uint64_t forgotten_lsn; /* 0 = still there */
    struct check_bytes tenant, key, key_hash, source;
    int64_t key_expires_ms;
    uint64_t key_gone_lsn; /* 0 = its key is alive */
    uint32_t first_count;  /* jobs in the submit */
    struct check_job *jobs;
    uint32_t job_count;
    uint64_t *resets; /* LSNs of its retries and reruns: each gives new budgets */
    uint32_t reset_count;
    uint64_t *agains; /* LSNs of records that may have begun its main jobs again: retries and reruns of main jobs, and
                         late verdicts that undo what was over */
    uint32_t again_count;
    uint64_t *cancels; /* LSNs of its cancels, as a whole or of one job */
    uint32_t cancel_count;
    struct check_bytes service; /* a version of it; len 0 = none */
    uint64_t by_flow;           /* … deployed by this job */
    uint32_t by_ordinal;
};

struct check_history {
    struct check_flow *flows;
    uint32_t flow_count;
    uint64_t lsn;
    uint64_t durable_lsn;
    uint64_t epoch;
};

void check_history_init(struct check_history *h);
void check_history_fini(struct check_history *h);
void check_history_entry(struct check_history *h, const struct trace_entry *e);

struct check_flow *check_history_flow(const struct check_history *h, uint64_t id);
struct check_job *check_history_job(const struct check_history *h, uint64_t flow, uint32_t ordinal);
struct check_attempt *check_history_attempt(const struct check_history *h, uint64_t flow, uint32_t ordinal,
                                            uint32_t attempt);
/* All jobs of a flow, children included, one after the other; NULL behind the last. */
struct check_job *check_history_at(const struct check_flow *f, uint32_t position);
/* The flow that a key stood for when the record `lsn` was the last; NULL = none. */
const struct check_flow *check_history_key(const struct check_history *h, struct trace_bytes tenant,
                                           struct trace_bytes key, uint64_t lsn);
/* Whether the flow was reset by a record in (after, upto]. */
bool check_history_was_reset(const struct check_flow *f, uint64_t after, uint64_t upto);

struct check_bytes check_bytes_copy(struct trace_bytes b);
bool check_bytes_equal(struct check_bytes a, struct trace_bytes b);

/* Writes the objection and returns false, so that objecting is one statement. */
bool check_object(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Room for one more in an array of anything. */
void *check_grow(void *array, uint32_t count, size_t elem_bytes);

#endif
