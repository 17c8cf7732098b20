/* share_test.c: several workers on one machine: what each offers, and what is said when they offer the same thing. */
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "realserver.h"
#include "realshell.h"

#define WAIT_MS 30000

static struct realserver server;
static struct realshell shell = {.server = &server};

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    realserver_start(&server);
    setenv("REEVE_DATA", server.data, 1);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realserver_remove(&server);
    return 0;
}

/* What the server knows of the worker whose id begins so, when it has come. */
static const char *offer_of(const char *name) {
    char args[128];
    snprintf(args, sizeof args, "workers -o jsonl --data $D | grep '\"%s-'", name);
    for (int ms = 0; realshell_run(&shell, "", args) != 0; ms += 50) {
        if (ms > WAIT_MS) fail_msg("%s does not come", name);
        (void)poll(NULL, 0, 50);
    }
    return shell.said;
}

static unsigned long long number(const char *text, const char *key) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\":", key);
    const char *at = strstr(text, wanted);
    return at != NULL ? strtoull(at + strlen(wanted), NULL, 10) : 0;
}

static void shares_add_up_to_the_machine(void **state) {
    (void)state;
    unsigned long long cpu = 1000ull * (unsigned long long)sysconf(_SC_NPROCESSORS_ONLN);
    setenv("CUDA_VISIBLE_DEVICES", "a,b,c", 1);
    pid_t first = realshell_worker(&shell, "--share 1/2 --name first --data $D/w1");
    pid_t second = realshell_worker(&shell, "--share 2/2 --name second --data $D/w2");
    pid_t said = realshell_worker(&shell, "--share 2/3 --cpu 7 --gpus 2 --name said --data $D/w3");
    unsetenv("CUDA_VISIBLE_DEVICES");
    assert_int_equal(number(offer_of("first"), "cpu_milli"), cpu / 2);
    unsigned long long memory = number(shell.said, "memory_bytes");
    assert_int_equal(number(shell.said, "gpus"), 1);
    assert_int_equal(number(offer_of("second"), "cpu_milli"), cpu / 2);
    assert_int_equal(number(shell.said, "memory_bytes"), memory);
    assert_int_equal(number(shell.said, "gpus"), 2);
    assert_int_equal(number(offer_of("said"), "cpu_milli"), 7000);
    assert_int_equal(number(shell.said, "memory_bytes"), memory * 2 / 3);
    assert_int_equal(number(shell.said, "gpus"), 2);
    realshell_end(first);
    realshell_end(second);
    realshell_end(said);
}

static void the_same_offer_twice_is_warned_of(void **state) {
    (void)state;
    pid_t first = realshell_worker(&shell, "--share 5/9 --name a --data $D/w4");
    (void)offer_of("a");
    pid_t second = realshell_worker(&shell, "--share 5/9 --name b --data $D/w5");
    realshell_worker_says(&shell, "another worker on this machine also offers share 5/9");
    pid_t third = realshell_worker(&shell, "--name c --data $D/w6");
    (void)offer_of("c");
    pid_t fourth = realshell_worker(&shell, "--name d --data $D/w7");
    realshell_worker_says(&shell, "start both with --share (1/2 and 2/2)");
    realshell_end(first);
    realshell_end(second);
    realshell_end(third);
    realshell_end(fourth);
    realshell_refused(&shell, "", "worker --share half", 2, "the K-th of N equal parts, found `half`");
    realshell_refused(&shell, "", "worker --share 3/2", 2, "a number from 1 to 2");
}

static void a_scaler_divides_the_machine(void **state) {
    (void)state;
    char command[256];
    unsigned long long cpu = 1000ull * (unsigned long long)sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(command, sizeof command, "%s scaler --min 2 --max 4 --name part --data %s/fleet >/dev/null 2>&1 & echo $!",
             realserver_binary(), server.data);
    FILE *f = popen(command, "r");
    int pid = 0;
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &pid), 1);
    (void)pclose(f);
    assert_int_equal(number(offer_of("part-1"), "cpu_milli"), cpu / 4);
    assert_int_equal(number(offer_of("part-2"), "cpu_milli"), cpu / 4);
    snprintf(command, sizeof command, "kill %d; while kill -0 %d 2>/dev/null; do sleep 0.05; done", pid, pid);
    assert_int_equal(system(command), 0);
}

/* The one that comes second is refused, and has touched nothing of the first one's by then. */
static void a_second_worker_of_a_directory_harms_no_job(void **state) {
    (void)state;
    pid_t pid = realshell_worker(&shell, "--name only --data $D/w8 --pool only");
    (void)offer_of("only");
    char path[96];
    snprintf(path, sizeof path, "%s/flow.yaml", server.data);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f,
            "jobs: {a: {pool: only, retries: 0, run: 'touch %s/runs; until test -e %s/go; do sleep 0.02; done; "
            "echo here > file && cat file'}}",
            server.data, server.data);
    (void)fclose(f);
    realshell_must(&shell, "submit --data $D $D/flow.yaml");
    char id[32], args[96];
    snprintf(id, sizeof id, "%.*s", (int)strcspn(shell.said, " \n"), shell.said);
    realshell_must(&shell, "version; until test -e $D/runs; do sleep 0.02; done");
    realshell_refused(&shell, "", "worker --data $D/w8 --server $S", 6, "another worker uses this directory");
    realshell_must(&shell, "version; touch $D/go");
    snprintf(args, sizeof args, "wait --data $D -q %s", id);
    realshell_must(&shell, args);
    realshell_end(pid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_add_up_to_the_machine),
        cmocka_unit_test(the_same_offer_twice_is_warned_of),
        cmocka_unit_test(a_scaler_divides_the_machine),
        cmocka_unit_test(a_second_worker_of_a_directory_harms_no_job),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
