/* audit_forward_test.c: the audit trail handed on to a real receiver: one that refuses at first, one that is not there,
 * and a file; over kills of the server. Nothing is lost, and nothing comes out of order. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"
#include "webserver.h"

static struct realserver server;
static struct realcli cli;
static char target[128], kept[128];

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    snprintf(cli.data, sizeof cli.data, "%s", server.data);
    snprintf(kept, sizeof kept, "%s/audit.forwarded", server.data);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realserver_remove(&server);
    return 0;
}

static void start(const char *where) {
    snprintf(target, sizeof target, "%s", where);
    server.flags[0] = "--audit-forward";
    server.flags[1] = target;
    realserver_start(&server);
}

static void change(uint32_t width) {
    char words[64];
    snprintf(words, sizeof words, "limit key gpu %u", width);
    (void)realcli_ok(&cli, words, NULL);
}

/* Until the child has kept a position at or behind what was durable when this was called. */
static void wait_for_all(void) {
    unsigned long long lsn = 0, want = 0;
    const char *stats = realcli_ok(&cli, "audit --all --limit 1 --json", NULL).out;
    assert_int_equal(sscanf(stats, "{\"records\":[{\"lsn\":%llu", &want), 1);
    while (lsn < want) {
        FILE *f = fopen(kept, "re");
        if (f != NULL && fscanf(f, "%llu", &lsn) != 1) lsn = 0;
        if (f != NULL) (void)fclose(f);
        (void)realcli_ok(&cli, "stats", NULL); /* it takes a while, and the server goes on */
    }
}

static char *file_text(const char *path) {
    static char text[1 << 20];
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    size_t len = fread(text, 1, sizeof text - 1, f);
    text[len] = 0;
    (void)fclose(f);
    return text;
}

/* ---- a file ---- */

static void a_file_gets_everything_once_in_order_over_a_kill(void **state) {
    (void)state;
    char path[128], where[160];
    snprintf(path, sizeof path, "%s/trail.jsonl", server.data);
    snprintf(where, sizeof where, "file:%s", path);
    start(where);
    for (uint32_t i = 1; i <= 5; i++) change(i);
    wait_for_all();
    realserver_kill(&server);
    FILE *f = fopen(path, "ae"); /* as if it had died in the middle of a line */
    assert_true(f != NULL && fputs("{\"what\":\"rec", f) >= 0 && fclose(f) == 0);
    start(where);
    for (uint32_t i = 6; i <= 9; i++) change(i);
    wait_for_all();
    const char *at = file_text(path);
    for (uint32_t i = 1; i <= 9; i++) {
        char words[32];
        snprintf(words, sizeof words, "width=%u\"", i);
        const char *found = strstr(at, words);
        if (found == NULL) fail_msg("%s is missing, or out of order", words);
        assert_null(strstr(found + 1, words));
        at = found;
    }
    snprintf(where, sizeof where, "audit verify --from %s", path);
    (void)realcli_ok(&cli, where, NULL); /* a stream proves itself, too */
    assert_int_equal(realserver_stop(&server), 0);
}

/* ---- a server ---- */

static void a_server_that_refuses_gets_it_when_it_no_longer_does(void **state) {
    (void)state;
    struct webserver web;
    char where[128];
    webserver_start(&web);
    snprintf(where, sizeof where, "http://127.0.0.1:%u/flaky/3/audit", web.port);
    start(where);
    change(3);
    assert_true(realserver_says(&server, "it answered 503"));
    assert_true(realserver_says(&server, "the audit trail is handed on again"));
    change(4);
    wait_for_all();
    const char *asked = webserver_asked(&web);
    assert_non_null(strstr(asked, "Content-Type: application/x-ndjson"));
    assert_int_equal(webserver_count(&web, "\"what\":\"export\""), 4); /* refused three times, and taken */
    asked = webserver_asked(&web);
    const char *older = strstr(asked, "width=3"), *newer = strstr(asked, "width=4");
    assert_true(older != NULL && newer != NULL && older < newer);
    assert_int_equal(realserver_stop(&server), 0);
    webserver_stop(&web);
}

static void a_server_that_is_not_there_keeps_nobody_waiting(void **state) {
    (void)state;
    struct webserver web;
    char where[128];
    webserver_start(&web);
    snprintf(where, sizeof where, "http://127.0.0.1:%u/echo", web.port);
    webserver_stop(&web);
    start(where);
    change(3);
    assert_true(realserver_says(&server, "127.0.0.1"));
    change(4);
    assert_has(realcli_ok(&cli, "stats", NULL).out, "audit_forward_failing");
    assert_int_equal(realserver_stop(&server), 0);
}

/* ---- mistakes ---- */

static void a_target_that_others_could_read_is_refused(void **state) {
    (void)state;
    server.flags[0] = "--audit-forward";
    server.flags[1] = "http://logs.example.org/audit";
    realserver_refuses(&server, "is not on this machine: use https://");
    server.flags[1] = "logs.example.org";
    realserver_refuses(&server, "expected file:/PATH or https://HOST/PATH");
}

#define FORWARD_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        FORWARD_TEST(a_file_gets_everything_once_in_order_over_a_kill),
        FORWARD_TEST(a_server_that_refuses_gets_it_when_it_no_longer_does),
        FORWARD_TEST(a_server_that_is_not_there_keeps_nobody_waiting),
        FORWARD_TEST(a_target_that_others_could_read_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
