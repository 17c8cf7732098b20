/* sandbox_work_test.c: work inside a sandbox is work like any other: it is given things, leaves things, is stopped and
 * killed; and what a worker's owner may ask for. Ways out of it: sandbox_test.c. */
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "escape.h"
#include "osprocs.h"
#include "realcli.h"
#include "realserver.h"
#include "realworker.h"

#define WAIT_MS 60000

static struct realserver server;
static struct realworker worker;
static struct realcli r;
static char outside[64];
static bool can;

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...) {
    char command[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    if (system(command) != 0) fail_msg("%s", command);
}

static int setup(void **state) {
    (void)state;
    can = escape_kernel_can(0);
    realserver_make(&server);
    server.flags[0] = "--log-level";
    server.flags[1] = "warn";
    server.quiet = true;
    realserver_start(&server);
    snprintf(r.data, sizeof r.data, "%s", server.data);
    realworker_make(&worker, &server, "w");
    realworker_start(&worker, &server);
    snprintf(outside, sizeof outside, "/var/tmp/reeve-box-%d", (int)getpid());
    shell("umask 022; mkdir -p %s/in %s/out && chmod 1777 %s %s/out && echo given > %s/in/text", outside, outside,
          outside, outside, outside);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    if (worker.pid != 0) realworker_kill(&worker);
    realserver_remove(&server);
    shell("rm -rf %s", outside);
    return 0;
}

/* The flow, with OUTSIDE for our directory. */
static const char *submit(const char *text, const char *flags) {
    static char filled[8192];
    size_t len = 0;
    for (const char *at = text; *at != 0;) {
        bool is_name = strncmp(at, "OUTSIDE", 7) == 0;
        len += (size_t)snprintf(filled + len, sizeof filled - len, "%.*s", is_name ? 63 : 1, is_name ? outside : at);
        at += is_name ? 7 : 1;
    }
    char args[64];
    snprintf(args, sizeof args, "submit %%s %s", flags);
    static char id[32];
    struct ran ran = realcli_run(&r, args, realcli_file(&r, "flow.yaml", filled), NULL);
    snprintf(id, sizeof id, "%.*s", (int)strcspn(ran.out, " \n"), ran.out);
    if (id[0] != 'f') fail_msg("%s%s", ran.out, ran.err);
    return id;
}

static const char *log_of(const char *flow, const char *job) {
    char args[128];
    snprintf(args, sizeof args, "logs %s/%s", flow, job);
    return realcli_ok(&r, args, NULL).out;
}

static const char *show(const char *flow, const char *job) {
    char args[128];
    snprintf(args, sizeof args, "show %s/%s", flow, job);
    return realcli_ok(&r, args, NULL).out;
}

static void log_is(const char *flow, const char *job, const char *text) {
    const char *log = log_of(flow, job);
    if (strcmp(log, text) != 0) fail_msg("%s: %s\n%s", job, log, show(flow, job));
}

/* Until the file in our directory is there; its text. */
static const char *file_wait(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", outside, name);
    return test_file_line(path);
}

/* Processes of that name below the worker; NULL = all. */
static uint32_t tree(const char *name, pid_t *ret_last) {
    struct u32vec pids = {0};
    uint32_t count = 0;
    osprocs_below(worker.pid, NULL, &pids);
    for (uint32_t i = 0; i < pids.count; i++) {
        char path[64], comm[32] = "";
        snprintf(path, sizeof path, "/proc/%u/comm", pids.at[i]);
        FILE *f = fopen(path, "re");
        bool is_it = name == NULL ||
                     (f != NULL && fgets(comm, sizeof comm, f) != NULL && strncmp(comm, name, strlen(name)) == 0);
        if (f != NULL) (void)fclose(f);
        if (is_it && ret_last != NULL) *ret_last = (pid_t)pids.at[i];
        count += is_it;
    }
    u32vec_fini(&pids);
    return count;
}

/* Until no sleep, and no first process of a sandbox, is there. */
static void gone_soon(void) {
    for (int ms = 0; tree("sleep", NULL) + tree("reeve-first", NULL) > 0; ms += 20) {
        if (ms > WAIT_MS) fail_msg("%u processes are left", tree(NULL, NULL));
        (void)poll(NULL, 0, 20);
    }
}

static void there_soon(const char *name, uint32_t count) {
    for (int ms = 0; tree(name, NULL) != count; ms += 20) {
        if (ms > WAIT_MS) fail_msg("%u of %s, not %u", tree(name, NULL), name, count);
        (void)poll(NULL, 0, 20);
    }
}

/* ---- */

static void everything_a_job_has_is_there_inside(void **state) {
    (void)state;
    if (!can) return;
    const char *id = submit(
        "name: work\n"
        "defaults: {sandbox: strict, retries: 0}\n"
        "jobs:\n"
        "  first:\n"
        "    script: {name: go.sh, text: 'read x; echo \"got $x $1 $MINE\"; echo \"{\\\"n\\\": 7}\" > "
        "$REEVE_OUTPUT; mkdir d; echo kept > d/kept.txt; echo private > /tmp/p; cat /tmp/p; cd; pwd | "
        "grep -c /work$', args: [arg]}\n"
        "    stdin: 'fed'\n"
        "    env: {MINE: own}\n"
        "    artifacts: [d/kept.txt]\n"
        "  second:\n"
        "    needs: first\n"
        "    inputs: {here.txt: first/d/kept.txt}\n"
        "    run: 'cat here.txt; cat $REEVE_INPUTS; ls /tmp/p 2>&1 | grep -c such; test -w here.txt && echo mine'\n"
        "  checked:\n"
        "    needs: first\n"
        "    when: jobs.first.outputs.n == 7\n"
        "    run: [cat, /proc/self/comm]\n",
        "--wait");
    log_is(id, "first", "got fed arg own\nprivate\n1\n");
    log_is(id, "second", "kept\n{\"first\":{\"n\": 7}\n}\n1\nmine\n");
    log_is(id, "checked", "cat\n");
}

static void paths_are_opened_as_said(void **state) {
    (void)state;
    if (!can) return;
    const char *id = submit("name: paths\n"
                            "jobs:\n"
                            "  paths:\n"
                            "    retries: 0\n"
                            "    sandbox: {strict: true, read-only: [OUTSIDE/in], write: OUTSIDE/out}\n"
                            "    run: |\n"
                            "      cat OUTSIDE/in/text\n"
                            "      echo x > OUTSIDE/in/new 2>/dev/null || echo read-only\n"
                            "      echo left > OUTSIDE/out/left && echo written\n"
                            "      ls OUTSIDE\n"
                            "  missing: {retries: 0, sandbox: {read-only: /no/such/place}, run: echo never}\n"
                            "  own: {retries: 0, sandbox: {read-only: /proc/1}, run: echo never}\n",
                            "--wait");
    log_is(id, "paths", "given\nread-only\nwritten\nin\nout\n");
    assert_string_equal(file_wait("out/left"), "left\n");
    assert_has(show(id, "missing"), "its sandbox names /no/such/place: No such file or directory");
    assert_has(show(id, "own"), "of which it has one of its own");
}

/* The worker is root and reads what the job left; the job must not choose what that is. */
static void what_it_leaves_is_read_through_no_link(void **state) {
    (void)state;
    if (!can) return;
    const char *id = submit("name: links\n"
                            "defaults: {retries: 0, sandbox: strict}\n"
                            "jobs:\n"
                            "  plain: {run: 'mkdir d; echo x > d/text', artifacts: [d/text]}\n"
                            "  link: {run: 'ln -s OUTSIDE/in d', artifacts: [d/text]}\n"
                            "  last: {run: 'ln -s OUTSIDE/in/text text', artifacts: [text]}\n"
                            "  result: {run: 'ln -s OUTSIDE/in/text $REEVE_OUTPUT'}\n",
                            "--wait");
    char args[64];
    snprintf(args, sizeof args, "get %s/plain", id);
    assert_has(realcli_ok(&r, args, NULL).out, "d/text");
    assert_has(show(id, "link"), "failed");
    assert_has(show(id, "link"), "symbolic links");
    assert_has(show(id, "last"), "failed");
    assert_has(show(id, "result"), "failed");
}

static void a_stop_ends_all_of_it(void **state) {
    (void)state;
    if (!can) return;
    const char *id = submit("name: stop\njobs:\n  s:\n    kill_grace: 100ms\n"
                            "    sandbox: {strict: true, write: OUTSIDE/out}\n    run: |\n"
                            "      setsid sleep 1000 & setsid setsid sleep 1001 & trap '' TERM\n"
                            "      echo started > OUTSIDE/out/stop; wait; sleep 1002\n",
                            "");
    (void)file_wait("out/stop");
    there_soon("sleep", 2);
    there_soon("reeve-first", 1);
    char args[64];
    snprintf(args, sizeof args, "cancel %s", id);
    (void)realcli_ok(&r, args, NULL);
    snprintf(args, sizeof args, "wait %s", id);
    (void)realcli_run(&r, args, NULL, NULL);
    assert_has(show(id, "s"), "cancelled");
    gone_soon();
}

static void a_timeout_ends_all_of_it(void **state) {
    (void)state;
    if (!can) return;
    const char *id =
        submit("name: late\njobs:\n  s: {timeout: 300ms, kill_grace: 100ms, retries: 0, sandbox: strict, run: "
               "'setsid sleep 1000 & sleep 1001'}\n",
               "--wait");
    assert_has(show(id, "s"), "timed_out");
    gone_soon();
}

/* The first process of a sandbox is killed from outside: the job is over, and nothing of it is left. */
static void killing_the_first_ends_all_of_it(void **state) {
    (void)state;
    if (!can) return;
    const char *id =
        submit("name: first\njobs:\n  s:\n    retries: 0\n    sandbox: {strict: true, write: OUTSIDE/out}\n"
               "    run: 'setsid sleep 1000 & echo up > OUTSIDE/out/first; sleep 1001'\n",
               "");
    (void)file_wait("out/first");
    pid_t first = 0;
    there_soon("sleep", 2);
    assert_int_equal(tree("reeve-first", &first), 1);
    assert_int_equal(kill(first, SIGKILL), 0);
    char args[64];
    snprintf(args, sizeof args, "wait %s", id);
    (void)realcli_run(&r, args, NULL, NULL);
    assert_has(show(id, "s"), "failed");
    gone_soon();
}

static void it_cannot_kill_who_keeps_it(void **state) {
    (void)state;
    if (!can) return;
    const char *id =
        submit("name: kill\ndefaults: {retries: 0}\njobs:\n"
               "  boxed: {sandbox: strict, run: 'kill -9 $PPID 2>/dev/null; kill -9 1 2>/dev/null; echo alive'}\n"
               "  free: {run: 'kill -9 $PPID; sleep 1000'}\n",
               "--wait");
    log_is(id, "boxed", "alive\n");
    assert_has(show(id, "boxed"), "succeeded");
    assert_has(show(id, "free"), "failed"); /* it killed its keeper, and went with it */
}

static void nothing_survives_the_worker(void **state) {
    (void)state;
    if (!can) return;
    (void)submit(
        "name: orphan\njobs:\n  s:\n    retries: 0\n    sandbox: {strict: true, write: OUTSIDE/out}\n    run: |\n"
        "      setsid sleep 1000 & setsid setsid sleep 1001 & echo up > OUTSIDE/out/orphan; sleep 1002\n",
        "");
    (void)file_wait("out/orphan");
    realworker_kill(&worker); /* fails when something with its mark lives on */
    realworker_start(&worker, &server);
}

/* ---- everything that runs for a job ---- */

static void start_with(struct realworker *w, const char *pool, const char *const *flags) {
    realworker_make(w, &server, pool);
    w->flags[0] = "--pool";
    w->flags[1] = pool;
    for (int i = 0; flags[i] != NULL; i++) w->flags[2 + i] = flags[i];
    realworker_start(w, &server);
}

/* Whatever a worker starts for a job leaves a witness outside, if it can. */
static void everything_that_runs_for_a_job_is_inside(void **state) {
    struct realworker w;
    (void)state;
    if (!can) return;
    shell("mkdir -p %s/all && chmod 1777 %s/all && cd %s && "
          "printf '#!/bin/sh\\ntouch %s/all/archive && exit 9; exit 0\\n' >run.sh && chmod 755 run.sh && "
          "tar cf %s/bundle.tar run.sh",
          outside, outside, outside, outside, server.data);
    start_with(&w, "all", (const char *[]){"--handler", "box=/usr/bin/touch", NULL});
    const char *id =
        submit("name: all\ndefaults: {pool: all, sandbox: strict, retries: 0, on_upstream: run}\njobs:\n"
               "  command: {run: 'touch OUTSIDE/all/command && exit 9; exit 0', "
               "compensate: 'touch OUTSIDE/all/undo; exit 0'}\n"
               "  bundle: {archive: bundle.tar, compensate: {archive: bundle.tar}}\n"
               "  again: {run: 'exit 0', compensate: {handler: box, payload: OUTSIDE/all/undo-handler}}\n"
               "  handler: {handler: box, payload: OUTSIDE/all/handler}\n"
               "  begun:\n    external:\n"
               "      submit: 'touch OUTSIDE/all/submit && exit 9; exit 0'\n"
               "      poll: {run: 'touch OUTSIDE/all/poll && exit 9; exit 0', every: 1s}\n"
               "  tended:\n    service:\n      name: watched\n      run: exec sleep 1000\n"
               "      health: {command: 'touch OUTSIDE/all/health && exit 9; exit 0'}\n"
               "  end: {needs: [command, bundle, again, handler, begun, tended], run: exit 3, fatal_exit_codes: 3}\n",
               "--wait");
    static const char *const succeeded[] = {"command", "bundle", "again", "begun", "tended"};
    for (size_t i = 0; i < sizeof succeeded / sizeof succeeded[0]; i++) {
        const char *job = show(id, succeeded[i]);
        if (strstr(job, "succeeded") == NULL) fail_msg("%s\n%s", succeeded[i], job);
    }
    assert_has(show(id, "handler"), "failed"); /* touch says so itself */
    shell("test -z \"$(ls %s/all)\" || { ls %s/all; false; }", outside, outside);
    (void)realcli_ok(&r, "undeploy watched", NULL);
    realworker_kill(&w);
}

/* ---- what an owner may say ---- */

static void a_worker_has_its_own_least(void **state) {
    struct realworker w;
    char in[96];
    (void)state;
    if (!can) return;
    snprintf(in, sizeof in, "%s/in", outside);
    start_with(&w, "least", (const char *[]){"--sandbox", "strict", "--sandbox-path", in, NULL});
    const char *id =
        submit("name: least\ndefaults: {pool: least, retries: 0}\njobs:\n"
               "  plain: {run: 'ls OUTSIDE 2>&1 | grep -c such; grep -c : /proc/net/dev'}\n"
               "  none: {sandbox: none, run: 'ls OUTSIDE 2>&1 | grep -c such'}\n"
               "  opened: {sandbox: {read-only: OUTSIDE/in}, run: 'cat OUTSIDE/in/text; grep -c : /proc/net/dev'}\n"
               "  below: {sandbox: {read-only: OUTSIDE/in/text}, run: 'cat OUTSIDE/in/text'}\n"
               "  other: {sandbox: {read-only: OUTSIDE}, run: echo never}\n"
               "  beside: {sandbox: {read-only: OUTSIDE/in2}, run: echo never}\n",
               "--wait");
    log_is(id, "plain", "1\n1\n");
    log_is(id, "none", "1\n");
    log_is(id, "opened", "given\n1\n");
    log_is(id, "below", "given\n");
    assert_has(show(id, "other"), "which this worker does not open to jobs (--sandbox-path)");
    assert_has(show(id, "beside"), "which this worker does not open to jobs (--sandbox-path)");
    realworker_kill(&w);
}

static void its_own_directory_is_never_shown(void **state) {
    char flow[512];
    (void)state;
    if (!can) return;
    snprintf(flow, sizeof flow,
             "name: own\ndefaults: {retries: 0}\njobs:\n"
             "  at: {sandbox: {read-only: %s}, run: echo never}\n"
             "  below: {sandbox: {read-only: %s/space}, run: echo never}\n"
             "  above: {sandbox: {read-only: /tmp/..%s}, run: echo never}\n",
             worker.data, worker.data, worker.data);
    const char *id = submit(flow, "--wait");
    assert_has(show(id, "at"), "which is the worker's own");
    assert_has(show(id, "below"), "which is the worker's own");
    assert_has(show(id, "above"), "not a plain absolute path");
}

static void every_job_has_a_uid_of_its_own_if_said(void **state) {
    struct realworker w;
    char dir[128];
    (void)state;
    if (!can || geteuid() != 0) return;
    shell("cp /usr/bin/id %s/in/id && chmod 4755 %s/in/id && mkdir %s/uids", outside, outside, outside);
    realworker_make(&w, &server, "uids");
    snprintf(w.data, sizeof w.data, "%s/uids", outside);
    const char *const flags[] = {"--pool", "uids", "--job-uids", "40001-40003", "--slots", "3"};
    for (int i = 0; i < 6; i++) w.flags[i] = flags[i];
    realworker_start(&w, &server);
    const char *id = submit(
        "name: uids\ndefaults: {pool: uids, retries: 0}\njobs:\n"
        "  a: {run: 'id -u > OUTSIDE/out/uid-a; while ! [ -e OUTSIDE/out/uid-b ]; do sleep 0.02; done'}\n"
        "  b: {run: 'id -u > OUTSIDE/out/uid-b; while ! [ -e OUTSIDE/out/uid-a ]; do sleep 0.02; done'}\n"
        "  left: {run: 'id -g; umask 077; echo x > private; cat private; echo > /dev/stderr', artifacts: [private]}\n"
        "  gains: {run: 'OUTSIDE/in/id -u'}\n"
        "  boxed: {sandbox: {strict: true, read-only: OUTSIDE/in}, run: 'OUTSIDE/in/id -u'}\n",
        "--wait");
    char a[16];
    snprintf(a, sizeof a, "%s", file_wait("out/uid-a"));
    assert_string_not_equal(a, file_wait("out/uid-b"));
    assert_in_range(strtol(a, NULL, 10), 40001, 40003);
    assert_has(show(id, "left"), "succeeded");
    assert_has(log_of(id, "left"), "x\n");
    log_is(id, "gains", "0\n"); /* a program that is root's gives it its rights; */
    assert_has(log_of(id, "boxed"), "4000");
    realworker_kill(&w);
    snprintf(dir, sizeof dir, "%s/closed", outside);
    shell("mkdir -m 700 %s && ! %s worker --server unix:%s/no --data %s/w --job-uids 40001-40003 2>%s/said", dir,
          realserver_binary(), outside, dir, outside);
    shell("grep -q 'is closed to other users' %s/said", outside);
}

/* A worker whose rights were taken, so that it cannot keep a sandbox. */
static pid_t weak_start(const char *pool, const char *flags) {
    char name[32];
    shell("cd %s && REEVE_DATA=%s setpriv --bounding-set -sys_admin %s worker --data %s/%s --pool %s %s >%s.log 2>&1 & "
          "echo $! > %s/%s.pid",
          outside, server.data, realserver_binary(), outside, pool, pool, flags, pool, outside, pool);
    snprintf(name, sizeof name, "%s.pid", pool);
    return (pid_t)strtol(file_wait(name), NULL, 10);
}

static void who_cannot_keep_one_says_so(void **state) {
    (void)state;
    if (!can || geteuid() != 0) return;
    pid_t pid = weak_start("boasting", "--capability sandbox");
    const char *id =
        submit("name: weak\njobs:\n  s: {pool: boasting, retries: 0, sandbox: net-off, run: echo never}\n", "--wait");
    assert_has(show(id, "s"), "this worker cannot keep a sandbox: namespaces: Operation not permitted");
    shell("kill %d; grep -q 'no sandboxes here: namespaces' %s/boasting.log", (int)pid, outside);
    shell(
        "! setpriv --bounding-set -sys_admin %s worker --server unix:%s/no --data %s/w2 --sandbox net-off 2>%s/refused",
        realserver_binary(), outside, outside, outside);
    shell("grep -q -e '--sandbox: none can be kept here: namespaces' %s/refused", outside);
}

static void it_waits_for_a_worker_that_can(void **state) {
    (void)state;
    if (!can || geteuid() != 0) return;
    char args[64];
    pid_t pid = weak_start("weak", "");
    const char *id = submit("name: wait\ndefaults: {pool: weak}\njobs:\n  plain: {run: echo x}\n"
                            "  s: {needs: plain, sandbox: strict, run: echo x}\n",
                            "");
    snprintf(args, sizeof args, "wait %s/plain", id);
    (void)realcli_ok(&r, args, NULL); /* the worker is there */
    snprintf(args, sizeof args, "why %s/s", id);
    assert_has(realcli_run(&r, args, NULL, NULL).out, "(capability)");
    snprintf(args, sizeof args, "cancel %s", id);
    (void)realcli_ok(&r, args, NULL);
    shell("kill %d", (int)pid);
}

static void one_command_may_have_one(void **state) {
    (void)state;
    realcli_refused(&r, "run --sandbox loose true", 2, "expected strict, net-off or none, found `loose`");
    if (!can) return;
    assert_string_equal(realcli_ok(&r, "run --sandbox net-off -- grep -c : /proc/net/dev", NULL).out, "1\n");
    assert_string_equal(realcli_run(&r, "run --sandbox strict -- sh -c %s", "ls -d /srv /usr 2>/dev/null", NULL).out,
                        "/usr\n");
}

/* Its token is no way out. */
static void it_adds_nothing_that_is_looser(void **state) {
    (void)state;
    if (!can) return;
    const char *id = submit(
        "name: adder\njobs:\n  a:\n    retries: 0\n    sandbox: {read-only: OUTSIDE/in}\n"
        "    env: {ASAN_OPTIONS: detect_leaks=0}\n    run: |\n" /* it would trace itself, which it may not */
        "      try() { echo \"jobs: {$1: {$2}}\" | $REEVE_EXE add - >/dev/null 2>said && echo $1 added || { echo $1 "
        "refused; grep -c 'at least as strict' said || cat said; }; }\n"
        "      try loose 'run: echo x'\n"
        "      try none 'run: echo x, sandbox: none'\n"
        "      try net 'run: echo x, sandbox: net-off'\n"
        "      try wide 'run: echo x, sandbox: {read-only: OUTSIDE}'\n"
        "      try other 'run: echo x, sandbox: {write: OUTSIDE/in}'\n"
        "      try undo 'run: echo x, sandbox: strict, compensate: {run: echo y, sandbox: none}'\n"
        "      try external 'external: {submit: echo x}'\n"
        "      try poll 'external: {poll: {run: echo x, every: 1s}, submit: {http: https://example.org}}'\n"
        "      try same 'run: echo x, sandbox: {read-only: OUTSIDE/in/text}'\n"
        "      try tighter 'run: echo x, sandbox: strict'\n"
        "      try nothing 'noop: true'\n",
        "--wait");
    log_is(id, "a",
           "loose refused\n1\nnone refused\n1\nnet refused\n1\nwide refused\n1\nother refused\n1\nundo refused\n1\n"
           "external refused\n1\npoll refused\n1\nsame added\ntighter added\nnothing added\n");
}

static void flags_are_refused_in_words(void **state) {
    (void)state;
    realcli_refused(&r, "worker --sandbox loose", 2, "expected strict, net-off or none, found `loose`");
    realcli_refused(&r, "worker --titan-master 127.0.0.1:1 --sandbox strict", 2, "do not work with --titan-master");
    realcli_refused(&r, "worker --job-uids 7", 2, "expected FIRST-LAST, found `7`");
    realcli_refused(&r, "worker --job-uids 0-7", 2, "a number from 1");
    realcli_refused(&r, "worker --job-uids 9-7", 2, "a number from 9");
    realcli_refused(&r, "worker --job-uids 1-99999", 2, "more than 65536");
    realcli_refused(&r, "worker --server unix:/no --sandbox-path /no/such", 5, "--sandbox-path /no/such: No such file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_a_job_has_is_there_inside),
        cmocka_unit_test(paths_are_opened_as_said),
        cmocka_unit_test(what_it_leaves_is_read_through_no_link),
        cmocka_unit_test(a_stop_ends_all_of_it),
        cmocka_unit_test(a_timeout_ends_all_of_it),
        cmocka_unit_test(killing_the_first_ends_all_of_it),
        cmocka_unit_test(it_cannot_kill_who_keeps_it),
        cmocka_unit_test(nothing_survives_the_worker),
        cmocka_unit_test(everything_that_runs_for_a_job_is_inside),
        cmocka_unit_test(a_worker_has_its_own_least),
        cmocka_unit_test(its_own_directory_is_never_shown),
        cmocka_unit_test(every_job_has_a_uid_of_its_own_if_said),
        cmocka_unit_test(who_cannot_keep_one_says_so),
        cmocka_unit_test(it_waits_for_a_worker_that_can),
        cmocka_unit_test(one_command_may_have_one),
        cmocka_unit_test(it_adds_nothing_that_is_looser),
        cmocka_unit_test(flags_are_refused_in_words),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
