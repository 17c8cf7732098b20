/* access_test.c: what a job may do with the token of its attempt, and for how long; and whose jobs a worker gets. */
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "realshell.h"
#include "webclient.h"
#include "wireclient.h"

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

static void worker_start(void) {
    char args[160];
    snprintf(args, sizeof args, "--token %s --data $D/w", server.worker);
    worker = realshell_worker(&shell, args);
}

static void write_file(const char *name, const char *text) {
    char path[96];
    snprintf(path, sizeof path, "%s/%s", server.data, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Waits for a file that a job writes; its first line. */
static const char *line_of(const char *name) {
    static char line[256];
    char path[96];
    snprintf(path, sizeof path, "%s/%s", server.data, name);
    for (int i = 0; i < 2000; i++) {
        FILE *f = fopen(path, "re");
        bool got = f != NULL && fgets(line, sizeof line, f) != NULL && strchr(line, '\n') != NULL;
        if (f != NULL) fclose(f);
        if (got) {
            line[strcspn(line, "\n")] = 0;
            return line;
        }
        (void)poll(NULL, 0, 10);
    }
    fail_msg("%s was never written", path);
    return NULL;
}

/* Submits a flow file; its id, valid until the next call. */
static const char *submit(const char *variables, const char *text) {
    static char id[32];
    write_file("flow.yaml", text);
    if (realshell_run(&shell, variables, "submit --server $S $D/flow.yaml") != 0) fail_msg("%s", shell.said);
    snprintf(id, sizeof id, "%.*s", (int)strcspn(shell.said, "\n"), shell.said);
    return id;
}

/* A job that leaves its token in $D/NAME and runs until $D/NAME.go is there. The token as a variable. */
static const char *waiting_job_as(const char *by, const char *keys, const char *name, char id[32], char variable[200]) {
    char text[512];
    snprintf(text, sizeof text,
             "jobs: {agent: {%s, retries: 1, run: 'echo $REEVE_TOKEN > %s/%s; while [ ! -e %s/%s.go ]; do sleep 0.05; "
             "done; exit ${FAIL:-0}'}}",
             keys, server.data, name, server.data, name);
    snprintf(id, 32, "%s", submit(by, text));
    snprintf(variable, 200, "REEVE_TOKEN=%s", line_of(name));
    return id;
}

static const char *waiting_job(const char *name, char id[32], char variable[200]) {
    return waiting_job_as("", "priority: 0", name, id, variable);
}

static void with_id(char *out, size_t bytes, const char *format, const char *id) {
    char *at = strchr(format, '@');
    snprintf(out, bytes, "%.*s%s%s", (int)(at - format), format, id, at + 1);
}

/* ---- the token of an attempt ---- */

static void a_job_sees_its_own_flow_and_nothing_else(void **state) {
    (void)state;
    char own[32], other[32], token[200], args[256];
    worker_start();
    snprintf(other, sizeof other, "%s", submit("", "jobs: {a: {sleep: 10m}}"));
    (void)waiting_job("t1", own, token);
    assert_memory_equal(token, "REEVE_TOKEN=rvj_", 16);
    static const char *const allowed[] = {"ls @ --server $S", "show @/agent --server $S", "logs @/agent --server $S",
                                          "why @/agent --server $S"};
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        with_id(args, sizeof args, allowed[i], own);
        if (realshell_run(&shell, token, args) != 0) fail_msg("%s: %s", args, shell.said);
        assert_null(strstr(shell.said, "rvj_"));
        with_id(args, sizeof args, allowed[i], other);
        realshell_refused(&shell, token, args, 5, "there is no flow");
    }
    static const char *const forbidden[] = {"ls --server $S",         "workers --server $S",
                                            "cancel f11 --server $S", "pause f11 --server $S",
                                            "stats --server $S",      "token new x --role admin --server $S",
                                            "token ls --server $S",   "submit $D/flow.yaml --server $S",
                                            "drain w --server $S"};
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
        realshell_refused(&shell, token, forbidden[i], 4, " not allowed to ");
    /* what belongs to its tenant */
    assert_int_equal(realshell_run(&shell, token, "kv set k v --server $S"), 0);
    assert_int_equal(realshell_run(&shell, token, "blob put $D/flow.yaml --server $S"), 0);
    with_id(args, sizeof args, "kv set k v --flow @ --server $S", other);
    realshell_refused(&shell, token, args, 5, "there is no flow");
    /* nothing of it is kept */
    realshell_must(&shell, "version > /dev/null; rm $D/t1; ! grep -rl rvj_ $D --exclude=flow.yaml");
    write_file("t1.go", "");
}

static void a_token_dies_with_its_attempt(void **state) {
    (void)state;
    char own[32], token[200], args[256];
    struct wireclient c;
    worker_start();
    (void)waiting_job("t1", own, token);
    with_id(args, sizeof args, "ls @ --server $S", own);
    assert_int_equal(realshell_run(&shell, token, args), 0);
    wireclient_open(&c, server.address, token + strlen("REEVE_TOKEN="), WIRE_PEER_CLIENT);
    struct wire_get get = {.target = slice_str(own)};
    (void)wireclient_ask(&c, WIRE_GET, &get, WIRE_GOT);
    write_file("t1.go", "");
    with_id(args, sizeof args, "wait @ --server $S", own);
    realshell_must(&shell, args);
    struct wiregot got; /* whoever was there before is hung up on */
    assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
    assert_int_equal(got.op, WIRE_ERROR);
    assert_int_equal(got.request, 0);
    assert_false(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
    wireclient_close(&c);
    with_id(args, sizeof args, "ls @ --server $S", own);
    realshell_refused(&shell, token, args, 4, "the attempt that this token belongs to has ended");
}

/* What still comes until the server hangs up. */
static const char *rest_of(struct webclient *c) {
    static char text[4096];
    while (!webclient_is_closed(c)) assert_true(c->in.len < sizeof text);
    snprintf(text, sizeof text, "%.*s", (int)c->in.len, (const char *)c->in.at);
    return text;
}

/* A watch, a wait, a channel by RESP, a stream of events by HTTP, an upload that is under way. */
static void what_a_job_has_open_ends_with_its_attempt(void **state) {
    (void)state;
    char own[32], token[200], text[512], args[256];
    struct wireclient watcher, waiter;
    struct webclient channel, events, upload, late;
    struct wiregot got;
    worker_start();
    (void)waiting_job("t1", own, token);
    const char *secret = token + strlen("REEVE_TOKEN=");
    wireclient_open(&watcher, server.address, secret, WIRE_PEER_CLIENT);
    struct wire_kv_watch watch = {.key = SLICE("c"), .channel = true};
    (void)wireclient_ask(&watcher, WIRE_KV_WATCH, &watch, WIRE_KV_EVENT);
    wireclient_open(&waiter, server.address, secret, WIRE_PEER_CLIENT);
    struct wire_name target = {slice_str(own)};
    struct wire_wait wait = {.targets = {&target, 1}};
    (void)wireclient_send(&waiter, WIRE_WAIT, &wait);
    webclient_open(&channel, server.address, NULL);
    snprintf(text, sizeof text, "*2\r\n$4\r\nAUTH\r\n$%zu\r\n%s\r\n*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n",
             strlen(secret), secret);
    webclient_send(&channel, text);
    (void)webclient_until(&channel, "subscribe");
    webclient_open(&events, server.address, secret);
    webclient_ask_only(&events, "GET", "/api/v1/store/events?key=c&channel=true", NULL);
    (void)webclient_until(&events, "event-stream");
    webclient_open(&upload, server.address, NULL);
    snprintf(
        text, sizeof text,
        "POST /api/v1/blobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 9\r\n\r\nhalf",
        secret);
    webclient_send(&upload, text);
    write_file("t1.go", "");
    with_id(args, sizeof args, "wait @ --server $S", own);
    realshell_must(&shell, args);
    realshell_must(&shell, "kv publish c later --server $S");
    while (wireclient_next(&watcher, WIRECLIENT_WAIT_MS, &got)) assert_int_not_equal(got.op, WIRE_KV_EVENT);
    while (wireclient_next(&waiter, WIRECLIENT_WAIT_MS, &got)) assert_int_not_equal(got.op, WIRE_PONG);
    assert_null(strstr(rest_of(&channel), "later"));
    assert_null(strstr(rest_of(&events), "later"));
    assert_has(rest_of(&upload), "HTTP/1.1 403");
    webclient_open(&late, server.address, secret);
    struct webgot said = webclient_ask(&late, "POST", "/api/v1/blobs", "too late");
    assert_int_equal(said.status, 401);
    wireclient_close(&watcher);
    wireclient_close(&waiter);
    webclient_close(&channel);
    webclient_close(&events);
    webclient_close(&upload);
    webclient_close(&late);
}

static void another_attempt_has_another_token(void **state) {
    (void)state;
    char text[512], first[200], id[32], args[128];
    worker_start();
    snprintf(
        text, sizeof text,
        "jobs: {a: {retries: 1, backoff: {base: 1ms, jitter: 1ms}, run: 'echo $REEVE_TOKEN > %s/try$REEVE_ATTEMPT; "
        "[ $REEVE_ATTEMPT = 2 ] || exit 1; while [ ! -e %s/go ]; do sleep 0.05; done'}}",
        server.data, server.data);
    snprintf(id, sizeof id, "%s", submit("", text));
    snprintf(first, sizeof first, "REEVE_TOKEN=%s", line_of("try1"));
    char second[200];
    snprintf(second, sizeof second, "REEVE_TOKEN=%s", line_of("try2"));
    with_id(args, sizeof args, "ls @ --server $S", id);
    realshell_refused(&shell, first, args, 4, "has ended");
    assert_int_equal(realshell_run(&shell, second, args), 0);
    char *digit = &second[strlen(second) - 1]; /* of the proof */
    *digit = *digit == '0' ? '1' : '0';
    realshell_refused(&shell, second, args, 4, "invalid token");
    write_file("go", "");
}

static void a_token_survives_a_killed_server(void **state) {
    (void)state;
    char own[32], token[200], args[128];
    server.flags[0] = "--listen"; /* the worker has to find it again */
    worker_start();
    (void)waiting_job("t1", own, token);
    server.flags[1] = server.address;
    char address[64];
    memcpy(address, server.address, sizeof address);
    server.flags[1] = address;
    realserver_kill(&server);
    realserver_start(&server);
    with_id(args, sizeof args, "ls @ --server $S", own);
    assert_int_equal(realshell_run(&shell, token, args), 0);
    write_file("t1.go", "");
    with_id(args, sizeof args, "wait @ --server $S", own);
    realshell_must(&shell, args);
    assert_null(strstr(shell.said, "failed"));
}

/* ---- adding jobs ---- */

static void a_job_adds_to_its_own_flow_within_its_means(void **state) {
    (void)state;
    char own[32], other[32], token[200], args[256];
    worker_start();
    snprintf(other, sizeof other, "%s", submit("", "jobs: {a: {sleep: 10m}}"));
    (void)waiting_job("t1", own, token);
    write_file("good.yaml", "jobs: {first: {run: 'true'}, second: {needs: [agent, first], run: 'true'}}");
    write_file("pool.yaml", "jobs: {x: {pool: gpu, run: 'true'}}");
    write_file("taken.yaml", "jobs: {agent: {run: 'true'}}");
    write_file("nobody.yaml", "jobs: {x: {needs: nobody, run: 'true'}}");
    with_id(args, sizeof args, "add @ $D/pool.yaml --server $S", own);
    realshell_refused(&shell, token, args, 4, "its own pools only");
    with_id(args, sizeof args, "add @ $D/taken.yaml --server $S", own);
    assert_int_not_equal(realshell_run(&shell, token, args), 0);
    with_id(args, sizeof args, "add @ $D/nobody.yaml --server $S", own);
    assert_int_not_equal(realshell_run(&shell, token, args), 0);
    assert_non_null(strstr(shell.said, "nobody"));
    with_id(args, sizeof args, "add @ $D/good.yaml --server $S", other);
    realshell_refused(&shell, token, args, 5, "there is no flow");
    realshell_refused(&shell, token, "add $D/good.yaml --server $S", 2, "name the flow before the file");
    char inside[256];
    snprintf(inside, sizeof inside, "%s REEVE_JOB=%s/agent", token, own);
    if (realshell_run(&shell, inside, "add $D/good.yaml --server $S") != 0) fail_msg("%s", shell.said);
    with_id(args, sizeof args, "wait @/first --server $S", own);
    realshell_must(&shell, args);
    write_file("t1.go", "");
    with_id(args, sizeof args, "wait @ --server $S", own);
    realshell_must(&shell, args);
    /* somebody else may add as long as it runs */
    with_id(args, sizeof args, "add @ $D/good.yaml --server $S", own);
    realshell_refused(&shell, "", args, 6, "the flow has finished");
    with_id(args, sizeof args, "add @ $D/pool.yaml --server $S", other);
    realshell_must(&shell, args);
}

/* ---- tenants ---- */

static void token_for(const char *tenant, const char *role, char variable[120]) {
    char args[128];
    snprintf(args, sizeof args, "token new %s-%s --role %s --tenant %s --server $S", tenant, role, role, tenant);
    realshell_must(&shell, args);
    const char *token = strstr(shell.said, "rv_");
    assert_non_null(token);
    snprintf(variable, 120, "REEVE_TOKEN=%.67s", token);
}

/* ---- rights that its submitter gave ---- */

static void a_token_with_read_sees_the_tenant_and_changes_nothing(void **state) {
    (void)state;
    char own[32], other[32], foreign[32], token[200], acme[120], args[256];
    worker_start();
    token_for("acme", "submitter", acme);
    snprintf(other, sizeof other, "%s", submit("", "name: other\njobs: {a: {sleep: 10m}}"));
    snprintf(foreign, sizeof foreign, "%s", submit(acme, "name: foreign\njobs: {a: {sleep: 10m}}"));
    (void)waiting_job_as("", "token: read", "t1", own, token);
    static const char *const allowed[] = {"ls @ --server $S", "show @/a --server $S", "logs @/a --server $S",
                                          "why @/a --server $S", "events --flow @ --server $S"};
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        with_id(args, sizeof args, allowed[i], other);
        if (realshell_run(&shell, token, args) != 0) fail_msg("%s: %s", args, shell.said);
        with_id(args, sizeof args, allowed[i], foreign);
        realshell_refused(&shell, token, args, 5, "no flow");
    }
    assert_int_equal(realshell_run(&shell, token, "ls --server $S"), 0);
    assert_non_null(strstr(shell.said, "other"));
    assert_null(strstr(shell.said, "foreign"));
    with_id(args, sizeof args, "cancel @ --server $S", other);
    realshell_refused(&shell, token, args, 4, "is not allowed to cancel");
    realshell_refused(&shell, token, "submit $D/flow.yaml --server $S", 4, "is not allowed to submit");
    write_file("more.yaml", "jobs: {x: {run: 'true', token: submit}}");
    with_id(args, sizeof args, "add @ $D/more.yaml --server $S", own);
    realshell_refused(&shell, token, args, 4, "cannot give");
    write_file("more.yaml", "jobs: {x: {run: 'true', token: read}}");
    if (realshell_run(&shell, token, args) != 0) fail_msg("%s", shell.said);
    with_id(args, sizeof args, "add @ $D/more.yaml --server $S", other);
    realshell_refused(&shell, token, args, 4, "its own flow only");
    write_file("t1.go", "");
}

static void a_token_with_submit_submits_within_the_bounds_of_its_job(void **state) {
    (void)state;
    char own[32], id[32], token[200], args[256];
    worker_start();
    (void)waiting_job_as("", "token: [submit], priority: 2", "t1", own, token);
    snprintf(id, sizeof id, "%s", submit(token, "jobs: {x: {run: 'true', priority: 9, token: [read, submit]}}"));
    with_id(args, sizeof args, "wait @ --server $S", id);
    if (realshell_run(&shell, token, args) != 0) fail_msg("%s", shell.said);
    snprintf(id, sizeof id, "%s", submit(token, "jobs: {x: {sleep: 10m}}"));
    with_id(args, sizeof args, "cancel @ --server $S", id);
    if (realshell_run(&shell, token, args) != 0) fail_msg("%s", shell.said);
    write_file("pool.yaml", "jobs: {x: {pool: gpu, run: 'true'}}");
    realshell_refused(&shell, token, "submit $D/pool.yaml --server $S", 4, "its own pools only");
    write_file("cron.yaml", "name: cron\nschedule: '* * * * *'\njobs: {x: {run: 'true'}}");
    realshell_refused(&shell, token, "schedule add $D/cron.yaml --server $S", 4, "cannot set schedules");
    realshell_refused(&shell, token, "console --server $S", 4, "");
    realshell_refused(&shell, token, "drain w --server $S", 4, "is not allowed to");
    realshell_refused(&shell, token, "token ls --server $S", 4, "is not allowed to");
    with_id(args, sizeof args, "journal dump --data $D | grep -q 'job:@/agent#1'", own); /* who it was is recorded */
    realshell_must(&shell, args);
    write_file("t1.go", "");
    with_id(args, sizeof args, "wait @ --server $S", own);
    realshell_must(&shell, args);
    realshell_refused(&shell, token, "submit $D/flow.yaml --server $S", 4, "has ended");
}

static void a_sandboxed_job_submits_no_job_without_one(void **state) {
    (void)state;
    char own[32], token[200];
    worker_start();
    (void)waiting_job_as("", "token: submit, sandbox: net-off", "t1", own, token);
    write_file("free.yaml", "jobs: {x: {run: 'true'}}");
    realshell_refused(&shell, token, "submit $D/free.yaml --server $S", 4, "at least as strict");
    write_file("free.yaml", "jobs: {x: {run: 'true', sandbox: strict}}");
    if (realshell_run(&shell, token, "submit $D/free.yaml --server $S") != 0) fail_msg("%s", shell.said);
    write_file("t1.go", "");
}

static void a_worker_never_gets_the_jobs_of_another_tenant(void **state) {
    (void)state;
    char acme[120], globex[120], of_acme[120], args[256], id[32];
    token_for("acme", "submitter", acme);
    token_for("globex", "submitter", globex);
    token_for("acme", "worker", of_acme);
    snprintf(args, sizeof args, "--token %s --data $D/w", of_acme + strlen("REEVE_TOKEN="));
    worker = realshell_worker(&shell, args);
    realshell_worker_says(&shell, "attached");
    snprintf(id, sizeof id, "%s", submit(globex, "jobs: {a: {run: 'true'}}"));
    if (realshell_run(&shell, acme, "run --server $S -- echo mine") != 0) fail_msg("%s", shell.said);
    with_id(args, sizeof args, "why @/a --server $S", id);
    realshell_must(&shell, args);
    assert_non_null(strstr(shell.said, "serve other tenants"));
    with_id(args, sizeof args, "ls @ --server $S", id);
    realshell_refused(&shell, acme, args, 5, "there is no flow");
    realshell_must(&shell, "workers --server $S");
    assert_non_null(strstr(shell.said, "acme"));
    assert_int_equal(realshell_run(&shell, globex, "workers --server $S"), 0);
    assert_null(strstr(shell.said, "acme"));
    /* a token of one tenant does not serve another */
    snprintf(args, sizeof args, "--token %s --tenant globex --data $D/w2", of_acme + strlen("REEVE_TOKEN="));
    pid_t wrong = realshell_worker(&shell, args);
    realshell_worker_says(&shell, "this token is limited to tenant acme");
    realshell_end(wrong);
    /* one that is for all says whom it serves */
    snprintf(args, sizeof args, "--token %s --tenant globex --data $D/w3", server.worker);
    pid_t right = realshell_worker(&shell, args);
    with_id(args, sizeof args, "wait @ --server $S", id);
    realshell_must(&shell, args);
    realshell_end(right);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_sees_its_own_flow_and_nothing_else, setup, teardown),
        cmocka_unit_test_setup_teardown(a_token_dies_with_its_attempt, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_job_has_open_ends_with_its_attempt, setup, teardown),
        cmocka_unit_test_setup_teardown(another_attempt_has_another_token, setup, teardown),
        cmocka_unit_test_setup_teardown(a_token_survives_a_killed_server, setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_adds_to_its_own_flow_within_its_means, setup, teardown),
        cmocka_unit_test_setup_teardown(a_token_with_read_sees_the_tenant_and_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_token_with_submit_submits_within_the_bounds_of_its_job, setup, teardown),
        cmocka_unit_test_setup_teardown(a_sandboxed_job_submits_no_job_without_one, setup, teardown),
        cmocka_unit_test_setup_teardown(a_worker_never_gets_the_jobs_of_another_tenant, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
