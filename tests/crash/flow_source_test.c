/* flow_source_test.c: a flow that names the blob of its file has that blob, whenever the power goes. The disk loses
 * power in each call that the server's threads make for a submit, and keeps only what was synced. */
#include "test.h"

#include "server_impl.h"
#include "sessionlab.h"

#define CALLS_MAX 500u
#define TURNS 40u
#define TEXT "{\"jobs\": {\"a\": {\"noop\": true, \"pool\": \"none\"}}}"

static struct sessionlab lab;
static bool is_shown; /* the file was, as it came */

static void heard(void *ctx, conn_id conn, const struct frame *f) {
    struct arena arena;
    struct wire_source_got got;
    struct why why = {{0}};
    (void)ctx, (void)conn;
    if (f->opcode != WIRE_SOURCE_GOT) return;
    arena_init(&arena, 4096, (size_t)1 << 20);
    assert_int_equal(wire_take(f, &arena, &got, &why), ERR_OK);
    is_shown = slice_eq(got.text, SLICE(TEXT));
    arena_fini(&arena);
}

static void say(enum wire_op op, const void *message) {
    struct buf out;
    buf_init(&out, 65536);
    wire_put(&out, op, 0, 1, message);
    sessionlab_write(&lab, 0, buf_slice(&out));
    buf_fini(&out);
}

static void come(void) {
    static const struct net_peer local = {.address = "unix:1000", .is_local = true, .uid = 1000};
    struct wire_hello hello = {.version_min = FRAME_VERSION, .version_max = FRAME_VERSION, .build = SLICE("lab")};
    sessionlab_open(&lab, 0, SESSIONLAB_MAIN, &local, NULL);
    say(WIRE_HELLO, &hello);
    sessionlab_settle(&lab);
}

/* A submit, until the power goes in that call of the threads; false: they make fewer. */
static bool submit_into(uint64_t call) {
    struct wire_flow flow = {.spec = SLICE(TEXT), .source_name = SLICE("etl.json")};
    struct wire_submit m = {{&flow, 1}};
    say(WIRE_SUBMIT, &m);
    for (uint32_t i = 0; i < TURNS; i++) {
        sessionlab_pass(&lab);
        uint64_t before = simdisk_calls(lab.disk, SIMDISK_ANY);
        simdisk_arm(lab.disk, SIMDISK_ANY, SIMDISK_POWER, call);
        sessionlab_step(&lab);
        if (simdisk_is_dark(lab.disk)) return true;
        call -= simdisk_calls(lab.disk, SIMDISK_ANY) - before;
        simdisk_arm(lab.disk, SIMDISK_ANY, SIMDISK_FINE, 0);
    }
    return false;
}

/* What is there after a start from the disk: the flow with its file, or nothing. */
static bool is_there_with_its_file(void) {
    struct flow_view flow;
    char id[FLOW_TEXT_BYTES];
    flow_text(lab.server->options.shard, (flow_id){1}, id);
    struct wire_source_get get = {slice_str(id)};
    if (!view_flow(server_state(lab.server), (flow_id){1}, &flow)) return false;
    assert_int_equal(flow.source.hash.len, 32);
    is_shown = false;
    come();
    say(WIRE_SOURCE_GET, &get);
    sessionlab_settle(&lab);
    assert_true(is_shown);
    return true;
}

static void a_file_is_durable_before_its_flow(void **state) {
    (void)state;
    uint32_t lost = 0, kept = 0;
    for (bool cut = true; cut;) {
        sessionlab_init(&lab);
        lab.heard = heard;
        come();
        cut = submit_into(lost + kept);
        sessionlab_restart(&lab, false);
        if (is_there_with_its_file())
            kept++;
        else
            lost++;
        sessionlab_fini(&lab);
        assert_true(lost + kept < CALLS_MAX);
    }
    assert_true(lost > 3 && kept > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_is_durable_before_its_flow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
