/* orion_test.c: DAGs as flows, and answers, without a server. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "limit.h"
#include "orion.h"
#include "orion_event.h"

static struct arena arena;
static struct limits limits;
static struct why why;
static const struct orion_rules rules = {.tasks_max = 10,
                                         .dependencies_max = 3,
                                         .retries_max = 100,
                                         .priority_max = 1000,
                                         .work_ms_least = 50,
                                         .work_ms_most = 199};

static int setup(void **state) {
    (void)state;
    arena_init(&arena, 65536, (size_t)1 << 28);
    limits_default(&limits);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_fini(&arena);
    return 0;
}

static enum err read(const char *body, const char *key, struct wire_flow *ret) {
    return orion_flow(slice_str(body), slice_str(key), &rules, &limits, &arena, ret, &why);
}

static const struct wire_job *job_at(const struct wire_flow *f, uint32_t i) {
    return &((const struct wire_job *)f->part.jobs.at)[i];
}

static struct wire_run run_of(const struct wire_job *j) {
    struct wire_run run;
    assert_int_equal(tlv_decode(&wire_run_desc, j->body, TLV_STRICT, &arena, &run, &why), ERR_OK);
    return run;
}

static void a_dag_is_a_flow(void **state) {
    (void)state;
    struct wire_flow f;
    assert_int_equal(
        read("[{\"id\":\"b\",\"payload\":\"fail\",\"dependencies\":[\"a\"],\"priority\":-2,\"max_retries\":-1},"
             "{\"id\":\"a\",\"payload\":\"sleep\"},{\"id\":\"c\",\"payload\":\"other\",\"max_retries\":9}]",
             "k", &f),
        ERR_OK);
    const struct wire_options *o = f.part.options.at;
    assert_int_equal(f.part.jobs.count, 3);
    assert_true(slice_eq(f.key, SLICE("k")));
    assert_int_equal(job_at(&f, 0)->parents.count, 1);
    assert_int_equal(job_at(&f, 0)->parents.at[0], 1);
    assert_int_equal(o[job_at(&f, 0)->options].kind, JOB_FAIL);
    assert_int_equal(o[job_at(&f, 0)->options].attempts_max, 1);
    assert_int_equal(o[job_at(&f, 0)->options].free_losses, rules.retries_max < 20 ? rules.retries_max : 20);
    assert_int_equal(o[job_at(&f, 1)->options].kind, JOB_SLEEP);
    assert_int_equal(o[job_at(&f, 1)->options].attempts_max, 4);
    assert_int_equal(o[job_at(&f, 2)->options].attempts_max, 10);
    assert_true(o[job_at(&f, 0)->options].priority > o[job_at(&f, 1)->options].priority);
    assert_int_equal(run_of(job_at(&f, 1)).sleep_ms, 2000);
    int64_t work = run_of(job_at(&f, 2)).sleep_ms;
    assert_true(work >= 50 && work <= 199);
    const struct wire_pair *labels = run_of(job_at(&f, 0)).labels.at;
    assert_true(slice_eq(labels[0].value, SLICE("fail")));
    assert_true(slice_eq(labels[1].value, SLICE("-2")));
}

/* The engine compares bytes: so the same request is the same bytes, and another key other times. */
static void the_same_request_is_the_same_flow(void **state) {
    (void)state;
    struct wire_flow a, b, c;
    const char *body = "[{\"id\":\"x\"},{\"id\":\"y\"},{\"id\":\"z\"}]";
    struct buf out[3];
    const struct wire_flow *all[] = {&a, &b, &c};
    assert_int_equal(read(body, "k", &a), ERR_OK);
    assert_int_equal(read(body, "k", &b), ERR_OK);
    assert_int_equal(read(body, "other", &c), ERR_OK);
    c.key = a.key;
    for (int i = 0; i < 3; i++) {
        buf_init(&out[i], 65536);
        tlv_encode(&wire_flow_desc, all[i], &out[i]);
    }
    assert_true(slice_eq(buf_slice(&out[0]), buf_slice(&out[1])));
    assert_false(slice_eq(buf_slice(&out[0]), buf_slice(&out[2])));
    for (int i = 0; i < 3; i++) buf_fini(&out[i]);
}

static void what_is_wrong_is_said(void **state) {
    (void)state;
    static const struct {
        const char *body, *said;
    } cases[] = {
        {"", "invalid JSON body"},
        {"[1]", "a task is an object"},
        {"[{\"id\":\"a\",\"payload\":1}]", "not a string"},
        {"[{\"id\":\"a\",\"dependencies\":{}}]", "not an array"},
        {"[{\"id\":\"a\",\"dependencies\":[1]}]", "not a string"},
        {"[{\"id\":\"a\",\"priority\":99999999999999999999}]", "not an integer"},
        {"[{\"id\":\"a\",\"max_retries\":101}]", "at most 100"},
        {"[{\"id\":\"a\",\"dependencies\":[\"b\",\"c\",\"d\",\"e\"]}]", "too many dependencies"},
        {"[{},{},{},{},{},{},{},{},{},{},{}]", "too many tasks"},
        {"[{\"id\":\"a\",\"dependencies\":[\"b\"]},{\"id\":\"b\",\"dependencies\":[\"a\"]}]", "no root"},
    };
    struct wire_flow f;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_not_equal(read(cases[i].body, "k", &f), ERR_OK);
        if (strstr(why.text, cases[i].said) == NULL) fail_msg("%s: %s", cases[i].body, why.text);
    }
    /* What a client got from the server it may send back. */
    assert_int_equal(
        read("[{\"id\":\"a\",\"status\":\"failed\",\"retry_count\":64,\"start_time\":\"\",\"end_time\":null,"
             "\"payload\":null,\"priority\":null,\"max_retries\":null,\"dependencies\":null}]",
             "k", &f),
        ERR_OK);
}

static void names_that_do_not_fit_are_refused(void **state) {
    (void)state;
    char body[600], id[400];
    struct wire_flow f;
    memset(id, 'a', sizeof id - 1);
    id[sizeof id - 1] = 0;
    snprintf(body, sizeof body, "[{\"id\":\"%s\"}]", id);
    assert_int_equal(read(body, "k", &f), ERR_INVALID);
    assert_int_equal(read("[{\"id\":\"a\"}]", id, &f), ERR_INVALID);
}

static void a_payload_that_does_not_fit_is_named(void **state) {
    (void)state;
    const size_t len = 65537;
    struct wire_flow f;
    char *body = arena_alloc(&arena, len + 100);
    int at = snprintf(body, 100, "[{\"id\":\"a\",\"payload\":\"");
    memset(body + at, 'x', len);
    snprintf(body + at + len, 10, "\"}]");
    assert_int_equal(read(body, "k", &f), ERR_INVALID);
    assert_string_equal(why.text, "the payload of task \"a\" has 65537 bytes; at most 65536 are taken");
    memmove(body + at, body + at + 1, len + 3);
    assert_int_equal(read(body, "k", &f), ERR_OK);
}

static void lower_is_first_whatever_is_sent(void **state) {
    (void)state;
    static const int64_t sent[] = {INT64_MIN, -1000, -500, -1, 0, 1, 10, 499, 500, 501, INT64_MAX};
    for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++) {
        int64_t level = orion_priority(sent[i], 1000);
        assert_true(level >= -1 && level <= 999);
        if (i > 0) assert_true(level <= orion_priority(sent[i - 1], 1000));
    }
    assert_true(orion_priority(1, 1000) > orion_priority(2, 1000));
    assert_int_equal(orion_priority(-400, 2), 1);
}

static void times_are_gos(void **state) {
    (void)state;
    char text[ORION_TIME_BYTES];
    assert_string_equal(orion_time(0, text), "0001-01-01T00:00:00Z");
    assert_string_equal(orion_time(1794829232642, text), "2026-11-16T11:40:32.642Z");
}

static void paths_and_methods(void **state) {
    (void)state;
    bool fits = false;
    struct http_request r = {.verb = HTTP_VERB_HEAD, .path = SLICE("/api/v1/status")};
    assert_int_equal(orion_find(&r, &fits), ORION_STATUS);
    assert_true(fits);
    r.verb = HTTP_VERB_PUT;
    assert_int_equal(orion_find(&r, &fits), ORION_STATUS);
    assert_false(fits);
    r.path = SLICE("/api/v1/status/");
    assert_int_equal(orion_find(&r, &fits), ORION_NOTHING);
    assert_non_null(strstr(orion_verb(ORION_DAG), "POST"));
    assert_non_null(strstr(orion_verb(ORION_STATE), "GET"));
    assert_string_equal(orion_verb(ORION_NOTHING), "OPTIONS");
}

static void events_have_what_is_known(void **state) {
    (void)state;
    struct buf out;
    struct json j;
    const struct slice ids[] = {SLICE("a"), SLICE("b\"")};
    struct orion_event e = {.type = ORION_EVENT_CASCADE, .task = SLICE("a"), .tasks = ids, .task_count = 2};
    buf_init(&out, 4096);
    json_init(&j, &out);
    orion_event_put(&j, &e);
    assert_true(
        slice_eq(buf_slice(&out), SLICE("{\"type\":\"task.cascade\",\"task_id\":\"a\",\"dag_tasks\":[\"a\",\"b\\\"\"],"
                                        "\"timestamp\":\"0001-01-01T00:00:00Z\"}")));
    buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dag_is_a_flow),
        cmocka_unit_test(the_same_request_is_the_same_flow),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(names_that_do_not_fit_are_refused),
        cmocka_unit_test(a_payload_that_does_not_fit_is_named),
        cmocka_unit_test(lower_is_first_whatever_is_sent),
        cmocka_unit_test(times_are_gos),
        cmocka_unit_test(paths_and_methods),
        cmocka_unit_test(events_have_what_is_known),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
