/* tally.c: see tally.h. Part of apply. */
#include "tally.h"

#include "panic.h"
#include "state.h"

const uint32_t tally_bounds_ms[TALLY_BOUND_COUNT] = {1,    2,    5,    10,    25,    50,    100,    250,     500,
                                                     1000, 2500, 5000, 10000, 30000, 60000, 300000, 1800000, 3600000};

void tally_add(struct state *s, const struct flow *f, enum tally what, uint64_t n) {
    REQUIRE((unsigned)what < TALLY_COUNT);
    if (f->rules >= TALLY_RULES) s->tally[what] += n;
}

void tally_time(struct state *s, const struct flow *f, enum tally spread, int64_t ms) {
    REQUIRE(spread >= TALLY_WAIT);
    REQUIRE(ms >= 0);
    if (f->rules < TALLY_RULES) return;
    uint32_t i = 0;
    while (i < TALLY_BOUND_COUNT && ms > (int64_t)tally_bounds_ms[i]) i++;
    s->tally[spread] += (uint64_t)ms;
    s->tally[spread + 1u + i]++;
}

static bool is_compensation(const struct state *s, const struct job *j) {
    return j->extra && extra_at(s, j->extra)->undoes;
}

void tally_move(struct state *s, const struct job *j, enum job_state to, enum job_cause cause, wall_time over) {
    const struct flow *f = flow_at(s, j->flow);
    enum job_state from = j->state;
    int64_t ms = over.ms - j->since.ms;
    if (f->rules < TALLY_RULES) return;
    s->tally[TALLY_ENTERED + to]++;
    if (to == JOB_DISPATCHED) tally_time(s, f, TALLY_WAIT, ms);
    if (to == JOB_RUNNING) tally_time(s, f, TALLY_DISPATCH, ms);
    /* the word that it started may be lost: then it ran since it was assigned */
    if (job_state_is_active(from) && to != JOB_RUNNING) {
        tally_time(s, f, TALLY_RUN, ms);
        if (to == JOB_WAITING && cause != CAUSE_NONE) s->tally[TALLY_RETRIES]++;
    }
    if (job_is_dead_letter(to, cause) && is_compensation(s, j)) s->tally[TALLY_COMPENSATIONS_FAILED]++;
}
