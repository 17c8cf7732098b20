/* updown_test.c: what `reeve up`, `down`, `serve`, `config` and `help` say about themselves. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "realcli.h"
#include "realserver.h"

static struct realcli own;
static char said[1 << 16];

static int setup(void **state) {
    (void)state;
    realcli_make(&own);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realcli_stop(&own);
    return 0;
}

static int run(const char *command) {
    return test_shell(said, sizeof said, "D=%s; R=%s; exec 2>&1; %s", own.data, realserver_binary(), command);
}

static void says(const char *command, int code, const char *words) {
    int got = run(command);
    if (got != code || strstr(said, words) == NULL)
        fail_msg("%s: exit %d, said: %s\n  expected %d and: %s", command, got, said, code, words);
}

static void down_answers_with_one_line(void **state) {
    (void)state;
    realcli_up(&own);
    assert_has(realcli_ok(&own, "down", NULL).out, "stopped server and worker on /tmp/");
    realcli_refused(&own, "down", 5, "nothing that `reeve up` started is running");
}

/* The job ends when it was seen that `down` waits for it. */
static void down_says_for_what_it_waits(void **state) {
    (void)state;
    realcli_up(&own);
    says("$R run --data $D -d -- sh -c \"while [ ! -e $D/go ]; do sleep 0.05; done\" >$D/job; "
         "until $R ls --data $D -s running | grep -q sh; do sleep 0.05; done; "
         "$R down --data $D >$D/said 2>&1 & until grep -q waiting $D/said; do sleep 0.05; done; touch $D/go; wait; "
         "cat $D/said",
         0, "reeve down: waiting for 1 running job; `reeve down --now` kills it");
    assert_has(said, "stopped");
}

/* What was killed runs again, if it may. */
static void down_now_does_not_wait(void **state) {
    (void)state;
    realcli_up(&own);
    says(
        "$R run --data $D -d --retries 1 -- "
        "sh -c \"echo x >> $D/ran; [ $(wc -l < $D/ran) -gt 1 ] || sleep 1000\" >$D/job; "
        "until [ -e $D/ran ]; do sleep 0.05; done; timeout 30 $R down --data $D --now",
        0, "stopped");
    realcli_up(&own);
    says("timeout 50 $R wait --data $D -q $(cat $D/job); wc -l < $D/ran", 0, "2");
}

static void a_taken_port_is_the_only_reason_told(void **state) {
    (void)state;
    struct realcli other;
    char command[256];
    realcli_up(&own);
    realcli_make(&other);
    snprintf(command, sizeof command, "$R up --detach --data %s --listen $(cat $D/address)", other.data);
    says(command, 9, "address already in use; choose another with --listen");
    assert_null(strstr(said, "restarted"));
    assert_int_equal(strncmp(said, "reeve up: ", 10), 0);
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
    realcli_stop(&other);
}

static void config_tells_that_a_server_runs(void **state) {
    (void)state;
    says("$R config --data $D", 0, "lease_ms");
    assert_null(strstr(said, "is running"));
    realcli_up(&own);
    says("$R config --data $D", 0, "it was not asked, and may have been started with other flags");
    says("$R config --data $D --json | python3 -m json.tool", 0, "lease_ms");
}

static void the_help_of_serve_spells_flags_as_documents_do(void **state) {
    (void)state;
    says("$R serve --help", 0, "--http-hosts ");
    says("$R serve --help | grep -- '--[a-z]*_' || echo none", 0, "none");
    says("$R serve --data $D --lease_ms no", 2, "lease_ms: expected a number");
    says("$R serve --data $D --lease-ms no", 2, "lease_ms: expected a number");
}

static void the_help_of_a_verb_is_short(void **state) {
    (void)state;
    says("$R help schedule | grep -c Everywhere", 0, "1");
    says("$R help ls | sed -n '/Everywhere/,$p' | wc -l", 0, "2");
    says("$R help --all", 0, "output format: wide, json");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(down_answers_with_one_line, setup, teardown),
        cmocka_unit_test_setup_teardown(down_says_for_what_it_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(down_now_does_not_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(a_taken_port_is_the_only_reason_told, setup, teardown),
        cmocka_unit_test_setup_teardown(config_tells_that_a_server_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(the_help_of_serve_spells_flags_as_documents_do, setup, teardown),
        cmocka_unit_test_setup_teardown(the_help_of_a_verb_is_short, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
