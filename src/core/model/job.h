/* job.h: the states of a job and the one table of moves between them. */
#ifndef REEVE_JOB_H
#define REEVE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#define JOB_STATE_TABLE(X)                                                                   \
    X(JOB_WAITING, "waiting", "for parents, a time, its children or a word from outside")    \
    X(JOB_HELD, "held", "before a question")                                                 \
    X(JOB_READY, "ready", "for a worker")                                                    \
    X(JOB_DISPATCHED, "dispatched", "given to a worker")                                     \
    X(JOB_RUNNING, "running", "the worker says so")                                          \
    X(JOB_CHECKING, "checking", "its output is being judged")                                \
    X(JOB_SUCCEEDED, "succeeded", "done well")                                               \
    X(JOB_FAILED, "failed", "done badly, see the cause")                                     \
    X(JOB_TIMED_OUT, "timed_out", "took or waited too long")                                 \
    X(JOB_CANCELLED, "cancelled", "by someone, or with its parent")                          \
    X(JOB_DENIED, "denied", "a verdict said no")                                             \
    X(JOB_QUARANTINED, "quarantined", "its output was judged unfit")                         \
    X(JOB_SKIPPED, "skipped", "not needed")

enum job_state {
#define X(state, word, text) state,
    JOB_STATE_TABLE(X)
#undef X
    JOB_STATE_COUNT
};

#define JOB_CAUSE_TABLE(X)                                                                   \
    X(CAUSE_NONE, "none")                                                                    \
    X(CAUSE_EXIT, "exit")           /* its process ended badly */                            \
    X(CAUSE_LOST, "lost")           /* its worker is gone */                                 \
    X(CAUSE_UPSTREAM, "upstream")   /* a parent did not succeed */                           \
    X(CAUSE_NO_WORKER, "no_worker") /* start_within ran out */                               \
    X(CAUSE_REJECTED, "rejected")   /* the worker could not start it */                      \
    X(CAUSE_DISPATCH, "dispatch")   /* it never started on its worker */                     \
    X(CAUSE_RUN_TIMEOUT, "run_timeout")                                                      \
    X(CAUSE_DEADLINE, "deadline")                                                            \
    X(CAUSE_VERDICT, "verdict")                                                              \
    X(CAUSE_NO_VERDICT, "no_verdict") /* nobody answered in time */                          \
    X(CAUSE_REQUEST, "request")     /* someone asked for it */                               \
    X(CAUSE_SAGA, "saga")           /* its flow failed fatally and is unwound */            \
    X(CAUSE_UNHEALTHY, "unhealthy") /* what it deployed did not become healthy in time */    \
    X(CAUSE_REPLACED, "replaced")   /* a later deployment of the same service came first */     \
    X(CAUSE_CHILDREN, "children")   /* more of its children ended badly than it allows */ \
    X(CAUSE_FLOW_TIMEOUT, "flow_timeout") /* the time of its flow was over */                   \
    X(CAUSE_OUTCOME, "outcome")     /* the main jobs came to another end than it waits for */

enum job_cause {
#define X(cause, word) cause,
    JOB_CAUSE_TABLE(X)
#undef X
    JOB_CAUSE_COUNT
};

/* How far a flow is in undoing what it did, after a fatal failure. */
#define UNWINDING_TABLE(X)                                                                   \
    X(UNWIND_NONE, "none")                                                                   \
    X(UNWIND_DUE, "due")                   /* cascades of before come first */               \
    X(UNWIND_STOPPING, "stopping")         /* until every job is over */                     \
    X(UNWIND_COMPENSATING, "compensating") /* one after the other, last entered first */     \
    X(UNWIND_DONE, "done")

enum unwinding {
#define X(unwinding, word) unwinding,
    UNWINDING_TABLE(X)
#undef X
    UNWIND_COUNT
};

const char *job_state_word(enum job_state s);
const char *job_cause_word(enum job_cause c);
extern const char *const job_state_words[];
extern const char *const job_cause_words[];
extern const char *const unwinding_words[];

static inline bool job_state_is_terminal(enum job_state s) {
    return s >= JOB_SUCCEEDED;
}
static inline bool job_state_is_active(enum job_state s) { /* holds a worker's slot */
    return s == JOB_DISPATCHED || s == JOB_RUNNING;
}

bool job_may_move(enum job_state from, enum job_state to);

/* Ended in a way that needs a person: on the dead-letter list until retried or discarded. */
static inline bool job_is_dead_letter(enum job_state s, enum job_cause c) {
    bool by_others = c == CAUSE_UPSTREAM || c == CAUSE_CHILDREN; /* those are on the list themselves */
    return (s == JOB_FAILED && !by_others) || s == JOB_TIMED_OUT || s == JOB_DENIED || s == JOB_QUARANTINED;
}

#endif
