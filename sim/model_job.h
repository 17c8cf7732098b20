/* model_job.h: what the second model remembers. Flows in an array, jobs in an array per flow; nothing is an index.
 *
 * Flows are never removed: a forgotten flow keeps its jobs, because what was said of them may be looked up again. */
#ifndef REEVE_MODEL_JOB_H
#define REEVE_MODEL_JOB_H

#include <stddef.h>

#include "trace.h"

struct model_text { /* a copy of trace_bytes */
    uint8_t *at;
    uint32_t len;
};

struct model_key {
    bool is;
    uint8_t at[32];
};

struct model_job {
    /* What it is. Arrays are copies. */
    struct trace_job spec;         /* without `foreign`; `undo` is a copy too */
    struct trace_foreign *foreign; /* `seen` is filled in when the parent first ends, and stays */
    int64_t submit_ms;
    uint32_t undoes; /* ordinal of the job it is the compensation of; TRACE_NO_JOB */
    bool entered;    /* its compensation is to run when the flow unwinds */
    struct model_key first_key; /* as submitted */
    struct model_key key;       /* that, or of its rendered spec */
    uint64_t from_flow;         /* whose result it was given; 0 = nobody's */
    uint32_t from_ordinal;

    /* What it went through. */
    enum trace_state state;
    enum trace_cause cause;
    int64_t since_ms;
    uint32_t attempt;
    uint32_t used;
    enum trace_stop stop;
    uint32_t root;  /* ordinal, TRACE_NO_JOB */
    bool discarded;

    /* How far it is on its way to READY. Forgotten when it is reset. */
    bool past_parents;
    bool waits_for_time;
    int64_t due_least_ms, due_most_ms; /* while waits_for_time */
    uint32_t gates_asked;  /* TRACE_GATE_BITs: what the job asks for and what a verdict added */
    uint32_t gates_passed;
    bool has_question;
    enum trace_gate gate;
    uint32_t revision;
    struct model_text *votes;
    uint32_t vote_count;
};

struct model_flow {
    uint64_t id;
    struct model_text submitter;
    struct model_text tenant;
    bool more;
    bool cancelled; /* no more jobs may be added */
    bool paused;
    bool forgotten;
    uint64_t touched_lsn; /* of the last record that could have ended it */
    bool stepped; /* a consequence took several records: the moment it reached a job is not known */
    struct model_job *jobs;
    uint32_t job_count;
    enum trace_unwinding unwinding;
    uint32_t *entered; /* ordinals in the order of their success */
    uint32_t entered_count;
};

struct model_made { /* a compensation that has become a job */
    uint64_t flow;
    uint32_t ordinal;
};

struct model_room { /* what a tenant may have queued; 0 = no limit */
    struct model_text tenant;
    uint64_t queued, bytes;
};
struct model_schedule; /* model_schedule.c */
struct model_memo;     /* model_memo.c */

struct model {
    struct model_flow *flows;
    uint32_t flow_count;
    struct model_room *rooms;
    uint32_t room_count;
    uint64_t lsn;
    int64_t time_ms; /* of the record at hand */
    struct model_made *made; /* and not yet told */
    uint32_t made_count;
    struct model_schedule *schedules;
    uint32_t schedule_count;
    struct model_memo *memos; /* oldest first */
    uint32_t memo_count;
};

struct model_flow *model_flow_find(const struct model *m, uint64_t id); /* also a forgotten one; NULL */
struct model_job *model_job_find(const struct model *m, uint64_t flow, uint32_t ordinal);

struct model_text model_text_copy(struct trace_bytes b);
struct model_key model_key_of(struct trace_bytes b);
struct model_flow *model_flow_push(struct model *m, uint64_t id, struct trace_bytes submitter,
                                   struct trace_bytes tenant);
void model_job_push(struct model_flow *f, const struct trace_job *spec, int64_t time_ms);

bool model_job_has_voted(const struct model_job *j, struct trace_bytes who);
void model_job_vote(struct model_job *j, struct trace_bytes who);
void model_job_votes_clear(struct model_job *j);

/* As if it had just been submitted, but for its attempt number. */
void model_job_reset(struct model_job *j, int64_t time_ms);

/* Its deadline has come, by the time of the last record, and it neither ended nor was told to stop. */
bool model_job_is_overdue(const struct model *m, const struct model_job *j);
bool model_job_is_unstarted(const struct model_job *j);
bool model_job_is_active(const struct model_job *j);
bool model_job_is_dead(const struct model_job *j);       /* by its end: may be retried */
bool model_job_is_dead_letter(const struct model_job *j); /* and nobody put it away */

void model_flows_free(struct model *m);

#endif
