/* heap_test.c: order, ties, and positions that the owner can trust. */
#include "test.h"

#include "heap.h"

#define REFS 300u

struct owner {
    uint32_t position[REFS];
};

static void moved(void *ctx, uint64_t ref, uint32_t position) {
    ((struct owner *)ctx)->position[ref] = position;
}

static void pops_in_order_of_key_then_ref(void **state) {
    (void)state;
    struct heap h;
    heap_init(&h, NULL, NULL);
    struct test_random r = {3};
    for (uint64_t i = 0; i < 1000; i++) heap_push(&h, (int64_t)test_random_below(&r, 20) - 10, 999 - i);
    struct heap_item last = heap_pop(&h);
    while (h.count > 0) {
        struct heap_item item = heap_pop(&h);
        assert_true(last.key < item.key || (last.key == item.key && last.ref < item.ref));
        last = item;
    }
    assert_null(heap_top(&h));
    heap_fini(&h);
}

static void check_positions(const struct heap *h, const struct owner *o) {
    uint32_t seen = 0;
    for (uint32_t ref = 0; ref < REFS; ref++) {
        if (o->position[ref] == 0) continue;
        seen++;
        assert_int_equal(h->items[o->position[ref] - 1].ref, ref);
    }
    assert_int_equal(seen, h->count - h->dead);
}

static void owner_knows_every_position(void **state) {
    (void)state;
    struct owner o = {{0}};
    struct heap h;
    heap_init(&h, moved, &o);
    struct test_random r = {4};
    for (int step = 0; step < 5000; step++) {
        uint64_t ref = test_random_below(&r, REFS);
        int64_t key = (int64_t)test_random_below(&r, 50);
        if (o.position[ref] == 0) {
            heap_push(&h, key, ref);
        } else if (test_random_below(&r, 2)) {
            heap_rekey(&h, o.position[ref], key);
        } else {
            heap_remove(&h, o.position[ref]);
        }
        if (step % 16 == 0) check_positions(&h, &o);
    }
    int64_t last = INT64_MIN;
    while (heap_top(&h)) { /* the dead are not seen */
        assert_true(heap_top(&h)->key >= last);
        last = heap_pop(&h).key;
        check_positions(&h, &o);
    }
    heap_fini(&h);
}

static void empty_heap_refuses(void **state) {
    (void)state;
    struct heap h;
    heap_init(&h, NULL, NULL);
    assert_panics((void)heap_pop(&h));
    assert_panics(heap_remove(&h, 1));
    assert_panics(heap_rekey(&h, 0, 1));
    heap_fini(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pops_in_order_of_key_then_ref),
        cmocka_unit_test(owner_knows_every_position),
        cmocka_unit_test(empty_heap_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
