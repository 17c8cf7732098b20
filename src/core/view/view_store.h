/* view_store.h: reading the store. As in view.h nothing is changed; `now` is the time of the pass (engine_now), and a
 * key whose time is over is not there. Several reads in one pass see one moment. */
#ifndef REEVE_VIEW_STORE_H
#define REEVE_VIEW_STORE_H

#include "ids.h"
#include "record.h"
#include "wtime.h"

struct state;

struct store_place { /* a namespace; an administrator (no tenant) reaches those of flows */
    struct slice tenant;
    flow_id flow; /* 0 = the tenant's own */
};

struct item_view {
    struct slice key;
    enum item_kind kind;
    struct slice value; /* text */
    int64_t number;     /* number */
    uint32_t members;   /* set: how many */
    uint64_t version;
    wall_time expires; /* TIME_NEVER */
};

bool view_item(const struct state *s, wall_time now, struct store_place place, struct slice key, struct item_view *ret);
bool view_member(const struct state *s, wall_time now, struct store_place place, struct slice key, struct slice member);

/* A page of keys, or of the members of a set, in ascending order: those that begin with `prefix` and come behind
 * `after` (empty = from the beginning). At most `most` are looked at, so a page costs its size; keys whose time is over
 * are looked at and not shown. Whatever is there from the first page to the last is shown exactly once. Returns
 * whether there is more; *ret_last is then the `after` of the next page, valid until the next change. */
struct store_page {
    struct slice prefix;
    struct slice after;
    uint32_t most;
};
typedef void (*view_item_fn)(void *ctx, const struct item_view *item);
typedef void (*view_text_fn)(void *ctx, struct slice member);
bool view_items(const struct state *s, wall_time now, struct store_place place, const struct store_page *page,
                view_item_fn each, void *ctx, struct slice *ret_last);
bool view_members(const struct state *s, wall_time now, struct store_place place, struct slice key,
                  const struct store_page *page, view_text_fn each, void *ctx, struct slice *ret_last);

/* The number of a tenant, which it keeps; 0 = nobody has heard of it. */
uint32_t view_tenant_count(const struct state *s); /* that were ever seen */
uint32_t view_tenant_number(const struct state *s, struct slice tenant);
uint64_t view_space_keys(const struct state *s, struct store_place place); /* with those that are just over */

struct store_counts {
    uint64_t keys, bytes; /* of one tenant, its flows included, against store_tenant_keys_max and _bytes_max */
};
struct store_counts view_store_counts(const struct state *s, struct slice tenant);

#endif
