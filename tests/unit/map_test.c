/* map_test.c: both tables against a plain array that does the same. */
#include "test.h"

#include <stdio.h>

#include "map.h"

#define KEYS 500u

static void map_agrees_with_an_array(void **state) {
    (void)state;
    struct test_random r = {1};
    struct map m;
    map_init(&m);
    uint32_t model[KEYS] = {0};
    uint32_t count = 0;
    for (int step = 0; step < 50000; step++) {
        uint32_t key = (uint32_t)test_random_below(&r, KEYS);
        if (test_random_below(&r, 2)) {
            uint32_t value = 1 + (uint32_t)test_random_below(&r, 1000);
            count += model[key] == 0;
            map_put(&m, key, value);
            model[key] = value;
        } else {
            assert_int_equal(map_del(&m, key), model[key]);
            count -= model[key] != 0;
            model[key] = 0;
        }
        assert_int_equal(m.count, count);
        uint32_t probe = (uint32_t)test_random_below(&r, KEYS);
        assert_int_equal(map_get(&m, probe), model[probe]);
    }
    for (uint32_t key = 0; key < KEYS; key++) assert_int_equal(map_get(&m, key), model[key]);
    map_fini(&m);
}

static void empty_map_answers(void **state) {
    (void)state;
    struct map m;
    map_init(&m);
    assert_int_equal(map_get(&m, 0), 0);
    assert_int_equal(map_del(&m, 0), 0);
    assert_int_equal(map_bytes(&m), 0);
    map_put(&m, 0, 7);
    assert_int_equal(map_get(&m, 0), 7);
    assert_panics(map_put(&m, 1, 0));
    map_fini(&m);
}

static void replacing_does_not_grow(void **state) {
    (void)state;
    struct map m;
    map_init(&m);
    for (uint32_t i = 0; i < 6; i++) map_put(&m, i, 1);
    size_t bytes = map_bytes(&m);
    map_put(&m, 3, 9);
    assert_int_equal(map_bytes(&m), bytes);
    map_fini(&m);
}

struct names {
    char text[KEYS][8];
};

static struct slice name_of(const void *ctx, uint32_t value) {
    return slice_str(((const struct names *)ctx)->text[value - 1]);
}

static void index_agrees_with_an_array(void **state) {
    (void)state;
    struct names names;
    for (uint32_t i = 0; i < KEYS; i++) (void)snprintf(names.text[i], sizeof names.text[i], "k%u", i);
    struct test_random r = {2};
    struct index x;
    index_init(&x);
    bool in[KEYS] = {false};
    for (int step = 0; step < 50000; step++) {
        uint32_t i = (uint32_t)test_random_below(&r, KEYS);
        struct slice key = name_of(&names, i + 1);
        if (in[i]) {
            index_del(&x, key, i + 1);
        } else {
            index_put(&x, key, i + 1);
        }
        in[i] = !in[i];
        uint32_t probe = (uint32_t)test_random_below(&r, KEYS);
        assert_int_equal(index_get(&x, name_of(&names, probe + 1), name_of, &names),
                         in[probe] ? probe + 1 : 0);
    }
    index_fini(&x);
}

static void reserved_index_does_not_grow(void **state) {
    (void)state;
    struct names names;
    struct index x;
    index_init(&x);
    index_reserve(&x, KEYS);
    size_t bytes = index_bytes(&x);
    for (uint32_t i = 0; i < KEYS; i++) {
        (void)snprintf(names.text[i], sizeof names.text[i], "k%u", i);
        index_put(&x, name_of(&names, i + 1), i + 1);
    }
    assert_int_equal(index_bytes(&x), bytes);
    index_reserve(&x, 1); /* never shrinks */
    assert_int_equal(index_bytes(&x), bytes);
    index_fini(&x);
}

static void removing_what_is_not_there_panics(void **state) {
    (void)state;
    struct index x;
    index_init(&x);
    assert_panics(index_del(&x, SLICE("a"), 1));
    index_put(&x, SLICE("a"), 1);
    assert_panics(index_del(&x, SLICE("b"), 1));
    index_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_agrees_with_an_array),     cmocka_unit_test(empty_map_answers),
        cmocka_unit_test(replacing_does_not_grow),      cmocka_unit_test(index_agrees_with_an_array),
        cmocka_unit_test(reserved_index_does_not_grow), cmocka_unit_test(removing_what_is_not_there_panics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
