/* format_test.c: what verbs print for programs. --json is the body that HTTP answers for the same request, byte for
 * byte; the other forms of -o say the same things. */
#include "test.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "realcli.h"
#include "webclient.h"

static struct realcli *const r = &realcli_group;
static char address[128], token[128];
static char flow[64]; /* succeeded/succeeded with a result; failed; waits for approval */

static void read_line(const char *name, char *ret, int size) {
    char path[96];
    snprintf(path, sizeof path, "%s/%s", r->data, name);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_non_null(fgets(ret, size, f));
    ret[strcspn(ret, "\n")] = 0;
    fclose(f);
}

/* The same things for all tests; no test changes them. */
static int group_setup(void **state) {
    int bad = realcli_group_setup(state);
    if (bad != 0) return bad;
    read_line("address", address, sizeof address);
    read_line("admin.token", token, sizeof token);
    snprintf(flow, sizeof flow, "%s",
             realcli_submit(
                 r,
                 "name: shapes\n"
                 "jobs:\n"
                 "  good: {run: 'echo said; echo \"{\\\"rows\\\": 3, \\\"name\\\": \\\"a b\\\"}\" > $REEVE_OUTPUT'}\n"
                 "  bad: {run: 'exit 3', retries: 0}\n"
                 "  gate: {gate: {message: 'Go on?'}}\n",
                 ""));
    (void)realcli_run(r, realcli_at("wait @/good @/bad", flow), NULL, NULL);
    (void)realcli_ok(r, "kv set colour blue", NULL);
    (void)realcli_ok(r, "kv add team ann bob", NULL);
    (void)realcli_ok(r, "limit key gpu 2", NULL);
    (void)realcli_ok(r, "blob put %s", realcli_file(r, "kept.txt", "kept\n"));
    (void)realcli_ok(r, "schedule add --name nightly --cron @daily %s",
                     realcli_file(r, "nightly.yaml", "jobs: {a: {run: 'true'}}\n"));
    (void)realcli_ok(r, "deploy --name web %s", realcli_file(r, "web.sh", "exec sleep 1000\n"));
    return 0;
}

/* ---- json ---- */

/* What stands behind it is of the same moment, or of one before or after: a worker may have said something between. */
static void same_as_http(const char *args, const char *path) {
    struct webclient c;
    struct webgot before, after;
    struct ran ran = {0};
    bool same = false;
    webclient_open(&c, address, token);
    const char *target = realcli_at(path, flow), *words = realcli_at(args, flow);
    for (int i = 0; i < 5 && !same; i++) {
        before = webclient_ask(&c, "GET", target, NULL);
        ran = realcli_ok(r, words, NULL);
        after = webclient_ask(&c, "GET", target, NULL);
        assert_int_equal(before.status, 200);
        same = strcmp(ran.out, before.body) == 0 || strcmp(ran.out, after.body) == 0;
    }
    if (!same) fail_msg("`%s` printed\n%s\nGET %s answers\n%s", words, ran.out, target, after.body);
    webclient_close(&c);
}

/* What only looks, and the request of HTTP that it is. @ is the flow of this test. */
static const struct {
    const char *args, *path;
} looks[] = {
    {"ls --json", "/api/v1/flows?most=50"},
    {"ls -o json --all", "/api/v1/flows"},
    {"ls @ --json", "/api/v1/flows/@/jobs?most=50"},
    {"ls --json --state failed", "/api/v1/flows?most=50&states=failed"},
    {"show @ --json", "/api/v1/flows/@?details=true"},
    {"show @/good --json", "/api/v1/jobs/@/good"},
    {"show @/bad --json", "/api/v1/jobs/@/bad"},
    {"why @/gate --json", "/api/v1/jobs/@/gate/why"},
    {"dead --json", "/api/v1/dead?most=50"},
    {"workers --json", "/api/v1/workers?most=50"},
    {"approve --json", "/api/v1/questions?most=1000"},
    {"schedule ls --json", "/api/v1/schedules"},
    {"services --json", "/api/v1/services"},
    {"limits --json", "/api/v1/limits"},
    {"kv get colour --json", "/api/v1/store?keys=colour"},
    {"kv get team --json", "/api/v1/store?keys=team&members=true"},
    {"kv ls --json", "/api/v1/store?most=50"},
    {"blob ls --json", "/api/v1/blobs?most=50"},
    {"token ls --json", "/api/v1/tokens"},
    {"graph @ --json", "/api/v1/flows/@/graph?most=1000"},
    {"schedule show nightly --json", "/api/v1/schedules/nightly?ahead=5"},
    {"schedule next nightly --json", "/api/v1/schedules?name=nightly&ahead=5"},
    {"services web --json", "/api/v1/services/web"},
    {"audit --json --limit 5", "/api/v1/audit?most=5&people=true"},
};

static void json_is_the_body_that_http_answers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) same_as_http(looks[i].args, looks[i].path);
}

/* Ids, times and positions differ between two flows: each run of digits, and each id, becomes one sign. */
static const char *masked(const char *text, bool is_secret) {
    static char kept[2][4096];
    static int turn;
    char *to = kept[turn ^= 1];
    size_t len = 0;
    for (const char *at = text; *at != 0 && *at != '\n' && len < sizeof kept[0] - 2;) {
        if (is_secret && at[0] == ':' && at[1] == '"') { /* so does what makes up a token */
            to[len++] = ':';
            at += 2 + strcspn(at + 2, "\"") + 1;
        } else if (at[0] == '"' && at[1] == 'f' && isdigit((unsigned char)at[2])) {
            to[len++] = '"', to[len++] = 'F';
            at += 1 + strcspn(at + 1, "\"/");
        } else if (isdigit((unsigned char)*at)) {
            to[len++] = '#';
            while (isdigit((unsigned char)*at)) at++;
        } else {
            to[len++] = *at++;
        }
    }
    to[len] = 0;
    return to;
}

/* What changes something, done once by the command line and once by HTTP. @ is a flow of two gates, one for each. A
 * line may need what the lines before it did. */
static const struct {
    const char *args, *verb, *path, *body;
} changes[] = {
    {"pause @ --json", "POST", "/api/v1/flows/@/pause", ""},
    {"resume @ --json", "POST", "/api/v1/flows/@/resume", ""},
    {"kv set twin 1 --json", "POST", "/api/v1/store",
     "{\"op\":\"set\",\"entries\":[{\"key\":\"twin\",\"value\":\"1\"}]}"},
    {"kv incr sum 2 --json", "POST", "/api/v1/store", "{\"op\":\"increase\",\"key\":\"sum\",\"number\":2}"},
    {"kv add pair a b --json", "POST", "/api/v1/store", "{\"op\":\"add\",\"key\":\"pair\",\"members\":[\"c\",\"d\"]}"},
    {"kv rem pair a --json", "POST", "/api/v1/store", "{\"op\":\"remove\",\"key\":\"pair\",\"members\":[\"c\"]}"},
    {"kv expire pair --json", "POST", "/api/v1/store", "{\"op\":\"expire\",\"key\":\"pair\"}"},
    {"kv publish news hello --json", "POST", "/api/v1/store",
     "{\"op\":\"publish\",\"key\":\"news\",\"value\":\"hello\"}"},
    {"kv del sum --json", "POST", "/api/v1/store", "{\"op\":\"delete\",\"entries\":[{\"key\":\"twin\"}]}"},
    {"limit key twin 3 --json", "POST", "/api/v1/limits", "{\"kind\":\"key\",\"name\":\"twin\",\"width\":3}"},
    {"limit rate twin 3 --json", "POST", "/api/v1/limits",
     "{\"kind\":\"rate\",\"name\":\"twin\",\"rate_milli\":3000,\"burst\":1}"},
    {"limit tenant --running 50 --json", "POST", "/api/v1/limits", "{\"kind\":\"tenant\",\"running\":60}"},
    {"discard @/bad --json", "POST", "/api/v1/jobs/@/bad/discard", ""},
    {"retry @/worse --json", "POST", "/api/v1/jobs/@/worse/retry", ""},
    {"callback @/outside --json", "POST", "/api/v1/jobs/@/outside/callback", ""},
    {"complete @/outside --json", "POST", "/api/v1/jobs/@/outside/complete", ""},
    {"cancel @ --json", "POST", "/api/v1/flows/@/cancel", ""},
    {"rerun @ --json", "POST", "/api/v1/flows/@/rerun", ""},
    {"schedule pause nightly --json", "POST", "/api/v1/schedules/nightly/pause", ""},
    {"schedule resume nightly --json", "POST", "/api/v1/schedules/nightly/resume", ""},
    {"schedule run nightly --slot 2026-01-01 --json", "POST", "/api/v1/schedules/nightly/run",
     "{\"slot\":\"2026-01-02\"}"},
    {"schedule backfill nightly --since 2026-01-01 --until 2026-01-02 --json", "POST",
     "/api/v1/schedules/nightly/backfill", "{\"since\":\"2026-01-03\",\"until\":\"2026-01-04\"}"},
    {"stop web --json", "PUT", "/api/v1/services/web", "{\"desired\":\"stopped\"}"},
    {"start web --json", "PUT", "/api/v1/services/web", "{\"desired\":\"running\"}"},
    {"restart web --json", "PUT", "/api/v1/services/web", "{\"desired\":\"restart\"}"},
    {"token new twin --role viewer --json", "POST", "/api/v1/tokens",
     "{\"name\":\"twin\",\"tenant\":\"default\",\"roles\":[\"viewer\"]}"},
    {"console --json", "POST", "/api/v1/session/link", ""},
};

/* Verbs that answer nothing that one route of HTTP does, and why. */
static const struct {
    const char *verb, *why;
} others[] = {
    {"run", "prints the end of its job"},
    {"add", "as submit, below"},
    {"submit", "compared by itself, below"},
    {"plan", "no route: a tool of agents, compared in e2e/plan_test"},
    {"logs", "a line for each line; HTTP sends bytes"},
    {"get", "a part of the job: a line for each artifact"},
    {"wait", "prints each as it ends; HTTP answers once"},
    {"top", "a picture of several requests"},
    {"reject", "its request has the hash of what was shown; answered as `pause`"},
    {"drain", "needs a second worker; its answer is that of `pause`"},
    {"deploy", "waits, and prints the services"},
    {"rollback", "as deploy"},
    {"audit ls", "as audit, which it is"},
    {"scale", "as restart; e2e/replica_test compares the numbers"},
    {"undeploy", "as stop"},
    {"schedule add", "prints its next slots"},
    {"schedule rm", "as pause"},
    {"demand", "has the time of the answer in it"},
    {"events", "a stream"},
    {"stats", "counts the requests that ask for it"},
    {"kv watch", "a stream"},
    {"blob put", "hash and size, as POST /blobs, which needs no second request"},
    {"blob get", "bytes"},
    {"blob rm", "a change of the store, as kv del"},
    {"token revoke", "as retry of several"},
    {"mcp", "another protocol"},
    {"shell", "runs other verbs"},
    {"version", "this program, and the server's hello"},
};

static void changes_are_answered_as_by_http(void **state) {
    (void)state;
    static const char *const file =
        "{\"name\":\"twin\",\"jobs\":{\"a\":{\"gate\":{\"message\":\"?\"}},\"outside\":{\"external\":\"x\"},"
        "\"bad\":{\"run\":\"exit 1\",\"retries\":0},\"worse\":{\"run\":\"exit 1\",\"retries\":0}}}";
    struct webclient c;
    char by_cli[64], by_http[64];
    webclient_open(&c, address, token);
    struct ran ran = realcli_ok(r, "submit --json %s", realcli_file(r, "twin.json", file));
    struct webgot got = webclient_ask(&c, "POST", "/api/v1/flows", file);
    assert_string_equal(masked(ran.out, false), masked(got.body, false));
    snprintf(by_http, sizeof by_http, "%s", webgot_text(&c, &got, "flow"));
    assert_int_equal(sscanf(strstr(ran.out, "\"flow\":\""), "\"flow\":\"%60[a-z0-9]", by_cli), 1);
    (void)realcli_run(r, realcli_at("wait @/bad @/worse", by_cli), NULL, NULL);
    (void)realcli_run(r, realcli_at("wait @/bad @/worse", by_http), NULL, NULL);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        ran = realcli_run(r, realcli_at(changes[i].args, by_cli), NULL, NULL);
        got = webclient_ask(&c, changes[i].verb, realcli_at(changes[i].path, by_http), changes[i].body);
        bool secret = strstr(got.body, "\"token\"") != NULL || strstr(got.body, "\"ticket\"") != NULL;
        if (ran.exit_code != 0 || strcmp(masked(ran.out, secret), masked(got.body, secret)) != 0)
            fail_msg("`%s` printed\n%s%s\n%s %s answers\n%s", changes[i].args, ran.out, ran.err, changes[i].verb,
                     changes[i].path, got.body);
    }
    webclient_close(&c);
}

static bool is_of(const char *args, const char *verb) {
    size_t len = strlen(verb);
    return strncmp(args, verb, len) == 0 && (args[len] == ' ' || args[len] == 0);
}

/* Those that need no server have nothing that HTTP could answer. */
static void every_verb_is_compared_or_has_a_reason(void **state) {
    (void)state;
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        const char *verb = cli_verbs[i].words;
        uint32_t found = cli_verbs[i].offline;
        for (size_t k = 0; k < sizeof looks / sizeof *looks; k++) found += is_of(looks[k].args, verb);
        for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) found += is_of(changes[k].args, verb);
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) found += strcmp(others[k].verb, verb) == 0;
        if (found == 0) fail_msg("the JSON of `reeve %s` is compared with nothing", verb);
    }
}

static void an_error_is_the_object_that_http_answers(void **state) {
    (void)state;
    struct webclient c;
    webclient_open(&c, address, token);
    struct ran ran = realcli_run(r, "show f9zzz/none --json", NULL, NULL);
    struct webgot got = webclient_ask(&c, "GET", "/api/v1/jobs/f9zzz/none", NULL);
    assert_int_equal(ran.exit_code, 5);
    assert_int_equal(got.status, 404);
    assert_string_equal(ran.err, got.body);
    webclient_close(&c);
}

/* ---- pipes: what people write ---- */

static void pipes_into_jq_just_work(void **state) {
    (void)state;
    static const struct {
        const char *args, *filter, *out;
    } pipes[] = {
        {"show @/good --json", ".result.rows", "3"},
        {"show @/good --json", ".result.name", "a b"},
        {"show @/good --json", ".state", "succeeded"},
        {"show @/bad --json", ".exit_code", "3"},
        {"show @/bad --json", ".attempts | length", "1"},
        {"show @/good --json", ".body.shell | length > 0", "true"},
        {"show @ --json", ".flow.name", "shapes"},
        {"show @ --json", ".flow.states.succeeded", "1"},
        {"show @ --json", "[.jobs[].state] | sort | join(\" \")", "failed held succeeded"},
        {"ls @ --json", ".jobs | length", "3"},
        {"ls @ --json", ".jobs[] | select(.state == \"failed\") | .cause", "exit"},
        {"ls --json --name shapes", ".flows[0].name", "shapes"},
        {"ls -o jsonl --name shapes", ".name", "shapes"},
        {"why @/gate --json", ".gate", "approval"},
        {"approve --json", ".questions[0].body.message", "Go on?"},
        {"workers --json", ".workers | length", "1"},
        {"kv get colour --json", ".items[0].value", "blue"},
        {"kv get colour -o jsonl", ".key", "colour"},
        {"kv get team --json", ".members | join(\",\")", "ann,bob"},
        {"limits -o jsonl", "select(.name == \"gpu\") | .width", "2"},
        {"schedule ls -o jsonl", ".name", "nightly"},
        {"blob ls -o jsonl", "select(.bytes == 5) | .hash | length", "64"}, /* others are files of flows */
        {"token ls -o jsonl", "select(.name == \"admin\") | .roles[0]", "admin"},
        {"dead -o jsonl", ".exit_code", "3"},
        {"stats --json", ".numbers | has(\"flows\")", "true"},
    };
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++) {
        char command[256], out[512] = "";
        struct ran ran = realcli_ok(r, realcli_at(pipes[i].args, flow), NULL);
        const char *path = realcli_file(r, "piped.json", ran.out);
        snprintf(command, sizeof command, "jq -r '%s' %s", pipes[i].filter, path);
        FILE *f = popen(command, "re");
        assert_non_null(f);
        size_t len = fread(out, 1, sizeof out - 1, f);
        if (pclose(f) != 0) fail_msg("`%s` printed\n%s", pipes[i].args, ran.out);
        if (len > 0 && out[len - 1] == '\n') out[len - 1] = 0;
        if (strcmp(out, pipes[i].out) != 0)
            fail_msg("`%s | jq '%s'` prints `%s`, not `%s`; the text is\n%s", pipes[i].args, pipes[i].filter, out,
                     pipes[i].out, ran.out);
    }
}

/* ---- the other forms ---- */

static void names_are_what_other_verbs_take(void **state) {
    (void)state;
    char expected[256];
    struct ran ran = realcli_ok(r, realcli_at("ls @ -o name", flow), NULL);
    snprintf(expected, sizeof expected, "%s/good\n%s/bad\n%s/gate\n", flow, flow, flow);
    assert_string_equal(ran.out, expected);
    ran = realcli_ok(r, "ls --name shapes -o name", NULL);
    snprintf(expected, sizeof expected, "%s\n", flow);
    assert_string_equal(ran.out, expected);
    assert_string_equal(realcli_ok(r, "schedule ls -o name", NULL).out, "nightly\n");
    assert_string_equal(realcli_ok(r, realcli_at("show @/good -o name", flow), NULL).out, realcli_at("@/good\n", flow));
    ran = realcli_ok(r, "blob ls -o name", NULL);
    assert_true(strlen(ran.out) > 0 && strlen(ran.out) % 65 == 0);
}

static void yaml_says_the_same_and_quotes_what_is_no_word(void **state) {
    (void)state;
    struct ran ran = realcli_ok(r, realcli_at("show @/good -o yaml", flow), NULL);
    assert_has(ran.out, "state: succeeded\n");
    assert_has(ran.out, "result:\n  rows: 3\n  name: \"a b\"\n");
    (void)realcli_ok(r, "kv set answer yes", NULL);
    assert_has(realcli_ok(r, "kv get answer -o yaml", NULL).out, "value: \"yes\"\n");
    (void)realcli_ok(r, "kv set lines %s", "one\ntwo");
    assert_has(realcli_ok(r, "kv get lines -o yaml", NULL).out, "value: |-\n");
    (void)realcli_ok(r, "kv del answer lines", NULL);
}

static void several_pages_are_one_answer(void **state) {
    (void)state;
    char key[32];
    for (int i = 0; i < 12; i++) {
        snprintf(key, sizeof key, "page:%02d", i);
        (void)realcli_ok(r, "kv incr %s", key);
    }
    struct ran ran = realcli_ok(r, "kv ls page: --json --limit 5", NULL);
    assert_has(ran.out, "\"after\":\"page:04\"");
    ran = realcli_ok(r, "kv ls page: --json --all", NULL);
    assert_has(ran.out, "page:11");
    assert_has_not(ran.out, "\"after\"");
    assert_string_equal(realcli_ok(r, "kv ls page: -o name --limit 2", NULL).out, "page:00\npage:01\n");
}

/* The result of `good` ends with a line of its own. */
static void an_item_is_one_line(void **state) {
    (void)state;
    struct ran ran = realcli_ok(r, realcli_at("show @/good -o jsonl", flow), NULL);
    assert_has(ran.out, "\"rows\": 3");
    assert_ptr_equal(strchr(ran.out, '\n'), ran.out + strlen(ran.out) - 1);
}

static void an_unknown_form_is_refused(void **state) {
    (void)state;
    realcli_refused(r, "ls -o xml", 2, "--format: expected table, wide, json, jsonl, yaml or name, found `xml`");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_the_body_that_http_answers),
        cmocka_unit_test(every_verb_is_compared_or_has_a_reason),
        cmocka_unit_test(an_error_is_the_object_that_http_answers),
        cmocka_unit_test(pipes_into_jq_just_work),
        cmocka_unit_test(names_are_what_other_verbs_take),
        cmocka_unit_test(yaml_says_the_same_and_quotes_what_is_no_word),
        cmocka_unit_test(several_pages_are_one_answer),
        cmocka_unit_test(an_item_is_one_line),
        cmocka_unit_test(an_unknown_form_is_refused),
        cmocka_unit_test(changes_are_answered_as_by_http), /* last: there is more of everything afterwards */
    };
    return cmocka_run_group_tests(tests, group_setup, realcli_group_teardown);
}
