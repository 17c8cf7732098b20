/* clock_set.c: see clock_set.h. Every time in the state is here or on purpose is not: idempotency keys, kept results
 * and keys of the store keep the end that their records named: it may be a moment that somebody chose, and to forget
 * one early is worse than to keep it for long. */
#include "clock_set.h"

#include "external.h"
#include "finale.h"
#include "job.h"
#include "panic.h"
#include "question.h"
#include "store.h"
#include "timer.h"

struct move {
    int64_t from_ms, by_ms, now_ms; /* now: after it */
};

/* A wait, or what a wait is counted from. */
static bool move_wait(const struct move *m, wall_time *t) {
    if (t->ms < m->from_ms || t->ms == TIME_NEVER) return false;
    t->ms += m->by_ms;
    return true;
}

/* A moment of the past. */
static void move_told(const struct move *m, wall_time *t) {
    if (t->ms > m->now_ms && t->ms != TIME_NEVER) t->ms += m->by_ms;
}

static void move_flows(struct state *s, const struct move *m) {
    for (uint32_t i = 1; i <= s->flows.high; i++) {
        struct flow *f = flow_at(s, i);
        if (f->id == 0) continue;
        move_told(m, &f->created);
        move_told(m, &f->finished);
        move_told(m, &f->settled);
        if (f->finale) (void)move_wait(m, &finale_at(s, f->finale)->began); /* a deadline is a moment that was named */
    }
}

static void move_jobs(struct state *s, const struct move *m) {
    for (uint32_t i = 1; i <= s->jobs.high; i++) {
        struct job *j = job_at(s, i);
        if (j->flow == 0) continue;
        if (job_state_is_terminal(j->state)) {
            move_told(m, &j->since);
            continue;
        }
        (void)move_wait(m, &j->since);
        int64_t least_ms = job_options(s, j)->not_before_ms; /* somebody named that moment, by another clock */
        if (j->state != JOB_WAITING)                         /* its time had come, and does not come a second time */
            j->due.ms = j->due.ms < m->now_ms ? j->due.ms : m->now_ms;
        else if ((j->flags & JOBF_TIMED) && move_wait(m, &j->due) && j->due.ms < least_ms)
            j->due.ms = least_ms;
        struct external *x = j->extra ? extra_at(s, j->extra)->external : NULL;
        if (x != NULL) (void)move_wait(m, &x->until);
    }
    for (uint32_t i = 1; i <= s->runs.high; i++) {
        struct run *run = run_at(s, i);
        if (run->job == 0) continue;
        (void)move_wait(m, &run->confirm);
        (void)move_wait(m, &run->assigned);
        (void)move_wait(m, &run->started);
    }
}

static void move_questions(struct state *s, const struct move *m) {
    for (uint32_t i = 1; i <= s->questions.high; i++) {
        struct question *q = question_at(s, i);
        if (q->id == 0) continue;
        if (move_wait(m, &q->asked) && q->deadline.ms != TIME_NEVER) q->deadline.ms += m->by_ms;
        (void)move_wait(m, &q->again);
    }
}

static void move_others(struct state *s, const struct move *m) {
    for (uint32_t i = 1; i <= s->services.high; i++)
        if (service_at(s, i)->key != NULL) (void)move_wait(m, &service_at(s, i)->health.since);
    for (uint32_t i = 1; i <= s->besides.high; i++)
        if (beside_at(s, i)->service != 0 && beside_at(s, i)->is_open)
            (void)move_wait(m, &beside_at(s, i)->health.since);
    for (uint32_t i = 1; i <= s->quotas.high; i++) move_told(m, &quota_at(s, i)->filled);
    for (uint32_t i = 1; i <= s->store.items.high; i++) { /* what was over stays over */
        struct item *it = item_at(&s->store, i);
        if (it->text != NULL && it->expires.ms > m->now_ms && it->expires.ms <= s->now.ms) it->expires.ms = m->now_ms;
    }
    for (uint32_t i = 1; i <= s->schedules.high; i++) {
        struct schedule *sc = schedule_at(s, i);
        if (sc->key != NULL && sc->after_ms > m->now_ms) sc->after_ms = m->now_ms;
    }
    for (uint32_t i = 1; i <= s->causes.all.high; i++) {
        struct key_cause *c = cause_at(&s->causes, i);
        if (c->text != NULL && c->started_ms > m->now_ms) c->started_ms = m->now_ms;
    }
    for (uint32_t i = 1; i <= s->causes.changes.high; i++) {
        struct key_change *c = change_at(&s->causes, i);
        if (c->text != NULL && c->changed_ms > m->now_ms) c->changed_ms = m->now_ms;
    }
}

/* Timers are an index of what has just moved. */
static void set_timers(struct state *s) {
    for (uint32_t i = 1; i <= s->jobs.high; i++)
        if (job_at(s, i)->flow != 0) job_set_timer(s, i);
    for (uint32_t i = 1; i <= s->finales.high; i++)
        if (finale_at(s, i)->flow != 0) finale_set_timer(s, flow_at(s, finale_at(s, i)->flow));
    for (uint32_t i = 1; i <= s->questions.high; i++)
        if (question_at(s, i)->id != 0) timer_set(s, TIMER_QUESTION, i, question_due(s, question_at(s, i)));
    for (uint32_t i = 1; i <= s->quotas.high; i++)
        if (quota_at(s, i)->text != NULL && quota_at(s, i)->timer != 0) timer_set(s, TIMER_QUOTA, i, s->now);
    for (uint32_t i = 1; i <= s->store.items.high; i++)
        if (item_at(&s->store, i)->text != NULL && item_at(&s->store, i)->timer != 0)
            timer_set(s, TIMER_ITEM, i, item_at(&s->store, i)->expires);
    for (uint32_t i = 1; i <= s->schedules.high; i++) {
        const struct schedule *sc = schedule_at(s, i);
        if (sc->key != NULL && !sc->paused) timer_set(s, TIMER_SCHEDULE, i, s->now);
    }
}

void clock_set_move(struct state *s, const struct rec_clock *r) {
    struct move m = {r->from_ms, r->by_ms, s->now.ms + r->by_ms};
    REQUIRE(r->by_ms != 0);
    REQUIRE(m.now_ms >= 0);
    REQUIRE(r->from_ms <= (r->by_ms < 0 ? m.now_ms : s->now.ms));
    move_flows(s, &m);
    move_jobs(s, &m);
    move_questions(s, &m);
    move_others(s, &m);
    s->now.ms = m.now_ms;
    set_timers(s);
}
