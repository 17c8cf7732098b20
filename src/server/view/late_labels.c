/* late_labels.c: see late_labels.h. */
#include "late_labels.h"

#include "view_history.h"
#include "view_store.h"

struct slice late_label(const struct state *s, flow_id flow, const char *key) {
    struct store_place place = {.flow = flow};
    struct item_view item;
    wall_time now = {0}; /* these keys have no end */
    if (!view_item(s, now, place, slice_str(key), &item) || item.kind != ITEM_TEXT) return (struct slice){0};
    return item.value;
}

uint32_t late_labels_get(const struct state *s, flow_id flow, struct arena *arena, const struct label **ret) {
    const struct label *own = NULL;
    uint32_t count = view_labels(s, flow, arena, &own);
    struct slice run = late_label(s, flow, LATE_KEY_RUN);
    *ret = own;
    if (run.len == 0) return count;
    struct label *all = ARENA_ARRAY(arena, struct label, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        if (slice_eq(own[i].key, SLICE(LATE_LABEL_RUN))) return count;
        all[i] = own[i];
    }
    all[count] = (struct label){SLICE(LATE_LABEL_RUN), run};
    *ret = all;
    return count + 1;
}
