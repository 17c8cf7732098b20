/* history_test.c: the built server and its history: flows that have left memory are listed, searched and shown as
 * before, through kill -9, a lost file and a damaged one; nothing is missing and nothing is there twice. */
#include "test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "realserver.h"
#include "wireclient.h"

static struct realserver server;

/* Flows leave memory as soon as the history has them. */
static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    static const char *const flags[] = {"--retention-ms", "0", "--dead-letter-ms", "0", "--segment-bytes", "1048576"};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[i] = flags[i];
    realserver_start(&server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realserver_remove(&server);
    return 0;
}

static void open_admin(struct wireclient *c) {
    wireclient_open(c, server.address, server.admin, WIRE_PEER_CLIENT);
}

static void restart(struct wireclient *c) {
    wireclient_close(c);
    realserver_kill(&server);
    realserver_start(&server);
    open_admin(c);
}

/* Flows that are over at once: `count` of them, with a label by their number. */
static void submit_many(struct wireclient *c, const char *name, uint32_t count) {
    struct wire_options options = {.kind = JOB_BARRIER};
    struct wire_job jobs[] = {{.name = SLICE("first")}, {.name = SLICE("second")}};
    for (uint32_t i = 0; i < count; i++) {
        struct wire_pair label = {SLICE("odd"), slice_str(i % 2 ? "yes" : "no")};
        struct wire_flow flow = {
            .name = slice_str(name), .labels = {&label, 1}, .part = {.options = {&options, 1}, .jobs = {jobs, 2}}};
        struct wire_submit m = {{&flow, 1}};
        (void)wireclient_ask(c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
        wireclient_forget(c);
    }
}

static uint64_t stat_of(struct wireclient *c, const char *name) {
    struct wire_empty m = {0};
    const struct wire_stats *s = wireclient_ask(c, WIRE_STATS, &m, WIRE_NUMBERS);
    const struct wire_amount *numbers = s->numbers.at;
    uint64_t found = UINT64_MAX;
    for (uint32_t i = 0; i < s->numbers.count; i++)
        if (slice_eq(numbers[i].name, slice_str(name))) found = numbers[i].amount;
    wireclient_forget(c);
    assert_true(found != UINT64_MAX);
    return found;
}

static void until(struct wireclient *c, const char *name, uint64_t value) {
    for (uint32_t i = 0; i < 100000 && stat_of(c, name) != value; i++) {
    } /* the answer is the event */
    assert_int_equal(stat_of(c, name), value);
}

/* How many a list has, each once, newest first, in pages of `most`. */
static uint32_t count_all(struct wireclient *c, struct wire_list m, uint32_t most) {
    uint32_t count = 0;
    char cursor[40] = "", last[40] = "";
    m.most = most;
    do {
        m.cursor = slice_str(cursor);
        const struct wire_listed *page = wireclient_ask(c, WIRE_LIST, &m, WIRE_LISTED);
        const struct wire_flow_view *flows = page->flows.at;
        for (uint32_t i = 0; i < page->flows.count; i++) {
            char id[40];
            snprintf(id, sizeof id, "%.*s", SLICE_FMT(flows[i].flow));
            if (last[0] != 0 && strcmp(id, last) >= 0) fail_msg("%s after %s", id, last);
            memcpy(last, id, sizeof last);
        }
        count += page->flows.count;
        snprintf(cursor, sizeof cursor, "%.*s", SLICE_FMT(page->cursor));
        wireclient_forget(c);
    } while (cursor[0] != 0);
    return count;
}

static void flows_that_left_memory_are_listed_and_found(void **state) {
    (void)state;
    struct wireclient c;
    struct wire_pair odd = {SLICE("odd"), SLICE("yes")};
    struct wire_name done = {SLICE("succeeded")}, runs = {SLICE("running")};
    open_admin(&c);
    submit_many(&c, "nightly-load", 120);
    until(&c, "flows", 0);                            /* in memory */
    struct wire_options options = {.kind = JOB_NOOP}; /* nobody runs it */
    struct wire_job job = {.name = SLICE("waits")};
    struct wire_flow flow = {.name = SLICE("nightly-more"), .part = {.options = {&options, 1}, .jobs = {&job, 1}}};
    struct wire_submit m = {{&flow, 1}};
    (void)wireclient_ask(&c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
    assert_int_equal(count_all(&c, (struct wire_list){0}, 7), 121);
    assert_int_equal(count_all(&c, (struct wire_list){0}, 1000), 121);
    assert_int_equal(count_all(&c, (struct wire_list){.name = SLICE("nightly-l")}, 50), 120);
    assert_int_equal(count_all(&c, (struct wire_list){.name = SLICE("nightly-")}, 50), 121);
    assert_int_equal(count_all(&c, (struct wire_list){.labels = {&odd, 1}}, 9), 60);
    assert_int_equal(count_all(&c, (struct wire_list){.states = {&done, 1}}, 100), 120);
    assert_int_equal(count_all(&c, (struct wire_list){.states = {&runs, 1}}, 100), 1);
    assert_int_equal(count_all(&c, (struct wire_list){.text = SLICE("second")}, 100), 120);
    assert_int_equal(count_all(&c, (struct wire_list){.text = SLICE("waits")}, 100), 1);
    assert_int_equal(count_all(&c, (struct wire_list){.text = SLICE("nothing-like-it")}, 100), 0);
    assert_int_equal(count_all(&c, (struct wire_list){.since_ms = 1000}, 100), 121);
    assert_int_equal(count_all(&c, (struct wire_list){.until_ms = 1000}, 100), 0);
    struct wire_list signs = {.text = SLICE("--")};
    assert_non_null(strstr(wireclient_refused(&c, WIRE_LIST, &signs, ERR_INVALID), "letters or digits"));
    wireclient_close(&c);
}

static void pages_go_on_while_flows_come_and_leave(void **state) {
    (void)state;
    struct wireclient c;
    uint32_t seen = 0;
    char cursor[40] = "";
    open_admin(&c);
    submit_many(&c, "first", 100);
    do { /* newest first: what comes later is above the page, what moves from memory to the history stays in it */
        struct wire_list m = {.most = 9, .cursor = slice_str(cursor), .name = SLICE("first")};
        const struct wire_listed *page = wireclient_ask(&c, WIRE_LIST, &m, WIRE_LISTED);
        seen += page->flows.count;
        snprintf(cursor, sizeof cursor, "%.*s", SLICE_FMT(page->cursor));
        wireclient_forget(&c);
        submit_many(&c, "later", 10);
    } while (cursor[0] != 0);
    assert_int_equal(seen, 100);
    wireclient_close(&c);
}

/* ---- what is shown of one ---- */

/* A job that fails once and then succeeds, with a log each time; its flow. */
static void run_one(struct wireclient *c, char flow[40]) {
    struct wireclient w;
    struct wiregot got;
    struct wire_options options = {.kind = JOB_COMMAND, .attempts_max = 2, .backoff_base_ms = 1, .backoff_cap_ms = 1};
    struct wire_job job = {.name = SLICE("train")};
    struct wire_flow f = {.name = SLICE("model"), .part = {.options = {&options, 1}, .jobs = {&job, 1}}};
    struct wire_submit m = {{&f, 1}};
    const struct wire_submitted *s = wireclient_ask(c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
    snprintf(flow, 40, "%.*s", SLICE_FMT(((const struct wire_submitted_flow *)s->flows.at)->flow));
    wireclient_open(&w, server.address, server.worker, WIRE_PEER_WORKER);
    struct wire_attach a = {
        .worker = SLICE("w1"), .incarnation = 1, .info = {.pool = SLICE("default"), .slots = 8}, .load = {.credit = 8}};
    (void)wireclient_ask(&w, WIRE_ATTACH, &a, WIRE_ATTACHED);
    for (uint32_t i = 1; i <= 2; i++) {
        do assert_true(wireclient_next(&w, WIRECLIENT_WAIT_MS, &got));
        while (got.op != WIRE_ASSIGN);
        struct wire_attempt t =
            ((const struct wire_assignment *)((const struct wire_assign *)got.message)->assignments.at)->attempt;
        struct wire_log_piece piece = {.stream = WIRE_STREAM_OUT, .data = slice_str(i == 1 ? "oops\n" : "fine\n")};
        struct wire_log_batch log = {.attempt = t, .pieces = {&piece, 1}};
        struct wire_log lm = {{&log, 1}};
        assert_true(wireclient_tell(&w, WIRE_LOG, &lm));
        struct wire_end end = {.attempt = t,
                               .outcome = i == 1 ? WIRE_OUTCOME_EXIT : WIRE_OUTCOME_OK,
                               .exit_code = i == 1 ? 7 : 0,
                               .log_bytes = 5,
                               .reason = i == 1 ? SLICE("the gradient vanished") : (struct slice){0}};
        struct wire_done done = {{&end, 1}};
        (void)wireclient_ask(&w, WIRE_DONE, &done, WIRE_DONE_ACK);
    }
    wireclient_close(&w);
}

static void check_one(struct wireclient *c, const char *flow) {
    char job[60];
    struct wiregot got;
    snprintf(job, sizeof job, "%s/train", flow);
    struct wire_get whole = {.target = slice_str(flow), .details = true},
                    one = {.target = slice_str(job), .details = true};
    const struct wire_got *g = wireclient_ask(c, WIRE_GET, &whole, WIRE_GOT);
    assert_true(g->flow.archived);
    assert_int_equal(g->jobs.count, 1);
    g = wireclient_ask(c, WIRE_GET, &one, WIRE_GOT);
    const struct wire_job_view *v = g->jobs.at;
    const struct wire_attempt_view *tries = v->attempts.at;
    assert_int_equal(v->attempts.count, 2);
    assert_int_equal(tries[0].exit_code, 7);
    assert_true(slice_eq(tries[0].outcome, SLICE("exit")));
    assert_true(slice_eq(tries[0].reason, SLICE("the gradient vanished")));
    assert_true(slice_eq(tries[1].worker, SLICE("w1")));
    assert_true(tries[1].assigned_ms > 0 && tries[1].ended_ms >= tries[1].assigned_ms);
    struct wire_logs logs = {.job = slice_str(job), .attempt = 1};
    const struct wire_log_data *d = wireclient_ask(c, WIRE_LOGS, &logs, WIRE_LOG_DATA);
    assert_int_equal(d->pieces.count, 1);
    assert_true(slice_eq(((const struct wire_log_piece *)d->pieces.at)->data, SLICE("oops\n")));
    struct wire_why why = {slice_str(job)};
    const struct wire_reason *r = wireclient_ask(c, WIRE_WHY, &why, WIRE_REASON);
    assert_true(slice_eq(r->state, SLICE("succeeded")));
    assert_true(slice_eq(r->code, SLICE("nothing")));
    assert_true(slice_eq(r->text, SLICE("the job has finished: succeeded")));
    struct wire_name name = {slice_str(flow)};
    struct wire_wait wait = {.targets = {&name, 1}};
    const struct wire_waited *over = wireclient_ask(c, WIRE_WAIT, &wait, WIRE_WAITED);
    assert_true(slice_eq(((const struct wire_job_view *)over->over.at)->state, SLICE("succeeded")));
    struct wire_list jobs = {.what = WIRE_LIST_JOBS, .flow = slice_str(flow)};
    assert_int_equal(((const struct wire_listed *)wireclient_ask(c, WIRE_LIST, &jobs, WIRE_LISTED))->jobs.count, 1);
    struct wire_targets rerun = {.targets = {&name, 1}};
    assert_true(wireclient_try(c, WIRE_RERUN, &rerun, &got));
    assert_int_equal(got.op, WIRE_ERROR);
    assert_non_null(strstr((const char *)((const struct wire_error *)got.message)->message.ptr, "left memory"));
    struct wire_get none = {.target = SLICE("f5zzzzz")};
    assert_non_null(strstr(wireclient_refused(c, WIRE_GET, &none, ERR_NOT_FOUND), "there is no flow f5zzzzz"));
    assert_int_equal(count_all(c, (struct wire_list){.text = SLICE("gradient")}, 10), 0); /* it succeeded in the end */
    wireclient_forget(c);
}

static void one_that_left_memory_is_shown_with_its_attempts_and_logs(void **state) {
    (void)state;
    struct wireclient c;
    char flow[40];
    open_admin(&c);
    run_one(&c, flow);
    until(&c, "flows", 0);
    check_one(&c, flow);
    restart(&c);
    check_one(&c, flow);
    wireclient_close(&c);
}

/* ---- kill, loss, damage ---- */

static void killed_again_and_again_it_misses_and_doubles_nothing(void **state) {
    (void)state;
    struct wireclient c;
    uint32_t count = 0;
    open_admin(&c);
    for (uint32_t round = 0; round < 12; round++) {
        submit_many(&c, "round", 15 + round * 7 % 11);
        count += 15 + round * 7 % 11;
        restart(&c); /* at whatever moment of the history that is */
        assert_int_equal(count_all(&c, (struct wire_list){0}, 100), count);
    }
    until(&c, "flows", 0);
    assert_int_equal(count_all(&c, (struct wire_list){0}, 100), count);
    assert_int_equal(stat_of(&c, "history_flows"), count);
    wireclient_close(&c);
}

static void file_of(char path[200], const char *end) {
    snprintf(path, 200, "%s/history/flows.db%s", server.data, end);
}

static void a_lost_history_is_made_anew_from_the_archive(void **state) {
    (void)state;
    struct wireclient c;
    char path[200], flow[40];
    static const char *const ends[] = {"", "-wal", "-shm"};
    open_admin(&c);
    run_one(&c, flow);
    submit_many(&c, "old", 200);
    until(&c, "flows", 0);
    wireclient_close(&c);
    realserver_kill(&server);
    for (size_t i = 0; i < 3; i++) {
        file_of(path, ends[i]);
        (void)unlink(path);
    }
    realserver_start(&server);
    open_admin(&c);
    until(&c, "history_rebuilding", 0);
    assert_int_equal(count_all(&c, (struct wire_list){0}, 100), 201);
    check_one(&c, flow);
    submit_many(&c, "new", 5);
    assert_int_equal(count_all(&c, (struct wire_list){0}, 100), 206);
    wireclient_close(&c);
}

static void a_damaged_history_is_set_aside_and_made_anew(void **state) {
    (void)state;
    struct wireclient c;
    char path[200];
    open_admin(&c);
    submit_many(&c, "old", 50);
    until(&c, "flows", 0);
    wireclient_close(&c);
    realserver_kill(&server);
    file_of(path, "");
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    for (uint32_t i = 0; i < 1000; i++) fputs("this is not what it was", f);
    fclose(f);
    file_of(path, "-wal");
    (void)unlink(path);
    realserver_start(&server);
    open_admin(&c);
    until(&c, "history_rebuilding", 0);
    assert_int_equal(count_all(&c, (struct wire_list){0}, 100), 50);
    glob_t aside;
    file_of(path, ".bad-*");
    assert_int_equal(glob(path, 0, NULL, &aside), 0);
    assert_int_equal(aside.gl_pathc, 1);
    globfree(&aside);
    wireclient_close(&c);
}

/* SQLite reads a log up to the first bad page and says nothing of the rest; the journal knows what was there. */
static void a_history_whose_log_was_cut_gets_its_flows_back(void **state) {
    (void)state;
    struct wireclient c;
    char path[200];
    open_admin(&c);
    submit_many(&c, "old", 40);
    until(&c, "flows", 0);
    submit_many(&c, "last", 20);
    until(&c, "flows", 0);
    wireclient_close(&c);
    realserver_kill(&server);
    file_of(path, "-wal");
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    long bytes = ftell(f);
    assert_true(bytes > 40000);
    assert_int_equal(fseek(f, bytes / 2, SEEK_SET), 0);
    int byte = fgetc(f);
    assert_int_equal(fseek(f, bytes / 2, SEEK_SET), 0);
    assert_true(fputc(byte ^ 4, f) != EOF);
    assert_int_equal(fclose(f), 0);
    realserver_start(&server);
    open_admin(&c);
    until(&c, "history_rebuilding", 0);
    assert_int_equal(count_all(&c, (struct wire_list){0}, 100), 60);
    assert_int_equal(stat_of(&c, "history_flows"), 60);
    restart(&c); /* nothing is left to do */
    assert_int_equal(stat_of(&c, "history_rebuilding"), 0);
    assert_int_equal(count_all(&c, (struct wire_list){0}, 100), 60);
    wireclient_close(&c);
}

/* ---- a journal that is gone ---- */

static void remove_all(const char *pattern) {
    char path[200];
    glob_t found;
    snprintf(path, sizeof path, "%s/%s", server.data, pattern);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) assert_int_equal(unlink(found.gl_pathv[i]), 0);
    globfree(&found);
}

static void a_journal_without_its_segments_is_not_a_new_one(void **state) {
    (void)state;
    struct wireclient c;
    open_admin(&c);
    submit_many(&c, "old", 30);
    until(&c, "flows", 0);
    wireclient_close(&c);
    realserver_kill(&server);
    remove_all("journal/*.seg");
    realserver_refuses(&server, "was there and is gone");
    remove_all("journal.seen"); /* the loss is accepted; the history still knows better */
    realserver_refuses(&server, "history/flows.db contains record");
    remove_all("history/flows.db*");
    realserver_start(&server);
    open_admin(&c);
    assert_int_equal(count_all(&c, (struct wire_list){0}, 100), 0);
    wireclient_close(&c);
}

int main(void) {
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(flows_that_left_memory_are_listed_and_found),
        TEST(pages_go_on_while_flows_come_and_leave),
        TEST(one_that_left_memory_is_shown_with_its_attempts_and_logs),
        TEST(killed_again_and_again_it_misses_and_doubles_nothing),
        TEST(a_lost_history_is_made_anew_from_the_archive),
        TEST(a_damaged_history_is_set_aside_and_made_anew),
        TEST(a_history_whose_log_was_cut_gets_its_flows_back),
        TEST(a_journal_without_its_segments_is_not_a_new_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
