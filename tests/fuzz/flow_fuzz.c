/* flow_fuzz.c: flow files from unauthenticated, as YAML and as JSON: refused with a place, or a flow that can be sent.
 * */
#include "flowlab.h"
#include "panic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct flowlab l;
    struct buf out;
    flowlab_init(&l);
    enum err e = flowlab_read(&l, slice_of(data, size), size % 2 ? "who=1" : NULL);
    if (e == ERR_OK) {
        struct why why = {{0}};
        buf_init(&out, (size_t)64 << 20);
        if (tlv_check(&wire_flow_desc, &l.flow, &why) != ERR_OK) PANIC("a flow that cannot be sent");
        tlv_encode(&wire_flow_desc, &l.flow, &out);
        buf_fini(&out);
        for (uint32_t i = 0; i < l.flow.part.jobs.count; i++) {
            const struct wire_job *job = &((const struct wire_job *)l.flow.part.jobs.at)[i];
            ENSURE(job->options < l.flow.part.options.count);
            for (uint32_t k = 0; k < job->parents.count; k++) ENSURE(job->parents.at[k] < i);
        }
    } else {
        ENSURE(l.why.text[0] != 0);
    }
    flowlab_fini(&l);
    return 0;
}
