/* limits_test.c: every limit lies in its own range and is found by its name. */
#include "test.h"

#include "limit.h"

static void defaults_lie_in_their_range(void **state) {
    (void)state;
    struct limits l;
    limits_default(&l);
    for (uint32_t i = 0; i < limit_count; i++) {
        const struct limit_info *info = &limit_table[i];
        assert_true(info->least <= info->standard);
        assert_true(info->standard <= info->most);
        assert_true(strlen(info->unit) > 0);
        assert_true(strlen(info->reason) > 0);
        int64_t *value = limit_by_name(&l, info->name);
        assert_non_null(value);
        assert_int_equal(*value, info->standard);
    }
}

static void names_are_exact(void **state) {
    (void)state;
    struct limits l;
    limits_default(&l);
    assert_ptr_equal(limit_by_name(&l, "flows_max"), &l.flows_max);
    assert_ptr_equal(limit_by_name(&l, "batch_records_max"), &l.batch_records_max);
    assert_null(limit_by_name(&l, "flows"));
    assert_null(limit_by_name(&l, ""));
}

static void a_batch_holds_the_largest_submit(void **state) {
    (void)state;
    struct limits l;
    limits_default(&l);
    assert_true(l.batch_bytes_max > l.submit_bytes_max);
    assert_true(l.submit_jobs_max <= l.flow_jobs_max);
    assert_true(l.flow_jobs_max <= l.jobs_max);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_lie_in_their_range),
        cmocka_unit_test(names_are_exact),
        cmocka_unit_test(a_batch_holds_the_largest_submit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
