/* orion_test.c: Orion's interface of the built program, used by a client that was written from the description of Orion
 * alone (orion_client.py) and shares nothing with us. */
#include "test.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "realcli.h"
#include "realserver.h"
#include "realworker.h"
#include "webclient.h"

static struct realcli up;
static char address[64], token[128];

static void read_token(void) {
    char path[160];
    snprintf(path, sizeof path, "%s/admin.token", up.data);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_non_null(fgets(token, sizeof token, f));
    token[strcspn(token, "\n")] = 0;
    fclose(f);
}

/* Where the server says that it listens for Orion's clients. */
static void read_address(void) {
    char path[160], line[400];
    snprintf(path, sizeof path, "%s/serve.log", up.data);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    address[0] = 0;
    while (fgets(line, sizeof line, f) != NULL) {
        const char *end = strstr(line, " (Orion's interface)");
        const char *at = strstr(line, "127.0.0.1:");
        if (end != NULL && at != NULL) snprintf(address, sizeof address, "%.*s", (int)(end - at), at);
    }
    fclose(f);
    assert_true(address[0] != 0);
}

static int setup(void **state) {
    (void)state;
    realcli_make(&up);
    struct ran ran = realcli_ok(&up,
                                "up --playground --listen 127.0.0.1:0 --orion=127.0.0.1:0 --orion-work-ms 50..198 "
                                "--cors-origin http://localhost:3000 --detach",
                                NULL);
    char line[200];
    snprintf(line, sizeof line, "  http://localhost:3000/#admin_token=$(cat %s/admin.token)\n", up.data);
    assert_has(ran.out, line); /* else its front end is refused, and nobody says why */
    read_token();
    read_address();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realcli_stop(&up);
    return 0;
}

static void play(const char *which) {
    char said[8192];
    if (test_shell(said, sizeof said, "timeout 120 python3 tests/e2e/orion_client.py %s %s %s 2>&1", which, address,
                   token) != 0)
        fail_msg("%s: %s", which, said);
}

#define CASE(name)                   \
    static void name(void **state) { \
        (void)state;                 \
        play(#name);                 \
    }

CASE(templates_run)
CASE(health)
CASE(errors_are_json)
CASE(keys)
CASE(ids_may_come_again)
CASE(failures_cascade)
CASE(retries_are_turned_at_the_door)
CASE(lower_is_first)
CASE(pages)
CASE(tokens)
CASE(slots_come_back)
CASE(events)
CASE(one_that_does_not_read_hurts_nobody)
CASE(dropped_events_are_counted)
CASE(plug)
CASE(large_dags)

/* What the guest sent is an ordinary flow, by a principal of its own. */
static void reeve_sees_the_dags_as_flows(void **state) {
    (void)state;
    const struct ran r = realcli_ok(&up, "ls --label dialect=orion --json", NULL);
    assert_non_null(strstr(r.out, "\"principal\":\"orion\""));
}

/* ---- settings ---- */

static void the_listener_is_for_this_machine_unless_said(void **state) {
    (void)state;
    struct realcli own;
    realcli_make(&own);
    realcli_refused(&own, "serve --listen 127.0.0.1:0 --orion-listen 0.0.0.0:0", 4, "orion_listen: 0.0.0.0:0 can be");
    realcli_refused(&own, "serve --listen 127.0.0.1:0 --orion-guests some", 2, "expected nobody, loopback or everyone");
    realcli_refused(&own, "serve --listen 127.0.0.1:0 --orion-work-ms 9", 2, "a range like 50..199");
    realcli_refused(&own, "up --orion-work-ms 9", 2, "needs --orion");
    realcli_stop(&own);
}

/* Also where it is another one than that of the server's own listener. */
static void the_listener_knows_its_own_address(void **state) {
    (void)state;
    struct realserver s;
    struct webclient c;
    realserver_make(&s);
    s.flags[0] = "--orion-listen", s.flags[1] = "127.0.0.2:18976";
    realserver_start(&s);
    (void)webclient_once(&c, "127.0.0.2:18976", "GET /api/v1/status HTTP/1.1\r\nHost: 127.0.0.2:18976\r\n\r\n", 200);
    webclient_close(&c);
    (void)webclient_once(&c, "127.0.0.2:18976", "GET /api/v1/status HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421);
    webclient_close(&c);
    /* not by the other listener: there it is not called so */
    (void)webclient_once(&c, s.address, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.2\r\n\r\n", 421);
    webclient_close(&c);
    assert_int_equal(realserver_stop(&s), 0);
    realserver_remove(&s);
}

/* An address of this machine that is not loopback's; false: it has none. */
static bool own_address(char *ret, size_t room) {
    struct ifaddrs *all = NULL;
    bool found = false;
    assert_int_equal(getifaddrs(&all), 0);
    for (const struct ifaddrs *i = all; i != NULL && !found; i = i->ifa_next) {
        if (i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_LOOPBACK)) continue;
        found =
            getnameinfo(i->ifa_addr, sizeof(struct sockaddr_in), ret, (socklen_t)room, NULL, 0, NI_NUMERICHOST) == 0;
    }
    freeifaddrs(all);
    return found;
}

/* Orion's 5 a second, 10 at once; and nobody waits for the answer. Who comes from this machine is not counted. */
static void who_comes_from_elsewhere_is_counted(void **state) {
    (void)state;
    struct realserver s;
    struct webclient c;
    char host[64], at[80], request[400];
    int taken = 0, refused = 0;
    if (!own_address(host, sizeof host)) {
        print_message("skipped: this machine has no address but loopback's\n");
        skip();
    }
    realserver_make(&s);
    const char *const flags[] = {"--orion-listen",       "0.0.0.0:18974", "--orion-guests", "everyone",
                                 "--listen-without-tls", "yes",           "--listen",       "0.0.0.0:0"};
    memcpy(s.flags, flags, sizeof flags);
    realserver_start(&s);
    snprintf(at, sizeof at, "%s:18974", host);
    for (int i = 0; i < 100 && refused == 0; i++) {
        webclient_open(&c, at, NULL);
        snprintf(request, sizeof request,
                 "POST /api/v1/dag HTTP/1.1\r\nHost: %s\r\nIdempotency-Key: k%d\r\nContent-Length: 12\r\n\r\n"
                 "[{\"id\":\"a\"}]",
                 at, i);
        webclient_send(&c, request);
        struct webgot got = webclient_next(&c);
        taken += got.status == 201;
        assert_true(got.status == 201 || got.status == 429);
        refused += got.status == 429;
        if (got.status == 429) {
            assert_non_null(strstr(got.head, "Retry-After: 1"));
            assert_non_null(strstr(got.body, "rate limit exceeded"));
        }
        webclient_close(&c);
    }
    assert_true(taken >= 10);
    assert_int_equal(refused, 1);
    assert_int_equal(realserver_stop(&s), 0);
    realserver_remove(&s);
}

static void without_guests_everyone_needs_a_token(void **state) {
    (void)state;
    struct realserver s;
    struct webclient c;
    realserver_make(&s);
    s.flags[0] = "--orion-listen", s.flags[1] = "127.0.0.1:18973", s.flags[2] = "--orion-guests", s.flags[3] = "nobody";
    realserver_start(&s);
    webclient_open(&c, "127.0.0.1:18973", NULL);
    assert_int_equal(webclient_ask(&c, "GET", "/api/v1/status", NULL).status, 401);
    webclient_close(&c);
    webclient_open(&c, "127.0.0.1:18973", s.admin);
    assert_int_equal(webclient_ask(&c, "GET", "/api/v1/status", NULL).status, 200);
    /* Without a playground there is no plug to pull. */
    assert_int_equal(webclient_ask(&c, "POST", "/admin/simulate-crash", "").status, 404);
    webclient_close(&c);
    assert_int_equal(realserver_stop(&s), 0);
    realserver_remove(&s);
}

static void state_until(const char *words, char *ret, size_t room) {
    struct webclient c;
    time_t end = time(NULL) + 60;
    for (ret[0] = 0; strstr(ret, words) == NULL;) {
        assert_true(time(NULL) < end);
        webclient_open(&c, "127.0.0.1:18972", NULL);
        snprintf(ret, room, "%s", webclient_ask(&c, "GET", "/api/v1/dag/state", NULL).body);
        webclient_close(&c);
    }
}

/* Orion puts back what its crash interrupted and counts nothing, also for a task without retries. */
static void a_crash_of_everything_costs_no_retry(void **state) {
    (void)state;
    struct realserver s;
    struct realworker w;
    char got[4096];
    realserver_make(&s);
    s.flags[0] = "--orion-listen", s.flags[1] = "127.0.0.1:18972";
    realserver_start(&s);
    realworker_make(&w, &s, "w");
    realworker_start(&w, &s);
    struct webclient c;
    const char *body = "[{\"id\":\"a\",\"payload\":\"sleep\",\"max_retries\":-1},"
                       "{\"id\":\"b\",\"max_retries\":-1,\"dependencies\":[\"a\"]}]";
    snprintf(got, sizeof got,
             "POST /api/v1/dag HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: k\r\nContent-Length: %zu\r\n\r\n%s",
             strlen(body), body);
    (void)webclient_once(&c, "127.0.0.1:18972", got, 201);
    webclient_close(&c);
    state_until("\"status\":\"running\"", got, sizeof got);
    realserver_kill(&s);
    realworker_kill(&w);
    realserver_start(&s);
    realworker_start(&w, &s);
    state_until("\"a\":{\"id\":\"a\"", got, sizeof got);
    while (strstr(got, "\"status\":\"completed\"") == NULL && strstr(got, "\"status\":\"failed\"") == NULL)
        state_until("{", got, sizeof got);
    assert_null(strstr(got, "\"status\":\"failed\""));
    assert_has(got, "\"retry_count\":0");
    assert_int_equal(realworker_stop(&w), 0);
    assert_int_equal(realserver_stop(&s), 0);
    realserver_remove(&s);
}

static uint32_t count_of(const char *text, const char *words) {
    uint32_t count = 0;
    for (const char *at = strstr(text, words); at != NULL; at = strstr(at + 1, words)) count++;
    return count;
}

static int64_t number_after(const char *text, const char *words) {
    const char *at = strstr(text, words);
    if (at == NULL) fail_msg("no %s in: %s", words, text);
    return strtoll(at + strlen(words), NULL, 10);
}

/* Three tasks of 2 s run when the server is killed, and it comes back 5 s later, when they have ended. The worker
 * stands still until somebody listens who hears of it. */
static void crash_of_the_server_alone(struct realserver *s, const struct realworker *w, struct webclient *ws) {
    char got[8192];
    struct webclient c;
    const char *body = "[{\"id\":\"a\",\"payload\":\"sleep\"},{\"id\":\"b\",\"payload\":\"sleep\"},"
                       "{\"id\":\"c\",\"payload\":\"sleep\"}]";
    snprintf(got, sizeof got,
             "POST /api/v1/dag HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: k\r\nContent-Length: %zu\r\n\r\n%s",
             strlen(body), body);
    (void)webclient_once(&c, "127.0.0.1:18972", got, 201);
    webclient_close(&c);
    while (count_of(got, "\"status\":\"running\"") < 3) state_until("{", got, sizeof got);
    realserver_kill(s);
    for (time_t end = time(NULL) + 5; time(NULL) < end;) (void)poll(NULL, 0, 50);
    assert_int_equal(kill(w->pid, SIGSTOP), 0);
    realserver_start(s);
    webclient_open(ws, "127.0.0.1:18972", NULL);
    webclient_send(ws, "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n");
    (void)webclient_until(ws, "metrics.update");
    assert_int_equal(kill(w->pid, SIGCONT), 0);
}

/* What a task did while the server was away took as long as it took, not as long as the server was away; and each of
 * the tasks that went on has a worker of its own. */
static void an_outage_is_not_part_of_a_task(void **state) {
    (void)state;
    struct realserver s;
    struct realworker w;
    struct webclient ws, c;
    realserver_make(&s);
    s.flags[0] = "--orion-listen", s.flags[1] = "127.0.0.1:18972";
    realserver_start(&s);
    realworker_make(&w, &s, "w");
    w.flags[0] = "--slots", w.flags[1] = "3";
    realworker_start(&w, &s);
    crash_of_the_server_alone(&s, &w, &ws);
    for (const char *id = "abc"; *id != 0; id++) {
        char words[80];
        snprintf(words, sizeof words, "\"type\":\"task.completed\",\"task_id\":\"%c\"", *id);
        const char *told = strstr(webclient_until(&ws, words), words);
        assert_in_range(number_after(told, "\"duration_ms\":"), 1000, 3500);
    }
    const char *told = webclient_until(&ws, "task.completed");
    for (char id = '1'; id <= '3'; id++) {
        char words[32];
        snprintf(words, sizeof words, "\"worker_id\":%c", id);
        assert_int_equal(count_of(told, words), 1);
    }
    webclient_close(&ws);
    /* by its histogram, and by the server's own */
    webclient_open(&c, "127.0.0.1:18972", NULL);
    struct webgot got = webclient_ask(&c, "GET", "/metrics", NULL);
    assert_has(got.body, "task_execution_latency_seconds_bucket{le=\"2.5\"} 3\n");
    webclient_close(&c);
    webclient_open(&c, s.address, s.admin);
    got = webclient_ask(&c, "GET", "/metrics", NULL);
    assert_has(got.body, "reeve_run_seconds_bucket{le=\"2.5\"} 3\n");
    char path[64];
    const char *flow = strstr(webclient_ask(&c, "GET", "/api/v1/flows", NULL).body, "\"flow\":\"f");
    assert_non_null(flow);
    flow += strlen("\"flow\":\"");
    snprintf(path, sizeof path, "/api/v1/jobs/%.*s/a", (int)strcspn(flow, "\""), flow);
    got = webclient_ask(&c, "GET", path, NULL);
    int64_t took = number_after(got.body, "\"ended_ms\":") - number_after(got.body, "\"assigned_ms\":");
    assert_in_range(took, 1000, 3500);
    webclient_close(&c);
    assert_int_equal(realworker_stop(&w), 0);
    assert_int_equal(realserver_stop(&s), 0);
    realserver_remove(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_run),
        cmocka_unit_test(health),
        cmocka_unit_test(errors_are_json),
        cmocka_unit_test(keys),
        cmocka_unit_test(ids_may_come_again),
        cmocka_unit_test(failures_cascade),
        cmocka_unit_test(retries_are_turned_at_the_door),
        cmocka_unit_test(lower_is_first),
        cmocka_unit_test(pages),
        cmocka_unit_test(tokens),
        cmocka_unit_test(slots_come_back),
        cmocka_unit_test(events),
        cmocka_unit_test(one_that_does_not_read_hurts_nobody),
        cmocka_unit_test(dropped_events_are_counted),
        cmocka_unit_test(plug),
        cmocka_unit_test(large_dags),
        cmocka_unit_test(reeve_sees_the_dags_as_flows),
        cmocka_unit_test(the_listener_is_for_this_machine_unless_said),
        cmocka_unit_test(the_listener_knows_its_own_address),
        cmocka_unit_test(who_comes_from_elsewhere_is_counted),
        cmocka_unit_test(without_guests_everyone_needs_a_token),
        cmocka_unit_test(a_crash_of_everything_costs_no_retry),
        cmocka_unit_test(an_outage_is_not_part_of_a_task),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
