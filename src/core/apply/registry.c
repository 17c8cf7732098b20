/* registry.c: see registry.h. */
#include "registry.h"

#include "panic.h"
#include "timer.h"

#define OWN_BYTES_MAX ((size_t)1 << 20)

/* ---- tenants ---- */

static struct slice tenant_key(const void *ctx, uint32_t value) {
    return bytes_slice(tenant_at(ctx, value)->name);
}

uint32_t tenant_find(const struct state *s, struct slice name) {
    if (s->tenant_recent && slice_eq(tenant_key(s, s->tenant_recent), name)) return s->tenant_recent;
    return index_get(&s->tenant_by_name, name, tenant_key, s);
}

uint32_t tenant_take(struct state *s, struct slice name) {
    REQUIRE(name.len > 0);
    uint32_t index = tenant_find(s, name);
    s->tenant_recent = index;
    if (index) return index;
    index = pool_alloc(&s->tenants);
    ENSURE(index != 0);
    s->tenant_recent = index;
    *tenant_at(s, index) = (struct tenant){.name = bytes_new(name), .weight = 1};
    index_put(&s->tenant_by_name, name, index);
    return index;
}

/* ---- pools and topics ---- */

static struct slice pool_key(const void *ctx, uint32_t value) {
    return bytes_slice(pool_entry(ctx, value)->name);
}

uint32_t pool_find(const struct state *s, struct slice name) {
    return index_get(&s->pool_by_name, name, pool_key, s);
}

uint32_t pool_take(struct state *s, struct slice name) {
    REQUIRE(name.len > 0);
    uint32_t index = pool_find(s, name);
    if (index) return index;
    index = pool_alloc(&s->pools);
    ENSURE(index != 0);
    struct pool_ *p = pool_entry(s, index);
    p->name = bytes_new(name);
    arena_init(&p->arena, 128, OWN_BYTES_MAX);
    index_put(&s->pool_by_name, name, index);
    return index;
}

void pool_apply(struct state *s, struct slice record, const struct rec_pool *rec) {
    struct pool_ *p = pool_entry(s, pool_take(s, rec->name));
    bytes_free(p->record);
    arena_reset(&p->arena);
    p->record = bytes_new(record);
    struct rec_pool own;
    enum err e = tlv_decode(record_desc(REC_POOL), bytes_slice(p->record), TLV_STRICT, &p->arena, &own, NULL);
    ENSURE(e == ERR_OK);
    p->state = own.state;
    p->refuse_overload = own.refuse_overload;
    p->capabilities = own.capabilities;
    s->placement++;
}

static struct slice topic_key(const void *ctx, uint32_t value) {
    return bytes_slice(topic_at(ctx, value)->name);
}

uint32_t topic_find(const struct state *s, struct slice name) {
    return index_get(&s->topic_by_name, name, topic_key, s);
}

static void topic_forget(struct state *s, uint32_t index) {
    struct topic *t = topic_at(s, index);
    index_del(&s->topic_by_name, bytes_slice(t->name), index);
    bytes_free(t->name);
    bytes_free(t->record);
    arena_fini(&t->arena);
    pool_free(&s->topics, index);
}

void topic_apply(struct state *s, struct slice record, const struct rec_topic *rec) {
    REQUIRE(rec->name.len > 0);
    uint32_t index = topic_find(s, rec->name);
    s->placement++;
    if (rec->pools.count == 0) {
        if (index) topic_forget(s, index);
        return;
    }
    if (index == 0) {
        index = pool_alloc(&s->topics);
        ENSURE(index != 0);
        topic_at(s, index)->name = bytes_new(rec->name);
        arena_init(&topic_at(s, index)->arena, 128, OWN_BYTES_MAX);
        index_put(&s->topic_by_name, rec->name, index);
    }
    struct topic *t = topic_at(s, index);
    bytes_free(t->record);
    arena_reset(&t->arena);
    t->record = bytes_new(record);
    struct rec_topic own;
    enum err e = tlv_decode(record_desc(REC_TOPIC), bytes_slice(t->record), TLV_STRICT, &t->arena, &own, NULL);
    ENSURE(e == ERR_OK);
    t->pools = own.pools;
    ENSURE(t->pools.count > 0); /* a topic that leads nowhere is not there */
}

/* ---- workers ---- */

static struct slice worker_key(const void *ctx, uint32_t value) {
    return bytes_slice(worker_at(ctx, value)->id);
}

uint32_t worker_find(const struct state *s, struct slice id) {
    uint32_t recent = s->worker_recent;
    if (recent && slice_eq(worker_key(s, recent), id)) return recent;
    return index_get(&s->worker_by_id, id, worker_key, s);
}

/* What the runs of a worker take is counted by name: a new list of resources needs new counters. */
static void recount_resources(struct state *s, struct worker *w) {
    const struct resource *offered = w->info.resources.at;
    w->resources = ARENA_ARRAY(&w->arena, uint64_t, w->info.resources.count ? w->info.resources.count : 1);
    for (uint32_t r = w->first; r; r = run_at(s, r)->next) {
        const struct demand *d = &job_options(s, job_at(s, run_at(s, r)->job))->demand;
        const struct resource *wanted = d->resources.at;
        for (uint32_t i = 0; i < d->resources.count; i++)
            for (uint32_t k = 0; k < w->info.resources.count; k++)
                if (slice_eq(offered[k].name, wanted[i].name)) w->resources[k] += wanted[i].amount;
    }
}

uint32_t worker_apply(struct state *s, const struct rec_worker *rec, uint32_t number) {
    REQUIRE(rec->worker.len > 0);
    uint32_t index = worker_find(s, rec->worker);
    if (index == 0) {
        index = pool_alloc(&s->workers);
        ENSURE(index != 0);
        struct worker *w = worker_at(s, index);
        w->id = bytes_new(rec->worker);
        w->number = number ? number : s->worker_last + 1;
        if (w->number > s->worker_last) s->worker_last = w->number;
        arena_init(&w->arena, 256, OWN_BYTES_MAX);
        index_put(&s->worker_by_id, rec->worker, index);
        map_put(&s->worker_by_number, w->number, index);
    }
    struct worker *w = worker_at(s, index);
    bytes_free(w->record);
    arena_reset(&w->arena);
    w->record = bytes_new(rec->raw);
    struct rec_worker own;
    enum err e = tlv_decode(record_desc(REC_WORKER), bytes_slice(w->record), TLV_STRICT, &w->arena, &own, NULL);
    ENSURE(e == ERR_OK);
    w->info = own.info;
    w->incarnation = own.incarnation;
    recount_resources(s, w);
    s->placement++;
    ENSURE(w->number != 0);
    ENSURE(w->number <= s->worker_last);
    return index;
}

void worker_forget(struct state *s, uint32_t index) {
    struct worker *w = worker_at(s, index);
    REQUIRE(w->id != NULL);
    REQUIRE(w->active == 0);
    REQUIRE(w->first == 0);
    index_del(&s->worker_by_id, bytes_slice(w->id), index);
    s->worker_recent = 0;
    map_del(&s->worker_by_number, w->number);
    bytes_free(w->id);
    bytes_free(w->record);
    arena_fini(&w->arena);
    pool_free(&s->workers, index);
    s->placement++;
}

/* ---- idempotency keys ---- */

static struct slice key_key(const void *ctx, uint32_t value) {
    return bytes_slice(key_at(ctx, value)->text);
}

static struct slice key_text(struct arena *scratch, uint32_t tenant, struct slice key) {
    uint8_t *at = arena_alloc(scratch, 4 + key.len);
    memcpy(at, &tenant, 4);
    memcpy(at + 4, key.ptr, key.len);
    return slice_of(at, 4 + key.len);
}

uint32_t key_find(const struct state *s, uint32_t tenant, struct slice key, struct arena *scratch) {
    if (tenant == 0 || key.len == 0) return 0;
    return index_get(&s->key_by_text, key_text(scratch, tenant, key), key_key, s);
}

void key_add(struct state *s, uint32_t tenant, struct slice key, struct slice hash, uint64_t flow, uint32_t job_count,
             wall_time expires) {
    REQUIRE(hash.len == 32);
    REQUIRE(tenant != 0);
    REQUIRE(key.len > 0);
    uint32_t index = pool_alloc(&s->keys);
    ENSURE(index != 0);
    struct key *k = key_at(s, index);
    struct slice text = key_text(&s->scratch, tenant, key);
    *k = (struct key){
        .text = bytes_new(text), .tenant = tenant, .flow = flow, .job_count = job_count, .expires = expires};
    memcpy(k->hash, hash.ptr, 32);
    index_put(&s->key_by_text, text, index);
    timer_set(s, TIMER_KEY, index, expires);
}

void key_forget(struct state *s, uint32_t index) {
    struct key *k = key_at(s, index);
    REQUIRE(k->text != NULL);
    timer_set(s, TIMER_KEY, index, (wall_time){TIME_NEVER});
    index_del(&s->key_by_text, bytes_slice(k->text), index);
    bytes_free(k->text);
    pool_free(&s->keys, index);
}
