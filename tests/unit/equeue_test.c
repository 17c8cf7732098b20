/* equeue_test.c: events come in order of time, then of asking; what is asked for the past happens now. */
#include "test.h"

#include "equeue.h"
#include "rng.h"

struct seen {
    struct equeue *q;
    int64_t last_us;
    uint64_t last_arg;
    uint32_t count;
    uint32_t more; /* events that each event still adds */
};

static void see(void *ctx, uint64_t arg) {
    struct seen *s = ctx;
    assert_true(s->q->now_us >= s->last_us);
    if (s->q->now_us == s->last_us && s->count > 0) assert_true(arg > s->last_arg);
    s->last_us = s->q->now_us;
    s->last_arg = arg;
    s->count++;
}

static void order_is_time_then_asking(void **state) {
    (void)state;
    struct equeue q;
    equeue_init(&q);
    struct rng r;
    rng_init(&r, 7);
    struct seen s = {.q = &q};
    for (uint64_t i = 0; i < 2000; i++) equeue_at(&q, rng_range(&r, 0, 50), see, &s, i);
    while (equeue_step(&q)) continue;
    assert_int_equal(s.count, 2000);
    assert_false(equeue_step(&q));
    equeue_fini(&q);
}

static void add_more(void *ctx, uint64_t arg) {
    struct seen *s = ctx;
    see(ctx, arg);
    if (s->more-- > 0) equeue_at(s->q, s->q->now_us - 100, add_more, ctx, arg + 1);
}

static void the_past_is_now(void **state) {
    (void)state;
    struct equeue q;
    equeue_init(&q);
    struct seen s = {.q = &q, .more = 5};
    equeue_at(&q, 1000, add_more, &s, 1);
    while (equeue_step(&q)) continue;
    assert_int_equal(s.count, 6);
    assert_int_equal(q.now_us, 1000);
    equeue_fini(&q);
}

static void streams_are_apart_and_repeatable(void **state) {
    (void)state;
    struct rng a, b;
    rng_init(&a, 42);
    rng_init(&b, 42);
    struct rng fork_a = rng_fork(&a, 1), fork_b = rng_fork(&b, 1);
    for (uint32_t i = 0; i < 100; i++) (void)rng_u64(&fork_a); /* draws here … */
    for (uint32_t i = 0; i < 100; i++) assert_int_equal(rng_u64(&a), rng_u64(&b)); /* … move nothing there */
    rng_init(&a, 42);
    struct rng again = rng_fork(&a, 1);
    assert_int_equal(rng_u64(&again), rng_u64(&fork_b));
}

static void draws_stay_in_range(void **state) {
    (void)state;
    struct rng r;
    rng_init(&r, 1);
    uint32_t hits = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        assert_in_range(rng_below(&r, 7), 0, 6);
        int64_t v = rng_range(&r, -3, 3);
        assert_true(v >= -3 && v <= 3);
        int64_t k = rng_skewed(&r, 10);
        assert_true(k >= 0 && k <= 10);
        hits += rng_chance(&r, PERCENT(10));
    }
    assert_in_range(hits, 9000, 11000);
    assert_int_equal(rng_below(&r, 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_time_then_asking),
        cmocka_unit_test(the_past_is_now),
        cmocka_unit_test(streams_are_apart_and_repeatable),
        cmocka_unit_test(draws_stay_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
