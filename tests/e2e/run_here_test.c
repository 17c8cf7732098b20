/* run_here_test.c: `reeve run --here` starts in the caller's directory, on a worker of this machine or not at all; `run
 * --script` sends the file. What `ps` shows of the helper of a job. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "realshell.h"

static struct realserver server;
static struct realshell shell = {.server = &server};
static pid_t worker;

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    realserver_start(&server);
    worker = 0;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    if (worker != 0) realshell_end(worker);
    realserver_remove(&server);
    return 0;
}

/* Beside the server, as `reeve up` starts it, or in a directory of its own. */
static void start_worker(const char *place) {
    char args[160];
    snprintf(args, sizeof args, "--token %s --data $D/%s", server.worker, place);
    worker = realshell_worker(&shell, args);
    realshell_worker_says(&shell, "attached");
}

static int run(const char *command) {
    return test_shell(shell.said, sizeof shell.said,
                      "D=%s; R=%s; exec 2>&1; mkdir -p $D/here && cd $D/here; export "
                      "REEVE_DATA=$D; %s",
                      server.data, realserver_binary(), command);
}

static void says(const char *command, int code, const char *words) {
    int got = run(command);
    if (got != code || strstr(shell.said, words) == NULL)
        fail_msg("%s: exit %d, said: %s\n  expected %d and: %s", command, got, shell.said, code, words);
}

static void a_job_here_sees_the_files_that_are_here(void **state) {
    (void)state;
    start_worker("worker");
    says("echo text > file; $R run --here -- cat file", 0, "text");
    says("printf '#!/bin/sh\\npwd; exit 7\\n' > s.sh; chmod +x s.sh; $R run --here -- ./s.sh", 7, "/here");
    says("$R run -- ./s.sh", 125,
         "a job starts in an empty directory: send the file with --script FILE, or run in this "
         "one with --here");
}

static void a_script_is_sent(void **state) {
    (void)state;
    start_worker("elsewhere");
    says("printf 'echo \"<$1>\"; ls\\n' > s.sh; $R run --script s.sh one", 0, "<one>");
    assert_null(strstr(shell.said, "s.sh"));
    says("head -c 100000 /dev/zero | tr '\\0' '#' >> s.sh; $R run --script s.sh large", 0, "<large>");
    says(": > empty.sh; $R run --script empty.sh", 2, "empty.sh is empty");
    says("$R run --script nosuch.sh", 5, "nosuch.sh: No such file");
    says("$R run --script s.sh --archive s.sh", 2, "exclude each other");
}

/* A worker that is not known to be on this machine may have no such directory. */
static void without_a_worker_of_this_machine_here_is_refused(void **state) {
    (void)state;
    says("$R run --here -- true", 6, "--here needs a worker that you started on this machine");
    start_worker("elsewhere");
    says("$R run --here -- true", 6, "--here needs a worker that you started on this machine");
}

static void here_does_not_go_with_a_directory_of_its_own(void **state) {
    (void)state;
    start_worker("worker");
    says("$R run --here --sandbox strict -- true", 2, "--here and --sandbox strict exclude each other");
    says("$R run --here --archive x.zip", 5, "x.zip: No such file");
    says("echo x > x.zip; $R run --here --archive x.zip", 2, "--here and --archive exclude each other");
    says("$R run --here --pool other -- true", 6, "attached to this pool");
}

static void ps_names_the_job_of_a_helper(void **state) {
    (void)state;
    start_worker("worker");
    says("job=$($R run -d -- sleep 100); for i in $(seq 300); do ps ax -o args | grep -x \"reeve worker: $job#1\" && "
         "break; sleep 0.05; done; $R cancel $job",
         0, "reeve worker: f");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_here_sees_the_files_that_are_here, setup, teardown),
        cmocka_unit_test_setup_teardown(a_script_is_sent, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_worker_of_this_machine_here_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(here_does_not_go_with_a_directory_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(ps_names_the_job_of_a_helper, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
