/* lane_test.c: what goes into a lane comes out in order, and a full one refuses. */
#include "test.h"

#include "lane.h"

static void order_is_kept_while_both_ends_move(void **state) {
    (void)state;
    struct lane l;
    struct lane_entry e;
    uint8_t body[300];
    uint32_t put = 0, taken = 0;
    struct test_random r = {7};
    memset(body, 0xab, sizeof body);
    lane_init(&l, 4096);
    for (int i = 0; i < 20000; i++) {
        struct lane_entry next = {
            .conn = {put + 1u}, .op = (uint8_t)put, .request = put, .body = slice_of(body, put % sizeof body)};
        if (test_random_below(&r, 2) && lane_put(&l, &next)) put++;
        if (test_random_below(&r, 3) == 0 && lane_take(&l, &e)) {
            assert_int_equal(e.request, taken);
            assert_int_equal(e.conn.v, taken + 1u);
            assert_int_equal(e.op, (uint8_t)taken);
            assert_int_equal(e.body.len, taken % sizeof body);
            taken++;
        }
    }
    while (lane_take(&l, &e)) taken++;
    assert_int_equal(taken, put);
    assert_true(put > 1000);
    assert_true(lane_is_empty(&l));
    lane_fini(&l);
}

static void a_full_lane_refuses_and_goes_on(void **state) {
    (void)state;
    struct lane l;
    struct lane_entry e;
    uint8_t body[100] = {0};
    struct lane_entry f = {.conn = {1}, .op = 1, .request = 1, .body = slice_of(body, sizeof body)};
    lane_init(&l, 1000);
    int count = 0;
    while (lane_put(&l, &f)) count++;
    assert_int_equal(count, 8);
    for (int i = 0; i < 8; i++) assert_true(lane_take(&l, &e));
    assert_false(lane_take(&l, &e));
    assert_true(lane_put(&l, &f));
    lane_fini(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_kept_while_both_ends_move),
        cmocka_unit_test(a_full_lane_refuses_and_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
