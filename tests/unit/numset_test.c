/* numset_test.c: the set of numbers against a plain array. */
#include "numset.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

#define TEST(f) cmocka_unit_test(f)
#define NUMBERS 600u

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 16;
}

/* Clusters, gaps and the ends of the range. */
static uint64_t number_of(uint32_t i) {
    if (i < 200) return i;
    if (i < 400) return (UINT64_C(1) << 40) + (uint64_t)(i - 200) * 31;
    if (i < 500) return (uint64_t)(i - 400) << 55;
    return UINT64_MAX - (uint64_t)(i - 500) * 33;
}

static bool model_below(const bool *has, uint64_t before, uint64_t *ret) {
    bool found = false;
    for (uint32_t i = 0; i < NUMBERS; i++) {
        uint64_t n = number_of(i);
        if (!has[i] || n >= before || (found && n <= *ret)) continue;
        *ret = n;
        found = true;
    }
    return found;
}

static void a_set_agrees_with_a_plain_list(void **state) {
    static bool has[NUMBERS];
    struct numset set;
    uint64_t seed = 7;
    (void)state;
    numset_init(&set);
    for (uint32_t turn = 0; turn < 6000; turn++) {
        uint32_t i = (uint32_t)(next_random(&seed) % NUMBERS);
        bool put = next_random(&seed) % 5 < (turn / 1500 % 2 ? 1u : 3u); /* it grows, shrinks, and again */
        for (uint32_t k = 0; k < NUMBERS; k++) has[k] = number_of(k) == number_of(i) ? put : has[k];
        if (put)
            numset_put(&set, number_of(i));
        else
            numset_del(&set, number_of(i));
        uint64_t before = number_of((uint32_t)(next_random(&seed) % NUMBERS)) + next_random(&seed) % 3, ours = 0,
                 want = 0;
        bool found = model_below(has, before, &want);
        assert_int_equal(numset_below(&set, before, &ours), found);
        if (found) assert_true(ours == want);
    }
    for (uint32_t i = 0; i < NUMBERS; i++) numset_del(&set, number_of(i));
    assert_int_equal(set.count, 0);
    for (uint32_t i = 0; i < NUMSET_LEVELS; i++) assert_int_equal(set.levels[i].count, 0);
    numset_fini(&set);
}

static void a_walk_costs_what_it_finds(void **state) {
    struct numset set;
    uint64_t at = UINT64_MAX, seen = 0;
    (void)state;
    numset_init(&set);
    assert_false(numset_below(&set, at, &at));
    for (uint64_t i = 1; i <= 100000; i++) numset_put(&set, i);
    numset_put(&set, UINT64_C(1) << 60); /* behind a gap that nobody could step through */
    for (; numset_below(&set, at, &at); seen++)
        if (at == 1) assert_int_equal(seen, 100000);
    assert_int_equal(seen, 100001);
    assert_int_equal(set.count, 100001);
    assert_in_range(numset_bytes(&set), 1, 200000);
    numset_fini(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(a_set_agrees_with_a_plain_list), TEST(a_walk_costs_what_it_finds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
