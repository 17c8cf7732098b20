/* gpus.c: see gpus.h. */
#include "gpus.h"

#include <stdio.h>

#include "buf.h"
#include "panic.h"

#define TEXT_BYTES_MAX 65536u

void gpus_fini(struct gpus *g) {
    u32vec_fini(&g->owner);
}

bool gpus_take(struct gpus *g, uint32_t owner, uint32_t count) {
    uint32_t free_count = 0;
    REQUIRE(owner != 0);
    while (g->owner.count < g->count) u32vec_push(&g->owner, 0);
    for (uint32_t i = 0; i < g->count; i++) free_count += g->owner.at[i] == 0;
    if (free_count < count) return false;
    for (uint32_t i = 0; i < g->count && count > 0; i++) {
        if (g->owner.at[i] != 0) continue;
        g->owner.at[i] = owner;
        count--;
    }
    return true;
}

bool gpus_give(struct gpus *g, uint32_t owner) {
    bool had = false;
    for (uint32_t i = 0; i < g->owner.count; i++) {
        if (g->owner.at[i] != owner) continue;
        g->owner.at[i] = 0;
        had = true;
    }
    return had;
}

struct slice gpus_text(const struct gpus *g, uint32_t owner, struct arena *arena) {
    struct buf b;
    buf_init(&b, TEXT_BYTES_MAX);
    for (uint32_t i = 0; i < g->owner.count; i++) {
        if (g->owner.at[i] != owner) continue;
        if (b.len > 0) buf_put_u8(&b, ',');
        if (g->names != NULL)
            buf_printf(&b, "%s", g->names[i]);
        else
            buf_printf(&b, "%u", i);
    }
    struct slice text = arena_slice(arena, buf_slice(&b));
    buf_fini(&b);
    return text;
}
