/* finale.c: see finale.h.
 *
 * A worked example: `build` is the main job and has a compensation, `tell` is on_failure, `cheer` on_success, and
 * `clean` finally.
 *
 *      SUBMITTED          build READY; tell, cheer and clean WAITING, held                       stage main
 *      ENDED build exit   build FAILED, fatally: the flow unwinds; nothing is open; nothing was entered
 *                         the main jobs are over, and failed: called = on_failure                 stage on_failure
 *                         sweep: tell is judged and READY; cheer is SKIPPED (outcome)
 *      ENDED tell ok      nothing of the stage is open                                            stage finally
 *                         sweep: clean is judged and READY
 *      ENDED clean ok                                                                             stage over
 *                         check_end: the flow is FAILED
 *      RETRIED build      build, tell, cheer and clean are WAITING again; the last three held     stage main
 *
 * A held job is WAITING with one open parent, the stage. Its own parents are looked at when its stage begins, all of
 * them: they are of the same stage, so none of them can have gone ahead.
 *
 * Guarantees: a stage begins once for each end of the main jobs, after nothing of the stage before is open; of
 * on_success and on_failure one begins at most; `finally` is passed over by no end, no cancel and no unwinding. What
 * comes next follows from `stage`, `called` and the states of jobs, which are facts.
 *
 * Must not: look at the jobs of a flow one by one, but in a sweep. */
#include "finale.h"

#include "effects.h"
#include "flow.h"
#include "job_transition.h"
#include "min.h"
#include "mutant.h"
#include "panic.h"
#include "propagate.h"
#include "saga.h"
#include "timer.h"

void finale_make(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    if (f->finale) return;
    f->finale = pool_alloc(&s->finales);
    ENSURE(f->finale != 0);
    struct finale *x = finale_at(s, f->finale);
    x->flow = flow;
    x->began = s->now;
}

void finale_free(struct state *s, struct flow *f) {
    if (f->finale == 0) return;
    timer_set(s, TIMER_FLOW, f->finale, (wall_time){TIME_NEVER});
    finale_at(s, f->finale)->flow = 0;
    pool_free(&s->finales, f->finale);
    f->finale = 0;
}

/* ---- counting ---- */

void finale_count(struct state *s, const struct flow *f, const struct job *j, int sign) {
    REQUIRE(f->finale != 0);
    enum flow_stage stage = job_stage(s, j);
    if (stage == FLOW_STAGE_MAIN) return;
    REQUIRE(stage < JOB_STAGE_COUNT);
    uint32_t *count = &finale_at(s, f->finale)->by_state[stage - 1][j->state];
    REQUIRE(sign > 0 || *count > 0);
    *count += (uint32_t)sign;
}

uint32_t finale_main(const struct state *s, const struct flow *f, enum job_state state) {
    uint32_t count = f->by_state[state];
    if (f->finale == 0) return count;
    const struct finale *x = finale_at(s, f->finale);
    for (uint32_t stage = 0; stage < JOB_STAGE_COUNT - 1; stage++) count -= x->by_state[stage][state];
    ENSURE(count <= f->by_state[state]);
    return count;
}

uint32_t finale_main_open(const struct state *s, const struct flow *f) {
    uint32_t open = 0;
    for (uint32_t state = 0; state < JOB_SUCCEEDED; state++) open += finale_main(s, f, (enum job_state)state);
    return open;
}

static uint32_t stage_open(const struct finale *x, enum flow_stage stage) {
    uint32_t open = 0;
    REQUIRE(stage != FLOW_STAGE_MAIN);
    REQUIRE(stage < JOB_STAGE_COUNT);
    for (uint32_t state = 0; state < JOB_SUCCEEDED; state++) open += x->by_state[stage - 1][state];
    return open;
}

/* ---- from stage to stage ---- */

enum flow_state finale_outcome(const struct state *s, const struct flow *f) {
    const enum job_state bad[] = {JOB_FAILED, JOB_TIMED_OUT, JOB_DENIED, JOB_QUARANTINED};
    if (f->unwinding != UNWIND_NONE || finale_timed_out(s, f)) return FLOW_FAILED;
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (finale_main(s, f, bad[i]) > 0) return FLOW_FAILED;
    return finale_main(s, f, JOB_CANCELLED) > 0 ? FLOW_CANCELLED : FLOW_SUCCEEDED;
}

/* Who cancelled a flow knows how it ended. */
static enum flow_stage called_by(const struct state *s, const struct flow *f) {
    if (f->cancelling) return FLOW_STAGE_MAIN;
    switch (finale_outcome(s, f)) {
    case FLOW_SUCCEEDED: return FLOW_STAGE_SUCCESS;
    case FLOW_FAILED: return FLOW_STAGE_FAILURE;
    case FLOW_CANCELLED:
    case FLOW_RUNNING:
    case FLOW_STATE_COUNT: break;
    }
    return FLOW_STAGE_MAIN;
}

static bool is_through(const struct state *s, const struct flow *f) {
    const struct finale *x = finale_at(s, f->finale);
    bool undone = f->unwinding == UNWIND_NONE || f->unwinding == UNWIND_DONE || MUTANT(finally_before_undo);
    if (x->stage == FLOW_STAGE_MAIN) return !f->more && undone && finale_main_open(s, f) == 0;
    return stage_open(x, (enum flow_stage)x->stage) == 0;
}

static void leave_stage(const struct state *s, const struct flow *f, struct finale *x) {
    if (x->stage == FLOW_STAGE_MAIN) x->called = (uint8_t)called_by(s, f);
    bool has_called = x->stage == FLOW_STAGE_MAIN && x->called != FLOW_STAGE_MAIN;
    bool was_last = x->stage == FLOW_STAGE_FINALLY || (MUTANT(finally_missed) && f->cancelling);
    x->stage = has_called ? x->called : was_last ? FLOW_STAGE_OVER : FLOW_STAGE_FINALLY;
    ENSURE(x->stage != FLOW_STAGE_MAIN);
}

void finale_next(struct state *s, uint32_t flow) {
    const struct flow *f = flow_at(s, flow);
    if (f->finale == 0) return;
    struct finale *x = finale_at(s, f->finale);
    uint8_t before = x->stage;
    while (x->stage != FLOW_STAGE_OVER && is_through(s, f)) leave_stage(s, f, x);
    if (x->stage == before) return;
    struct event event = {.kind = EVENT_FLOW,
                          .job = {{f->id}, NO_ORDINAL},
                          .flow_state = f->state,
                          .news = NEWS_STAGE,
                          .stage = (enum flow_stage)x->stage};
    if (x->stage != FLOW_STAGE_OVER) emit_event(s, &event);
    uint32_t open = 0;
    for (uint32_t stage = FLOW_STAGE_SUCCESS; stage < JOB_STAGE_COUNT; stage++)
        open += stage_open(x, (enum flow_stage)stage);
    if (open > 0) propagate_sweep(s, flow, SWEEP_STAGE, 0, 0);
}

void finale_begin(struct state *s, uint32_t job) {
    const struct job *j = job_at(s, job);
    if (j->state != JOB_WAITING || !finale_follows(s, j) || finale_holds(s, j)) return;
    const struct finale *x = finale_at(s, flow_at(s, j->flow)->finale);
    enum flow_stage stage = job_stage(s, j);
    bool is_other = stage != FLOW_STAGE_FINALLY && stage != x->called && !MUTANT(both_outcomes);
    if (is_other)
        job_finish(s, job, JOB_SKIPPED, CAUSE_OUTCOME);
    else
        job_judge(s, job);
}

/* It was cancelled by its name, or it ran behind an earlier end of the main jobs: that one is over. */
void finale_keep(struct state *s, uint32_t job) {
    const struct job *j = job_at(s, job);
    REQUIRE(finale_holds(s, j));
    if (!finale_at(s, flow_at(s, j->flow)->finale)->is_again || !job_state_is_terminal(j->state)) return;
    job_reset(s, job);
    job_judge(s, job);
}

/* ---- what changes its course ---- */

void finale_again(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    if (f->finale == 0 || flow_stage(s, f) == FLOW_STAGE_MAIN) return;
    struct finale *x = finale_at(s, f->finale);
    REQUIRE(x->stage == FLOW_STAGE_OVER);
    x->stage = x->called = FLOW_STAGE_MAIN;
    x->cancelled = 0;
    x->timed_out = false;
    x->began = s->now;
    x->is_again = !MUTANT(finally_once);
}

void finale_cancel(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    if (f->finale == 0) return;
    struct finale *x = finale_at(s, f->finale);
    x->cancelled = (uint8_t)(x->stage + 1u);
}

void finale_flow_due(struct state *s, const struct rec_flow_due *r) {
    uint32_t flow = flow_find(s, (flow_id){r->flow});
    REQUIRE(flow != 0);
    struct flow *f = flow_at(s, flow);
    REQUIRE(f->finale != 0);
    struct finale *x = finale_at(s, f->finale);
    struct event event = {.kind = EVENT_FLOW,
                          .job = {{f->id}, NO_ORDINAL},
                          .flow_state = f->state,
                          .news = r->due == FLOW_DUE_DEADLINE ? NEWS_LATE : NEWS_TIMED_OUT};
    if (r->due == FLOW_DUE_DEADLINE) {
        x->late = true;
    } else {
        REQUIRE(finale_may_time_out(s, f));
        x->timed_out = true;
        f->more = false;
        saga_timed_out(s, flow);
        if (f->unwinding == UNWIND_NONE) propagate_sweep(s, flow, SWEEP_TIMEOUT, 0, r->confirm_ms);
    }
    emit_event(s, &event);
    propagate_touch(s, flow);
}

/* ---- times ---- */

/* A flow that is on its way to its end already is not ended a second time. */
bool finale_may_time_out(const struct state *s, const struct flow *f) {
    const struct finale *x = finale_at(s, f->finale);
    bool ends = f->cancelling || f->unwinding != UNWIND_NONE || x->timed_out;
    return f->state == FLOW_RUNNING && x->timeout_ms > 0 && x->stage == FLOW_STAGE_MAIN && !ends;
}

wall_time finale_due(const struct state *s, const struct flow *f) {
    REQUIRE(f->finale != 0);
    const struct finale *x = finale_at(s, f->finale);
    int64_t due = TIME_NEVER;
    if (f->state != FLOW_RUNNING) return (wall_time){due};
    if (x->deadline.ms > 0 && !x->late) due = x->deadline.ms;
    if (finale_may_time_out(s, f)) due = min_i64(due, x->began.ms + x->timeout_ms);
    return (wall_time){due};
}

void finale_set_timer(struct state *s, const struct flow *f) {
    if (f->finale) timer_set(s, TIMER_FLOW, f->finale, finale_due(s, f));
}

/* ---- what fits ---- */

/* The first cancel of a stage counts; repeating it changes nothing. */
bool finale_may_cancel(const struct state *s, const struct flow *f) {
    if (flow_stage(s, f) == FLOW_STAGE_MAIN) return f->unwinding == UNWIND_NONE;
    return true;
}

/* Of the main jobs while they are under way, or all over with what follows them; of the others in their own stage. */
bool finale_may_retry(const struct state *s, const struct job *j) {
    const struct flow *f = flow_at(s, j->flow);
    if (f->finale == 0) return true;
    enum flow_stage stage = flow_stage(s, f), own = job_stage(s, j);
    if (own != FLOW_STAGE_MAIN) return stage == FLOW_STAGE_OVER || stage == own;
    if (stage == FLOW_STAGE_MAIN) return !finale_timed_out(s, f);
    return stage == FLOW_STAGE_OVER && f->state != FLOW_RUNNING;
}

bool finale_may_unwind(const struct state *s, const struct job *j) {
    const struct flow *f = flow_at(s, j->flow);
    if (!f->finale || job_stage(s, j) != FLOW_STAGE_MAIN || flow_stage(s, f) == FLOW_STAGE_MAIN) return true;
    return flow_stage(s, f) == FLOW_STAGE_OVER && f->state != FLOW_RUNNING;
}

bool finale_may_grow(const struct state *s, const struct flow *f) {
    return flow_stage(s, f) == FLOW_STAGE_MAIN && !finale_timed_out(s, f);
}
