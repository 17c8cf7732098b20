/* tls_test.c: the built program over TLS: certificates by `reeve cert`, who is believed and who is not, and what is
 * shell.said to those who are not. Servers listen beyond loopback, so plain connections are refused. */
#include "test.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oscert.h"
#include "ostls.h"
#include "realshell.h"
#include "wireclient.h"

static struct realserver server;
static struct realshell shell = {.server = &server};

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    server.flags[0] = "--listen";
    server.flags[1] = "0.0.0.0:0";
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realserver_remove(&server);
    return 0;
}

static void tls_server(void) {
    assert_int_equal(realshell_run(&shell, "", "cert init --data $D"), 0);
    realserver_start(&server);
    assert_memory_equal(server.address, "tls://127.0.0.1:", 16);
}

/* ---- it works ---- */

static void two_commands_lead_to_a_cluster_with_tls(void **state) {
    (void)state;
    tls_server();
    realshell_must(&shell, "cert worker gpu1 --data $D");
    pid_t pid = realshell_worker(&shell, "--tls-cert $D/tls/gpu1.pem --data $D/w");
    realshell_must(&shell, "run --server $S --tls-ca $D/tls/ca.pem -- echo over tls");
    assert_string_equal(shell.said, "over tls\n");
    realshell_must(&shell, "run --server $S --tls-ca $D/tls/ca.pem -- sh -c 'head -c 20000000 /dev/zero' | wc -c");
    assert_string_equal(shell.said, "20000000\n");
    realshell_must(&shell, "workers --server $S --tls-ca $D/tls/ca.pem");
    assert_non_null(strstr(shell.said, "gpu1-"));
    /* and a job reaches the server the same way */
    realshell_must(&shell, "run --server $S --tls-ca $D/tls/ca.pem -- sh -c '$REEVE_EXE kv set by-job yes'");
    realshell_must(&shell, "kv get by-job --data $D");
    assert_non_null(strstr(shell.said, "yes"));
    /* the folder of the data directory is found by itself, and a name does as well as an address */
    realshell_must(&shell, "ls --data $D --server tls:localhost:${S##*:}");
    realshell_end(pid);
}

static void files_with_keys_are_for_their_owner_only(void **state) {
    (void)state;
    struct stat st;
    char path[96];
    realshell_must(&shell, "cert init --data $D example.org 10.0.0.7");
    realshell_must(&shell, "cert worker w --data $D --tenant acme");
    static const char *const secret[] = {"ca.key", "server.pem", "w.pem"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/tls/%s", server.data, secret[i]);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
    realshell_refused(&shell, "", "cert init --data $D 'a,b'", 2, "neither the name nor the address");
    realshell_refused(&shell, "", "cert worker ../x --data $D", 2, "cannot be the name");
    realshell_refused(&shell, "", "cert worker server --data $D", 2, "cannot be the name");
    realshell_refused(&shell, "", "cert worker --data $D", 2, "expected one NAME");
    realshell_refused(&shell, "", "cert worker w --days 0 --data $D", 2, "--days");
    realshell_refused(&shell, "", "cert worker w --data $D/none", 5, "reeve cert init");
    /* the authority stays when the server's certificate is made again */
    realshell_must(&shell, "cert worker v --data $D && tail -n +1 $D/tls/ca.pem > $D/before");
    realshell_must(&shell, "cert init --data $D other.example > /dev/null && cmp $D/tls/ca.pem $D/before");
}

static void certificates_are_read_again_on_hup(void **state) {
    (void)state;
    tls_server();
    assert_int_equal(realshell_run(&shell, "", "cert init --data $D new.example"), 0);
    kill(server.pid, SIGHUP);
    assert_true(realserver_says(&server, "certificate with SHA-256"));
    realshell_must(&shell, "ls --server $S --tls-ca $D/tls/ca.pem");
    /* a file that cannot be used changes nothing */
    char path[96];
    snprintf(path, sizeof path, "%s/tls/server.pem", server.data);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs("nonsense\n", f);
    fclose(f);
    kill(server.pid, SIGHUP);
    assert_true(realserver_says(&server, "cannot be used as a certificate"));
    realshell_must(&shell, "ls --server $S --tls-ca $D/tls/ca.pem");
}

/* ---- whom clients believe ---- */

static void a_server_of_another_authority_is_not_believed(void **state) {
    (void)state;
    tls_server();
    realshell_must(&shell, "cert init --data $D/other");
    realshell_refused(&shell, "", "ls --server $S --tls-ca $D/other/tls/ca.pem", 4,
                      "not signed by a trusted authority");
    realshell_refused(&shell, "", "ls --server $S", 4, "--tls-ca");
    realshell_refused(&shell, "", "ls --server $S --tls-ca $D/none.pem", 2, "none.pem");
    pid_t pid = realshell_worker(&shell, "--tls-ca $D/other/tls/ca.pem --data $D/w");
    realshell_worker_says(&shell, "not signed by a trusted authority");
    realshell_end(pid);
}

static void the_name_of_the_server_is_checked(void **state) {
    (void)state;
    char dir[96];
    struct why why;
    snprintf(dir, sizeof dir, "%s/tls", server.data);
    assert_int_equal(oscert_server(dir, (const char *const[]){"elsewhere.example"}, 1, 10, &why), ERR_OK);
    realserver_start(&server);
    realshell_refused(&shell, "", "ls --server $S --tls-ca $D/tls/ca.pem", 4, "is not for the address 127.0.0.1");
    realshell_refused(&shell, "", "ls --server tls://localhost:${S##*:} --tls-ca $D/tls/ca.pem", 4,
                      "is not for the name localhost");
}

static void an_expired_certificate_is_not_believed(void **state) {
    (void)state;
    char dir[96];
    struct why why;
    snprintf(dir, sizeof dir, "%s/tls", server.data);
    assert_int_equal(oscert_server(dir, (const char *const[]){"127.0.0.1"}, 1, -1, &why), ERR_OK);
    realserver_start(&server);
    realshell_refused(&shell, "", "ls --server $S --tls-ca $D/tls/ca.pem", 4, "has expired");
}

static void a_pinned_certificate_needs_no_authority(void **state) {
    (void)state;
    char args[256], path[96], pin[OSTLS_PIN_TEXT];
    struct ostls *own = NULL;
    struct why why;
    tls_server();
    snprintf(path, sizeof path, "%s/tls/server.pem", server.data);
    assert_int_equal(ostls_server(&(struct ostls_files){.cert = path}, &own, &why), ERR_OK);
    ostls_pin(own, pin);
    ostls_free(own);
    snprintf(args, sizeof args, "ls --server $S --tls-pin %s", pin);
    realshell_must(&shell, args);
    pin[5] = pin[5] == '0' ? '1' : '0';
    snprintf(args, sizeof args, "ls --server $S --tls-pin %s", pin);
    realshell_refused(&shell, "", args, 4, "not the one that was pinned");
    realshell_refused(&shell, "", "ls --server $S --tls-pin 1234", 2, "64 hex digits");
}

/* ---- with and without TLS ---- */

static void plain_bytes_to_a_server_with_tls_get_a_clear_answer(void **state) {
    (void)state;
    tls_server();
    realshell_refused(&shell, "", "ls --server ${S#tls://}", 4, "use tls://HOST:PORT");
    realshell_must(&shell, "ls --data $D"); /* by its socket, on the machine itself */
}

static void tls_to_a_server_without_gets_a_clear_answer(void **state) {
    (void)state;
    server.flags[0] = NULL;
    realserver_start(&server);
    realshell_refused(&shell, "", "ls --server tls://$S", 4, "does not speak TLS");
}

static void beyond_loopback_tls_is_needed_unless_told_in_words(void **state) {
    (void)state;
    realshell_refused(&shell, "", "serve --data $D --listen 0.0.0.0:0", 4, "reeve cert init");
    realshell_refused(&shell, "", "serve --data $D --listen-without-tls perhaps", 2, "expected yes or no");
    realshell_refused(&shell, "", "serve --data $D --tls-require workers", 2, "tls_client_ca");
    realshell_refused(&shell, "", "serve --data $D --tls-require some", 2, "expected nobody, workers or everyone");
    realshell_refused(&shell, "", "serve --data $D --tls-cert $D/none.pem", 2, "none.pem");
    server.flags[2] = "--listen-without-tls";
    server.flags[3] = "yes";
    realserver_start(&server);
    realshell_must(&shell, "ls --server $S");
}

/* ---- certificates of workers ---- */

static void workers_may_have_to_show_a_certificate(void **state) {
    (void)state;
    char worker[160];
    server.flags[2] = "--tls-require";
    server.flags[3] = "workers";
    tls_server();
    /* none */
    snprintf(worker, sizeof worker, "--tls-ca $D/tls/ca.pem --token %s --data $D/w1", server.worker);
    pid_t pid = realshell_worker(&shell, worker);
    realshell_worker_says(&shell, "this server requires a certificate of workers");
    realshell_end(pid);
    /* one of another authority */
    realshell_must(&shell, "cert init --data $D/other");
    realshell_must(&shell, "cert worker gpu1 --data $D/other");
    pid = realshell_worker(&shell, "--tls-ca $D/tls/ca.pem --tls-cert $D/other/tls/gpu1.pem --data $D/w2");
    realshell_worker_says(&shell, "the server refused the connection");
    realshell_end(pid);
    /* that of another worker, and of a client */
    realshell_must(&shell, "cert worker gpu1 --data $D");
    pid = realshell_worker(&shell, "--tls-cert $D/tls/gpu1.pem --name gpu2 --data $D/w3");
    realshell_worker_says(&shell, "the certificate is for worker gpu1");
    realshell_end(pid);
    realshell_must(&shell, "cert client ann --data $D");
    pid = realshell_worker(&shell, "--tls-cert $D/tls/ann.pem --data $D/w4");
    realshell_worker_says(&shell, "authentication required");
    realshell_end(pid);
    /* its own; clients need none */
    pid = realshell_worker(&shell, "--tls-cert $D/tls/gpu1.pem --data $D/w5");
    realshell_worker_says(&shell, "attached to tls://");
    realshell_must(&shell, "ls --server $S --tls-ca $D/tls/ca.pem");
    realshell_end(pid);
}

static void a_revoked_certificate_is_refused_and_hung_up_on(void **state) {
    (void)state;
    tls_server();
    realshell_must(&shell, "cert worker gpu1 --data $D");
    realshell_must(&shell, "cert worker gpu2 --data $D");
    pid_t pid = realshell_worker(&shell, "--tls-cert $D/tls/gpu1.pem --data $D/w1");
    realshell_worker_says(&shell, "as gpu1-");
    pid_t other = realshell_worker(&shell, "--tls-cert $D/tls/gpu2.pem --data $D/w2");
    realshell_worker_says(&shell, "as gpu2-");
    realshell_refused(&shell, "", "cert revoke gpu9 --data $D", 5, "there is no such certificate");
    realshell_must(&shell, "cert revoke gpu1 --data $D && stat -c %a $D/tls/revoked");
    assert_has(shell.said, "600\n");
    kill(server.pid, SIGHUP);
    assert_true(realserver_says(&server, "certificate with SHA-256"));
    realshell_worker_says(&shell, "disconnected: "); /* the one that was here */
    realshell_end(pid);
    pid = realshell_worker(&shell, "--tls-cert $D/tls/gpu1.pem --data $D/w1");
    realshell_worker_says(&shell, "the server refused the connection"); /* and when it comes back */
    realshell_end(pid);
    /* a new one under the same name is good */
    realshell_must(&shell, "cert worker gpu1 --data $D");
    realshell_must(&shell, "version; : > $D/worker.log");
    pid = realshell_worker(&shell, "--tls-cert $D/tls/gpu1.pem --data $D/w1");
    realshell_worker_says(&shell, "as gpu1-");
    realshell_must(&shell, "run --data $D -- echo works");
    realshell_end(pid);
    realshell_end(other);
}

static void everyone_may_have_to(void **state) {
    (void)state;
    server.flags[2] = "--tls-require";
    server.flags[3] = "everyone";
    tls_server();
    realshell_refused(&shell, "", "ls --server $S --tls-ca $D/tls/ca.pem", 4,
                      "this server requires a client certificate");
    realshell_must(&shell, "cert client ann --data $D --tenant acme");
    realshell_must(&shell, "ls --server $S --tls-cert $D/tls/ann.pem");
    realshell_refused(&shell, "REEVE_TOKEN=wrong", "ls --server $S --tls-cert $D/tls/ann.pem", 4, "invalid token");
    /* for a job its worker has shown one */
    realshell_must(&shell, "cert worker w --data $D");
    pid_t pid = realshell_worker(&shell, "--tls-cert $D/tls/w.pem --data $D/w");
    realshell_must(&shell, "run --data $D -- sh -c '$REEVE_EXE kv set by-job yes'");
    realshell_end(pid);
    /* the tenant of the certificate bounds the token */
    realshell_must(&shell, "token new t --role submitter --tenant other --data $D");
    char variable[160];
    const char *token = strstr(shell.said, "rv_");
    assert_non_null(token);
    snprintf(variable, sizeof variable, "REEVE_TOKEN=%.67s", token);
    realshell_refused(&shell, variable, "ls --server $S --tls-cert $D/tls/ann.pem", 4,
                      "the token belongs to tenant other");
}

/* ---- what is found by default ---- */

/* $D/other is the directory of a server elsewhere; $D/copy that of this one, with another name for the same place. */
static void make_directories(void) {
    realshell_must(&shell,
                   "version && mkdir -p $D/other $D/copy && echo rv_of_another_server | "
                   "tee $D/other/worker.token > $D/other/admin.token && echo 127.0.0.1:1 > $D/other/address && "
                   "cp $D/worker.token $D/admin.token $D/copy && echo ${S%127.*}localhost:${S##*:} > $D/copy/address");
}

static void a_token_found_by_default_goes_to_its_own_server_only(void **state) {
    (void)state;
    tls_server();
    make_directories();
    realshell_must(&shell, "cert worker gpu1 --data $D");
    /* a worker: the good certificate speaks for it */
    char variable[128];
    snprintf(variable, sizeof variable, "%s/other", server.data);
    setenv("REEVE_DATA", variable, 1);
    pid_t pid = realshell_worker(&shell, "--tls-cert $D/tls/gpu1.pem --data $D/w1");
    realshell_worker_says(&shell, "attached to tls://");
    realshell_end(pid);
    pid = realshell_worker(&shell, "--tls-ca $D/tls/ca.pem --data $D/w2");
    realshell_worker_says(&shell, "authentication required");
    realshell_end(pid);
    snprintf(variable, sizeof variable, "%s/copy", server.data);
    setenv("REEVE_DATA", variable, 1);
    pid = realshell_worker(&shell, "--tls-ca $D/tls/ca.pem --name by-token --data $D/w3");
    realshell_worker_says(&shell, "as by-token-");
    realshell_end(pid);
    setenv("REEVE_DATA", "/nonexistent/reeve", 1);
    /* the command line */
    realshell_refused(&shell, "REEVE_TOKEN=", "ls --data $D/other --server $S --tls-ca $D/tls/ca.pem", 4,
                      "authentication required");
    assert_int_equal(realshell_run(&shell, "REEVE_TOKEN=", "ls --data $D/copy --server $S --tls-ca $D/tls/ca.pem"), 0);
}

/* ---- HTTP ---- */

/* What curl prints, with $P for the port. */
static const char *curl(const char *args) {
    static char said[4096];
    (void)test_shell(said, sizeof said, "P=%s D=%s T=%s; timeout 20 curl -s -S -w ' %%{http_code}' %s 2>&1",
                     strrchr(server.address, ':') + 1, server.data, server.admin, args);
    return said;
}

static void http_goes_the_same_way(void **state) {
    (void)state;
    tls_server();
    const char *flow = "-H \"Authorization: Bearer $T\" -H 'Content-Type: application/json' "
                       "-d '{\"jobs\": {\"a\": {\"noop\": true}}}' ";
    char args[512];
    snprintf(args, sizeof args, "%s --cacert $D/tls/ca.pem https://localhost:$P/api/v1/flows", flow);
    assert_has(curl(args), "\"job_count\":1}\n 201");
    /* by its address too, as it listens on all of them; a name that is none of its own is refused */
    assert_has(curl("--cacert $D/tls/ca.pem https://127.0.0.1:$P/healthz"), " 200");
    assert_has(curl("--cacert $D/tls/ca.pem -H 'Host: evil.example' https://localhost:$P/healthz"), " 421");
    assert_has(curl("--cacert $D/tls/ca.pem -H 'Origin: http://localhost:'$P https://localhost:$P/healthz"), " 403");
    assert_has(curl("https://localhost:$P/healthz"), "certificate");
    snprintf(args, sizeof args, "%s http://localhost:$P/api/v1/flows", flow);
    assert_has(curl(args), "this server requires TLS");
}

/* ---- time ---- */

static void who_says_nothing_is_hung_up_on(void **state) {
    (void)state;
    struct wireclient silent, half;
    struct wiregot got;
    tls_server();
    assert_true(wireclient_dial(&silent, server.address + 6));
    assert_true(wireclient_dial(&half, server.address + 6));
    assert_true(wireclient_send_raw(&half, "\x16\x03\x01", 3)); /* a handshake that never goes on */
    assert_false(wireclient_next(&silent, 9000, &got));
    assert_false(wireclient_next(&half, 9000, &got));
    struct pollfd p = {.fd = silent.fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 0), 1); /* closed, not merely quiet */
    p.fd = half.fd;
    assert_int_equal(poll(&p, 1, 0), 1);
    wireclient_close(&silent);
    wireclient_close(&half);
    realshell_must(&shell, "ls --server $S --tls-ca $D/tls/ca.pem");
}

/* Many who begin a handshake and stop cost nothing but a place, and it is their oldest that makes room. */
static void half_handshakes_keep_nobody_out(void **state) {
    (void)state;
    enum { COUNT = 1500 };
    static struct wireclient half[COUNT];
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    tls_server();
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(wireclient_dial(&half[i], server.address + 6));
        (void)wireclient_send_raw(&half[i], "\x16\x03\x01", 3);
    }
    struct pollfd p = {.fd = half[0].fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, WIRECLIENT_WAIT_MS), 1); /* the first of them has gone */
    realshell_must(&shell, "ls --server $S --tls-ca $D/tls/ca.pem");
    p.fd = half[COUNT - 1].fd;
    assert_int_equal(poll(&p, 1, 0), 0); /* the last has not: room was made for it, too */
    for (size_t i = 0; i < COUNT; i++) wireclient_close(&half[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_commands_lead_to_a_cluster_with_tls, setup, teardown),
        cmocka_unit_test_setup_teardown(files_with_keys_are_for_their_owner_only, setup, teardown),
        cmocka_unit_test_setup_teardown(certificates_are_read_again_on_hup, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_of_another_authority_is_not_believed, setup, teardown),
        cmocka_unit_test_setup_teardown(the_name_of_the_server_is_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(an_expired_certificate_is_not_believed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pinned_certificate_needs_no_authority, setup, teardown),
        cmocka_unit_test_setup_teardown(plain_bytes_to_a_server_with_tls_get_a_clear_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(tls_to_a_server_without_gets_a_clear_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(beyond_loopback_tls_is_needed_unless_told_in_words, setup, teardown),
        cmocka_unit_test_setup_teardown(workers_may_have_to_show_a_certificate, setup, teardown),
        cmocka_unit_test_setup_teardown(a_revoked_certificate_is_refused_and_hung_up_on, setup, teardown),
        cmocka_unit_test_setup_teardown(everyone_may_have_to, setup, teardown),
        cmocka_unit_test_setup_teardown(a_token_found_by_default_goes_to_its_own_server_only, setup, teardown),
        cmocka_unit_test_setup_teardown(http_goes_the_same_way, setup, teardown),
        cmocka_unit_test_setup_teardown(who_says_nothing_is_hung_up_on, setup, teardown),
        cmocka_unit_test_setup_teardown(half_handshakes_keep_nobody_out, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
