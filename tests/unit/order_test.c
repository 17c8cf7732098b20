/* order_test.c: an ordered set against an array that is kept sorted by hand. */
#include "test.h"

#include "buf.h"
#include "order.h"

#define MOST 20000u

static uint8_t texts[MOST + 1][8]; /* key of value i */

static bool is_gone[MOST + 1]; /* its key can no longer be read */

static struct slice key_of(const void *ctx, uint32_t value) {
    (void)ctx;
    assert_false(is_gone[value]);
    return slice_of(texts[value], 8);
}

static void number(uint32_t value, uint64_t n) {
    is_gone[value] = false;
    for (int i = 0; i < 8; i++) texts[value][i] = (uint8_t)(n >> (56 - 8 * i));
}

static void walk_is_ascending(const struct order *o, uint32_t count) {
    struct order_place place;
    uint32_t seen = 0, before = 0;
    for (uint32_t v = order_seek(o, slice_of("", 0), key_of, NULL, &place); v; v = order_next(o, &place)) {
        if (before) assert_true(slice_cmp(key_of(NULL, before), key_of(NULL, v)) < 0);
        before = v;
        seen++;
    }
    assert_int_equal(seen, count);
    assert_int_equal(o->count, count);
}

static void an_empty_order_has_nothing(void **state) {
    (void)state;
    struct order o;
    struct order_place place;
    order_init(&o);
    assert_int_equal(order_seek(&o, SLICE("a"), key_of, NULL, &place), 0);
    assert_int_equal(order_next(&o, &place), 0);
    assert_int_equal(order_bytes(&o), 0);
    order_fini(&o);
}

static void ascending_keys_fill_whole_leaves(void **state) {
    (void)state;
    struct order o;
    order_init(&o);
    for (uint32_t i = 1; i <= MOST; i++) {
        number(i, i);
        order_put(&o, i, key_of, NULL);
    }
    walk_is_ascending(&o, MOST);
    assert_true(o.leaves.count < MOST / 60 + 2);
    for (uint32_t i = 1; i <= MOST; i++) {
        order_del(&o, i, key_of, NULL);
        is_gone[i] = true;
    }
    walk_is_ascending(&o, 0);
    assert_int_equal(o.leaves.count + o.inners.count, 0);
    order_fini(&o);
}

static void seek_finds_the_first_not_below(void **state) {
    (void)state;
    struct order o;
    struct order_place place;
    order_init(&o);
    for (uint32_t i = MOST; i >= 1; i--) { /* descending, even numbers only */
        number(i, 2 * i);
        order_put(&o, i, key_of, NULL);
    }
    for (uint32_t n = 0; n <= 2 * MOST + 1; n++) {
        uint8_t key[8];
        for (int i = 0; i < 8; i++) key[i] = (uint8_t)((uint64_t)n >> (56 - 8 * i));
        uint32_t want = n == 0 ? 1 : (n + 1) / 2;
        assert_int_equal(order_seek(&o, slice_of(key, 8), key_of, NULL, &place), want > MOST ? 0 : want);
    }
    order_fini(&o);
}

/* Waves of growth and decay, with the extremes of every node hit again and again. */
static void a_random_life_keeps_the_order(void **state) {
    (void)state;
    struct test_random r = {77};
    static bool in[MOST + 1];
    struct order o;
    order_init(&o);
    for (uint32_t i = 1; i <= MOST; i++) number(i, test_random_next(&r) << 20 | i);
    uint32_t count = 0;
    for (uint32_t step = 0; step < 200000; step++) {
        bool growing = step / 25000 % 2 == 0;
        uint32_t i = 1 + (uint32_t)test_random_below(&r, MOST);
        bool put = test_random_below(&r, 10) < (growing ? 8u : 1u);
        if (put == in[i]) continue;
        is_gone[i] = false;
        if (put)
            order_put(&o, i, key_of, NULL);
        else
            order_del(&o, i, key_of, NULL);
        in[i] = put;
        is_gone[i] = !put;
        count += put ? 1u : -1u;
        if (step % 5000 == 0) walk_is_ascending(&o, count);
        struct order_place place;
        if (put) assert_int_equal(order_seek(&o, key_of(NULL, i), key_of, NULL, &place), i);
    }
    for (uint32_t i = 1; i <= MOST; i++)
        if (in[i]) order_del(&o, i, key_of, NULL);
    assert_int_equal(o.leaves.count + o.inners.count, 0);
    order_fini(&o);
}

static void equal_keys_and_strangers_are_refused(void **state) {
    (void)state;
    static struct order o;
    order_init(&o);
    number(1, 5), number(2, 5), number(3, 6);
    order_put(&o, 1, key_of, NULL);
    assert_panics(order_put(&o, 2, key_of, NULL));
    assert_panics(order_del(&o, 3, key_of, NULL));
    order_fini(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_order_has_nothing),           cmocka_unit_test(ascending_keys_fill_whole_leaves),
        cmocka_unit_test(seek_finds_the_first_not_below),       cmocka_unit_test(a_random_life_keeps_the_order),
        cmocka_unit_test(equal_keys_and_strangers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
