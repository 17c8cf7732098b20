/* work_test.c: real work through the built program: every kind of job, three workers that offer different things,
 * output of any kind and size, jobs that do not want to end, ten thousand jobs, the verbs that look at the journal. */
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"
#include "realworker.h"
#include "wireclient.h"

#define GROWTH_KB_MAX \
    (96 * 1024) /* of a gigabyte that passes through; what stays is buffers and, here, a sanitizer's */
#define WHOLE_BYTES 1000000000ull

static struct realserver server;
static struct realworker workers[3];
static struct realcli r;

static void start_workers(void) {
    static const char *const names[] = {"w0", "w1", "w2"};
    static const char *const offers[3][8] = {{"--slots", "8", "--capability", "gpu", "--label", "zone=a"},
                                             {"--slots", "8", "--capability", "tpu", "--label", "zone=b"},
                                             {"--slots", "8", "--pool", "other"}};
    for (int i = 0; i < 3; i++) {
        realworker_make(&workers[i], &server, names[i]);
        for (int k = 0; offers[i][k] != NULL; k++) workers[i].flags[k] = offers[i][k];
        realworker_start(&workers[i], &server);
    }
}

static int setup(void **state) {
    (void)state;
    /* What a sanitizer keeps of freed memory would look like growth. */
    assert_int_equal(setenv("ASAN_OPTIONS", "quarantine_size_mb=1:malloc_context_size=2", 1), 0);
    realserver_make(&server);
    server.flags[0] = "--log-level";
    server.flags[1] = "warn";
    server.quiet = true;
    realserver_start(&server);
    r = (struct realcli){0};
    snprintf(r.data, sizeof r.data, "%s", server.data);
    start_workers();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) realworker_kill(&workers[i]);
    realserver_remove(&server);
    return 0;
}

/* Submits the file; its id. */
static void submit(const char *text, char ret[64]) {
    struct ran ran = realcli_ok(&r, "submit %s", realcli_file(&r, "flow.yaml", text));
    snprintf(ret, 64, "%.*s", (int)strcspn(ran.out, "\n"), ran.out);
}

/* `reeve VERB ID REST`. */
static struct ran ask(const char *verb, const char *id, const char *rest) {
    char args[256];
    snprintf(args, sizeof args, "%s %s%s", verb, id, rest);
    return realcli_run(&r, args, NULL, NULL);
}

/* ---- kinds and places ---- */

static void every_kind_of_job_runs(void **state) {
    (void)state;
    char id[64];
    submit("jobs:\n"
           "  text: {run: echo of a shell}\n"
           "  list: {run: [echo, of a list]}\n"
           "  script: {script: {text: 'print(6 * 7)', name: x.py}}\n"
           "  shebang: {script: {text: \"#!/bin/sh\\necho by its first line\\n\"}}\n"
           "  nothing: {noop: true, phase: 1}\n"
           "  nap: {sleep: 10ms, phase: 2}\n"
           "  wrong: {fail: 3, retries: 0}\n"
           "  person: {gate: {message: well?}}\n"
           "  world: {external: a word}\n",
           id);
    assert_int_equal(ask("wait -q --timeout 20s", id, "/text").exit_code, 0);
    assert_string_equal((ask("wait -q", id, "/list"), ask("logs", id, "/list").out), "of a list\n");
    assert_string_equal((ask("wait -q", id, "/script"), ask("logs", id, "/script").out), "42\n");
    assert_string_equal((ask("wait -q", id, "/shebang"), ask("logs", id, "/shebang").out), "by its first line\n");
    assert_int_equal(ask("wait -q", id, "/nap").exit_code, 0); /* behind the barrier between the phases */
    assert_int_equal(ask("wait -q", id, "/wrong").exit_code, 1);
    assert_has(ask("show", id, "/wrong --json").out, "\"exit_code\":3");
    assert_has(ask("show", id, "/person").out, "held");
    assert_int_equal(ask("approve -y", id, "/person").exit_code, 0);
    assert_int_equal(ask("complete", id, "/world --output {\"ok\":1}").exit_code, 0);
    assert_int_equal(ask("wait -q", id, "/person").exit_code, 0);
    assert_int_equal(ask("wait -q", id, "/world").exit_code, 0);
    assert_has(ask("show", id, "").out, "9 succeeded"); /* with the barrier */
}

static void bad_jobs_are_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *flow, *says;
    } cases[] = {
        {"jobs: {a: {run: []}}", "empty list"},
        {"jobs: {a: {script: no-such-file.py}}", "no-such-file.py"},
        {"jobs: {a: {gate: {quorum: many}}}", "number"},
        {"jobs: {a: {external: [x]}}", "text"},
        {"jobs: {a: {noop: maybe}}", "true or false"},
        {"jobs: {a: {sleep: long}}", "duration"},
        {"jobs: {a: {fail: 900}}", "between 1 and 255"},
        {"jobs: {a: {run: x, noop: true}}", "exactly one kind: found `run` and `noop`"},
        {"jobs: {a: {}}", "needs one of"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ran ran = realcli_run(&r, "submit %s", realcli_file(&r, "bad.yaml", cases[i].flow), NULL);
        if (ran.exit_code == 0 || ran.exit_code > 7) fail_msg("%s: exit %d %s", cases[i].flow, ran.exit_code, ran.err);
        assert_has(ran.err, "bad.yaml:1:");
        assert_has(ran.err, cases[i].says);
    }
    /* what is found out only on the worker ends the job with a reason */
    char id[64];
    submit("jobs: {a: {script: {text: x, name: x.cobol}, retries: 0}, b: {run: [/no/such], retries: 0}}", id);
    assert_int_equal(ask("wait -q", id, "").exit_code, 1);
    assert_has(ask("show", id, "/a").out, "no interpreter");
    assert_has(ask("show", id, "/b").out, "no program");
}

static void three_workers_get_what_they_offer(void **state) {
    (void)state;
    char id[64];
    submit("jobs:\n"
           "  a: {run: echo $REEVE_WORKER, requires: gpu}\n"
           "  b: {run: echo $REEVE_WORKER, requires: tpu}\n"
           "  c: {run: echo $REEVE_WORKER, pool: other}\n"
           "  d: {run: echo $REEVE_WORKER, placement: {zone: b}}\n"
           "  e: {run: echo $REEVE_WORKER, requires: [gpu, tpu]}\n",
           id);
    static const char *const where[] = {"w0", "w1", "w2", "w1"};
    for (int i = 0; i < 4; i++) {
        char job[4] = {'/', (char)('a' + i), 0};
        assert_int_equal(ask("wait -q --timeout 20s", id, job).exit_code, 0);
        assert_has(ask("logs", id, job).out, where[i]);
    }
    assert_has(ask("why", id, "/e").out, "capability"); /* nobody has both */
    assert_int_equal(ask("cancel", id, "").exit_code, 0);
    assert_has(realcli_ok(&r, "workers", NULL).out, "w2");
}

/* ---- output ---- */

static void binary_output_comes_as_it_was(void **state) {
    (void)state;
    char command[300];
    (void)realcli_file(
        &r, "bytes.py",
        "import sys\nsys.stdout.buffer.write(bytes(range(256)) * 1000 + b'\\xff\\x00\\xfe no line end')\n");
    snprintf(command, sizeof command,
             "cd %s && python3 bytes.py >want && REEVE_DATA=%s %s run -- python3 %s/bytes.py >got && cmp want got",
             r.data, r.data, realserver_binary(), r.data);
    assert_int_equal(system(command), 0);
}

static long status_kb(pid_t pid, const char *name) {
    char path[64], line[200];
    long kb = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0) kb = strtol(line + strlen(name) + 1, NULL, 10);
    fclose(f);
    return kb;
}

/* The first worker's and the server's highest resident memory before and after. */
static void a_gigabyte_of_output_passes_without_growth(void **state) {
    (void)state;
    char id[64];
    submit("jobs: {a: {run: echo warm, requires: gpu}}", id);
    assert_int_equal(ask("wait -q", id, "").exit_code, 0);
    long server_before = status_kb(server.pid, "VmHWM"), worker_before = status_kb(workers[0].pid, "VmHWM");
    submit(
        "jobs: {a: {run: 'yes 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde | head -c 1000000000', "
        "requires: gpu, log_limit: 2GB}}",
        id);
    for (int i = 0; ask("wait -q --timeout 50s", id, "").exit_code == 124; i++) assert_true(i < 4);
    long server_grew = status_kb(server.pid, "VmHWM") - server_before;
    long worker_grew = status_kb(workers[0].pid, "VmHWM") - worker_before;
    printf("# server %ld KB and %ld more, worker %ld KB and %ld more\n", server_before, server_grew, worker_before,
           worker_grew);
    assert_true(server_grew < GROWTH_KB_MAX);
    assert_true(worker_grew < GROWTH_KB_MAX);
    struct wireclient c;
    struct wiregot got = {.flags = FRAME_MORE};
    char job[80];
    uint64_t bytes = 0;
    wireclient_open(&c, server.socket, NULL, WIRE_PEER_CLIENT);
    snprintf(job, sizeof job, "%s/a", id);
    struct wire_logs m = {.job = slice_str(job)};
    (void)wireclient_send(&c, WIRE_LOGS, &m);
    while (got.flags & FRAME_MORE) {
        wireclient_forget(&c);
        assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got) && got.op == WIRE_LOG_DATA);
        const struct wire_log_data *data = got.message;
        const struct wire_log_piece *pieces = data->pieces.at;
        assert_int_equal(data->cut_bytes, 0);
        for (uint32_t i = 0; i < data->pieces.count; i++) bytes += pieces[i].data.len;
    }
    wireclient_close(&c);
    assert_int_equal(bytes, WHOLE_BYTES);
    assert_true(status_kb(server.pid, "VmHWM") - server_before < GROWTH_KB_MAX); /* reading it, too */
}

/* A blob of a size that nobody should hold: from a pipe, and back. */
static void a_large_blob_streams_both_ways(void **state) {
    (void)state;
    char command[700];
    snprintf(command, sizeof command,
             "export REEVE_DATA=%s; h=$(head -c 200000000 /dev/zero | %s blob put -) && "
             "%s blob get $h | cmp - <(head -c 200000000 /dev/zero) && %s blob rm $h && ! %s blob rm $h 2>/dev/null",
             r.data, realserver_binary(), realserver_binary(), realserver_binary(), realserver_binary());
    char wrapped[800];
    (void)realcli_file(&r, "blob.sh", command);
    snprintf(wrapped, sizeof wrapped, "bash %s/blob.sh", r.data);
    assert_int_equal(system(wrapped), 0);
    struct ran ran = realcli_run(&r, "blob rm 00", NULL, NULL);
    assert_int_equal(ran.exit_code, 2);
}

/* Blobs are read on the server's loop, a bounded part in each pass. */
static void many_readers_leave_room_for_others(void **state) {
    (void)state;
    char command[700];
    struct wireclient c;
    struct wire_ping m = {.number = 1};
    int64_t worst = 0, sum = 0;
    snprintf(command, sizeof command,
             "export REEVE_DATA=%s; h=$(openssl rand 40000000 | %s blob put -) || exit 1; touch %s/reading; "
             "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do %s blob get $h >/dev/null & done; wait; rm %s/reading",
             r.data, realserver_binary(), r.data, realserver_binary(), r.data);
    (void)realcli_file(&r, "readers.sh", command);
    snprintf(command, sizeof command, "bash %s/readers.sh &", r.data);
    assert_int_equal(system(command), 0);
    char path[96];
    snprintf(path, sizeof path, "%s/reading", r.data);
    for (int i = 0; access(path, F_OK) != 0; i++, (void)poll(NULL, 0, 20)) assert_true(i < 1500);
    wireclient_open(&c, server.socket, NULL, WIRE_PEER_CLIENT);
    int count = 0;
    for (; access(path, F_OK) == 0; count++) {
        int64_t from = test_mono_us();
        (void)wireclient_ask(&c, WIRE_PING, &m, WIRE_PONG);
        int64_t took = test_mono_us() - from;
        sum += took;
        worst = took > worst ? took : worst;
        wireclient_forget(&c);
        (void)poll(NULL, 0, 1);
    }
    wireclient_close(&c);
    printf("# beside 12 readers of 40 MB: %d pings, %lld us on average, %lld us at worst\n", count,
           (long long)(count > 0 ? sum / count : 0), (long long)worst);
    assert_true(count > 0 && worst < 1000000);
}

/* ---- jobs that do not want to end ---- */

static void a_job_that_ignores_term_is_killed(void **state) {
    (void)state;
    char id[64];
    submit("jobs: {a: {run: \"trap '' TERM; echo up; while :; do sleep 0.1; done\", requires: gpu, kill_grace: 300ms}}",
           id);
    for (int i = 0; strstr(ask("logs", id, "/a").out, "up") == NULL; i++, (void)poll(NULL, 0, 20)) assert_true(i < 500);
    assert_int_equal(ask("cancel", id, "").exit_code, 0);
    assert_int_equal(ask("wait -q --timeout 30s", id, "").exit_code, 1);
    assert_has(ask("show", id, "/a").out, "cancelled");
}

/* Twice forked, in a session of its own, with nothing of ours open: it goes with its job all the same. */
static void a_job_that_daemonises_itself_leaves_nothing_behind(void **state) {
    (void)state;
    char id[64], mark[80];
    uint32_t before = realworker_processes(workers[0].mark);
    submit(
        "jobs: {a: {run: 'setsid sh -c \"sleep 1000 & sleep 1000\" </dev/null >/dev/null 2>&1 & sleep 0.3; echo over', "
        "requires: gpu}}",
        id);
    assert_int_equal(ask("wait -q --timeout 30s", id, "").exit_code, 0);
    assert_string_equal(ask("logs", id, "/a").out, "over\n");
    snprintf(mark, sizeof mark, "%s", workers[0].mark);
    for (int i = 0; realworker_processes(mark) > before; i++, (void)poll(NULL, 0, 20))
        if (i > 500) fail_msg("%u processes more than before", realworker_processes(mark) - before);
}

/* ---- many ---- */

static void ten_thousand_jobs_run_over_three_workers(void **state) {
    (void)state;
    static char text[1 << 20];
    size_t len = (size_t)snprintf(text, sizeof text, "jobs:\n");
    for (int i = 0; i < 10000; i++) {
        const char *what = i % 50 == 0 ? "{run: [/bin/true]" : "{noop: true";
        len += (size_t)snprintf(text + len, sizeof text - len, "  j%d: %s%s}\n", i, what,
                                i % 3 == 2 ? ", pool: other" : "");
    }
    char id[64];
    int64_t begin = test_mono_us();
    submit(text, id);
    for (int i = 0; ask("wait -q --timeout 50s", id, "").exit_code == 124; i++) assert_true(i < 3);
    printf("# 10,000 jobs in %lld ms\n", (long long)(test_mono_us() - begin) / 1000);
    assert_has(ask("show", id, "").out, "10000 succeeded");
}

/* ---- the journal, and watching ---- */

static void the_journal_can_be_looked_at(void **state) {
    (void)state;
    (void)realcli_ok(&r, "run true", NULL);
    assert_has(realcli_ok(&r, "journal dump --from 1 --to 3", NULL).out, "\"kind\":\"opened\"");
    (void)realcli_ok(&r, "journal verify", NULL);
    struct ran at = realcli_ok(&r, "journal at --lsn 2", NULL);
    assert_true(strlen(at.out) > 16);
    assert_string_equal(realcli_ok(&r, "journal at --lsn 2", NULL).out, at.out);
    for (int i = 0; i < 3; i++) realworker_kill(&workers[i]);
    assert_int_equal(realserver_stop(&server), 0);
    (void)realcli_ok(&r, "journal compact", NULL); /* of a server that does not run */
    (void)realcli_ok(&r, "journal verify", NULL);
    assert_int_equal(realcli_run(&r, "journal at --lsn many", NULL, NULL).exit_code, 2);
    assert_int_equal(realcli_run(&r, "journal dump --from x", NULL, NULL).exit_code, 2);
    realserver_start(&server);
    start_workers();
    assert_int_equal(realcli_ok(&r, "run true", NULL).exit_code, 0);
}

static void a_watch_tells_of_changes(void **state) {
    (void)state;
    char command[400];
    snprintf(command, sizeof command, "REEVE_DATA=%s timeout 30 %s kv watch -n 1 colour >%s/seen &", r.data,
             realserver_binary(), r.data);
    assert_int_equal(system(command), 0);
    char path[96], line[200] = "";
    snprintf(path, sizeof path, "%s/seen", r.data);
    for (int i = 0; line[0] == 0; i++) {
        assert_true(i < 300);
        (void)realcli_ok(&r, "kv set colour green", NULL);
        FILE *f = fopen(path, "re");
        if (f != NULL && fgets(line, sizeof line, f) == NULL) line[0] = 0;
        if (f != NULL) fclose(f);
    }
    assert_has(line, "colour");
    realcli_refused(&r, "kv watch -n many colour", 2, "number");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_job_runs),
        cmocka_unit_test(bad_jobs_are_told_apart),
        cmocka_unit_test(three_workers_get_what_they_offer),
        cmocka_unit_test(binary_output_comes_as_it_was),
        cmocka_unit_test(a_gigabyte_of_output_passes_without_growth),
        cmocka_unit_test(a_large_blob_streams_both_ways),
        cmocka_unit_test(many_readers_leave_room_for_others),
        cmocka_unit_test(a_job_that_ignores_term_is_killed),
        cmocka_unit_test(a_job_that_daemonises_itself_leaves_nothing_behind),
        cmocka_unit_test(ten_thousand_jobs_run_over_three_workers),
        cmocka_unit_test(the_journal_can_be_looked_at),
        cmocka_unit_test(a_watch_tells_of_changes),
    };
    if (getenv("ONLY") != NULL) cmocka_set_test_filter(getenv("ONLY"));
    return cmocka_run_group_tests(tests, setup, teardown);
}
