/* titan_scenario_test.c: the nine scenarios of Titan's developer guide, each against the built program: a server and
 * two workers, asked over Titan's protocol by a client that was written from the description of Titan alone
 * (titan_scenarios.py). */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "realserver.h"
#include "realworker.h"

#define WORKERS 2

static struct realserver server;
static struct realworker workers[WORKERS];
static const char *const ports[WORKERS] = {"8081", "8082"}; /* names only: nobody listens there */
static char address[64], resp_address[64];

/* Whom the scenarios may kill. */
static void tell_workers(void) {
    char text[128];
    snprintf(text, sizeof text, "%s=%d %s=%d", ports[0], (int)workers[0].pid, ports[1], (int)workers[1].pid);
    setenv("TITAN_WORKERS", text, 1);
}

static int setup(void **state) {
    (void)state;
    static const char *const labels[WORKERS] = {"titan.port=8081", "titan.port=8082"};
    static const char *const names[WORKERS] = {"w1", "w2"};
    realserver_choose_address(address);
    realserver_choose_address(resp_address);
    setenv("TITAN_RESP", resp_address, 1);
    realserver_make(&server);
    const char *const flags[] = {"--titan-listen", address, "--resp-listen",  resp_address,
                                 "--lease-ms",     "5000",  "--heartbeat-ms", "500"};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[i] = flags[i];
    realserver_start(&server);
    for (int i = 0; i < WORKERS; i++) {
        realworker_make(&workers[i], &server, names[i]);
        const char *const more[] = {"--slots", "2", "--label", labels[i]};
        for (size_t k = 0; k < sizeof more / sizeof more[0]; k++) workers[i].flags[k] = more[k];
        realworker_start(&workers[i], &server);
    }
    tell_workers();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    for (int i = 0; i < WORKERS; i++)
        if (workers[i].pid != 0) realworker_kill(&workers[i]);
    (void)realserver_stop(&server);
    realserver_remove(&server);
    return 0;
}

static char said[16384]; /* by the last one that was played */

static void play(const char *which) {
    if (test_shell(said, sizeof said, "timeout 180 python3 tests/e2e/titan_scenarios.py %s %s %s %s 2>&1", which,
                   address, server.data, realserver_binary()) != 0)
        fail_msg("%s: %s", which, said);
}

#define SCENARIO(name)               \
    static void name(void **state) { \
        (void)state;                 \
        play(#name);                 \
    }

SCENARIO(scenario_1_a_single_script)
SCENARIO(scenario_2_a_chain)
SCENARIO(scenario_3_fan_out_and_fan_in)
SCENARIO(scenario_4_a_service)
SCENARIO(scenario_5_a_person_decides)
SCENARIO(scenario_6_failures_are_tried_again)
SCENARIO(scenario_7_a_cancel_and_its_descendants)
SCENARIO(scenario_9_an_agent_submits)

static void scenario_8_a_worker_is_killed(void **state) {
    (void)state;
    play("scenario_8_a_worker_is_killed");
    for (int i = 0; i < WORKERS; i++) {
        char killed[32];
        snprintf(killed, sizeof killed, "killed %s", ports[i]);
        if (strstr(said, killed) == NULL) continue;
        realworker_kill(&workers[i]); /* it is dead; nothing that it started may live on */
        realworker_start(&workers[i], &server);
    }
    tell_workers();
    play("scenario_8_it_comes_back");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        {"scenario-1: a single script", scenario_1_a_single_script, NULL, NULL, NULL},
        {"scenario-2: a chain", scenario_2_a_chain, NULL, NULL, NULL},
        {"scenario-3: fan-out and fan-in", scenario_3_fan_out_and_fan_in, NULL, NULL, NULL},
        {"scenario-4: a service", scenario_4_a_service, NULL, NULL, NULL},
        {"scenario-5: a person decides", scenario_5_a_person_decides, NULL, NULL, NULL},
        {"scenario-6: failures are tried again", scenario_6_failures_are_tried_again, NULL, NULL, NULL},
        {"scenario-7: a cancel, and its descendants", scenario_7_a_cancel_and_its_descendants, NULL, NULL, NULL},
        {"scenario-8: a worker is killed, and comes back", scenario_8_a_worker_is_killed, NULL, NULL, NULL},
        {"scenario-9: an agent submits", scenario_9_an_agent_submits, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
