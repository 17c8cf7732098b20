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

struct model_drain {
    struct model_text worker;
    bool own; /* said by the worker itself: over when it attaches anew */
};

struct model_key {
    bool is;
    uint8_t at[32];
};

struct model_job {
    /* What it is. Arrays are copies. */
    struct trace_job spec;         /* without `foreign`; `undo` and `runner` are copies too */
    struct trace_foreign *foreign; /* `seen` is filled in when the parent first ends, and stays */
    int64_t submit_ms;
    uint32_t undoes; /* ordinal of the job it is the compensation of; TRACE_NO_JOB */
    bool entered;    /* its compensation is to run when the flow unwinds */
    struct model_key first_key; /* as submitted */
    struct model_key key;       /* that, or of its rendered spec */
    uint64_t from_flow;         /* whose result it was given; 0 = nobody's */
    uint32_t from_ordinal;

    /* A foreach job that got its items, and its children: all of them, from the beginning. */
    struct model_job *children;
    uint32_t child_count, first_child;
    bool is_open;                /* past its questions and not over: it waits for its children */
    enum trace_cause called_off; /* why no more children begin; TC_NONE */
    uint32_t child_of;           /* of a child: ordinal of its foreach job; TRACE_NO_JOB */

    /* What it went through. */
    enum trace_state state;
    enum trace_cause cause;
    int64_t since_ms;
    uint32_t attempt;
    uint32_t used;
    enum trace_stop stop;
    uint32_t root;  /* ordinal, TRACE_NO_JOB */
    bool discarded;
    struct model_text worker; /* of the last attempt of a version of a service */
    bool behind; /* a version of a service that waits for another one to stop */

    /* How far it is on its way to READY. Forgotten when it is reset. */
    bool past_parents; /* of a child: it had its turn */
    bool has_begun;    /* of a child: it once had */
    bool waits_for_time;
    int64_t due_least_ms, due_most_ms; /* while waits_for_time */
    uint32_t gates_asked;  /* TRACE_GATE_BITs: what the job asks for and what a verdict added */
    uint32_t gates_passed;
    uint64_t grant; /* version of the policy that let it pass; 0 = before any was told */
    uint32_t begun;    /* of a job that calls: the attempt that began what is done outside; 0 = none */
    uint32_t polls;
    int64_t until_ms;  /* while begun */
    uint8_t word;      /* said while an attempt was open: 0 nothing, 1 done, 2 failed */
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
    struct model_text source; /* hash of the file that it was made from */
    bool more;
    bool cancelled; /* no more jobs may be added */
    bool paused;
    bool of_service; /* it is a version of a service */
    bool forgotten;
    uint64_t touched_lsn; /* of the last record that could have ended it */
    bool stepped; /* a consequence took several records: the moment it reached a job is not known */
    struct model_job *jobs;
    uint32_t job_count;
    enum trace_unwinding unwinding;
    int64_t timeout_ms, deadline_ms; /* 0 = none */
    int64_t began_ms;                /* since when the timeout counts */
    bool has_stages;                 /* it has a timeout, a deadline, or jobs behind the main ones */
    enum trace_stage stage, called;
    bool timed_out, late;
    bool undo_failures;    /* every failure starts its compensations … */
    bool has_failure_news; /* … since the last look: a job failed or timed out, or a compensation was entered */
    uint32_t *entered; /* ordinals in the order of their success */
    uint32_t entered_count;
};

struct model_made { /* a compensation that has become a job */
    uint64_t flow;
    uint32_t ordinal;
};

struct model_deployed {
    uint64_t version; /* flow */
    struct model_made by; /* flow 0 = nobody: its set was scaled */
};

struct model_version {
    uint64_t flow;
    struct model_made by; /* the job that deployed it */
    enum trace_version_state state;
    const struct trace_job *runner; /* as it was deployed */
    bool gone;
};

struct model_service {
    struct model_text tenant, name;
    enum trace_desired desired;
    uint64_t current, previous; /* flows; 0 = none */
    bool deploying;
    struct model_made by; /* the job that deploys */
    int64_t deployed_ms;
    bool healthy;
    int64_t since_ms;
    bool overlaps; /* the previous version runs on beside the current one, and this is how it fares */
    bool previous_healthy;
    int64_t previous_since_ms;
    struct model_version *versions; /* all there ever were */
    uint32_t version_count;
    bool gone;
};

struct model_room { /* what a tenant may have queued; 0 = no limit */
    struct model_text tenant;
    uint64_t queued, bytes;
};
struct model_schedule; /* model_schedule.c */
struct model_memo;     /* model_memo.c */
struct model_identity; /* model_identity.c */

struct model {
    struct model_flow *flows;
    uint32_t flow_count;
    struct model_room *rooms;
    uint32_t room_count;
    uint64_t lsn;
    int64_t time_ms; /* of the record at hand */
    uint64_t policy; /* version in force, 0 = none was told */
    uint64_t checkpoint, checkpoint_upto; /* number of the newest, and how far it goes; 0 = there is none */
    struct model_identity *identity;
    struct model_made *made; /* and not yet told */
    uint32_t made_count;
    struct model_service *services;
    uint32_t service_count;
    struct model_made *deploys; /* jobs that deploy when the record is through */
    uint32_t deploy_count;
    struct model_deployed *made_versions; /* and not yet told */
    uint32_t made_version_count;
    struct model_drain *drains; /* workers that drain */
    uint32_t drain_count;
    struct model_schedule *schedules;
    uint32_t schedule_count;
    struct model_memo *memos; /* oldest first */
    uint32_t memo_count;
    struct model_value *values; /* of the tenants' own keys of the store */
    uint32_t value_count;
};

struct model_flow *model_flow_find(const struct model *m, uint64_t id); /* also a forgotten one; NULL */
struct model_job *model_job_find(const struct model *m, uint64_t flow, uint32_t ordinal);

bool model_clock(struct model *m, const struct trace_clock *r, char *text); /* model_clock.c */
struct model_text model_text_copy(struct trace_bytes b);
struct model_key model_key_of(struct trace_bytes b);
struct model_flow *model_flow_push(struct model *m, uint64_t id, struct trace_bytes submitter,
                                   struct trace_bytes tenant);
void model_job_push(struct model_flow *f, const struct trace_job *spec, int64_t time_ms);

void model_job_expand(struct model_flow *f, struct model_job *j, uint32_t count, int64_t time_ms);

bool model_job_has_voted(const struct model_job *j, struct trace_bytes who);
void model_job_vote(struct model_job *j, struct trace_bytes who);
void model_job_votes_clear(struct model_job *j);

/* What it is asked before anybody asks for more. */
/* When it must be over: its deadline, or the end of what was begun outside; 0 = never. */
int64_t model_job_deadline(const struct model_job *j);
uint32_t model_job_gates(const struct trace_job *spec);
/* The policy that let it pass is no longer in force. */
bool model_job_has_lapsed(const struct model *m, const struct model_job *j);

/* As if it had just been submitted, but for its attempt number. */
void model_job_reset(struct model_job *j, int64_t time_ms);

/* Its deadline has come, by the time of the last record, and it neither ended nor was told to stop. */
bool model_job_is_overdue(const struct model *m, const struct model_job *j);
bool model_job_is_unstarted(const struct model_job *j);
bool model_job_is_active(const struct model_job *j);
bool model_job_is_dead(const struct model_job *j);       /* by its end: may be retried */
bool model_job_is_dead_letter(const struct model_job *j); /* and nobody put it away */

void model_flows_free(struct model *m);

/* Writes why a record does not fit into `text` (MODEL_TEXT_BYTES); false, for the caller to return. */
bool model_object(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
