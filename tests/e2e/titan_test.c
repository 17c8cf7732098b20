/* titan_test.c: Titan's protocol of the built program, used by a client that was written from the description of Titan
 * alone (titan_client.py) and shares nothing with us. */
#include "test.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"
#include "realworker.h"

static struct realserver server;
static struct realworker worker;
static char address[64];

/* A port that nobody listens at: it has to be the same after the server was killed. */
static void choose_address(void) {
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof any;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&any, sizeof any) == 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&any, &len), 0);
    close(fd);
    snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(any.sin_port));
}

static int setup(void **state) {
    (void)state;
    choose_address();
    realserver_make(&server);
    const char *const flags[] = {"--titan-listen", address, "--titan-frame-ms", "300", "--may-start-workers", "yes"};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[i] = flags[i];
    realserver_start(&server);
    realworker_make(&worker, &server, "w");
    realworker_start(&worker, &server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    if (worker.pid != 0) (void)realworker_stop(&worker);
    (void)realserver_stop(&server);
    realserver_remove(&server);
    return 0;
}

static void play(const char *which) {
    char command[512], said[8192];
    snprintf(command, sizeof command, "timeout 180 python3 tests/e2e/titan_client.py %s %s %s %s 2>&1", which, address,
             server.data, realserver_binary());
    FILE *f = popen(command, "re");
    assert_non_null(f);
    size_t len = fread(said, 1, sizeof said - 1, f);
    said[len] = 0;
    if (pclose(f) != 0) fail_msg("%s: %s", which, said);
}

#define CASE(name)                   \
    static void name(void **state) { \
        (void)state;                 \
        play(#name);                 \
    }

CASE(frames)
CASE(other_versions_and_too_long_frames_hear_nothing)
CASE(a_frame_may_have_64_mebibytes)
CASE(who_hangs_in_half_a_frame_is_dropped)
CASE(who_goes_without_reading_hurts_nobody)
CASE(unknown_opcodes)
CASE(store)
CASE(text_of_any_language)

/* ---- settings ---- */

static void the_listener_is_for_this_machine_unless_said(void **state) {
    (void)state;
    struct realcli own;
    realcli_make(&own);
    realcli_refused(&own, "serve --listen 127.0.0.1:0 --titan-listen 0.0.0.0:0", 4, "(who insists says --titan-open");
    realcli_refused(&own, "serve --listen 127.0.0.1:0 --titan-open maybe", 2, "neither yes nor no");
    realcli_refused(&own, "serve --listen 127.0.0.1:0 --titan-dead-status GONE", 2, "neither DEAD nor FAILED");
    realcli_refused(&own, "serve --listen 127.0.0.1:0 --titan-retry-backoff some", 2, "neither yes nor no");
    realcli_stop(&own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames),
        cmocka_unit_test(other_versions_and_too_long_frames_hear_nothing),
        cmocka_unit_test(a_frame_may_have_64_mebibytes),
        cmocka_unit_test(who_hangs_in_half_a_frame_is_dropped),
        cmocka_unit_test(who_goes_without_reading_hurts_nobody),
        cmocka_unit_test(unknown_opcodes),
        cmocka_unit_test(store),
        cmocka_unit_test(text_of_any_language),
        cmocka_unit_test(the_listener_is_for_this_machine_unless_said),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
