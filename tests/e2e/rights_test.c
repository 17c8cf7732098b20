/* rights_test.c: every request of the table (requests.h), by every kind of caller, about a thing of its own tenant, of
 * another one, and one that nobody has. What is expected follows from the table and from one rule: a caller without the
 * role is refused whatever it names, and what is another tenant's is answered like what is not there, word for word.
 *
 * A message that has no words in `messages` below fails the test, so a new request is in it by itself. */
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "api.h"
#include "json_tree.h"
#include "limit.h"
#include "options.h"
#include "realserver.h"
#include "requests.h"
#include "webclient.h"
#include "wire_json.h"
#include "wireclient.h"

#define TEXT_BYTES 4096u
#define TOKEN_BYTES 200u

static struct realserver server;
static struct limits limits;

/* ---- callers ---- */

struct who {
    const char *name;
    uint32_t roles;
    char token[TOKEN_BYTES];
    bool is_bound; /* to the tenant acme */
};

enum { ADMIN, OPERATOR, SUBMITTER, APPROVER, INSPECT, VIEWER, WORKER, JOB, CALLBACK, OPERATOR_OF_ALL, WHO_COUNT };
static struct who callers[WHO_COUNT] = {
    [ADMIN] = {"admin", ROLE_BIT(ROLE_ADMIN), .is_bound = true},
    [OPERATOR] = {"operator", ROLE_BIT(ROLE_OPERATOR), .is_bound = true},
    [SUBMITTER] = {"submitter", ROLE_BIT(ROLE_SUBMITTER), .is_bound = true},
    [APPROVER] = {"approver", ROLE_BIT(ROLE_APPROVER), .is_bound = true},
    [INSPECT] = {"inspect", ROLE_BIT(ROLE_INSPECT), .is_bound = true},
    [VIEWER] = {"viewer", ROLE_BIT(ROLE_VIEWER), .is_bound = true},
    [WORKER] = {"worker", ROLE_BIT(ROLE_WORKER), .is_bound = true},
    [JOB] = {"job", ROLE_BIT(ROLE_JOB), .is_bound = true},
    [CALLBACK] = {"callback", ROLE_BIT(ROLE_CALLBACK), .is_bound = true},
    [OPERATOR_OF_ALL] = {"operator", ROLE_BIT(ROLE_OPERATOR)},
};

/* ---- things ---- */

enum { OWN, FOREIGN, UNKNOWN, THING_COUNT };

/* Names of things of one tenant; those of UNKNOWN are nobody's. `words` are the places of the names in messages. */
enum { FLOW, NUMBER, QUESTION, EXTERNAL, WORKER_ID, TENANT, HASH, OWN_NAME, NAME_COUNT };
static const char *const words[NAME_COUNT] = {"@flow",   "@number", "@question", "@external",
                                              "@worker", "@tenant", "@hash",     "@name"};
static char names[THING_COUNT][NAME_COUNT][80] = {
    [UNKNOWN] = {"f4zzzz", "999999", "888888", "f4zzzx", "box-999999", "of-nobody-t",
                 "0000000000000000000000000000000000000000000000000000000000000000", "of-nobody-n"},
};
static struct wireclient workers[2]; /* they hold a job each */

/* ---- messages ---- */

/* What is tried of each request, as JSON. Several lines of one opcode are several messages. */
static const struct {
    uint8_t op;
    const char *text;
} messages[] = {
    {WIRE_HELLO, "{\"version_min\": 2, \"version_max\": 2}"},
    {WIRE_ERROR, "{}"},
    {WIRE_PING, "{}"},
    {WIRE_PONG, "{}"},
    {WIRE_GOODBYE, "{}"},
    {WIRE_STOP, "{\"request\": 4711}"},
    {WIRE_SUBMIT, "{\"flows\": [{\"spec\": {\"jobs\": {\"a\": {\"noop\": true}}}}]}"},
    {WIRE_SUBMIT, "{\"flows\": [{\"spec\": {\"jobs\": {\"a\": {\"noop\": true, \"needs\": \"@flow/hold\"}}}}]}"},
    {WIRE_SOURCE_GET, "{\"flow\": \"@flow\"}"},
    {WIRE_AGAIN, "{\"flow\": \"@flow\"}"},
    {WIRE_ADD_JOBS, "{\"flow\": \"@flow\", \"spec\": {\"jobs\": {\"a@\": {\"noop\": true}}}}"},
    {WIRE_CANCEL, "{\"targets\": [\"@flow/later\"]}"},
    {WIRE_PAUSE, "{\"scope\": \"flow\", \"name\": \"@flow\"}"},
    {WIRE_PAUSE, "{\"scope\": \"tenant\", \"name\": \"@tenant\"}"},
    {WIRE_PAUSE, "{\"scope\": \"pool\", \"name\": \"some\"}"},
    {WIRE_RESUME, "{\"scope\": \"flow\", \"name\": \"@flow\"}"},
    {WIRE_RESUME, "{\"scope\": \"tenant\", \"name\": \"@tenant\"}"},
    {WIRE_RESUME, "{\"scope\": \"pool\", \"name\": \"some\"}"},
    {WIRE_RETRY, "{\"targets\": [\"@flow/dead\"]}"},
    {WIRE_DISCARD, "{\"targets\": [\"@flow/dead\"]}"},
    {WIRE_RERUN, "{\"targets\": [\"@flow\"]}"},
    {WIRE_VERDICT, "{\"question\": @question, \"verdict\": \"deny\"}"},
    {WIRE_VERDICT, "{\"job\": \"@flow/ask\", \"verdict\": \"deny\"}"},
    {WIRE_COMPLETE, "{\"job\": \"@external/wait\"}"},
    {WIRE_COMPLETE, "{\"job\": \"@external/wait\", \"token\": \"rvc_1.1.q1.7fffffffff.00\"}"},
    {WIRE_GET, "{\"target\": \"@flow\", \"details\": true}"},
    {WIRE_GET, "{\"target\": \"@flow/hold\"}"},
    {WIRE_LIST, "{\"what\": \"flows\"}"},
    {WIRE_LIST, "{\"what\": \"jobs\", \"flow\": \"@flow\"}"},
    {WIRE_LIST, "{\"what\": \"dead\"}"},
    {WIRE_LIST, "{\"what\": \"dead\", \"flow\": \"@flow\"}"},
    {WIRE_LIST, "{\"what\": \"questions\"}"},
    {WIRE_LIST, "{\"what\": \"workers\", \"name\": \"@worker\"}"},
    {WIRE_LIST, "{\"what\": \"running\", \"name\": \"@worker\"}"},
    {WIRE_LIST, "{\"what\": \"worker\", \"name\": \"@worker\"}"},
    {WIRE_WHY, "{\"job\": \"@flow/hold\"}"},
    {WIRE_WAIT, "{\"targets\": [\"@flow\"], \"timeout_ms\": 1}"},
    {WIRE_SUBSCRIBE, "{\"targets\": [\"@flow\"], \"state_first\": true}"},
    {WIRE_LOGS, "{\"job\": \"@flow/hold\", \"now\": true}"},
    {WIRE_STATS, "{}"},
    {WIRE_STATS_PAST, "{}"},
    {WIRE_BLOB_BEGIN, "{\"hash\": \"@hash\", \"bytes\": 1}"},
    {WIRE_BLOB_PART, "{\"upload\": 4711}"},
    {WIRE_BLOB_END, "{\"upload\": 4711}"},
    {WIRE_BLOB_PUT, "{\"data\": \"x\"}"},
    {WIRE_BLOB_GET, "{\"hash\": \"@hash\"}"},
    {WIRE_BLOB_LS, "{}"},
    {WIRE_KV_CHANGE, "{\"op\": \"set\", \"entries\": [{\"key\": \"k\", \"value\": \"v\"}]}"},
    {WIRE_KV_CHANGE, "{\"op\": \"set\", \"flow\": \"@flow\", \"entries\": [{\"key\": \"k\", \"value\": \"v\"}]}"},
    {WIRE_KV_GET, "{\"keys\": [\"@name\"]}"},
    {WIRE_KV_GET, "{\"flow\": \"@flow\", \"keys\": [\"@name\"]}"},
    {WIRE_KV_WATCH, "{\"key\": \"@name\"}"},
    {WIRE_KV_WATCH, "{\"flow\": \"@flow\", \"key\": \"k\"}"},
    {WIRE_TOKEN_NEW, "{\"name\": \"made\", \"tenant\": \"@tenant\", \"roles\": [\"viewer\"]}"},
    {WIRE_TOKEN_REVOKE, "{\"targets\": [\"00000000000\"]}"},
    {WIRE_TOKEN_LS, "{}"},
    {WIRE_LOGIN_USE, "{\"ticket\": \"00\"}"},
    {WIRE_LOGOUT, "{\"session\": 1}"},
    {WIRE_SCHEDULE_SET, "{\"name\": \"made\", \"expression\": \"every 1h\", \"paused\": true, \"flow\": {\"spec\": "
                        "{\"jobs\": {\"a\": {\"noop\": true}}}}}"},
    {WIRE_SCHEDULE_CHANGE, "{\"name\": \"@name\", \"op\": \"pause\"}"},
    {WIRE_SCHEDULE_RUN, "{\"name\": \"@name\"}"},
    {WIRE_SCHEDULE_LS, "{\"name\": \"@name\"}"},
    {WIRE_SERVICE_SET, "{\"name\": \"@name\", \"desired\": \"stopped\"}"},
    {WIRE_SERVICE_LS, "{}"},
    {WIRE_SERVICE_GET, "{\"name\": \"@name\"}"},
    {WIRE_SERVICE_ROLLBACK, "{\"name\": \"@name\"}"},
    {WIRE_POOL, "{\"name\": \"some\"}"},
    {WIRE_TOPIC, "{\"name\": \"some\", \"pools\": [\"some\"]}"},
    {WIRE_TENANT, "{\"name\": \"@tenant\", \"weight\": 1}"},
    {WIRE_LIMIT, "{\"tenant\": \"@tenant\", \"kind\": \"key\", \"name\": \"k\", \"width\": 1}"},
    {WIRE_LIMIT_LS, "{}"},
    {WIRE_DRAIN, "{\"worker\": \"@worker\"}"},
    {WIRE_DRAIN, "{\"worker\": \"@worker\", \"end\": true}"},
    {WIRE_DEMAND_WATCH, "{\"once\": true}"},
    {WIRE_DEMAND_WATCH, "{\"once\": true, \"kind\": {\"slots\": 1, \"pool\": \"default\"}}"},
    {WIRE_CALLBACK, "{\"job\": \"@external/wait\"}"},
    {WIRE_FOLLOW, "{\"flow\": \"@flow\", \"once\": true}"},
    {WIRE_FOLLOW, "{\"targets\": [\"@flow\"], \"state_first\": true, \"once\": true}"},
    {WIRE_FOLLOW, "{\"job\": \"@flow/hold\", \"once\": true}"},
    {WIRE_TALE, "{\"flow\": \"@flow\"}"},
    {WIRE_ATTACH, "{\"worker\": \"@id\", \"incarnation\": 9, \"info\": {\"slots\": 1}}"},
    {WIRE_HEARTBEAT, "{}"},
    {WIRE_CREDIT, "{}"},
    {WIRE_DETACH, "{}"},
    {WIRE_STARTED, "{\"attempts\": [{\"flow\": @number, \"attempt\": 1}]}"},
    {WIRE_PROGRESS, "{\"items\": [{\"attempt\": {\"flow\": @number, \"attempt\": 1}, \"percent\": 1}]}"},
    {WIRE_HEALTH, "{\"items\": [{\"attempt\": {\"flow\": @number, \"attempt\": 1}, \"healthy\": true}]}"},
    {WIRE_LOG, "{\"batches\": [{\"attempt\": {\"flow\": @number, \"attempt\": 1}, \"pieces\": [{\"data\": \"x\"}]}]}"},
    {WIRE_DONE, "{\"ends\": [{\"attempt\": {\"flow\": @number, \"attempt\": 1}}]}"},
    {WIRE_METRICS, "{}"},
    {WIRE_DEAD_RETRY, "{\"targets\": [\"@flow/dead\"]}"},
    {WIRE_DEAD_RETRY, "{\"flow\": \"@flow\"}"},
    {WIRE_DEAD_DISCARD, "{\"targets\": [\"@flow/dead\"]}"},
    {WIRE_DEAD_DISCARD, "{\"flow\": \"@flow\"}"},
    {WIRE_AUDIT, "{\"flow\": \"@flow\"}"},
    {WIRE_AUDIT_CHECKPOINT, "{}"},
    {WIRE_AUDIT_VERIFY, "{}"},
    {WIRE_AUDIT_EXPORT, "{\"flow\": \"@flow\"}"},
    {WIRE_WORKER_START, "{\"name\": \"made\"}"},
    {WIRE_PLAYGROUND_GET, "{}"},
    {WIRE_PLAYGROUND_DO, "{\"what\": \"kill\"}"},
    {WIRE_LOGIN_NEW, "{}"},
};
#define MESSAGE_COUNT (sizeof messages / sizeof messages[0])

static void replace_all(char text[TEXT_BYTES], const char *from, const char *to) {
    char left[TEXT_BYTES];
    size_t len = strlen(from);
    for (char *at = text; len > 0 && (at = strstr(at, from)) != NULL; at += strlen(to)) {
        snprintf(left, sizeof left, "%s", at + len);
        snprintf(at, TEXT_BYTES - (size_t)(at - text), "%s%s", to, left);
    }
}

/* An id that is nobody's can be attached by anyone, so the one that is compared with is one that is none. */
static const char *attach_id(int thing) {
    return thing == UNKNOWN ? "box\\u0001" : names[thing][WORKER_ID];
}

static void fill_in(const char *pattern, int thing, char ret[TEXT_BYTES]) {
    static uint32_t made;
    char number[16];
    snprintf(ret, TEXT_BYTES, "%s", pattern);
    for (int i = 0; i < NAME_COUNT; i++) replace_all(ret, words[i], names[thing][i]);
    replace_all(ret, "@id", attach_id(thing));
    snprintf(number, sizeof number, "%u", ++made);
    replace_all(ret, "@", number); /* what would be made twice */
}

static const void *message_of(struct arena *arena, uint8_t op, const char *text) {
    const struct json_node *root = NULL;
    struct why why = {{0}};
    struct wire_json_in x = {.text = slice_str(text), .arena = arena, .why = &why};
    void *ret = arena_alloc(arena, wire_info(op)->desc->size);
    memset(ret, 0, wire_info(op)->desc->size);
    enum err e = json_tree_read(slice_str(text), &limits, arena, &root, &why);
    if (e == ERR_OK) e = wire_json_read(&x, root, wire_info(op)->desc, ret);
    if (e != ERR_OK) fail_msg("%s %s: %s %s", wire_word(op), text, x.field, why.text);
    return ret;
}

/* ---- answers ---- */

struct said {
    uint8_t op;
    char code[32];
    char text[TEXT_BYTES]; /* as JSON, with the names in it put back to words, without what counts on */
};

static void cut_number(char text[TEXT_BYTES], const char *key) {
    for (char *at = text; (at = strstr(at, key)) != NULL;) {
        at += strlen(key);
        size_t digits = strspn(at, "0123456789abcdefghijklmnopqrstuvwxyz");
        memmove(at, at + digits, strlen(at + digits) + 1);
    }
}

static void mask(char text[TEXT_BYTES], int thing) {
    static const char *const counters[] = {
        "\"lsn\":", "_ms\":", "\"flow\":\"f", "\"flow\":", "\"upload\":", "question ", "\"question\":", "attempt "};
    for (int i = 0; i < NAME_COUNT; i++)
        if (i != NUMBER && i != QUESTION) replace_all(text, names[thing][i], words[i]);
    replace_all(text, attach_id(thing), words[WORKER_ID]);
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) cut_number(text, counters[i]);
}

static void said_of(const struct wiregot *got, int thing, struct said *ret) {
    struct buf out;
    struct json j;
    struct arena arena;
    buf_init(&out, 1 << 20);
    arena_init(&arena, 65536, 1 << 24);
    json_init(&j, &out);
    json_object(&j);
    struct wire_json_out x = {&j, &arena, &limits};
    wire_json_put(&x, wire_info(got->op)->desc, &got->message, 1, NULL);
    json_object_end(&j);
    ret->op = got->op;
    snprintf(ret->text, sizeof ret->text, "%.*s", (int)(out.len < TEXT_BYTES - 1 ? out.len : TEXT_BYTES - 1),
             (const char *)out.at);
    mask(ret->text, thing);
    ret->code[0] = 0;
    if (got->op == WIRE_ERROR)
        snprintf(ret->code, sizeof ret->code, "%.*s", SLICE_FMT(((const struct wire_error *)got->message)->code));
    buf_fini(&out);
    arena_fini(&arena);
}

/* One request on a connection of its own. Of one without an answer: what a ping behind it says. */
static void ask(const struct who *w, size_t message, int thing, struct said *ret) {
    struct wireclient c;
    struct wiregot got;
    char text[TEXT_BYTES];
    uint8_t op = messages[message].op;
    bool is_worker = w->roles == ROLE_BIT(ROLE_WORKER);
    wireclient_open(&c, server.address, w->token, is_worker ? WIRE_PEER_WORKER : WIRE_PEER_CLIENT);
    if (is_worker && (request_row(op)->flags & REQUEST_NEEDS_ATTACH)) {
        struct wire_attach attach = {.worker = SLICE("box-77abcd"), .incarnation = 1, .info = {.slots = 1}};
        (void)wireclient_ask(&c, WIRE_ATTACH, &attach, WIRE_ATTACHED);
    }
    fill_in(messages[message].text, thing, text);
    const void *m = message_of(&c.arena, op, text);
    bool is_answered = wire_info(op)->answer != 0;
    uint32_t request = is_answered ? wireclient_send(&c, (enum wire_op)op, m) : 0;
    if (!is_answered) assert_true(wireclient_tell(&c, (enum wire_op)op, m));
    if (!is_answered) request = wireclient_send(&c, WIRE_PING, &(struct wire_ping){0});
    do
        if (!wireclient_next(&c, WIRECLIENT_WAIT_MS, &got)) fail_msg("%s by %s: no answer", text, w->name);
    while (got.request != request);
    said_of(&got, thing, ret);
    wireclient_close(&c);
}

/* ---- what there is ---- */

static void token_for(struct who *w, const char *tenant) {
    struct wireclient c;
    char name[64];
    struct wire_name roles[1] = {{slice_str(w->name)}};
    snprintf(name, sizeof name, "%s-%s", w->name, tenant);
    struct wire_token_new m = {.name = slice_str(name), .tenant = slice_str(tenant), .roles = {roles, 1}};
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    const struct wire_token_given *got = wireclient_ask(&c, WIRE_TOKEN_NEW, &m, WIRE_TOKEN_GIVEN);
    snprintf(w->token, sizeof w->token, "%.*s", SLICE_FMT(got->token));
    wireclient_close(&c);
}

static const char *post(struct webclient *c, const char *verb, const char *path, const char *body, int status) {
    struct webgot got = webclient_ask(c, verb, path, body);
    if (got.status != status) fail_msg("%s %s: %d %s", verb, path, got.status, got.body);
    return got.body;
}

static void member_of(const char *body, const char *key, char ret[80]) {
    const char *at = strstr(body, key);
    if (at == NULL) fail_msg("%s is not in %s", key, body);
    at += strlen(key);
    while (*at == '"' || *at == ' ' || *at == ':') at++;
    snprintf(ret, 80, "%.*s", (int)strcspn(at, "\",}"), at);
}

/* A flow of a job that the tenant's worker holds, one that waits, one that died, one before a question; an external
 * job; a blob, a key, a schedule and a service of one name. */
static void things_make(int thing, const char *tenant, struct wireclient *worker, char job_token[TOKEN_BYTES]) {
    struct webclient c;
    struct who admin = {.name = "admin"}, works = {.name = "worker"};
    char path[256], id[80];
    struct wiregot got;
    token_for(&admin, tenant);
    token_for(&works, tenant);
    snprintf(names[thing][TENANT], 80, "%s", tenant);
    snprintf(names[thing][WORKER_ID], 80, "box-%06x", (unsigned)thing + 1);
    snprintf(names[thing][OWN_NAME], 80, "thing-%d", thing);
    webclient_open(&c, server.address, admin.token);
    const char *body = post(&c, "POST", "/api/v1/flows",
                            "{\"jobs\": {\"hold\": {\"run\": \"true\"}, \"later\": {\"sleep\": \"1h\"}, \"dead\": "
                            "{\"fail\": 1, \"retries\": 0}, \"ask\": {\"noop\": true, \"approval\": true}}}",
                            201);
    member_of(body, "\"flow\"", names[thing][FLOW]);
    member_of(post(&c, "POST", "/api/v1/flows", "{\"jobs\": {\"wait\": {\"external\": true}}}", 201), "\"flow\"",
              names[thing][EXTERNAL]);
    member_of(post(&c, "GET", "/api/v1/questions", NULL, 200), "\"question\"", names[thing][QUESTION]);
    member_of(post(&c, "POST", "/api/v1/blobs", tenant, 200), "\"hash\"", names[thing][HASH]);
    snprintf(path, sizeof path, "{\"op\": \"set\", \"entries\": [{\"key\": \"thing-%d\", \"value\": \"v\"}]}", thing);
    (void)post(&c, "POST", "/api/v1/store", path, 200);
    snprintf(path, sizeof path, "/api/v1/schedules/thing-%d", thing);
    (void)post(&c, "PUT", path,
               "{\"expression\": \"every 1h\", \"flow\": {\"spec\": {\"jobs\": {\"a\": {\"noop\": true}}}}}", 200);
    webclient_close(&c);
    wireclient_open(worker, server.address, works.token, WIRE_PEER_WORKER);
    snprintf(id, sizeof id, "%s", names[thing][WORKER_ID]);
    struct wire_attach attach = {.worker = slice_str(id),
                                 .incarnation = 1,
                                 .info = {.pool = SLICE("default"), .slots = 1},
                                 .load = {.credit = 1}};
    (void)wireclient_send(worker, WIRE_ATTACH, &attach);
    do assert_true(wireclient_next(worker, WIRECLIENT_WAIT_MS, &got));
    while (got.op != WIRE_ASSIGN);
    const struct wire_assignment *a = ((const struct wire_assign *)got.message)->assignments.at;
    snprintf(names[thing][NUMBER], 80, "%llu", (unsigned long long)a->attempt.flow);
    snprintf(job_token, TOKEN_BYTES, "%.*s", SLICE_FMT(a->token));
}

static int group_setup(void **state) {
    (void)state;
    struct webclient c;
    char path[128], unused[TOKEN_BYTES];
    limits_default(&limits);
    realserver_make(&server);
    server.flags[0] = "--titan-listen";
    server.flags[1] = "127.0.0.1:0";
    realserver_start(&server);
    assert_true(realserver_says(&server, "whole")); /* else the history says that flows may be missing yet */
    for (int i = 0; i < JOB; i++) token_for(&callers[i], "acme");
    token_for(&callers[OPERATOR_OF_ALL], "");
    things_make(OWN, "acme", &workers[0], callers[JOB].token);
    things_make(FOREIGN, "globex", &workers[1], unused);
    snprintf(path, sizeof path, "/api/v1/jobs/%s/wait/callback", names[OWN][EXTERNAL]);
    webclient_open(&c, server.address, callers[OPERATOR].token);
    struct webgot got = webclient_ask(&c, "POST", path, "{}");
    assert_int_equal(got.status, 200);
    snprintf(callers[CALLBACK].token, TOKEN_BYTES, "%s", webgot_text(&c, &got, "token"));
    webclient_close(&c);
    return 0;
}

static int group_teardown(void **state) {
    (void)state;
    wireclient_close(&workers[0]);
    wireclient_close(&workers[1]);
    realserver_remove(&server);
    return 0;
}

/* ---- the matrix ---- */

static void each_request_is_tried(void **state) {
    (void)state;
    for (uint32_t op = 0; op < 256; op++) {
        uint32_t count = 0;
        for (size_t i = 0; i < MESSAGE_COUNT; i++) count += messages[i].op == op;
        if (request_row((uint8_t)op) != NULL && count == 0) fail_msg("%s: say what to try", wire_word((uint8_t)op));
        if (request_row((uint8_t)op) == NULL && count > 0) fail_msg("opcode %u is no request", op);
    }
}

/* A job's token, and that of a worker, name less than their role may send. */
static bool names_less(const struct who *w, uint8_t op) {
    enum request_names n = request_row(op)->names;
    if (w->roles == ROLE_BIT(ROLE_JOB)) return n == NAMES_LIST || n == NAMES_EXTERNAL;
    if (w->roles == ROLE_BIT(ROLE_WORKER)) return n == NAMES_WORKER || n == NAMES_DEMAND || n == NAMES_EXTERNAL;
    if (w->roles == ROLE_BIT(ROLE_SUBMITTER)) return n == NAMES_PAUSED;
    return n == NAMES_EXTERNAL ||
           n == NAMES_STANDARD; /* the first by roles of its own, the second is not switched on */
}

static void check_own(const struct who *w, size_t message, const struct said *own) {
    uint8_t op = messages[message].op;
    bool is_shared =
        request_row(op)->names == NAMES_ALL_TENANTS || strstr(messages[message].text, "\"scope\": \"pool\"") != NULL;
    if (is_shared && w->is_bound) {
        if (strcmp(own->code, "forbidden") != 0)
            fail_msg("%s by %s of one tenant: %s", messages[message].text, w->name, own->text);
        return;
    }
    bool is_others = request_row(op)->names == NAMES_STANDARD;
    if (is_others && w->is_bound) { /* those tenants are none of acme's */
        if (strstr(own->text, "limited to tenant @tenant") == NULL)
            fail_msg("%s by %s: %s", wire_word(op), w->name, own->text);
        return;
    }
    if (strcmp(own->code, "unauthenticated") == 0 && strstr(messages[message].text, "rvc_") == NULL)
        fail_msg("%s by %s: %s", messages[message].text, w->name, own->text);
    if (strcmp(own->code, "forbidden") == 0 && !names_less(w, op))
        fail_msg("%s %s by %s: %s", wire_word(op), messages[message].text, w->name, own->text);
}

static void roles_and_tenants_are_what_the_table_says(void **state) {
    (void)state;
    uint32_t count = 0;
    for (size_t i = 0; i < MESSAGE_COUNT; i++)
        for (int k = 0; k < WHO_COUNT; k++) {
            struct said said[THING_COUNT];
            const struct who *w = &callers[k];
            uint8_t op = messages[i].op;
            for (int thing = 0; thing < THING_COUNT; thing++) ask(w, i, thing, &said[thing]);
            count += THING_COUNT;
            bool is_answered = wire_info(op)->answer != 0;
            bool may = role_may(w->roles, op);
            for (int thing = 0; is_answered && !may && thing < THING_COUNT; thing++)
                if (strcmp(said[thing].code, "forbidden") != 0)
                    fail_msg("%s by %s: %s", wire_word(op), w->name, said[thing].text);
            bool names_any = strstr(messages[i].text, "@") != NULL; /* else all three are the same request */
            if (w->is_bound && names_any && strcmp(said[FOREIGN].text, said[UNKNOWN].text) != 0)
                fail_msg("%s %s by %s:\n  foreign: %s\n  unknown: %s", wire_word(op), messages[i].text, w->name,
                         said[FOREIGN].text, said[UNKNOWN].text);
            if (is_answered && may) check_own(w, i, &said[OWN]);
        }
    printf("%u requests\n", count);
}

/* ---- by HTTP ---- */

static void path_of(const struct api_route *route, int thing, char ret[TEXT_BYTES]) {
    bool is_external = route->op == WIRE_COMPLETE || route->op == WIRE_CALLBACK;
    bool is_tenant = strncmp(route->path, "/tenants/", 9) == 0;
    snprintf(ret, TEXT_BYTES, "%s%s", route->bare ? "" : API_PREFIX, route->path);
    replace_all(ret, "{flow}", names[thing][is_external ? EXTERNAL : FLOW]);
    replace_all(ret, "{job}", is_external ? "wait" : "hold");
    replace_all(ret, "{worker}", names[thing][WORKER_ID]);
    replace_all(ret, "{name}", names[thing][is_tenant ? TENANT : OWN_NAME]);
    replace_all(ret, "{question}", names[thing][QUESTION]);
    replace_all(ret, "{hash}", names[thing][HASH]);
    replace_all(ret, "{id}", names[thing][OWN_NAME]);
    replace_all(ret, "{token}", names[thing][OWN_NAME]);
}

static int status_of(const struct who *w, const struct api_route *route, int thing, char ret[TEXT_BYTES]) {
    struct webclient c;
    char path[TEXT_BYTES];
    path_of(route, thing, path);
    webclient_open(&c, server.address, w->token);
    struct webgot got =
        webclient_ask(&c, http_verb_word(route->verb), path, route->body == API_BODY_NONE ? NULL : "{}");
    snprintf(ret, TEXT_BYTES, "%d %s", got.status, got.body);
    mask(ret, thing);
    webclient_close(&c);
    return got.status;
}

static void routes_tell_nothing_of_other_tenants(void **state) {
    (void)state;
    uint32_t count;
    const struct api_route *routes = api_routes(&count);
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < CALLBACK && strchr(routes[i].path, '{') != NULL; k++) {
            char foreign[TEXT_BYTES], unknown[TEXT_BYTES];
            int status = status_of(&callers[k], &routes[i], FOREIGN, foreign);
            (void)status_of(&callers[k], &routes[i], UNKNOWN, unknown);
            if (strcmp(foreign, unknown) != 0)
                fail_msg("%s by %s:\n  foreign: %s\n  unknown: %s", routes[i].path, callers[k].name, foreign, unknown);
            bool is_callback = strncmp(routes[i].path, "/callback/", 10) == 0;
            if (!role_may(callers[k].roles, routes[i].op) && !is_callback) assert_int_equal(status, 403);
        }
}

/* The second one would be for a proxy to choose, and the first for us. */
static void a_tenant_that_is_named_twice_is_not_taken(void **state) {
    (void)state;
    struct webclient c;
    char text[512];
    snprintf(text, sizeof text,
             "GET /api/v1/store HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
             "Reeve-Tenant: acme\r\nReeve-Tenant: globex\r\n\r\n",
             server.admin);
    struct webgot got = webclient_once(&c, server.address, text, 400);
    assert_has(got.body, "Reeve-Tenant");
    webclient_close(&c);
}

/* Numbers of all tenants are for those who are of none. */
static void a_tenant_hears_its_own_numbers_only(void **state) {
    (void)state;
    struct webclient c;
    webclient_open(&c, server.address, callers[VIEWER].token);
    struct webgot got = webclient_ask(&c, "GET", "/api/v1/stats", NULL);
    assert_int_equal(got.status, 200);
    assert_has(got.body, "\"workers_attached\":1"); /* of two */
    assert_null(strstr(got.body, "\"flows\""));
    assert_int_equal(webclient_ask(&c, "GET", "/metrics", NULL).status, 403);
    webclient_close(&c);
    webclient_open(&c, server.address, callers[OPERATOR_OF_ALL].token);
    assert_has(webclient_ask(&c, "GET", "/api/v1/stats", NULL).body, "\"flows\":");
    assert_int_equal(webclient_ask(&c, "GET", "/metrics", NULL).status, 200);
    webclient_close(&c);
}

/* ---- flows that have left memory ---- */

static void ask_about(struct webclient *c, const char *verb, const char *flow, const char *what, char ret[TEXT_BYTES]) {
    char path[128];
    snprintf(path, sizeof path, "/api/v1/flows/%s%s", flow, what);
    struct webgot got = webclient_ask(c, verb, path, verb[0] == 'G' ? NULL : "{}");
    snprintf(ret, TEXT_BYTES, "%d %s", got.status, got.body);
    replace_all(ret, flow, "@flow");
    cut_number(ret, "\"lsn\":");
}

static void an_old_flow_of_another_tenant_is_not_there(void **state) {
    (void)state;
    struct realserver running = server;
    struct webclient c;
    struct who own = {.name = "admin"}, other = {.name = "admin"};
    char flow[80], old[TEXT_BYTES], unknown[TEXT_BYTES];
    static const char *const flags[] = {"--retention-ms", "0", "--dead-letter-ms", "0"};
    server = (struct realserver){0};
    realserver_make(&server);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[i] = flags[i];
    realserver_start(&server);
    assert_true(realserver_says(&server, "whole"));
    token_for(&own, "acme");
    token_for(&other, "globex");
    webclient_open(&c, server.address, own.token);
    member_of(post(&c, "POST", "/api/v1/flows", "{\"jobs\": {\"a\": {\"sleep\": \"1h\"}}}", 201), "\"flow\"", flow);
    ask_about(&c, "POST", flow, "/cancel", old);
    for (int i = 0; i < 1000 && strstr(old, "\"archived\":true") == NULL; i++) { /* until it has left */
        (void)poll(NULL, 0, 10);
        webclient_close(&c);
        webclient_open(&c, server.address, own.token);
        ask_about(&c, "GET", flow, "", old);
    }
    assert_has(old, "\"archived\":true");
    ask_about(&c, "GET", flow, "/events", old);
    assert_has(old, "200 ");
    webclient_close(&c);
    webclient_open(&c, server.address, other.token);
    static const char *const asked[][2] = {{"GET", "/events"}, {"GET", ""},        {"GET", "/wait"},
                                           {"GET", "/jobs"},   {"POST", "/rerun"}, {"POST", "/cancel"}};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        ask_about(&c, asked[i][0], flow, asked[i][1], old);
        ask_about(&c, asked[i][0], "f4zzzz", asked[i][1], unknown);
        assert_string_equal(old, unknown);
    }
    webclient_close(&c);
    realserver_remove(&server);
    server = running;
}

/* ---- questions ---- */

/* A worker that runs the job, so that its output is to be judged. */
static void run_it(const char *job) {
    struct wireclient c;
    struct wiregot got;
    struct wire_attach attach = {
        .worker = SLICE("box-66abcd"), .incarnation = 1, .info = {.slots = 8}, .load = {.credit = 8}};
    wireclient_open(&c, server.address, callers[WORKER].token, WIRE_PEER_WORKER);
    (void)wireclient_send(&c, WIRE_ATTACH, &attach);
    for (bool ran = false; !ran;) {
        assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
        const struct wire_assign *m = got.message;
        for (uint32_t i = 0; got.op == WIRE_ASSIGN && i < m->assignments.count; i++) {
            const struct wire_assignment *a = &((const struct wire_assignment *)m->assignments.at)[i];
            struct wire_end end = {.attempt = a->attempt};
            struct wire_done done = {.ends = {&end, 1}};
            if (!slice_eq(a->job, slice_str(job))) continue;
            (void)wireclient_ask(&c, WIRE_DONE, &done, WIRE_DONE_ACK);
            ran = true;
        }
    }
    wireclient_close(&c);
}

/* What a policy or a look at the output comes to is not for people to say, whatever their role. */
static void a_verdict_answers_what_people_are_asked(void **state) {
    (void)state;
    static const enum gate gates[] = {GATE_POLICY, GATE_OUTPUT, GATE_APPROVAL};
    struct wireclient c;
    for (size_t i = 0; i < sizeof gates / sizeof gates[0]; i++) {
        char job[96];
        struct wire_options options = {.kind = JOB_NOOP, .gates = (uint8_t)(1u << gates[i])};
        struct wire_job one = {.name = SLICE("a")};
        struct wire_flow flow = {.part = {.options = {&options, 1}, .jobs = {&one, 1}}};
        struct wire_submit submit = {.flows = {&flow, 1}};
        wireclient_open(&c, server.address, callers[OPERATOR].token, WIRE_PEER_CLIENT);
        const struct wire_submitted *got = wireclient_ask(&c, WIRE_SUBMIT, &submit, WIRE_SUBMITTED);
        const struct wire_submitted_flow *made = got->flows.at;
        snprintf(job, sizeof job, "%.*s/a", SLICE_FMT(made->flow));
        wireclient_close(&c);
        if (gates[i] == GATE_OUTPUT) run_it(job);
        for (uint8_t word = 0; word < WIRE_VERDICT_COUNT; word++)
            for (int k = 0; k < WHO_COUNT && gates[i] != GATE_APPROVAL; k++) {
                struct wire_verdict m = {.job = slice_str(job), .verdict = word};
                wireclient_open(&c, server.address, callers[k].token, WIRE_PEER_CLIENT);
                (void)wireclient_refused(&c, WIRE_VERDICT, &m, ERR_FORBIDDEN);
                wireclient_close(&c);
            }
        struct wire_get get = {.target = slice_str(job)};
        wireclient_open(&c, server.address, callers[APPROVER].token, WIRE_PEER_CLIENT);
        const struct wire_got *seen = wireclient_ask(&c, WIRE_GET, &get, WIRE_GOT);
        uint64_t question = ((const struct wire_job_view *)seen->jobs.at)->question;
        assert_int_not_equal(question, 0); /* it is still open */
        struct wire_verdict m = {.question = question};
        if (gates[i] != GATE_APPROVAL)
            (void)wireclient_refused(&c, WIRE_VERDICT, &m, ERR_FORBIDDEN);
        else
            (void)wireclient_refused(&c, WIRE_VERDICT, &m, ERR_STALE); /* it could, with the hash of what was seen */
        wireclient_close(&c);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_is_tried),
        cmocka_unit_test(a_verdict_answers_what_people_are_asked),
        cmocka_unit_test(routes_tell_nothing_of_other_tenants),
        cmocka_unit_test(a_tenant_that_is_named_twice_is_not_taken),
        cmocka_unit_test(a_tenant_hears_its_own_numbers_only),
        cmocka_unit_test(an_old_flow_of_another_tenant_is_not_there),
        cmocka_unit_test(roles_and_tenants_are_what_the_table_says),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
