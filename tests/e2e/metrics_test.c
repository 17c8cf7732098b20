/* metrics_test.c: what Prometheus is told by the built server: well formed, right, the same after kill -9, and only for
 * those who may read it; and a dashboard that asks for nothing that is not there. */
#include "test.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "exposition.h"
#include "metric.h"
#include "realserver.h"
#include "realworker.h"
#include "webclient.h"

static struct realserver server;
static struct realworker worker;

static void scrape(struct exposition *ret) {
    struct webclient c;
    webclient_open(&c, server.address, server.admin);
    struct webgot got = webclient_ask(&c, "GET", "/metrics", NULL);
    assert_int_equal(got.status, 200);
    assert_has(got.head, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
    exposition_read(ret, got.body);
    webclient_close(&c);
}

/* Submits and waits for the end. */
static void run_flow(const char *flow) {
    struct webclient c;
    char path[200];
    webclient_open(&c, server.address, server.admin);
    struct webgot got = webclient_ask(&c, "POST", "/api/v1/flows", flow);
    if (got.status != 201) fail_msg("%s", got.body);
    snprintf(path, sizeof path, "/api/v1/flows/%s/wait", webgot_text(&c, &got, "flow"));
    got = webclient_ask(&c, "GET", path, NULL);
    assert_int_equal(got.status, 200);
    webclient_close(&c);
}

static int group_setup(void **state) {
    (void)state;
    realserver_make(&server);
    server.flags[0] = "--metrics-open";
    server.flags[1] = "yes";
    realserver_start(&server);
    realworker_make(&worker, &server, "w");
    realworker_start(&worker, &server);
    run_flow("{\"jobs\": {\"a\": {\"noop\": true}, \"b\": {\"needs\": [\"a\"], \"run\": [\"true\"]}}}");
    run_flow("{\"jobs\": {\"x\": {\"run\": [\"false\"], \"retries\": 2, "
             "\"backoff\": {\"base\": \"1ms\", \"cap\": \"1ms\", \"jitter\": \"0s\"}}, "
             "\"y\": {\"needs\": [\"x\"], \"noop\": true}}}");
    run_flow("{\"jobs\": {\"pay\": {\"noop\": true, \"compensate\": {\"run\": [\"true\"]}}, "
             "\"ship\": {\"needs\": [\"pay\"], \"run\": [\"sh\", \"-c\", \"exit 9\"], \"fatal_exit_codes\": [9]}}}");
    return 0;
}

static int group_teardown(void **state) {
    (void)state;
    (void)realworker_stop(&worker);
    realserver_remove(&server);
    return 0;
}

static void assert_value(const struct exposition *x, const char *series, double value) {
    double got = exposition_value(x, series);
    if (fabs(got - value) > 1e-9) fail_msg("%s is %g, not %g", series, got, value);
}

static void the_table_is_told_in_full(void **state) {
    (void)state;
    struct exposition x;
    uint32_t count;
    const struct metric *all = metric_table(&count);
    scrape(&x);
    for (uint32_t i = 0; i < count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < x.count; k++)
            found |=
                strcmp(x.all[k].family, all[i].name) == 0 && strcmp(x.all[k].type, metric_type_words[all[i].type]) == 0;
        if (!found) fail_msg("%s is not told", all[i].name);
        for (uint32_t k = 0; k < i; k++) assert_string_not_equal(all[k].name, all[i].name);
    }
    exposition_free(&x);
}

static void what_happened_is_counted(void **state) {
    (void)state;
    struct exposition x;
    scrape(&x);
    assert_value(&x, "reeve_flows_submitted_total", 3);
    assert_value(&x, "reeve_flows_ended_total{state=\"succeeded\"}", 1);
    assert_value(&x, "reeve_flows_ended_total{state=\"failed\"}", 2);
    assert_value(&x, "reeve_jobs_submitted_total", 7); /* with the compensation */
    assert_value(&x, "total_tasks_ingested", 7);
    assert_value(&x, "reeve_jobs_entered_total{state=\"succeeded\"}", 4);
    assert_value(&x, "tasks_completed_total", 4);
    assert_value(&x, "tasks_failed_total", 3); /* x, y by cascade, ship */
    assert_value(&x, "reeve_retries_total", 2);
    assert_value(&x, "tasks_retried_total", 2);
    assert_value(&x, "reeve_jobs_entered_total{state=\"dispatched\"}", 8);
    assert_value(&x, "reeve_queue_wait_seconds_count", 8);
    assert_value(&x, "reeve_run_seconds_count", 8);
    assert_value(&x, "task_execution_latency_seconds_count", 8);
    assert_value(&x, "reeve_dead_letters", 2);
    assert_value(&x, "reeve_sagas_total", 1);
    assert_value(&x, "cordum_scheduler_saga_rollbacks_total", 1);
    assert_value(&x, "cordum_scheduler_saga_compensation_dispatched_total", 1);
    assert_value(&x, "cordum_scheduler_saga_active", 0);
    assert_value(&x, "cordum_scheduler_jobs_completed_total{status=\"failed\"}", 3);
    assert_value(&x, "reeve_workers_attached", 1);
    assert_value(&x, "reeve_worker_slots_used", 0);
    assert_true(exposition_value(&x, "reeve_journal_sync_seconds_count") > 0);
    assert_true(exposition_value(&x, "reeve_run_seconds_sum") > 0);
    exposition_free(&x);
}

/* Before and after, each number that is not about the process. */
static void a_crash_makes_no_number_drift(void **state) {
    (void)state;
    struct exposition before, after;
    uint32_t count, compared = 0;
    const struct metric *all = metric_table(&count);
    assert_int_equal(realworker_stop(&worker), 0);
    scrape(&before);
    for (int i = 0; i < 2; i++) {
        realserver_kill(&server);
        realserver_start(&server);
    }
    scrape(&after);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; all[i].life == METRIC_FOREVER && k < before.count; k++) {
            if (strcmp(before.all[k].family, all[i].name) != 0) continue;
            assert_value(&after, before.all[k].series, before.all[k].value);
            compared++;
        }
    assert_true(compared > 100);
    assert_value(&after, "reeve_dead_letters", 2);
    assert_value(&after, "reeve_jobs{state=\"succeeded\"}",
                 exposition_value(&before, "reeve_jobs{state=\"succeeded\"}"));
    exposition_free(&before);
    exposition_free(&after);
    realworker_start(&worker, &server);
    run_flow("{\"jobs\": {\"a\": {\"noop\": true}}}");
    scrape(&after);
    assert_value(&after, "reeve_flows_submitted_total", 4); /* it goes on counting from there */
    exposition_free(&after);
}

static int status_of(const char *token, const char *path) {
    struct webclient c;
    webclient_open(&c, server.address, token);
    int status = webclient_ask(&c, "GET", path, NULL).status;
    webclient_close(&c);
    return status;
}

static void only_those_who_may_read_it_do(void **state) {
    (void)state;
    assert_int_equal(status_of(NULL, "/metrics"), 200); /* metrics_open, from this machine */
    assert_int_equal(status_of(NULL, "/api/v1/stats"), 401);
    assert_int_equal(status_of("wrong", "/metrics"), 401); /* a bad token is not overlooked */
    assert_int_equal(status_of(server.worker, "/metrics"), 403);
    struct realserver closed;
    realserver_make(&closed);
    realserver_start(&closed);
    struct webclient c;
    webclient_open(&c, closed.address, NULL);
    assert_int_equal(webclient_ask(&c, "GET", "/metrics", NULL).status, 401);
    webclient_close(&c);
    realserver_remove(&closed);
}

static void the_stats_have_what_the_console_plots(void **state) {
    (void)state;
    static const char *const names[] = {"entered_succeeded",
                                        "entered_failed",
                                        "entered_dispatched",
                                        "retries",
                                        "queue_wait_ms_sum",
                                        "queue_wait_count",
                                        "run_ms_sum",
                                        "run_count",
                                        "jobs_queued",
                                        "jobs_running",
                                        "jobs_held",
                                        "jobs_ready",
                                        "workers",
                                        "slots",
                                        "slots_used",
                                        "questions",
                                        "dead_letters"};
    struct webclient c;
    char member[64];
    webclient_open(&c, server.address, server.admin);
    struct webgot got = webclient_ask(&c, "GET", "/api/v1/stats", NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(member, sizeof member, "\"%s\":", names[i]);
        assert_has(got.body, member);
    }
    webclient_close(&c);
}

/* ---- the dashboard ---- */

static bool is_known(const char *name) {
    uint32_t count;
    const struct metric *all = metric_table(&count);
    for (uint32_t i = 0; i < count; i++) {
        size_t len = strlen(all[i].name);
        if (strncmp(all[i].name, name, len) != 0) continue;
        const char *rest = name + len;
        if (all[i].type != METRIC_HISTOGRAM && rest[0] == 0) return true;
        if (all[i].type == METRIC_HISTOGRAM &&
            (strcmp(rest, "_bucket") == 0 || strcmp(rest, "_sum") == 0 || strcmp(rest, "_count") == 0))
            return true;
    }
    return false;
}

static void the_dashboard_asks_for_what_is_there(void **state) {
    (void)state;
    char line[2048];
    uint32_t queries = 0, names = 0;
    FILE *f = fopen("docs/grafana/reeve.json", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        char *at = strstr(line, "\"expr\":");
        if (at == NULL) continue;
        queries++;
        uint32_t before = names;
        while ((at = strstr(at, "reeve_")) != NULL) {
            char name[100];
            size_t len = 0;
            while (isalnum((unsigned char)at[len]) || at[len] == '_') len++;
            snprintf(name, sizeof name, "%.*s", (int)len, at);
            if (!is_known(name)) fail_msg("the dashboard asks for %s", name);
            names++;
            at += len;
        }
        assert_true(names > before);
    }
    fclose(f);
    assert_true(queries >= 18);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_told_in_full),
        cmocka_unit_test(what_happened_is_counted),
        cmocka_unit_test(the_stats_have_what_the_console_plots),
        cmocka_unit_test(a_crash_makes_no_number_drift),
        cmocka_unit_test(only_those_who_may_read_it_do),
        cmocka_unit_test(the_dashboard_asks_for_what_is_there),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
