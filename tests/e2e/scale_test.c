/* scale_test.c: workers come with a load and go after it, with real processes; nothing is lost, nothing runs twice. */
#include "test.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realshell.h"
#include "realworker.h"
#include "wireclient.h"

#define JOBS 200u
#define QUIET_MS 1000

static struct realserver server;
static struct realshell shell = {.server = &server};
static pid_t scaler;
static char mark[64];

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    realserver_start(&server);
    scaler = 0;
    return 0;
}

/* All that it started carries a mark, and dies with it. */
static void scaler_start(const char *args) {
    static int starts;
    char command[1024];
    snprintf(mark, sizeof mark, "scaler.%d.%d", (int)getpid(), ++starts);
    snprintf(command, sizeof command, "D=%s; exec %s scaler --data $D/scaler %s 2>>$D/scaler.log", server.data,
             realserver_binary(), args);
    scaler = fork();
    assert_true(scaler >= 0);
    if (scaler > 0) return;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setenv("REEVE_DATA", server.data, 1);
    (void)setenv("STORM_MARK", mark, 1);
    execl("/bin/sh", "sh", "-c", command, NULL);
    _exit(127);
}

static int scaler_stop(int number) {
    int status = 0;
    (void)kill(scaler, number);
    assert_int_equal(waitpid(scaler, &status, 0), scaler);
    scaler = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int teardown(void **state) {
    (void)state;
    char command[160];
    snprintf(command, sizeof command, "for p in %s/machines/*/pid; do [ -e $p ] && kill -9 $(cat $p); done; true",
             server.data);
    if (scaler != 0) (void)kill(scaler, SIGKILL); /* first: it must start no more of what is ended here */
    assert_int_equal(system(command), 0);
    if (scaler != 0) {
        (void)scaler_stop(SIGKILL);
        realworker_none_left(mark);
    }
    realserver_remove(&server);
    return 0;
}

/* ---- what is seen from outside ---- */

struct sight {
    struct wireclient c;
    uint32_t most; /* workers that were there at once */
};

static void sight_open(struct sight *s, uint32_t slots) {
    struct wire_demand_watch m = {.kind = {.slots = slots}};
    wireclient_open(&s->c, server.socket, NULL, WIRE_PEER_CLIENT);
    (void)wireclient_send(&s->c, WIRE_DEMAND_WATCH, &m);
}

/* Reads on until so many take jobs. */
static const struct wire_demands *see_workers(struct sight *s, uint32_t wanted) {
    for (;;) {
        struct wiregot got;
        if (!wireclient_next(&s->c, WIRECLIENT_WAIT_MS, &got)) fail_msg("there were never %u workers", wanted);
        const struct wire_demands *m = got.message;
        const struct wire_demand_worker *w = m->workers.at;
        uint32_t takes = 0;
        for (uint32_t i = 0; i < m->workers.count; i++) takes += !w[i].draining;
        if (m->workers.count > s->most) s->most = m->workers.count;
        if (takes == wanted) return m;
    }
}

static void write_file(const char *name, const char *text) {
    char path[96];
    snprintf(path, sizeof path, "%s/%s", server.data, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static char *read_file(const char *name) {
    static char text[65536];
    char path[96];
    snprintf(path, sizeof path, "%s/%s", server.data, name);
    FILE *f = fopen(path, "re");
    size_t len = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    text[len] = 0;
    if (f != NULL) fclose(f);
    return text;
}

static void wait_for(const char *name, const char *words) {
    for (int ms = 0; strstr(read_file(name), words) == NULL; ms += 10) {
        if (ms > WIRECLIENT_WAIT_MS) fail_msg("%s never said: %s\n%s", name, words, read_file(name));
        (void)poll(NULL, 0, 10);
    }
}

/* A flow of `count` jobs that write their number to $D/ran and take a while. */
static const char *submit(uint32_t count, const char *seconds) {
    static char id[32];
    char text[512];
    snprintf(text, sizeof text,
             "jobs: {many: {foreach: {in: 'range(%u)', max_parallel: %u}, retries: 0, "
             "run: 'sleep %s; echo \"<$REEVE_ITEM>\" >> %s/ran'}}",
             count, count, seconds, server.data);
    write_file("flow.yaml", text);
    realshell_must(&shell, "submit --server $S $D/flow.yaml");
    snprintf(id, sizeof id, "%.*s", (int)strcspn(shell.said, "\n"), shell.said);
    return id;
}

static void all_succeeded(const char *id) {
    char args[80];
    snprintf(args, sizeof args, "wait --server $S --timeout 60s -q %s", id);
    realshell_must(&shell, args);
}

static void each_ran_once(uint32_t count) {
    const char *text = read_file("ran");
    uint32_t lines = 0;
    for (const char *at = text; *at != 0; at++) lines += *at == '\n';
    assert_int_equal(lines, count);
    for (uint32_t i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "<%u>", i + 1); /* range() begins with 1 */
        assert_has(text, number);
    }
}

/* The process of a worker: the child of the scaler that has this directory among its arguments. */
static pid_t process_of(const char *directory) {
    DIR *all = opendir("/proc");
    pid_t found = 0;
    assert_non_null(all);
    for (const struct dirent *e = readdir(all); e != NULL && found == 0; e = readdir(all)) {
        char path[300], text[4096];
        if (!isdigit((unsigned char)e->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
        FILE *f = fopen(path, "re");
        size_t len = f != NULL ? fread(text, 1, sizeof text, f) : 0;
        if (f != NULL) fclose(f);
        if (memmem(text, len, directory, strlen(directory) + 1) != NULL) found = (pid_t)strtol(e->d_name, NULL, 10);
    }
    closedir(all);
    return found;
}

/* ---- on this host ---- */

static void a_load_brings_workers_and_its_end_sends_them_away(void **state) {
    (void)state;
    struct sight s = {0};
    sight_open(&s, 2);
    scaler_start("--min 1 --max 4 --slots 2 --idle 1s --after 100ms");
    (void)see_workers(&s, 1);
    const char *id = submit(JOBS, "0.1");
    (void)see_workers(&s, 4);
    all_succeeded(id);
    (void)see_workers(&s, 1);
    assert_true(s.most <= 4);
    each_ran_once(JOBS);
    wait_for("scaler.log", "has left"); /* in order, not by force */
    assert_has_not(read_file("scaler.log"), "ended (");
    wireclient_close(&s.c);
    assert_int_equal(scaler_stop(SIGTERM), 0);
    realworker_none_left(mark);
}

static void a_server_killed_while_workers_start_loses_nothing(void **state) {
    (void)state;
    struct sight s = {0};
    scaler_start("--max 4 --slots 2 --idle 1s --after 100ms");
    sight_open(&s, 2);
    const char *id = submit(JOBS, "0.1");
    (void)see_workers(&s, 2);
    wireclient_close(&s.c);
    realserver_kill(&server);
    realserver_start(&server);
    sight_open(&s, 2);
    (void)see_workers(&s, 4);
    all_succeeded(id);
    (void)see_workers(&s, 0);
    each_ran_once(JOBS);
    assert_true(s.most <= 4);
    wireclient_close(&s.c);
}

static void a_killed_worker_is_started_again_in_its_place(void **state) {
    (void)state;
    struct sight s = {0};
    char directory[96], id[64];
    sight_open(&s, 1);
    scaler_start("--min 1 --max 1 --slots 1");
    const struct wire_demand_worker *w = see_workers(&s, 1)->workers.at;
    snprintf(id, sizeof id, "%.*s", SLICE_FMT(w->worker));
    snprintf(directory, sizeof directory, "%s/scaler/1", server.data);
    pid_t pid = process_of(directory);
    assert_true(pid > 0);
    assert_int_equal(kill(pid, SIGKILL), 0);
    (void)see_workers(&s, 0);
    w = see_workers(&s, 1)->workers.at;
    assert_true(slice_eq(w->worker, slice_str(id)));
    wait_for("scaler.log", "ended (signal 9)");
    wireclient_close(&s.c);
}

static void a_killed_scaler_leaves_nobody_behind_and_ends_no_job(void **state) {
    (void)state;
    struct sight s = {0};
    sight_open(&s, 1);
    scaler_start("--max 2 --slots 1 --after 0");
    const char *id = submit(2, "1");
    (void)see_workers(&s, 2);
    char last[64];
    snprintf(last, sizeof last, "%s", mark);
    assert_int_equal(scaler_stop(SIGKILL), -SIGKILL);
    realworker_none_left(last); /* each when its job is over */
    all_succeeded(id);
    each_ran_once(2);
    wireclient_close(&s.c);
}

/* The directories may still be in use: by workers of the one before that finish what they run. */
static void its_successor_takes_over(void **state) {
    (void)state;
    struct sight s = {0};
    sight_open(&s, 1);
    scaler_start("--max 2 --slots 1 --after 0");
    const char *id = submit(4, "0.7");
    (void)see_workers(&s, 2);
    assert_int_equal(scaler_stop(SIGKILL), -SIGKILL);
    scaler_start("--max 2 --slots 1 --after 0 --idle 1s");
    all_succeeded(id);
    each_ran_once(4);
    (void)see_workers(&s, 0);
    assert_true(s.most <= 2);
    wireclient_close(&s.c);
}

/* What a worker finds out about its machine counts too: here, that it can keep sandboxes. */
static void jobs_that_ask_for_what_the_machine_adds_count(void **state) {
    (void)state;
    struct sight s = {0};
    sight_open(&s, 4);
    scaler_start("--min 1 --max 1");
    (void)see_workers(&s, 1);
    realshell_must(&shell, "workers --server $S --json");
    bool has_sandbox = strstr(shell.said, "\"sandbox\"") != NULL;
    assert_int_equal(scaler_stop(SIGTERM), 0);
    wireclient_close(&s.c);
    if (!has_sandbox) {
        print_message("# skipped: workers cannot keep sandboxes on this machine\n");
        skip();
    }
    scaler_start("--max 1 --after 0");
    write_file("flow.yaml", "jobs: {a: {sandbox: strict, run: 'true'}}");
    realshell_must(&shell, "submit --server $S --wait $D/flow.yaml");
}

static void it_ends_when_its_workers_have(void **state) {
    (void)state;
    struct sight s = {0};
    sight_open(&s, 1);
    scaler_start("--max 2 --slots 1 --after 0");
    const char *id = submit(2, "1");
    (void)see_workers(&s, 2);
    assert_int_equal(scaler_stop(SIGTERM), 0);
    each_ran_once(2);
    all_succeeded(id);
    wireclient_close(&s.c);
}

/* Times that it was woken: an idle one sleeps. */
static long wakeups(pid_t pid) {
    char path[64], line[128];
    long count = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1) break;
    fclose(f);
    assert_true(count >= 0);
    return count;
}

static void an_idle_one_sleeps(void **state) {
    (void)state;
    struct sight s = {0};
    sight_open(&s, 4);
    scaler_start("--min 1 --max 2 --idle 100ms");
    (void)see_workers(&s, 1);
    struct wiregot got;
    while (wireclient_next(&s.c, QUIET_MS, &got)) continue; /* its worker has settled */
    long before = wakeups(scaler);
    assert_false(wireclient_next(&s.c, QUIET_MS, &got));
    assert_int_equal(wakeups(scaler), before);
    wireclient_close(&s.c);
}

/* ---- by a hook ---- */

static uint32_t reports(void) {
    uint32_t lines = 0;
    for (const char *at = read_file("hook.log"); *at != 0; at++) lines += *at == '\n';
    return lines;
}

static void a_hook_is_told_what_is_wanted_and_whom_to_end(void **state) {
    (void)state;
    struct sight s = {0};
    struct realworker w;
    sight_open(&s, 1);
    scaler_start("--token $(cat $D/admin.token) --hook 'cat >> '$D/hook.log --max 3 --slots 1 --pool default "
                 "--label zone=a --after 0 --idle 300ms");
    wait_for("scaler.log", "connected");
    long before = wakeups(scaler);
    struct wiregot got;
    while (wireclient_next(&s.c, QUIET_MS, &got)) continue;
    assert_int_equal(wakeups(scaler), before);
    assert_int_equal(reports(), 0);
    const char *id = submit(5, "0.1");
    wait_for("hook.log", "\n");
    assert_has(read_file("hook.log"),
               "{\"action\":\"up\",\"pool\":\"default\",\"capabilities\":[],\"labels\":{\"zone\":\"a\"},\"slots\":1,"
               "\"ready\":5,\"oldest_ms\":");
    assert_has(read_file("hook.log"), "\"workers\":0,\"wanted\":3,\"min\":0,\"max\":3,\"end\":[]}\n");
    assert_int_equal(reports(), 1);
    assert_true(wakeups(scaler) > before);

    realworker_make(&w, &server, "cloud");
    w.flags[0] = "--slots";
    w.flags[1] = "1";
    w.flags[2] = "--label";
    w.flags[3] = "zone=a";
    realworker_start(&w, &server);
    all_succeeded(id);
    each_ran_once(5);
    wait_for("hook.log", "\"end\":[\"cloud-");
    assert_has(read_file("hook.log"), "\"action\":\"down\"");
    assert_has(read_file("hook.log"), "\"workers\":0,\"wanted\":0,");
    wait_for("scaler.log", "idle, draining");
    assert_int_equal(realworker_stop(&w), 0);
    wireclient_close(&s.c);
}

/* Whoever may run jobs may not send others away: that takes an operator. */
static void a_token_that_may_not_drain_is_told_so(void **state) {
    (void)state;
    struct realworker w;
    scaler_start("--hook 'cat >> '$D/hook.log --max 1 --slots 4 --idle 100ms");
    realworker_make(&w, &server, "cloud");
    realworker_start(&w, &server);
    wait_for("scaler.log",
             "refused: forbidden: a worker can drain only itself; draining others needs the role operator");
    assert_int_equal(reports(), 0);
    assert_int_equal(realworker_stop(&w), 0);
}

static void a_hook_that_fails_or_hangs_is_tried_again(void **state) {
    (void)state;
    scaler_start(
        "--hook '[ -e '$D'/hung ] || { touch '$D'/hung; sleep 600; }; [ -e '$D'/failed ] || { touch '$D'/failed; "
        "exit 3; }; cat >> '$D/hook.log --hook-timeout 200ms --max 1 --after 0");
    (void)submit(1, "0");
    wait_for("hook.log", "\"wanted\":1");
    wait_for("scaler.log", "took longer than 200 ms and was killed");
    wait_for("scaler.log", "failed with exit code 3");
    assert_int_equal(reports(), 1);
}

static void a_machine_that_does_not_come_is_asked_for_again(void **state) {
    (void)state;
    scaler_start("--hook 'cat >> '$D/hook.log --max 1 --after 0 --hook-patience 100ms");
    (void)submit(1, "0");
    wait_for("hook.log", "\"wanted\":1");
    wait_for("scaler.log", "was asked for and did not come");
    for (int ms = 0; reports() < 2; ms += 10) {
        assert_true(ms < WIRECLIENT_WAIT_MS);
        (void)poll(NULL, 0, 10);
    }
}

static void the_example_of_a_hook_works(void **state) {
    (void)state;
    struct sight s = {0};
    char machines[96];
    snprintf(machines, sizeof machines, "%s/machines", server.data);
    assert_int_equal(setenv("MACHINES", machines, 1), 0);
    assert_int_equal(setenv("REEVE", realserver_binary(), 1), 0);
    sight_open(&s, 1);
    scaler_start("--token $(cat $D/admin.token) --hook 'sh examples/scale-hook.sh' --max 2 --slots 1 --idle 300ms");
    const char *id = submit(10, "0.1");
    (void)see_workers(&s, 2);
    all_succeeded(id);
    each_ran_once(10);
    const struct wire_demands *m = see_workers(&s, 0);
    while (m->workers.count > 0) m = see_workers(&s, 0); /* they are drained, then ended */
    assert_true(s.most <= 2);
    wireclient_close(&s.c);
    assert_int_equal(scaler_stop(SIGTERM), 0);
    realworker_none_left(mark);
    assert_int_equal(rmdir(machines), 0); /* none is left in it */
}

/* ---- words ---- */

static void wrong_words_are_refused(void **state) {
    (void)state;
    realshell_refused(&shell, "", "scaler --min 3 --max 2", 2, "--min 3 is more than --max 2");
    realshell_refused(&shell, "", "scaler --max none", 2, "--max: expected a number up to 1000");
    realshell_refused(&shell, "", "scaler --max 0", 2, "--max: expected at least 1");
    realshell_refused(&shell, "", "scaler --idle 5", 2, "--idle: expected a duration");
    realshell_refused(&shell, "", "scaler --hook ''", 2, "--hook: expected a command");
    realshell_refused(&shell, "", "scaler --slots 0", 2, "--slots");
    realshell_refused(&shell, "", "scaler --bogus", 2, "there is no option --bogus");
    realshell_refused(&shell, "", "scaler --max", 2, "--max needs a value");
    realshell_refused(&shell, "", "up --data $D/x --workers 3..1", 2, "--workers: expected a range like 1..8");
    realshell_refused(&shell, "", "up --data $D/x --idle 5s", 2, "--idle needs --workers");
    realshell_must(&shell, "scaler --help");
    assert_has(shell.said, "--hook-patience");
    scaler_start("--max 1");
    wait_for("scaler.log", "connected");
    realshell_refused(&shell, "", "scaler --data $D/scaler --server $S", 6, "another scaler uses the directory");
}

/* Of its own server, whose socket needs no token. */
static int own(const char *args) {
    return realshell_run(&shell, "env -u REEVE_TOKEN", args);
}

static void up_can_bring_several(void **state) {
    (void)state;
    assert_int_equal(own("up --data $D/up --listen 127.0.0.1:0 --workers 1..3 --slots 1 --idle 1s --detach"), 0);
    for (int i = 0; i < 3; i++) assert_int_equal(own("run --data $D/up -d -- sleep 600"), 0);
    int looks = 0;
    while (own("workers --data $D/up") == 0 && strstr(shell.said, "-3-") == NULL && looks < 300) looks++;
    int cancelled = own("cancel --data $D/up f11 f12 f13");
    int ended = own("down --data $D/up");
    assert_int_equal(ended, 0); /* before anything else is found wrong: nothing may be left running */
    assert_int_equal(cancelled, 0);
    assert_true(looks < 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_load_brings_workers_and_its_end_sends_them_away, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_killed_while_workers_start_loses_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_killed_worker_is_started_again_in_its_place, setup, teardown),
        cmocka_unit_test_setup_teardown(a_killed_scaler_leaves_nobody_behind_and_ends_no_job, setup, teardown),
        cmocka_unit_test_setup_teardown(its_successor_takes_over, setup, teardown),
        cmocka_unit_test_setup_teardown(jobs_that_ask_for_what_the_machine_adds_count, setup, teardown),
        cmocka_unit_test_setup_teardown(it_ends_when_its_workers_have, setup, teardown),
        cmocka_unit_test_setup_teardown(an_idle_one_sleeps, setup, teardown),
        cmocka_unit_test_setup_teardown(a_hook_is_told_what_is_wanted_and_whom_to_end, setup, teardown),
        cmocka_unit_test_setup_teardown(a_token_that_may_not_drain_is_told_so, setup, teardown),
        cmocka_unit_test_setup_teardown(a_hook_that_fails_or_hangs_is_tried_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_machine_that_does_not_come_is_asked_for_again, setup, teardown),
        cmocka_unit_test_setup_teardown(the_example_of_a_hook_works, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_words_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(up_can_bring_several, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
