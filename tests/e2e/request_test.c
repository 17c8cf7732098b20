/* request_test.c: http jobs on a real server and worker, against a web server on this machine. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"
#include "realworker.h"
#include "webserver.h"

static struct realserver server;
static struct realworker worker;
static struct realcli cli;
static struct webserver web;

static int setup(void **state) {
    (void)state;
    webserver_start(&web);
    realserver_make(&server);
    realserver_start(&server);
    realworker_make(&worker, &server, "worker");
    setenv("WEB_SECRET", "s3cret value", 1);
    worker.flags[0] = "--http-private";
    worker.flags[1] = "127.0.0.0/9"; /* a part of what is this machine */
    worker.flags[2] = "--pass-env";
    setenv("WEB_HOST", "s3cr3t-host", 1);
    setenv("WEB_PORT", "77", 1);
    worker.flags[3] = "WEB_SECRET,WEB_HOST,WEB_PORT";
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

/* A flow file; each @ in the text becomes the address of the web server. Runs it to its end; its id. */
static const char *run(const char *text, int exit_code) {
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
    struct ran ran = realcli_run(&cli, realcli_at("wait -q @", id), NULL, NULL);
    if (ran.exit_code != exit_code)
        fail_msg("exit %d: %s%s%s", ran.exit_code, file, ran.out,
                 realcli_run(&cli, realcli_at("logs @/a", id), NULL, NULL).out);
    return id;
}

/* On both outputs. */
static const char *said(const char *args, const char *id) {
    static char text[1 << 16];
    struct ran ran = realcli_run(&cli, realcli_at(args, id), NULL, NULL);
    snprintf(text, sizeof text, "%s%s", ran.out, ran.err);
    return text;
}

/* ---- what works ---- */

static void an_answer_is_what_others_work_with(void **state) {
    (void)state;
    const char *id = run("params: {who: 'a b&c'}\n"
                         "jobs:\n"
                         "  a:\n"
                         "    http:\n"
                         "      url: '@/echo?who=${params.who}'\n"
                         "      headers: {X-Key: 'k ${WEB_SECRET}', X-Empty: ''}\n"
                         "      json: {name: '${params.who} \"q\"', n: 3, deep: [true, null, {x: 'y'}], e: {}}\n"
                         "      allow_private: true\n"
                         "  b:\n"
                         "    needs: a\n"
                         "    env: {BODY: '${jobs.a.outputs.json.body}', MANY: '${jobs.a.outputs.headers.x-many}'}\n"
                         "    run: echo ${jobs.a.outputs.status} ${jobs.a.outputs.json.method} \"$BODY\" \"$MANY\"\n",
                         0);
    assert_string_equal(said("logs @/b", id), "200 POST {\"name\":\"a b&c \\\"q\\\"\",\"n\":3,\"deep\":[true,null,"
                                              "{\"x\":\"y\"}],\"e\":{}} a, b\n");
    const char *asked = webserver_asked(&web);
    assert_has(asked, "POST /echo?who=a%20b%26c HTTP/1.1\r\n");
    assert_has(asked, "X-Key: k s3cret value\r\n");
    assert_has(asked, "X-Empty:\r\n");
    assert_has(asked, "Content-Type: application/json\r\n");
    assert_null(strstr(asked, "Expect:"));
    assert_null(strstr(said("logs @/a", id), "s3cret")); /* what the worker keeps to itself is not shown */
}

static void outputs_of_others_go_into_requests(void **state) {
    (void)state;
    run("jobs:\n"
        "  a: {run: 'printf ''{\"t\": \"x/y\\\\\"${WEB_SECRET}\", "
        "\"bad\": \"a\\\\r\\\\nX-Evil: 1\"}'' >$REEVE_OUTPUT'}\n"
        "  b:\n"
        "    needs: a\n"
        "    http: {url: '@/echo/${jobs.a.outputs.t}', json: {t: '${jobs.a.outputs.t}'}, allow_private: true}\n"
        "  c:\n"
        "    needs: a\n"
        "    http: {url: '@/echo', headers: {X-Two: '${jobs.a.outputs.bad}'}, allow_private: true}\n",
        1);
    const char *asked = webserver_asked(&web);
    assert_has(asked, "/echo/x%2Fy%22%24%7BWEB_SECRET%7D HTTP"); /* a value asks for no variable */
    assert_has(asked, "{\"t\":\"x/y\\\"${WEB_SECRET}\"}");
    assert_null(strstr(asked, "X-Evil"));
    assert_null(strstr(asked, "X-Two"));
}

static void plain_and_binary_answers(void **state) {
    (void)state;
    const char *id =
        run("jobs:\n"
            "  a: {http: {url: '@/status/200', allow_private: true}}\n"
            "  b: {http: {url: '@/binary', save: sub/data.bin, allow_private: true}}\n"
            "  c: {http: {url: '@/status/404', expect: [200, 400-410], method: DELETE, allow_private: true}}\n"
            "  d: {http: {url: '@/binary', allow_private: true}}\n",
            0);
    assert_has(said("show @/a", id), "\"text\":\"it is what it is\"");
    assert_has(said("show @/b", id), "\"file\":\"sub/data.bin\"");
    assert_has(said("get @/b", id), "sub/data.bin");
    assert_has(said("show @/c", id), "\"status\":404");
    assert_has(said("show @/d", id), "\"base64\":\"AP8B\"");
    assert_has(webserver_asked(&web), "DELETE /status/404 ");
}

static void what_may_pass_is_tried_again_and_what_cannot_is_not(void **state) {
    (void)state;
    const char *id = run("defaults: {backoff: {base: 1ms, jitter: 1ms}}\n"
                         "jobs:\n"
                         "  a: {http: {url: '@/flaky/2/x', allow_private: true}}\n",
                         0);
    assert_has(said("show @/a", id), "3 of 4");
    assert_has(said("logs @/a --attempt 1", id), "retry after 1");
    id = run("defaults: {backoff: {base: 1ms, jitter: 1ms}}\n"
             "jobs:\n"
             "  a: {http: {url: '@/status/403', allow_private: true}}\n"
             "  b: {retries: 1, http: {url: 'http://127.0.0.1:1/', allow_private: true}}\n"
             "  c: {retries: 1, http: {url: '@/status/429', allow_private: true}}\n"
             "  d: {retries: 1, fatal_exit_codes: 1, http: {url: '@/status/403', allow_private: true}}\n",
             1);
    assert_has(said("show @/a", id), "1 of 4");
    assert_has(said("logs @/a", id), "403 is not among the expected answers\nit is what it is");
    assert_has(said("show @/b", id), "2 of 2");
    assert_has(said("show @/c", id), "2 of 2");
    assert_has(said("show @/d", id), "2 of 2"); /* the job knows better */
}

/* A server that says when to come again is not asked before, however short the backoff of the job is. */
static void a_retry_comes_no_earlier_than_the_server_says(void **state) {
    (void)state;
    const char *id = run("defaults: {backoff: {base: 10ms, cap: 10ms, jitter: 1ms}}\n"
                         "jobs:\n"
                         "  a: {http: {url: '@/later/2/x', allow_private: true}}\n",
                         0);
    const char *shown = said("show @/a", id), *text = strstr(shown, "\"text\":\"after ");
    assert_has(shown, "2 of 4");
    assert_non_null(text);
    long after_ms = strtol(text + strlen("\"text\":\"after "), NULL, 10);
    if (after_ms < 2000) fail_msg("asked again after %ld ms", after_ms);
    assert_has(said("logs @/a --attempt 1", id), "retry after 2");
}

/* ---- limits ---- */

static void answers_beyond_limits_are_cut_off(void **state) {
    (void)state;
    const char *id = run("defaults: {retries: 0}\n"
                         "jobs:\n"
                         "  a: {http: {url: '@/huge', allow_private: true}}\n"
                         "  b: {http: {url: '@/heads', allow_private: true}}\n"
                         "  c: {http: {url: '@/slow', timeout: 300ms, allow_private: true}}\n"
                         "  d: {http: {url: '@/huge', save: x, max_bytes: 100KB, allow_private: true}}\n",
                         1);
    assert_has(said("logs @/a", id), "longer than 1048576 bytes (max_bytes)");
    assert_has(said("logs @/b", id), "the head of the answer has more than");
    assert_has(said("logs @/c", id), "timed out");
    assert_has(said("logs @/d", id), "longer than 100000 bytes");
}

/* ---- where it goes ---- */

/* A part of the URL that the worker keeps to itself is in no message, whatever goes wrong. */
static void a_secret_host_is_not_shown(void **state) {
    (void)state;
    const char *id = run("defaults: {retries: 0}\n"
                         "jobs:\n"
                         "  a: {http: {url: 'http://${WEB_HOST}/x', allow_private: true}}\n"
                         "  b: {http: {url: 'http://${WEB_HOST}.invalid/x', allow_private: true}}\n"
                         "  c: {http: {url: 'http://no-such-host.invalid/x', allow_private: true}}\n"
                         "  d: {http: {url: 'http://127.0.0.${WEB_PORT}:1/', allow_private: true}}\n",
                         1);
    static const char *const jobs[] = {"logs @/a", "logs @/b", "logs @/d", "show @/a", "show @/b", "show @/d"};
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        assert_null(strstr(said(jobs[i], id), "s3cr3t-host"));
        assert_null(strstr(said(jobs[i], id), "127.0.0.77"));
    }
    assert_has(said("logs @/b", id), "http://${WEB_HOST}.invalid/x: ");
    assert_has(said("logs @/c", id), "no-such-host.invalid"); /* without a variable the whole message is shown */
}

static void only_listed_private_addresses_and_only_if_the_job_says_so(void **state) {
    (void)state;
    const char *id = run("defaults: {backoff: {base: 1ms, jitter: 1ms}}\n"
                         "jobs:\n"
                         "  a: {http: '@/echo'}\n"
                         "  b: {http: {url: 'http://127.128.0.1:80/', allow_private: true}}\n"
                         "  c: {http: {url: 'http://[::1]:80/', allow_private: true}}\n"
                         "  d: {http: {url: 'http://0x7f.128.1/', allow_private: true}}\n"
                         "  e: {http: {url: 'http://[::ffff:169.254.169.254]/', allow_private: true}}\n"
                         "  f: {http: {url: 'http://localhost:1/'}}\n",
                         1);
    assert_has(said("logs @/a", id), "127.0.0.1 is not a public address; the job does not say `allow_private: true`");
    assert_has(said("show @/a", id), "1 of 4"); /* trying again would change nothing */
    assert_has(said("logs @/b", id), "127.128.0.1 is not a public address and not among those that this worker allows");
    assert_has(said("logs @/c", id), "::1 is not a public address");
    assert_has(said("logs @/d", id), "127.128.0.1 is not a public address");
    assert_has(said("logs @/e", id), "169.254.169.254 is not a public address");
    assert_has(said("logs @/f", id), "is not a public address");
    assert_int_equal(webserver_count(&web, "GET "), 0);
}

static void redirects_are_counted_and_checked_like_the_first(void **state) {
    (void)state;
    const char *id = run("defaults: {retries: 0}\n"
                         "jobs:\n"
                         "  a: {http: {url: '@/goto?@/echo', allow_private: true}}\n"
                         "  b: {http: {url: '@/goto?http://127.200.0.1/', redirects: 3, allow_private: true}}\n"
                         "  c: {http: {url: '@/goto?@/goto?@/goto?@/echo', redirects: 2, allow_private: true}}\n"
                         "  d: {http: {url: '@/goto?file:///etc/passwd', redirects: 3, allow_private: true}}\n",
                         1);
    assert_has(said("logs @/a", id), "302 is not among the expected answers");
    assert_has(said("logs @/b", id), "127.200.0.1 is not a public address");
    assert_has(said("logs @/c", id), "302 is not among the expected answers");
    assert_has(said("show @/d", id), "failed");
    id = run("jobs:\n"
             "  a:\n"
             "    http:\n"
             "      url: '@/goto?@/echo'\n"
             "      headers: {X-Mine: yes}\n"
             "      body: text\n"
             "      redirects: 1\n"
             "      allow_private: true\n"
             "  b:\n"
             "    retries: 0\n"
             "    http: {url: '@/goto307?http://127.0.0.2:1/', redirects: 1, allow_private: true}\n",
             1);
    assert_has(said("show @/a", id), "\"method\":\"GET\"");
    assert_has(said("show @/a", id), "X-Mine: yes");
    assert_has(said("show @/b", id), "failed");
}

/* What is elsewhere does not get the job's headers: another port is elsewhere. */
static void headers_stay_with_the_server_they_were_meant_for(void **state) {
    (void)state;
    struct webserver other;
    struct webserver first = web;
    webserver_start(&other);
    char text[512];
    snprintf(text, sizeof text,
             "jobs:\n  a: {http: {url: '@/goto?http://127.0.0.1:%u/echo', headers: {Authorization: secret}, "
             "redirects: 1, allow_private: true}}\n",
             other.port);
    run(text, 0);
    assert_has(webserver_asked(&first), "Authorization: secret");
    assert_has(webserver_asked(&other), "GET /echo");
    assert_null(strstr(webserver_asked(&other), "secret"));
    webserver_stop(&other);
}

/* Another server of ours speaks TLS with a certificate of its own authority. */
static void https_is_asked_with_the_authority_that_the_job_names(void **state) {
    (void)state;
    struct realserver other = {0}, stranger = {0};
    char command[300], text[1024];
    realserver_make(&other);
    realserver_make(&stranger);
    other.flags[0] = stranger.flags[0] = "--listen";
    other.flags[1] = stranger.flags[1] = "0.0.0.0:0";
    snprintf(command, sizeof command, "%s cert init --data %s 127.0.0.1 >/dev/null", realserver_binary(), other.data);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s cert init --data %s >/dev/null", realserver_binary(), stranger.data);
    assert_int_equal(system(command), 0);
    realserver_start(&other);
    const char *port = strrchr(other.address, ':') + 1;
    snprintf(text, sizeof text,
             "defaults: {retries: 0}\n"
             "jobs:\n"
             "  good: {http: {url: 'https://127.0.0.1:%s/healthz', allow_private: true, tls: {ca: %s/tls/ca.pem}}}\n"
             "  none: {http: {url: 'https://127.0.0.1:%s/healthz', allow_private: true}}\n"
             "  other: {http: {url: 'https://127.0.0.1:%s/healthz', allow_private: true, tls: {ca: %s/tls/ca.pem}}}\n"
             "  name: {http: {url: 'https://127.0.0.2:%s/healthz', allow_private: true, tls: {ca: %s/tls/ca.pem}}}\n"
             "  gone: {http: {url: 'https://127.0.0.1:%s/healthz', allow_private: true, tls: {ca: /no/such.pem}}}\n",
             port, other.data, port, port, stranger.data, port, other.data, port);
    const char *id = run(text, 1);
    assert_has(said("show @/good", id), "succeeded");
    assert_has(said("logs @/good", id), "/healthz: 200");
    static const char *const bad[] = {"show @/none", "show @/other", "show @/name", "show @/gone"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_has(said(bad[i], id), "failed");
    assert_has(said("logs @/none", id), "certificate");
    assert_has(said("logs @/other", id), "certificate");
    assert_has(said("logs @/name", id), "127.0.0.2");
    assert_has(said("logs @/gone", id), "tls.ca: /no/such.pem");
    realserver_kill(&other);
    realserver_remove(&other);
    realserver_remove(&stranger);
}

/* ---- what is refused ---- */

static void wrong_requests_are_refused_with_their_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"jobs: {a: {http: ftp://x/}}", "begins with http:// or https://"},
        {"jobs: {a: {http: {method: GET}}}", "needs its `url`"},
        {"jobs: {a: {http: {url: 'http://x/', method: get}}}", "capital letters"},
        {"jobs: {a: {http: {url: 'http://x/', body: a, json: b}}}", "not both"},
        {"jobs: {a: {http: {url: 'http://x/', headers: {'a b': c}}}}", "not the name of a header"},
        {"jobs: {a: {http: {url: 'http://x/', headers: {a: \"b\\nc\"}}}}", "no control characters"},
        {"jobs: {a: {http: {url: 'http://x/', expect: 20}}}", "between 100 and 599"},
        {"jobs: {a: {http: {url: 'http://x/', expect: 299-200}}}", "between 100 and 599"},
        {"jobs: {a: {http: {url: 'http://x/', timeout: 3}}}", "with its unit"},
        {"jobs: {a: {http: {uri: 'http://x/'}}}", "did you mean `url`"},
        {"jobs: {a: {http: 'http://x/', run: x}}", "exactly one kind: found `run` and `http`"},
        {"jobs: {a: {http: 'http://${jobs.b.outputs.host}/'}}", "b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ran ran = realcli_run(&cli, "submit %s", realcli_file(&cli, "bad.yaml", cases[i].text), NULL);
        assert_int_equal(ran.exit_code, 2);
        assert_has(ran.err, "bad.yaml:");
        assert_has(ran.err, cases[i].says);
    }
}

static void the_worker_has_the_last_word(void **state) {
    (void)state;
    const char *id = run("jobs:\n"
                         "  a: {http: {url: '@/echo', headers: {Content-Length: 5}, allow_private: true}}\n"
                         "  b: {http: {url: '@/echo', headers: {X-A: '${NOT_THERE}'}, allow_private: true}}\n"
                         "  c: {http: {url: '${WEB_SECRET}', allow_private: true}}\n"
                         "  d: {http: {url: 'http://me:you@127.0.0.1/', allow_private: true}}\n"
                         "  e: {http: {url: '@/echo', save: ../up, allow_private: true}}\n",
                         1);
    assert_has(said("logs @/a", id), "the header `Content-Length` is not the job's to set");
    assert_has(said("logs @/b", id), "${NOT_THERE}: there is no such variable here");
    assert_has(said("show @/c", id), "1 of 4");
    assert_null(strstr(said("logs @/c", id), "s3cret"));
    assert_has(said("show @/d", id), "1 of 4");
    assert_has(said("show @/e", id), "is not a path inside the workspace");
    assert_int_equal(webserver_count(&web, "/echo"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_answer_is_what_others_work_with),
        TEST(outputs_of_others_go_into_requests),
        TEST(plain_and_binary_answers),
        TEST(what_may_pass_is_tried_again_and_what_cannot_is_not),
        TEST(a_retry_comes_no_earlier_than_the_server_says),
        TEST(answers_beyond_limits_are_cut_off),
        TEST(a_secret_host_is_not_shown),
        TEST(only_listed_private_addresses_and_only_if_the_job_says_so),
        TEST(redirects_are_counted_and_checked_like_the_first),
        TEST(headers_stay_with_the_server_they_were_meant_for),
        TEST(https_is_asked_with_the_authority_that_the_job_names),
        TEST(wrong_requests_are_refused_with_their_place),
        TEST(the_worker_has_the_last_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
