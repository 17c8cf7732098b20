/* doctor_test.c: `reeve doctor`: each problem that it tells is made for real, and is gone when that is mended; what it
 * sees without a server, and of one elsewhere.
 *
 * Full and read-only disks need root, to mount. */
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "falseclock.h"
#include "realshell.h"

static struct realserver server;
static struct realshell shell = {.server = &server};

static int setup(void **state) {
    (void)state;
    falseclock_begin();
    realserver_make(&server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realserver_remove(&server);
    falseclock_end();
    return 0;
}

/* A command of the shell, in which $D, $R and $S are set; its exit code. */
static int run(const char *command) {
    return test_shell(shell.said, sizeof shell.said, "D=%s; R=%s; S=%s; exec 2>&1; %s", server.data,
                      realserver_binary(), server.address, command);
}

static void finds(const char *command, int code, const char *words) {
    int got = run(command);
    if (got != code || strstr(shell.said, words) == NULL)
        fail_msg("%s: exit %d, said: %s\n  expected %d and: %s", command, got, shell.said, code, words);
}

/* What `make` does is found, with these words; after `mend` it is not. */
static void problem(const char *make, const char *words, const char *mend) {
    char command[2048];
    snprintf(command, sizeof command, "%s; timeout 60 $R doctor --data $D", make);
    finds(command, 1, words);
    assert_has(shell.said, "problem");
    snprintf(command, sizeof command, "%s; timeout 60 $R doctor --data $D", mend);
    finds(command, 0, "no problems");
    if (strstr(shell.said, words) != NULL) fail_msg("%s does not mend: %s", mend, shell.said);
}

static void without_a_server_the_machine_is_checked(void **state) {
    (void)state;
    finds("$R doctor --data $D/none", 0, "note     directory");
    finds("$R doctor --data $D", 0, "no server is running on");
    realshell_must(&shell, "doctor --data $D");
    static const char *const checks[] = {"directory", "lock", "disk", "space", "limits", "clock", "sandbox", "cgroups"};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) assert_has(shell.said, checks[i]);
}

static void the_directory_and_the_tokens_are_for_their_owner(void **state) {
    (void)state;
    realserver_start(&server);
    problem("chmod 755 $D", "other users can read jobs", "chmod 700 $D");
    assert_has(shell.said, "accepts new work");
    assert_has(shell.said, "holds the journal");
    problem("chmod 644 $D/admin.token", "admin.token has mode 0644", "chmod 600 $D/admin.token");
    problem("chmod 640 $D/worker.token", "chmod 600", "chmod 600 $D/worker.token");
    if (geteuid() != 0) return;
    finds(
        "chmod 755 $D; setpriv --reuid=65534 --regid=65534 --clear-groups $R doctor --data $D; code=$?; chmod 700 $D; "
        "exit $code",
        1, "belongs to uid 0, you are uid 65534");
}

static void certificates_are_checked(void **state) {
    (void)state;
    finds("$R cert init --data $D --days 60 example.org && $R doctor --data $D", 0, "it is for example.org");
    problem("chmod 644 $D/tls/server.pem", "can read the server's key", "chmod 600 $D/tls/server.pem");
    problem("chmod 644 $D/tls/ca.key", "can read the authority's key", "chmod 600 $D/tls/ca.key");
    problem("cp -p $D/tls/server.pem $D/kept; echo text > $D/tls/server.pem", "holds no certificate",
            "cp -p $D/kept $D/tls/server.pem");
    problem("$R cert init --data $D other.org >/dev/null; sed -n '/PRIVATE/,/PRIVATE/p' $D/kept > $D/mixed; "
            "sed -n '/CERT/,/CERT/p' $D/tls/server.pem >> $D/mixed; cp $D/mixed $D/tls/server.pem",
            "is not that of its certificate", "cp -p $D/kept $D/tls/server.pem");
    falseclock_set(INT64_C(86400000) * 50);
    finds("$R doctor --data $D", 0, "expires in 9 days");
    falseclock_set(INT64_C(86400000) * 61);
    finds("$R doctor --data $D", 1, "has expired");
    falseclock_set(0);
}

static void the_limits_of_the_process_are_checked(void **state) {
    (void)state;
    finds("prlimit --nofile=100:100 $R doctor --data $D", 1, "100 open files: too few to work");
    finds("prlimit --nproc=100:100 $R doctor --data $D", 1, "100 processes: too few to work");
    finds("prlimit --nofile=1024:1024 $R doctor --data $D", 0, "note     limits");
}

static void settings_that_keep_a_server_from_starting_are_found(void **state) {
    (void)state;
    problem("echo 'lease: 5' > $D/reeve.yaml", "there is no setting lease", "rm $D/reeve.yaml");
}

static void a_disk_that_is_full_or_read_only_is_found(void **state) {
    (void)state;
    if (geteuid() != 0) skip();
    finds("mkdir $D/m; unshare -m sh -c \"mount -t tmpfs -o mode=700,size=200m none $D/m && $R doctor --data $D/m\"", 1,
          "the server accepts no new work below 256.0 MiB");
    assert_has(shell.said, "is in memory");
    finds("unshare -m sh -c \"mount -t tmpfs -o mode=700,size=600m none $D/m && $R doctor --data $D/m\"", 1,
          "output of jobs and blobs are not stored below");
    finds("unshare -m sh -c \"mount -t tmpfs -o ro,mode=700,size=2g none $D/m && $R doctor --data $D/m\"", 1,
          "cannot be written: Read-only file system");
}

/* The server says so itself once it has noticed. */
static void a_server_without_room_is_found(void **state) {
    (void)state;
    if (geteuid() != 0) skip();
    finds("mkdir $D/m; timeout 100 unshare -m sh -c \"mount -t tmpfs -o mode=700,size=1000m none $D/m; "
          "$R up --detach --data $D/m --listen 127.0.0.1:0 >/dev/null; head -c 900m /dev/zero > $D/m/ballast; "
          "for i in \\$(seq 200); do $R doctor --data $D/m > $D/found; "
          "grep 'accepts no new work: its disk is full' $D/found && break; sleep 0.1; done; "
          "rm $D/m/ballast; $R down --data $D/m --now\"",
          0, "problem  ready");
}

static void a_clock_that_is_wrong_is_found(void **state) {
    (void)state;
    realserver_start(&server);
    finds("$R doctor --data $D", 0, "is 0 s apart");
    falseclock_set(3600000);
    finds("for i in $(seq 100); do $R doctor --data $D > $D/found; grep -q 'problem  clock' $D/found && break; done; "
          "cat $D/found; ! grep -q 'problem  clock' $D/found",
          1, "set the machine's clock");
    falseclock_set(0);
}

static void a_server_that_hangs_is_found(void **state) {
    (void)state;
    realserver_start(&server);
    assert_int_equal(kill(server.pid, SIGSTOP), 0);
    finds("timeout 60 $R doctor --data $D", 1, "does not answer within 10 s");
    assert_int_equal(kill(server.pid, SIGCONT), 0);
    finds("$R doctor --data $D", 0, "jobs wait until one comes");
}

/* Nothing of this machine is told for it. */
static void of_a_server_elsewhere_only_that_is_told_which_it_says(void **state) {
    (void)state;
    char command[256];
    realserver_start(&server);
    snprintf(command, sizeof command, "cd /; REEVE_TOKEN=%s $R doctor --server $S", server.admin);
    finds(command, 0, "a server answers at");
    assert_null(strstr(shell.said, "directory"));
    assert_has(shell.said, "accepts new work");
    snprintf(command, sizeof command, "cd /; REEVE_TOKEN=%s REEVE_SERVER=$S $R doctor", server.admin);
    finds(command, 0, "a server answers at");
    finds("cd /; $R doctor --server 127.0.0.1:1", 1, "cannot connect");
    finds("cd /; REEVE_TOKEN=nonsense $R doctor --server $S", 1, "problem  server");
}

static void programs_get_the_same_as_an_object(void **state) {
    (void)state;
    finds("chmod 755 $D; $R doctor --data $D --json | python3 -c \"import json, sys; d = json.load(sys.stdin); "
          "p = [c for c in d['checks'] if c['state'] == 'problem']; "
          "print(d['problems'], len(p), p[0]['check'], p[0]['advice'])\"",
          0, "1 1 directory chmod 700");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_server_the_machine_is_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(the_directory_and_the_tokens_are_for_their_owner, setup, teardown),
        cmocka_unit_test_setup_teardown(certificates_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(the_limits_of_the_process_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(settings_that_keep_a_server_from_starting_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(a_disk_that_is_full_or_read_only_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_without_room_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(a_clock_that_is_wrong_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_that_hangs_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(of_a_server_elsewhere_only_that_is_told_which_it_says, setup, teardown),
        cmocka_unit_test_setup_teardown(programs_get_the_same_as_an_object, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
