/* store_table.c: the tables behind the store: who is found by what, and in which order. See store.h. */
#include "mutant.h"
#include "panic.h"
#include "store.h"

#define POOL_MAX (UINT32_MAX - 1u)
#define OWNER_TENANT (1ull << 63) /* else the owner is a flow number */

static struct slice item_text(const void *ctx, uint32_t value) {
    return bytes_slice(item_at(ctx, value)->text);
}

static struct slice member_whole(const void *ctx, uint32_t value) {
    return bytes_slice(member_at(ctx, value)->text);
}

void store_init(struct store *t) {
    pool_init(&t->spaces, sizeof(struct store_space), POOL_MAX);
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
    REQUIRE(text.len >= STORE_PREFIX_BYTES);
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
    ENSURE(at >= out);
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

uint64_t space_owner(uint32_t tenant, uint64_t flow) {
    REQUIRE(flow < OWNER_TENANT);
    return flow ? flow : OWNER_TENANT | tenant;
}

uint32_t space_find(const struct store *t, uint32_t tenant, uint64_t flow) {
    if (tenant == 0) return 0;
    uint32_t space = map_get(&t->space_by_owner, space_owner(tenant, flow));
    return space && space_at(t, space)->tenant == tenant ? space : 0;
}

uint64_t space_flow(const struct store_space *p) {
    return p->owner & OWNER_TENANT ? 0 : p->owner;
}

uint32_t item_find(const struct store *t, uint32_t space, struct slice key) {
    if (space == 0 || key.len > STORE_KEY_BYTES_MAX) return 0;
    struct text text;
    text_make(&text, space, key);
    return index_get(&t->item_by_text, slice_of(text.at, text.len), item_text, t);
}

uint32_t member_get(const struct store *t, uint32_t set, struct slice member) {
    if (member.len > STORE_KEY_BYTES_MAX) return 0;
    struct text text;
    text_make(&text, set, member);
    return index_get(&t->member_by_text, slice_of(text.at, text.len), member_whole, t);
}

bool item_is_over(const struct item *it, wall_time now) {
    return it->expires.ms <= now.ms && !MUTANT(store_expired_served);
}

static uint32_t of_prefix(uint32_t value, struct slice text, uint32_t prefix) {
    return text_prefix(text) == prefix ? value : 0;
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

/* ---- entering and leaving ---- */

uint32_t item_insert(struct store *t, uint32_t space, struct slice key) {
    REQUIRE(space != 0);
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

void item_remove(struct store *t, uint32_t index) {
    struct item *it = item_at(t, index);
    REQUIRE(it->timer == 0);
    REQUIRE(it->kind == ITEM_NUMBER);
    order_del(&t->item_order, index, item_text, t);
    index_del(&t->item_by_text, bytes_slice(it->text), index);
    bytes_free(it->text);
    pool_free(&t->items, index);
}

void member_insert(struct store *t, uint32_t set, struct slice member) {
    REQUIRE(set != 0);
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

void member_remove(struct store *t, uint32_t set, uint32_t index) {
    struct bytes *text = member_at(t, index)->text;
    uint64_t cost = STORE_MEMBER_COST + member_text(t, index).len;
    REQUIRE(text_prefix(bytes_slice(text)) == set);
    REQUIRE(set_at(t, set)->count > 0);
    REQUIRE(set_at(t, set)->bytes >= cost);
    set_at(t, set)->count--;
    set_at(t, set)->bytes -= cost;
    order_del(&t->member_order, index, member_whole, t);
    index_del(&t->member_by_text, bytes_slice(text), index);
    bytes_free(text);
    pool_free(&t->members, index);
}
