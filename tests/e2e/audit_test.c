/* audit_test.c: the journal as an audit trail over HTTP: every record once, newest first, over many segments and the
 * archive, by filter; and only for those who may read it. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "openapi.h"
#include "realserver.h"
#include "webclient.h"

static struct realserver server;
static struct webclient client;
static struct openapi document;

#define FLOWS 150

static struct webgot ask(const char *verb, const char *path, const char *body, int status) {
    struct webgot got = webclient_ask(&client, verb, path, body);
    if (got.status != status) fail_msg("%s %s: %d, not %d: %s", verb, path, got.status, status, got.body);
    if (!openapi_allows(&document, verb, path, got.status, got.body))
        fail_msg("%s %s is not as in docs/openapi.yaml: %s: %s", verb, path, document.place, got.body);
    return got;
}

static int group_setup(void **state) {
    (void)state;
    openapi_open(&document, "docs/openapi.yaml");
    realserver_make(&server);
    server.flags[0] = "--segment-bytes"; /* so that there are many, and most of them in the archive */
    server.flags[1] = "131072";
    server.flags[2] = "--compact-bytes";
    server.flags[3] = "400000";
    realserver_start(&server);
    webclient_open(&client, server.address, server.admin);
    for (int i = 0; i < FLOWS; i++) {
        char flow[200];
        snprintf(flow, sizeof flow, "{\"name\": \"n%d\", \"jobs\": {\"a\": {\"noop\": true}, \"b\": {\"noop\": true}}}",
                 i);
        (void)ask("POST", "/api/v1/flows", flow, 201);
    }
    return 0;
}

static int group_teardown(void **state) {
    (void)state;
    webclient_close(&client);
    realserver_remove(&server);
    openapi_close(&document);
    return 0;
}

static uint32_t count_of(const char *text, const char *word) {
    uint32_t n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word)) n++;
    return n;
}

/* All pages; LSNs fall by one from record to record, down to the first. How many pages there were. */
static uint32_t read_all(uint32_t most, uint64_t *ret_records) {
    char path[200], cursor[64] = "";
    uint64_t last = 0, records = 0;
    uint32_t pages = 0;
    do {
        snprintf(path, sizeof path, "/api/v1/audit?most=%u%s%s", most, cursor[0] != 0 ? "&cursor=" : "", cursor);
        struct webgot got = ask("GET", path, NULL, 200);
        for (const char *at = got.body; (at = strstr(at, "{\"lsn\":")) != NULL; at++) {
            uint64_t lsn = strtoull(at + 7, NULL, 10);
            if (last != 0 && lsn != last - 1)
                fail_msg("record %llu after %llu", (unsigned long long)lsn, (unsigned long long)last);
            last = lsn;
            records++;
        }
        pages++;
        bool more = strstr(got.body, "\"cursor\":") != NULL;
        snprintf(cursor, sizeof cursor, "%s", more ? webgot_text(&client, &got, "cursor") : "");
    } while (cursor[0] != 0);
    assert_int_equal(last, 1);
    *ret_records = records;
    return pages;
}

static void every_record_is_told_once_newest_first(void **state) {
    (void)state;
    uint64_t first = 0, second = 0;
    assert_true(read_all(50, &first) > 3);
    assert_true(first >= FLOWS);
    (void)read_all(7, &second);
    assert_true(second >= first);
}

static void filters_choose(void **state) {
    (void)state;
    struct webgot got = ask("POST", "/api/v1/flows",
                            "{\"name\": \"special\", \"jobs\": {\"x\": {\"gate\": {}}, \"y\": {\"gate\": {}}}}", 201);
    char path[200], text[200];
    const char *id = webgot_text(&client, &got, "flow");
    snprintf(path, sizeof path, "/api/v1/jobs/%s/x/cancel", id);
    (void)ask("POST", path, "{\"reason\": \"no longer\"}", 200);
    snprintf(path, sizeof path, "/api/v1/audit?flow=%s", id);
    got = ask("GET", path, NULL, 200);
    assert_int_equal(count_of(got.body, "\"lsn\":"), 2);
    assert_true(strstr(got.body, "\"kind\":\"cancelled\"") < strstr(got.body, "\"kind\":\"submitted\""));
    snprintf(text, sizeof text, "\"target\":\"%s/x\"", id);
    assert_has(got.body, text);
    assert_has(got.body, "no longer");
    assert_has(got.body, "\"principal\":\"admin\"");
    assert_has(got.body, "2 jobs");
    got = ask("GET", "/api/v1/audit?kind=opened", NULL, 200);
    assert_int_equal(count_of(got.body, "\"kind\":\"opened\""), 1); /* the first of all, many segments back */
    got = ask("GET", "/api/v1/audit?kind=submitted&most=1000", NULL, 200);
    assert_int_equal(count_of(got.body, "\"lsn\":"), FLOWS + 1);
    got = ask("GET", "/api/v1/audit?principal=nobody", NULL, 200);
    assert_has(got.body, "\"records\":[]");
    got = ask("GET", "/api/v1/audit?people=true&most=1000", NULL, 200);
    assert_int_equal(count_of(got.body, "\"lsn\":"), count_of(got.body, "\"principal\":"));
    /* a condition is judged by the server: nobody did that */
    got = ask("POST", "/api/v1/flows", "{\"jobs\": {\"y\": {\"when\": \"1 == 2\", \"noop\": true}}}", 201);
    id = webgot_text(&client, &got, "flow");
    snprintf(path, sizeof path, "/api/v1/flows/%s/wait", id);
    (void)ask("GET", path, NULL, 200);
    assert_has(ask("GET", "/api/v1/audit?principal=server", NULL, 200).body, "\"kind\":\"verdict\"");
    assert_has_not(ask("GET", "/api/v1/audit?people=true&most=1000", NULL, 200).body, "\"principal\":\"server\"");
    got = ask("GET", "/api/v1/audit?until_ms=1000", NULL, 200);
    assert_has(got.body, "\"records\":[]");
    got = ask("GET", "/api/v1/audit?since_ms=1000&most=3", NULL, 200);
    assert_int_equal(count_of(got.body, "\"lsn\":"), 3);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    assert_has(ask("GET", "/api/v1/audit?kind=flown", NULL, 400).body, "no record kind");
    assert_has(ask("GET", "/api/v1/audit?cursor=x", NULL, 400).body, "cursor");
    assert_has(ask("GET", "/api/v1/audit?flow=f9zzzzzzzzz", NULL, 404).body, "no flow");
    struct webclient c;
    struct webgot got = ask("POST", "/api/v1/tokens", "{\"name\": \"v\", \"roles\": [\"viewer\"]}", 200);
    webclient_open(&c, server.address, webgot_text(&client, &got, "token"));
    assert_int_equal(webclient_ask(&c, "GET", "/api/v1/audit", NULL).status, 403);
    webclient_close(&c);
    got = ask("POST", "/api/v1/tokens", "{\"name\": \"t\", \"roles\": [\"operator\"], \"tenant\": \"acme\"}", 200);
    webclient_open(&c, server.address, webgot_text(&client, &got, "token"));
    got = webclient_ask(&c, "GET", "/api/v1/audit", NULL);
    assert_int_equal(got.status, 403);
    assert_has(got.body, "concerns all tenants");
    webclient_close(&c);
}

/* A restart forgets nothing of it. */
static void the_trail_survives_a_kill(void **state) {
    (void)state;
    uint64_t before = 0, after = 0;
    (void)read_all(1000, &before);
    webclient_close(&client);
    realserver_kill(&server);
    realserver_start(&server);
    webclient_open(&client, server.address, server.admin);
    (void)read_all(1000, &after);
    assert_true(after > before); /* that it was opened again is a record */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_told_once_newest_first),
        cmocka_unit_test(filters_choose),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(the_trail_survives_a_kill),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
