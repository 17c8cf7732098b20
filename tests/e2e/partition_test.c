/* partition_test.c: a server and workers on hosts of their own (network namespaces joined by veth pairs), the link
 * between them cut and healed before and after the lease. Healed before: the attempt goes on and counts. After: another
 * worker starts it, and one result counts. Exclusive attempts never run two at once.
 *
 * Needs root and the command ip. The server is told in words to do without TLS: what is cut here is the link. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realserver.h"
#include "realworker.h"
#include "wireclient.h"

struct host {
    pid_t holder; /* keeps its network alive */
    char netns[64], link[16], server[32];
    struct realworker worker;
};

static struct realserver server;
static struct wireclient c;
static struct host hosts[2];
static const char *why_not; /* no networks of our own here */

/* ---- networks ---- */

static bool shell(const char *command) {
    int status = system(command);
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool own_network(void) {
    if (unshare(CLONE_NEWNET) != 0) {
        why_not = strerrordesc_np(errno);
        return false;
    }
    if (!shell("ip link set lo up && ip link add probe0 type veth peer name probe1 && ip link del probe0")) {
        why_not = "`ip link add … type veth` does not work here";
        return false;
    }
    return true;
}

static pid_t hold_network(void) {
    int ready[2];
    char one = 0;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (unshare(CLONE_NEWNET) != 0 || write(ready[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &one, 1), 1);
    close(ready[0]);
    return pid;
}

static void host_make(struct host *h, int number) {
    char command[512];
    h->holder = hold_network();
    snprintf(h->netns, sizeof h->netns, "/proc/%d/ns/net", (int)h->holder);
    snprintf(h->link, sizeof h->link, "to%d", number);
    snprintf(h->server, sizeof h->server, "198.18.%d.1%s", number, strrchr(server.address, ':'));
    snprintf(
        command, sizeof command,
        "ip link add %s type veth peer name from%d netns %d && ip addr add 198.18.%d.1/24 dev %s && ip link set %s up "
        "&& nsenter --net=%s sh -c 'ip link set lo up; ip addr add 198.18.%d.2/24 dev from%d; ip link set from%d up'",
        h->link, number, (int)h->holder, number, h->link, h->link, h->netns, number, number, number);
    assert_true(shell(command));
}

static void link_set(const struct host *h, bool up) {
    char command[64];
    snprintf(command, sizeof command, "ip link set %s %s", h->link, up ? "up" : "down");
    assert_true(shell(command));
}

/* ---- */

static void end_process(pid_t *pid) {
    if (*pid <= 0) return;
    (void)kill(*pid, SIGKILL);
    (void)waitpid(*pid, NULL, 0);
    *pid = 0;
}

static int setup(void **state) {
    static const char *const flags[] = {"--lease-ms", "6000",      "--heartbeat-ms",       "300",
                                        "--listen",   "0.0.0.0:0", "--listen-without-tls", "yes"};
    static const char *const names[] = {"near", "far"};
    (void)state;
    if (why_not != NULL) return 0;
    realserver_make(&server);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[i] = flags[i];
    realserver_start(&server);
    for (int i = 0; i < 2; i++) {
        host_make(&hosts[i], i + 1);
        realworker_make(&hosts[i].worker, &server, names[i]);
        hosts[i].worker.server = hosts[i].server;
        hosts[i].worker.token = server.worker;
        hosts[i].worker.netns = hosts[i].netns;
    }
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    if (why_not != NULL) return 0;
    wireclient_close(&c);
    for (int i = 0; i < 2; i++) {
        char command[64];
        if (hosts[i].worker.pid != 0) realworker_kill(&hosts[i].worker);
        snprintf(command, sizeof command, "ip link del %s", hosts[i].link);
        assert_true(shell(command));
        end_process(&hosts[i].holder);
    }
    realserver_remove(&server);
    return 0;
}

static void submit(const char *shell_text, bool exclusive, char ret_job[64]) {
    struct buf body;
    struct wire_run run = {.shell = slice_str(shell_text)};
    struct wire_options options = {
        .attempts_max = 2, .exclusive = exclusive, .backoff_base_ms = 1, .backoff_cap_ms = 1, .backoff_jitter_ms = 1};
    buf_init(&body, 65536);
    tlv_encode(&wire_run_desc, &run, &body);
    struct wire_job job = {.name = SLICE("x"), .body = buf_slice(&body)};
    struct wire_flow flow = {.part = {.options = {&options, 1}, .jobs = {&job, 1}}};
    struct wire_submit m = {{&flow, 1}};
    const struct wire_submitted *done = wireclient_ask(&c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
    const struct wire_submitted_flow *flows = done->flows.at;
    buf_fini(&body);
    if (flows[0].code.len > 0) fail_msg("%.*s", SLICE_FMT(flows[0].message));
    snprintf(ret_job, 64, "%.*s/x", SLICE_FMT(flows[0].flow));
}

static const struct wire_job_view *until(const char *job, const char *state) {
    struct wire_get get = {.target = slice_str(job), .details = true};
    for (int i = 0; i < 4000; i++) {
        wireclient_forget(&c);
        const struct wire_got *got = wireclient_ask(&c, WIRE_GET, &get, WIRE_GOT);
        const struct wire_job_view *v = got->jobs.at;
        if (slice_eq(v->state, slice_str(state))) return v;
        if (slice_eq(v->state, SLICE("failed"))) break;
        (void)poll(NULL, 0, 10);
    }
    fail_msg("%s does not become %s", job, state);
    return NULL;
}

/* The file in the server's directory, whole; empty when it is not there. */
static const char *text_of(const char *name) {
    static char text[65536];
    char path[128];
    snprintf(path, sizeof path, "%s/%s", server.data, name);
    FILE *f = fopen(path, "re");
    size_t len = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f != NULL) fclose(f);
    text[len] = 0;
    return text;
}

static void until_said(const char *name, const char *line) {
    for (int i = 0; strstr(text_of(name), line) == NULL; i++) {
        if (i > 4000) fail_msg("%s does not say %s but: %s", name, line, text_of(name));
        (void)poll(NULL, 0, 10);
    }
}

static uint32_t lines_with(const char *text, const char *line) {
    uint32_t count = 0;
    for (const char *at = strstr(text, line); at != NULL; at = strstr(at + 1, line)) count++;
    return count;
}

static uint32_t journal_lines(const char *part) {
    char command[256], line[8192];
    uint32_t count = 0;
    snprintf(command, sizeof command, "%s journal dump --data %s", realserver_binary(), server.data);
    FILE *f = popen(command, "re");
    while (fgets(line, sizeof line, f) != NULL) count += strstr(line, part) != NULL;
    assert_int_equal(pclose(f), 0);
    return count;
}

/* ---- */

static void healed_before_the_lease_the_attempt_goes_on(void **state) {
    (void)state;
    char job[64], text[400];
    if (why_not != NULL) skip();
    realworker_start(&hosts[0].worker, &server);
    snprintf(text, sizeof text, "echo start $REEVE_ATTEMPT >>%s/runs; sleep 4; echo end >>%s/runs; echo said",
             server.data, server.data);
    submit(text, false, job);
    until_said("runs", "start 1\n");
    realworker_start(&hosts[1].worker, &server); /* somebody else could take it */
    link_set(&hosts[0], false);
    (void)poll(NULL, 0, 1500); /* heartbeats are missed, the lease is not over */
    link_set(&hosts[0], true);
    const struct wire_job_view *v = until(job, "succeeded");
    assert_int_equal(v->attempt, 1);
    assert_string_equal(text_of("runs"), "start 1\nend\n");
}

static void what_ends_behind_the_cut_is_told_when_it_heals(void **state) {
    (void)state;
    char job[64], text[400];
    if (why_not != NULL) skip();
    realworker_start(&hosts[0].worker, &server);
    snprintf(text, sizeof text, "echo start >>%s/runs; sleep 1; echo end >>%s/runs", server.data, server.data);
    submit(text, false, job);
    until_said("runs", "start\n");
    link_set(&hosts[0], false);
    until_said("runs", "end\n");
    link_set(&hosts[0], true);
    assert_int_equal(until(job, "succeeded")->attempt, 1);
    assert_string_equal(text_of("runs"), "start\nend\n");
}

static void healed_after_the_lease_one_result_counts(void **state) {
    (void)state;
    char job[64], text[500];
    if (why_not != NULL) skip();
    realworker_start(&hosts[0].worker, &server);
    snprintf(text, sizeof text,
             "echo start $REEVE_ATTEMPT >>%s/runs; [ $REEVE_ATTEMPT = 1 ] && sleep 60 || sleep 3; "
             "echo $REEVE_ATTEMPT >$REEVE_OUTPUT",
             server.data);
    submit(text, false, job);
    until_said("runs", "start 1\n");
    link_set(&hosts[0], false);
    realworker_start(&hosts[1].worker, &server);
    until_said("runs", "start 2\n"); /* the lease was over */
    link_set(&hosts[0], true);
    const struct wire_job_view *v = until(job, "succeeded");
    assert_int_equal(v->attempt, 2);
    assert_true(slice_eq(v->result, SLICE("2\n")));
    assert_int_equal(lines_with(text_of("runs"), "start"), 2);
    assert_int_equal(journal_lines("\"kind\":\"ended\",\"flow\":1,\"attempt\":2"), 1);
    assert_int_equal(journal_lines("\"kind\":\"ended\""), 2); /* one lost, one well */
    /* The first worker is told that its attempt is not its own any more; nothing of it is left running. */
    assert_int_equal(realworker_stop(&hosts[0].worker), 0);
}

/* Each attempt writes the time, twenty times a second, as long as it lives. */
static void exclusive_attempts_never_overlap(void **state) {
    (void)state;
    char job[64], text[600];
    if (why_not != NULL) skip();
    realworker_start(&hosts[0].worker, &server);
    snprintf(text, sizeof text,
             "echo start $REEVE_ATTEMPT >>%s/runs; n=0; "
             "while [ $n -lt 1000 ]; do date +%%s.%%N >>%s/times.$REEVE_ATTEMPT; n=$((n + 1)); "
             "[ $REEVE_ATTEMPT = 2 ] && [ $n -gt 40 ] && exit 0; sleep 0.05; done; exit 1",
             server.data, server.data);
    submit(text, true, job);
    until_said("runs", "start 1\n");
    link_set(&hosts[0], false);
    realworker_start(&hosts[1].worker, &server);
    until_said("runs", "start 2\n");
    link_set(&hosts[0], true);
    assert_int_equal(until(job, "succeeded")->attempt, 2);
    char *end = NULL, *second = NULL;
    double first_end = 0, second_begin = strtod(text_of("times.2"), &second);
    const char *times = text_of("times.1");
    for (const char *at = times; *at != 0; at = *end != 0 ? end + 1 : end) first_end = strtod(at, &end);
    printf("# the first ended %.3f s before the second began\n", second_begin - first_end);
    assert_true(first_end > 0 && second_begin > first_end);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(healed_before_the_lease_the_attempt_goes_on, setup, teardown),
        cmocka_unit_test_setup_teardown(what_ends_behind_the_cut_is_told_when_it_heals, setup, teardown),
        cmocka_unit_test_setup_teardown(healed_after_the_lease_one_result_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(exclusive_attempts_never_overlap, setup, teardown),
    };
    if (!own_network()) printf("# skipped: no network namespaces here: %s\n", why_not);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
