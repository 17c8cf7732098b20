/* replica_test.c: services with replicas and updates without a gap, on real workers: a client that tries the replicas
 * in turn finds one at every moment of an update. The service is this program (tests/lib/realservice.h). */
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "realserver.h"
#include "realservice.h"
#include "realshell.h"
#include "realworker.h"

#define WAIT_MS 60000
#define HERE "REEVE_DATA=$D"

static struct realserver server;
static struct realworker first, second;
static struct realshell h = {&server, ""};

static void must(const char *args) {
    int code = realshell_run(&h, HERE, args);
    if (code != 0) fail_msg("reeve %s: exit %d: %s", args, code, h.said);
}

static void refused(const char *args, int code, const char *words) {
    realshell_refused(&h, HERE, args, code, words);
}

/* A value in a line of JSON, or "". */
static const char *value_in(const char *line, const char *key, char *ret, size_t size) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\":", key);
    const char *at = strstr(line, wanted);
    ret[0] = 0;
    if (at == NULL) return ret;
    at += strlen(wanted) + (at[strlen(wanted)] == '"');
    snprintf(ret, size, "%.*s", (int)strcspn(at, "\",}"), at);
    return ret;
}

static const char *value_of(const char *name, const char *key) {
    static char value[256];
    char args[64];
    snprintf(args, sizeof args, "services %s --json", name);
    must(args);
    return value_in(h.said, key, value, sizeof value);
}

static int start_s; /* for so long after its start a service listens nowhere */

static const char *flow_file(const char *name, const char *word, const char *keys) {
    static char path[192];
    snprintf(path, sizeof path, "%s/%s.yaml", server.data, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f,
            "jobs:\n  %s:\n    kill_grace: 5s\n    service:\n"
            "      run: 'sleep %d; exec %s --serve %s %s-$REEVE_REPLICA'\n"
            "      port: auto\n      health: {http: /, interval: 50ms}\n      healthy_within: 30s\n%s",
            name, start_s, realservice_self(), server.data, word, keys);
    (void)fclose(f);
    return path;
}

static void deploy(const char *name, const char *word, const char *keys, const char *args) {
    char all[384];
    snprintf(all, sizeof all, "deploy %s %s", flow_file(name, word, keys), args);
    must(all);
}

/* Asks the replicas in turn, where each answers by what the server says; true when one does. */
static bool one_answers(const char *name) {
    char args[64], said[16384], text[32];
    snprintf(args, sizeof args, "services %s -o jsonl", name);
    must(args);
    snprintf(said, sizeof said, "%s", h.said);
    for (char *line = said, *next; line != NULL && *line != 0; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) *next++ = 0;
        bool old = strcmp(value_in(line, "previous_healthy", text, sizeof text), "true") == 0;
        uint32_t port = (uint32_t)strtoul(value_in(line, old ? "previous_port" : "port", text, sizeof text), NULL, 10);
        if (port != 0 && realservice_ask(port).status == 200) return true;
    }
    return false;
}

/* Questions that no replica answered, nor when the server was asked anew where they are, until the flow is over. */
static uint32_t count_gaps(const char *name, const char *flow) {
    char args[64];
    uint32_t gaps = 0;
    snprintf(args, sizeof args, "show %s --json", flow);
    for (;;) {
        gaps += !one_answers(name) && !one_answers(name);
        must(args);
        if (strstr(h.said, "\"state\":\"running\"") == NULL) break;
    }
    assert_has(h.said, "\"state\":\"succeeded\"");
    return gaps;
}

static const char *update(const char *name, const char *word, const char *keys) {
    static char id[32];
    deploy(name, word, keys, "-d");
    snprintf(id, sizeof id, "%.*s", (int)strcspn(h.said, "\n"), h.said);
    return id;
}

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    server.flags[0] = "--lease-ms";
    server.flags[1] = "4000";
    server.flags[2] = "--heartbeat-ms";
    server.flags[3] = "200";
    realserver_start(&server);
    realworker_make(&first, &server, "first");
    realworker_make(&second, &server, "second");
    realworker_start(&first, &server);
    realworker_start(&second, &server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    if (first.pid != 0) realworker_kill(&first);
    if (second.pid != 0) realworker_kill(&second);
    realserver_remove(&server);
    return 0;
}

#define BOTH "      replicas: 2\n      max_parallel: 2\n" /* at once, so that both are away if they stop first */

static void an_update_that_starts_first_has_no_gap(void **state) {
    (void)state;
    start_s = 3;
    deploy("web", "v1", BOTH, "");
    assert_has(h.said, "web.1  healthy, version 1");
    assert_has(h.said, "web.2  healthy, version 1");
    assert_true(count_gaps("web", update("web", "v2", BOTH)) > 0); /* this client sees one */
    assert_int_equal(count_gaps("web", update("web", "v3", BOTH "      update: start_first\n")), 0);
    must("services web");
    assert_has(h.said, "healthy");
    assert_string_equal(value_of("web.1", "version"), "3");
    assert_string_equal(value_of("web.2", "update"), "start_first");
    must("undeploy web");
    refused("services web", 5, "there is no service web");
}

static void the_old_version_survives_a_server_that_is_killed_in_between(void **state) {
    (void)state;
    start_s = 3;
    deploy("api", "v1", "", "");
    uint32_t port = (uint32_t)strtoul(value_of("api", "port"), NULL, 10);
    pid_t pid = realservice_ask(port).pid;
    const char *flow = update("api", "v2", "      update: start_first\n");
    char args[64];
    while (strcmp(value_of("api", "overlaps"), "true") != 0) continue;
    realserver_kill(&server);
    realserver_start(&server);
    assert_int_equal(realservice_ask(port).pid, pid);
    assert_int_equal(count_gaps("api", flow), 0);
    assert_string_equal(value_of("api", "version"), "2");
    snprintf(args, sizeof args, "deploy %s --healthy-within 1s", flow_file("api", "v3", "      update: start_first\n"));
    port = (uint32_t)strtoul(value_of("api", "port"), NULL, 10);
    pid = realservice_ask(port).pid;
    refused(args, 1, "rolled back to version 2"); /* it listens after three seconds at the earliest */
    assert_int_equal(realservice_ask(port).pid, pid);
    assert_string_equal(value_of("api", "healthy"), "true"); /* and never was anything else */
    must("undeploy api");
}

static void a_set_is_scaled_and_told(void **state) {
    (void)state;
    start_s = 0;
    deploy("pool", "v1", "      replicas: 1\n", "");
    must("scale pool=3");
    assert_has(h.said, "pool.2  healthy");
    assert_has(h.said, "pool.3  healthy");
    assert_string_equal(realservice_ask((uint32_t)strtoul(value_of("pool.3", "port"), NULL, 10)).word, "v1-3");
    char one[64], two[64];
    snprintf(one, sizeof one, "%s", value_of("pool.1", "worker"));
    snprintf(two, sizeof two, "%s", value_of("pool.2", "worker"));
    assert_string_not_equal(one, two); /* spread */
    must("restart pool");
    assert_string_equal(value_of("pool.2", "restarts"), "1");
    must("logs pool");
    assert_has(h.said, "pool.1");
    assert_has(h.said, "v1-1 begins, attempt 2");
    assert_has(h.said, "v1-3 begins, attempt 2");
    must("stop pool.2");
    assert_string_equal(value_of("pool.2", "state"), "stopped");
    assert_string_equal(value_of("pool.1", "state"), "running");
    must("stop pool");
    must("start pool");
    assert_string_equal(value_of("pool.3", "healthy"), "true");
    must("scale pool=1");
    refused("services pool.2", 5, "there is no service pool.2");
    must("services pool.1");
    must("undeploy pool");
    refused("stop pool", 5, "there is no service pool");
}

static void what_cannot_be_is_refused_in_words(void **state) {
    (void)state;
    char args[384];
    snprintf(args, sizeof args, "deploy %s --port 8080 --replicas 2", flow_file("no", "v1", ""));
    refused(args, 2, "cannot share port 8080");
    snprintf(args, sizeof args, "deploy %s --update later", flow_file("no", "v1", ""));
    refused(args, 2, "expected stop_first or start_first, found `later`");
    snprintf(args, sizeof args, "deploy %s", flow_file("no", "v1", "      update: start_first\n    exclusive: true\n"));
    refused(args, 2, "`exclusive: true` forbids");
    refused("scale no=2", 5, "there is no service no");
    refused("scale no", 2, "expected NAME=N");
    refused("scale no=0", 2, "between 1 and 256");
    snprintf(args, sizeof args, "%s --replicas 2 --update start_first", flow_file("no", "v1", ""));
    char all[448];
    snprintf(all, sizeof all, "deploy %s", args);
    must(all); /* flags over the file */
    assert_has(h.said, "no.2  healthy");
    refused("show no", 2, "name one of them, like no.1");
    must("undeploy no");
}

int main(int argc, char **argv) {
    realservice_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_that_starts_first_has_no_gap),
        cmocka_unit_test(the_old_version_survives_a_server_that_is_killed_in_between),
        cmocka_unit_test(a_set_is_scaled_and_told),
        cmocka_unit_test(what_cannot_be_is_refused_in_words),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
