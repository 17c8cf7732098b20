/* agent_test.c: a worker with a real server and real jobs: what it runs, what it tells, and what becomes of it all when
 * one of the two is killed. */
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agentlab.h"
#include "osdigest.h"

static bool log_is(struct agentlab *l, struct slice flow, const char *text) {
    struct slice log = agentlab_log(l, flow, "x");
    if (!slice_eq(log, slice_str(text))) print_error("log: %.*s\n", SLICE_FMT(log));
    return slice_eq(log, slice_str(text));
}

static void open_both(struct agentlab *l) {
    agentlab_open(l);
    agentlab_server_start(l);
    agentlab_worker_start(l);
}

static void commands_run_and_their_output_is_there(void **state) {
    (void)state;
    struct agentlab l;
    open_both(&l);
    struct slice flow = agentlab_run(&l, "echo out; echo err >&2; exit 0");
    const struct wire_job_view *job = agentlab_until(&l, flow, "x", "succeeded");
    assert_int_equal(job->attempt, 1);
    struct slice log = agentlab_log(&l, flow, "x");
    assert_int_equal(log.len, 8); /* two streams: their order is not promised */
    flow = agentlab_run(&l, "echo no; exit 7");
    job = agentlab_until(&l, flow, "x", "failed");
    assert_true(slice_eq(job->cause, SLICE("exit")));
    assert_true(log_is(&l, flow, "no\n"));
    flow = agentlab_run(&l, "printf 'a\\000\\377\\nb'");
    agentlab_until(&l, flow, "x", "succeeded");
    assert_true(slice_eq(agentlab_log(&l, flow, "x"), slice_of("a\0\377\nb", 5)));
    agentlab_close(&l);
}

static void argv_scripts_and_inner_kinds_run(void **state) {
    (void)state;
    struct agentlab l;
    open_both(&l);
    struct wire_arg args[] = {{SLICE("printf")}, {SLICE("%s|")}, {SLICE("a b")}, {SLICE("$HOME")}};
    struct wire_arg script_args[] = {{SLICE("one")}, {SLICE("two")}};
    struct lab_job jobs[] = {
        {.name = "x", .run = {.argv = {args, 4}}},
        {.name = "sh",
         .kind = JOB_SCRIPT,
         .run = {.script = SLICE("echo $2 $1\n"), .script_name = SLICE("a.sh"), .argv = {script_args, 2}}},
        {.name = "py",
         .kind = JOB_SCRIPT,
         .run = {.script = SLICE("import sys; print(sys.argv[1:])\n"),
                 .script_name = SLICE("a.py"),
                 .argv = {script_args, 2}}},
        {.name = "bang", .kind = JOB_SCRIPT, .run = {.script = SLICE("#!/bin/sh\necho bang\n")}},
        {.name = "none", .kind = JOB_SCRIPT, .run = {.script = SLICE("text"), .script_name = SLICE("a.txt")}},
        {.name = "noop", .kind = JOB_NOOP},
        {.name = "sleep", .kind = JOB_SLEEP, .run = {.sleep_ms = 20}},
        {.name = "fail", .kind = JOB_FAIL, .run = {.exit_code = 9}},
        {.name = "missing", .run = {.argv = {&(struct wire_arg){SLICE("no-such-program")}, 1}}},
        {.name = "archive", .kind = JOB_ARCHIVE},
    };
    struct slice flow = agentlab_submit(&l, jobs, sizeof jobs / sizeof jobs[0]);
    agentlab_until(&l, flow, "x", "succeeded");
    assert_true(log_is(&l, flow, "a b|$HOME|"));
    agentlab_until(&l, flow, "sh", "succeeded");
    assert_true(slice_eq(agentlab_log(&l, flow, "sh"), SLICE("two one\n")));
    agentlab_until(&l, flow, "py", "succeeded");
    assert_true(slice_eq(agentlab_log(&l, flow, "py"), SLICE("['one', 'two']\n")));
    agentlab_until(&l, flow, "bang", "succeeded");
    assert_true(slice_eq(agentlab_log(&l, flow, "bang"), SLICE("bang\n")));
    agentlab_until(&l, flow, "noop", "succeeded");
    agentlab_until(&l, flow, "sleep", "succeeded");
    const struct wire_job_view *job = agentlab_until(&l, flow, "fail", "failed");
    assert_true(slice_eq(job->cause, SLICE("exit")));
    job = agentlab_until(&l, flow, "none", "failed");
    assert_true(slice_eq(job->cause, SLICE("rejected")));
    job = agentlab_until(&l, flow, "missing", "failed");
    assert_true(slice_eq(job->cause, SLICE("rejected")));
    job = agentlab_until(&l, flow, "archive", "failed"); /* there is none; those that are: tests/e2e/archive_test.c */
    assert_true(slice_eq(job->cause, SLICE("rejected")));
    agentlab_close(&l);
}

static void it_starts_in_its_own_place_with_what_it_may_know(void **state) {
    (void)state;
    struct agentlab l;
    open_both(&l);
    struct wire_pair env[] = {{SLICE("MINE"), SLICE("mine")}, {SLICE("REEVE_FENCE"), SLICE("forged")}};
    struct lab_job job = {.name = "x",
                          .shell = "test \"$PWD\" = \"$REEVE_WORKSPACE\" && test -z \"$(ls)\" && echo $MINE; "
                                   "echo ${REEVE_FENCE:+fenced}; test $REEVE_FENCE = forged && echo forged; "
                                   "echo $REEVE_JOB $REEVE_ATTEMPT; cat; pwd >$HOME/reeve-place-$$; "
                                   "echo $HOME/reeve-place-$$ >&2; touch left",
                          .run = {.env = {env, 2}, .stdin_text = SLICE("from stdin\n")}};
    struct slice flow = agentlab_submit(&l, &job, 1);
    agentlab_until(&l, flow, "x", "succeeded");
    char expected[200];
    snprintf(expected, sizeof expected, "mine\nfenced\n%.*s/x 1\nfrom stdin\n/tmp/reeve-place-", SLICE_FMT(flow));
    struct slice log = agentlab_log(&l, flow, "x");
    char text[512], place[300], *note;
    snprintf(text, sizeof text, "%.*s", SLICE_FMT(log));
    if (strncmp(text, expected, strlen(expected)) != 0) fail_msg("%s", text);
    note = strstr(text, "/tmp/reeve-place-");
    note[strcspn(note, "\n")] = 0;
    snprintf(place, sizeof place, "%s", agentlab_file(&l, note));
    place[strcspn(place, "\n")] = 0;
    (void)unlink(note);
    for (int i = 0; i < 5000 && access(place, F_OK) == 0; i++) (void)poll(NULL, 0, 2);
    assert_int_equal(access(place, F_OK), -1); /* and nothing of it is left */
    agentlab_close(&l);
}

static void results_go_to_children(void **state) {
    (void)state;
    struct agentlab l;
    open_both(&l);
    uint32_t parents[] = {0};
    struct lab_job jobs[] = {
        {.name = "make-it", .shell = "echo '{\"rows\": 41}' >$REEVE_OUTPUT"},
        {.name = "x", .shell = "echo $REEVE_INPUT_MAKE_IT; cat $REEVE_INPUTS", .parents = parents, .parent_count = 1},
        {.name = "bad", .shell = "echo '{rows' >$REEVE_OUTPUT"},
        {.name = "long", .shell = "head -c 20000000 /dev/zero | tr '\\0' '1' >$REEVE_OUTPUT"},
        {.name = "pipe", .shell = "mkfifo $REEVE_OUTPUT"},
    };
    struct slice flow = agentlab_submit(&l, jobs, 5);
    agentlab_until(&l, flow, "x", "succeeded");
    assert_true(log_is(&l, flow, "{\"rows\": 41}\n{\"make-it\":{\"rows\": 41}\n}\n"));
    const struct wire_job_view *job = agentlab_job(&l, flow, "make-it");
    assert_true(slice_eq(job->result, SLICE("{\"rows\": 41}\n")));
    agentlab_until(&l, flow, "bad", "failed");
    agentlab_until(&l, flow, "long", "failed");
    agentlab_until(&l, flow, "pipe", "failed");
    agentlab_close(&l);
}

/* Stores it as a client does; its hash, in the arena. */
static struct slice blob_put(struct agentlab *l, struct slice bytes) {
    struct wire_blob_begin begin = {.bytes = bytes.len};
    const struct wire_blob_state *now = agentlab_ask(l, WIRE_BLOB_BEGIN, &begin);
    uint64_t upload = now->upload;
    for (size_t at = 0; at < bytes.len; at += 100000) {
        size_t len = bytes.len - at < 100000 ? bytes.len - at : 100000;
        struct wire_blob_part part = {upload, at, slice_of(bytes.ptr + at, len)};
        agentlab_ask(l, WIRE_BLOB_PART, &part);
    }
    struct wire_blob_end end = {.upload = upload};
    now = agentlab_ask(l, WIRE_BLOB_END, &end);
    assert_true(now->stored);
    return now->hash;
}

static bool blob_is_there(struct agentlab *l, struct slice content) {
    uint8_t hash[DIGEST_BYTES];
    struct wire_blob_ls ls = {0};
    osdigest()->whole(osdigest(), content, hash);
    const struct wire_blob_list *got = agentlab_ask(l, WIRE_BLOB_LS, &ls);
    const struct wire_blob_view *list = got->blobs.at;
    for (uint32_t i = 0; i < got->blobs.count; i++)
        if (slice_eq(list[i].hash, slice_of(hash, sizeof hash))) return true;
    return false;
}

static void blobs_come_before_the_start_and_go_after_the_end(void **state) {
    (void)state;
    struct agentlab l;
    struct buf large;
    open_both(&l);
    buf_init(&large, 4u << 20);
    for (int i = 0; large.len < 3000000; i++) buf_printf(&large, "line %d\n", i);
    struct slice script = blob_put(&l, SLICE("wc -c; cat data/a.txt; echo kept >one.out; echo $1 >two.out; mkdir d; "
                                             "cp data/big d/; printf '[1]' >$REEVE_OUTPUT\n"));
    struct slice stdin_hash = blob_put(&l, buf_slice(&large)), small = blob_put(&l, SLICE("small\n"));
    struct wire_arg arg = {SLICE("arg")};
    struct wire_file files[] = {{SLICE("data/a.txt"), small, false}, {SLICE("data/big"), stdin_hash, true}};
    struct wire_artifact artifacts[] = {{SLICE("outs"), SLICE("*.out"), false},
                                        {SLICE("big"), SLICE("d/big"), false},
                                        {SLICE("no"), SLICE("no"), true}};
    struct lab_job job = {.name = "x",
                          .kind = JOB_SCRIPT,
                          .run = {.script_hash = script,
                                  .script_name = SLICE("s.sh"),
                                  .stdin_hash = stdin_hash,
                                  .argv = {&arg, 1},
                                  .files = {files, 2},
                                  .artifacts = {artifacts, 3}}};
    struct slice flow = agentlab_submit(&l, &job, 1);
    const struct wire_job_view *view = agentlab_until(&l, flow, "x", "succeeded");
    assert_true(slice_eq(view->result, SLICE("[1]")));
    char expected[64];
    snprintf(expected, sizeof expected, "%zu\nsmall\n", large.len);
    assert_true(log_is(&l, flow, expected));
    assert_true(blob_is_there(&l, SLICE("kept\n")));
    assert_true(blob_is_there(&l, SLICE("arg\n")));
    buf_fini(&large);
    agentlab_close(&l);
}

static void a_large_result_goes_as_a_blob_and_reaches_the_children(void **state) {
    (void)state;
    struct agentlab l;
    open_both(&l);
    uint32_t parents[] = {0};
    struct lab_job jobs[] = {
        {.name = "p", .shell = "(printf '[\"'; head -c 200000 /dev/zero | tr '\\0' a; printf '\"]') >$REEVE_OUTPUT"},
        {.name = "x", .shell = "wc -c <$REEVE_INPUTS; head -c 12 $REEVE_INPUTS", .parents = parents, .parent_count = 1},
    };
    struct slice flow = agentlab_submit(&l, jobs, 2);
    const struct wire_job_view *job = agentlab_until(&l, flow, "p", "succeeded");
    assert_int_equal(job->result_hash.len, 32);
    agentlab_until(&l, flow, "x", "succeeded");
    assert_true(log_is(&l, flow, "200011\n{\"p\":[\"aaaaa"));
    agentlab_close(&l);
}

static void what_cannot_be_put_or_kept_is_said(void **state) {
    (void)state;
    struct agentlab l;
    open_both(&l);
    struct wire_file up = {SLICE("a/../../../up"), blob_put(&l, SLICE("x")), false};
    struct wire_artifact missing = {SLICE("a"), SLICE("not-there"), false};
    struct lab_job jobs[] = {
        {.name = "up", .shell = "true", .run = {.files = {&up, 1}}},
        {.name = "missing", .shell = "true", .run = {.artifacts = {&missing, 1}}},
    };
    struct slice flow = agentlab_submit(&l, jobs, 2);
    assert_true(slice_eq(agentlab_until(&l, flow, "up", "failed")->cause, SLICE("rejected")));
    assert_true(slice_eq(agentlab_until(&l, flow, "missing", "failed")->cause, SLICE("exit")));
    agentlab_close(&l);
}

static void of_a_long_log_head_and_tail_are_kept(void **state) {
    (void)state;
    struct agentlab l;
    open_both(&l);
    struct lab_job job = {
        .name = "x", .shell = "echo first; head -c 300000000 /dev/zero; echo last", .run = {.log_bytes_max = 100000}};
    struct slice flow = agentlab_submit(&l, &job, 1);
    agentlab_until(&l, flow, "x", "succeeded");
    struct slice log = agentlab_log(&l, flow, "x");
    assert_true(log.len <= 100000 && log.len > 99000);
    assert_memory_equal(log.ptr, "first\n", 6);
    assert_memory_equal(log.ptr + log.len - 5, "last\n", 5);
    assert_non_null(memmem(log.ptr, log.len, "bytes left out here", 19));
    agentlab_close(&l);
}

static void cancel_and_timeout_kill_the_tree(void **state) {
    (void)state;
    struct agentlab l;
    agentlab_open(&l);
    l.limits.kill_grace_ms = 100;
    agentlab_server_start(&l);
    agentlab_worker_start(&l);
    char path[300], shell[700];
    snprintf(path, sizeof path, "%s/pid", l.dir);
    snprintf(shell, sizeof shell,
             "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo $$ >%s; sleep 1000' &); sleep 1000", path);
    struct slice flow = agentlab_run(&l, shell);
    long pid = strtol(agentlab_file(&l, path), NULL, 10);
    struct wire_name target = {flow};
    struct wire_targets cancel = {.targets = {&target, 1}};
    agentlab_ask(&l, WIRE_CANCEL, &cancel);
    agentlab_until(&l, flow, "x", "cancelled");
    assert_true(agentlab_is_dead_soon(pid));
    (void)unlink(path);
    struct lab_job job = {.name = "x", .shell = shell, .run_timeout_ms = 300};
    flow = agentlab_submit(&l, &job, 1);
    pid = strtol(agentlab_file(&l, path), NULL, 10);
    agentlab_until(&l, flow, "x", "timed_out");
    assert_true(agentlab_is_dead_soon(pid));
    agentlab_close(&l);
}

static void a_job_that_runs_across_the_death_of_the_server_runs_once(void **state) {
    (void)state;
    struct agentlab l;
    open_both(&l);
    char path[300], go[300], shell[1000];
    snprintf(path, sizeof path, "%s/count", l.dir);
    snprintf(go, sizeof go, "%s/go", l.dir);
    snprintf(shell, sizeof shell, "echo before; echo x >>%s; while ! test -e %s; do sleep 0.02; done; echo after", path,
             go);
    struct slice flow = agentlab_run(&l, shell);
    agentlab_file(&l, path);
    agentlab_server_kill(&l);
    agentlab_server_start(&l);
    assert_int_equal(close(creat(go, 0600)), 0);
    const struct wire_job_view *job = agentlab_until(&l, flow, "x", "succeeded");
    assert_int_equal(job->attempt, 1);
    assert_true(log_is(&l, flow, "before\nafter\n"));
    assert_string_equal(agentlab_file(&l, path), "x\n");
    agentlab_close(&l);
}

static void what_ends_while_the_server_is_away_is_told_later(void **state) {
    (void)state;
    struct agentlab l;
    open_both(&l);
    char path[300], shell[1000];
    snprintf(path, sizeof path, "%s/over", l.dir);
    snprintf(shell, sizeof shell,
             "echo $$ >%s; while kill -0 $(cat %s.server) 2>/dev/null; do sleep 0.02; done; "
             "head -c 3000000 /dev/zero; echo end; echo 1 >%s.end",
             path, path, path);
    char name[320];
    snprintf(name, sizeof name, "%s.server", path);
    FILE *f = fopen(name, "w");
    fprintf(f, "%d\n", (int)l.server);
    (void)fclose(f);
    struct slice flow = agentlab_run(&l, shell);
    long pid = strtol(agentlab_file(&l, path), NULL, 10);
    agentlab_server_kill(&l);
    snprintf(name, sizeof name, "%s.end", path);
    agentlab_file(&l, name);
    assert_true(agentlab_is_dead_soon(pid));
    /* And the worker dies, too: its next incarnation delivers what the first one spooled. The end of a process is
     * noticed a little after its death, so it is waited for on disk. */
    snprintf(name, sizeof name, "ls %s/worker/spool | grep -q . && sleep 0.3", l.dir);
    for (int i = 0; i < 1000 && system(name) != 0; i++) (void)poll(NULL, 0, 5);
    agentlab_worker_kill(&l);
    agentlab_worker_start(&l);
    agentlab_server_start(&l);
    const struct wire_job_view *job = agentlab_until(&l, flow, "x", "succeeded");
    assert_int_equal(job->attempt, 1);
    struct slice log = agentlab_log(&l, flow, "x");
    assert_int_equal(log.len, 3000004);
    assert_memory_equal(log.ptr + log.len - 4, "end\n", 4);
    agentlab_close(&l);
}

static void beyond_the_spool_jobs_wait_and_lose_nothing(void **state) {
    (void)state;
    struct agentlab l;
    agentlab_open(&l);
    l.spool_bytes_max = 1u << 20;
    agentlab_server_start(&l);
    agentlab_worker_start(&l);
    char path[300], shell[700];
    snprintf(path, sizeof path, "%s/go", l.dir);
    snprintf(shell, sizeof shell,
             "echo $$ >%s.pid; while ! test -e %s; do sleep 0.02; done; head -c 8000000 /dev/zero; "
             "echo 1 >%s.over",
             path, path, path);
    struct slice flow = agentlab_run(&l, shell);
    char name[320];
    snprintf(name, sizeof name, "%s.pid", path);
    agentlab_file(&l, name);
    agentlab_server_kill(&l);
    assert_int_equal(close(creat(path, 0600)), 0);
    snprintf(name, sizeof name, "%s.over", path);
    for (int i = 0; i < 50; i++) (void)poll(NULL, 0, 10);
    assert_int_equal(access(name, F_OK), -1); /* it waits at its pipe */
    agentlab_server_start(&l);
    agentlab_until(&l, flow, "x", "succeeded");
    assert_int_equal(agentlab_log(&l, flow, "x").len, 8000000);
    agentlab_close(&l);
}

/* Jobs note each run of theirs. Whatever is killed, and when: all of them end well in the end, and those that only
 * servers died around ran once. */
static void kills_at_random(struct agentlab *l, struct test_random *r, bool workers_too, int rounds) {
    enum { COUNT = 24 };
    char names[COUNT][8], shells[COUNT][400];
    struct lab_job jobs[COUNT];
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "j%d", i);
        snprintf(shells[i], sizeof shells[i], "echo run >>%s/n%d; echo out; sleep 0.%02d", l->dir, i,
                 (int)test_random_below(r, 20));
        jobs[i] = (struct lab_job){.name = names[i], .shell = shells[i], .attempts_max = workers_too ? 50 : 1};
    }
    struct slice flow = agentlab_submit(l, jobs, COUNT);
    for (int i = 0; i < rounds; i++) {
        (void)poll(NULL, 0, (int)test_random_below(r, 200));
        bool worker = workers_too && test_random_below(r, 2) == 0;
        if (worker) agentlab_worker_kill(l);
        if (!worker || test_random_below(r, 3) == 0) agentlab_server_kill(l), agentlab_server_start(l);
        if (worker) agentlab_worker_start(l);
    }
    for (int i = 0; i < COUNT; i++) {
        char path[300];
        agentlab_until(l, flow, names[i], "succeeded");
        snprintf(path, sizeof path, "%s/n%d", l->dir, i);
        if (!workers_too) assert_string_equal(agentlab_file(l, path), "run\n");
        assert_true(slice_eq(agentlab_log(l, flow, names[i]), SLICE("out\n")));
        (void)unlink(path);
    }
}

static void servers_killed_at_random_moments_run_nothing_twice(void **state) {
    (void)state;
    struct agentlab l;
    struct test_random r = {11};
    open_both(&l);
    for (int round = 0; round < 3; round++) kills_at_random(&l, &r, false, 6);
    agentlab_close(&l);
}

static void either_killed_at_random_moments_loses_nothing(void **state) {
    (void)state;
    struct agentlab l;
    struct test_random r = {12};
    open_both(&l);
    for (int round = 0; round < 3; round++) kills_at_random(&l, &r, true, 6);
    agentlab_close(&l);
}

static void a_killed_worker_takes_its_processes_along_and_the_job_runs_again(void **state) {
    (void)state;
    struct agentlab l;
    open_both(&l);
    char path[300], shell[1000];
    snprintf(path, sizeof path, "%s/first", l.dir);
    snprintf(shell, sizeof shell, "if test -e %s; then echo second; else echo $$ >%s.new; mv %s.new %s; sleep 1000; fi",
             path, path, path, path);
    struct lab_job jobs[] = {{.name = "x", .shell = shell, .attempts_max = 3}};
    struct slice flow = agentlab_submit(&l, jobs, 1);
    long pid = strtol(agentlab_file(&l, path), NULL, 10);
    agentlab_worker_kill(&l);
    assert_true(agentlab_is_dead_soon(pid));
    agentlab_worker_start(&l);
    const struct wire_job_view *job = agentlab_until(&l, flow, "x", "succeeded");
    assert_int_equal(job->attempt, 2);
    assert_true(log_is(&l, flow, "second\n"));
    agentlab_close(&l);
}

static void without_retries_it_is_not_run_again(void **state) {
    (void)state;
    struct agentlab l;
    open_both(&l);
    char path[300], shell[700];
    snprintf(path, sizeof path, "%s/runs", l.dir);
    snprintf(shell, sizeof shell, "echo $$ >>%s; sleep 1000", path);
    struct slice flow = agentlab_run(&l, shell);
    agentlab_file(&l, path);
    agentlab_worker_kill(&l);
    agentlab_worker_start(&l);
    const struct wire_job_view *job = agentlab_until(&l, flow, "x", "failed");
    assert_true(slice_eq(job->cause, SLICE("lost")));
    agentlab_close(&l);
}

static void a_draining_worker_finishes_and_goes(void **state) {
    (void)state;
    struct agentlab l;
    open_both(&l);
    char path[300], shell[700];
    snprintf(path, sizeof path, "%s/started", l.dir);
    snprintf(shell, sizeof shell, "echo 1 >%s; sleep 0.3; echo done", path);
    struct slice flow = agentlab_run(&l, shell);
    agentlab_file(&l, path);
    assert_int_equal(agentlab_worker_term(&l), 0);
    agentlab_until(&l, flow, "x", "succeeded");
    assert_true(log_is(&l, flow, "done\n"));
    agentlab_close(&l);
}

static void an_exclusive_process_does_not_outlive_the_lease(void **state) {
    (void)state;
    struct agentlab l;
    agentlab_open(&l);
    l.limits.lease_ms = 1000;
    l.limits.heartbeat_ms = 200;
    agentlab_server_start(&l);
    agentlab_worker_start(&l);
    char path[300], shell[700];
    snprintf(path, sizeof path, "%s/pids", l.dir);
    snprintf(shell, sizeof shell, "echo $$ >%s.new; mv %s.new %s; sleep 1000", path, path, path);
    struct lab_job job = {.name = "x", .shell = shell, .exclusive = true};
    agentlab_submit(&l, &job, 1);
    long pid = strtol(agentlab_file(&l, path), NULL, 10);
    assert_int_equal(kill((pid_t)pid, 0), 0);
    assert_int_equal(kill(l.worker, SIGSTOP), 0); /* the keeper's clock does not need the worker */
    assert_true(agentlab_is_dead_soon(pid));
    assert_int_equal(kill(l.worker, SIGCONT), 0);
    agentlab_close(&l);
}

static void many_jobs_run_and_each_is_told_once(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    struct agentlab l;
    agentlab_open(&l);
    l.slots = 100;
    agentlab_server_start(&l);
    agentlab_worker_start(&l);
    static struct lab_job jobs[COUNT];
    static char names[COUNT][16];
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "j%d", i);
        jobs[i] = (struct lab_job){.name = names[i], .kind = i % 20 == 0 ? JOB_COMMAND : JOB_NOOP};
        if (i % 20 == 0) jobs[i].shell = "echo hello";
    }
    char flow[64]; /* outlives the arena of the answers */
    snprintf(flow, sizeof flow, "%.*s", SLICE_FMT(agentlab_submit(&l, jobs, COUNT)));
    for (int i = 0; i < COUNT; i++) {
        if (i % 500 == 0) agentlab_server_kill(&l), agentlab_server_start(&l);
        arena_reset(&l.arena);
        assert_int_equal(agentlab_until(&l, slice_str(flow), names[i], "succeeded")->attempt, 1);
    }
    agentlab_close(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_run_and_their_output_is_there),
        cmocka_unit_test(argv_scripts_and_inner_kinds_run),
        cmocka_unit_test(it_starts_in_its_own_place_with_what_it_may_know),
        cmocka_unit_test(results_go_to_children),
        cmocka_unit_test(blobs_come_before_the_start_and_go_after_the_end),
        cmocka_unit_test(a_large_result_goes_as_a_blob_and_reaches_the_children),
        cmocka_unit_test(what_cannot_be_put_or_kept_is_said),
        cmocka_unit_test(of_a_long_log_head_and_tail_are_kept),
        cmocka_unit_test(cancel_and_timeout_kill_the_tree),
        cmocka_unit_test(a_job_that_runs_across_the_death_of_the_server_runs_once),
        cmocka_unit_test(what_ends_while_the_server_is_away_is_told_later),
        cmocka_unit_test(beyond_the_spool_jobs_wait_and_lose_nothing),
        cmocka_unit_test(servers_killed_at_random_moments_run_nothing_twice),
        cmocka_unit_test(either_killed_at_random_moments_loses_nothing),
        cmocka_unit_test(a_killed_worker_takes_its_processes_along_and_the_job_runs_again),
        cmocka_unit_test(without_retries_it_is_not_run_again),
        cmocka_unit_test(a_draining_worker_finishes_and_goes),
        cmocka_unit_test(an_exclusive_process_does_not_outlive_the_lease),
        cmocka_unit_test(many_jobs_run_and_each_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
