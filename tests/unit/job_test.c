/* job_test.c: the table of moves, every pair of states against a matrix written by hand from the design's diagram. */
#include "test.h"

#include "job.h"

/* clang-format off */
/* Rows: from. Columns: waiting held ready dispatched running checking | succeeded failed timed_out cancelled denied
 * quarantined skipped. */
static const char *const matrix[JOB_STATE_COUNT] = {
    /*                  W H R D R C  S F T C D Q S                                                             */
    [JOB_WAITING]     = ". H R . . C  S F T C . . S", /* a barrier ends here, an external job by a word; cascade, deadline, cancel, skip */
    [JOB_HELD]        = "W . R . . .  S F T C D . S", /* a gate ends here; a verdict denies, a condition skips; foreach */
    [JOB_READY]       = ". H . D . C  S F T C . . S", /* a permission revoked, a kept result; no worker, deadline, cancel */
    [JOB_DISPATCHED]  = "W . . . R C  S F T C . . .", /* retry; its end may overtake the word that it started     */
    [JOB_RUNNING]     = "W . . . . C  S F T C . . .",
    [JOB_CHECKING]    = ". . . . . .  S . T C D Q .", /* the output's verdict, the deadline, a cancel             */
    [JOB_SUCCEEDED]   = "W . . . . .  . . . . . Q .", /* a late verdict; main jobs of its flow begin again        */
    [JOB_FAILED]      = "W . . . . .  . . . . . . .", /* whatever ended badly may start again by retry or rerun   */
    [JOB_TIMED_OUT]   = "W . . . . .  . . . . . . .",
    [JOB_CANCELLED]   = "W . . . . .  . . . . . . .",
    [JOB_DENIED]      = "W . . . . .  . . . . . . .",
    [JOB_QUARANTINED] = "W . . . . .  . . . . . . .",
    [JOB_SKIPPED]     = "W . . . . .  . . . . . . .",
};
/* clang-format on */

static bool allowed(enum job_state from, enum job_state to) {
    uint32_t column = 0;
    for (const char *at = matrix[from]; *at; at++) {
        if (*at == ' ') continue;
        if (column++ == (uint32_t)to) return *at != '.';
    }
    fail_msg("the row of %s is too short", job_state_word(from));
    return false;
}

static void every_pair_of_states_is_as_the_table_says(void **state) {
    (void)state;
    for (uint32_t from = 0; from < JOB_STATE_COUNT; from++)
        for (uint32_t to = 0; to < JOB_STATE_COUNT; to++)
            if (job_may_move((enum job_state)from, (enum job_state)to) !=
                allowed((enum job_state)from, (enum job_state)to))
                fail_msg("%s -> %s", job_state_word((enum job_state)from), job_state_word((enum job_state)to));
}

static void no_state_beyond_the_table(void **state) {
    (void)state;
    assert_panics((void)job_may_move(JOB_STATE_COUNT, JOB_WAITING));
    assert_panics((void)job_may_move(JOB_WAITING, JOB_STATE_COUNT));
    assert_panics((void)job_state_word(JOB_STATE_COUNT));
    assert_panics((void)job_cause_word(JOB_CAUSE_COUNT));
}

static void terminal_and_active(void **state) {
    (void)state;
    const bool terminal[JOB_STATE_COUNT] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1};
    const bool active[JOB_STATE_COUNT] = {0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    for (uint32_t s = 0; s < JOB_STATE_COUNT; s++) {
        assert_int_equal(job_state_is_terminal((enum job_state)s), terminal[s]);
        assert_int_equal(job_state_is_active((enum job_state)s), active[s]);
    }
}

/* FAILED but not by cascade, TIMED_OUT, DENIED, QUARANTINED. */
static void bad_ends_of_its_own_make_a_dead_letter(void **state) {
    (void)state;
    for (uint32_t s = 0; s < JOB_STATE_COUNT; s++)
        for (uint32_t c = 0; c < JOB_CAUSE_COUNT; c++) {
            bool dead = s == JOB_TIMED_OUT || s == JOB_DENIED || s == JOB_QUARANTINED ||
                        (s == JOB_FAILED && c != CAUSE_UPSTREAM && c != CAUSE_CHILDREN);
            assert_int_equal(job_is_dead_letter((enum job_state)s, (enum job_cause)c), dead);
        }
}

static void every_state_and_cause_has_a_word(void **state) {
    (void)state;
    assert_string_equal(job_state_word(JOB_WAITING), "waiting");
    assert_string_equal(job_state_word(JOB_SKIPPED), "skipped");
    assert_string_equal(job_cause_word(CAUSE_NO_WORKER), "no_worker");
    for (uint32_t c = 0; c < JOB_CAUSE_COUNT; c++) assert_true(strlen(job_cause_word((enum job_cause)c)) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_states_is_as_the_table_says),
        cmocka_unit_test(no_state_beyond_the_table),
        cmocka_unit_test(terminal_and_active),
        cmocka_unit_test(bad_ends_of_its_own_make_a_dead_letter),
        cmocka_unit_test(every_state_and_cause_has_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
