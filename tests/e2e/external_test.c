/* external_test.c: jobs that wait for something outside: begun on a worker, ended by a word or by a poll, whatever is
 * killed meanwhile. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"
#include "realworker.h"
#include "webclient.h"
#include "webserver.h"

static struct realserver server;
static struct realworker worker;
static struct realcli cli;
static struct webserver web;

static int setup(void **state) {
    (void)state;
    webserver_start(&web);
    realserver_make(&server);
    server.flags[0] = "--poll_ms_min";
    server.flags[1] = "10";
    realserver_start(&server);
    realworker_make(&worker, &server, "worker");
    worker.flags[0] = "--http-private";
    worker.flags[1] = "127.0.0.1";
    realworker_start(&worker, &server);
    snprintf(cli.data, sizeof cli.data, "%s", server.data);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realworker_kill(&worker);
    realserver_kill(&server);
    realserver_remove(&server);
    webserver_stop(&web);
    return 0;
}

static void server_again(void) {
    realserver_kill(&server);
    realserver_start(&server);
}

/* A flow file; each @ in the text becomes the address of the web server. Its id. */
static const char *submit(const char *text) {
    static char id[64];
    char file[8192];
    size_t len = 0;
    for (; *text != 0; text++) {
        if (*text == '@')
            len += (size_t)snprintf(file + len, sizeof file - len, "http://127.0.0.1:%u", web.port);
        else
            file[len++] = *text;
    }
    file[len] = 0;
    snprintf(id, sizeof id, "%s", realcli_submit(&cli, file, ""));
    return id;
}

/* On both outputs. */
static const char *said(const char *args, const char *id, int exit_code) {
    static char text[1 << 16];
    struct ran ran = realcli_run(&cli, realcli_at(args, id), NULL, NULL);
    snprintf(text, sizeof text, "%s%s", ran.out, ran.err);
    if (ran.exit_code != exit_code) fail_msg("%s: exit %d: %s", args, ran.exit_code, text);
    return text;
}

/* Until what it began is under way. */
static void wait_outside(const char *id) {
    for (int i = 0; i < 3000; i++) {
        struct ran ran = realcli_run(&cli, realcli_at("why @/a --json", id), NULL, NULL);
        if (strstr(ran.out, "\"code\":\"outside\"") != NULL) return;
    }
    fail_msg("it never waited for the outside: %s", said("why @/a", id, 0));
}

/* The token of the last request that had one. */
static const char *token_sent(void) {
    static char token[256];
    const char *at = NULL;
    for (const char *next = webserver_asked(&web); (next = strstr(next, "X-Token: ")) != NULL; next++) at = next;
    assert_non_null(at);
    assert_int_equal(sscanf(at, "X-Token: %255s", token), 1);
    return token;
}

/* `reeve complete @/JOB --token TOKEN REST` */
static const char *complete(const char *id, const char *job, const char *token, const char *rest, int exit_code) {
    char args[512];
    snprintf(args, sizeof args, "complete @/%s --token %s %s", job, token, rest);
    return said(args, id, exit_code);
}

static const char begun_by_http[] =
    "jobs:\n"
    "  a:\n"
    "    retries: 0\n"
    "    external:\n"
    "      message: the cluster trains\n"
    "      submit:\n"
    "        http:\n"
    "          url: '@/echo'\n"
    "          headers: {X-Token: '${REEVE_CALLBACK_TOKEN}', X-Url: '${REEVE_CALLBACK_URL}'}\n"
    "          json: {callback: '${REEVE_CALLBACK_URL}'}\n"
    "          allow_private: true\n"
    "      timeout: 1h\n"
    "  b: {needs: a, run: 'echo score ${jobs.a.outputs.score}'}\n";

/* ---- a word ---- */

static void a_token_ends_the_job_it_was_made_for_once(void **state) {
    (void)state;
    char id[64], other[64], token[256], wrong[256];
    snprintf(other, sizeof other, "%s", submit(begun_by_http));
    wait_outside(other);
    snprintf(wrong, sizeof wrong, "%s", token_sent());
    snprintf(id, sizeof id, "%s", submit(begun_by_http));
    wait_outside(id);
    snprintf(token, sizeof token, "%s", token_sent());
    assert_has(said("why @/a", id, 0), "waiting for the outside work that it started: the cluster trains");
    assert_has(said("why @/a", id, 0), "until");
    assert_has(webserver_asked(&web), "/api/v1/callback/rvc_");

    assert_has(complete(id, "a", wrong, "", 4), "the token belongs to another job");
    snprintf(wrong, sizeof wrong, "%s", token);
    wrong[strlen(wrong) - 1] = wrong[strlen(wrong) - 1] == '0' ? '1' : '0';
    assert_has(complete(id, "a", wrong, "", 4), "invalid token");
    assert_has(complete(id, "a", "rvc_1.0.a1.7fffffffffff.", "", 4), "invalid token");
    char args[128], expired[256];
    snprintf(args, sizeof args, "callback %s/a --for 1ms", id);
    assert_int_equal(sscanf(said(args, id, 0), "%255s", expired), 1);
    assert_has(complete(id, "a", expired, "", 4), "the token has expired");
    assert_has(complete(id, "a", token, "-o {broken", 2), "the output is not JSON");
    assert_has(complete(id, "b", token, "", 4), "the token belongs to another job");

    complete(id, "a", token, "-o {\"score\":7}", 0);
    said("wait -q @", id, 0);
    assert_string_equal(said("logs @/b", id, 0), "score 7\n");
    assert_has(complete(id, "a", token, "-o {\"score\":8}", 6), "the job is over");
    assert_has(said("show @/a", id, 0), "{\"score\":7}");
    said("complete @/a --fail -r broken", other, 0); /* who may, needs no token */
    said("wait -q @", other, 1);
    assert_has(said("show @/a", other, 0), "broken");
}

/* The outside may be quicker than the attempt that begins it. */
static void a_word_counts_though_the_attempt_is_still_open(void **state) {
    (void)state;
    const char *id =
        submit("jobs:\n"
               "  a:\n"
               "    external:\n"
               "      submit: '\"$REEVE_EXE\" complete \"$REEVE_JOB\" --token \"$REEVE_CALLBACK_TOKEN\" -o 7 "
               "&& exit 3'\n"
               "  b: {needs: a, run: 'echo ${jobs.a.outputs}'}\n");
    said("wait -q @", id, 0);
    assert_string_equal(said("logs @/b", id, 0), "7\n");
    assert_has(said("show @/a", id, 0), "1 of 4");
}

/* Whoever is called back has the URL and nothing else. */
static void the_url_is_all_that_the_outside_needs(void **state) {
    (void)state;
    char id[64], path[256], wrong[300], address[64] = "";
    struct webclient c;
    snprintf(id, sizeof id, "%s", submit(begun_by_http));
    wait_outside(id);
    const char *at = strstr(webserver_asked(&web), "X-Url: http://");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "X-Url: http://%63[^/]%255s", address, path), 2);
    assert_string_equal(address, server.address);
    webclient_open(&c, address, NULL);
    snprintf(wrong, sizeof wrong, "%s0", path);
    assert_int_equal(webclient_ask(&c, "POST", wrong, "{}").status, 401);
    webclient_close(&c);
    webclient_open(&c, address, strrchr(path, '/') + 1); /* as a token it is good for nothing else */
    assert_int_equal(webclient_ask(&c, "GET", "/api/v1/flows", NULL).status, 403);
    webclient_close(&c);
    webclient_open(&c, address, NULL);
    assert_int_equal(webclient_ask(&c, "POST", path, "{\"output\": {\"score\": 3}}").status, 200);
    assert_int_equal(webclient_ask(&c, "POST", path, "{\"failed\": true}").status, 409);
    webclient_close(&c);
    said("wait -q @", id, 0);
    assert_string_equal(said("logs @/b", id, 0), "score 3\n");
}

static void a_failure_outside_is_one_here(void **state) {
    (void)state;
    char id[64], token[256];
    snprintf(id, sizeof id, "%s", submit(begun_by_http));
    wait_outside(id);
    snprintf(token, sizeof token, "%s", token_sent());
    complete(id, "a", token, "--fail -r no-more-disk", 0);
    said("wait -q @", id, 1);
    assert_has(said("show @/a", id, 0), "no-more-disk");
    /* begun anew: the first token is of no use any more */
    said("retry @/a", id, 0);
    wait_outside(id);
    assert_has(complete(id, "a", token, "", 6), "that was about attempt 1, and attempt 2 began it anew");
    complete(id, "a", token_sent(), "-o {\"score\":1}", 0);
    said("wait -q @", id, 0);
}

static void a_job_without_steps_has_tokens_too(void **state) {
    (void)state;
    char id[64], token[256];
    snprintf(id, sizeof id, "%s", submit("jobs: {a: {external: {message: the post, timeout: 1h}}}"));
    for (int i = 0; i < 3000 && realcli_run(&cli, realcli_at("callback @/a", id), NULL, NULL).exit_code != 0; i++)
        continue;
    assert_has(said("why @/a", id, 0), "waiting for completion from outside: the post");
    assert_int_equal(sscanf(said("callback @/a", id, 0), "%255s", token), 1);
    complete(id, "a", token, "-o 1", 0);
    said("wait -q @", id, 0);
    assert_has(complete(id, "a", token, "", 6), "");
    assert_has(said("callback @/a", id, 6), "is not waiting for completion");
}

/* ---- polls ---- */

static void polls_ask_until_it_is_done_and_use_up_no_retry(void **state) {
    (void)state;
    const char *id =
        submit("defaults: {retries: 0}\n"
               "jobs:\n"
               "  a:\n"
               "    external:\n"
               "      submit: {http: {url: '@/echo/begin', method: POST, allow_private: true}}\n"
               "      poll:\n"
               "        http: {url: '@/job/6/x', allow_private: true}\n"
               "        every: 10ms\n"
               "        up_to: 40ms\n"
               "        until: output.json.state == 'done'\n"
               "  b: {needs: a, run: 'echo ${jobs.a.outputs.json.answer}'}\n"
               "  c:\n"
               "    env: {N: '${flow.id}'}\n"
               "    external:\n"
               "      poll:\n"
               "        run: 'echo x >>/tmp/reeve-poll-$N; [ $(wc -l </tmp/reeve-poll-$N) -gt 3 ] || exit 75; "
               "rm /tmp/reeve-poll-$N; echo 5 >$REEVE_OUTPUT'\n"
               "        every: 10ms\n"
               "  d: {needs: c, run: 'echo ${jobs.c.outputs}'}\n");
    said("wait -q @", id, 0);
    assert_string_equal(said("logs @/b", id, 0), "42\n");
    assert_string_equal(said("logs @/d", id, 0), "5\n");
    assert_int_equal(webserver_count(&web, "POST /echo/begin"), 1);
    assert_int_equal(webserver_count(&web, "GET /job/6/x"), 7);
}

static void a_poll_may_find_that_it_failed(void **state) {
    (void)state;
    const char *id = submit(
        "jobs:\n"
        "  a:\n"
        "    external:\n"
        "      poll:\n"
        "        http: {url: '@/job/2/x', allow_private: true}\n"
        "        every: 10ms\n"
        "        failed: output.json.state == 'done'\n"
        "        until: output.json.state == 'never'\n"
        "  b:\n"
        "    backoff: {base: 1ms, jitter: 1ms}\n"
        "    retries: 1\n"
        "    external: {poll: {run: exit 3, every: 10ms}}\n"
        "  c:\n"
        "    retries: 0\n"
        "    external: {poll: {http: {url: '@/job/2/y', allow_private: true}, every: 10ms, until: output.json.a.b}}\n");
    said("wait -q @", id, 1);
    assert_has(said("show @/a", id, 0), "its poll reported a failure");
    assert_int_equal(webserver_count(&web, "GET /job/2/x"), 3);
    assert_has(said("show @/b", id, 0), "2 of 2"); /* what goes wrong is what retries are for */
    assert_has(said("show @/c", id, 0), "until");
}

static void what_takes_too_long_times_out(void **state) {
    (void)state;
    const char *id = submit("jobs:\n"
                            "  a: {external: {submit: 'true', timeout: 200ms}}\n"
                            "  b: {external: {poll: {run: exit 75, every: 20ms}, timeout: 200ms}}\n");
    said("wait -q @", id, 1);
    assert_has(said("show @/a", id, 0), "timed_out");
    assert_has(said("show @/b", id, 0), "timed_out");
}

static void one_that_waits_can_be_cancelled(void **state) {
    (void)state;
    char id[64], token[256];
    snprintf(id, sizeof id, "%s", submit(begun_by_http));
    wait_outside(id);
    snprintf(token, sizeof token, "%s", token_sent());
    said("cancel @", id, 0);
    said("wait -q @", id, 1);
    assert_has(complete(id, "a", token, "", 6), "cancelled");
}

/* ---- kills ---- */

static void killed_at_every_step_it_is_begun_once_and_ends(void **state) {
    (void)state;
    char id[64];
    snprintf(id, sizeof id, "%s", submit(begun_by_http));
    server_again(); /* accepted */
    wait_outside(id);
    server_again(); /* begun */
    wait_outside(id);
    complete(id, "a", token_sent(), "-o {\"score\":9}", 0); /* made by a server that was killed twice since */
    server_again();                                         /* told */
    said("wait -q @", id, 0);
    assert_string_equal(said("logs @/b", id, 0), "score 9\n");
    assert_int_equal(webserver_count(&web, "POST /echo"), 1);
}

static void polls_go_on_after_a_kill(void **state) {
    (void)state;
    char id[64];
    snprintf(id, sizeof id, "%s",
             submit("defaults: {retries: 0}\n"
                    "jobs:\n"
                    "  a:\n"
                    "    external:\n"
                    "      submit: {http: {url: '@/echo/begin', method: POST, allow_private: true}}\n"
                    "      poll: {http: {url: '@/job/40/x', allow_private: true}, every: 20ms,\n"
                    "             until: output.json.state == 'done'}\n"));
    for (uint32_t polls = 5; polls < 40; polls += 10) {
        for (int i = 0; i < 1000000 && webserver_count(&web, "GET /job/40/x") < polls; i++) continue;
        server_again();
    }
    said("wait -q @", id, 0);
    assert_has(said("show @/a", id, 0), "\"answer\": 42");
    assert_int_equal(webserver_count(&web, "POST /echo/begin"), 1);
}

/* ---- what is refused ---- */

static void wrong_ones_are_refused_with_their_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"jobs: {a: {external: {submit: {every: 1s}}}}", "an object with `run` or `http`"},
        {"jobs: {a: {external: {submit: {run: x, until: 'true'}}}}", "belong to a `poll`"},
        {"jobs: {a: {external: {submit: {run: x, http: 'http://x/'}}}}", "not both"},
        {"jobs: {a: {external: {poll: {run: x}}}}", "a poll needs its interval"},
        {"jobs: {a: {external: {poll: {http: 'http://x/', every: 1s}}}}", "needs `until`"},
        {"jobs: {a: {external: {poll: {run: x, every: 1s, until: '1 +'}}}}", "unexpected symbol"},
        {"jobs: {a: {external: {sumbit: x}}}", "did you mean `submit`"},
        {"jobs: {a: {external: {submit: []}}}", "empty list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ran ran = realcli_run(&cli, "submit %s", realcli_file(&cli, "bad.yaml", cases[i].text), NULL);
        assert_int_equal(ran.exit_code, 2);
        assert_has(ran.err, "bad.yaml:");
        assert_has(ran.err, cases[i].says);
    }
    struct ran ran =
        realcli_run(&cli, "submit %s",
                    realcli_file(&cli, "fast.yaml", "jobs: {a: {external: {poll: {run: x, every: 1ms}}}}"), NULL);
    assert_has(ran.err, "poll_ms_min");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_token_ends_the_job_it_was_made_for_once),
        TEST(a_word_counts_though_the_attempt_is_still_open),
        TEST(the_url_is_all_that_the_outside_needs),
        TEST(a_failure_outside_is_one_here),
        TEST(a_job_without_steps_has_tokens_too),
        TEST(polls_ask_until_it_is_done_and_use_up_no_retry),
        TEST(a_poll_may_find_that_it_failed),
        TEST(what_takes_too_long_times_out),
        TEST(one_that_waits_can_be_cancelled),
        TEST(killed_at_every_step_it_is_begun_once_and_ends),
        TEST(polls_go_on_after_a_kill),
        TEST(wrong_ones_are_refused_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
