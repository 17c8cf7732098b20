/* mcp_test.c: an exchange with an agent, without a server: what is asked of one, and what is said. */
#include "test.h"

#include <stdio.h>

#include "limit.h"
#include "mcp.h"

static struct limits limits;
static enum mcp_revision revision;
static struct slice cancelled_id;

static void hash(void *ctx, struct slice bytes, uint8_t ret[32]) {
    (void)ctx;
    memset(ret, (int)bytes.len, 32);
}

static void cancelled(void *ctx, struct slice id) {
    (void)ctx;
    cancelled_id = id;
}

static const struct mcp_world world = {
    .limits = &limits, .wall_ms = 1, .place = "h:1", .version = "0", .hash = hash, .cancelled = cancelled};

static struct mcp_exchange x;

static int begin(void **state) {
    (void)state;
    limits_default(&limits);
    revision = MCP_2025_06_18;
    return 0;
}

static int end(void **state) {
    (void)state;
    mcp_end(&x);
    return 0;
}

static const void *asks(uint8_t op) {
    uint8_t asked = 0;
    const void *message = mcp_asks(&x, &asked);
    assert_non_null(message);
    assert_int_equal(asked, op);
    return message;
}

static void answer(uint8_t op, const void *message) {
    mcp_hear(&x, op, &message, 1);
}

static void assert_says(const char *text) {
    static char said[65536];
    uint8_t op;
    assert_null(mcp_asks(&x, &op));
    struct slice s = mcp_said(&x);
    snprintf(said, sizeof said, "%.*s", SLICE_FMT(s));
    assert_has(said, text);
}

static void give(const char *tool, const char *args) {
    char text[8192];
    int len = snprintf(text, sizeof text,
                       "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
                       "\"arguments\":%s}}",
                       tool, args);
    mcp_begin(&x, &world, &revision, slice_of(text, (size_t)len));
}

static void a_notification_is_not_answered(void **state) {
    (void)state;
    mcp_begin(&x, &world, &revision,
              SLICE("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"a\"}}"));
    assert_int_equal(mcp_said(&x).len, 0);
    assert_true(slice_eq(cancelled_id, SLICE("\"a\"")));
}

static void every_tool_refuses_what_it_has_no_argument_for(void **state) {
    uint32_t count;
    const struct tool *all = tool_table(&count);
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        give(all[i].name, "{\"no_such_thing\":1}");
        assert_says("has no argument `no_such_thing`");
        mcp_end(&x);
    }
    give("ping_master", "{}");
}

static void every_needed_argument_is_asked_for(void **state) {
    uint32_t count;
    const struct tool *all = tool_table(&count);
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        const struct tool_arg *a = all[i].args;
        while (a->name != NULL && !a->required) a++;
        if (a->name == NULL) continue;
        char words[160];
        snprintf(words, sizeof words, "%s needs `%s`", all[i].name, a->name);
        give(all[i].name, "{}");
        assert_says(words);
        mcp_end(&x);
    }
    give("ping_master", "{}");
}

static void a_refusal_of_the_server_is_a_result(void **state) {
    (void)state;
    give("store_put", "{\"key\":\"k\",\"value\":\"v\"}");
    const struct wire_kv_change *m = asks(WIRE_KV_CHANGE);
    const struct wire_kv_entry *entry = m->entries.at;
    assert_true(slice_eq(entry->key, SLICE("user:k")));
    answer(WIRE_ERROR, &(struct wire_error){.code = SLICE("forbidden"), .message = SLICE("may not")});
    assert_says("\"structuredContent\":{\"status\":\"error\",\"code\":\"forbidden\",\"message\":\"may not\"},"
                "\"isError\":true");
}

static void a_server_that_is_gone_is_an_error(void **state) {
    (void)state;
    give("ping_master", "{}");
    (void)asks(WIRE_PING);
    mcp_fail(&x, SLICE("gone"));
    assert_says("\"id\":7,\"error\":{\"code\":-32000,\"message\":\"gone\"}");
}

static void an_answer_of_another_kind_is_refused(void **state) {
    (void)state;
    give("ping_master", "{}");
    answer(WIRE_GOT, &(struct wire_got){0});
    assert_says("of another version");
}

/* An id is looked for with and without its prefix; a flow that only looks like it is passed over. */
static void an_id_is_looked_for_in_the_newest_flows(void **state) {
    struct wire_flow_view flows[] = {{.flow = SLICE("f19")}, {.flow = SLICE("f17")}};
    struct wire_job_view other = {.job = SLICE("f19/DAG-ab"), .state = SLICE("failed")},
                         job = {.job = SLICE("f17/DAG-a"), .state = SLICE("succeeded")};
    (void)state;
    give("get_job_status", "{\"job_id\":\"a\"}");
    const struct wire_list *list = asks(WIRE_LIST);
    assert_true(slice_eq(list->job, SLICE("DAG-a")));
    answer(WIRE_LISTED, &(struct wire_listed){.flows = {flows, 2}});
    assert_true(slice_eq(((const struct wire_get *)asks(WIRE_GET))->target, SLICE("f19/DAG-a")));
    answer(WIRE_GOT, &(struct wire_got){.jobs = {&other, 1}});
    assert_true(slice_eq(((const struct wire_get *)asks(WIRE_GET))->target, SLICE("f17/DAG-a")));
    answer(WIRE_GOT, &(struct wire_got){.jobs = {&job, 1}});
    assert_says("\"status\":\"COMPLETED\",\"job\":\"f17/DAG-a\"");
    mcp_end(&x);

    give("get_job_status", "{\"job_id\":\"a\"}");
    answer(WIRE_LISTED, &(struct wire_listed){0});
    assert_true(slice_eq(((const struct wire_list *)asks(WIRE_LIST))->job, SLICE("a")));
    answer(WIRE_LISTED, &(struct wire_listed){0});
    assert_says("\"status\":\"NULL\"");
}

static void a_message_stands_behind_its_job_as_a_gate(void **state) {
    (void)state;
    give("submit_dag_pipeline", "{\"dag_name\":\"d\",\"agent_run_id\":\"r\",\"jobs_json\":["
                                "{\"job_id\":\"b\",\"script_content\":\"2\",\"parents\":[\"a\"]},"
                                "{\"job_id\":\"a\",\"script_content\":\"1\",\"hitl_message\":\"?\"}]}");
    const struct wire_submit *m = asks(WIRE_SUBMIT);
    const struct wire_flow *flow = m->flows.at;
    const struct wire_job *jobs = flow->part.jobs.at;
    const struct wire_options *options = flow->part.options.at;
    assert_int_equal(flow->part.jobs.count, 3);
    assert_true(slice_eq(jobs[2].name, SLICE("DAG-hitl-gate-a")));
    assert_int_equal(options[jobs[2].options].kind, JOB_GATE);
    assert_int_equal(jobs[2].parents.count, 1);
    assert_true(slice_eq(jobs[jobs[2].parents.at[0]].name, SLICE("DAG-a")));
    assert_int_equal(jobs[0].parents.at[0], 2); /* what needs the job waits at its gate */
    assert_int_equal(flow->labels.count, 2);
    struct wire_submitted_flow got = {.flow = SLICE("f11"), .job_count = 3};
    answer(WIRE_SUBMITTED, &(struct wire_submitted){.flows = {&got, 1}});
    assert_says("\"job_count\":2,\"agent_run_id\":\"r\",\"master_response\":\"DAG_ACCEPTED\",\"flow\":\"f11\"");
}

/* What a job wrote may have line breaks between its values; a message has none. */
static void a_result_is_one_line(void **state) {
    struct wire_job_view job = {.job = SLICE("f1/a"), .state = SLICE("succeeded"), .result = SLICE("{\n\"a\":\r\n1}")};
    (void)state;
    give("show", "{\"target\":\"f1/a\"}");
    answer(WIRE_GOT, &(struct wire_got){.jobs = {&job, 1}});
    assert_says("\"result\":{ \"a\":  1}");
    assert_null(memchr(mcp_said(&x).ptr, '\n', mcp_said(&x).len));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_notification_is_not_answered),
        TEST(every_tool_refuses_what_it_has_no_argument_for),
        TEST(every_needed_argument_is_asked_for),
        TEST(a_refusal_of_the_server_is_a_result),
        TEST(a_server_that_is_gone_is_an_error),
        TEST(an_answer_of_another_kind_is_refused),
        TEST(an_id_is_looked_for_in_the_newest_flows),
        TEST(a_message_stands_behind_its_job_as_a_gate),
        TEST(a_result_is_one_line),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
