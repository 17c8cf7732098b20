/* sweep_test.c: blobs that nothing names go and give their space back; what a job, a kept result or a person names
 * stays, whenever the server is killed. */
#include "test.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "osdigest.h"
#include "realserver.h"
#include "wireclient.h"

static struct realserver server;
static struct wireclient c;

static void start(void) {
    static const char *const flags[] = {"--blob-grace-ms", "1000", "--blob-sweep-ms", "20",
                                        "--retention-ms",  "5000", "--pack-bytes",    "65536"};
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

struct name {
    uint8_t hash[32];
};

/* `bytes` bytes that no other seed gives. */
static struct name put(uint32_t seed, uint32_t bytes) {
    uint8_t *data = arena_alloc(&c.arena, bytes);
    struct test_random random = {seed};
    struct name ret;
    for (uint32_t i = 0; i < bytes; i++) data[i] = (uint8_t)test_random_next(&random);
    osdigest()->whole(osdigest(), slice_of(data, bytes), ret.hash);
    struct wire_blob_begin begin = {.hash = slice_of(ret.hash, 32), .bytes = bytes};
    const struct wire_blob_state *state = wireclient_ask(&c, WIRE_BLOB_BEGIN, &begin, WIRE_BLOB_STATE);
    if (state->stored) return ret;
    struct wire_blob_part part = {.upload = state->upload, .data = slice_of(data, bytes)};
    struct wire_blob_end end = {.upload = state->upload};
    (void)wireclient_ask(&c, WIRE_BLOB_PART, &part, WIRE_BLOB_STATE);
    state = wireclient_ask(&c, WIRE_BLOB_END, &end, WIRE_BLOB_STATE);
    assert_true(state->stored);
    return ret;
}

static bool is_there(const struct name *n) {
    struct wire_blob_get get = {.hash = slice_of(n->hash, 32), .most = 1};
    struct wiregot got;
    assert_true(wireclient_try(&c, WIRE_BLOB_GET, &get, &got));
    return got.op == WIRE_BLOB_DATA;
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

static void until_gone(const struct name *n) {
    for (int i = 0; is_there(n); i++) {
        if (i > 4000) fail_msg("the blob stays");
        (void)poll(NULL, 0, 5);
        wireclient_forget(&c);
    }
}

/* By the time this one is gone everything of its age that is not named is gone, too. */
static void let_a_sweep_pass(uint32_t seed) {
    struct name canary = put(seed, 100);
    until_gone(&canary);
}

static void keep(const struct name *n, bool on) {
    char key[80] = "blob:";
    for (int i = 0; i < 32; i++) snprintf(key + 5 + 2 * i, 3, "%02x", n->hash[i]);
    struct wire_kv_entry entry = {.key = slice_str(key), .value = SLICE("x")};
    struct wire_kv_change m = {.op = on ? WIRE_KV_SET : WIRE_KV_DELETE, .entries = {&entry, 1}};
    (void)wireclient_ask(&c, WIRE_KV_CHANGE, &m, WIRE_KV_CHANGED);
}

/* A job with that script, in a pool of its own; its flow. */
static struct slice submit(const struct name *script, const char *pool, const char *shell, struct slice cache_key) {
    struct buf body;
    struct wire_file file = {.path = SLICE("f"), .hash = slice_of(script->hash, 32)};
    struct wire_run run = {.shell = slice_str(shell), .files = {&file, 1}};
    struct wire_options options = {.attempts_max = 1, .demand = {.pool = slice_str(pool)}, .cache_ms = 600000};
    buf_init(&body, 65536);
    tlv_encode(&wire_run_desc, &run, &body);
    struct wire_job job = {.name = SLICE("x"), .body = buf_slice(&body), .cache_key = cache_key};
    struct wire_flow flow = {.part = {.options = {&options, 1}, .jobs = {&job, 1}}};
    struct wire_submit m = {{&flow, 1}};
    const struct wire_submitted *done = wireclient_ask(&c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
    const struct wire_submitted_flow *flows = done->flows.at;
    buf_fini(&body);
    if (flows[0].code.len > 0) fail_msg("%.*s", SLICE_FMT(flows[0].message));
    return flows[0].flow;
}

static void cancel(struct slice flow) {
    struct wire_name name = {flow};
    struct wire_targets m = {.targets = {&name, 1}};
    (void)wireclient_ask(&c, WIRE_CANCEL, &m, WIRE_ACCEPTED);
}

/* ---- */

static void what_nobody_names_goes_and_its_space_comes_back(void **state) {
    (void)state;
    uint64_t before = number("blob_bytes");
    struct name kept = put(1, 40000), small[50];
    keep(&kept, true);
    struct name large = put(2, 3000000);
    assert_true(number("blob_bytes") > before + 3000000);
    for (uint32_t i = 0; i < 50; i++) small[i] = put(100 + i, 30000);
    until_gone(&large);
    for (uint32_t i = 0; i < 50; i++) until_gone(&small[i]);
    for (int i = 0; number("blob_bytes") > before + 400000; i++) {
        if (i > 4000) fail_msg("the space does not come back: %llu", (unsigned long long)number("blob_bytes"));
        (void)put(1000 + (uint32_t)i, 10); /* packs move when something is written */
        (void)poll(NULL, 0, 5);
    }
    assert_true(is_there(&kept));
    assert_true(number("blobs_swept") >= 51);
    keep(&kept, false);
    until_gone(&kept);
}

static void what_a_job_names_stays_as_long_as_the_job(void **state) {
    (void)state;
    struct name script = put(3, 50000);
    struct slice flow = arena_slice(&c.arena, submit(&script, "nobody-there", "true", (struct slice){0}));
    char id[32];
    snprintf(id, sizeof id, "%.*s", SLICE_FMT(flow));
    let_a_sweep_pass(4);
    assert_true(is_there(&script)); /* queued */
    cancel(slice_str(id));
    let_a_sweep_pass(5);
    assert_true(is_there(&script)); /* cancelled: `rerun` may want it */
    until_gone(&script);            /* the flow has left memory */
}

static void what_a_schedule_names_stays_as_long_as_the_schedule(void **state) {
    (void)state;
    struct name script = put(30, 50000);
    struct buf body;
    struct wire_file file = {.path = SLICE("f"), .hash = slice_of(script.hash, 32)};
    struct wire_run run = {.shell = SLICE("true"), .files = {&file, 1}};
    buf_init(&body, 65536);
    tlv_encode(&wire_run_desc, &run, &body);
    struct wire_job job = {.name = SLICE("x"), .body = buf_slice(&body)};
    struct wire_flow flow = {.part = {.jobs = {&job, 1}}};
    struct wire_schedule_set set = {.name = SLICE("yearly"), .expression = SLICE("cron 0 0 1 1 *"), .flow = flow};
    (void)wireclient_ask(&c, WIRE_SCHEDULE_SET, &set, WIRE_ACCEPTED);
    buf_fini(&body);
    let_a_sweep_pass(31);
    assert_true(is_there(&script));
    struct wire_schedule_change change = {.name = SLICE("yearly")}; /* removes it */
    (void)wireclient_ask(&c, WIRE_SCHEDULE_CHANGE, &change, WIRE_ACCEPTED);
    until_gone(&script);
}

static pid_t worker_start(void) {
    char data[128];
    snprintf(data, sizeof data, "%s/worker", server.data);
    pid_t pid = fork();
    if (pid != 0) return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setenv("REEVE_DATA", server.data, 1);
    (void)close(STDERR_FILENO); /* a program started so must not take its first descriptor for it */
    execl(realserver_binary(), "reeve", "worker", "--data", data, (char *)NULL);
    _exit(127);
}

/* The source has left memory; whoever hits its entry later is given a result that is a blob. */
/* The service that this flow deploys is. */
static void until_healthy(const struct wire_submitted *done) {
    struct wire_name name = {((const struct wire_submitted_flow *)done->flows.at)->flow};
    struct wire_wait wait = {.targets = {&name, 1}, .timeout_ms = 30000};
    const struct wire_waited *waited = wireclient_ask(&c, WIRE_WAIT, &wait, WIRE_WAITED);
    assert_int_equal(waited->over.count, 1);
}

/* A service without a port, which is healthy after a second; `script` may be NULL. */
static void deploy(const struct name *script) {
    struct buf body;
    struct wire_file file = {.path = SLICE("f"), .hash = slice_of(script != NULL ? script->hash : NULL, 32)};
    struct wire_run run = {.shell = SLICE("exec sleep 1000"), .files = {&file, script != NULL ? 1 : 0}};
    struct wire_options options = {.kind = JOB_SERVICE};
    buf_init(&body, 65536);
    tlv_encode(&wire_run_desc, &run, &body);
    struct wire_job job = {.name = SLICE("x"), .body = buf_slice(&body), .service = SLICE("svc")};
    struct wire_flow flow = {.part = {.options = {&options, 1}, .jobs = {&job, 1}}};
    struct wire_submit m = {{&flow, 1}};
    const struct wire_submitted *done = wireclient_ask(&c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
    buf_fini(&body);
    until_healthy(done);
}

static void what_a_version_names_stays_as_long_as_its_service_remembers_it(void **state) {
    (void)state;
    struct name script = put(60, 50000);
    pid_t worker = worker_start();
    deploy(&script);
    struct name flow_is_gone = put(61, 50000);
    char id[32];
    struct slice flow = submit(&flow_is_gone, "nobody-there", "true", (struct slice){0});
    snprintf(id, sizeof id, "%.*s", SLICE_FMT(flow));
    deploy(NULL); /* the first version is retired */
    cancel(slice_str(id));
    until_gone(&flow_is_gone); /* as the flow that deployed it */
    let_a_sweep_pass(62);
    assert_true(is_there(&script));
    struct wire_service_rollback back = {.name = SLICE("svc")};
    const struct wire_submitted *done = wireclient_ask(&c, WIRE_SERVICE_ROLLBACK, &back, WIRE_SUBMITTED);
    until_healthy(done);
    struct wire_service_set set = {.name = SLICE("svc"), .desired = WIRE_DESIRED_REMOVED};
    (void)wireclient_ask(&c, WIRE_SERVICE_SET, &set, WIRE_ACCEPTED);
    until_gone(&script);
    (void)kill(worker, SIGTERM);
    (void)waitpid(worker, NULL, 0);
}

static void a_result_that_is_kept_keeps_its_blob(void **state) {
    (void)state;
    static const uint8_t key[32] = {9};
    struct name file = put(6, 1000);
    pid_t worker = worker_start();
    const char *shell =
        "head -c 100000 /dev/zero | tr '\\0' 7 >n; (echo '\"'; cat n; echo '\"') | tr -d '\\n' >$REEVE_OUTPUT";
    struct slice flow = submit(&file, "", shell, slice_of(key, 32));
    char id[32], job[40];
    snprintf(id, sizeof id, "%.*s", SLICE_FMT(flow));
    snprintf(job, sizeof job, "%s/x", id);
    struct wire_get get = {.target = slice_str(job), .details = true};
    struct name result = {{0}};
    for (int i = 0; i < 4000; i++, (void)poll(NULL, 0, 5)) {
        const struct wire_got *got = wireclient_ask(&c, WIRE_GET, &get, WIRE_GOT);
        const struct wire_job_view *v = got->jobs.at;
        if (!slice_eq(v->state, SLICE("succeeded"))) continue;
        assert_int_equal(v->result_hash.len, 32);
        memcpy(result.hash, v->result_hash.ptr, 32);
        break;
    }
    until_gone(&file); /* the flow is gone, and with it what it named; the entry is there */
    let_a_sweep_pass(7);
    assert_true(is_there(&result));
    assert_int_equal(kill(worker, SIGKILL), 0);
    assert_int_equal(waitpid(worker, NULL, 0), worker);
}

/* Puts, submits, cancels and kills in any order: what an accepted and living job names is there, byte for byte. */
static void a_kill_in_the_middle_loses_nothing(void **state) {
    (void)state;
    const char *seed = getenv("SEED");
    struct test_random random = {(uint64_t)getpid()};
    if (seed != NULL) random.state = strtoull(seed, NULL, 10);
    printf("# SEED=%llu\n", (unsigned long long)random.state);
    struct {
        struct name name;
        char flow[32];
    } jobs[200];
    uint32_t count = 0;
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < 10; i++) {
            struct name n = put(10000 + round * 10 + i, (uint32_t)test_random_below(&random, 120000) + 1);
            if (test_random_below(&random, 2)) continue; /* nobody will name it */
            struct slice flow = submit(&n, "nobody-there", "true", (struct slice){0});
            jobs[count].name = n;
            snprintf(jobs[count++].flow, 32, "%.*s", SLICE_FMT(flow));
        }
        (void)poll(NULL, 0, (int)test_random_below(&random, 60));
        wireclient_close(&c);
        realserver_kill(&server);
        start();
    }
    let_a_sweep_pass(8);
    for (uint32_t i = 0; i < count; i++)
        if (!is_there(&jobs[i].name)) fail_msg("%s lost its file", jobs[i].flow);
    assert_true(count > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_nobody_names_goes_and_its_space_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_job_names_stays_as_long_as_the_job, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_schedule_names_stays_as_long_as_the_schedule, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_version_names_stays_as_long_as_its_service_remembers_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_result_that_is_kept_keeps_its_blob, setup, teardown),
        cmocka_unit_test_setup_teardown(a_kill_in_the_middle_loses_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
