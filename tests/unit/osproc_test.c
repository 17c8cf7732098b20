/* osproc_test.c: real processes: how they end, what they write, and that none of them stays. */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "osclock.h"
#include "osproc.h"

#define PATIENCE_MS 60000

struct seen {
    struct proc *p;
    struct buf out, err;
    uint64_t bytes; /* of both streams, also when they are not kept */
    bool keep, ended;
    uint32_t ready_count;
    uint32_t exit_code, signal;
    struct proc_usage usage;
};

static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "REEVE_TEST=1", NULL};

static void on_output(void *ctx, proc_id p, enum proc_stream stream, struct slice bytes) {
    struct seen *s = ctx;
    (void)p;
    assert_false(s->ended);
    s->bytes += bytes.len;
    if (s->keep) buf_put_slice(stream == PROC_OUT ? &s->out : &s->err, bytes);
}

static void on_ready(void *ctx, proc_id p) {
    (void)p;
    ((struct seen *)ctx)->ready_count++;
}

static void on_ended(void *ctx, proc_id p, uint32_t exit_code, uint32_t number, const struct proc_usage *usage) {
    struct seen *s = ctx;
    (void)p;
    assert_false(s->ended);
    s->ended = true;
    s->exit_code = exit_code;
    s->signal = number;
    s->usage = *usage;
}

static void open_one(struct seen *s) {
    struct why why;
    *s = (struct seen){.keep = true};
    buf_init(&s->out, 64u << 20);
    buf_init(&s->err, 64u << 20);
    assert_int_equal(osproc_open(NULL, &s->p, &why), ERR_OK);
}

static void close_one(struct seen *s) {
    osproc_close(s->p);
    buf_fini(&s->out);
    buf_fini(&s->err);
}

static proc_id start(struct seen *s, const char *shell, bool has_stdin) {
    const char *argv[] = {"sh", "-c", shell, NULL};
    struct proc_spec spec = {.argv = argv, .env = env, .workdir = "/tmp", .has_stdin = has_stdin};
    struct proc_handler handler = {on_output, on_ready, on_ended, s};
    struct why why = {{0}};
    proc_id id = {0};
    s->ended = false;
    enum err e = s->p->ops->start(s->p, &spec, &handler, &id, &why);
    if (e != ERR_OK) fail_msg("%s", why.text);
    return id;
}

static void turn(struct seen *s, int ms) {
    struct pollfd fd = {.fd = osproc_fd(s->p), .events = POLLIN};
    if (poll(&fd, 1, ms) > 0) osproc_run(s->p);
}

static void until_ended(struct seen *s) {
    int64_t until = test_mono_ms() + PATIENCE_MS;
    while (!s->ended && test_mono_ms() < until) turn(s, 1000);
    assert_true(s->ended);
}

static void until_written(struct seen *s, uint64_t bytes) {
    int64_t until = test_mono_ms() + PATIENCE_MS;
    while (s->bytes < bytes && test_mono_ms() < until) turn(s, 1000);
    assert_true(s->bytes >= bytes);
}

static bool out_is(const struct seen *s, const char *text) {
    return slice_eq(buf_slice(&s->out), slice_str(text));
}

/* Whether the process there is dead, or dead and not buried; waits for it. */
static bool is_dead_soon(int pid) {
    int64_t until = test_mono_ms() + PATIENCE_MS;
    while (test_mono_ms() < until) {
        char path[64], text[256] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        int fd = open(path, O_RDONLY);
        if (fd < 0) return true;
        ssize_t got = read(fd, text, sizeof text - 1);
        (void)close(fd);
        const char *end = got > 0 ? strrchr(text, ')') : NULL;
        if (end == NULL || end[2] == 'Z' || end[2] == 'X') return true;
        (void)poll(NULL, 0, 2);
    }
    return false;
}

/* The number after that word in what it said; 0 = it has not yet. */
static int pid_said(struct seen *s, const char *word) {
    char text[256];
    snprintf(text, sizeof text, "%.*s", SLICE_FMT(buf_slice(&s->out)));
    const char *at = strstr(text, word);
    return at != NULL ? (int)strtol(at + strlen(word), NULL, 10) : 0;
}

static void ends_are_told(void **state) {
    (void)state;
    struct seen s;
    open_one(&s);
    start(&s, "exit 0", false);
    until_ended(&s);
    assert_int_equal(s.exit_code, 0);
    assert_int_equal(s.signal, 0);
    start(&s, "exit 7", false);
    until_ended(&s);
    assert_int_equal(s.exit_code, 7);
    start(&s, "kill -SEGV $$", false);
    until_ended(&s);
    assert_int_equal(s.signal, SIGSEGV);
    close_one(&s);
}

static void what_cannot_be_started_is_refused_in_words(void **state) {
    (void)state;
    struct seen s;
    struct why why;
    proc_id id;
    open_one(&s);
    const char *missing[] = {"no-such-program-at-all", NULL}, *plain[] = {"/etc/passwd", NULL}, *dir[] = {"/tmp", NULL};
    struct proc_handler handler = {on_output, on_ready, on_ended, &s};
    struct proc_spec spec = {.argv = missing, .env = env, .workdir = "/tmp"};
    assert_int_equal(s.p->ops->start(s.p, &spec, &handler, &id, &why), ERR_NOT_FOUND);
    assert_string_equal(why.text, "there is no program no-such-program-at-all");
    spec.argv = plain;
    assert_int_equal(s.p->ops->start(s.p, &spec, &handler, &id, &why), ERR_FORBIDDEN);
    spec.argv = dir;
    assert_int_equal(s.p->ops->start(s.p, &spec, &handler, &id, &why), ERR_FORBIDDEN);
    spec.workdir = "/no/such/place";
    assert_int_equal(s.p->ops->start(s.p, &spec, &handler, &id, &why), ERR_NOT_FOUND);
    close_one(&s);
}

static void what_the_kernel_refuses_is_told_in_the_output(void **state) {
    (void)state;
    struct seen s;
    char path[] = "/tmp/reeve-test-"
                  "XX"
                  "XX"
                  "XX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "not a program", 13), 13);
    assert_int_equal(fchmod(fd, 0700), 0);
    (void)close(fd);
    open_one(&s);
    const char *argv[] = {path, NULL};
    struct proc_handler handler = {on_output, on_ready, on_ended, &s};
    struct proc_spec spec = {.argv = argv, .env = env, .workdir = "/tmp"};
    struct why why;
    proc_id id;
    assert_int_equal(s.p->ops->start(s.p, &spec, &handler, &id, &why), ERR_OK);
    until_ended(&s);
    assert_int_equal(s.exit_code, 126);
    buf_put_u8(&s.err, 0);
    assert_non_null(strstr((const char *)s.err.at, "Exec format error"));
    close_one(&s);
    (void)unlink(path);
}

static void both_streams_come_whole_before_the_end(void **state) {
    (void)state;
    struct seen s;
    open_one(&s);
    start(&s, "printf 'a\\000\\377b'; printf err >&2; head -c 300000 /dev/zero", false);
    until_ended(&s);
    assert_int_equal(s.out.len, 300004);
    assert_memory_equal(s.out.at, "a\0\377b", 4);
    assert_true(slice_eq(buf_slice(&s.err), SLICE("err")));
    close_one(&s);
}

static void a_job_has_its_own_session_and_only_the_given_environment(void **state) {
    (void)state;
    struct seen s;
    open_one(&s);
    assert_int_equal(setenv("REEVE_SECRET_OF_THE_WORKER", "x", 1), 0);
    start(&s, "test $(ps -o sid= -p $$) = $$ && echo own; env | grep -c '^REEVE_'; ls /proc/self/fd | wc -l; pwd",
          false);
    until_ended(&s);
    /* Its descriptors: the standard three, and the directory that ls reads. */
    assert_true(out_is(&s, "own\n1\n4\n/tmp\n"));
    close_one(&s);
}

static void a_gigabyte_passes_without_being_kept(void **state) {
    (void)state;
    struct seen s;
    struct rusage before, after;
    open_one(&s);
    s.keep = false;
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    start(&s, "head -c 1073741824 /dev/zero", false);
    until_ended(&s);
    assert_int_equal(s.bytes, 1073741824);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_true(after.ru_maxrss - before.ru_maxrss < 8 * 1024); /* KiB */
    close_one(&s);
}

static void a_paused_process_waits_and_goes_on(void **state) {
    (void)state;
    struct seen s;
    open_one(&s);
    s.keep = false;
    proc_id id = start(&s, "head -c 1000000 /dev/zero", false);
    s.p->ops->pause(s.p, id, true);
    for (int i = 0; i < 20; i++) turn(&s, 5);
    assert_int_equal(s.bytes, 0);
    assert_false(s.ended);
    s.p->ops->pause(s.p, id, false);
    until_ended(&s);
    assert_int_equal(s.bytes, 1000000);
    /* One that has ended while nobody read: its end comes after its output, too. */
    id = start(&s, "echo x", false);
    s.p->ops->pause(s.p, id, true);
    s.bytes = 0;
    for (int i = 0; i < 50; i++) turn(&s, 5);
    assert_false(s.ended);
    s.p->ops->pause(s.p, id, false);
    until_ended(&s);
    assert_int_equal(s.bytes, 2);
    close_one(&s);
}

static void input_larger_than_a_pipe_is_fed_without_waiting(void **state) {
    (void)state;
    struct seen s;
    struct buf input;
    open_one(&s);
    buf_init(&input, 8u << 20);
    memset(buf_space(&input, 4u << 20), 'x', 4u << 20);
    proc_id id = start(&s, "wc -c", true);
    s.p->ops->feed(s.p, id, buf_slice(&input));
    s.p->ops->feed(s.p, id, SLICE("end"));
    s.p->ops->feed_end(s.p, id);
    until_ended(&s);
    assert_true(out_is(&s, "4194307\n"));
    buf_fini(&input);
    close_one(&s);
}

static void input_that_nobody_reads_harms_nobody(void **state) {
    (void)state;
    struct seen s;
    open_one(&s);
    proc_id id = start(&s, "exec 0<&-; echo closed; sleep 0.1", true);
    until_written(&s, 7);
    s.p->ops->feed(s.p, id, SLICE("into the void"));
    until_ended(&s);
    assert_int_equal(s.exit_code, 0);
    /* Without input of its own it reads nothing, and not the worker's. */
    buf_clear(&s.out);
    start(&s, "wc -c", false);
    until_ended(&s);
    assert_true(out_is(&s, "0\n"));
    close_one(&s);
}

static void a_signal_reaches_the_whole_tree(void **state) {
    (void)state;
    struct seen s;
    open_one(&s);
    proc_id id = start(&s,
                       "setsid sh -c 'trap \"echo inner; exit\" TERM; echo go; while :; do sleep 0.01; done' &"
                       "trap 'wait; echo outer; exit 3' TERM; wait; wait",
                       false);
    until_written(&s, 3);
    s.p->ops->signal(s.p, id, SIGTERM);
    until_ended(&s);
    assert_true(out_is(&s, "go\ninner\nouter\n"));
    assert_int_equal(s.exit_code, 3);
    close_one(&s);
}

static void one_that_ignores_term_is_killed(void **state) {
    (void)state;
    struct seen s;
    open_one(&s);
    proc_id id = start(&s, "trap '' TERM; echo go; while :; do sleep 1; done", false);
    until_written(&s, 3);
    s.p->ops->signal(s.p, id, SIGTERM);
    for (int i = 0; i < 10; i++) turn(&s, 5);
    assert_false(s.ended);
    s.p->ops->signal(s.p, id, SIGKILL);
    until_ended(&s);
    assert_int_equal(s.signal, SIGKILL);
    close_one(&s);
}

/* Leaves its session, its parent and its standard streams, and prints its pid first. */
#define DAEMON "(setsid sh -c 'echo daemon $$; exec >/dev/null 2>&1; exec sleep 1000' &) ; "

static void a_daemon_dies_with_the_job_that_begot_it(void **state) {
    (void)state;
    struct seen s;
    open_one(&s);
    start(&s, DAEMON "sleep 0.2; exit 5", false);
    until_ended(&s);
    assert_int_equal(s.exit_code, 5);
    int pid = pid_said(&s, "daemon");
    assert_true(pid > 1);
    assert_int_equal(kill(pid, 0), -1); /* at once: the end is told when nothing is left */
    close_one(&s);
}

static void a_keeper_kills_at_its_time_by_its_own_clock(void **state) {
    (void)state;
    struct seen s;
    open_one(&s);
    proc_id id = start(&s, DAEMON "sleep 1000", false);
    until_written(&s, sizeof "daemon 1");
    int pid = pid_said(&s, "daemon");
    s.p->ops->kill_at(s.p, id, test_mono_ms() + 50);
    s.p->ops->kill_at(s.p, id, test_mono_ms() + 150); /* renewed */
    int64_t begin = test_mono_ms();
    assert_true(is_dead_soon(pid)); /* and we have not run meanwhile */
    assert_true(test_mono_ms() - begin >= 140);
    until_ended(&s);
    assert_int_equal(s.signal, SIGKILL);
    id = start(&s, "sleep 0.2", false);
    s.p->ops->kill_at(s.p, id, test_mono_ms() + 20);
    s.p->ops->kill_at(s.p, id, TIME_NEVER); /* taken back; a slow machine may have been too slow */
    until_ended(&s);
    close_one(&s);
}

/* A worker in a process of its own, so that it can be killed. It passes on what its job says. */
static int worker_fork(int *ret_from) {
    int pair[2];
    assert_int_equal(pipe(pair), 0);
    int pid = fork();
    if (pid == 0) {
        struct seen s;
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that failed leaves nobody behind */
        open_one(&s);
        start(&s, DAEMON "echo job $$; echo keeper $PPID; sleep 1000", false);
        while (pid_said(&s, "daemon") == 0 || pid_said(&s, "keeper") == 0) turn(&s, 1000);
        int pids[3] = {pid_said(&s, "daemon"), pid_said(&s, "job"), pid_said(&s, "keeper")};
        (void)!write(pair[1], pids, sizeof pids);
        for (;;) turn(&s, 1000);
    }
    (void)close(pair[1]);
    *ret_from = pair[0];
    return pid;
}

static void pids_read(int from, int ret[3]) {
    assert_int_equal(read(from, ret, 3 * sizeof(int)), 3 * sizeof(int));
    (void)close(from);
    for (int i = 0; i < 3; i++) assert_true(ret[i] > 1);
}

static void nothing_outlives_a_killed_worker(void **state) {
    (void)state;
    int from = -1, pids[3], worker = worker_fork(&from);
    pids_read(from, pids);
    assert_int_equal(kill(worker, SIGKILL), 0);
    assert_int_equal(waitpid(worker, NULL, 0), worker);
    for (int i = 0; i < 3; i++) assert_true(is_dead_soon(pids[i]));
}

static void nothing_outlives_a_killed_keeper(void **state) {
    (void)state;
    int from = -1, pids[3], worker = worker_fork(&from);
    pids_read(from, pids);
    assert_int_equal(kill(pids[2], SIGKILL), 0);
    for (int i = 0; i < 3; i++) assert_true(is_dead_soon(pids[i]));
    assert_int_equal(kill(worker, SIGKILL), 0);
    assert_int_equal(waitpid(worker, NULL, 0), worker);
}

static void the_death_of_a_keeper_is_the_end_of_its_job(void **state) {
    (void)state;
    struct seen s;
    open_one(&s);
    start(&s, "kill -9 $PPID; sleep 1000", false);
    until_ended(&s);
    assert_int_equal(s.signal, SIGKILL);
    assert_true(osproc_is_well(s.p));
    start(&s, "exit 4", false); /* others are not concerned */
    until_ended(&s);
    assert_int_equal(s.exit_code, 4);
    close_one(&s);
}

static void without_a_nursery_nothing_starts_and_it_is_said(void **state) {
    (void)state;
    struct seen s;
    open_one(&s);
    start(&s, "kill -9 $(ps -o ppid= -p $PPID); echo done; sleep 1000", false);
    until_written(&s, 5);
    int64_t until = test_mono_ms() + PATIENCE_MS;
    while (osproc_is_well(s.p) && test_mono_ms() < until) turn(&s, 100);
    assert_false(osproc_is_well(s.p));
    const char *argv[] = {"true", NULL};
    struct proc_spec spec = {.argv = argv, .env = env, .workdir = "/tmp"};
    struct proc_handler handler = {on_output, on_ready, on_ended, &s};
    struct why why;
    proc_id id;
    assert_int_equal(s.p->ops->start(s.p, &spec, &handler, &id, &why), ERR_IO);
    close_one(&s);
}

static void many_run_at_once(void **state) {
    (void)state;
    enum { COUNT = 64 };
    struct seen main, each[COUNT];
    open_one(&main);
    for (int i = 0; i < COUNT; i++) {
        each[i] = (struct seen){.p = main.p};
        char text[64];
        snprintf(text, sizeof text, "exit %d", i);
        start(&each[i], text, false);
    }
    for (int i = 0; i < COUNT; i++) {
        until_ended(&each[i]);
        assert_int_equal(each[i].exit_code, i);
    }
    close_one(&main);
}

/* ---- ports ---- */

/* This program as a process that listens at any port of 127.0.0.1, or of any address of IPv6, prints the port and stays
 * until it is killed, by a name of its own. */
static void listen_main(const char *family, const char *name) {
    struct sockaddr_in6 any = {.sin6_family = AF_INET6};
    struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bool is_six = strcmp(family, "six") == 0;
    const struct sockaddr *at = is_six ? (struct sockaddr *)&any : (struct sockaddr *)&loopback;
    socklen_t len = is_six ? sizeof any : sizeof loopback;
    int fd = socket(at->sa_family, SOCK_STREAM, 0);
    if (bind(fd, at, len) != 0 || listen(fd, 8) != 0) _exit(70);
    struct sockaddr_in6 bound;
    len = sizeof bound;
    if (getsockname(fd, (struct sockaddr *)&bound, &len) != 0) _exit(71);
    (void)prctl(PR_SET_NAME, name);
    printf("port %u pid %d\n", ntohs(bound.sin6_port), (int)getpid()); /* at the same place for both families */
    fflush(stdout);
    for (;;) (void)pause();
}

/* Starts it by a shell, with words of the shell's before and behind it; its port. */
static uint32_t start_listening(struct seen *s, const char *before, const char *behind, const char *family,
                                const char *name, proc_id *ret) {
    char self[512], text[768];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(len > 0);
    self[len] = 0;
    snprintf(text, sizeof text, "%s '%s' --listen %s %s%s", before, self, family, name, behind);
    buf_clear(&s->out);
    *ret = start(s, text, false);
    int64_t until = test_mono_ms() + PATIENCE_MS;
    while (pid_said(s, " pid ") == 0 && test_mono_ms() < until) turn(s, 1000);
    uint32_t port = (uint32_t)pid_said(s, "port ");
    assert_true(port > 0);
    return port;
}

static enum proc_port owner_of(struct seen *s, proc_id id, uint32_t port, struct why *why) {
    *why = (struct why){{0}};
    enum proc_port first = s->p->ops->port_owner(s->p, id, port, why);
    assert_int_equal(s->p->ops->port_owner(s->p, id, port, why), first); /* from what was seen */
    return first;
}

static void a_port_is_of_the_tree_that_listens_there(void **state) {
    (void)state;
    static const struct {
        const char *before, *behind, *family;
    } kinds[] = {{"exec", "", "four"}, {"exec", "", "six"}, {"(setsid", " &); sleep 1000", "four"}};
    struct why why;
    struct seen s;
    open_one(&s);
    proc_id other = start(&s, "sleep 0 & exec sleep 1000", false), id; /* with a process that nobody buries */
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char words[96];
        uint32_t port = start_listening(&s, kinds[i].before, kinds[i].behind, kinds[i].family, "mine", &id);
        assert_int_equal(owner_of(&s, id, port, &why), PROC_PORT_OWN);
        assert_string_equal(why.text, "");
        assert_int_equal(owner_of(&s, other, port, &why), PROC_PORT_FOREIGN);
        snprintf(words, sizeof words, "port %u is held by process %d (mine), not by this service", port,
                 pid_said(&s, " pid "));
        assert_string_equal(why.text, words);
        s.p->ops->signal(s.p, id, SIGKILL);
        until_ended(&s);
        s.ended = false;
        assert_int_equal(owner_of(&s, id, port, &why), PROC_PORT_UNKNOWN); /* it is gone, */
        assert_int_equal(owner_of(&s, other, port, &why), PROC_PORT_UNKNOWN); /* and with it the socket */
    }
    close_one(&s);
}

static void whose_the_port_of_a_container_is_cannot_be_told(void **state) {
    (void)state;
    struct why why;
    struct seen s;
    open_one(&s);
    proc_id other = start(&s, "exec sleep 1000", false), id;
    uint32_t port = start_listening(&s, "exec", "", "four", "docker-proxy", &id);
    assert_int_equal(owner_of(&s, other, port, &why), PROC_PORT_UNKNOWN);
    assert_int_equal(owner_of(&s, id, port, &why), PROC_PORT_OWN);
    close_one(&s);
}

/* Before anything was heard of the process: its keeper's pid is there to be read. */
static void the_owner_of_a_port_is_known_at_once(void **state) {
    (void)state;
    struct why why;
    struct seen other, s;
    proc_id id;
    open_one(&other);
    uint32_t port = start_listening(&other, "exec", "", "four", "other", &id);
    open_one(&s);
    char text[64], name[] = "/tmp/reeve-osproc-XX" "XX" "XX";
    assert_non_null(mkdtemp(name));
    snprintf(text, sizeof text, "rmdir %s; exec sleep 1000", name);
    id = start(&s, text, false);
    for (int64_t until = test_mono_ms() + PATIENCE_MS; access(name, F_OK) == 0; (void)poll(NULL, 0, 2))
        assert_true(test_mono_ms() < until);
    assert_int_equal(owner_of(&s, id, port, &why), PROC_PORT_FOREIGN);
    close_one(&s);
    close_one(&other);
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--listen") == 0) listen_main(argv[2], argv[3]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_told),
        cmocka_unit_test(what_cannot_be_started_is_refused_in_words),
        cmocka_unit_test(what_the_kernel_refuses_is_told_in_the_output),
        cmocka_unit_test(both_streams_come_whole_before_the_end),
        cmocka_unit_test(a_job_has_its_own_session_and_only_the_given_environment),
        cmocka_unit_test(a_gigabyte_passes_without_being_kept),
        cmocka_unit_test(a_paused_process_waits_and_goes_on),
        cmocka_unit_test(input_larger_than_a_pipe_is_fed_without_waiting),
        cmocka_unit_test(input_that_nobody_reads_harms_nobody),
        cmocka_unit_test(a_signal_reaches_the_whole_tree),
        cmocka_unit_test(one_that_ignores_term_is_killed),
        cmocka_unit_test(a_daemon_dies_with_the_job_that_begot_it),
        cmocka_unit_test(a_keeper_kills_at_its_time_by_its_own_clock),
        cmocka_unit_test(nothing_outlives_a_killed_worker),
        cmocka_unit_test(nothing_outlives_a_killed_keeper),
        cmocka_unit_test(the_death_of_a_keeper_is_the_end_of_its_job),
        cmocka_unit_test(without_a_nursery_nothing_starts_and_it_is_said),
        cmocka_unit_test(many_run_at_once),
        cmocka_unit_test(a_port_is_of_the_tree_that_listens_there),
        cmocka_unit_test(whose_the_port_of_a_container_is_cannot_be_told),
        cmocka_unit_test(the_owner_of_a_port_is_known_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
