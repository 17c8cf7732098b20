/* titan_fuzz.c: whatever comes by Titan's protocol is cut into frames or refused; what a frame has as jobs is refused
 * with a sentence, or is a flow that can be encoded; base64 that is read is written the same. */
#include "base64.h"
#include "panic.h"
#include "titan.h"
#include "titan_flow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_flow(struct titan_jobs *jobs, struct arena *arena) {
    static const struct titan_rules rules = {.dag_ms = 1000,
                                             .alone_ms = 1000,
                                             .gates = true,
                                             .gate_ms_max = 1000000,
                                             .gate_id_bytes_max = 64,
                                             .priority_max = 1000,
                                             .name_bytes_max = 128};
    struct wire_flow flow;
    struct why why = {{0}};
    struct buf out;
    for (uint32_t i = 0; i < jobs->count; i++) {
        struct titan_job *j = &jobs->at[i];
        ENSURE(j->file.len > 0);
        if (base64_read(j->base64, arena, &j->bytes, &why) != ERR_OK) j->bytes = SLICE("x");
        if (j->bytes.len > 60000) j->bytes.len = 60000;
        for (uint32_t k = 0; k < j->parent_count; k++) j->parents[k].target = SLICE("f11/x");
    }
    buf_init(&out, (size_t)1 << 28);
    if (titan_flow(jobs, &rules, arena, &flow, &why) != ERR_OK)
        ENSURE(why.text[0] != 0);
    else if (tlv_check(&wire_flow_desc, &flow, &why) == ERR_OK)
        tlv_encode(&wire_flow_desc, &flow, &out);
    buf_fini(&out);
}

static void try_body(struct slice body, struct arena *arena) {
    struct titan_jobs jobs = {0};
    struct titan_job job = {0};
    struct slice bytes = {0};
    struct why why = {{0}};
    if (titan_dag_read(body, arena, &jobs, &why) == ERR_OK)
        try_flow(&jobs, arena);
    else
        ENSURE(why.text[0] != 0);
    jobs = (struct titan_jobs){&job, 1};
    if (titan_job_read(body, arena, &job, &why) == ERR_OK) try_flow(&jobs, arena);
    if (base64_read(body, arena, &bytes, &why) == ERR_OK) {
        struct buf text;
        buf_init(&text, 2 * body.len + 8);
        base64_put(&text, bytes);
        struct slice again = {0};
        ENSURE(base64_read(buf_slice(&text), arena, &again, &why) == ERR_OK && slice_eq(again, bytes));
        buf_fini(&text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct slice in = slice_of(data, size);
    struct arena arena;
    struct why why;
    arena_init(&arena, 65536, (size_t)1 << 30);
    try_body(in, &arena);
    for (;;) {
        struct titan_frame f;
        size_t need = 0, before = in.len;
        if (titan_take(&in, 4096, &f, &need, &why) != ERR_OK || need != 0) break;
        ENSURE(in.len < before);
        try_body(f.body, &arena);
    }
    arena_fini(&arena);
    return 0;
}
