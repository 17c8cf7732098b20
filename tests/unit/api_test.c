/* api_test.c: each route of the table means a message of the wire, every message that a client may send has a route or
 * a reason, and messages become JSON and come back. */
#include "test.h"

#include <stdio.h>

#include "api.h"
#include "limit.h"
#include "tlvgen.h"

static struct limits limits;
static struct arena arena;

static int setup(void **state) {
    (void)state;
    limits_default(&limits);
    arena_init(&arena, 65536, (size_t)1 << 28);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_fini(&arena);
    return 0;
}

/* ---- the table ---- */

static void routes_fit_their_messages(void **state) {
    (void)state;
    uint32_t count;
    const struct api_route *routes = api_routes(&count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wire_info *info = wire_info(routes[i].op), *answer = wire_info(info->answer);
        assert_true(info->sender == WIRE_FROM_CLIENT || info->sender == WIRE_FROM_ANY);
        assert_non_null(answer);
        bool has_words = strchr(routes[i].path, '{') != NULL;
        if (has_words != (routes[i].field != NULL)) fail_msg("%s: words without a field, or none", routes[i].path);
        if (routes[i].field != NULL) assert_non_null(wire_json_field(info->desc, slice_str(routes[i].field)));
        if (routes[i].answer == API_ANSWER_ITEM) assert_non_null(routes[i].about);
        if (routes[i].about != NULL) {
            const struct tlv_field *f = wire_json_field(answer->desc, slice_str(routes[i].about));
            if (f == NULL || f->type != TLV_LIST) fail_msg("%s: %s is no list", routes[i].path, routes[i].about);
        }
        assert_true((routes[i].verb == HTTP_VERB_GET) == (routes[i].body == API_BODY_NONE));
        for (uint32_t k = 0; k < i; k++)
            assert_false(routes[k].verb == routes[i].verb && strcmp(routes[k].path, routes[i].path) == 0);
    }
}

/* Whoever adds a message for clients adds its route, or says here why it has none. */
static void every_message_of_a_client_has_a_route(void **state) {
    (void)state;
    static const struct {
        uint8_t op;
        const char *why;
    } without[] = {
        {WIRE_HELLO, "each request has its own token"},
        {WIRE_ERROR, "an answer"},
        {WIRE_PING, "/healthz"},
        {WIRE_PONG, "an answer"},
        {WIRE_GOODBYE, "Connection: close"},
        {WIRE_STOP, "a connection that is closed stops its request"},
        {WIRE_SUBSCRIBE, "deprecated; GET /events is follow, which has all that it has and the archive"},
        {WIRE_KV_WATCH, "comes with the events"},
        {WIRE_DEMAND_WATCH, "comes with the events"},
        {WIRE_BLOB_BEGIN, "a body of any length is a blob at once"},
        {WIRE_BLOB_PART, "the same"},
        {WIRE_BLOB_END, "the same"},
        {WIRE_LOGIN_USE, "GET /login, which answers with a page and a cookie"},
        {WIRE_LOGOUT, "DELETE /session, the same"},
        {WIRE_ORION_GET, "Orion's own paths, on a listener of their own"},
        {WIRE_TITAN_GET, "Titan's own frames, on a listener of their own"},
    };
    uint32_t count;
    const struct api_route *routes = api_routes(&count);
    for (uint32_t op = 0; op < 256; op++) {
        const struct wire_info *info = wire_info((uint8_t)op);
        if (info == NULL || info->sender == WIRE_FROM_SERVER || info->sender == WIRE_FROM_WORKER) continue;
        bool found = false;
        for (uint32_t i = 0; i < count; i++) found |= routes[i].op == op;
        for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) found |= without[i].op == op;
        if (!found) fail_msg("%s can be sent by native v2 only", info->word);
    }
}

/* ---- requests ---- */

static struct why why;
static char field[WIRE_JSON_FIELD_BYTES];

static enum err message_of(enum http_verb verb, const char *path, const char *query, const char *body, void **ret) {
    struct http_request r = {.verb = verb, .path = slice_str(path), .query = slice_str(query), .body = slice_str(body)};
    struct api_match m;
    enum err e = api_find(&r, &arena, &m, &why);
    if (e != ERR_OK) return e;
    if (m.route == NULL) return ERR_NOT_FOUND;
    struct wire_json_in x = {.arena = &arena, .why = &why};
    e = api_message(&m, &r, &limits, &x, ret);
    memcpy(field, x.field, sizeof field);
    return e;
}

static void paths_and_queries_fill_messages(void **state) {
    (void)state;
    void *got;
    assert_int_equal(message_of(HTTP_VERB_HEAD, "/api/v1/jobs/f1/tr%61in/logs", "follow=true&offset=9", "", &got), 0);
    const struct wire_logs *logs = got;
    assert_true(slice_eq(logs->job, SLICE("f1/train")) && logs->follow && logs->offset == 9);
    assert_int_equal(message_of(HTTP_VERB_GET, "/api/v1/flows", "states=failed&states=ok&labels=a=b=c", "", &got), 0);
    const struct wire_list *list = got;
    assert_int_equal(list->what, WIRE_LIST_FLOWS);
    assert_int_equal(list->states.count, 2);
    assert_true(slice_eq(((const struct wire_name *)list->states.at)[1].name, SLICE("ok")));
    const struct wire_pair *label = list->labels.at;
    assert_true(slice_eq(label->key, SLICE("a")) && slice_eq(label->value, SLICE("b=c")));
    assert_int_equal(message_of(HTTP_VERB_POST, "/api/v1/jobs/f1/a/cancel", "", "{\"reason\":\"no\"}", &got), 0);
    const struct wire_targets *targets = got;
    assert_true(slice_eq(((const struct wire_name *)targets->targets.at)->name, SLICE("f1/a")));
    assert_true(slice_eq(targets->reason, SLICE("no")));
    assert_int_equal(message_of(HTTP_VERB_POST, "/api/v1/flows", "name=x&key_ms=5", "{\"jobs\": {}}", &got), 0);
    const struct wire_flow *flow = ((const struct wire_submit *)got)->flows.at;
    assert_true(slice_eq(flow->spec, SLICE("{\"jobs\": {}}")) && slice_eq(flow->name, SLICE("x")));
    assert_int_equal(flow->key_ms, 5);
}

/* A slash that was escaped is a letter of its word, and a word is not its beginning. */
static void other_paths_fit_no_route(void **state) {
    (void)state;
    static const char *const paths[] = {"/api/v1/jobs%2Ff1/a",
                                        "/api/v1/flow",
                                        "/api/v1/flowsx",
                                        "/api/v1/flows/",
                                        "/api/v1/flows/f1/job",
                                        "/api/v1/flows/f1/jobs/x",
                                        "/api/v1/flows%2Ff1",
                                        "/api/v1/dead%2Fretry",
                                        "/api/v1",
                                        "/api/v1/",
                                        "/metrics/"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        void *got;
        if (message_of(HTTP_VERB_GET, paths[i], "", "", &got) != ERR_NOT_FOUND) fail_msg("%s", paths[i]);
    }
}

static void bad_requests_name_the_field(void **state) {
    (void)state;
    static const struct {
        enum http_verb verb;
        const char *path, *query, *body, *field;
    } cases[] = {
        {HTTP_VERB_GET, "/api/v1/flows", "most=-1", "", "most"},
        {HTTP_VERB_GET, "/api/v1/flows", "most=4294967296", "", "most"},
        {HTTP_VERB_GET, "/api/v1/flows", "most=", "", "most"},
        {HTTP_VERB_GET, "/api/v1/flows", "labels=a", "", "labels"},
        {HTTP_VERB_GET, "/api/v1/flows/f1", "details=yes", "", "details"},
        {HTTP_VERB_GET, "/api/v1/blobs/00", "", "", "hash"},
        {HTTP_VERB_POST, "/api/v1/questions/x/verdict", "", "{}", "question"},
        {HTTP_VERB_POST, "/api/v1/store", "", "{\"op\":\"fly\"}", "op"},
        {HTTP_VERB_POST, "/api/v1/store", "", "{\"op\":7}", "op"},
        {HTTP_VERB_POST, "/api/v1/store", "", "{\"keep_expiry\":1}", "keep_expiry"},
        {HTTP_VERB_POST, "/api/v1/store", "", "{\"number\":1.5}", "number"},
        {HTTP_VERB_POST, "/api/v1/store", "", "{\"value\":{\"base64\":\"a\"}}", "value"},
        {HTTP_VERB_POST, "/api/v1/store", "", "{\"value\":{\"base64\":\"ab=c\"}}", "value"},
        {HTTP_VERB_POST, "/api/v1/store", "", "{\"entries\":[{},{\"kee\":1}]}", "entries[1].kee"},
        {HTTP_VERB_POST, "/api/v1/store", "", "{\"entries\":{}}", "entries"},
        {HTTP_VERB_PUT, "/api/v1/schedules/n", "", "{\"flow\":{\"part\":{\"jobs\":[7]}}}", "flow.part.jobs[0].jobs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        void *got;
        enum err e = message_of(cases[i].verb, cases[i].path, cases[i].query, cases[i].body, &got);
        if (e != ERR_INVALID) fail_msg("%s %s %s: %s", cases[i].path, cases[i].query, cases[i].body, err_word(e));
        assert_string_equal(field, cases[i].field);
        assert_true(why.text[0] != 0);
    }
    char query[2048] = "";
    for (size_t i = 0; i < 129; i++) memcpy(query + i * 9, "states=a&", 9);
    void *got;
    assert_int_equal(message_of(HTTP_VERB_GET, "/api/v1/flows", query, "", &got), ERR_LIMIT);
}

/* ---- JSON ---- */

static struct slice json_of(const struct tlv_desc *d, const void *const *parts, uint32_t count, const char *about,
                            struct buf *out) {
    struct json j;
    buf_clear(out);
    json_init(&j, out);
    struct wire_json_out x = {.json = &j, .arena = &arena, .limits = &limits};
    json_object(&j);
    wire_json_put(&x, d, parts, count, about);
    json_object_end(&j);
    return buf_slice(out);
}

static void parts_become_one_answer(void **state) {
    (void)state;
    struct wire_job_view a = {.job = SLICE("f1/a")}, b = {.job = SLICE("f1/b")};
    struct wire_got first = {.lsn = 7, .flow = {.flow = SLICE("f1")}, .jobs = {&a, 1}}, second = {.jobs = {&b, 1}};
    const void *parts[] = {&first, &second};
    struct buf out;
    buf_init(&out, 4096);
    assert_true(
        slice_eq(json_of(&wire_got_desc, parts, 2, NULL, &out),
                 SLICE("{\"lsn\":7,\"flow\":{\"flow\":\"f1\"},\"jobs\":[{\"job\":\"f1/a\"},{\"job\":\"f1/b\"}]}")));
    struct wire_listed none = {.lsn = 1};
    const void *empty = &none;
    assert_true(slice_eq(json_of(&wire_listed_desc, &empty, 1, "jobs", &out), SLICE("{\"lsn\":1,\"jobs\":[]}")));
    buf_fini(&out);
}

/* What a worker calls JSON and is none cannot break out of its place. */
static void only_json_is_taken_for_json(void **state) {
    (void)state;
    static const struct {
        const char *result, *shown;
    } cases[] = {
        {"{\"a\": [1]}", "{\"a\": [1]}"},
        {"1,\"state\":\"ok\"", "\"1,\\\"state\\\":\\\"ok\\\"\""},
        {"{", "\"{\""},
        {"null", "null"},
        {"\xff", "{\"base64\":\"/w==\"}"},
    };
    struct buf out;
    buf_init(&out, 4096);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wire_job_view job = {.result = slice_str(cases[i].result)};
        const void *part = &job;
        char expected[256];
        snprintf(expected, sizeof expected, "{\"result\":%s}", cases[i].shown);
        struct slice got = json_of(&wire_job_view_desc, &part, 1, NULL, &out);
        if (!slice_eq(got, slice_str(expected))) fail_msg("%.*s, not %s", SLICE_FMT(got), expected);
    }
    buf_fini(&out);
}

static uint64_t draw(void *ctx) {
    return test_random_next(ctx);
}

/* A description with JSON in it is left out: what is drawn is none. */
static bool has_json(const struct tlv_desc *d) {
    for (uint32_t i = 0; i < d->field_count; i++)
        if (d->fields[i].form == TLV_FORM_JSON || (d->fields[i].sub != NULL && has_json(d->fields[i].sub))) return true;
    return false;
}

static void messages_come_back_from_json(void **state) {
    (void)state;
    struct test_random random = {77};
    struct tlvgen gen = {.draw = draw, .ctx = &random, .arena = &arena, .small = true};
    struct buf text, once, again;
    uint32_t compared = 0;
    buf_init(&text, (size_t)1 << 24);
    buf_init(&once, (size_t)1 << 24);
    buf_init(&again, (size_t)1 << 24);
    for (uint32_t op = 0; op < 256; op++) {
        if (wire_info((uint8_t)op) == NULL || has_json(wire_info((uint8_t)op)->desc)) continue;
        const struct tlv_desc *d = wire_info((uint8_t)op)->desc;
        for (int round = 0; round < 40; round++) {
            void *message = arena_alloc(&arena, d->size), *read = arena_alloc(&arena, d->size);
            tlvgen_fill(&gen, d, message);
            const void *part = message;
            struct wire_json_in x = {.text = json_of(d, &part, 1, NULL, &text), .arena = &arena, .why = &why};
            const struct json_node *root;
            enum err e = json_tree_read(x.text, &limits, &arena, &root, &why);
            if (e != ERR_OK && strstr(why.text, "each key of an object once") != NULL) continue; /* two equal labels */
            if (e == ERR_OK) e = wire_json_read(&x, root, d, read);
            if (e != ERR_OK) fail_msg("%s: %s: %.*s", d->name, why.text, SLICE_FMT(x.text));
            buf_clear(&once);
            buf_clear(&again);
            tlv_encode(d, message, &once);
            tlv_encode(d, read, &again);
            if (!slice_eq(buf_slice(&once), buf_slice(&again))) fail_msg("%s: %.*s", d->name, SLICE_FMT(x.text));
            compared++;
            arena_reset(&arena);
        }
    }
    assert_true(compared > 1000);
    buf_fini(&text);
    buf_fini(&once);
    buf_fini(&again);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(routes_fit_their_messages),       TEST(every_message_of_a_client_has_a_route),
        TEST(paths_and_queries_fill_messages), TEST(other_paths_fit_no_route),
        TEST(bad_requests_name_the_field),     TEST(parts_become_one_answer),
        TEST(only_json_is_taken_for_json),     TEST(messages_come_back_from_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
