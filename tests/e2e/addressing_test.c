/* addressing_test.c: flows, workers and blobs by the names that people have for them. Finished flows leave memory at
 * once, so that names find them in the history as well. */
#include "test.h"

#include <stdio.h>
#include <unistd.h>

#include "realshell.h"

static struct realserver server;
static struct realshell shell = {.server = &server};
static pid_t worker;

static int setup(void **state) {
    static const char *const flags[] = {"--retention-ms", "0", "--dead-letter-ms", "0"};
    (void)state;
    realserver_make(&server);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[i] = flags[i];
    realserver_start(&server);
    char args[160];
    snprintf(args, sizeof args, "--token %s --data $D/w --name gpu1", server.worker);
    worker = realshell_worker(&shell, args);
    return test_shell(
        shell.said, sizeof shell.said,
        "cd %s && printf 'name: nightly\\njobs:\\n  load: echo \"$1\"\\n' >flow.yaml"
        " && printf 'jobs:\\n  a: {gate: {message: A?}}\\n  b: {gate: {message: B?}, needs: a}\\n' >gate.yaml"
        " && printf 'jobs:\\n  a: {gate: {message: A?}}\\n  b: {gate: {message: B?}}\\n' >gates.yaml",
        server.data);
}

static int teardown(void **state) {
    (void)state;
    realshell_end(worker);
    realserver_remove(&server);
    return 0;
}

/* A script beside the server: `reeve` is the program, with its address. */
static int sh(const char *script) {
    return test_shell(shell.said, sizeof shell.said,
                      "cd %s; export REEVE_SERVER=%s REEVE_TOKEN=%s\n"
                      "reeve() { timeout 30 %s \"$@\"; }\n"
                      "gone() { until reeve show $1 --json | grep -q '\"archived\":true'; do :; done; }\n"
                      "{ %s\n} 2>&1",
                      server.data, server.address, server.admin, realserver_binary(), script);
}

static void must(const char *script, const char *words) {
    int code = sh(script);
    if (code != 0 || strstr(shell.said, words) == NULL)
        fail_msg("%s: exit %d: %s\n  expected: %s", script, code, shell.said, words);
}

static void refused(const char *script, int code, const char *words) {
    int got = sh(script);
    if (got != code || strstr(shell.said, words) == NULL)
        fail_msg("%s: exit %d: %s\n  expected %d and: %s", script, got, shell.said, code, words);
}

static void a_name_means_the_newest_flow_of_that_name(void **state) {
    (void)state;
    must("reeve submit flow.yaml -w", "f11 succeeded");
    must("gone f11; reeve logs nightly && reeve show nightly/load", "f11/load");
    must("reeve submit gate.yaml -n nightly && reeve ls nightly", "f12/b");
    must("reeve submit gate.yaml -n nightly-2 && reeve show nightly", "f12");
    must("reeve why nightly; reeve graph nightly; reeve events --flow nightly | head -1",
         "f12/a: waiting for approval");
    must("reeve cancel nightly", "reeve cancel: nightly is f12 (nightly, running, ");
    must("reeve wait nightly; reeve ls nightly", "cancelled");
    refused("gone f12; reeve rerun nightly", 6, "reeve rerun: nightly is f12 (nightly, cancelled, ");
    refused("reeve show nightl", 5, "there is no flow nightl; `reeve ls` lists flows");
    refused("reeve show nightly/nosuch", 5, "flow f12 has no job nosuch");
    must("reeve kv set --flow nightly-2 k v && reeve kv get --flow f13 k", "v");
}

/* A script that names a flow that is gone must not meet a flow that was given its id as a name. */
static void an_id_beats_a_beginning_and_that_a_name(void **state) {
    (void)state;
    must("reeve submit gate.yaml -n f11 && reeve submit gate.yaml -n f9aaaaaaaaa && reeve submit gate.yaml -n f1z",
         "f13");
    must("reeve show f11", "f11");
    refused("reeve cancel f9aaaaaaaaa", 5, "there is no flow f9aaaaaaaaa");
    must("reeve submit gate.yaml -n f1 && reeve show f1", "f14");
    must("for i in $(seq 40); do reeve submit gate.yaml; done | tail -1", "f21c");
    refused("reeve cancel f21", 2,
            "several flows begin with f21: f210, f211, f212, f213 and more; type more of the id");
    must("reeve submit gate.yaml -n fix && reeve show fix", "f21d"); /* not f1x, which could be read so */
    must("reeve show fiy", "f1y");
}

static void last_is_what_this_user_submitted(void **state) {
    (void)state;
    refused("reeve show @last", 5, "@last: there is no flow that admin submitted");
    must("reeve token new ann --role admin >ann && reeve submit flow.yaml -w", "f11 succeeded");
    must("REEVE_TOKEN=$(cat ann) reeve submit gate.yaml && reeve logs @last/load && reeve show @last", "f11");
    must("gone f11; reeve show @last", "f11");
    must("REEVE_TOKEN=$(cat ann) reeve cancel @last/a", "f12/a cancelled");
    must("reeve schedule add gate.yaml --name s --every 1s"
         " && until reeve ls --json | jq -e '.flows[0].schedule == \"s\"'"
         " >/dev/null; do :; done; reeve show @last",
         "f11");
    refused("reeve show @first", 2, "there is no @first: expected @last, the newest flow that you submitted");
}

static void an_approval_takes_the_only_open_gate(void **state) {
    (void)state;
    must("reeve submit gate.yaml -n one && reeve approve one --yes", "f11/a approved");
    must("reeve approve f11 --yes && reeve wait one", "f11/b approved");
    refused("reeve submit gates.yaml -n two && reeve approve two --yes", 2,
            "2 jobs of f12 wait for approval: name one of f12/a, f12/b");
    must("reeve reject two/a && reeve reject f12", "f12/b rejected");
    refused("reeve approve f12 --yes", 2, "f12 is a flow of 2 jobs");
}

static void a_worker_is_drained_by_its_name(void **state) {
    (void)state;
    realshell_worker_says(&shell, "attached");
    must("reeve drain gpu1", "is draining");
    char args[160];
    snprintf(args, sizeof args, "--token %s --data $D/w2 --name gpu10", server.worker);
    pid_t second = realshell_worker(&shell, args);
    must("until [ $(reeve workers -o name | wc -l) = 2 ]; do :; done; reeve drain gpu1 --undo", "gpu1-");
    refused("reeve drain gpu", 2, "several workers begin with gpu: gpu1");
    must("reeve drain gpu10", "gpu10-");
    refused("reeve drain nobody", 5, "there is no worker nobody; `reeve workers` lists workers");
    realshell_end(second);
}

static void a_blob_is_named_by_its_first_digits(void **state) {
    (void)state;
    must("H=$(reeve blob put flow.yaml); reeve blob get $(printf %.6s $H)"
         " && reeve blob get $(printf %.9s $H | tr a-f A-F)"
         " && reeve blob rm $(printf %.63s $H)",
         "name: nightly");
    refused("reeve blob get 0123456", 5, "there is no blob 0123456; `reeve blob ls` lists blobs");
    refused("reeve blob get 01234", 2, "or at least the first 6), found `01234`");
    must("printf 4163 | reeve blob put - && printf 8864 | reeve blob put - ", "95d436");
    refused("reeve blob get 95d436", 2, "several blobs begin with 95d436: 95d436"); /* found by search */
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_name_means_the_newest_flow_of_that_name), T(an_id_beats_a_beginning_and_that_a_name),
        T(last_is_what_this_user_submitted),          T(an_approval_takes_the_only_open_gate),
        T(a_worker_is_drained_by_its_name),           T(a_blob_is_named_by_its_first_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
