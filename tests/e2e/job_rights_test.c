/* job_rights_test.c: what a job may do at the server of the machine it runs on, as the same user: what its token
 * allows, and no more, however it comes to the Unix socket. */
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"

#define BARE "env -u REEVE_TOKEN -u REEVE_SERVER " /* the socket of the directory, with nothing in hand */

/* What the script prints as a job; $D is the server's directory. */
static const char *job(const char *script) {
    static char text[4096];
    snprintf(text, sizeof text, "D=%s; %s", realcli_group.data, script);
    struct ran ran = realcli_run(&realcli_group, "run -- sh -c %s", text, NULL);
    if (ran.exit_code != 0) fail_msg("exit %d: %s%s\n%s", ran.exit_code, ran.out, ran.err, script);
    return ran.out;
}

static void the_socket_gives_a_job_no_rights(void **state) {
    (void)state;
    assert_has(job(BARE "$REEVE_EXE token ls --data $D 2>&1 || echo exit $?"), "belongs to a job");
    assert_has(job(BARE "$REEVE_EXE kv set stolen yes --data $D 2>&1 || echo exit $?"), "exit 4\n");
    assert_has(job(BARE "curl -s -m 20 --unix-socket $D/reeve.sock http://localhost/api/v1/tokens || echo exit $?"),
               "belongs to a job");
    /* nor to what left its session and its parent */
    assert_has(job("( setsid sh -c 'until test -e go; do sleep 0.02; done; " BARE
                   "$REEVE_EXE token ls --data '$D' >said "
                   "2>&1; touch over' & ); touch go; until test -e over; do sleep 0.02; done; cat said"),
               "belongs to a job");
    /* its token does */
    assert_has(job("$REEVE_EXE kv set mine yes && env -u REEVE_SERVER $REEVE_EXE kv get mine --data $D"), "yes");
}

static void a_person_at_the_same_socket_is_administrator(void **state) {
    (void)state;
    (void)realcli_ok(&realcli_group, "token ls", NULL);
}

/* The number of a process that has ended may be another's by now. */
static void a_process_that_has_ended_is_nobody(void **state) {
    struct realserver server;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    static const char ask[] = "GET /api/v1/tokens HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char text[4096];
    size_t len = 0;
    (void)state;
    realserver_make(&server);
    realserver_start(&server);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", server.socket + strlen("unix:"));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(kill(server.pid, SIGSTOP), 0);
    pid_t pid = fork();
    if (pid == 0) _exit(connect(fd, (const struct sockaddr *)&a, sizeof a) == 0 ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(kill(server.pid, SIGCONT), 0);
    assert_int_equal(write(fd, ask, strlen(ask)), strlen(ask));
    for (ssize_t n; len < sizeof text - 1 && (n = read(fd, text + len, sizeof text - 1 - len)) > 0;) len += (size_t)n;
    text[len] = 0;
    assert_has(text, "401");
    assert_has(text, "or has ended");
    close(fd);
    realserver_remove(&server);
}

/* What a job of the same user finds in /proc of its worker and its server: nothing. Root sees everything, so another
 * user tries. */
static void secrets_of_worker_and_server_cannot_be_read(void **state) {
    (void)state;
    if (geteuid() != 0) return;
    static const char script[] =
        "d=/tmp/reeve-secret-$$ && mkdir $d && chmod 755 $d && cp %s $d/reeve && chown 65534 $d && cd $d || exit 1\n"
        "as='setpriv --reuid 65534 --regid 65534 --clear-groups'\n"
        "export ASAN_OPTIONS=detect_leaks=0\n"
        "REEVE_TOKEN=rv_very_secret $as ./reeve worker --server 127.0.0.1:1 --data w 2>w.log & w=$!\n"
        "REEVE_TITAN_SECRET=very_secret $as ./reeve serve --data s --listen 127.0.0.1:0 2>s.log & s=$!\n"
        "until grep -q incarnation w.log && test -e s/address; do sleep 0.02; done\n"
        "grep -c very_secret /proc/$w/environ; cat /proc/$s/comm\n"
        "$as cat /proc/$w/environ /proc/$s/environ 2>&1 | tr '\\0' ' '\n"
        "kill $w $s; wait; rm -rf $d";
    char command[2048], said[4096];
    snprintf(command, sizeof command, script, realserver_binary());
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t len = fread(said, 1, sizeof said - 1, f);
    said[len] = 0;
    (void)pclose(f);
    assert_memory_equal(said, "0\nreeve\n", 8); /* the token is gone even for root */
    assert_has_not(said, "very_secret");
    const char *first = strstr(said, "Permission denied");
    assert_non_null(first);
    assert_has(first + 1, "Permission denied");
}

static void a_server_inside_a_job_has_its_own_administrators(void **state) {
    (void)state;
    const char *said =
        job(BARE "$REEVE_EXE serve --data own --listen 127.0.0.1:0 >log 2>&1 & pid=$!; "
                 "until test -e own/address; do sleep 0.02; done; " BARE "$REEVE_EXE token ls --data own; kill $pid");
    assert_has(said, "admin");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_socket_gives_a_job_no_rights),
        cmocka_unit_test(a_person_at_the_same_socket_is_administrator),
        cmocka_unit_test(a_process_that_has_ended_is_nobody),
        cmocka_unit_test(secrets_of_worker_and_server_cannot_be_read),
        cmocka_unit_test(a_server_inside_a_job_has_its_own_administrators),
    };
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
