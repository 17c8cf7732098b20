/* key_cause.c: see key_cause.h. A cause is found by its text, as a watch is (watch.h): the key itself, and once for
 * each length at which anyone has a prefix. */
#include "key_cause.h"

#include "flow.h"
#include "mutant.h"
#include "panic.h"
#include "schedule.h"

#define POOL_MAX (UINT32_MAX - 1u)
#define KEY_AT 4u /* u32 cause */

static struct slice cause_text(const void *ctx, uint32_t value) {
    return bytes_slice(cause_at(ctx, value)->text);
}

static struct slice change_text(const void *ctx, uint32_t value) {
    return bytes_slice(change_at(ctx, value)->text);
}

struct cause_name {
    uint8_t at[CAUSE_KEY_AT + STORE_KEY_BYTES_MAX];
    size_t len;
};

static struct slice pattern_name(struct cause_name *ret, uint32_t tenant, bool prefix, struct slice pattern) {
    REQUIRE(pattern.len <= STORE_KEY_BYTES_MAX);
    if (MUTANT(cause_of_any_tenant)) tenant = 0;
    memcpy(ret->at, &tenant, 4);
    ret->at[CAUSE_PREFIX_AT] = prefix;
    if (pattern.len) memcpy(ret->at + CAUSE_KEY_AT, pattern.ptr, pattern.len);
    return slice_of(ret->at, CAUSE_KEY_AT + pattern.len);
}

static struct slice change_name(struct cause_name *ret, uint32_t cause, struct slice key) {
    REQUIRE(key.len <= STORE_KEY_BYTES_MAX);
    memcpy(ret->at, &cause, 4);
    if (key.len) memcpy(ret->at + KEY_AT, key.ptr, key.len);
    return slice_of(ret->at, KEY_AT + key.len);
}

static bool is_prefix(const struct key_cause *c) {
    return bytes_slice(c->text).ptr[CAUSE_PREFIX_AT] != 0;
}

void causes_init(struct causes *c) {
    pool_init(&c->all, sizeof(struct key_cause), POOL_MAX);
    pool_init(&c->changes, sizeof(struct key_change), POOL_MAX);
    index_init(&c->by_text);
    index_init(&c->change_by_text);
    c->prefix_lengths = (struct u32vec){0};
}

void causes_fini(struct causes *c) {
    for (uint32_t i = 1; i <= c->all.high; i++)
        if (cause_at(c, i)->text) bytes_free(cause_at(c, i)->text);
    for (uint32_t i = 1; i <= c->changes.high; i++)
        if (change_at(c, i)->text) bytes_free(change_at(c, i)->text);
    pool_fini(&c->all);
    pool_fini(&c->changes);
    index_fini(&c->by_text);
    index_fini(&c->change_by_text);
    u32vec_fini(&c->prefix_lengths);
}

size_t causes_bytes(const struct causes *c) {
    size_t bytes =
        pool_bytes(&c->all) + pool_bytes(&c->changes) + index_bytes(&c->by_text) + index_bytes(&c->change_by_text);
    for (uint32_t i = 1; i <= c->all.high; i++)
        if (cause_at(c, i)->text) bytes += bytes_slice(cause_at(c, i)->text).len;
    for (uint32_t i = 1; i <= c->changes.high; i++)
        if (change_at(c, i)->text) bytes += bytes_slice(change_at(c, i)->text).len;
    return bytes;
}

/* ---- changes that wait ---- */

struct slice change_key(const struct key_change *c) {
    struct slice text = bytes_slice(c->text);
    ENSURE(text.len >= KEY_AT);
    return slice_of(text.ptr + KEY_AT, text.len - KEY_AT);
}

const struct key_change *cause_first(const struct state *s, const struct schedule *sc) {
    uint32_t first = sc->cause ? cause_at(&s->causes, sc->cause)->first : 0;
    return first ? change_at(&s->causes, first) : NULL;
}

uint32_t cause_waiting(const struct state *s, const struct schedule *sc) {
    return sc->cause ? cause_at(&s->causes, sc->cause)->count : 0;
}

static uint32_t push_change(struct causes *all, uint32_t cause, struct slice name) {
    struct key_cause *c = cause_at(all, cause);
    uint32_t index = pool_alloc(&all->changes);
    ENSURE(index != 0);
    *change_at(all, index) = (struct key_change){.text = bytes_new(name), .prev = c->last};
    index_put(&all->change_by_text, name, index);
    *(c->last ? &change_at(all, c->last)->next : &c->first) = index;
    c->last = index;
    c->count++;
    ENSURE(c->count <= CAUSE_KEYS_MAX);
    return index;
}

static void free_change(struct causes *all, uint32_t cause, uint32_t index) {
    struct key_cause *c = cause_at(all, cause);
    struct key_change *x = change_at(all, index);
    REQUIRE(c->count > 0);
    *(x->prev ? &change_at(all, x->prev)->next : &c->first) = x->next;
    *(x->next ? &change_at(all, x->next)->prev : &c->last) = x->prev;
    c->count--;
    ENSURE((c->count == 0) == (c->first == 0));
    index_del(&all->change_by_text, bytes_slice(x->text), index);
    bytes_free(x->text);
    pool_free(&all->changes, index);
}

void cause_taken(struct state *s, uint32_t schedule) {
    uint32_t cause = schedule_at(s, schedule)->cause;
    REQUIRE(cause != 0);
    struct key_cause *c = cause_at(&s->causes, cause);
    REQUIRE(c->first != 0);
    if (!MUTANT(change_started_twice) || c->count % 2 == 0) free_change(&s->causes, cause, c->first);
    c->started_ms = s->now.ms;
}

/* ---- causes ---- */

uint32_t causes_of(const struct state *s, uint32_t tenant) {
    uint32_t count = 0;
    for (uint32_t i = 1; i <= s->causes.all.high; i++) {
        const struct key_cause *c = cause_at(&s->causes, i);
        count += c->text != NULL && schedule_at(s, c->schedule)->tenant == tenant;
    }
    return count;
}

static void count_prefix(struct causes *all, const struct key_cause *c, bool more) {
    size_t len = bytes_slice(c->text).len - CAUSE_KEY_AT;
    if (!is_prefix(c)) return;
    while (all->prefix_lengths.count <= len) u32vec_push(&all->prefix_lengths, 0);
    REQUIRE(more || all->prefix_lengths.at[len] > 0);
    all->prefix_lengths.at[len] += more ? 1 : UINT32_MAX;
}

static uint32_t make_cause(struct state *s, uint32_t schedule, struct slice name) {
    struct causes *all = &s->causes;
    uint32_t index = pool_alloc(&all->all), first = index_get(&all->by_text, name, cause_text, all);
    ENSURE(index != 0);
    struct key_cause *c = cause_at(all, index);
    *c = (struct key_cause){.text = bytes_new(name), .schedule = schedule};
    if (first) { /* behind the first, which the table knows */
        c->next = cause_at(all, first)->next;
        cause_at(all, first)->next = index;
    } else {
        index_put(&all->by_text, name, index);
    }
    count_prefix(all, c, true);
    schedule_at(s, schedule)->cause = index;
    return index;
}

void cause_drop(struct state *s, uint32_t schedule) {
    struct causes *all = &s->causes;
    uint32_t index = schedule_at(s, schedule)->cause;
    if (index == 0) return;
    struct key_cause *c = cause_at(all, index);
    struct slice name = bytes_slice(c->text);
    while (c->first) free_change(all, index, c->first);
    count_prefix(all, c, false);
    uint32_t before = index_get(&all->by_text, name, cause_text, all);
    if (before == index) {
        index_del(&all->by_text, name, index);
        if (c->next) index_put(&all->by_text, bytes_slice(cause_at(all, c->next)->text), c->next);
    } else {
        while (cause_at(all, before)->next != index) before = cause_at(all, before)->next;
        cause_at(all, before)->next = c->next;
    }
    bytes_free(c->text);
    pool_free(&all->all, index);
    schedule_at(s, schedule)->cause = 0;
}

void cause_set(struct state *s, uint32_t schedule, const struct rec_schedule *r) {
    struct cause_name name;
    uint32_t index = schedule_at(s, schedule)->cause;
    struct slice text = pattern_name(&name, schedule_at(s, schedule)->tenant, r->key_prefix, r->key);
    bool stays = index != 0 && r->when != 0 && slice_eq(bytes_slice(cause_at(&s->causes, index)->text), text);
    if (!stays) cause_drop(s, schedule);
    if (r->when == 0) return;
    if (!stays) index = make_cause(s, schedule, text);
    struct key_cause *c = cause_at(&s->causes, index);
    c->when = r->when;
    c->own = r->own_changes;
    c->min_interval_ms = r->min_interval_ms;
    c->start_ms = r->start_ms;
}

/* ---- a key was changed ---- */

/* Whether that flow was made by this schedule; one that is gone is nobody's. */
static bool is_own(struct state *s, const struct schedule *sc, uint64_t flow) {
    uint32_t index = flow ? flow_find(s, (flow_id){flow}) : 0;
    if (index == 0 || flow_at(s, index)->tenant != sc->tenant) return false;
    struct flow_head head;
    flow_head_get(flow_at(s, index), &s->scratch, &head);
    return slice_eq(head.schedule, schedule_name(sc));
}

/* The flow of an earlier change is to make room: nothing else waits for its end. */
static void drop_others(struct state *s, struct schedule *sc, struct slice name) {
    struct causes *all = &s->causes;
    uint32_t next;
    for (uint32_t i = cause_at(all, sc->cause)->first; i; i = next) {
        next = change_at(all, i)->next;
        if (slice_eq(bytes_slice(change_at(all, i)->text), name)) continue;
        sc->skipped++;
        free_change(all, sc->cause, i);
    }
}

static void put_change(struct state *s, struct schedule *sc, struct slice key, unsigned how, uint64_t version) {
    struct causes *all = &s->causes;
    struct cause_name room;
    struct slice name = change_name(&room, sc->cause, key);
    uint32_t index = index_get(&all->change_by_text, name, change_text, all);
    if (sc->overlap == OVERLAP_REPLACE) drop_others(s, sc, name);
    const struct key_cause *c = cause_at(all, sc->cause);
    if (index == 0 && c->count == CAUSE_KEYS_MAX) {
        index = c->last; /* one more of the newest: that something else changed is not lost */
        change_at(all, index)->count++;
        return;
    }
    if (index == 0) index = push_change(all, sc->cause, name);
    struct key_change *x = change_at(all, index);
    x->count++;
    x->how = (uint8_t)how;
    x->version = version;
    x->changed_ms = s->now.ms;
}

static void offer(struct state *s, uint32_t cause, struct slice key, unsigned how, uint64_t by, uint64_t version) {
    const struct key_cause *c = cause_at(&s->causes, cause);
    struct schedule *sc = schedule_at(s, c->schedule);
    unsigned counts = c->when & how;
    if (counts == 0 || sc->paused || s->now.ms < c->start_ms || (sc->end_ms && s->now.ms > sc->end_ms)) return;
    if (!c->own && is_own(s, sc, by)) return;
    if (sc->overlap == OVERLAP_SKIP && schedule_is_running(s, sc)) {
        schedule_left_out(s, c->schedule);
        return;
    }
    put_change(s, sc, key, counts, version);
    schedule_wake(s, c->schedule);
}

static void offer_all(struct state *s, uint32_t tenant, bool prefix, struct slice pattern, struct slice key,
                      unsigned how, uint64_t by, uint64_t version) {
    struct cause_name name;
    uint32_t first =
        index_get(&s->causes.by_text, pattern_name(&name, tenant, prefix, pattern), cause_text, &s->causes);
    for (uint32_t i = first; i; i = cause_at(&s->causes, i)->next) offer(s, i, key, how, by, version);
}

void cause_changed(struct state *s, uint32_t tenant, uint64_t by, struct slice key, unsigned how, uint64_t version) {
    const struct u32vec *lengths = &s->causes.prefix_lengths;
    REQUIRE(how != 0);
    if (s->causes.all.count == 0) return;
    offer_all(s, tenant, false, key, key, how, by, version);
    for (uint32_t len = 0; len < lengths->count && len <= key.len; len++)
        if (lengths->at[len] > 0) offer_all(s, tenant, true, slice_of(key.ptr, len), key, how, by, version);
}

bool cause_load_change(struct state *s, uint32_t schedule, const struct key_change *change, struct slice key) {
    struct cause_name room;
    uint32_t cause = schedule_at(s, schedule)->cause;
    struct slice name = change_name(&room, cause, key);
    if (cause == 0 || index_get(&s->causes.change_by_text, name, change_text, &s->causes) != 0) return false;
    if (cause_at(&s->causes, cause)->count == CAUSE_KEYS_MAX) return false;
    struct key_change *x = change_at(&s->causes, push_change(&s->causes, cause, name));
    x->count = change->count;
    x->how = change->how;
    x->version = change->version;
    x->changed_ms = change->changed_ms;
    return true;
}
