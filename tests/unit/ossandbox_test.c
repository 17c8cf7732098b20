/* ossandbox_test.c: processes in sandboxes are started, signalled, killed and waited for like all others. What they
 * cannot get at is in tests/e2e/sandbox_test.c. */
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "escape.h"
#include "osclock.h"
#include "osproc.h"
#include "osprocs.h"
#include "ossandbox.h"

#define PATIENCE_MS 60000

static struct {
    struct proc *p;
    char dir[64];
    struct buf out, err;
    bool ended, can;
    uint32_t exit_code, signal;
    struct proc_usage usage;
} s;

static void on_output(void *ctx, proc_id p, enum proc_stream stream, struct slice bytes) {
    (void)ctx, (void)p;
    buf_put_slice(stream == PROC_OUT ? &s.out : &s.err, bytes);
}

static void on_ready(void *ctx, proc_id p) {
    (void)ctx, (void)p;
}

static void on_ended(void *ctx, proc_id p, uint32_t exit_code, uint32_t number, const struct proc_usage *usage) {
    (void)ctx, (void)p;
    s.ended = true;
    s.exit_code = exit_code;
    s.signal = number;
    s.usage = *usage;
}

static int setup(void **state) {
    (void)state;
    struct why why = {{0}};
    uint32_t first = 0, last = 0;
    char probe[96];
    assert_int_equal(osproc_open(NULL, &s.p, &why), ERR_OK);
    snprintf(s.dir, sizeof s.dir, "/tmp/reeve-box-%s",
             "XX"
             "XX"
             "XX");
    assert_non_null(mkdtemp(s.dir));
    buf_init(&s.out, 1u << 20);
    buf_init(&s.err, 1u << 20);
    snprintf(probe, sizeof probe, "%s/probe", s.dir);
    if (geteuid() == 0) assert_int_equal(ossandbox_uids(&first, &last, &why), ERR_OK);
    if (first != 0) osproc_uids(s.p, first, last);
    s.can = escape_kernel_can(0);
    if (s.can && ossandbox_probe(probe, first, &why) != ERR_OK) fail_msg("the kernel can, we cannot: %s", why.text);
    assert_int_not_equal(access(probe, F_OK), 0); /* and leaves nothing */
    return 0;
}

static int teardown(void **state) {
    (void)state;
    char command[96];
    osproc_close(s.p);
    buf_fini(&s.out);
    buf_fini(&s.err);
    snprintf(command, sizeof command, "rm -rf %s", s.dir);
    return system(command);
}

static const char *space_make(void) {
    static char space[96];
    static int count;
    snprintf(space, sizeof space, "%s/%d", s.dir, ++count);
    assert_int_equal(mkdir(space, 0700), 0);
    return space;
}

static struct proc_sandbox strict(void) {
    return (struct proc_sandbox){
        .is_on = true, .net_off = true, .files = true, .own_uid = geteuid() == 0, .space = space_make()};
}

static enum err try_start(const char *shell, struct proc_sandbox box, proc_id *ret, struct why *why) {
    static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    const char *argv[] = {"sh", "-c", shell, NULL};
    struct proc_spec spec = {.argv = argv, .env = env, .workdir = box.space, .sandbox = box};
    struct proc_handler handler = {on_output, on_ready, on_ended, NULL};
    s.ended = false;
    buf_clear(&s.out);
    buf_clear(&s.err);
    return s.p->ops->start(s.p, &spec, &handler, ret, why);
}

static proc_id start(const char *shell, struct proc_sandbox box) {
    struct why why = {{0}};
    proc_id id = {0};
    if (try_start(shell, box, &id, &why) != ERR_OK) fail_msg("%s", why.text);
    return id;
}

static void turn(void) {
    struct pollfd fd = {.fd = osproc_fd(s.p), .events = POLLIN};
    if (poll(&fd, 1, 1000) > 0) osproc_run(s.p);
}

static void until_ended(void) {
    int64_t until = test_mono_ms() + PATIENCE_MS;
    while (!s.ended && test_mono_ms() < until) turn();
    assert_true(s.ended);
}

static void until_said(const char *words) {
    int64_t until = test_mono_ms() + PATIENCE_MS;
    while (!slice_eq(buf_slice(&s.out), slice_str(words)) && !s.ended && test_mono_ms() < until) turn();
    if (!slice_eq(buf_slice(&s.out), slice_str(words)))
        fail_msg("said: %.*s%.*s", SLICE_FMT(buf_slice(&s.out)), SLICE_FMT(buf_slice(&s.err)));
}

static void said(const char *words) {
    until_ended();
    until_said(words);
}

static uint32_t children(void) {
    struct u32vec pids = {0};
    osprocs_below(getpid(), NULL, &pids);
    uint32_t count = pids.count;
    u32vec_fini(&pids);
    return count;
}

/* ---- */

static void ends_are_told(void **state) {
    (void)state;
    if (!s.can) return;
    start("exit 0", strict());
    until_ended();
    assert_int_equal(s.exit_code, 0);
    assert_int_equal(s.signal, 0);
    start("exit 7", strict());
    until_ended();
    assert_int_equal(s.exit_code, 7);
    start("kill -SEGV $$", strict());
    until_ended();
    assert_int_equal(s.signal, SIGSEGV);
    start("exit 3", (struct proc_sandbox){.is_on = true, .net_off = true, .space = space_make()});
    until_ended();
    assert_int_equal(s.exit_code, 3);
}

static void a_sandboxed_job_is_alone_among_processes(void **state) {
    (void)state;
    if (!s.can) return;
    start("echo $$; set -- /proc/[0-9]*; echo $#", strict());
    said("2\n2\n"); /* the first and the shell, which looks by itself */
}

/* What the worker would find need not be there. */
static void programs_are_looked_for_inside(void **state) {
    (void)state;
    if (!s.can) return;
    char hidden[96], path[256];
    snprintf(hidden, sizeof hidden, "%s/bin", s.dir);
    assert_int_equal(mkdir(hidden, 0755), 0);
    snprintf(path, sizeof path, "ln -s /bin/false %s/echo", hidden);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "PATH=%s:/usr/bin:/bin", hidden);
    const char *const argv[] = {"echo", "found", NULL}, *const missing[] = {"no-such-program", NULL};
    const char *const env[] = {path, NULL};
    struct proc_spec spec = {.argv = argv, .env = env, .workdir = "/", .sandbox = strict()};
    struct proc_handler handler = {on_output, on_ready, on_ended, NULL};
    struct why why;
    proc_id id;
    s.ended = false;
    buf_clear(&s.out);
    assert_int_equal(s.p->ops->start(s.p, &spec, &handler, &id, &why), ERR_OK);
    said("found\n");
    spec.argv = missing;
    spec.sandbox = strict();
    s.ended = false;
    buf_clear(&s.err);
    assert_int_equal(s.p->ops->start(s.p, &spec, &handler, &id, &why), ERR_OK);
    until_ended();
    assert_int_equal(s.exit_code, 126);
    assert_non_null(memmem(s.err.at, s.err.len, "cannot run no-such-program", 26));
}

static void outputs_can_be_opened_by_name(void **state) {
    (void)state;
    if (!s.can) return;
    start("echo a > /dev/stdout; echo b > /dev/stderr; echo c > /proc/self/fd/1", strict());
    said("a\nc\n");
    assert_true(slice_eq(buf_slice(&s.err), SLICE("b\n")));
}

static void term_reaches_it_and_kill_ends_all(void **state) {
    (void)state;
    if (!s.can) return;
    proc_id p = start("trap 'echo bye; exit 4' TERM; echo ready; while :; do sleep 0.1; done", strict());
    until_said("ready\n");
    s.p->ops->signal(s.p, p, SIGTERM);
    said("ready\nbye\n");
    assert_int_equal(s.exit_code, 4);
    uint32_t before = children();
    p = start("setsid sleep 1000 & setsid setsid sleep 1000 & trap '' TERM; echo ready; wait; sleep 1000", strict());
    until_said("ready\n");
    s.p->ops->signal(s.p, p, SIGTERM);
    s.p->ops->signal(s.p, p, SIGKILL);
    until_ended();
    assert_int_equal(s.signal, SIGKILL);
    assert_true(children() <= before); /* the keepers are there still */
}

static void term_that_is_not_caught_ends_it(void **state) {
    (void)state;
    if (!s.can) return;
    proc_id p = start("echo ready; exec sleep 1000", strict());
    until_said("ready\n");
    s.p->ops->signal(s.p, p, SIGTERM);
    until_ended();
    assert_int_equal(s.signal, SIGTERM);
}

static void what_it_leaves_behind_ends_with_it(void **state) {
    (void)state;
    if (!s.can) return;
    uint32_t before = children();
    start("setsid setsid sleep 1000 & echo done", strict());
    said("done\n");
    assert_true(children() <= before);
}

static void a_time_given_beforehand_ends_it(void **state) {
    (void)state;
    if (!s.can) return;
    proc_id p = start("echo ready; exec sleep 1000", strict());
    until_said("ready\n");
    s.p->ops->kill_at(s.p, p, test_mono_ms() + 50);
    until_ended();
    assert_int_equal(s.signal, SIGKILL);
}

static void what_it_used_is_told(void **state) {
    (void)state;
    if (!s.can) return;
    start("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done", strict());
    until_ended();
    assert_true(s.usage.cpu_ms > 0);
    assert_true(s.usage.memory_bytes_max > 100000);
}

static void no_two_have_the_same_uid(void **state) {
    (void)state;
    if (!s.can || geteuid() != 0) return;
    struct proc_sandbox box = {.own_uid = true, .space = s.dir};
    char first[16];
    start("id -u; exec sleep 1000", box);
    int64_t until = test_mono_ms() + PATIENCE_MS;
    while (s.out.len == 0 && test_mono_ms() < until) turn();
    snprintf(first, sizeof first, "%.*s", SLICE_FMT(buf_slice(&s.out)));
    assert_true(strtol(first, NULL, 10) > 0);
    start("id -u", box); /* while the first one runs */
    until_ended();
    assert_false(slice_eq(buf_slice(&s.out), slice_str(first)));
}

static void what_cannot_be_kept_is_not_started(void **state) {
    (void)state;
    if (!s.can) return;
    struct proc_sandbox box = strict();
    struct why why = {{0}};
    proc_id id;
    const char *const missing[] = {"/no/such/directory", NULL}, *const link[] = {"/proc/self", NULL};
    box.read = missing;
    assert_int_equal(try_start("echo never", box, &id, &why), ERR_NOT_FOUND);
    assert_non_null(strstr(why.text, "/no/such/directory"));
    box.read = link; /* only seen inside */
    start("echo never", box);
    said("");
    assert_int_equal(s.exit_code, 126);
    assert_non_null(memmem(s.err.at, s.err.len, "there is a link in this path", 28));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_told),
        cmocka_unit_test(a_sandboxed_job_is_alone_among_processes),
        cmocka_unit_test(programs_are_looked_for_inside),
        cmocka_unit_test(outputs_can_be_opened_by_name),
        cmocka_unit_test(term_reaches_it_and_kill_ends_all),
        cmocka_unit_test(term_that_is_not_caught_ends_it),
        cmocka_unit_test(what_it_leaves_behind_ends_with_it),
        cmocka_unit_test(a_time_given_beforehand_ends_it),
        cmocka_unit_test(what_it_used_is_told),
        cmocka_unit_test(what_cannot_be_kept_is_not_started),
        cmocka_unit_test(no_two_have_the_same_uid), /* last: one of them runs on */
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
