/* timer.c: see timer.h. */
#include "timer.h"

#include "external.h"
#include "min.h"
#include "panic.h"

static uint32_t *position_of(struct state *s, uint64_t ref) {
    uint32_t index = (uint32_t)ref;
    switch ((enum timer_kind)(ref >> 32)) {
    case TIMER_JOB: return &job_at(s, index)->timer;
    case TIMER_QUESTION: return &question_at(s, index)->timer;
    case TIMER_KEY: return &key_at(s, index)->timer;
    case TIMER_ITEM: return &item_at(&s->store, index)->timer;
    case TIMER_QUOTA: return &quota_at(s, index)->timer;
    case TIMER_SCHEDULE: return &schedule_at(s, index)->timer;
    case TIMER_MEMO: return &memo_at(s, index)->timer;
    case TIMER_FLOW: return &finale_at(s, index)->timer;
    }
    PANIC("timer of no kind");
}

static void moved(void *ctx, uint64_t ref, uint32_t position) {
    *position_of(ctx, ref) = position;
}

void timer_init(struct state *s) {
    heap_init(&s->timers, moved, s);
}

void timer_set(struct state *s, enum timer_kind kind, uint32_t index, wall_time due) {
    uint64_t ref = (uint64_t)kind << 32 | index;
    uint32_t position = *position_of(s, ref);
    if (due.ms == TIME_NEVER) {
        if (position) heap_remove(&s->timers, position);
    } else if (position) {
        heap_rekey(&s->timers, position, due.ms);
    } else {
        heap_push(&s->timers, due.ms, ref);
    }
}

bool timer_first(struct state *s, wall_time now, enum timer_kind *ret_kind, uint32_t *ret_index) {
    if (heap_bound(&s->timers) > now.ms) return false;
    const struct heap_item *top = heap_top(&s->timers);
    if (top == NULL || top->key > now.ms) return false;
    *ret_kind = (enum timer_kind)(top->ref >> 32);
    *ret_index = (uint32_t)top->ref;
    ENSURE(*ret_index != 0);
    return true;
}

/* `start + wait`, or never when there is no wait. */
static int64_t after(wall_time start, int64_t wait_ms) {
    return wait_ms > 0 ? start.ms + wait_ms : TIME_NEVER;
}

wall_time job_due(const struct state *s, const struct job *j) {
    const struct options *o = job_options(s, j);
    int64_t due = TIME_NEVER;
    switch ((enum job_state)j->state) {
    case JOB_WAITING:
        if (j->part == PART_ENDING) return (wall_time){TIME_NEVER}; /* its children have their own clocks */
        if (j->parents_open == 0 && (j->flags & JOBF_TIMED)) due = j->due.ms;
        break;
    case JOB_READY:
        due = after(j->since, o->start_within_ms);
        if (j->link && class_at(s, j->link)->pin_kind != PIN_NONE) due = min_i64(due, after(j->since, o->prefer_ms));
        break;
    case JOB_DISPATCHED:
    case JOB_RUNNING: {
        const struct run *run = run_at(s, j->link);
        /* a stop that was asked for ends the other clocks: it cannot be asked for twice */
        if (run->stop != STOP_NONE) return run->confirm;
        due = after(j->since, j->state == JOB_RUNNING ? o->run_timeout_ms : o->dispatch_timeout_ms);
        break;
    }
    case JOB_HELD:
    case JOB_CHECKING: break;
    case JOB_SUCCEEDED:
    case JOB_FAILED:
    case JOB_TIMED_OUT:
    case JOB_CANCELLED:
    case JOB_DENIED:
    case JOB_QUARANTINED:
    case JOB_SKIPPED:
    case JOB_STATE_COUNT: return (wall_time){TIME_NEVER};
    }
    int64_t deadline_ms = external_deadline_ms(s, j);
    if (deadline_ms > 0) due = min_i64(due, deadline_ms);
    return (wall_time){due};
}

void job_set_timer(struct state *s, uint32_t index) {
    struct job *j = job_at(s, index);
    wall_time due = job_due(s, j);
    if (due.ms != TIME_NEVER || j->timer) timer_set(s, TIMER_JOB, index, due);
}
