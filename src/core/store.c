/* store.c: see store.h. */
#include "store.h"

#include "effects.h"
#include "mutant.h"
#include "panic.h"
#include "registry.h"
#include "timer.h"

#define POOL_MAX (UINT32_MAX - 1u)
#define OWNER_TENANT (1ull << 63) /* else the owner is a flow number */
#define SET_DROPPED UINT32_MAX
#define SWEEP_PER_RECORD 256u
#define EXPIRED_RECORD_BYTES 300u /* with the name of the tenant */

static struct slice item_text(const void *ctx, uint32_t value) {
    return bytes_slice(item_at(ctx, value)->text);
}

static struct slice member_whole(const void *ctx, uint32_t value) {
    return bytes_slice(member_at(ctx, value)->text);
}

void store_init(struct store *t) {
    pool_init(&t->spaces, sizeof(struct space), POOL_MAX);
    pool_init(&t->items, sizeof(struct item), POOL_MAX);
    pool_init(&t->sets, sizeof(struct set), POOL_MAX);
    pool_init(&t->members, sizeof(struct member), POOL_MAX);
    map_init(&t->space_by_owner);
    index_init(&t->item_by_text);
    index_init(&t->member_by_text);
    order_init(&t->item_order);
    order_init(&t->member_order);
}

void store_fini(struct store *t) {
    for (uint32_t i = 1; i <= t->items.high; i++) {
        struct item *it = item_at(t, i);
        if (it->text && it->kind == ITEM_TEXT) bytes_free(it->as.value);
        if (it->text) bytes_free(it->text);
    }
    struct order_place place = {0};
    uint32_t member = order_seek(&t->member_order, (struct slice){0}, member_whole, t, &place);
    for (; member; member = order_next(&t->member_order, &place)) bytes_free(member_at(t, member)->text);
    pool_fini(&t->spaces);
    pool_fini(&t->items);
    pool_fini(&t->sets);
    pool_fini(&t->members);
    map_fini(&t->space_by_owner);
    index_fini(&t->item_by_text);
    index_fini(&t->member_by_text);
    order_fini(&t->item_order);
    order_fini(&t->member_order);
    u32vec_fini(&t->dropped_spaces);
    u32vec_fini(&t->dropped_sets);
}

size_t store_bytes(const struct store *t) {
    return pool_bytes(&t->spaces) + pool_bytes(&t->items) + pool_bytes(&t->sets) + pool_bytes(&t->members) +
           map_bytes(&t->space_by_owner) + index_bytes(&t->item_by_text) + index_bytes(&t->member_by_text) +
           order_bytes(&t->item_order) + order_bytes(&t->member_order);
}

/* ---- texts ---- */

struct text { /* what a key or a member is found by */
    uint8_t at[STORE_PREFIX_BYTES + STORE_KEY_BYTES_MAX];
    size_t len;
};

static void text_make(struct text *ret, uint32_t prefix, struct slice rest) {
    REQUIRE(rest.len <= STORE_KEY_BYTES_MAX);
    for (uint32_t i = 0; i < STORE_PREFIX_BYTES; i++) ret->at[i] = (uint8_t)(prefix >> (24 - 8 * i));
    if (rest.len) memcpy(ret->at + STORE_PREFIX_BYTES, rest.ptr, rest.len);
    ret->len = STORE_PREFIX_BYTES + rest.len;
}

static uint32_t text_prefix(struct slice text) {
    uint32_t prefix = 0;
    for (uint32_t i = 0; i < STORE_PREFIX_BYTES; i++) prefix = prefix << 8 | text.ptr[i];
    return prefix;
}

static struct slice text_rest(struct slice text) {
    return slice_of(text.ptr + STORE_PREFIX_BYTES, text.len - STORE_PREFIX_BYTES);
}

uint32_t item_space(const struct item *it) {
    return text_prefix(bytes_slice(it->text));
}

struct slice item_key(const struct item *it) {
    return text_rest(bytes_slice(it->text));
}

struct slice member_text(const struct store *t, uint32_t member) {
    return text_rest(member_whole(t, member));
}

struct slice store_number_text(int64_t number, char out[STORE_NUMBER_BYTES]) {
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    char *at = out + STORE_NUMBER_BYTES;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (number < 0) *--at = '-';
    return slice_of(at, (size_t)(out + STORE_NUMBER_BYTES - at));
}

bool store_number(struct slice text, int64_t *ret) {
    bool negative = text.len && text.ptr[0] == '-';
    uint64_t number = 0;
    if (text.len <= (negative ? 1u : 0u) || text.len >= STORE_NUMBER_BYTES) return false;
    for (size_t i = negative; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        if (number > (uint64_t)INT64_MAX / 10 + 1) return false;
        number = number * 10 + (text.ptr[i] - '0');
    }
    if (number > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return false;
    int64_t value = (int64_t)(negative ? -number : number);
    char again[STORE_NUMBER_BYTES];
    if (!slice_eq(store_number_text(value, again), text)) return false; /* "007", "-0" */
    *ret = value;
    return true;
}

/* ---- looking ---- */

static uint64_t space_owner(uint32_t tenant, uint64_t flow) {
    return flow ? flow : OWNER_TENANT | tenant;
}

uint32_t space_find(const struct store *t, uint32_t tenant, uint64_t flow) {
    if (tenant == 0) return 0;
    uint32_t space = map_get(&t->space_by_owner, space_owner(tenant, flow));
    return space && space_at(t, space)->tenant == tenant ? space : 0;
}

uint64_t space_flow(const struct space *p) {
    return p->owner & OWNER_TENANT ? 0 : p->owner;
}

uint32_t item_find(const struct store *t, uint32_t space, struct slice key) {
    if (space == 0 || key.len > STORE_KEY_BYTES_MAX) return 0;
    struct text text;
    text_make(&text, space, key);
    return index_get(&t->item_by_text, slice_of(text.at, text.len), item_text, t);
}

static uint32_t member_get(const struct store *t, uint32_t set, struct slice member) {
    if (member.len > STORE_KEY_BYTES_MAX) return 0;
    struct text text;
    text_make(&text, set, member);
    return index_get(&t->member_by_text, slice_of(text.at, text.len), member_whole, t);
}

bool member_find(const struct store *t, uint32_t set, struct slice member) {
    return member_get(t, set, member) != 0;
}

bool item_is_over(const struct item *it, wall_time now) {
    return it->expires.ms <= now.ms && !MUTANT(store_expired_served);
}

static uint32_t of_prefix(uint32_t value, struct slice text, uint32_t prefix) {
    return value && text_prefix(text) == prefix ? value : 0;
}

uint32_t item_seek(const struct store *t, uint32_t space, struct slice key, struct order_place *ret) {
    struct text text;
    text_make(&text, space, key);
    uint32_t item = order_seek(&t->item_order, slice_of(text.at, text.len), item_text, t, ret);
    return item ? of_prefix(item, item_text(t, item), space) : 0;
}

uint32_t item_next(const struct store *t, uint32_t space, struct order_place *place) {
    uint32_t item = order_next(&t->item_order, place);
    return item ? of_prefix(item, item_text(t, item), space) : 0;
}

uint32_t member_seek(const struct store *t, uint32_t set, struct slice member, struct order_place *ret) {
    struct text text;
    text_make(&text, set, member);
    uint32_t found = order_seek(&t->member_order, slice_of(text.at, text.len), member_whole, t, ret);
    return found ? of_prefix(found, member_whole(t, found), set) : 0;
}

uint32_t member_next(const struct store *t, uint32_t set, struct order_place *place) {
    uint32_t found = order_next(&t->member_order, place);
    return found ? of_prefix(found, member_whole(t, found), set) : 0;
}

/* ---- what things cost ---- */

uint64_t item_cost(const struct store *t, const struct item *it) {
    uint64_t cost = STORE_ITEM_COST + item_key(it).len;
    if (it->kind == ITEM_TEXT) cost += bytes_slice(it->as.value).len;
    if (it->kind == ITEM_SET) cost += set_at(t, it->as.set)->bytes;
    return cost;
}

static void count_item(struct state *s, const struct item *it) {
    struct space *p = space_at(&s->store, item_space(it));
    struct tenant *tenant = tenant_at(s, p->tenant);
    p->items++;
    s->store.item_count++;
    tenant->store_keys++;
    tenant->store_bytes += item_cost(&s->store, it);
}

static void uncount_item(struct state *s, const struct item *it) {
    struct space *p = space_at(&s->store, item_space(it));
    struct tenant *tenant = tenant_at(s, p->tenant);
    uint64_t cost = item_cost(&s->store, it);
    REQUIRE(p->items > 0 && s->store.item_count > 0 && tenant->store_keys > 0);
    REQUIRE(tenant->store_bytes >= cost);
    p->items--;
    s->store.item_count--;
    tenant->store_keys--;
    tenant->store_bytes -= cost;
}

/* ---- making and unmaking ---- */

static uint32_t space_take(struct state *s, uint32_t tenant, uint64_t flow) {
    struct store *t = &s->store;
    uint32_t space = space_find(t, tenant, flow);
    if (space) return space;
    space = pool_alloc(&t->spaces);
    ENSURE(space != 0);
    *space_at(t, space) = (struct space){.owner = space_owner(tenant, flow), .tenant = tenant};
    map_put(&t->space_by_owner, space_owner(tenant, flow), space);
    return space;
}

static void space_leave(struct state *s, uint32_t space) {
    struct space *p = space_at(&s->store, space);
    if (p->items > 0 || p->is_dropped) return;
    map_del(&s->store.space_by_owner, p->owner);
    pool_free(&s->store.spaces, space);
}

/* A new item that holds nothing yet and is not counted. */
static uint32_t item_new(struct state *s, uint32_t space, struct slice key) {
    struct store *t = &s->store;
    struct text text;
    text_make(&text, space, key);
    uint32_t index = pool_alloc(&t->items);
    ENSURE(index != 0);
    *item_at(t, index) =
        (struct item){.text = bytes_new(slice_of(text.at, text.len)), .expires = {TIME_NEVER}, .kind = ITEM_NUMBER};
    index_put(&t->item_by_text, slice_of(text.at, text.len), index);
    order_put(&t->item_order, index, item_text, t);
    return index;
}

/* What it held is gone; a set's members are given back in steps. */
static void item_empty(struct state *s, struct item *it) {
    if (it->kind == ITEM_TEXT) bytes_free(it->as.value);
    if (it->kind == ITEM_SET) {
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
    order_del(&t->item_order, index, item_text, t);
    index_del(&t->item_by_text, bytes_slice(it->text), index);
    bytes_free(it->text);
    pool_free(&t->items, index);
}

static void item_forget(struct state *s, uint32_t index) {
    uint32_t space = item_space(item_at(&s->store, index));
    uncount_item(s, item_at(&s->store, index));
    item_free(s, index);
    space_leave(s, space);
}

static void make_set(struct state *s, uint32_t index) {
    uint32_t set = pool_alloc(&s->store.sets);
    ENSURE(set != 0);
    set_at(&s->store, set)->item = index;
    item_at(&s->store, index)->kind = ITEM_SET;
    item_at(&s->store, index)->as.set = set;
}

static void member_add(struct state *s, uint32_t set, struct slice member) {
    struct store *t = &s->store;
    if (member_find(t, set, member)) return;
    struct text text;
    text_make(&text, set, member);
    uint32_t index = pool_alloc(&t->members);
    ENSURE(index != 0);
    member_at(t, index)->text = bytes_new(slice_of(text.at, text.len));
    index_put(&t->member_by_text, slice_of(text.at, text.len), index);
    order_put(&t->member_order, index, member_whole, t);
    set_at(t, set)->count++;
    set_at(t, set)->bytes += STORE_MEMBER_COST + member.len;
}

static void member_free(struct state *s, uint32_t set, uint32_t index) {
    struct store *t = &s->store;
    struct bytes *text = member_at(t, index)->text;
    set_at(t, set)->count--;
    set_at(t, set)->bytes -= STORE_MEMBER_COST + bytes_slice(text).len - STORE_PREFIX_BYTES;
    order_del(&t->member_order, index, member_whole, t);
    index_del(&t->member_by_text, bytes_slice(text), index);
    bytes_free(text);
    pool_free(&t->members, index);
}

/* ---- apply ---- */

static uint32_t record_tenant(struct state *s, const struct rec_head *head, uint64_t flow) {
    if (flow == 0) return tenant_take(s, head->tenant);
    uint32_t known = flow_find(s, (flow_id){flow});
    REQUIRE(known != 0);
    return flow_at(s, known)->tenant;
}

static void changed(struct state *s, uint32_t tenant, uint64_t flow, struct slice key, uint64_t version) {
    emit_changed(s, bytes_slice(tenant_at(s, tenant)->name), (flow_id){flow}, key, version);
}

static void set_value(struct state *s, uint32_t index, const struct rec_store_entry *e, uint64_t version) {
    struct item *it = item_at(&s->store, index);
    REQUIRE(e->kind != ITEM_SET);
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
        if (index)
            uncount_item(s, item_at(&s->store, index));
        else
            index = item_new(s, space, entries[i].key);
        set_value(s, index, &entries[i], s->lsn + 1);
        count_item(s, item_at(&s->store, index));
        changed(s, tenant, r->flow, entries[i].key, s->lsn + 1);
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
        changed(s, tenant, r->flow, keys[i].text, 0);
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
        index = item_new(s, space, r->key);
        make_set(s, index);
    }
    struct item *it = item_at(t, index);
    REQUIRE(it->kind == ITEM_SET);
    uint32_t set = it->as.set;
    const struct rec_store_item *added = r->added.at, *removed = r->removed.at;
    for (uint32_t i = 0; i < r->added.count; i++) member_add(s, set, added[i].text);
    for (uint32_t i = 0; i < r->removed.count; i++) {
        uint32_t member = member_get(t, set, removed[i].text);
        if (member) member_free(s, set, member);
    }
    it->version = s->lsn + 1;
    count_item(s, it);
    bool is_empty = set_at(t, set)->count == 0;
    if (is_empty) item_forget(s, index);
    changed(s, tenant, r->flow, r->key, is_empty ? 0 : s->lsn + 1);
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
    struct space *p = space_at(t, space);
    changed(s, p->tenant, flow, (struct slice){0}, 0);
    map_del(&t->space_by_owner, flow);
    p->is_dropped = true;
    u32vec_push(&t->dropped_spaces, space);
    store_sweep(s, SWEEP_PER_RECORD);
}

/* ---- giving memory back ---- */

static uint32_t sweep_set(struct state *s, uint32_t set, uint32_t budget) {
    struct order_place place;
    for (; budget > 0; budget--) {
        uint32_t member = member_seek(&s->store, set, (struct slice){0}, &place);
        if (member == 0) break;
        member_free(s, set, member);
    }
    if (set_at(&s->store, set)->count > 0) return 0;
    s->store.dropped_sets.count--;
    pool_free(&s->store.sets, set);
    return budget;
}

static uint32_t sweep_space(struct state *s, uint32_t space, uint32_t budget) {
    struct store *t = &s->store;
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
    while (budget > 0 && t->dropped_sets.count) budget = sweep_set(s, t->dropped_sets.at[t->dropped_sets.count - 1], budget);
    while (budget > 0 && t->dropped_spaces.count)
        budget = sweep_space(s, t->dropped_spaces.at[t->dropped_spaces.count - 1], budget);
}

/* ---- for the loader ---- */

uint32_t store_load_item(struct state *s, uint32_t tenant, uint64_t flow, const struct rec_store_entry *e,
                         uint64_t version) {
    uint32_t index = item_new(s, space_take(s, tenant, flow), e->key);
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
    member_add(s, it->as.set, member);
    count_item(s, it);
}
