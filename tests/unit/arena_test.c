/* arena_test.c: sizes, zeroing, the maximum, and what a reset keeps. */
#include "test.h"

#include "arena.h"

static void takes_no_memory_before_use(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 256, 1 << 20);
    assert_int_equal(a.bytes, 0);
    arena_reset(&a);
    arena_fini(&a);
}

static void small_arena_stays_small(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 256, 1 << 20);
    for (int i = 0; i < 10; i++) assert_non_null(arena_alloc(&a, 20));
    assert_int_equal(a.bytes, 256);
    arena_fini(&a);
}

static void allocations_are_zeroed_and_aligned(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 64, 1 << 20);
    for (int round = 0; round < 2; round++) {
        for (size_t bytes = 0; bytes < 300; bytes++) {
            uint8_t *p = arena_alloc(&a, bytes);
            assert_int_equal((uintptr_t)p % 8, 0);
            for (size_t i = 0; i < bytes; i++) assert_int_equal(p[i], 0);
            memset(p, 0xff, bytes);
        }
        arena_reset(&a);
    }
    arena_fini(&a);
}

static void big_request_keeps_the_room_of_the_newest_chunk(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 256, 1 << 20);
    uint8_t *first = arena_alloc(&a, 8);
    assert_non_null(arena_alloc(&a, 100000));
    assert_int_equal(a.bytes, 256 + 100000 + 16);
    uint8_t *second = arena_alloc(&a, 8);
    assert_ptr_equal(second, first + 8);
    arena_fini(&a);
}

static void an_arena_stays_below_its_maximum(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 256, 1000);
    size_t got = 0;
    while (arena_try(&a, 8)) got += 8;
    assert_true(a.bytes <= 1000);
    assert_true(got >= 900); /* the last chunk is cut to what is left */
    assert_null(arena_try(&a, SIZE_MAX));
    assert_panics(arena_alloc(&a, 8));
    arena_fini(&a);
}

static void chunks_double_up_to_64k(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 256, (size_t)1 << 30);
    for (int i = 0; i < 100000; i++) (void)arena_alloc(&a, 8);
    assert_int_equal(a.chunk_bytes, 65536);
    arena_fini(&a);
}

static void copies_have_their_own_bytes(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 64, 4096);
    char text[] = "hello";
    struct slice s = arena_slice(&a, slice_str(text));
    text[0] = 'j';
    assert_true(slice_eq(s, SLICE("hello")));
    assert_int_equal(arena_slice(&a, slice_of(NULL, 0)).len, 0);
    arena_fini(&a);
}

static void ends_in_steps(void **state) {
    (void)state;
    struct arena a;
    arena_init(&a, 64, 1 << 20);
    for (int i = 0; i < 100; i++) arena_alloc(&a, 4000);
    size_t held = a.bytes;
    assert_false(arena_release(&a, 1));
    assert_in_range(a.bytes, 1, held - 1);
    uint32_t steps = 0;
    while (!arena_release(&a, 100000)) steps++;
    assert_in_range(steps, 1, held / 100000);
    assert_int_equal(a.bytes, 0);
    arena_alloc(&a, 8); /* as good as new */
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_no_memory_before_use),
        cmocka_unit_test(small_arena_stays_small),
        cmocka_unit_test(allocations_are_zeroed_and_aligned),
        cmocka_unit_test(big_request_keeps_the_room_of_the_newest_chunk),
        cmocka_unit_test(an_arena_stays_below_its_maximum),
        cmocka_unit_test(chunks_double_up_to_64k),
        cmocka_unit_test(copies_have_their_own_bytes),
        cmocka_unit_test(ends_in_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
