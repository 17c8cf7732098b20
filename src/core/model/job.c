/* job.c: see job.h. The diagram of README.md as a table. */
#include "job.h"

#include "effect.h"
#include "panic.h"

const char *const job_state_words[JOB_STATE_COUNT] = {
#define X(state, word, text) [state] = word,
    JOB_STATE_TABLE(X)
#undef X
};

const char *const job_cause_words[JOB_CAUSE_COUNT] = {
#define X(cause, word) [cause] = word,
    JOB_CAUSE_TABLE(X)
#undef X
};

const char *const unwinding_words[UNWIND_COUNT] = {
#define X(unwinding, word) [unwinding] = word,
    UNWINDING_TABLE(X)
#undef X
};

const char *const flow_state_words[FLOW_STATE_COUNT] = {"running", "succeeded", "failed", "cancelled"};

const char *job_state_word(enum job_state s) {
    REQUIRE((unsigned)s < JOB_STATE_COUNT);
    return job_state_words[s];
}

const char *job_cause_word(enum job_cause c) {
    REQUIRE((unsigned)c < JOB_CAUSE_COUNT);
    return job_cause_words[c];
}

#define TO(state) (1u << (state))
/* Ends that can come over a job that has not started. */
#define UNSTARTED_ENDS (TO(JOB_FAILED) | TO(JOB_TIMED_OUT) | TO(JOB_CANCELLED) | TO(JOB_SKIPPED))

static const uint32_t moves[JOB_STATE_COUNT] = {
    /* a barrier succeeds without ever being ready; an external job between two attempts, by a word from outside */
    [JOB_WAITING] = TO(JOB_HELD) | TO(JOB_READY) | TO(JOB_CHECKING) | TO(JOB_SUCCEEDED) | UNSTARTED_ENDS,
    /* a gate succeeds by its verdict; a foreach job waits for its children */
    [JOB_HELD] = TO(JOB_READY) | TO(JOB_WAITING) | TO(JOB_SUCCEEDED) | TO(JOB_DENIED) | UNSTARTED_ENDS,
    /* the policy that let it pass is no longer in force; a result that was kept makes an attempt needless */
    [JOB_READY] = TO(JOB_DISPATCHED) | TO(JOB_HELD) | TO(JOB_CHECKING) | TO(JOB_SUCCEEDED) | UNSTARTED_ENDS,
    /* the word that it started may be lost: its end says so as well */
    [JOB_DISPATCHED] = TO(JOB_RUNNING) | TO(JOB_CHECKING) | TO(JOB_SUCCEEDED) | TO(JOB_WAITING) | TO(JOB_FAILED) |
                       TO(JOB_TIMED_OUT) | TO(JOB_CANCELLED),
    [JOB_RUNNING] =
        TO(JOB_CHECKING) | TO(JOB_SUCCEEDED) | TO(JOB_WAITING) | TO(JOB_FAILED) | TO(JOB_TIMED_OUT) | TO(JOB_CANCELLED),
    [JOB_CHECKING] = TO(JOB_SUCCEEDED) | TO(JOB_DENIED) | TO(JOB_QUARANTINED) | TO(JOB_TIMED_OUT) | TO(JOB_CANCELLED),
    /* a job that follows the main ones runs again when they do */
    [JOB_SUCCEEDED] = TO(JOB_QUARANTINED) | TO(JOB_WAITING),
    /* retry and rerun */
    [JOB_FAILED] = TO(JOB_WAITING),
    [JOB_TIMED_OUT] = TO(JOB_WAITING),
    [JOB_CANCELLED] = TO(JOB_WAITING),
    [JOB_DENIED] = TO(JOB_WAITING),
    [JOB_QUARANTINED] = TO(JOB_WAITING),
    [JOB_SKIPPED] = TO(JOB_WAITING),
};

bool job_may_move(enum job_state from, enum job_state to) {
    REQUIRE((unsigned)from < JOB_STATE_COUNT);
    REQUIRE((unsigned)to < JOB_STATE_COUNT);
    return (moves[from] & TO(to)) != 0;
}
