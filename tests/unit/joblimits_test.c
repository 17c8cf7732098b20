/* joblimits_test.c: which limit holds for a job, what is said when it was hit, and which GPUs it has. */
#include "test.h"

#include <signal.h>

#include "joblimits.h"

static struct arena arena;

static int setup(void **state) {
    (void)state;
    arena_init(&arena, 1024, 1 << 20);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_fini(&arena);
    return 0;
}

static void own_then_reserved_then_standard_and_never_above_the_most(void **state) {
    (void)state;
    struct wire_assignment order = {.memory_bytes = 300, .cpu_milli = 2000};
    struct wire_run none = {0}, own = {.limits = {.memory_bytes = 500, .cpu_milli = 9000, .pids = 7}};
    struct agent_ceilings nothing = {0};
    struct agent_ceilings c = {.standard = {.memory_bytes = 100, .pids = 50, .open_files = 64},
                               .most = {.cpu_milli = 4000, .pids = 20, .file_bytes = 5}};
    struct proc_limits l = joblimits_of(&nothing, &order, &none);
    assert_int_equal(l.memory_bytes | l.cpu_milli | l.pids | l.open_files | l.file_bytes, 0);
    assert_int_equal(l.cpu_asked_milli, 2000); /* a weight, not a limit */
    l = joblimits_of(&c, &order, &none);
    assert_int_equal(l.memory_bytes, 100);
    assert_int_equal(l.cpu_milli, 4000);
    assert_int_equal(l.pids, 20);
    assert_int_equal(l.open_files, 64);
    assert_int_equal(l.file_bytes, 5);
    l = joblimits_of(&c, &order, &own);
    assert_int_equal(l.memory_bytes, 500);
    assert_int_equal(l.cpu_milli, 4000);
    assert_int_equal(l.pids, 7);
    c.by_request = true;
    l = joblimits_of(&c, &order, &none);
    assert_int_equal(l.memory_bytes, 300);
    assert_int_equal(l.cpu_milli, 2000);
    assert_int_equal(joblimits_of(&c, &order, &own).memory_bytes, 500);
}

static struct wire_end tell(const struct proc_limits *l, const struct proc_usage *u, struct wire_end end) {
    joblimits_tell(l, u, &arena, &end);
    return end;
}

static void assert_says(const struct wire_end *end, enum wire_hit hit, uint32_t count, const char *text) {
    assert_int_equal(end->hit, hit);
    assert_int_equal(end->hit_count, count);
    if (!slice_eq(end->reason, slice_str(text))) fail_msg("it says: %.*s", SLICE_FMT(end->reason));
}

static void the_limit_that_was_hit_is_named(void **state) {
    (void)state;
    const struct proc_limits l = {.memory_bytes = 64 << 20, .pids = 20, .file_bytes = 1000};
    struct wire_end failed = {.outcome = WIRE_OUTCOME_EXIT, .exit_code = 1};
    struct wire_end end =
        tell(&l, &(struct proc_usage){.oom_kills = 2, .oom_is_own = true, .forks_refused = 1}, failed);
    assert_says(&end, WIRE_HIT_MEMORY, 2, "killed: used more than its 64MiB of memory");
    end = tell(&l, &(struct proc_usage){.oom_kills = 1}, failed);
    assert_says(&end, WIRE_HIT_NONE, 0, "killed: the machine ran out of memory");
    end = tell(&l, &(struct proc_usage){.forks_refused = 3}, failed);
    assert_says(&end, WIRE_HIT_PIDS, 3, "fork refused: its limit of 20 processes was reached, 3 times");
    failed.signal = SIGXFSZ;
    end = tell(&l, &(struct proc_usage){0}, failed);
    assert_says(&end, WIRE_HIT_FILE_SIZE, 1, "killed: wrote a file larger than its 1000 bytes");
    end = tell(&(struct proc_limits){0}, &(struct proc_usage){0}, failed);
    assert_says(&end, WIRE_HIT_NONE, 0, "");
}

static void an_end_within_limits_needs_no_explanation(void **state) {
    (void)state;
    const struct proc_limits l = {.pids = 20};
    struct wire_end end =
        tell(&l, &(struct proc_usage){.cpu_ms = 5, .memory_bytes_max = 6, .throttled_ms = 7, .forks_refused = 1},
             (struct wire_end){.outcome = WIRE_OUTCOME_OK});
    assert_says(&end, WIRE_HIT_PIDS, 1, "");
    assert_int_equal(end.cpu_ms, 5);
    assert_int_equal(end.memory_bytes_max, 6);
    assert_int_equal(end.throttled_ms, 7);
    assert_int_equal(end.unkept.len, 0);
}

static void what_is_not_kept_is_said(void **state) {
    (void)state;
    const struct proc_limits l = {0};
    struct proc_usage u = {.unkept = PROC_BIT(PROC_LIMIT_CPU) | PROC_BIT(PROC_LIMIT_PIDS),
                           .weak = PROC_BIT(PROC_LIMIT_MEMORY)};
    struct wire_end end = tell(&l, &u, (struct wire_end){0});
    assert_true(slice_eq(end.unkept, SLICE("cpu, pids not kept; memory kept for each process by itself")));
    u = (struct proc_usage){.weak = PROC_BIT(PROC_LIMIT_MEMORY)};
    end = tell(&l, &u, (struct wire_end){0});
    assert_true(slice_eq(end.unkept, SLICE("memory kept for each process by itself")));
}

static void assert_gpus(const struct gpus *g, uint32_t owner, const char *text) {
    struct slice got = gpus_text(g, owner, &arena);
    if (!slice_eq(got, slice_str(text))) fail_msg("%u has %.*s", owner, SLICE_FMT(got));
}

static void no_two_have_the_same_gpu(void **state) {
    (void)state;
    struct gpus g = {.count = 3};
    assert_true(gpus_take(&g, 1, 1));
    assert_true(gpus_take(&g, 2, 2));
    assert_gpus(&g, 1, "0");
    assert_gpus(&g, 2, "1,2");
    assert_false(gpus_take(&g, 3, 1));
    assert_true(gpus_give(&g, 1));
    assert_false(gpus_give(&g, 1));
    assert_false(gpus_take(&g, 3, 2)); /* all or none */
    assert_true(gpus_take(&g, 3, 1));
    assert_gpus(&g, 3, "0");
    assert_true(gpus_give(&g, 2));
    assert_gpus(&g, 2, "");
    gpus_fini(&g);
}

static void gpus_have_the_names_that_programs_know(void **state) {
    (void)state;
    static const char *const names[] = {"GPU-8f3", "5", NULL};
    struct gpus g = {.count = 2, .names = names};
    assert_true(gpus_take(&g, 9, 2));
    assert_gpus(&g, 9, "GPU-8f3,5");
    gpus_fini(&g);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(own_then_reserved_then_standard_and_never_above_the_most),
        T(the_limit_that_was_hit_is_named),
        T(an_end_within_limits_needs_no_explanation),
        T(what_is_not_kept_is_said),
        T(no_two_have_the_same_gpu),
        T(gpus_have_the_names_that_programs_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
