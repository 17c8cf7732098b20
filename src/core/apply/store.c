/* store.c: what happens to the store, by records. See store.h. */
#include "store.h"

#include "effects.h"
#include "key_cause.h"
#include "mutant.h"
#include "panic.h"
#include "registry.h"
#include "timer.h"

#define SET_DROPPED UINT32_MAX
#define SWEEP_PER_RECORD 256u
#define EXPIRED_RECORD_BYTES 300u /* with the name of the tenant */

/* ---- what things cost ---- */

uint64_t item_cost(const struct store *t, const struct item *it) {
    uint64_t cost = STORE_ITEM_COST + item_key(it).len;
    if (it->kind == ITEM_TEXT) cost += bytes_slice(it->as.value).len;
    if (it->kind == ITEM_SET) cost += set_at(t, it->as.set)->bytes;
    return cost;
}

static void count_item(struct state *s, const struct item *it) {
    struct store_space *p = space_at(&s->store, item_space(it));
    REQUIRE(!p->is_dropped);
    struct tenant *tenant = tenant_at(s, p->tenant);
    p->items++;
    s->store.item_count++;
    tenant->store_keys++;
    tenant->store_bytes += item_cost(&s->store, it);
}

static void uncount_item(struct state *s, const struct item *it) {
    struct store_space *p = space_at(&s->store, item_space(it));
    struct tenant *tenant = tenant_at(s, p->tenant);
    uint64_t cost = item_cost(&s->store, it);
    REQUIRE(p->items > 0);
    REQUIRE(s->store.item_count > 0);
    REQUIRE(tenant->store_keys > 0);
    REQUIRE(tenant->store_bytes >= cost);
    p->items--;
    s->store.item_count--;
    tenant->store_keys--;
    tenant->store_bytes -= cost;
}

/* ---- making and unmaking ---- */

static uint32_t space_take(struct state *s, uint32_t tenant, uint64_t flow) {
    REQUIRE(tenant != 0);
    struct store *t = &s->store;
    uint32_t space = space_find(t, tenant, flow);
    if (space) return space;
    space = pool_alloc(&t->spaces);
    ENSURE(space != 0);
    *space_at(t, space) = (struct store_space){.owner = space_owner(tenant, flow), .tenant = tenant};
    map_put(&t->space_by_owner, space_owner(tenant, flow), space);
    return space;
}

static void space_leave(struct state *s, uint32_t space) {
    struct store_space *p = space_at(&s->store, space);
    REQUIRE(!p->is_dropped); /* nobody finds a key in one */
    if (p->items > 0) return;
    map_del(&s->store.space_by_owner, p->owner);
    pool_free(&s->store.spaces, space);
}

/* What it held is gone; a set's members are given back in steps. */
static void item_empty(struct state *s, struct item *it) {
    if (it->kind == ITEM_TEXT) bytes_free(it->as.value);
    if (it->kind == ITEM_SET) {
        REQUIRE(set_at(&s->store, it->as.set)->item != SET_DROPPED);
        set_at(&s->store, it->as.set)->item = SET_DROPPED;
        u32vec_push(&s->store.dropped_sets, it->as.set);
    }
    it->kind = ITEM_NUMBER;
    it->as.number = 0;
}

/* Journal promised to the record that will remove it. */
static uint64_t expiry_reserve(const struct item *it) {
    return it->expires.ms == TIME_NEVER ? 0 : EXPIRED_RECORD_BYTES + item_key(it).len;
}

static void set_expiry(struct state *s, uint32_t index, int64_t expires_ms) {
    struct item *it = item_at(&s->store, index);
    REQUIRE(s->reserved_bytes >= expiry_reserve(it));
    s->reserved_bytes -= expiry_reserve(it);
    it->expires.ms = expires_ms ? expires_ms : TIME_NEVER;
    s->reserved_bytes += expiry_reserve(it);
    timer_set(s, TIMER_ITEM, index, it->expires);
}

static void item_free(struct state *s, uint32_t index) {
    struct store *t = &s->store;
    struct item *it = item_at(t, index);
    set_expiry(s, index, 0);
    item_empty(s, it);
    item_remove(t, index);
}

static void item_forget(struct state *s, uint32_t index) {
    uint32_t space = item_space(item_at(&s->store, index));
    uncount_item(s, item_at(&s->store, index));
    item_free(s, index);
    space_leave(s, space);
}

static void make_set(struct state *s, uint32_t index) {
    REQUIRE(item_at(&s->store, index)->kind == ITEM_NUMBER);
    uint32_t set = pool_alloc(&s->store.sets);
    ENSURE(set != 0);
    set_at(&s->store, set)->item = index;
    item_at(&s->store, index)->kind = ITEM_SET;
    item_at(&s->store, index)->as.set = set;
}

/* ---- apply ---- */

static uint32_t record_tenant(struct state *s, const struct rec_head *head, uint64_t flow) {
    if (flow == 0) return tenant_take(s, head->tenant);
    uint32_t known = flow_find(s, (flow_id){flow});
    REQUIRE(known != 0);
    return flow_at(s, known)->tenant;
}

struct store_change { /* of a key: where, by a job of which flow, and how (KEY_ bits) */
    uint32_t tenant;
    uint64_t flow, by;
    unsigned how;
};

static void changed(struct state *s, struct store_change c, struct slice key, uint64_t version) {
    emit_changed(s, bytes_slice(tenant_at(s, c.tenant)->name), (flow_id){c.flow}, key, version);
    if (c.flow == 0) cause_changed(s, c.tenant, c.by, key, c.how, version);
}

/* Whether the entry is what the item holds already. */
static bool is_same(const struct item *it, const struct rec_store_entry *e) {
    if (it->kind != e->kind) return false;
    return e->kind == ITEM_TEXT ? slice_eq(bytes_slice(it->as.value), e->value) : it->as.number == e->number;
}

static void set_value(struct state *s, uint32_t index, const struct rec_store_entry *e, uint64_t version) {
    struct item *it = item_at(&s->store, index);
    REQUIRE(e->kind != ITEM_SET);
    REQUIRE(version >= it->version); /* it rises with every record; only a forged one names a key twice */
    item_empty(s, it);
    it->kind = e->kind;
    if (e->kind == ITEM_TEXT)
        it->as.value = bytes_new(e->value);
    else
        it->as.number = e->number;
    it->version = version;
    set_expiry(s, index, e->expires_ms);
}

void store_set(struct state *s, const struct rec_store_set *r) {
    uint32_t tenant = record_tenant(s, &r->head, r->flow);
    const struct rec_store_entry *entries = r->entries.at;
    for (uint32_t i = 0; i < r->entries.count; i++) {
        uint32_t space = space_take(s, tenant, r->flow);
        uint32_t index = item_find(&s->store, space, entries[i].key);
        bool is_new = index == 0 || !is_same(item_at(&s->store, index), &entries[i]);
        if (index)
            uncount_item(s, item_at(&s->store, index));
        else
            index = item_insert(&s->store, space, entries[i].key);
        set_value(s, index, &entries[i], s->lsn + 1);
        count_item(s, item_at(&s->store, index));
        struct store_change c = {tenant, r->flow, r->by, KEY_SET | (is_new ? KEY_CHANGED : 0)};
        changed(s, c, entries[i].key, s->lsn + 1);
    }
    store_sweep(s, SWEEP_PER_RECORD);
}

void store_delete(struct state *s, const struct rec_store_keys *r) {
    uint32_t tenant = record_tenant(s, &r->head, r->flow);
    const struct rec_store_item *keys = r->keys.at;
    for (uint32_t i = 0; i < r->keys.count; i++) {
        uint32_t index = item_find(&s->store, space_find(&s->store, tenant, r->flow), keys[i].text);
        if (index == 0) continue;
        item_forget(s, index);
        changed(s, (struct store_change){tenant, r->flow, r->by, KEY_DELETED}, keys[i].text, 0);
    }
    store_sweep(s, SWEEP_PER_RECORD);
}

void store_members(struct state *s, const struct rec_store_members *r) {
    struct store *t = &s->store;
    uint32_t tenant = record_tenant(s, &r->head, r->flow);
    uint32_t space = space_take(s, tenant, r->flow);
    uint32_t index = item_find(t, space, r->key);
    if (index) {
        uncount_item(s, item_at(t, index));
    } else {
        index = item_insert(&s->store, space, r->key);
        make_set(s, index);
    }
    struct item *it = item_at(t, index);
    REQUIRE(it->kind == ITEM_SET);
    uint32_t set = it->as.set;
    const struct rec_store_item *added = r->added.at, *removed = r->removed.at;
    for (uint32_t i = 0; i < r->added.count; i++)
        if (member_get(t, set, added[i].text) == 0) member_insert(t, set, added[i].text);
    for (uint32_t i = 0; i < r->removed.count; i++) {
        uint32_t member = member_get(t, set, removed[i].text);
        if (member) member_remove(t, set, member);
    }
    it->version = s->lsn + 1;
    count_item(s, it);
    bool is_empty = set_at(t, set)->count == 0;
    if (is_empty) item_forget(s, index);
    struct store_change c = {tenant, r->flow, r->by, is_empty ? KEY_DELETED : KEY_SET | KEY_CHANGED};
    changed(s, c, r->key, is_empty ? 0 : s->lsn + 1);
    store_sweep(s, SWEEP_PER_RECORD);
}

void store_expiry(struct state *s, const struct rec_store_expiry *r) {
    uint32_t tenant = record_tenant(s, &r->head, r->flow);
    uint32_t index = item_find(&s->store, space_find(&s->store, tenant, r->flow), r->key);
    REQUIRE(index != 0);
    set_expiry(s, index, r->expires_ms);
}

void store_drop_flow(struct state *s, uint64_t flow) {
    struct store *t = &s->store;
    uint32_t space = map_get(&t->space_by_owner, flow);
    if (space == 0 || MUTANT(store_flow_kept)) return;
    struct store_space *p = space_at(t, space);
    REQUIRE(!p->is_dropped);
    changed(s, (struct store_change){.tenant = p->tenant, .flow = flow}, (struct slice){0}, 0);
    map_del(&t->space_by_owner, flow);
    p->is_dropped = true;
    u32vec_push(&t->dropped_spaces, space);
    store_sweep(s, SWEEP_PER_RECORD);
}

/* ---- giving memory back ---- */

static uint32_t sweep_set(struct state *s, uint32_t set, uint32_t budget) {
    REQUIRE(set_at(&s->store, set)->item == SET_DROPPED);
    struct order_place place;
    for (; budget > 0; budget--) {
        uint32_t member = member_seek(&s->store, set, (struct slice){0}, &place);
        if (member == 0) break;
        member_remove(&s->store, set, member);
    }
    if (set_at(&s->store, set)->count > 0) return 0;
    s->store.dropped_sets.count--;
    pool_free(&s->store.sets, set);
    return budget;
}

static uint32_t sweep_space(struct state *s, uint32_t space, uint32_t budget) {
    struct store *t = &s->store;
    REQUIRE(space_at(t, space)->is_dropped);
    struct order_place place;
    for (; budget > 0; budget--) {
        uint32_t item = item_seek(t, space, (struct slice){0}, &place);
        if (item == 0) break;
        uncount_item(s, item_at(t, item));
        item_free(s, item);
    }
    if (space_at(t, space)->items > 0) return 0;
    t->dropped_spaces.count--;
    pool_free(&t->spaces, space);
    return budget;
}

void store_sweep(struct state *s, uint32_t budget) {
    struct store *t = &s->store;
    while (budget > 0 && t->dropped_sets.count)
        budget = sweep_set(s, t->dropped_sets.at[t->dropped_sets.count - 1], budget);
    while (budget > 0 && t->dropped_spaces.count)
        budget = sweep_space(s, t->dropped_spaces.at[t->dropped_spaces.count - 1], budget);
}

/* ---- for the loader ---- */

uint32_t store_load_item(struct state *s, uint32_t tenant, uint64_t flow, const struct rec_store_entry *e,
                         uint64_t version) {
    uint32_t index = item_insert(&s->store, space_take(s, tenant, flow), e->key);
    if (e->kind == ITEM_SET) {
        make_set(s, index);
        item_at(&s->store, index)->version = version;
        set_expiry(s, index, e->expires_ms);
    } else {
        set_value(s, index, e, version);
    }
    count_item(s, item_at(&s->store, index));
    return index;
}

void store_load_member(struct state *s, uint32_t item, struct slice member) {
    struct item *it = item_at(&s->store, item);
    REQUIRE(it->kind == ITEM_SET);
    uncount_item(s, it);
    member_insert(&s->store, it->as.set, member);
    count_item(s, it);
}
