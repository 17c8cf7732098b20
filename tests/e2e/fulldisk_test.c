/* fulldisk_test.c: the built server on a small file system of its own that fills up: refusals say so, what runs is not
 * lost, kill -9 changes nothing about what was acknowledged, and it goes on when there is room again.
 *
 * Needs root, to mount. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "realserver.h"
#include "realworker.h"
#include "webclient.h"
#include "wireclient.h"

#define ACKED_MAX 20000u

static struct realserver server;
static struct realworker worker;
static struct wireclient c;
static char elsewhere[] = "/tmp/reeve-full-XX"
                          "XX"
                          "XX";
static struct arena kept;
static struct slice flows[ACKED_MAX];
static uint32_t flow_count;

static void start(void) {
    realserver_start(&server);
    wireclient_open(&c, server.socket, NULL, WIRE_PEER_CLIENT);
}

/* The answer: accepted, and it is remembered; or the refusal. */
static enum err submit(const char *pool, const char *shell, char ret_says[256]) {
    struct buf body;
    struct wire_artifact kept_file = {.path = SLICE("left")};
    struct wire_run run = {.shell = slice_str(shell)};
    if (strstr(shell, "> left") != NULL) run.artifacts = (struct tlv_list){&kept_file, 1};
    struct wire_options options = {.attempts_max = 1, .demand = {.pool = slice_str(pool)}};
    buf_init(&body, 65536);
    tlv_encode(&wire_run_desc, &run, &body);
    struct wire_job job = {.name = SLICE("x"), .body = buf_slice(&body)};
    struct wire_flow flow = {.part = {.options = {&options, 1}, .jobs = {&job, 1}}};
    struct wire_submit m = {{&flow, 1}};
    struct wiregot got;
    bool answered = wireclient_try(&c, WIRE_SUBMIT, &m, &got);
    buf_fini(&body);
    assert_true(answered);
    if (got.op == WIRE_BUSY) {
        snprintf(ret_says, 256, "%.*s", SLICE_FMT(((const struct wire_busy *)got.message)->reason));
        return ERR_BUSY;
    }
    assert_int_equal(got.op, WIRE_SUBMITTED);
    const struct wire_submitted_flow *f = ((const struct wire_submitted *)got.message)->flows.at;
    snprintf(ret_says, 256, "%.*s: %.*s", SLICE_FMT(f->code), SLICE_FMT(f->message));
    if (f->code.len > 0) return ERR_NO_SPACE;
    assert_true(flow_count < ACKED_MAX);
    flows[flow_count++] = arena_slice(&kept, f->flow);
    wireclient_forget(&c);
    return ERR_OK;
}

static bool put(uint32_t seed, uint32_t bytes, uint8_t hash[32], char ret_says[256]) {
    uint8_t *data = arena_alloc(&c.arena, bytes);
    struct test_random random = {seed};
    for (uint32_t i = 0; i < bytes; i++) data[i] = (uint8_t)test_random_next(&random);
    struct wire_blob_begin begin = {0};
    const struct wire_blob_state *state = wireclient_ask(&c, WIRE_BLOB_BEGIN, &begin, WIRE_BLOB_STATE);
    struct wire_blob_part part = {.upload = state->upload, .data = slice_of(data, bytes)};
    struct wire_blob_end end = {.upload = state->upload};
    struct wiregot got;
    ret_says[0] = 0;
    assert_true(wireclient_try(&c, WIRE_BLOB_PART, &part, &got));
    if (got.op == WIRE_BLOB_STATE) assert_true(wireclient_try(&c, WIRE_BLOB_END, &end, &got));
    if (got.op == WIRE_ERROR)
        snprintf(ret_says, 256, "%.*s", SLICE_FMT(((const struct wire_error *)got.message)->message));
    if (got.op == WIRE_BUSY)
        snprintf(ret_says, 256, "%.*s", SLICE_FMT(((const struct wire_busy *)got.message)->reason));
    if (got.op != WIRE_BLOB_STATE) return false;
    state = got.message;
    memcpy(hash, state->hash.ptr, 32);
    return true;
}

static const struct wire_job_view *job_view(struct slice flow) {
    char name[80];
    snprintf(name, sizeof name, "%.*s/x", SLICE_FMT(flow));
    struct wire_get get = {.target = slice_str(name)};
    const struct wire_got *got = wireclient_ask(&c, WIRE_GET, &get, WIRE_GOT);
    return got->jobs.at;
}

/* What `why` says of the job, once it says these words, or once it does not. */
static void until_why(struct slice flow, const char *words, bool says) {
    char name[80], text[512];
    snprintf(name, sizeof name, "%.*s/x", SLICE_FMT(flow));
    for (int i = 0;; i++, (void)poll(NULL, 0, 10)) {
        struct wire_why why = {slice_str(name)};
        const struct wire_reason *got = wireclient_ask(&c, WIRE_WHY, &why, WIRE_REASON);
        snprintf(text, sizeof text, "%.*s", SLICE_FMT(got->text));
        wireclient_forget(&c);
        if ((strstr(text, words) != NULL) == says) return;
        if (i > 3000) fail_msg("%s: %s", says ? "why does not say the words" : "why still says the words", text);
    }
}

static void until(struct slice flow, const char *state) {
    for (int i = 0; !slice_eq(job_view(flow)->state, slice_str(state)); i++) {
        if (i > 3000) fail_msg("it is %.*s, not %s", SLICE_FMT(job_view(flow)->state), state);
        wireclient_forget(&c);
        (void)poll(NULL, 0, 10);
    }
}

static void fill_disk(void) {
    static char zeros[65536];
    char path[128];
    snprintf(path, sizeof path, "%s/filler", server.data);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_true(fd >= 0);
    for (size_t bytes = sizeof zeros; bytes >= 512;)
        if (write(fd, zeros, bytes) < 0) bytes /= 2;
    assert_int_equal(errno, ENOSPC);
    close(fd);
}

static void free_disk(void) {
    char path[128];
    snprintf(path, sizeof path, "%s/filler", server.data);
    assert_int_equal(unlink(path), 0);
}

static void touch(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", elsewhere, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static bool exists(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", elsewhere, name);
    return access(path, F_OK) == 0;
}

static bool mount_small(const char *at) {
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return false;
    return mount("tmpfs", at, "tmpfs", 0, "size=400m") == 0;
}

static void a_full_disk_is_said_and_waited_out(void **state) {
    (void)state;
    static const char *const flags[] = {"--vault-reserve-bytes", "16777216", "--segment-bytes", "1048576"};
    char says[256], shell[400];
    uint8_t blob[32], other[32];
    realserver_make(&server);
    if (!mount_small(server.data)) {
        printf("# skipped: no file system of our own here: %s\n", strerrordesc_np(errno));
        realserver_remove(&server);
        skip();
    }
    assert_non_null(mkdtemp(elsewhere));
    arena_init(&kept, 65536, 1 << 24);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[i] = flags[i];
    start();
    realworker_make(&worker, &server, "w");
    snprintf(worker.data, sizeof worker.data, "%s/w", elsewhere);
    worker.server = server.socket;
    realworker_start(&worker, &server);

    /* What is acknowledged before. */
    assert_true(put(1, 200000, blob, says));
    for (int i = 0; i < 50; i++)
        if (submit("nobody-there", "true", says) != ERR_OK) fail_msg("%s", says);
    snprintf(shell, sizeof shell, "seq 1000; touch %s/runs; until [ -e %s/go ]; do sleep 0.02; done; seq 1000",
             elsewhere, elsewhere);
    assert_int_equal(submit("", shell, says), ERR_OK);
    uint32_t running = flow_count - 1;
    for (int i = 0; !exists("runs"); i++, (void)poll(NULL, 0, 10)) assert_true(i < 3000);
    snprintf(shell, sizeof shell,
             "head -c 300000 /dev/urandom > left; touch %s/keeps; until [ -e %s/keep ]; do sleep 0.02; done", elsewhere,
             elsewhere);
    assert_int_equal(submit("", shell, says), ERR_OK);
    uint32_t keeping = flow_count - 1;
    for (int i = 0; !exists("keeps"); i++, (void)poll(NULL, 0, 10)) assert_true(i < 3000);

    /* Full. Blobs stop first; submits as soon as what was promised would be in danger. */
    fill_disk();
    assert_false(put(2, 300000, other, says));
    printf("# a blob: %s\n", says);
    assert_non_null(strstr(says, "the disk is full"));
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < ACKED_MAX - 100; i++) e = submit("nobody-there", "true", says);
    printf("# a submit, after %u: %s\n", flow_count, says);
    assert_int_not_equal(e, ERR_OK);
    assert_non_null(strstr(says, "too full"));
    struct webclient web = {0};
    struct webgot ready = webclient_once(&web, server.address, "GET /readyz HTTP/1.0\r\n\r\n", 503);
    if (strstr(ready.body, "too full to accept new work") == NULL) fail_msg("%s", ready.body);
    webclient_close(&web);

    /* A job that keeps a file waits, and that is told, by two requests. */
    touch("keep");
    until_why(flows[keeping], "keeping a file waits: ", true);
    until_why(flows[keeping], "the disk is full", true);
    if (job_view(flows[keeping])->reason.len == 0) fail_msg("show does not say why it waits");

    /* What runs ends, and its end is told or waits; nothing is forgotten by a kill. */
    touch("go");
    (void)poll(NULL, 0, 300);
    bool over = slice_eq(job_view(flows[running])->state, SLICE("succeeded"));
    if (!over) assert_true(slice_eq(job_view(flows[running])->state, SLICE("running")));
    printf("# the running job %s\n", over ? "ended" : "waits with its end");
    wireclient_close(&c);
    realserver_kill(&server);
    start();
    assert_int_not_equal(submit("nobody-there", "true", says), ERR_OK);

    /* Room again: everything goes on by itself. */
    free_disk();
    until(flows[running], "succeeded");
    until(flows[keeping], "succeeded");
    until_why(flows[keeping], "keeping a file waits: ", false);
    for (int i = 0; submit("nobody-there", "true", says) != ERR_OK; i++, (void)poll(NULL, 0, 10))
        if (i > 3000) fail_msg("%s", says);
    for (int i = 0; !put(3, 300000, other, says); i++, (void)poll(NULL, 0, 10)) /* a refusal makes it look again */
        if (i > 1000) fail_msg("%s", says);
    for (uint32_t i = 0; i < flow_count; i++) {
        if (i != running && i != keeping) assert_true(slice_eq(job_view(flows[i])->state, SLICE("ready")));
        wireclient_forget(&c);
    }
    char job[80];
    snprintf(job, sizeof job, "%.*s/x", SLICE_FMT(flows[running]));
    struct wire_logs logs = {.job = slice_str(job)};
    const struct wire_log_data *data = wireclient_ask(&c, WIRE_LOGS, &logs, WIRE_LOG_DATA);
    const struct wire_log_piece *pieces = data->pieces.at;
    size_t bytes = 0;
    for (uint32_t i = 0; i < data->pieces.count; i++) bytes += pieces[i].data.len;
    assert_int_equal(bytes, 2 * 3893);
    struct wire_blob_get get = {.hash = slice_of(blob, 32)};
    uint32_t request = wireclient_send(&c, WIRE_BLOB_GET, &get);
    struct wiregot got = {.flags = FRAME_MORE};
    for (bytes = 0; got.flags & FRAME_MORE; bytes += ((const struct wire_blob_data *)got.message)->data.len)
        assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got) && got.request == request &&
                    got.op == WIRE_BLOB_DATA);
    assert_int_equal(bytes, 200000);
    realworker_kill(&worker);
    wireclient_close(&c);
    assert_int_equal(realserver_stop(&server), 0);
    assert_int_equal(umount2(server.data, MNT_DETACH), 0);
    realserver_remove(&server);
    snprintf(shell, sizeof shell, "rm -rf %s", elsewhere);
    assert_int_equal(system(shell), 0);
    arena_fini(&kept);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_full_disk_is_said_and_waited_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
