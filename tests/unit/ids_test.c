/* ids_test.c: flow ids as text and back. */
#include "test.h"

#include "ids.h"

static void check_text(uint32_t shard, uint64_t id, const char *text) {
    char out[FLOW_TEXT_BYTES];
    flow_text(shard, (flow_id){id}, out);
    assert_string_equal(out, text);
    uint32_t back_shard = 99;
    flow_id back = {0};
    assert_true(flow_parse(slice_str(out), &back_shard, &back));
    assert_int_equal(back_shard, shard);
    assert_int_equal(back.v, id);
}

static void flow_ids_have_known_texts(void **state) {
    (void)state;
    check_text(0, 1, "f11");
    check_text(0, 31, "f1z");
    check_text(0, 32, "f210");
    check_text(0, 1024, "f3100");
    check_text(3, 1, "f113");
    check_text(UINT32_MAX, UINT64_MAX, "fdfzzzzzzzzzzzz3zzzzzz");
}

/* Letters that look like digits are read as those; case does not matter. */
static void letters_like_digits_are_read_as_digits(void **state) {
    (void)state;
    uint32_t shard;
    flow_id id;
    assert_true(flow_parse(SLICE("F2iO"), &shard, &id));
    assert_int_equal(id.v, 32);
    assert_true(flow_parse(SLICE("f1L"), &shard, &id));
    assert_int_equal(id.v, 1);
    assert_true(flow_parse(SLICE("f1Z"), &shard, &id));
    assert_int_equal(id.v, 31);
}

static void other_texts_are_no_flow_ids(void **state) {
    (void)state;
    const char *const bad[] = {"",
                               "f",
                               "f1",
                               "g11",
                               "f01",
                               "f10",   /* number 0 */
                               "f201",  /* a leading zero */
                               "f110",  /* shard 0 written out */
                               "f1103", /* a shard with a leading zero */
                               "f1u",   /* not in the alphabet */
                               "f11u",  /* not in the shard either */
                               "f2-1",
                               "f21",                         /* shorter than it says */
                               "fe10000000000000",            /* longer than any number */
                               "fdg000000000000",             /* beyond 64 bits */
                               "f11zzzzzzz",                  /* a shard beyond 32 bits */
                               "f1111111111111111111111111"}; /* longer than any id */
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint32_t shard = 7;
        flow_id id = {7};
        if (flow_parse(slice_str(bad[i]), &shard, &id)) fail_msg("%s was read", bad[i]);
        assert_int_equal(shard, 7);
        assert_int_equal(id.v, 7);
    }
}

static void round_trip_and_order(void **state) {
    (void)state;
    struct test_random random = {3};
    char before[FLOW_TEXT_BYTES] = "";
    uint64_t id = 1;
    for (uint32_t i = 0; i < 3000; i++) {
        char text[FLOW_TEXT_BYTES];
        flow_text(0, (flow_id){id}, text);
        assert_true(strcmp(before, text) < 0); /* sortable */
        memcpy(before, text, sizeof before);
        uint32_t shard = (uint32_t)test_random_next(&random), back_shard;
        flow_id back;
        flow_text(shard, (flow_id){id}, text);
        assert_true(flow_parse(slice_str(text), &back_shard, &back));
        assert_int_equal(back.v, id);
        assert_int_equal(back_shard, shard);
        uint64_t step = 1 + test_random_below(&random, 1 + id / 64);
        if (id > UINT64_MAX - step) break;
        id += step;
    }
}

static void no_text_for_nothing(void **state) {
    (void)state;
    char out[FLOW_TEXT_BYTES];
    assert_panics(flow_text(0, (flow_id){0}, out));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flow_ids_have_known_texts),   cmocka_unit_test(letters_like_digits_are_read_as_digits),
        cmocka_unit_test(other_texts_are_no_flow_ids), cmocka_unit_test(round_trip_and_order),
        cmocka_unit_test(no_text_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
