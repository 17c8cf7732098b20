/* examples_test.c: every flow in examples/ is submitted as a person would, to a server and a worker by `reeve up`, and
 * its outcome is looked at: states, results, logs. */
#include "test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "escape.h"
#include "realcli.h"
#include "realserver.h"
#include "realworker.h"
#include "webserver.h"

static struct realcli *const r = &realcli_group;

/* Submits it and waits for its end; `flags` may hold a %s for `text`. Its id, valid until the next call. */
static const char *run(const char *name, const char *flags, const char *text, int exit_code) {
    static char id[64];
    char args[640];
    snprintf(args, sizeof args, "submit --wait examples/%s.yaml %s", name, flags);
    struct ran ran = realcli_run(r, args, text, NULL);
    if (ran.exit_code != exit_code) fail_msg("%s: exit %d: %s%s", name, ran.exit_code, ran.out, ran.err);
    snprintf(id, sizeof id, "%.*s", (int)strcspn(ran.out, " \n"), ran.out);
    return id;
}

static const char *log_of(const char *id, const char *job) {
    char args[128];
    snprintf(args, sizeof args, "logs %s/%s", id, job);
    return realcli_ok(r, args, NULL).out;
}

static const char *shown(const char *id, const char *job) {
    char args[128];
    snprintf(args, sizeof args, "show %s/%s", id, job);
    return realcli_ok(r, args, NULL).out;
}

/* "a succeeded, b skipped": each job is in that state. */
static void assert_states(const char *id, const char *wanted) {
    char job[64], state[32];
    int used = 0;
    for (; sscanf(wanted, "%63s %31[a-z_]%n", job, state, &used) == 2; wanted += used) {
        char line[160];
        snprintf(line, sizeof line, "%s/%s  %s", id, job, state);
        assert_has(shown(id, job), line);
        used += wanted[used] == ',';
    }
}

static void etl(void **state) {
    (void)state;
    const char *id = run("etl", "-p rows=7", NULL, 0);
    assert_string_equal(log_of(id, "clean"), "cleaning 7 rows\n");
    assert_string_equal(log_of(id, "load"), "loaded 7 rows into sales\n");
    assert_string_equal(log_of(id, "report"), "report of 2026-01-01 is written, the load succeeded\n");
    id = run("etl", "-p rows=0", NULL, 0);
    assert_states(id, "extract succeeded, clean skipped, load skipped, report succeeded");
    assert_string_equal(log_of(id, "report"), "report of 2026-01-01 is written, the load skipped\n");
}

static void archive(void **state) {
    (void)state;
    const char *id = run("archive", "", NULL, 0);
    assert_string_equal(log_of(id, "count"), "fox.txt 5\n");
    assert_string_equal(log_of(id, "inside"), "count.py 12\n");
}

static void http_client(void **state) {
    (void)state;
    char said[256];
    assert_int_equal(test_shell(said, sizeof said, "REEVE_DATA=%s timeout 120 examples/http.sh 2>&1", r->data), 0);
    assert_string_equal(said, "the answer is 42\n");
}

static void map_reduce(void **state) {
    (void)state;
    const char *id = run("map-reduce", "", NULL, 0);
    assert_has(shown(id, "reduce"), "{\"sum\": 500500}");
    assert_string_equal(log_of(id, "reduce"), "sum 500500\n");
    assert_has(shown(id, "map[999]"), "succeeded");
    char path[64] = "";
    const char *dir = strstr(shown(id, "split"), "\"dir\": \"");
    assert_non_null(dir);
    assert_int_equal(sscanf(dir, "\"dir\": \"%63[^\"]", path), 1);
    assert_int_not_equal(access(path, F_OK), 0); /* the cleanup was there */
}

static void branch(void **state) {
    (void)state;
    const char *id = run("branch", "", NULL, 0);
    assert_states(id, "release succeeded, repair skipped, tell succeeded");
    assert_string_equal(log_of(id, "tell"), "told everyone that it was released\n");
    assert_has(shown(id, "repair"), "its `when` is false");
    id = run("branch", "-p score=12", NULL, 0);
    assert_states(id, "release skipped, repair succeeded");
    assert_string_equal(log_of(id, "repair"), "back to the bench with 12\n");
    assert_string_equal(log_of(id, "tell"), "told everyone that it was repaired\n");
}

static void retries(void **state) {
    (void)state;
    const char *id = run("retries", "", NULL, 1);
    assert_states(id, "flaky succeeded, picky failed");
    assert_has(shown(id, "flaky"), "3 of 5");
    assert_has(shown(id, "picky"), "1 of 5"); /* no second attempt */
    assert_has(log_of(id, "flaky --attempt 1"), "attempt 1");
}

static void timeouts(void **state) {
    (void)state;
    const char *id = run("timeouts", "", NULL, 1);
    assert_states(id, "slow timed_out, stubborn timed_out, late timed_out, report succeeded");
    assert_has(shown(id, "slow"), "2 of 2");
    assert_string_equal(log_of(id, "stubborn"), "not listening\n");
    assert_string_equal(log_of(id, "report"), "slow timed_out, stubborn timed_out, late timed_out\n");
}

static void concurrency(void **state) {
    (void)state;
    char args[128];
    snprintf(args, sizeof args, "-p dir=%s", r->data);
    const char *id = run("concurrency", args, NULL, 0);
    assert_states(id, "write succeeded, read succeeded, write[4] succeeded");
    assert_string_equal(log_of(id, "read[0]"), "reader 1 need not wait\n");
}

static void cache(void **state) {
    (void)state;
    char first[512], again[512], other[512];
    snprintf(first, sizeof first, "%s", strstr(shown(run("cache", "", NULL, 0), "train"), "{\"model\""));
    const char *id = run("cache", "", NULL, 0);
    snprintf(again, sizeof again, "%s", strstr(shown(id, "train"), "{\"model\""));
    assert_string_equal(log_of(id, "use"), "using m-3\n");
    snprintf(other, sizeof other, "%s", strstr(shown(run("cache", "-p size=4", NULL, 0), "train"), "{\"model\""));
    assert_memory_equal(first, again, strcspn(first, "}")); /* with the time at which it was made */
    assert_has(other, "m-4");
}

static void cleanup(void **state) {
    (void)state;
    const char *id = run("cleanup", "", NULL, 1);
    assert_states(id, "build failed, deploy upstream_failed, announce skipped, cleanup succeeded, page succeeded");
    assert_string_equal(log_of(id, "cleanup"), "cleaned up after a build that failed\n");
    id = run("cleanup", "-p exit=0", NULL, 0);
    assert_states(id, "deploy succeeded, announce succeeded, cleanup succeeded, page skipped");
}

static void artifacts(void **state) {
    (void)state;
    const char *id = run("artifacts", "", NULL, 0);
    assert_string_equal(log_of(id, "publish"), "three pictures\n");
    assert_has(shown(id, "index"), "index.html");
    assert_has(shown(id, "render[2]"), "2-blue");
    /* sha256 of "a red picture\n" */
    assert_has(realcli_ok(r, "blob ls", NULL).out, "e9fd5198c2913cbc0a15e797edb8c0d4a98af6352e7f8ae05521d5320632be97");
}

static void standard_input(void **state) {
    (void)state;
    const char *id = run("stdin", "", NULL, 0);
    assert_has(log_of(id, "words"), "3");
    assert_string_equal(log_of(id, "upper"), "COUNTED BY STDIN: SUCCEEDED\n");
    assert_has(log_of(id, "file"), "# Standard input: a text");
    assert_string_equal(log_of(id, "script"), "42\n");
}

/* A repository with one commit, and harmless commands in place of the real ones. */
static void ci(void **state) {
    (void)state;
    char command[768], flags[512];
    snprintf(command, sizeof command,
             "mkdir %s/repo && cd %s/repo && git init -q -b main && printf '#!/bin/sh\\necho testing $1\\n' > t.sh && "
             "chmod +x t.sh && git add t.sh && git -c user.name=a -c user.email=a@b commit -qm one && "
             "git rev-parse HEAD > %s/commit",
             r->data, r->data, r->data);
    assert_int_equal(system(command), 0);
    snprintf(flags, sizeof flags, "-p repository=%s/repo -p dir=%s/ci -p test=./t.sh -p suites=unit,tidy -p %%s",
             r->data, r->data);
    const char *id = run("ci", flags, "build=ls -l t.sh | wc -l", 0);
    assert_string_equal(log_of(id, "build"), "1\n");
    assert_string_equal(log_of(id, "test[0]"), "testing unit\n");
    assert_string_equal(log_of(id, "test[1]"), "testing tidy\n");
    char path[96], commit[64] = "";
    snprintf(path, sizeof path, "%s/commit", r->data);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%63s", commit), 1);
    fclose(f);
    assert_has(log_of(id, "report"), commit);
    id = run("ci", "-p repository=/nowhere -p build=true", NULL, 1);
    assert_states(id, "fetch failed, build upstream_failed");
}

static void exclusive(void **state) {
    (void)state;
    char flags[128];
    snprintf(flags, sizeof flags, "-p store=%s/fence", r->data);
    const char *id = run("exclusive", flags, NULL, 0);
    assert_has(shown(id, "lead"), "2 of 3");
    uint64_t first = 0, second = 0;
    assert_int_equal(sscanf(log_of(id, "lead --attempt 1"), "leading with %lu", &first), 1);
    assert_int_equal(sscanf(log_of(id, "lead --attempt 2"), "leading with %lu", &second), 1);
    assert_true(first > 0 && second > first);
}

static void saga_booking(void **state) {
    (void)state;
    const char *id = run("saga-booking", "-p payment=no", NULL, 1);
    assert_states(id, "pay failed, hotel~undo succeeded, flight~undo succeeded");
    assert_string_equal(log_of(id, "hotel~undo"), "hotel cancelled\n");
    id = run("saga-booking", "", NULL, 0);
    assert_string_equal(log_of(id, "confirm"), "confirmed\n");
}

static void saga_failure(void **state) {
    (void)state;
    const char *id = run("saga-failure", "-p payment=no", NULL, 1);
    assert_states(id, "hotel succeeded, pay failed, confirm upstream_failed, hotel~undo succeeded");
    assert_has(shown(id, "pay"), "2 of 2");
    id = run("saga-failure", "", NULL, 0);
    assert_string_equal(log_of(id, "confirm"), "confirmed\n");
}

static void finally_runs_at_the_end(void **state) {
    (void)state;
    const char *id = run("finally", "-p tests=fail", NULL, 1);
    assert_states(id, "cluster succeeded, tests failed, publish skipped, tell succeeded, remove succeeded, "
                      "report succeeded");
    assert_string_equal(log_of(id, "tell"), "the flow has failed: tests exited with 1\n");
    assert_string_equal(log_of(id, "remove"), "removing cluster test-17 (failed)\n");
    assert_has(shown(id, "publish"), "skipped (outcome)");
    id = run("finally", "", NULL, 0);
    assert_states(id, "publish succeeded, tell skipped, remove succeeded");
    assert_string_equal(log_of(id, "remove"), "removing cluster test-17 (succeeded)\n");
}

static void triggers(void **state) {
    (void)state;
    const char *id = run("triggers", "", NULL, 1);
    assert_states(id, "mirror-a succeeded, mirror-b failed, lint skipped, unpack succeeded, publish succeeded");
    assert_has(shown(id, "lint"), "skipped (when)");
    assert_has(shown(id, "mirror-b"), "1 of 4"); /* it is tried again after losses alone */
    assert_string_equal(log_of(id, "report"), "publish succeeded\n");
    id = run("triggers", "-p first=1", NULL, 1);
    assert_states(id, "unpack upstream_failed, publish upstream_failed, report succeeded");
    assert_string_equal(log_of(id, "report"), "publish failed\n");
    id = run("triggers", "-p first=1 -p second=0 -p lint=true", NULL, 1);
    assert_states(id, "lint succeeded, unpack succeeded, publish succeeded");
}

static void ml_gate(void **state) {
    (void)state;
    struct ran ran = realcli_ok(r, "submit examples/ml-gate.yaml", NULL);
    char id[64], args[128];
    snprintf(id, sizeof id, "%.*s", (int)strcspn(ran.out, "\n"), ran.out);
    snprintf(args, sizeof args, "wait -q %s/evaluate", id);
    (void)realcli_ok(r, args, NULL);
    snprintf(args, sizeof args, "approve --yes %s/release", id);
    (void)realcli_ok(r, args, NULL);
    snprintf(args, sizeof args, "wait -q %s", id);
    (void)realcli_ok(r, args, NULL);
    assert_string_equal(log_of(id, "deploy"), "deployed\n");
}

/* Waits for a worker that offers what it asks for, and says so. */
/* By a worker that was told what greets. */
static void handlers(void **state) {
    (void)state;
    struct realserver s = {0};
    struct realworker worker;
    snprintf(s.data, sizeof s.data, "%s", r->data);
    realworker_make(&worker, &s, "greeter");
    worker.flags[0] = "--handler";
    worker.flags[1] = "GREET=/bin/echo";
    realworker_start(&worker, &s);
    const char *id = run("handlers", "", NULL, 0);
    assert_has(log_of(id, "greet"), "hello Ada");
    realworker_kill(&worker);
}

static void gpu_routing(void **state) {
    (void)state;
    struct ran ran = realcli_ok(r, "submit examples/gpu-routing.yaml", NULL);
    char id[64], args[128];
    snprintf(id, sizeof id, "%.*s", (int)strcspn(ran.out, "\n"), ran.out);
    snprintf(args, sizeof args, "wait -q %s/prepare", id);
    (void)realcli_ok(r, args, NULL);
    snprintf(args, sizeof args, "why %s/train", id);
    assert_has(realcli_ok(r, args, NULL).out, "no attached worker has what the job requires");
    snprintf(args, sizeof args, "cancel %s", id);
    (void)realcli_ok(r, args, NULL);
}

static void agent(void **state) {
    (void)state;
    const char *id = run("agent", "", NULL, 0);
    assert_states(id, "plan succeeded, think succeeded, dig succeeded, answer succeeded");
    assert_has(shown(id, "answer"), "65");
    id = run("agent", "-p goal=30", NULL, 0); /* enough: it does not dig */
    assert_has(shown(id, "answer"), "35");
    char args[64];
    snprintf(args, sizeof args, "ls %s", id);
    assert_null(strstr(realcli_ok(r, args, NULL).out, "dig"));
}

static void sandbox(void **state) {
    (void)state;
    if (!escape_kernel_can(0)) return;
    const char *id = run("sandbox", "", NULL, 0);
    assert_string_equal(log_of(id, "plugin"), "nothing of the machine is here\n");
    assert_string_equal(log_of(id, "offline"), "42\nlo\n");
}

static void http(void **state) {
    (void)state;
    struct webserver web;
    char flags[96];
    webserver_start(&web);
    snprintf(flags, sizeof flags, "-p url=http://127.0.0.1:%u/job/0/rates", web.port);
    const char *id = run("http", flags, NULL, 0);
    assert_string_equal(log_of(id, "report"), "status 200, done, 31 bytes\n");
    webserver_stop(&web);
}

/* The farm is this test: it finds the note, and is done. */
static void external(void **state) {
    (void)state;
    char args[256], path[128], id[64], token[256];
    snprintf(args, sizeof args, "submit examples/external.yaml -p dir=%s", r->data);
    struct ran ran = realcli_ok(r, args, NULL);
    snprintf(id, sizeof id, "%.*s", (int)strcspn(ran.out, "\n"), ran.out);
    snprintf(path, sizeof path, "%s/film.queued", r->data);
    while (access(path, F_OK) != 0) (void)realcli_ok(r, "stats", NULL);
    (void)realcli_file(r, "film.done", "{\"frames\": 240}");
    snprintf(args, sizeof args, "wait -q %s/render", id);
    (void)realcli_ok(r, args, NULL);
    snprintf(args, sizeof args, "callback %s/customer", id);
    do ran = realcli_run(r, args, NULL, NULL); /* until it has been asked */
    while (ran.exit_code != 0);
    assert_int_equal(sscanf(ran.out, "%255s", token), 1);
    snprintf(args, sizeof args, "complete %s/customer --token %s -o {\"stars\":5}", id, token);
    (void)realcli_ok(r, args, NULL);
    snprintf(args, sizeof args, "wait -q %s", id);
    (void)realcli_ok(r, args, NULL);
    assert_string_equal(log_of(id, "publish"), "240 frames, rated 5\n");
}

static void service(void **state) {
    (void)state;
    struct ran ran = realcli_run(r, "deploy examples/service.yaml", NULL, NULL);
    if (ran.exit_code != 0) fail_msg("%s%s", ran.out, ran.err);
    assert_has(ran.out, "ticker  healthy, version 1");
    assert_has(realcli_ok(r, "logs ticker", NULL).out, "tick of attempt 1\n");
    realcli_ok(r, "undeploy ticker", NULL);
}

static void replicas(void **state) {
    (void)state;
    struct ran ran = realcli_run(r, "deploy examples/replicas.yaml -p replicas=2", NULL, NULL);
    if (ran.exit_code != 0) fail_msg("%s%s", ran.out, ran.err);
    assert_has(ran.out, "hello.2  healthy, version 1");
    ran = realcli_run(r, "deploy examples/replicas.yaml -p replicas=2 -p greeting=Hallo", NULL, NULL);
    if (ran.exit_code != 0) fail_msg("%s%s", ran.out, ran.err);
    assert_has(ran.out, "hello.1  healthy, version 2");
    assert_has(realcli_ok(r, "logs hello", NULL).out, "Hallo from replica 2 of hello");
    realcli_ok(r, "scale hello=1", NULL);
    realcli_ok(r, "undeploy hello", NULL);
}

static void limits(void **state) {
    (void)state;
    const char *id = run("limits", "", NULL, 1);
    assert_states(id, "convert succeeded, hungry failed, report succeeded");
    assert_string_equal(log_of(id, "report"), "convert succeeded, hungry failed\n");
    assert_has(shown(id, "hungry"), "32.0 MiB of memory, 100 processes");
    /* killed, or refused the memory where the machine has no groups: then that is said */
    const char *said = shown(id, "hungry");
    if (strstr(said, "killed: used more than its 32MiB of memory") == NULL)
        assert_has(said, "memory kept for each process by itself");
}

static void nightly(void **state) {
    (void)state;
    const char *id = run("nightly", "-p day=2026-11-01", NULL, 0);
    assert_string_equal(log_of(id, "extract"), "extracted 2026-11-01\n");
    assert_string_equal(log_of(id, "load"), "loaded 2026/11 made by hand\n");
    (void)realcli_ok(r, "schedule add examples/nightly.yaml", NULL);
    struct ran ran = realcli_ok(r, "schedule run nightly --slot 2026-11-01T02:30 --wait", NULL);
    char args[128], made[64];
    snprintf(made, sizeof made, "%.*s", (int)strcspn(ran.out, " \n"), ran.out);
    snprintf(args, sizeof args, "logs %s/extract", made);
    assert_string_equal(realcli_ok(r, args, NULL).out, "extracted 2026-10-31\n");
    assert_string_equal(log_of(made, "load"), "loaded 2026/10 made by nightly\n");
    snprintf(args, sizeof args, "show %s --source", made); /* a schedule keeps its file */
    assert_has(realcli_ok(r, args, NULL).out, "day: ");
    ran = realcli_ok(r, "schedule backfill nightly --since 2026-10-05 --until 2026-10-08 --dry-run", NULL);
    assert_has(ran.out, "2026-10-05T02:30:00");
    assert_has(ran.out, "2026-10-07T02:30:00");
    assert_null(strstr(ran.out, "2026-10-08"));
    (void)realcli_ok(r, "schedule rm nightly", NULL);
}

static void uploads(void **state) {
    (void)state;
    const char *id = run("uploads", "-p key=uploads/a", NULL, 0);
    assert_string_equal(log_of(id, "tell"), "uploads/a by hand\n");
    (void)realcli_ok(r, "schedule add examples/uploads.yaml", NULL);
    (void)realcli_ok(r, "kv set uploads/b here", NULL);
    (void)realcli_ok(r, "wait uploads", NULL); /* the newest of that name */
    assert_string_equal(log_of("uploads", "tell"), "uploads/b by changed\n");
    (void)realcli_ok(r, "schedule rm uploads", NULL);
}

/* The 25th of December is a Friday, so what belongs to it comes on the Monday behind it. */
static void workdays(void **state) {
    (void)state;
    (void)realcli_ok(r, "schedule add examples/workdays.yaml", NULL);
    struct ran ran = realcli_ok(r, "schedule backfill workdays --since 2026-12-01 --until 2027-01-06 --dry-run", NULL);
    assert_string_equal(ran.out, "2026-12-01T07:00:00Z\n2026-12-15T07:00:00Z\n2026-12-31T07:00:00Z\n"
                                 "2027-01-04T07:00:00Z\n");
    (void)realcli_ok(r, "schedule rm workdays", NULL);
    const char *id = run("workdays", "-p day=2026-12-01", NULL, 0);
    assert_string_equal(log_of(id, "report"), "report of 2026-12-01\n");
}

static void matrix(void **state) {
    (void)state;
    const char *id = run("matrix", "", NULL, 0);
    assert_states(id, "test succeeded, test[3] succeeded, docs[5] succeeded");
    assert_string_equal(log_of(id, "test[0]"), "testing 12 on linux\n");
    assert_string_equal(log_of(id, "test[2]"), "testing 13 on mac\n");
    assert_string_equal(log_of(id, "test[3]"), "testing 14 on bsd\n");
    assert_string_equal(log_of(id, "docs[3]"), "en false\n");
}

static void params(void **state) {
    (void)state;
    const char *id = run("params", "-p @examples/params.env -p size=large", NULL, 0);
    assert_string_equal(log_of(id, "load[2]"), "load v2.1 2026-03-01 large east 3 of 3\n");
    assert_string_equal(log_of(id, "report"), "2026-03-01 at rate 0.5, at most 100 rows\n");
    id = run("params", "-p day=2026-03-02 -p dry=true", NULL, 0);
    assert_states(id, "load skipped, report succeeded");
    struct ran ran = realcli_run(r, "submit examples/params.yaml -p day=2025-12-31", NULL, NULL);
    assert_int_equal(ran.exit_code, 2);
    assert_has(ran.err, "parameter `day` is `2025-12-31`; expected a date like 2026-03-31, 2026-01-01 or later");
}

static const struct {
    const char *name;
    void (*test)(void **state);
} examples[] = {
    {"agent", agent},
    {"archive", archive},
    {"artifacts", artifacts},
    {"branch", branch},
    {"cache", cache},
    {"ci", ci},
    {"cleanup", cleanup},
    {"concurrency", concurrency},
    {"etl", etl},
    {"exclusive", exclusive},
    {"external", external},
    {"gpu-routing", gpu_routing},
    {"handlers", handlers},
    {"http", http},
    {"http.sh", http_client},
    {"limits", limits},
    {"map-reduce", map_reduce},
    {"matrix", matrix},
    {"ml-gate", ml_gate},
    {"nightly", nightly},
    {"params", params},
    {"retries", retries},
    {"saga-booking", saga_booking},
    {"saga-failure", saga_failure},
    {"finally", finally_runs_at_the_end},
    {"sandbox", sandbox},
    {"service", service},
    {"replicas", replicas},
    {"stdin", standard_input},
    {"timeouts", timeouts},
    {"triggers", triggers},
    {"uploads", uploads},
    {"workdays", workdays},
};
#define COUNT (sizeof examples / sizeof examples[0])

static void every_example_is_here(void **state) {
    (void)state;
    glob_t found;
    assert_int_equal(glob("examples/*.yaml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char path[96];
        size_t k = 0;
        for (; k < COUNT; k++) {
            snprintf(path, sizeof path, "examples/%s.yaml", examples[k].name);
            if (strcmp(path, found.gl_pathv[i]) == 0) break;
        }
        if (k == COUNT) fail_msg("%s has no test", found.gl_pathv[i]);
        char args[160];
        bool by_day = examples[k].test == nightly || examples[k].test == workdays; /* else a schedule gives it */
        const char *flags = by_day ? "-p day=2026-11-01" : examples[k].test == uploads ? "-p key=uploads/a" : "";
        snprintf(args, sizeof args, "submit --dry-run %s %s", path, flags);
        assert_has(realcli_ok(r, args, NULL).out, "\"jobs\":[{\"name\":");
    }
    globfree(&found);
}

int main(void) {
    struct CMUnitTest tests[COUNT + 1] = {cmocka_unit_test(every_example_is_here)};
    for (size_t i = 0; i < COUNT; i++) tests[i + 1] = (struct CMUnitTest){examples[i].name, examples[i].test, 0, 0, 0};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    setenv("REEVE_HTTP_PRIVATE", "127.0.0.1", 1); /* of the worker that `up` starts */
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
