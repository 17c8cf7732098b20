/* clock_test.c: the built server on a machine whose clock is wrong: one start far ahead costs nothing once the clock is
 * right again, and a clock that jumps while the server runs is told to those who look after it. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "falseclock.h"
#include "realserver.h"
#include "realworker.h"
#include "webclient.h"

#define DAY_MS INT64_C(86400000)
#define TEN_YEARS_MS (3650 * DAY_MS)

static struct realserver server;
static struct realworker worker; /* comes back after each restart */
static struct webclient web;

/* Flows leave memory as soon as the history has them. */
static int setup(void **state) {
    (void)state;
    falseclock_begin();
    realserver_make(&server);
    static const char *const flags[] = {"--retention-ms", "0", "--dead-letter-ms", "0"};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[i] = flags[i];
    realserver_start(&server);
    realworker_make(&worker, &server, "w");
    realworker_start(&worker, &server);
    webclient_open(&web, server.address, server.admin);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    webclient_close(&web);
    (void)realworker_stop(&worker);
    realserver_remove(&server);
    falseclock_end();
    return 0;
}

static void restart(int64_t ahead_ms) {
    webclient_close(&web);
    assert_int_equal(realserver_stop(&server), 0);
    falseclock_set(ahead_ms);
    realserver_start(&server);
    webclient_open(&web, server.address, server.admin);
}

static const char *ask(const char *verb, const char *path, const char *body) {
    struct webgot got = webclient_ask(&web, verb, path, body);
    if (got.status < 200 || got.status > 299) fail_msg("%s %s: %d %s", verb, path, got.status, got.body);
    return got.body;
}

/* The number behind a key that is written so; 0: it is left out. */
static int64_t number_in(const char *text, const char *key) {
    char quoted[80];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(text, quoted);
    return at == NULL ? 0 : strtoll(at + strlen(quoted), NULL, 10);
}

static int64_t stat_of(const char *name) {
    const char *text = ask("GET", "/api/v1/stats", NULL);
    char quoted[80];
    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    if (strstr(text, quoted) == NULL) fail_msg("the stats have no %s: %s", name, text);
    return number_in(text, name);
}

static void until_stat(const char *name, int64_t value) {
    for (uint32_t i = 0; i < 100000 && stat_of(name) != value; i++) {
    } /* the answer is the event */
    assert_int_equal(stat_of(name), value);
}

static void submit(const char *name, const char *job, char ret[64]) {
    char body[200];
    snprintf(body, sizeof body, "{\"name\": \"%s\", \"jobs\": {\"a\": %s}}", name, job);
    struct webgot got = webclient_ask(&web, "POST", "/api/v1/flows", body);
    if (got.status != 201) fail_msg("%s", got.body);
    snprintf(ret, 64, "%s", webgot_text(&web, &got, "flow"));
}

static void wait_for(const char *flow) {
    char path[120];
    snprintf(path, sizeof path, "/api/v1/flows/%s/wait?timeout_ms=15000", flow);
    assert_has(ask("GET", path, NULL), "succeeded");
}

/* How often the schedule made a flow. */
static int64_t fired(void) {
    return number_in(ask("GET", "/api/v1/schedules", NULL), "fired");
}

static void until_fired(int64_t least) {
    for (uint32_t i = 0; i < 100000 && fired() < least; i++) {
    }
    assert_true(fired() >= least);
}

static void has_flow(const char *flow) {
    char path[80];
    snprintf(path, sizeof path, "/api/v1/flows/%s", flow);
    assert_has(ask("GET", path, NULL), "\"succeeded\"");
}

static int64_t now_ms(void) {
    return (int64_t)time(NULL) * 1000;
}

static void one_start_ten_years_ahead_costs_nothing(void **state) {
    (void)state;
    char before[64], ahead[64], delayed[64], after[64], path[80];
    submit("before", "{\"noop\": true}", before);
    wait_for(before);
    until_stat("history_flows", 1);

    restart(TEN_YEARS_MS);
    assert_int_equal(stat_of("clock_steps"), 0); /* it cannot know */
    submit("ahead", "{\"noop\": true}", ahead);
    wait_for(ahead);
    until_stat("history_flows", 2);
    (void)ask("PUT", "/api/v1/schedules/tick",
              "{\"expression\": \"every 1s\", \"flow\": {\"spec\": {\"jobs\": {\"a\": {\"noop\": true}}}}}");
    until_fired(1);
    submit("delayed", "{\"noop\": true, \"delay\": \"6s\"}", delayed);

    restart(0);
    until_stat("clock_steps", 1);
    assert_int_equal(stat_of("clock_apart_seconds"), 0);
    const char *audit = ask("GET", "/api/v1/audit?kind=clock", NULL);
    assert_has(audit, " by_ms=-315"); /* ten years, and what the starts took */
    wait_for(delayed);                /* the rest of its wait, and not ten years */
    until_fired(fired() + 1);
    has_flow(before);
    has_flow(ahead);
    submit("after", "{\"noop\": true}", after);
    snprintf(path, sizeof path, "/api/v1/flows/%s", after);
    int64_t created_ms = number_in(ask("GET", path, NULL), "created_ms");
    assert_in_range(created_ms, now_ms() - DAY_MS, now_ms() + DAY_MS);

    restart(0); /* and that is the end of it */
    assert_int_equal(stat_of("clock_steps"), 0);
    has_flow(before);
}

/* By somebody without a token. */
static void says(const char *path, const char *text) {
    char request[80];
    struct webclient c = {0};
    snprintf(request, sizeof request, "GET %s HTTP/1.0\r\n\r\n", path);
    assert_has(webclient_once(&c, server.address, request, 200).body, text);
    webclient_close(&c);
}

static void a_clock_that_jumps_is_told(void **state) {
    (void)state;
    says("/readyz", "{\"status\":\"ok\"}\n");
    assert_int_equal(stat_of("clock_apart_seconds"), 0);

    falseclock_set(DAY_MS);
    says("/readyz", "\"status\":\"ok\",\"note\":\"this machine's clock is 86"); /* it takes work all the same */
    says("/readyz", " s ahead of the journal's clock");
    assert_in_range(stat_of("clock_apart_seconds"), 86300, 86500);
    assert_has(ask("GET", "/metrics", NULL), "\nreeve_clock_apart_seconds 86");
    assert_true(realserver_says(&server, " s ahead of the journal's clock"));
    says("/healthz", "{\"status\":\"ok\"}\n"); /* it runs */

    falseclock_set(-DAY_MS);
    says("/readyz", " s behind the journal's clock");
    assert_in_range(stat_of("clock_apart_seconds"), 86300, 86500);

    falseclock_set(0);
    says("/readyz", "{\"status\":\"ok\"}\n");
    assert_int_equal(stat_of("clock_apart_seconds"), 0);
    assert_int_equal(stat_of("clock_steps"), 0); /* what jumps about is not believed */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_start_ten_years_ahead_costs_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_clock_that_jumps_is_told, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
