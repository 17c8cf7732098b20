/* plan_test.c: how many workers there are to be, over random lives of a host. The host is simulated here: jobs that
 * take a while, workers that take a while to come, break and leave. At every step the limits hold; and what must not
 * happen (flapping, ending what is busy) does not. */
#include "test.h"

#include <stdio.h>

#include "plan.h"
#include "wtime.h"

#define PLACES 12u
#define SLOTS 3u
#define LIVES 300u
#define STEPS 400u
#define STEP_MS 100

struct host {
    struct test_random random;
    struct plan plan;
    struct plan_worker workers[PLACES];
    uint32_t running[PLACES]; /* jobs it has */
    uint32_t waiting;         /* jobs nobody has */
    int64_t comes_ms[PLACES]; /* starting: when it will be attached */
    uint32_t starts, drains;
    bool elsewhere; /* machines: who is on its way may be called off */
};

static uint32_t draw(struct host *h, uint32_t below) {
    return (uint32_t)test_random_below(&h->random, below);
}

static void host_make(struct host *h, uint64_t seed) {
    *h = (struct host){.random = {seed}};
    h->plan.limits.min = draw(h, 3);
    h->plan.limits.max = h->plan.limits.min + 1 + draw(h, PLACES - 3);
    h->plan.limits.step = 1 + draw(h, 2) * draw(h, PLACES);
    h->plan.limits.idle_ms = 500 + draw(h, 5000);
    h->plan.limits.after_ms = draw(h, 2) * 300;
    h->elsewhere = draw(h, 2);
    h->plan.is_told = true;
    h->plan.now_ms = 1000;
    h->plan.need_since_ms = TIME_NEVER;
}

/* ---- the host ---- */

static void place_jobs(struct host *h) {
    for (uint32_t i = 0; i < PLACES; i++)
        while (h->workers[i].state == PLAN_UP && h->running[i] < SLOTS && h->waiting > 0) {
            h->running[i]++;
            h->waiting--;
            h->workers[i].idle_since_ms = TIME_NEVER;
        }
    for (uint32_t i = 0; i < PLACES && h->elsewhere; i++)
        if (h->workers[i].state == PLAN_STARTING && (h->waiting > 0 || h->workers[i].idle_since_ms == TIME_NEVER))
            h->workers[i].idle_since_ms = h->waiting > 0 ? TIME_NEVER : h->plan.now_ms;
    h->plan.need_milli = (uint64_t)h->waiting * 1000 / SLOTS + (h->waiting * 1000 % SLOTS != 0);
    if (h->waiting == 0) h->plan.need_since_ms = TIME_NEVER;
    if (h->waiting > 0 && h->plan.need_since_ms == TIME_NEVER) h->plan.need_since_ms = h->plan.now_ms;
}

static void end_job(struct host *h, uint32_t i) {
    if (h->running[i] > 0 && --h->running[i] == 0) h->workers[i].idle_since_ms = h->plan.now_ms;
}

static void pass_time(struct host *h) {
    h->plan.now_ms += STEP_MS;
    for (uint32_t i = 0; i < PLACES; i++) {
        struct plan_worker *w = &h->workers[i];
        if (w->state == PLAN_STARTING && h->plan.now_ms >= h->comes_ms[i])
            *w = (struct plan_worker){.state = PLAN_UP, .idle_since_ms = h->plan.now_ms};
        if (w->state == PLAN_LEAVING && h->running[i] == 0) *w = (struct plan_worker){.state = PLAN_NONE};
    }
    place_jobs(h);
}

static void break_one(struct host *h) {
    uint32_t i = draw(h, PLACES);
    struct plan_worker *w = &h->workers[i];
    if (w->state != PLAN_UP && w->state != PLAN_STARTING) return;
    h->waiting += h->running[i];
    h->running[i] = 0;
    *w = (struct plan_worker){.state = PLAN_BROKEN, .due_ms = h->plan.now_ms + 1 + draw(h, 2000)};
}

static void obey(struct host *h) {
    for (uint32_t i = 0; i < PLACES; i++) {
        struct plan_worker *w = &h->workers[i];
        if (w->todo == PLAN_START) {
            *w = (struct plan_worker){.state = PLAN_STARTING, .idle_since_ms = TIME_NEVER};
            h->comes_ms[i] = h->plan.now_ms + 1 + draw(h, 1000);
            h->starts++;
        }
        if (w->todo == PLAN_DRAIN) {
            w->state = w->state == PLAN_STARTING ? PLAN_NONE : PLAN_LEAVING;
            h->drains++;
        }
        w->todo = PLAN_LEAVE_IT;
    }
}

/* ---- what must hold ---- */

static void check_todo(const struct host *h) {
    const struct plan *p = &h->plan;
    struct plan_counts c = plan_count(h->workers, PLACES);
    uint32_t started = 0, drained = 0;
    for (uint32_t i = 0; i < PLACES; i++) {
        const struct plan_worker *w = &h->workers[i];
        if (w->todo == PLAN_START) {
            assert_true(w->state == PLAN_NONE || (w->state == PLAN_BROKEN && p->now_ms >= w->due_ms));
            started += w->state == PLAN_NONE;
        }
        if (w->todo != PLAN_DRAIN) continue;
        drained++;
        assert_true(w->state == PLAN_UP || (h->elsewhere && w->state == PLAN_STARTING));
        assert_int_equal(h->running[i], 0);                             /* nothing is ended for it */
        assert_true(w->idle_since_ms + p->limits.idle_ms <= p->now_ms); /* and only after its time */
        assert_true(h->waiting == 0 && p->is_told);
    }
    uint32_t staying = c.starting + c.up + c.broken;
    assert_true(staying + c.leaving + started <= p->limits.max);
    assert_true(drained == 0 || staying - drained >= p->limits.min);
    assert_true(staying + c.leaving >= p->limits.max || staying + started >= p->limits.min);
    if (staying >= p->limits.min && started > 0) { /* by need alone: not more than that, and by doubling */
        assert_true((uint64_t)(c.starting + c.broken + started - 1) * 1000 < p->need_milli);
        assert_true(c.starting + started <= (c.up > p->limits.step ? c.up : p->limits.step));
    }
    assert_true(p->next_ms > p->now_ms);
}

static void turn(struct host *h) {
    plan_make(&h->plan, h->workers, PLACES);
    check_todo(h);
    obey(h);
}

static void limits_hold_whatever_happens(void **state) {
    (void)state;
    uint64_t starts = 0, drains = 0;
    for (uint64_t seed = 1; seed <= LIVES; seed++) {
        static struct host h;
        host_make(&h, seed);
        for (uint32_t step = 0; step < STEPS; step++) {
            pass_time(&h);
            if (draw(&h, 30) == 0) h.waiting += draw(&h, 40);
            for (uint32_t i = 0; i < PLACES; i++)
                if (draw(&h, 4) == 0) end_job(&h, i);
            if (draw(&h, 50) == 0) break_one(&h);
            h.plan.is_told = draw(&h, 20) != 0;
            place_jobs(&h);
            turn(&h);
        }
        starts += h.starts;
        drains += h.drains;
    }
    assert_true(starts > 1000 && drains > 500); /* otherwise this looked at nothing */
}

/* A load that stays the same, each job followed by the next: soon nothing is started or drained any more. */
static void a_constant_load_does_not_flap(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= LIVES; seed++) {
        static struct host h;
        host_make(&h, seed);
        uint32_t load = draw(&h, h.plan.limits.max * SLOTS * 2 + 1), before = 0;
        h.waiting = load;
        for (uint32_t step = 0; step < STEPS; step++) {
            pass_time(&h);
            for (uint32_t i = 0; i < PLACES; i++) /* what ends begins anew at once, wherever there is room */
                if (h.running[i] > 0 && draw(&h, 4) == 0) {
                    h.running[i]--;
                    h.waiting++;
                    place_jobs(&h);
                    if (h.running[i] == 0) h.workers[i].idle_since_ms = h.plan.now_ms;
                }
            turn(&h);
            if (step == STEPS / 2) before = h.starts + h.drains;
        }
        assert_int_equal(h.starts + h.drains, before);
        struct plan_counts c = plan_count(h.workers, PLACES);
        uint32_t enough = (load + SLOTS - 1) / SLOTS;
        assert_true(c.up == h.plan.limits.max || c.up >= enough);
    }
}

/* Then the load ends: after its time everybody is gone but `min`, and nobody has to look any more. */
static void what_is_idle_leaves_after_its_time_and_then_all_sleep(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= LIVES; seed++) {
        static struct host h;
        host_make(&h, seed);
        h.waiting = 1000;
        for (uint32_t step = 0; step < 100; step++) {
            pass_time(&h);
            turn(&h);
        }
        assert_int_equal(plan_count(h.workers, PLACES).up, h.plan.limits.max);
        assert_int_equal(h.drains, 0);
        h.waiting = 0;
        for (uint32_t i = 0; i < PLACES; i++)
            while (h.running[i] > 0) end_job(&h, i);
        int64_t ended_ms = h.plan.now_ms;
        while (h.plan.now_ms + STEP_MS < ended_ms + h.plan.limits.idle_ms) {
            pass_time(&h);
            turn(&h);
        }
        assert_int_equal(h.drains, 0);
        for (uint32_t step = 0; step < 3; step++) {
            pass_time(&h);
            turn(&h);
        }
        struct plan_counts c = plan_count(h.workers, PLACES);
        assert_int_equal(c.up, h.plan.limits.min);
        assert_int_equal(c.starting + c.leaving + c.broken, 0);
        assert_int_equal(h.plan.next_ms, TIME_NEVER);
    }
}

static void low_numbers_stay(void **state) {
    (void)state;
    struct host h;
    host_make(&h, 1);
    h.plan.limits = (struct plan_limits){.min = 1, .max = 3, .step = 1, .idle_ms = 100};
    for (uint32_t i = 0; i < 3; i++) h.workers[i] = (struct plan_worker){.state = PLAN_UP, .idle_since_ms = 0};
    plan_make(&h.plan, h.workers, PLACES);
    assert_int_equal(h.workers[0].todo, PLAN_LEAVE_IT);
    assert_int_equal(h.workers[1].todo, PLAN_DRAIN);
    assert_int_equal(h.workers[2].todo, PLAN_DRAIN);
}

/* An idle worker may be of no use to what waits, for lack of something else; the next job may be one for it. */
static void nobody_leaves_while_something_waits(void **state) {
    (void)state;
    struct host h;
    host_make(&h, 1);
    h.plan.limits = (struct plan_limits){.min = 0, .max = 1, .step = 1, .idle_ms = 100};
    h.workers[0] = (struct plan_worker){.state = PLAN_UP, .idle_since_ms = 0};
    h.plan.need_milli = 1000;
    h.plan.need_since_ms = 500;
    plan_make(&h.plan, h.workers, PLACES);
    assert_int_equal(h.workers[0].todo, PLAN_LEAVE_IT);
    h.plan.need_since_ms = TIME_NEVER;
    h.plan.is_told = false; /* nor while nobody knows */
    plan_make(&h.plan, h.workers, PLACES);
    assert_int_equal(h.workers[0].todo, PLAN_LEAVE_IT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_hold_whatever_happens),
        cmocka_unit_test(a_constant_load_does_not_flap),
        cmocka_unit_test(what_is_idle_leaves_after_its_time_and_then_all_sleep),
        cmocka_unit_test(low_numbers_stay),
        cmocka_unit_test(nobody_leaves_while_something_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
