/* worker_test.c: the built worker with the built server: it comes in by token, runs what its options say it can, passes
 * on what it may, and goes when it is told. */
#include "test.h"

#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realserver.h"
#include "wireclient.h"

static struct realserver server;

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    realserver_start(&server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realserver_remove(&server);
    return 0;
}

#define ARGS_MAX 24

/* Without a token: it finds the server by its directory. */
static pid_t worker_start(const char *token, const char *const *more) {
    char data[128];
    const char *args[ARGS_MAX] = {"reeve", "worker", "--data", data};
    int count = 4;
    snprintf(data, sizeof data, "%s/worker", server.data);
    if (token != NULL) {
        const char *const where[] = {"--server", server.address, "--token", token};
        for (int i = 0; i < 4; i++) args[count++] = where[i];
    }
    for (; *more != NULL; more++) args[count++] = *more;
    assert_true(count < ARGS_MAX);
    pid_t pid = fork();
    if (pid != 0) return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setenv("REEVE_DATA", server.data, 1);
    (void)setenv("SHARED", "shared", 1);
    (void)setenv("PRIVATE", "private", 1);
    int null = open("/dev/null", O_WRONLY);
    (void)dup2(null, STDERR_FILENO);
    execv(realserver_binary(), (char *const *)(void *)args);
    _exit(127);
}

static int exit_of(pid_t pid) {
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static struct slice submit(struct wireclient *c, const char *shell, const char *pool, const char *capability) {
    struct buf body;
    struct wire_run run = {.shell = slice_str(shell)};
    struct wire_name need = {slice_str(capability)};
    struct wire_options options = {.attempts_max = 1, .demand = {.pool = slice_str(pool)}};
    if (capability[0] != 0) options.demand.capabilities = (struct tlv_list){&need, 1};
    buf_init(&body, 65536);
    tlv_encode(&wire_run_desc, &run, &body);
    struct wire_job job = {.name = SLICE("x"), .body = buf_slice(&body)};
    struct wire_flow flow = {.part = {.options = {&options, 1}, .jobs = {&job, 1}}};
    struct wire_submit m = {{&flow, 1}};
    const struct wire_submitted *done = wireclient_ask(c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
    const struct wire_submitted_flow *flows = done->flows.at;
    buf_fini(&body);
    if (flows[0].code.len > 0) fail_msg("%.*s", SLICE_FMT(flows[0].message));
    return flows[0].flow;
}

static struct slice job_of(struct wireclient *c, struct slice flow) {
    char text[64];
    int len = snprintf(text, sizeof text, "%.*s/x", SLICE_FMT(flow));
    return arena_slice(&c->arena, slice_of(text, (size_t)len));
}

static void until(struct wireclient *c, struct slice flow, const char *state) {
    struct wire_get get = {.target = job_of(c, flow)};
    for (int i = 0; i < 4000; i++) {
        const struct wire_got *got = wireclient_ask(c, WIRE_GET, &get, WIRE_GOT);
        const struct wire_job_view *job = got->jobs.at;
        if (slice_eq(job->state, slice_str(state))) return;
        (void)poll(NULL, 0, 5);
    }
    fail_msg("the job does not become %s", state);
}

static void it_runs_what_it_offers_with_what_it_passes_on(void **state) {
    (void)state;
    struct wireclient c;
    const char *const more[] = {"--slots", "2",      "--pool",     "p",      "--capability", "GPU",
                                "--label", "zone=a", "--pass-env", "SHARED", "--permanent",  NULL};
    pid_t worker = worker_start(server.worker, more);
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    struct slice flow = submit(&c, "echo [$SHARED][$PRIVATE][$LANG][${REEVE_TOKEN%_*}]", "p", "GPU");
    until(&c, flow, "succeeded");
    struct wire_logs logs = {.job = job_of(&c, flow)};
    const struct wire_log_data *data = wireclient_ask(&c, WIRE_LOGS, &logs, WIRE_LOG_DATA);
    const struct wire_log_piece *pieces = data->pieces.at;
    assert_int_equal(data->pieces.count, 1);
    assert_true(slice_eq(pieces[0].data, SLICE("[shared][][C.UTF-8][rvj]\n"))); /* its own token, not the worker's */
    struct slice other = submit(&c, "true", "p", "TPU");                        /* which it has not */
    until(&c, other, "ready");
    assert_int_equal(kill(worker, SIGTERM), 0);
    assert_int_equal(exit_of(worker), 0);
    until(&c, other, "ready");
    wireclient_close(&c);
}

static struct slice submit_for(struct wireclient *c, uint64_t licences) {
    struct wire_amount amount = {SLICE("licences"), licences};
    struct wire_options options = {.kind = JOB_NOOP, .demand = {.resources = {&amount, 1}}};
    struct wire_job job = {.name = SLICE("x")};
    struct wire_flow flow = {.part = {.options = {&options, 1}, .jobs = {&job, 1}}};
    struct wire_submit m = {{&flow, 1}};
    const struct wire_submitted *got = wireclient_ask(c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
    return ((const struct wire_submitted_flow *)got->flows.at)->flow;
}

static void what_it_has_of_a_named_thing_it_gives(void **state) {
    (void)state;
    struct wireclient c;
    const char *const more[] = {"--resource", "licences=3", NULL};
    pid_t worker = worker_start(server.worker, more);
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    struct slice too_much = submit_for(&c, 4), fits = submit_for(&c, 3);
    until(&c, fits, "succeeded");
    until(&c, too_much, "ready");
    assert_int_equal(kill(worker, SIGTERM), 0);
    assert_int_equal(exit_of(worker), 0);
    wireclient_close(&c);
}

static void a_second_signal_ends_it_at_once_and_its_jobs_with_it(void **state) {
    (void)state;
    struct wireclient c;
    const char *const more[] = {"--slots", "1", NULL};
    char path[128], shell[300];
    snprintf(path, sizeof path, "%s/pid", server.data);
    snprintf(shell, sizeof shell, "echo $$ >%s.new; mv %s.new %s; sleep 1000", path, path, path);
    pid_t worker = worker_start(server.worker, more);
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    (void)submit(&c, shell, "", "");
    int fd = -1;
    for (int i = 0; i < 4000 && fd < 0; i++, (void)poll(NULL, 0, 5)) fd = open(path, O_RDONLY);
    char text[32] = "";
    assert_true(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    (void)close(fd);
    pid_t job = (pid_t)strtol(text, NULL, 10);
    assert_int_equal(kill(job, 0), 0);
    assert_int_equal(kill(worker, SIGTERM), 0);
    (void)poll(NULL, 0, 100); /* two signals of one moment are one */
    assert_int_equal(kill(worker, SIGTERM), 0);
    assert_int_equal(exit_of(worker), 0);
    assert_int_equal(kill(job, 0), -1);
    wireclient_close(&c);
}

static void a_server_that_comes_back_elsewhere_is_found_by_its_directory(void **state) {
    (void)state;
    struct wireclient c;
    const char *const more[] = {"--slots", "1", NULL};
    char before[64];
    pid_t worker = worker_start(NULL, more);
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    until(&c, submit(&c, "true", "", ""), "succeeded");
    wireclient_close(&c);
    snprintf(before, sizeof before, "%s", server.address);
    do {
        realserver_kill(&server);
        realserver_start(&server);
    } while (strcmp(before, server.address) == 0); /* the system may choose the same port again */
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    until(&c, submit(&c, "true", "", ""), "succeeded");
    wireclient_close(&c);
    assert_int_equal(kill(worker, SIGTERM), 0);
    assert_int_equal(exit_of(worker), 0);
}

static void wrong_options_are_refused_in_words(void **state) {
    (void)state;
    const char *const slots[] = {"--slots", "none", NULL}, *const label[] = {"--label", "zone", NULL},
                      *const odd[] = {"--odd", "x", NULL}, *const alone[] = {"--pool", NULL},
                      *const nothing[] = {"--resource", "licences=0", NULL},
                      *const nameless[] = {"--resource", "=2", NULL};
    assert_int_equal(exit_of(worker_start(server.worker, slots)), 2);
    assert_int_equal(exit_of(worker_start(server.worker, label)), 2);
    assert_int_equal(exit_of(worker_start(server.worker, odd)), 2);
    assert_int_equal(exit_of(worker_start(server.worker, alone)), 2);
    assert_int_equal(exit_of(worker_start(server.worker, nothing)), 2);
    assert_int_equal(exit_of(worker_start(server.worker, nameless)), 2);
}

static void one_directory_has_one_worker(void **state) {
    (void)state;
    struct wireclient c;
    const char *const more[] = {NULL};
    pid_t first = worker_start(server.worker, more);
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    until(&c, submit(&c, "true", "", ""), "succeeded"); /* it is up */
    assert_int_equal(exit_of(worker_start(server.worker, more)), 6);
    assert_int_equal(kill(first, SIGTERM), 0);
    assert_int_equal(exit_of(first), 0);
    wireclient_close(&c);
}

static int make_dir(char path[192], const char *name) {
    snprintf(path, 192, "%s/worker/%s", server.data, name);
    assert_int_equal(mkdir(path, 0700), 0);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* While it starts it tries sandboxes in directories of its own, and holds a lock on them. */
static void what_one_left_that_was_killed_at_its_start_is_removed(void **state) {
    (void)state;
    struct wireclient c;
    char path[192], dead[192], alive[192];
    const char *const more[] = {NULL};
    (void)close(make_dir(path, ""));
    (void)close(make_dir(dead, "probe-dead"));
    (void)close(make_dir(path, "probe-dead/tmp"));
    int fd = make_dir(alive, "probe-alive");
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    pid_t worker = worker_start(server.worker, more);
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    until(&c, submit(&c, "true", "", ""), "succeeded"); /* it is up */
    assert_int_not_equal(access(dead, F_OK), 0);
    assert_int_equal(rmdir(alive), 0);
    (void)close(fd);
    snprintf(path, sizeof path, "%s/worker/probe-*", server.data);
    glob_t found;
    assert_int_equal(glob(path, 0, NULL, &found), GLOB_NOMATCH); /* its own is gone, too */
    assert_int_equal(kill(worker, SIGTERM), 0);
    assert_int_equal(exit_of(worker), 0);
    wireclient_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_runs_what_it_offers_with_what_it_passes_on, setup, teardown),
        cmocka_unit_test_setup_teardown(what_it_has_of_a_named_thing_it_gives, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_signal_ends_it_at_once_and_its_jobs_with_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_that_comes_back_elsewhere_is_found_by_its_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_options_are_refused_in_words, setup, teardown),
        cmocka_unit_test_setup_teardown(one_directory_has_one_worker, setup, teardown),
        cmocka_unit_test_setup_teardown(what_one_left_that_was_killed_at_its_start_is_removed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
