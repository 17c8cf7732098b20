/* service_storm_test.c: one service under kill -9 of its server and its workers at random moments. At every moment at
 * most one process of it lives; each kill of the worker that has it costs exactly one restart, a kill of the server
 * none; and when it is over it is healthy and answers at its port.
 *
 * KILLS (50) and SEED may be given; the seed is printed. */
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "realserver.h"
#include "realservice.h"
#include "realshell.h"
#include "realworker.h"

#define WAIT_MS 30000
#define MOMENT_MS 120 /* a kill comes so long after the one before, at most */

static struct realserver server;
static struct realworker workers[2];
static struct realshell h = {&server, ""};
static struct test_random rng;
static char dir[128];

static uint32_t below(uint32_t n) {
    return (uint32_t)test_random_below(&rng, n);
}

static void must(const char *args) {
    int code = realshell_run(&h, "REEVE_DATA=$D", args);
    if (code != 0) fail_msg("reeve %s: exit %d: %s", args, code, h.said);
}

static void deploy(void) {
    char path[192], args[256];
    snprintf(path, sizeof path, "%s/storm.yaml", server.data);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f,
            "jobs:\n  storm:\n    service:\n      run: [%s, --serve, %s, v1]\n      port: auto\n"
            "      health: {http: /, interval: 50ms}\n      restart: 10ms\n",
            realservice_self(), dir);
    (void)fclose(f);
    snprintf(args, sizeof args, "deploy %s", path);
    must(args);
}

/* The number of the attempt that started last, by its own word. */
static uint32_t started(void) {
    char path[192], line[64];
    uint32_t attempt = 0;
    snprintf(path, sizeof path, "%s/starts", dir);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) attempt = (uint32_t)strtoul(line, NULL, 10);
    if (f != NULL) (void)fclose(f);
    return attempt;
}

/* Waits until the process of an attempt after `attempt` has begun. */
static void wait_started(uint32_t attempt) {
    for (int ms = 0; started() <= attempt; ms += 5) {
        if (ms > WAIT_MS) fail_msg("attempt %u does not begin", attempt + 1);
        (void)poll(NULL, 0, 5);
    }
}

/* The worker whose process the last attempt is, by the mark in its environment. */
static struct realworker *holder(void) {
    for (uint32_t i = 0; i < 2; i++)
        if (workers[i].pid != 0 && realworker_processes(workers[i].mark) > 0) {
            char path[192], line[64];
            int pid = 0;
            snprintf(path, sizeof path, "%s/starts", dir);
            FILE *f = fopen(path, "re");
            while (f != NULL && fgets(line, sizeof line, f) != NULL) (void)sscanf(line, "%*u %d", &pid);
            if (f != NULL) (void)fclose(f);
            char environ_path[64], text[8192], mark[96];
            snprintf(environ_path, sizeof environ_path, "/proc/%d/environ", pid);
            f = fopen(environ_path, "re");
            size_t len = f != NULL ? fread(text, 1, sizeof text, f) : 0;
            if (f != NULL) (void)fclose(f);
            snprintf(mark, sizeof mark, "STORM_MARK=%s", workers[i].mark);
            if (memmem(text, len, mark, strlen(mark)) != NULL) return &workers[i];
        }
    return NULL;
}

static void a_service_survives_kills_and_its_restarts_are_counted(void **state) {
    (void)state;
    const char *given = getenv("KILLS");
    uint32_t kills = given != NULL ? (uint32_t)strtoul(given, NULL, 10) : 50;
    uint32_t worker_kills = 0, server_kills = 0;
    deploy();
    for (uint32_t i = 0; i < kills; i++) {
        (void)poll(NULL, 0, (int)below(MOMENT_MS)); /* the moment of the kill: nothing is waited for */
        if (below(2) == 0) {
            realserver_kill(&server);
            server_kills++;
            (void)poll(NULL, 0, (int)below(MOMENT_MS)); /* so long it is away */
            realserver_start(&server);
            continue;
        }
        /* One that runs is killed, so that each kill ends an attempt; whether the server knows of it already, or is
         * being killed itself in the next round, is left to chance. */
        uint32_t attempt = started();
        struct realworker *w = holder();
        assert_non_null(w);
        realworker_kill(w); /* fails when something of it lives on */
        worker_kills++;
        realworker_start(w, &server);
        if (below(3) == 0) { /* the server too, before it can say anything about that */
            realserver_kill(&server);
            realserver_start(&server);
            server_kills++, i++;
        }
        wait_started(attempt);
    }
    printf("%u kills of a worker, %u of the server\n", worker_kills, server_kills);
    for (int ms = 0;; ms += 20) {
        must("services storm --json");
        if (strstr(h.said, "\"healthy\":true") != NULL) break;
        if (ms > WAIT_MS) fail_msg("never healthy again: %s", h.said);
        (void)poll(NULL, 0, 20);
    }
    char wanted[64];
    const char *port = strstr(h.said, "\"port\":");
    snprintf(wanted, sizeof wanted, "\"restarts\":%u,", worker_kills);
    assert_has(h.said, wanted);
    assert_non_null(port);
    struct realservice_answer a = realservice_ask((uint32_t)strtoul(port + 7, NULL, 10));
    assert_int_equal(a.status, 200);
    assert_int_equal(a.attempt, worker_kills + 1);
    assert_int_equal(realservice_starts(dir), worker_kills + 1); /* no attempt was started twice */
    assert_false(realservice_was_twice(dir));
}

static int setup(void **state) {
    (void)state;
    rng.state = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 10) : (uint64_t)time(NULL);
    printf("SEED=%llu\n", (unsigned long long)rng.state);
    realserver_make(&server);
    server.flags[0] = "--lease-ms";
    server.flags[1] = "10000";
    server.flags[2] = "--heartbeat-ms";
    server.flags[3] = "100";
    realserver_start(&server);
    snprintf(dir, sizeof dir, "%s/storm", server.data);
    assert_int_equal(mkdir(dir, 0700), 0);
    for (uint32_t i = 0; i < 2; i++) {
        realworker_make(&workers[i], &server, i == 0 ? "one" : "two");
        workers[i].server = server.socket; /* which stays where it is */
        realworker_start(&workers[i], &server);
    }
    return 0;
}

static int teardown(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 2; i++)
        if (workers[i].pid != 0) realworker_kill(&workers[i]);
    realserver_remove(&server);
    return 0;
}

int main(int argc, char **argv) {
    realservice_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_survives_kills_and_its_restarts_are_counted),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
