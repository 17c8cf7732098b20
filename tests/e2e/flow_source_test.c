/* flow_source_test.c: the file that a flow was submitted from is kept with it: shown byte for byte, run again with
 * other parameters, gone with the flow and not before, whenever the server is killed. */
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "realserver.h"
#include "webclient.h"
#include "wireclient.h"

static struct realserver server;
static char said[1 << 16];
static struct wireclient c;

static void start(void) {
    static const char *const flags[] = {"--blob-grace-ms", "1000", "--blob-sweep-ms",    "20",
                                        "--retention-ms",  "5000", "--source-bytes-max", "100000"};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[i] = flags[i];
    realserver_start(&server);
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
}

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    start();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    wireclient_close(&c);
    realserver_remove(&server);
    return 0;
}

static void text_is(struct slice got, const char *text) {
    if (!slice_eq(got, slice_str(text))) fail_msg("found %.*s, expected %s", SLICE_FMT(got), text);
}

static struct wire_flow flow_of(const char *text, const char *params) {
    return (struct wire_flow){.spec = slice_str(text),
                              .params = params != NULL ? slice_str(params) : (struct slice){0},
                              .source_name = SLICE("etl.json")};
}

static char *submit(const struct wire_flow *flow) {
    struct wire_submit m = {{(void *)(uintptr_t)flow, 1}};
    const struct wire_submitted *done = wireclient_ask(&c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
    const struct wire_submitted_flow *got = done->flows.at;
    if (got->code.len > 0) fail_msg("%.*s", SLICE_FMT(got->message));
    char *id = arena_alloc(&c.arena, got->flow.len + 1);
    memcpy(id, got->flow.ptr, got->flow.len);
    return id;
}

static struct wire_flow_view view_of(const char *flow) {
    struct wire_get get = {.target = slice_str(flow), .details = true};
    const struct wire_got *got = wireclient_ask(&c, WIRE_GET, &get, WIRE_GOT);
    return got->flow;
}

static const struct wire_source_got *source_of(const char *flow) {
    struct wire_source_get get = {slice_str(flow)};
    return wireclient_ask(&c, WIRE_SOURCE_GET, &get, WIRE_SOURCE_GOT);
}

static void no_source(const char *flow, const char *words) {
    struct wire_source_get get = {slice_str(flow)};
    struct wiregot got;
    assert_true(wireclient_try(&c, WIRE_SOURCE_GET, &get, &got));
    assert_int_equal(got.op, WIRE_ERROR);
    const struct wire_error *m = got.message;
    if (memmem(m->message.ptr, m->message.len, words, strlen(words)) == NULL) fail_msg("%.*s", SLICE_FMT(m->message));
}

static uint64_t number(const char *name) {
    struct wire_empty m = {0};
    const struct wire_stats *s = wireclient_ask(&c, WIRE_STATS, &m, WIRE_NUMBERS);
    const struct wire_amount *list = s->numbers.at;
    for (uint32_t i = 0; i < s->numbers.count; i++)
        if (slice_eq(list[i].name, slice_str(name))) return list[i].amount;
    fail_msg("no number %s", name);
    return 0;
}

#define TEXT "{\"params\": {\"day\": \"mon\", \"n\": 1}, \"jobs\": {\"a\": {\"run\": \"echo ${params.day}\"}}}\n"

/* ---- by the wire ---- */

static void what_was_submitted_is_shown_as_it_was(void **state) {
    (void)state;
    struct wire_flow flow = flow_of(TEXT, "{\"day\": \"tue\"}");
    char *id = submit(&flow);
    struct wire_flow_view v = view_of(id);
    text_is(v.params, "{\"day\": \"tue\"}");
    text_is(v.source_name, "etl.json");
    assert_int_equal(v.source_bytes, sizeof TEXT - 1);
    assert_int_equal(v.source.len, 32);
    const struct wire_source_got *got = source_of(id);
    text_is(got->text, TEXT);
    text_is(got->name, "etl.json");
    text_is(got->params, "{\"day\": \"tue\"}");
}

static void a_program_that_posts_many_flows_pays_for_no_file(void **state) {
    (void)state;
    struct wire_flow flow = {.spec = SLICE("{\"jobs\": {\"a\": {\"noop\": true}}}")};
    uint64_t before = number("blob_bytes");
    char *id = submit(&flow);
    assert_int_equal(view_of(id).source.len, 0);
    assert_true(number("blob_bytes") <= before); /* a sweep may take others meanwhile */
    no_source(id, "submitted without one");
}

static void a_file_that_came_before_is_stored_once(void **state) {
    (void)state;
    struct wire_flow flow = flow_of(TEXT, NULL);
    submit(&flow);
    uint64_t before = number("blob_bytes");
    flow.params = SLICE("{\"day\": \"wed\"}");
    char *id = submit(&flow);
    text_is(source_of(id)->text, TEXT);
    assert_true(number("blob_bytes") <= before); /* a sweep may take others meanwhile */
}

static void a_file_that_is_too_large_runs_and_is_not_kept(void **state) {
    (void)state;
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_printf(&text, "{\"jobs\": {\"a\": {\"noop\": true}}}");
    for (int i = 0; i < 100000; i++) buf_put_u8(&text, ' ');
    buf_put_u8(&text, 0);
    struct wire_flow flow = flow_of((const char *)text.at, NULL);
    char *id = submit(&flow);
    struct wire_flow_view v = view_of(id);
    assert_int_equal(v.source.len, 0);
    assert_int_equal(v.source_bytes, text.len - 1);
    no_source(id, "(etl.json) is not kept");
    buf_fini(&text);
}

static void parameters_that_are_no_object_are_refused(void **state) {
    (void)state;
    struct wire_options options = {.attempts_max = 1};
    struct wire_job job = {.name = SLICE("x")};
    struct wire_flow flow = {.part = {.options = {&options, 1}, .jobs = {&job, 1}}, .params = SLICE("[1]")};
    struct wire_submit m = {{&flow, 1}};
    const struct wire_submitted *done = wireclient_ask(&c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
    const struct wire_submitted_flow *got = done->flows.at;
    text_is(got->message, "params: expected an object of plain values");
}

/* ---- again ---- */

static const struct wire_submitted_flow *again(const char *flow, const char *params) {
    struct wire_again m = {.flow = slice_str(flow), .params = params != NULL ? slice_str(params) : (struct slice){0}};
    const struct wire_submitted *done = wireclient_ask(&c, WIRE_AGAIN, &m, WIRE_SUBMITTED);
    return done->flows.at;
}

static void a_flow_runs_again_with_other_parameters(void **state) {
    (void)state;
    struct wire_flow flow = flow_of(TEXT, "{\"day\": \"tue\", \"n\": 7}");
    struct wire_pair label = {SLICE("team"), SLICE("data")};
    flow.labels = (struct tlv_list){&label, 1};
    flow.key = SLICE("only-once");
    char *id = submit(&flow);
    const struct wire_submitted_flow *got = again(id, "{\"day\": \"sun\"}");
    assert_false(got->repeated);
    char *second = arena_alloc(&c.arena, got->flow.len + 1);
    memcpy(second, got->flow.ptr, got->flow.len);
    assert_string_not_equal(second, id);
    struct wire_flow_view v = view_of(second);
    text_is(v.params, "{\"n\":7,\"day\":\"sun\"}");
    text_is(v.again_of, id);
    assert_int_equal(v.labels.count, 1);
    text_is(source_of(second)->text, TEXT);
}

/* Records that say so, in the journal of the server. */
static int compensated_flows(void) {
    char count[64] = "";
    realserver_kill(&server);
    int code = test_shell(count, sizeof count, "%s journal dump --data %s | grep -c '\"compensate_on\":\"failure\"'",
                          realserver_binary(), server.data);
    start();
    assert_true(code == 0 || code == 1);
    return (int)strtol(count, NULL, 10);
}

static void what_is_undone_stays_when_it_runs_again(void **state) {
    (void)state;
    struct wire_flow flow = flow_of(TEXT, NULL);
    flow.compensate_on = COMPENSATE_FAILURE; /* the file does not say so */
    char *id = submit(&flow);
    assert_int_equal(again(id, NULL)->code.len, 0);
    wireclient_close(&c);
    assert_int_equal(compensated_flows(), 2);
}

static void a_parameter_that_is_not_there_is_refused(void **state) {
    (void)state;
    struct wire_flow flow = flow_of(TEXT, NULL);
    char *id = submit(&flow);
    text_is(again(id, "{\"dai\": \"x\"}")->message, "etl.json: the flow has no parameter `dai`; did you mean `day`?");
}

/* ---- how long ---- */

static bool is_there(struct slice hash) {
    struct wire_blob_get get = {.hash = hash, .most = 1};
    struct wiregot got;
    assert_true(wireclient_try(&c, WIRE_BLOB_GET, &get, &got));
    return got.op == WIRE_BLOB_DATA;
}

/* By the time this one is gone everything of its age that is not named is gone, too. */
static void let_a_sweep_pass(const char *bytes) {
    struct wire_blob_put put = {.data = slice_str(bytes)};
    const struct wire_blob_kept *kept = wireclient_ask(&c, WIRE_BLOB_PUT, &put, WIRE_BLOB_KEPT);
    struct slice hash = arena_slice(&c.arena, kept->hash);
    for (int i = 0; is_there(hash); i++) {
        if (i > 4000) fail_msg("the blob stays");
        (void)poll(NULL, 0, 5);
    }
}

static void a_file_stays_as_long_as_its_flow(void **state) {
    (void)state;
    struct wire_flow flow = flow_of("{\"jobs\": {\"alone\": {\"run\": \"echo with its file\"}}}", NULL);
    char *id = submit(&flow);
    struct slice hash = arena_slice(&c.arena, view_of(id).source);
    let_a_sweep_pass("one");
    assert_true(is_there(hash));
    struct wire_name name = {slice_str(id)};
    struct wire_targets m = {.targets = {&name, 1}};
    (void)wireclient_ask(&c, WIRE_CANCEL, &m, WIRE_ACCEPTED);
    for (int i = 0; is_there(hash); i++) { /* the flow has left memory */
        if (i > 8000) fail_msg("the file stays");
        (void)poll(NULL, 0, 5);
    }
    no_source(id, "left memory");
}

/* What was accepted has its file, whatever else was under way when the server was killed. */
static void a_kill_in_the_middle_loses_no_file(void **state) {
    (void)state;
    char *ids[100], text[100][200];
    uint32_t count = 0;
    for (uint32_t round = 0; round < 10; round++) {
        for (uint32_t i = 0; i < 10; i++, count++) {
            snprintf(text[count], sizeof text[0], "{\"jobs\": {\"job%u\": {\"noop\": true, \"pool\": \"none\"}}}",
                     count);
            struct wire_flow flow = flow_of(text[count], NULL);
            ids[count] = strdup(submit(&flow));
        }
        wireclient_close(&c);
        realserver_kill(&server);
        start();
    }
    let_a_sweep_pass("two");
    for (uint32_t i = 0; i < count; i++) {
        text_is(source_of(ids[i])->text, text[i]);
        free(ids[i]);
        wireclient_forget(&c);
    }
}

/* ---- by HTTP ---- */

static void http_keeps_shows_and_runs_again(void **state) {
    (void)state;
    struct webclient w;
    char path[128];
    webclient_open(&w, server.address, server.admin);
    struct webgot got = webclient_ask(&w, "POST", "/api/v1/flows?source_name=etl.json&params=%7B%22n%22:2%7D", TEXT);
    assert_int_equal(got.status, 201);
    const char *id = webgot_text(&w, &got, "flow");
    snprintf(path, sizeof path, "/api/v1/flows/%s/source", id);
    got = webclient_ask(&w, "GET", path, NULL);
    assert_int_equal(got.status, 200);
    assert_string_equal(got.body, TEXT);
    assert_non_null(strstr(got.head, "text/plain"));
    snprintf(path, sizeof path, "/api/v1/flows/%s", id);
    got = webclient_ask(&w, "GET", path, NULL);
    assert_non_null(strstr(got.body, "\"params\":{\"n\":2}"));
    snprintf(path, sizeof path, "/api/v1/flows/%s/again", id);
    got = webclient_ask(&w, "POST", path, "{\"params\": {\"n\": 3}}");
    assert_int_equal(got.status, 201);
    snprintf(path, sizeof path, "/api/v1/flows/%s", webgot_text(&w, &got, "flow"));
    got = webclient_ask(&w, "GET", path, NULL);
    assert_non_null(strstr(got.body, "\"params\":{\"n\":3}"));
    webclient_close(&w);
}

static void a_file_of_a_message_is_kept_beside_its_spec(void **state) {
    (void)state;
    struct webclient w;
    char path[128];
    webclient_open(&w, server.address, server.admin);
    struct webgot got = webclient_ask(&w, "POST", "/api/v1/submit",
                                      "{\"flows\": [{\"spec\": {\"jobs\": {\"a\": {\"noop\": true}}}, \"source_name\": "
                                      "\"a.yaml\", \"source\": {\"text\": \"jobs: {a: {noop: true}} # ä\\n\", "
                                      "\"spec\": {\"jobs\": {\"a\": {\"noop\": true}}}}}]}");
    assert_int_equal(got.status, 201);
    const char *at = strstr(got.body, "\"flow\":\"");
    assert_non_null(at);
    snprintf(path, sizeof path, "/api/v1/flows/%.*s/source", (int)strcspn(at + 8, "\""), at + 8);
    got = webclient_ask(&w, "GET", path, NULL);
    assert_string_equal(got.body, "jobs: {a: {noop: true}} # ä\n");
    webclient_close(&w);
}

/* ---- on the command line ---- */

static void in_shell(const char *commands) {
    int code =
        test_shell(said, sizeof said,
                   "R=%s; export REEVE_TOKEN=%s REEVE_SERVER=%s; cd %s; run() { timeout 30 $R \"$@\"; }; %s 2>&1",
                   realserver_binary(), server.admin, server.address, server.data, commands);
    if (code != 0) fail_msg("%s: exit %d: %s", commands, code, said);
}

static void says(const char *words) {
    if (strstr(said, words) == NULL) fail_msg("%s does not say: %s", said, words);
}

static void the_command_line_shows_and_runs_again(void **state) {
    (void)state;
    in_shell("mkdir -p f; echo 'echo $DAY' >f/say.sh; "
             "printf 'params:\\n  day: mon\\njobs:\\n  a:\\n    script: say.sh\\n    env: {DAY: \"${params.day}\"}\\n' "
             ">f/etl.yaml; run submit -p day=tue f/etl.yaml >f/id; run show $(cat f/id)");
    says("file         etl.yaml");
    says("parameters   {\"day\":\"tue\"}");
    in_shell("run show $(cat f/id) --source | cmp - f/etl.yaml");
    /* the script came along: it may be gone by now */
    in_shell("rm f/say.sh; run rerun --new $(cat f/id) -p day=sun >f/new; run show $(cat f/new)");
    says("parameters   {\"day\":\"sun\"}");
    says("again of");
    in_shell("run show --json $(cat f/new)/a");
    says("\"DAY\":\"sun\"");
    in_shell("! run rerun x -p a=b 2>&1");
    says("--param and --wait need --new");
    in_shell("! run show --source x/a 2>&1");
    says("--source takes a flow, not a job");
    in_shell("! run rerun --new x y 2>&1");
    says("--new takes one flow");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_submitted_is_shown_as_it_was),
        cmocka_unit_test(a_program_that_posts_many_flows_pays_for_no_file),
        cmocka_unit_test(a_file_that_came_before_is_stored_once),
        cmocka_unit_test(a_file_that_is_too_large_runs_and_is_not_kept),
        cmocka_unit_test(parameters_that_are_no_object_are_refused),
        cmocka_unit_test(a_flow_runs_again_with_other_parameters),
        cmocka_unit_test(what_is_undone_stays_when_it_runs_again),
        cmocka_unit_test(a_parameter_that_is_not_there_is_refused),
        cmocka_unit_test(a_file_stays_as_long_as_its_flow),
        cmocka_unit_test(a_kill_in_the_middle_loses_no_file),
        cmocka_unit_test(http_keeps_shows_and_runs_again),
        cmocka_unit_test(a_file_of_a_message_is_kept_beside_its_spec),
        cmocka_unit_test(the_command_line_shows_and_runs_again),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
