/* check_test.c: each checker sees a run that breaks its promise, and must object; and the same run without the
 * offence, and must not. */
#include "test.h"

#include <stdio.h>

#include "trace_fixture.h"

#define PLAIN .kind = TK_WORK
#define PARENTS(...) .parents = (const uint32_t[]){__VA_ARGS__}, \
                     .parent_count = sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)
#define SUBMIT(...) SUBMIT_AS(1, "", "", __VA_ARGS__)
#define SUBMIT_AS(id, key_, hash_, ...)                                                          \
    do {                                                                                         \
        const struct trace_job jobs_[] = {__VA_ARGS__};                                          \
        SAY(.kind = TR_SUBMITTED,                                                                \
            .as.jobs = {.flow = (id), .key = bytes(key_), .key_hash = bytes(hash_), .jobs = jobs_, \
                        .key_expires_ms = T0 + 100, .job_count = sizeof jobs_ / sizeof *jobs_}); \
    } while (0)
#define ATTEMPT(w, o, n, ...) .as.attempt = {.flow = 1, .ordinal = (o), .attempt = (n), .worker = bytes(w), \
                                             .incarnation = 1, __VA_ARGS__}
#define PROCESS(w, o, n, f) .as.process = {.flow = 1, .ordinal = (o), .attempt = (n), .worker = bytes(w), \
                                           .incarnation = 1, .fence = (f)}
#define ASK(n, key_, hash_) .kind = TA_ASKED, .as.asked = {.call = (n), .ask = TQ_SUBMIT, .key = bytes(key_), \
                                                           .key_hash = bytes(hash_), .job_count = 1}
#define ANSWER(n, what, ...) .kind = TA_ANSWERED, .as.answered = {.call = (n), .answer = (what), .lsn = lsn, \
                                                                  __VA_ARGS__}

static void worker(const char *name, uint32_t slots) {
    SAY(.kind = TR_WORKER, .as.worker = {.worker = bytes(name), .incarnation = 1, .slots = slots, .cpu_milli = 1000,
                                         .memory_bytes = 1 << 20, .gpus = 1});
}

static void assign(const char *w, uint32_t o, uint32_t n) {
    SAY(.kind = TR_ASSIGNED, ATTEMPT(w, o, n));
    durable();
}

static void finish(uint32_t o, uint32_t n, enum trace_outcome outcome) {
    SAY(.kind = TR_ENDED, ATTEMPT("", o, n, .outcome = outcome));
    durable();
}

/* ---- log ---- */

static void a_clean_run_is_clean(void **state) {
    (void)state;
    worker("w", 2);
    SAY(ASK(1, "k", "h"));
    SUBMIT_AS(1, "k", "h", {PLAIN});
    durable();
    SAY(ANSWER(1, TN_OK, .flow = 1, .job_count = 1));
    assign("w", 0, 1);
    SAY(.kind = TW_PROCESS, PROCESS("w", 0, 1, 5));
    SAY(.kind = TR_STARTED, ATTEMPT("w", 0, 1));
    restart(lsn - 1); /* the last record was never durable */
    for (uint64_t i = 1; i <= lsn; i++) {
        SAY(.kind = TR_OTHER, .replayed = true, .lsn = i, .sum = i * 31);
    }
    SAY(.kind = TR_OPENED, .as.opened.epoch = epoch);
    SAY(.kind = TW_PROCESS_END, PROCESS("w", 0, 1, 5));
    SAY(.kind = TA_ASKED, .as.asked = {.call = 2, .ask = TQ_DONE, .flow = 1, .attempt = 1, .outcome = TO_OK});
    finish(0, 1, TO_OK);
    SAY(ANSWER(2, TN_OK, .epoch = epoch));
    SAY(.kind = TW_SEEN, .as.seen = {.lsn = lsn, .flow = 1, .state = TS_SUCCEEDED});
    SAY(.kind = TW_QUIET);
    assert_null(check_finding(c));
}

static void an_effect_before_its_record_is_durable(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    OBJECTION("log", .kind = TW_RELEASED, .as.released = {.effect = TE_ASSIGN, .lsn = lsn});
}

static void an_answer_before_its_record_is_durable(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    durable();
    SAY(ANSWER(1, TN_REFUSED));
    SUBMIT_AS(2, "", "", {PLAIN});
    OBJECTION("log", ANSWER(2, TN_REFUSED));
}

static void a_read_of_what_is_not_durable(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    OBJECTION("log", .kind = TW_SEEN, .as.seen = {.lsn = lsn, .flow = 1});
}

static void durable_is_lost(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    SUBMIT_AS(2, "", "", {PLAIN});
    durable();
    OBJECTION("log", .kind = TW_RESTARTED, .as.restarted = {.epoch = 2, .head = 1});
}

static void durable_is_changed(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    durable();
    restart(1);
    OBJECTION("log", .kind = TR_OTHER, .replayed = true, .lsn = 1, .sum = 99);
}

static void records_are_invented(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    OBJECTION("log", .kind = TW_RESTARTED, .as.restarted = {.epoch = 2, .head = 2});
}

static void lsns_have_a_gap(void **state) {
    (void)state;
    lsn = 1;
    OBJECTION("log", .kind = TR_OTHER);
}

static void durable_before_it_exists(void **state) {
    (void)state;
    OBJECTION("log", .kind = TW_DURABLE, .as.durable.lsn = 1);
}

static void durable_mark_falls(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    durable();
    OBJECTION("log", .kind = TW_DURABLE, .as.durable.lsn = 0);
}

static void the_time_of_records_falls(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    now--;
    OBJECTION("log", .kind = TR_OTHER);
}

static void the_epoch_of_records_falls(void **state) {
    (void)state;
    epoch = 3;
    SUBMIT({PLAIN});
    epoch = 2;
    OBJECTION("log", .kind = TR_OTHER);
}

static void epoch_stays_at_a_restart(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    OBJECTION("log", .kind = TW_RESTARTED, .as.restarted = {.epoch = 1, .head = 1});
}

static void opened_in_another_epoch(void **state) {
    (void)state;
    OBJECTION("log", .kind = TR_OPENED, .as.opened.epoch = 7);
}

static void message_of_an_earlier_epoch(void **state) {
    (void)state;
    SAY(.kind = TW_RELEASED, .as.released = {.effect = TE_STOP, .epoch = 2});
    OBJECTION("log", .kind = TW_RELEASED, .as.released = {.effect = TE_STOP, .epoch = 1});
}

/* ---- submit ---- */

static void acknowledged_and_not_there(void **state) {
    (void)state;
    SAY(ASK(1, "", ""));
    OBJECTION("submit", ANSWER(1, TN_OK, .flow = 1, .job_count = 1));
}

static void acknowledged_with_fewer_jobs(void **state) {
    (void)state;
    SAY(ASK(1, "", ""));
    SUBMIT({PLAIN}, {PLAIN});
    durable();
    OBJECTION("submit", ANSWER(1, TN_OK, .flow = 1, .job_count = 1));
}

static void acknowledged_twice_without_a_key(void **state) {
    (void)state;
    SAY(ASK(1, "", ""));
    SAY(ASK(2, "", ""));
    SUBMIT({PLAIN});
    durable();
    SAY(ANSWER(1, TN_OK, .flow = 1, .job_count = 1));
    OBJECTION("submit", ANSWER(2, TN_OK, .flow = 1, .job_count = 1));
}

static void key_is_taken_twice(void **state) {
    (void)state;
    SUBMIT_AS(1, "k", "h", {PLAIN});
    const struct trace_job one[] = {{PLAIN}};
    OBJECTION("submit", .kind = TR_SUBMITTED,
              .as.jobs = {.flow = 2, .key = bytes("k"), .key_hash = bytes("h"), .jobs = one, .job_count = 1});
}

static void key_comes_free_when_it_expires(void **state) {
    (void)state;
    SUBMIT_AS(1, "k", "h", {PLAIN});
    now += 100;
    SAY(.kind = TR_KEY_EXPIRED, .as.key.key = bytes("k"));
    SUBMIT_AS(2, "k", "other", {PLAIN});
}

static void key_expires_too_early(void **state) {
    (void)state;
    SUBMIT_AS(1, "k", "h", {PLAIN});
    now += 99;
    OBJECTION("submit", .kind = TR_KEY_EXPIRED, .as.key.key = bytes("k"));
}

static void other_body_is_accepted(void **state) {
    (void)state;
    SUBMIT_AS(1, "k", "h", {PLAIN});
    durable();
    SAY(ASK(1, "k", "other"));
    OBJECTION("submit", ANSWER(1, TN_OK, .flow = 1, .job_count = 1, .repeated = true));
}

static void other_body_is_a_conflict(void **state) {
    (void)state;
    SUBMIT_AS(1, "k", "h", {PLAIN});
    durable();
    SAY(ASK(1, "k", "other"));
    SAY(ANSWER(1, TN_CONFLICT));
    SAY(ASK(2, "k", "h"));
    OBJECTION("submit", ANSWER(2, TN_CONFLICT));
}

static void conflict_with_nothing(void **state) {
    (void)state;
    SAY(ASK(1, "k", "h"));
    OBJECTION("submit", ANSWER(1, TN_CONFLICT));
}

static void two_submits_are_new(void **state) {
    (void)state;
    SUBMIT_AS(1, "k", "h", {PLAIN});
    durable();
    SAY(ASK(1, "k", "h"));
    SAY(ASK(2, "k", "h"));
    SAY(ASK(3, "k", "h"));
    SAY(ANSWER(1, TN_OK, .flow = 1, .job_count = 1));
    SAY(ANSWER(2, TN_OK, .flow = 1, .job_count = 1, .repeated = true));
    OBJECTION("submit", ANSWER(3, TN_OK, .flow = 1, .job_count = 1));
}

static void repeat_gets_another_answer(void **state) {
    (void)state;
    SUBMIT_AS(1, "k", "h", {PLAIN});
    durable();
    SAY(ASK(1, "k", "h"));
    OBJECTION("submit", ANSWER(1, TN_OK, .flow = 1, .job_count = 5, .repeated = true));
}

static void flow_number_is_used_twice(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    const struct trace_job one[] = {{PLAIN}};
    OBJECTION("submit", .kind = TR_SUBMITTED, .as.jobs = {.flow = 1, .jobs = one, .job_count = 1});
}

/* ---- attempt ---- */

static void budget_is_exceeded(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN}); /* retries: 0 */
    assign("w", 0, 1);
    finish(0, 1, TO_LOST);
    OBJECTION("attempt", .kind = TR_ASSIGNED, ATTEMPT("w", 0, 2));
}

static void retry_gives_a_new_budget(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN, .retries = 1});
    assign("w", 0, 1);
    finish(0, 1, TO_LOST);
    assign("w", 0, 2);
    finish(0, 2, TO_EXIT);
    SAY(.kind = TR_RETRIED, .as.job = {.flow = 1});
    assign("w", 0, 3);
    finish(0, 3, TO_EXIT);
    assign("w", 0, 4);
    finish(0, 4, TO_EXIT);
    OBJECTION("attempt", .kind = TR_ASSIGNED, ATTEMPT("w", 0, 5));
}

static void given_away_while_open(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN, .retries = 3});
    assign("w", 0, 1);
    OBJECTION("attempt", .kind = TR_ASSIGNED, ATTEMPT("w", 0, 2));
}

static void attempt_number_repeats(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN, .retries = 3});
    assign("w", 0, 1);
    finish(0, 1, TO_EXIT);
    OBJECTION("attempt", .kind = TR_ASSIGNED, ATTEMPT("w", 0, 1));
}

static void an_attempt_ends_twice(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN});
    assign("w", 0, 1);
    finish(0, 1, TO_OK);
    OBJECTION("attempt", .kind = TR_ENDED, ATTEMPT("w", 0, 1));
}

static void ends_without_beginning(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    OBJECTION("attempt", .kind = TR_ENDED, ATTEMPT("w", 0, 1));
}

static void runs_before_it_is_durable(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN});
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 0, 1));
    OBJECTION("attempt", .kind = TW_PROCESS, PROCESS("w", 0, 1, 1));
}

static void an_attempt_runs_on_another_worker(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN});
    assign("w", 0, 1);
    OBJECTION("attempt", .kind = TW_PROCESS, PROCESS("x", 0, 1, 1));
}

static void an_attempt_runs_twice(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN});
    assign("w", 0, 1);
    SAY(.kind = TW_PROCESS, PROCESS("w", 0, 1, 1));
    SAY(.kind = TW_PROCESS_END, PROCESS("w", 0, 1, 1));
    OBJECTION("attempt", .kind = TW_PROCESS, PROCESS("w", 0, 1, 1));
}

static void fence_does_not_rise(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN, .retries = 1});
    assign("w", 0, 1);
    SAY(.kind = TW_PROCESS, PROCESS("w", 0, 1, 7));
    finish(0, 1, TO_LOST);
    assign("w", 0, 2);
    OBJECTION("attempt", .kind = TW_PROCESS, PROCESS("w", 0, 2, 7));
}

#define DONE(n, what) .kind = TA_ASKED, .as.asked = {.call = (n), .ask = TQ_DONE, .flow = 1, .attempt = 1, \
                                                     .outcome = (what)}

static void stale_completion_is_accepted(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN});
    assign("w", 0, 1);
    SAY(DONE(1, TO_OK));
    finish(0, 1, TO_LOST);
    OBJECTION("attempt", ANSWER(1, TN_OK));
}

static void completion_is_not_recorded(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN});
    assign("w", 0, 1);
    SAY(DONE(1, TO_OK));
    OBJECTION("attempt", ANSWER(1, TN_OK));
}

static void two_completions_are_news(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN});
    assign("w", 0, 1);
    SAY(DONE(1, TO_OK));
    SAY(DONE(2, TO_OK));
    SAY(DONE(3, TO_OK));
    finish(0, 1, TO_OK);
    SAY(ANSWER(1, TN_OK));
    SAY(ANSWER(2, TN_OK, .repeated = true));
    OBJECTION("attempt", ANSWER(3, TN_OK));
}

/* ---- exclusive ---- */

static void two_attempts(bool exclusive) {
    worker("w", 2);
    worker("x", 2);
    SUBMIT({PLAIN, .exclusive = exclusive, .retries = 3});
    assign("w", 0, 1);
    SAY(.kind = TW_PROCESS, PROCESS("w", 0, 1, 1));
    finish(0, 1, TO_LOST);
    assign("x", 0, 2);
}

static void exclusive_runs_side_by_side(void **state) {
    (void)state;
    two_attempts(true);
    OBJECTION("exclusive", .kind = TW_PROCESS, PROCESS("x", 0, 2, 2));
}

static void others_may_run_side_by_side(void **state) {
    (void)state;
    two_attempts(false);
    SAY(.kind = TW_PROCESS, PROCESS("x", 0, 2, 2));
}

static void exclusive_runs_one_after_the_other(void **state) {
    (void)state;
    two_attempts(true);
    SAY(.kind = TW_PROCESS_END, PROCESS("w", 0, 1, 1));
    SAY(.kind = TW_PROCESS, PROCESS("x", 0, 2, 2));
}

static void paused_machine_is_fenced_off(void **state) {
    (void)state;
    two_attempts(true);
    SAY(.kind = TW_MACHINE, .as.machine = {.worker = bytes("w"), .paused = true});
    SAY(.kind = TW_PROCESS, PROCESS("x", 0, 2, 2));
}

static void paused_machine_is_not_fenced_off(void **state) {
    (void)state;
    two_attempts(true);
    SAY(.kind = TW_MACHINE, .as.machine = {.worker = bytes("w"), .paused = true});
    OBJECTION("exclusive", .kind = TW_PROCESS, PROCESS("x", 0, 2, 0));
}

static void process_ends_that_never_began(void **state) {
    (void)state;
    OBJECTION("exclusive", .kind = TW_PROCESS_END, PROCESS("x", 0, 2, 0));
}

/* ---- limits ---- */

#define NAMES(list, ...)                                                                                        \
    .list##s = (const struct trace_bytes[]){__VA_ARGS__},                                                       \
    .list##_count = sizeof((const struct trace_bytes[]){__VA_ARGS__}) / sizeof(struct trace_bytes)
#define LIMIT(...) .kind = TR_LIMIT, .as.limit = {__VA_ARGS__}
#define SLOTS(n) .kind = TR_WORKER, .as.worker = {.worker = bytes("w"), .incarnation = 1, .slots = (n)}

static void a_key_is_as_wide_as_it_is_set(void **state) {
    (void)state;
    SAY(SLOTS(9));
    SUBMIT({NAMES(key, bytes("db"))}, {NAMES(key, bytes("db"))}, {NAMES(key, bytes("db"), bytes("x"))}, {PLAIN});
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 0, 1));
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 3, 1));
    SAY(LIMIT(.name = bytes("db"), .width = 2));
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 1, 1));
    SAY(.kind = TR_ENDED, ATTEMPT("w", 0, 1));
    SAY(LIMIT(.name = bytes("db"), .clear = true, .width = 2));
    OBJECTION("limit", .kind = TR_ASSIGNED, ATTEMPT("w", 2, 1));
}

static void a_width_that_was_lost_does_not_count(void **state) {
    (void)state;
    SAY(SLOTS(9));
    SUBMIT({NAMES(key, bytes("db"))}, {NAMES(key, bytes("db"))});
    durable();
    SAY(LIMIT(.name = bytes("db"), .width = 2));
    SAY(.kind = TW_CRASHED);
    lsn = 2;
    SAY(.kind = TW_RESTARTED, .as.restarted = {++epoch, lsn});
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 0, 1));
    OBJECTION("limit", .kind = TR_ASSIGNED, ATTEMPT("w", 1, 1));
}

static void a_tenant_runs_as_many_as_it_may(void **state) {
    (void)state;
    SAY(SLOTS(9));
    SUBMIT({PLAIN}, {PLAIN}, {PLAIN});
    SAY(LIMIT(.kind = TL_TENANT, .running = 2));
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 0, 1));
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 1, 1));
    OBJECTION("limit", .kind = TR_ASSIGNED, ATTEMPT("w", 2, 1));
}

/* A burst of two, one more after 500 ms: the fourth is one too many, a millisecond early. */
static void rated(int64_t last_ms) {
    SAY(SLOTS(9));
    SUBMIT({NAMES(rate, bytes("api"))}, {NAMES(rate, bytes("api"))}, {NAMES(rate, bytes("api"))},
           {NAMES(rate, bytes("api"))});
    SAY(LIMIT(.kind = TL_RATE, .name = bytes("api"), .rate_milli = 2000, .burst = 2));
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 0, 1));
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 1, 1));
    now += 500;
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 2, 1));
    SAY(LIMIT(.kind = TL_RATE, .name = bytes("api"), .rate_milli = 1000, .burst = 9)); /* brings no tokens */
    now += last_ms;
}

static void a_rate_is_kept(void **state) {
    (void)state;
    rated(1000);
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 3, 1));
}

static void a_rate_is_exceeded(void **state) {
    (void)state;
    rated(999);
    OBJECTION("limit", .kind = TR_ASSIGNED, ATTEMPT("w", 3, 1));
}

/* The first attempt is given up as lost while its process goes on. */
static void overlapping(bool exclusive) {
    SAY(SLOTS(9));
    SUBMIT({NAMES(key, bytes("db")), .exclusive = exclusive}, {NAMES(key, bytes("db"))});
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 0, 1));
    durable();
    SAY(.kind = TW_PROCESS, PROCESS("w", 0, 1, 1));
    SAY(.kind = TR_ENDED, ATTEMPT("w", 0, 1, .outcome = TO_LOST));
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 1, 1));
    durable();
}

static void processes_of_a_lost_attempt_may_overlap(void **state) {
    (void)state;
    overlapping(false);
    SAY(.kind = TW_PROCESS, PROCESS("w", 1, 1, 2));
}

static void processes_with_one_key_exclude_each_other(void **state) {
    (void)state;
    overlapping(true);
    OBJECTION("limit", .kind = TW_PROCESS, PROCESS("w", 1, 1, 2));
}

/* ---- capacity ---- */

static void slots_are_exceeded(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN}, {PLAIN}, {PLAIN}, {PLAIN});
    assign("w", 0, 1);
    finish(0, 1, TO_OK);
    assign("w", 1, 1);
    assign("w", 2, 1);
    OBJECTION("capacity", .kind = TR_ASSIGNED, ATTEMPT("w", 3, 1));
}

static void processors_are_exceeded(void **state) {
    (void)state;
    worker("w", 9);
    SUBMIT({PLAIN, .cpu_milli = 600}, {PLAIN, .cpu_milli = 600});
    assign("w", 0, 1);
    OBJECTION("capacity", .kind = TR_ASSIGNED, ATTEMPT("w", 1, 1));
}

static void memory_is_exceeded(void **state) {
    (void)state;
    worker("w", 9);
    SUBMIT({PLAIN, .memory_bytes = 1 << 20}, {PLAIN, .memory_bytes = 1});
    assign("w", 0, 1);
    OBJECTION("capacity", .kind = TR_ASSIGNED, ATTEMPT("w", 1, 1));
}

static void gpus_are_exceeded(void **state) {
    (void)state;
    worker("w", 9);
    SUBMIT({PLAIN, .gpus = 1}, {PLAIN, .gpus = 1});
    assign("w", 0, 1);
    OBJECTION("capacity", .kind = TR_ASSIGNED, ATTEMPT("w", 1, 1));
}

static void named_resource_is_exceeded(void **state) {
    (void)state;
    const struct trace_amount has[] = {{bytes("licence"), 3}}, needs[] = {{bytes("licence"), 2}};
    SAY(.kind = TR_WORKER, .as.worker = {.worker = bytes("w"), .slots = 9, .resources = has, .resource_count = 1});
    SUBMIT({PLAIN, .resources = needs, .resource_count = 1}, {PLAIN, .resources = needs, .resource_count = 1});
    assign("w", 0, 1);
    OBJECTION("capacity", .kind = TR_ASSIGNED, ATTEMPT("w", 1, 1));
}

static void draining_worker_is_given_a_job(void **state) {
    (void)state;
    worker("w", 9);
    SUBMIT({PLAIN});
    SAY(.kind = TR_WORKER_DRAIN, .as.worker = {.worker = bytes("w"), .on = true});
    OBJECTION("capacity", .kind = TR_ASSIGNED, ATTEMPT("w", 0, 1));
}

static void gone_worker_is_given_a_job(void **state) {
    (void)state;
    worker("w", 9);
    SUBMIT({PLAIN});
    SAY(.kind = TR_WORKER_GONE, .as.worker = {.worker = bytes("w")});
    OBJECTION("capacity", .kind = TR_ASSIGNED, ATTEMPT("w", 0, 1));
}

static void lost_records_take_nothing(void **state) {
    (void)state;
    worker("w", 1);
    SUBMIT({PLAIN}, {PLAIN});
    durable();
    SAY(.kind = TR_ASSIGNED, ATTEMPT("w", 0, 1));
    restart(lsn - 1);
    assign("w", 1, 1);
    OBJECTION("capacity", .kind = TR_ASSIGNED, ATTEMPT("w", 0, 1));
}

/* ---- graph ---- */

static void child_begins_before_its_parent_ends(void **state) {
    (void)state;
    worker("w", 9);
    SUBMIT({PLAIN}, {PLAIN}, {PARENTS(0, 1)});
    assign("w", 0, 1);
    assign("w", 1, 1);
    finish(0, 1, TO_OK);
    assign("w", 2, 1);
    OBJECTION("graph", .kind = TW_PROCESS, PROCESS("w", 2, 1, 1));
}

static void child_begins_after_its_parents(void **state) {
    (void)state;
    worker("w", 9);
    SUBMIT({PLAIN}, {PARENTS(0)});
    assign("w", 0, 1);
    finish(0, 1, TO_OK);
    assign("w", 1, 1);
    SAY(.kind = TW_PROCESS, PROCESS("w", 1, 1, 1));
}

static void child_begins_after_a_failure(void **state) {
    (void)state;
    worker("w", 9);
    SUBMIT({PLAIN}, {PARENTS(0), .on_upstream = TU_RUN}, {PARENTS(0)});
    assign("w", 0, 1);
    finish(0, 1, TO_EXIT);
    assign("w", 1, 1);
    SAY(.kind = TW_PROCESS, PROCESS("w", 1, 1, 1));
    assign("w", 2, 1);
    OBJECTION("graph", .kind = TW_PROCESS, PROCESS("w", 2, 1, 2));
}

static void surviving_child_begins_too_early(void **state) {
    (void)state;
    worker("w", 9);
    SUBMIT({PLAIN}, {PARENTS(0), .on_upstream = TU_RUN});
    assign("w", 0, 1);
    assign("w", 1, 1);
    OBJECTION("graph", .kind = TW_PROCESS, PROCESS("w", 1, 1, 1));
}

static void barrier_does_not_hide_a_parent(void **state) {
    (void)state;
    worker("w", 9);
    SUBMIT({PLAIN}, {PARENTS(0), .kind = TK_BARRIER}, {PARENTS(1)});
    assign("w", 2, 1);
    OBJECTION("graph", .kind = TW_PROCESS, PROCESS("w", 2, 1, 1));
}

static void foreign_parent_is_ignored(void **state) {
    (void)state;
    worker("w", 9);
    SUBMIT_AS(2, "", "", {PLAIN});
    const struct trace_foreign p[] = {{.flow = 2}};
    SUBMIT({.foreign = p, .foreign_count = 1});
    assign("w", 0, 1);
    OBJECTION("graph", .kind = TW_PROCESS, PROCESS("w", 0, 1, 1));
}

/* ---- end ---- */

#define SEEN(s) .kind = TW_SEEN, .as.seen = {.lsn = lsn, .flow = 1, .state = (s)}

static void an_end_is_undone(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    durable();
    SAY(SEEN(TS_FAILED));
    OBJECTION("end", SEEN(TS_READY));
}

static void an_end_is_undone_on_request(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    durable();
    SAY(SEEN(TS_SUCCEEDED));
    SAY(SEEN(TS_QUARANTINED));
    SAY(.kind = TR_RETRIED, .as.job = {.flow = 1});
    durable();
    SAY(SEEN(TS_READY));
}

static void a_job_is_stuck_in_silence(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    durable();
    SAY(SEEN(TS_READY));
    OBJECTION("end", .kind = TW_QUIET);
}

static void a_job_is_stuck_with_a_reason(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    durable();
    SAY(.kind = TW_WHY, .as.why = {.flow = 1, .has_reason = true});
    SAY(.kind = TW_QUIET);
    SAY(.kind = TW_WHY, .as.why = {.flow = 1, .has_reason = false});
    OBJECTION("end", .kind = TW_QUIET);
}

static void a_job_is_not_even_looked_at(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PLAIN});
    durable();
    SAY(SEEN(TS_SUCCEEDED));
    OBJECTION("end", .kind = TW_QUIET);
}

/* ---- what restarts take back ---- */

static void lost_ends_are_open_again(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN, .retries = 1});
    assign("w", 0, 1);
    SAY(.kind = TR_ENDED, ATTEMPT("w", 0, 1, .outcome = TO_EXIT));
    restart(lsn - 1);
    OBJECTION("attempt", .kind = TR_ASSIGNED, ATTEMPT("w", 0, 2));
}

static void durable_ends_stay(void **state) {
    (void)state;
    worker("w", 2);
    SUBMIT({PLAIN, .retries = 1});
    assign("w", 0, 1);
    finish(0, 1, TO_EXIT);
    restart(lsn);
    assign("w", 0, 2);
}

static void lost_expiry_leaves_the_key_taken(void **state) {
    (void)state;
    SUBMIT_AS(1, "k", "h", {PLAIN});
    durable();
    now += 100;
    SAY(.kind = TR_KEY_EXPIRED, .as.key.key = bytes("k"));
    restart(1);
    const struct trace_job one[] = {{PLAIN}};
    OBJECTION("submit", .kind = TR_SUBMITTED,
              .as.jobs = {.flow = 2, .key = bytes("k"), .key_hash = bytes("h"), .jobs = one, .job_count = 1});
}

static void forgotten_flows_need_no_end(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    durable();
    SAY(.kind = TR_FORGOTTEN, .as.job = {.flow = 1});
    SAY(.kind = TW_QUIET);
    restart(1);
    OBJECTION("end", .kind = TW_QUIET);
}

static void reasons_do_not_survive_a_restart(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    durable();
    SAY(.kind = TW_WHY, .as.why = {.flow = 1, .has_reason = true});
    restart(1);
    OBJECTION("end", .kind = TW_QUIET);
}

static void recovered_records_are_durable(void **state) {
    (void)state;
    SUBMIT({PLAIN}); /* written, and its sync never confirmed */
    restart(1);
    SAY(.kind = TW_SEEN, .as.seen = {.lsn = 1, .flow = 1});
    epoch = 1;
    OBJECTION("log", .kind = TR_OTHER);
}

/* ---- what is left over ---- */

static void added_jobs_count(void **state) {
    (void)state;
    worker("w", 9);
    SUBMIT({PLAIN});
    const struct trace_job more[] = {{PARENTS(0)}};
    SAY(.kind = TR_ADDED, .as.jobs = {.flow = 1, .jobs = more, .job_count = 1});
    assign("w", 1, 1);
    OBJECTION("graph", .kind = TW_PROCESS, PROCESS("w", 1, 1, 1));
}

static void flow_of_another_tenant(void **state) {
    (void)state;
    SUBMIT_AS(1, "k", "h", {PLAIN});
    durable();
    SAY(.kind = TA_ASKED, .as.asked = {.call = 1, .ask = TQ_SUBMIT, .tenant = bytes("t"), .key = bytes("k"),
                                       .key_hash = bytes("h"), .job_count = 1});
    OBJECTION("submit", ANSWER(1, TN_OK, .flow = 1, .job_count = 1, .repeated = true));
}

static void dead_key_is_answered(void **state) {
    (void)state;
    SUBMIT_AS(1, "k", "h", {PLAIN});
    now += 100;
    SAY(.kind = TR_KEY_EXPIRED, .as.key.key = bytes("k"));
    durable();
    SAY(ASK(1, "k", "h"));
    OBJECTION("submit", ANSWER(1, TN_OK, .flow = 1, .job_count = 1, .repeated = true));
}

static void key_expires_twice(void **state) {
    (void)state;
    OBJECTION("submit", .kind = TR_KEY_EXPIRED, .as.key.key = bytes("k"));
}

static void exclusive_jobs_do_not_exclude_others(void **state) {
    (void)state;
    worker("w", 9);
    SUBMIT({.exclusive = true}, {.exclusive = true});
    assign("w", 0, 1);
    assign("w", 1, 1);
    SAY(.kind = TW_PROCESS, PROCESS("w", 0, 1, 1));
    SAY(.kind = TW_PROCESS, PROCESS("w", 1, 1, 2));
    SAY(.kind = TW_PROCESS_END, PROCESS("w", 1, 1, 2));
    OBJECTION("exclusive", .kind = TW_PROCESS_END, PROCESS("w", 1, 1, 2));
}

static void foreign_parent_was_seen_to_fail(void **state) {
    (void)state;
    worker("w", 9);
    const struct trace_foreign good[] = {{.flow = 7, .seen = TS_SUCCEEDED}}, bad[] = {{.flow = 7, .seen = TS_FAILED}};
    SUBMIT({.foreign = good, .foreign_count = 1}, {.foreign = bad, .foreign_count = 1});
    assign("w", 0, 1);
    SAY(.kind = TW_PROCESS, PROCESS("w", 0, 1, 1));
    assign("w", 1, 1);
    OBJECTION("graph", .kind = TW_PROCESS, PROCESS("w", 1, 1, 2));
}

static void unknown_job_is_assigned(void **state) {
    (void)state;
    worker("w", 9);
    OBJECTION("attempt", .kind = TR_ASSIGNED, ATTEMPT("w", 0, 1));
}

static void record_comes_back_that_was_never_written(void **state) {
    (void)state;
    OBJECTION("log", .kind = TR_OTHER, .replayed = true, .lsn = 1);
}

static void other_end_after_the_end(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    durable();
    SAY(SEEN(TS_SUCCEEDED));
    OBJECTION("end", SEEN(TS_FAILED));
}

static void older_picture_arrives_late(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    SAY(.kind = TR_OTHER);
    durable();
    SAY(SEEN(TS_SUCCEEDED));
    SAY(.kind = TW_SEEN, .as.seen = {.lsn = 1, .flow = 1, .state = TS_READY});
    SAY(.kind = TW_QUIET);
}

/* ---- tenancy ---- */

#define TOUCH(what, by_, of_, flow_) .kind = (what), .as.touch = {.by = bytes(by_), .of = bytes(of_), .flow = (flow_)}

static void a_caller_touches_its_own_tenant(void **state) {
    (void)state;
    SAY(TOUCH(TW_CHANGED, "acme", "acme", 1));
    SAY(TOUCH(TW_CHANGED, "acme", "acme", 0));
    SAY(TOUCH(TW_TOLD, "bolt", "bolt", 2));
}

static void flow_of_another_is_changed(void **state) {
    (void)state;
    OBJECTION("tenancy", TOUCH(TW_CHANGED, "mallory", "acme", 1));
}

static void worker_of_another_is_changed(void **state) {
    (void)state;
    OBJECTION("tenancy", TOUCH(TW_CHANGED, "mallory", "acme", 0));
}

static void job_of_another_is_told(void **state) {
    (void)state;
    OBJECTION("tenancy", TOUCH(TW_TOLD, "acm", "acme", 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_caller_touches_its_own_tenant),
        T(flow_of_another_is_changed),
        T(worker_of_another_is_changed),
        T(job_of_another_is_told),
        T(a_key_is_as_wide_as_it_is_set),
        T(a_width_that_was_lost_does_not_count),
        T(a_tenant_runs_as_many_as_it_may),
        T(a_rate_is_kept),
        T(a_rate_is_exceeded),
        T(processes_of_a_lost_attempt_may_overlap),
        T(processes_with_one_key_exclude_each_other),
        T(a_clean_run_is_clean),
        T(an_effect_before_its_record_is_durable),
        T(an_answer_before_its_record_is_durable),
        T(a_read_of_what_is_not_durable),
        T(durable_is_lost),
        T(durable_is_changed),
        T(records_are_invented),
        T(lsns_have_a_gap),
        T(durable_before_it_exists),
        T(durable_mark_falls),
        T(the_time_of_records_falls),
        T(the_epoch_of_records_falls),
        T(epoch_stays_at_a_restart),
        T(opened_in_another_epoch),
        T(message_of_an_earlier_epoch),
        T(acknowledged_and_not_there),
        T(acknowledged_with_fewer_jobs),
        T(acknowledged_twice_without_a_key),
        T(key_is_taken_twice),
        T(key_comes_free_when_it_expires),
        T(key_expires_too_early),
        T(other_body_is_accepted),
        T(other_body_is_a_conflict),
        T(conflict_with_nothing),
        T(two_submits_are_new),
        T(repeat_gets_another_answer),
        T(flow_number_is_used_twice),
        T(budget_is_exceeded),
        T(retry_gives_a_new_budget),
        T(given_away_while_open),
        T(attempt_number_repeats),
        T(an_attempt_ends_twice),
        T(ends_without_beginning),
        T(runs_before_it_is_durable),
        T(an_attempt_runs_on_another_worker),
        T(an_attempt_runs_twice),
        T(fence_does_not_rise),
        T(stale_completion_is_accepted),
        T(completion_is_not_recorded),
        T(two_completions_are_news),
        T(exclusive_runs_side_by_side),
        T(others_may_run_side_by_side),
        T(exclusive_runs_one_after_the_other),
        T(paused_machine_is_fenced_off),
        T(paused_machine_is_not_fenced_off),
        T(process_ends_that_never_began),
        T(slots_are_exceeded),
        T(processors_are_exceeded),
        T(memory_is_exceeded),
        T(gpus_are_exceeded),
        T(named_resource_is_exceeded),
        T(draining_worker_is_given_a_job),
        T(gone_worker_is_given_a_job),
        T(lost_records_take_nothing),
        T(child_begins_before_its_parent_ends),
        T(child_begins_after_its_parents),
        T(child_begins_after_a_failure),
        T(surviving_child_begins_too_early),
        T(barrier_does_not_hide_a_parent),
        T(foreign_parent_is_ignored),
        T(an_end_is_undone),
        T(an_end_is_undone_on_request),
        T(a_job_is_stuck_in_silence),
        T(a_job_is_stuck_with_a_reason),
        T(a_job_is_not_even_looked_at),
        T(lost_ends_are_open_again),
        T(durable_ends_stay),
        T(lost_expiry_leaves_the_key_taken),
        T(forgotten_flows_need_no_end),
        T(reasons_do_not_survive_a_restart),
        T(recovered_records_are_durable),
        T(added_jobs_count),
        T(flow_of_another_tenant),
        T(dead_key_is_answered),
        T(key_expires_twice),
        T(exclusive_jobs_do_not_exclude_others),
        T(foreign_parent_was_seen_to_fail),
        T(unknown_job_is_assigned),
        T(record_comes_back_that_was_never_written),
        T(other_end_after_the_end),
        T(older_picture_arrives_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
