/* pool_test.c: reuse, zeroing, the maximum, and addresses that stay put. */
#include "test.h"

#include <stdlib.h>

#include "pool.h"

struct thing {
    uint64_t a, b;
};

static void indices_start_at_one_and_are_reused_last_first(void **state) {
    (void)state;
    struct pool p;
    pool_init(&p, sizeof(struct thing), 10);
    assert_int_equal(pool_alloc(&p), 1);
    assert_int_equal(pool_alloc(&p), 2);
    assert_int_equal(pool_alloc(&p), 3);
    pool_free(&p, 1);
    pool_free(&p, 3);
    assert_int_equal(pool_alloc(&p), 3);
    assert_int_equal(pool_alloc(&p), 1);
    assert_int_equal(pool_alloc(&p), 4);
    pool_fini(&p);
}

static void elements_are_zero_also_when_used_again(void **state) {
    (void)state;
    struct pool p;
    pool_init(&p, sizeof(struct thing), 10);
    uint32_t i = pool_alloc(&p);
    struct thing *t = pool_at(&p, i);
    *t = (struct thing){~0ull, ~0ull};
    pool_free(&p, i);
    assert_int_equal(pool_alloc(&p), i);
    assert_int_equal(t->a, 0);
    assert_int_equal(t->b, 0);
    pool_fini(&p);
}

/* Chunks come from malloc as they are, and malloc hands out what others have written to. */
static void elements_are_zero_in_memory_that_others_used(void **state) {
    (void)state;
    size_t bytes = POOL_CHUNK_COUNT * sizeof(struct thing);
    uint8_t *before = malloc(bytes);
    assert_non_null(before);
    memset(before, 0xa5, bytes);
    free(before);
    struct pool p;
    pool_init(&p, sizeof(struct thing), 3 * POOL_CHUNK_COUNT);
    for (uint32_t i = 0; i < 3 * POOL_CHUNK_COUNT; i++) {
        struct thing *t = pool_at(&p, pool_alloc(&p));
        assert_int_equal(t->a, 0);
        assert_int_equal(t->b, 0);
        *t = (struct thing){~0ull, ~0ull};
    }
    pool_fini(&p);
}

static void maximum_is_an_answer_not_a_panic(void **state) {
    (void)state;
    struct pool p;
    pool_init(&p, 1, 2);
    assert_int_not_equal(pool_alloc(&p), 0);
    uint32_t last = pool_alloc(&p);
    assert_int_equal(pool_alloc(&p), 0);
    pool_free(&p, last);
    assert_int_equal(pool_alloc(&p), last);
    pool_fini(&p);
}

static void pointers_stay_valid_while_it_grows(void **state) {
    (void)state;
    struct pool p;
    pool_init(&p, sizeof(struct thing), 100000);
    struct thing *first = pool_at(&p, pool_alloc(&p));
    first->a = 42;
    for (uint32_t i = 2; i <= 10000; i++) {
        assert_int_equal(pool_alloc(&p), i);
        ((struct thing *)pool_at(&p, i))->a = i;
    }
    assert_ptr_equal(first, pool_at(&p, 1));
    assert_int_equal(first->a, 42);
    for (uint32_t i = 2; i <= 10000; i++) assert_int_equal(((struct thing *)pool_at(&p, i))->a, i);
    assert_int_equal(p.count, 10000);
    assert_true(pool_bytes(&p) >= 10000 * sizeof(struct thing));
    pool_fini(&p);
}

static void wrong_index_panics(void **state) {
    (void)state;
    struct pool p;
    pool_init(&p, 8, 10);
    (void)pool_alloc(&p);
    assert_panics(pool_free(&p, 0));
    assert_panics(pool_free(&p, 2));
    pool_fini(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_start_at_one_and_are_reused_last_first),
        cmocka_unit_test(elements_are_zero_also_when_used_again),
        cmocka_unit_test(elements_are_zero_in_memory_that_others_used),
        cmocka_unit_test(maximum_is_an_answer_not_a_panic),
        cmocka_unit_test(pointers_stay_valid_while_it_grows),
        cmocka_unit_test(wrong_index_panics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
