/* orion_fuzz.c: whatever is sent as a DAG of Orion's is refused with a sentence, or is a flow that can be encoded. The
 * first byte says how long the key is. */
#include "limit.h"
#include "orion.h"
#include "panic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct orion_rules rules = {.tasks_max = 1000,
                                             .dependencies_max = 50,
                                             .retries_max = 1000,
                                             .priority_max = 1000,
                                             .work_ms_least = 50,
                                             .work_ms_most = 199};
    struct arena arena;
    struct limits limits;
    struct why why = {{0}};
    struct wire_flow flow;
    struct buf out;
    if (size == 0) return 0;
    size_t key = data[0] < size - 1 ? data[0] : size - 1;
    limits_default(&limits);
    arena_init(&arena, 65536, (size_t)1 << 30);
    buf_init(&out, (size_t)1 << 28);
    enum err e = orion_flow(slice_of(data + 1 + key, size - 1 - key), slice_of(data + 1, key), &rules, &limits, &arena,
                            &flow, &why);
    if (e == ERR_OK)
        tlv_encode(&wire_flow_desc, &flow, &out);
    else
        ENSURE(why.text[0] != 0);
    buf_fini(&out);
    arena_fini(&arena);
    return 0;
}
