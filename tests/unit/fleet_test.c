/* fleet_test.c: what is known of workers, from what the server tells and what was done. */
#include "test.h"

#include <stdio.h>

#include "fleet.h"
#include "wtime.h"

static struct fleet f;

static void begin(bool is_local, uint32_t max) {
    struct plan_limits limits = {.max = max, .step = max, .idle_ms = 1000};
    fleet_init(&f, &limits, is_local);
}

static struct wire_demand_worker worker(const char *id, uint32_t active, uint64_t served) {
    return (struct wire_demand_worker){.worker = slice_str(id), .slots = 2, .active = active, .served = served};
}

static void hear(struct wire_demand_worker *list, uint32_t count, uint64_t need_milli, int64_t now_ms) {
    struct wire_demands m = {
        .workers = {list, count}, .need_milli = need_milli, .ready = need_milli / 500, .since_ms = 100, .now_ms = 400};
    fleet_hear(&f, &m, now_ms);
}

static void a_local_fleet_knows_its_own_alone(void **state) {
    (void)state;
    begin(true, 2);
    fleet_started(&f, 0, 10);
    snprintf(f.places[0].id, FLEET_ID_BYTES, "a");
    struct wire_demand_worker list[] = {worker("stranger", 0, 0), worker("a", 0, 0)};
    hear(list, 2, 0, 20);
    assert_int_equal(f.workers[0].state, PLAN_UP);
    assert_int_equal(f.workers[0].idle_since_ms, 20);
    assert_int_equal(f.workers[1].state, PLAN_NONE);
    hear(list, 1, 0, 30); /* its connection broke; its process lives */
    assert_int_equal(f.workers[0].state, PLAN_STARTING);
    assert_int_equal(f.workers[0].idle_since_ms, TIME_NEVER);
}

static void a_worker_that_was_given_a_job_was_not_idle(void **state) {
    (void)state;
    begin(true, 1);
    fleet_started(&f, 0, 10);
    snprintf(f.places[0].id, FLEET_ID_BYTES, "a");
    struct wire_demand_worker w = worker("a", 0, 7);
    hear(&w, 1, 0, 20);
    hear(&w, 1, 0, 30);
    assert_int_equal(f.workers[0].idle_since_ms, 20);
    w.served = 8; /* a short job, over before anybody was told */
    hear(&w, 1, 0, 40);
    assert_int_equal(f.workers[0].idle_since_ms, 40);
    w.active = 1;
    hear(&w, 1, 0, 50);
    assert_int_equal(f.workers[0].idle_since_ms, TIME_NEVER);
    w.active = 0;
    hear(&w, 1, 0, 60);
    fleet_lost(&f);
    assert_int_equal(f.workers[0].idle_since_ms, TIME_NEVER); /* nobody knows */
    assert_false(f.plan.is_told);
    hear(&w, 1, 0, 90);
    assert_int_equal(f.workers[0].idle_since_ms, 90);
}

static void a_machine_that_appears_is_one_that_was_asked_for(void **state) {
    (void)state;
    begin(false, 3);
    fleet_started(&f, 0, 10);
    fleet_started(&f, 1, 10);
    struct wire_demand_worker list[] = {worker("x", 1, 1), worker("y", 1, 2), worker("z", 1, 3)};
    hear(list, 1, 500, 20);
    assert_int_equal(plan_count(f.workers, f.count).starting, 1);
    assert_int_equal(fleet_wanted(&f), 2);
    hear(list, 3, 500, 30); /* one more than was asked for: it counts all the same */
    struct plan_counts c = plan_count(f.workers, f.count);
    assert_int_equal(c.up, 3);
    assert_int_equal(c.starting, 0);
    hear(list, 2, 500, 40);
    assert_int_equal(plan_count(f.workers, f.count).up, 2);
    assert_int_equal(f.ready, 1);
    assert_int_equal(f.waited_ms, 300);
}

static void a_machine_may_be_ended_when_it_is_drained_and_has_nothing(void **state) {
    (void)state;
    begin(false, 3);
    struct wire_demand_worker w = worker("x", 0, 1);
    hear(&w, 1, 0, 20);
    fleet_asked(&f, 0);
    assert_false(fleet_may_end(&f, 0));
    hear(&w, 1, 0, 30); /* the drain is on its way */
    assert_int_equal(f.workers[0].state, PLAN_LEAVING);
    assert_false(fleet_may_end(&f, 0));
    w.draining = true;
    w.active = 1; /* given in the last moment */
    hear(&w, 1, 0, 40);
    assert_false(fleet_may_end(&f, 0));
    w.active = 0;
    hear(&w, 1, 0, 50);
    assert_true(fleet_may_end(&f, 0));
    hear(NULL, 0, 0, 60);
    assert_int_equal(f.workers[0].state, PLAN_NONE);
}

static void what_somebody_else_drains_leaves_and_may_come_back(void **state) {
    (void)state;
    begin(false, 3);
    struct wire_demand_worker w = worker("x", 0, 1);
    w.draining = true;
    hear(&w, 1, 0, 20);
    assert_int_equal(f.workers[0].state, PLAN_LEAVING);
    assert_false(fleet_may_end(&f, 0)); /* not ours to end */
    w.draining = false;
    hear(&w, 1, 0, 30);
    assert_int_equal(f.workers[0].state, PLAN_UP);
}

static void a_machine_on_its_way_that_nobody_needs_is_called_off(void **state) {
    (void)state;
    begin(false, 3);
    hear(NULL, 0, 1000, 10);
    assert_int_equal(fleet_plan(&f, 10), TIME_NEVER);
    assert_int_equal(f.workers[0].todo, PLAN_START);
    fleet_started(&f, 0, 10);
    hear(NULL, 0, 0, 20);
    assert_int_equal(fleet_plan(&f, 30), 1020);
    hear(NULL, 0, 1000, 500); /* it is needed after all */
    hear(NULL, 0, 0, 600);
    assert_int_equal(fleet_plan(&f, 1020), 1600);
    (void)fleet_plan(&f, 1600);
    assert_int_equal(f.workers[0].todo, PLAN_DRAIN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_local_fleet_knows_its_own_alone),
        cmocka_unit_test(a_worker_that_was_given_a_job_was_not_idle),
        cmocka_unit_test(a_machine_that_appears_is_one_that_was_asked_for),
        cmocka_unit_test(a_machine_may_be_ended_when_it_is_drained_and_has_nothing),
        cmocka_unit_test(what_somebody_else_drains_leaves_and_may_come_back),
        cmocka_unit_test(a_machine_on_its_way_that_nobody_needs_is_called_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
