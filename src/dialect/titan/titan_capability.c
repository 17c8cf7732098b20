/* titan_capability.c: see titan_capability.h. */
#include "titan_capability.h"

#include "record.h"
#include "server_impl.h"
#include "titan_job.h"
#include "titan_session.h"

static void capability_add(struct tlv_list *list, struct slice name) {
    struct name_item *names = list->at;
    for (uint32_t i = 0; i < list->count; i++)
        if (slice_eq(names[i].name, name)) return;
    if (name.len > 0) names[list->count++].name = name;
}

/* Titan's jobs name one capability that their worker must claim. A worker claims those that its label `capability`
 * lists, and without one GENERAL, as there; beside those it has anyway. */
bool titan_capabilities(const struct server *s, struct arena *a, const struct wire_worker_info *w,
                        struct tlv_list *ret) {
    if (titan_of(s)->options == NULL) return false;
    const struct wire_pair *pairs = w->labels.at;
    struct slice said = SLICE(TITAN_GENERAL);
    for (uint32_t i = 0; i < w->labels.count; i++)
        if (slice_eq(pairs[i].key, SLICE("capability"))) said = pairs[i].value;
    uint32_t most = w->capabilities.count + 1;
    for (size_t i = 0; i < said.len; i++) most += said.ptr[i] == ',';
    struct name_item *names = ARENA_ARRAY(a, struct name_item, most);
    const struct wire_name *own = w->capabilities.at;
    struct tlv_list all = {names, w->capabilities.count};
    for (uint32_t i = 0; i < w->capabilities.count; i++) names[i].name = own[i].name;
    for (size_t from = 0, i = 0; i <= said.len; i++) {
        if (i < said.len && said.ptr[i] != ',') continue;
        capability_add(&all, titan_trim(slice_of(said.ptr + from, i - from)));
        from = i + 1;
    }
    *ret = all;
    return true;
}
