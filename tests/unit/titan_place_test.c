/* titan_place_test.c: a name stands for one script as long as a job runs it. */
#include "test.h"

#include "simspace.h"
#include "titan_place.h"

static struct simspace sim;
static struct titan_place place;

static int setup(void **state) {
    (void)state;
    simspace_init(&sim);
    titan_place_init(&place, &sim.space);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    titan_place_fini(&place);
    simspace_fini(&sim);
    return 0;
}

static const char *take(const char *name, const char *bytes, uint32_t *ticket) {
    static char file[TITAN_PLACE_PATH_MAX];
    struct why why = {{0}};
    assert_int_equal(titan_place_take(&place, "acme", name, slice_str(bytes), ticket, file, &why), ERR_OK);
    return file;
}

static void content_is(const char *file, const char *wanted) {
    struct buf b;
    struct why why = {{0}};
    buf_init(&b, 100);
    assert_int_equal(sim.space.ops->read(&sim.space, TITAN_PLACE_SPACE, file, &b, &why), ERR_OK);
    assert_true(slice_eq(buf_slice(&b), slice_str(wanted)));
    buf_fini(&b);
}

static void a_name_that_runs_is_not_overwritten(void **state) {
    (void)state;
    uint32_t a = 0, b = 0, c = 0, again = 0;
    assert_string_equal(take("job.py", "one", &a), "acme/job.py");
    assert_string_equal(take("job.py", "two", &b), "acme/job~2.py");
    assert_string_equal(take("job.py", "one", &again), "acme/job.py"); /* the same bytes share it */
    titan_place_give(&place, &a);
    assert_string_equal(take("job.py", "three", &c), "acme/job~3.py"); /* one still runs */
    content_is("acme/job.py", "one");
    content_is("acme/job~2.py", "two");
    titan_place_give(&place, &again);
    titan_place_give(&place, &again); /* once */
    assert_string_equal(take("job.py", "four", &a), "acme/job.py");
    content_is("acme/job.py", "four");
}

static void names_of_any_form(void **state) {
    (void)state;
    uint32_t a = 0, b = 0;
    char long_name[TITAN_PLACE_PATH_MAX + 1], file[TITAN_PLACE_PATH_MAX];
    struct why why = {{0}};
    (void)take("run", "one", &a);
    assert_string_equal(take("run", "two", &b), "acme/run~2");
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    assert_int_equal(titan_place_take(&place, "", long_name, SLICE("x"), &a, file, &why), ERR_LIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_name_that_runs_is_not_overwritten, setup, teardown),
        cmocka_unit_test_setup_teardown(names_of_any_form, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
