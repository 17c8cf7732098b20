/* view_store.c: see view_store.h. */
#include "view_store.h"

#include "panic.h"
#include "registry.h"
#include "store.h"

static uint32_t space_of(const struct state *s, struct store_place place) {
    if (place.flow.v == 0 || place.tenant.len > 0)
        return space_find(&s->store, tenant_find(s, place.tenant), place.flow.v);
    uint32_t flow = flow_find(s, place.flow);
    return flow != 0 ? space_find(&s->store, flow_at(s, flow)->tenant, place.flow.v) : 0;
}

static const struct item *item_of(const struct state *s, wall_time now, struct store_place place, struct slice key) {
    uint32_t index = item_find(&s->store, space_of(s, place), key);
    if (index == 0 || item_is_over(item_at(&s->store, index), now)) return NULL;
    return item_at(&s->store, index);
}

static void fill(const struct state *s, const struct item *it, struct item_view *ret) {
    REQUIRE(it->text != NULL);
    *ret = (struct item_view){.key = item_key(it),
                              .kind = (enum item_kind)it->kind,
                              .members = item_members(&s->store, it),
                              .version = it->version,
                              .expires = it->expires};
    if (it->kind == ITEM_TEXT) ret->value = bytes_slice(it->as.value);
    if (it->kind == ITEM_NUMBER) ret->number = it->as.number;
}

bool view_item(const struct state *s, wall_time now, struct store_place place, struct slice key,
               struct item_view *ret) {
    const struct item *it = item_of(s, now, place, key);
    if (it) fill(s, it, ret);
    return it != NULL;
}

bool view_member(const struct state *s, wall_time now, struct store_place place, struct slice key,
                 struct slice member) {
    const struct item *it = item_of(s, now, place, key);
    return it && it->kind == ITEM_SET && member_find(&s->store, it->as.set, member);
}

uint32_t view_tenant_count(const struct state *s) {
    return s->tenants.count;
}

uint32_t view_tenant_number(const struct state *s, struct slice tenant) {
    return tenant_find(s, tenant);
}

uint64_t view_space_keys(const struct state *s, struct store_place place) {
    uint32_t space = space_of(s, place);
    return space != 0 ? space_at(&s->store, space)->items : 0;
}

static bool begins_with(struct slice text, struct slice prefix) {
    return text.len >= prefix.len && slice_eq(slice_of(text.ptr, prefix.len), prefix);
}

/* Where a page begins. */
static struct slice page_start(const struct store_page *page) {
    return slice_cmp(page->after, page->prefix) > 0 ? page->after : page->prefix;
}

/* The one key that may stand where a page begins and was shown before. */
static bool was_last(const struct store_page *page, struct slice text) {
    return page->after.len > 0 && slice_eq(text, page->after);
}

bool view_items(const struct state *s, wall_time now, struct store_place place, const struct store_page *page,
                view_item_fn each, void *ctx, struct slice *ret_last) {
    const struct store *t = &s->store;
    uint32_t space = space_of(s, place), seen = 0;
    struct order_place at;
    if (space == 0 || page_start(page).len > STORE_KEY_BYTES_MAX) return false;
    for (uint32_t i = item_seek(t, space, page_start(page), &at); i; i = item_next(t, space, &at)) {
        const struct item *it = item_at(t, i);
        struct slice key = item_key(it);
        if (!begins_with(key, page->prefix)) break;
        if (was_last(page, key)) continue;
        if (seen++ == page->most) return true;
        *ret_last = key;
        struct item_view view;
        fill(s, it, &view);
        if (!item_is_over(it, now)) each(ctx, &view);
    }
    return false;
}

bool view_members(const struct state *s, wall_time now, struct store_place place, struct slice key,
                  const struct store_page *page, view_text_fn each, void *ctx, struct slice *ret_last) {
    const struct store *t = &s->store;
    const struct item *it = item_of(s, now, place, key);
    uint32_t seen = 0;
    struct order_place at;
    if (it == NULL || it->kind != ITEM_SET || page_start(page).len > STORE_KEY_BYTES_MAX) return false;
    uint32_t set = it->as.set;
    for (uint32_t i = member_seek(t, set, page_start(page), &at); i; i = member_next(t, set, &at)) {
        struct slice text = member_text(t, i);
        if (!begins_with(text, page->prefix)) break;
        if (was_last(page, text)) continue;
        if (seen++ == page->most) return true;
        *ret_last = text;
        each(ctx, text);
    }
    return false;
}

struct store_counts view_store_counts(const struct state *s, struct slice tenant) {
    uint32_t index = tenant_find(s, tenant);
    if (index == 0) return (struct store_counts){0};
    return (struct store_counts){tenant_at(s, index)->store_keys, tenant_at(s, index)->store_bytes};
}
