/* class.c: see class.h. */
#include "class.h"

#include "attempt_notes.h"
#include "buf.h"
#include "flow.h"
#include "panic.h"
#include "quota.h"
#include "timer.h"

#define KEY_BYTES_MAX ((size_t)1 << 20)

static struct slice profile_key(const void *ctx, uint32_t value) {
    return bytes_slice(profile_at(ctx, value)->key);
}

static struct slice class_key(const void *ctx, uint32_t value) {
    return bytes_slice(class_at(ctx, value)->key);
}

static struct slice profile_encoded(const struct profile *p) {
    struct slice key = bytes_slice(p->key);
    return slice_of(key.ptr + 4, key.len - 4);
}

bool profile_is_recent(const struct state *s, uint32_t tenant, struct slice encoded) {
    if (s->profile_recent == 0) return false;
    const struct profile *p = profile_at(s, s->profile_recent);
    return p->tenant == tenant && slice_eq(profile_encoded(p), encoded);
}

uint32_t profile_take(struct state *s, uint32_t tenant, struct slice encoded) {
    REQUIRE(tenant != 0);
    if (profile_is_recent(s, tenant, encoded)) return s->profile_recent;
    uint8_t *key_bytes = arena_alloc(&s->scratch, 4 + encoded.len);
    memcpy(key_bytes, &tenant, 4); /* never leaves the process: byte order does not matter */
    if (encoded.len) memcpy(key_bytes + 4, encoded.ptr, encoded.len);
    struct slice key = slice_of(key_bytes, 4 + encoded.len);
    uint32_t index = index_get(&s->profile_by_key, key, profile_key, s);
    s->profile_recent = index;
    if (index) return index;
    index = pool_alloc(&s->profiles);
    s->profile_recent = index;
    ENSURE(index != 0);
    struct profile *p = profile_at(s, index);
    p->key = bytes_new(key);
    p->tenant = tenant;
    arena_init(&p->arena, 128, KEY_BYTES_MAX);
    struct slice own = bytes_slice(p->key);
    enum err e =
        tlv_decode(&options_desc, slice_of(own.ptr + 4, own.len - 4), TLV_STRICT, &p->arena, &p->options, NULL);
    ENSURE(e == ERR_OK); /* it was decoded once already, as part of its record */
    quota_ref(s, p);
    index_put(&s->profile_by_key, own, index);
    return index;
}

void profile_ref(struct state *s, uint32_t profile) {
    REQUIRE(profile_at(s, profile)->key != NULL);
    profile_at(s, profile)->refs++;
}

static void class_free_if_unused(struct state *s, uint32_t index) {
    struct class_ *c = class_at(s, index);
    if (c->refs || c->count) return;
    ENSURE(c->head == 0);
    ENSURE(c->held_by == 0);
    index_del(&s->class_by_key, bytes_slice(c->key), index);
    bytes_free(c->key);
    arena_fini(&c->arena);
    c->key = NULL;
    pool_free(&s->classes, index);
}

void profile_unref(struct state *s, uint32_t profile) {
    struct profile *p = profile_at(s, profile);
    REQUIRE(p->refs > 0);
    if (--p->refs) return;
    if (p->class_) {
        REQUIRE(class_at(s, p->class_)->refs > 0);
        class_at(s, p->class_)->refs--;
        class_free_if_unused(s, p->class_);
    }
    quota_unref(s, p);
    ENSURE(p->quota_count == 0);
    index_del(&s->profile_by_key, bytes_slice(p->key), profile);
    bytes_free(p->key);
    arena_fini(&p->arena);
    p->key = NULL;
    if (s->profile_recent == profile) s->profile_recent = 0;
    pool_free(&s->profiles, profile);
}

static uint32_t class_take(struct state *s, const struct profile *p, enum pin pin_kind, struct slice pin) {
    struct slice demand = p->options.demand.raw;
    size_t len = 4 + 4 + 1 + 1 + pin.len + demand.len;
    REQUIRE(pin.len <= 255);
    REQUIRE((pin_kind == PIN_NONE) == (pin.len == 0));
    uint8_t *at = arena_alloc(&s->scratch, len);
    memcpy(at, &p->tenant, 4);
    memcpy(at + 4, &p->options.priority, 4);
    at[8] = (uint8_t)pin_kind;
    at[9] = (uint8_t)pin.len;
    if (pin.len) memcpy(at + 10, pin.ptr, pin.len);
    if (demand.len) memcpy(at + 10 + pin.len, demand.ptr, demand.len);
    uint32_t index = index_get(&s->class_by_key, slice_of(at, len), class_key, s);
    if (index) return index;
    index = pool_alloc(&s->classes);
    ENSURE(index != 0);
    struct class_ *c = class_at(s, index);
    c->key = bytes_new(slice_of(at, len));
    c->tenant = p->tenant;
    c->priority = p->options.priority;
    c->pin_kind = (uint8_t)pin_kind;
    struct slice own = bytes_slice(c->key);
    c->pin = slice_of(own.ptr + 10, pin.len);
    arena_init(&c->arena, 128, KEY_BYTES_MAX);
    enum err e =
        tlv_decode(&demand_desc, slice_of(own.ptr + 10 + pin.len, demand.len), TLV_STRICT, &c->arena, &c->demand, NULL);
    ENSURE(e == ERR_OK);
    c->quota_count = p->quota_count;
    c->quotas = ARENA_ARRAY(&c->arena, uint32_t, p->quota_count ? p->quota_count : 1);
    for (uint32_t i = 0; i < p->quota_count; i++) c->quotas[i] = p->quotas[i];
    index_put(&s->class_by_key, own, index);
    return index;
}

static uint32_t ordinary_class(struct state *s, uint32_t profile) {
    struct profile *p = profile_at(s, profile);
    if (p->class_ == 0) {
        p->class_ = class_take(s, p, PIN_NONE, slice_of(NULL, 0));
        class_at(s, p->class_)->refs++;
    }
    return p->class_;
}

/* The worker of the parent with the highest ordinal that had one; empty when there is none or it is gone. */
static struct slice affinity_worker(struct state *s, const struct job *j) {
    struct flow *f = flow_at(s, j->flow);
    struct rec_job rec;
    job_record(j, &s->scratch, &rec);
    for (uint32_t i = rec.parents.count; i-- > 0;) {
        const struct job *parent = job_at(s, f->jobs.at[rec.parents.at[i]]);
        uint32_t worker = job_worker(s, parent) ? map_get(&s->worker_by_number, job_worker(s, parent)) : 0;
        if (worker) return bytes_slice(worker_at(s, worker)->id);
    }
    return slice_of(NULL, 0);
}

static uint32_t class_of(struct state *s, const struct job *j) {
    struct profile *p = profile_at(s, j->profile);
    const struct options *o = &p->options;
    if (o->prefer_ms <= 0 || (j->flags & JOBF_PREFER_OVER)) return ordinary_class(s, j->profile);
    if (o->preferred_worker.len) return class_take(s, p, PIN_WORKER, o->preferred_worker);
    if (o->affinity) {
        struct slice worker = affinity_worker(s, j);
        if (worker.len) return class_take(s, p, PIN_WORKER, worker);
    }
    if (o->preferred_pool.len) return class_take(s, p, PIN_POOL, o->preferred_pool);
    return ordinary_class(s, j->profile);
}

/* Head of the list that a class is on, or is about to be on. */
static uint32_t *list_of(struct state *s, const struct class_ *c) {
    return c->held_by ? &quota_at(s, c->held_by)->waiting : &s->ready_classes;
}

static void list_class(struct state *s, uint32_t index) {
    struct class_ *c = class_at(s, index);
    REQUIRE(c->count > 0);
    REQUIRE(c->next == 0);
    REQUIRE(c->prev == 0);
    uint32_t *head = list_of(s, c);
    c->prev = 0;
    c->next = *head;
    if (c->next) class_at(s, c->next)->prev = index;
    *head = index;
}

static void unlist_class(struct state *s, uint32_t index) {
    struct class_ *c = class_at(s, index);
    if (c->prev)
        class_at(s, c->prev)->next = c->next;
    else
        *list_of(s, c) = c->next;
    if (c->next) class_at(s, c->next)->prev = c->prev;
    c->next = c->prev = 0;
    c->held_by = 0;
}

void class_hold(struct state *s, uint32_t class_, uint32_t quota) {
    REQUIRE(quota != 0);
    REQUIRE(class_at(s, class_)->held_by == 0);
    unlist_class(s, class_);
    class_at(s, class_)->held_by = quota;
    list_class(s, class_);
}

void class_release(struct state *s, uint32_t quota) {
    for (uint32_t i; (i = quota_at(s, quota)->waiting) != 0;) {
        unlist_class(s, i);
        list_class(s, i);
    }
}

void ready_push(struct state *s, uint32_t job) {
    struct job *j = job_at(s, job);
    REQUIRE(j->state == JOB_READY);
    REQUIRE(j->next == 0);
    REQUIRE(j->prev == 0);
    REQUIRE(!(j->flags & JOBF_PARKED));
    uint32_t index = class_of(s, j);
    struct class_ *c = class_at(s, index);
    j->link = index;
    j->prev = c->tail;
    if (c->tail)
        job_at(s, c->tail)->next = job;
    else
        c->head = job;
    c->tail = job;
    if (c->count++ == 0) list_class(s, index);
}

static void unpark(struct state *s, uint32_t job) {
    struct job *j = job_at(s, job);
    struct flow *f = flow_at(s, j->flow);
    REQUIRE(j->flags & JOBF_PARKED);
    REQUIRE(f->parked != 0);
    if (j->prev)
        job_at(s, j->prev)->next = j->next;
    else
        f->parked = j->next;
    if (j->next) job_at(s, j->next)->prev = j->prev;
    j->flags &= (uint8_t)~JOBF_PARKED;
    j->next = j->prev = 0;
}

void ready_remove(struct state *s, uint32_t job) {
    struct job *j = job_at(s, job);
    REQUIRE(j->state == JOB_READY);
    if (j->flags & JOBF_PARKED) {
        unpark(s, job);
        return;
    }
    struct class_ *c = class_at(s, j->link);
    REQUIRE(c->count > 0);
    if (j->prev)
        job_at(s, j->prev)->next = j->next;
    else
        c->head = j->next;
    if (j->next)
        job_at(s, j->next)->prev = j->prev;
    else
        c->tail = j->prev;
    uint32_t index = j->link;
    j->next = j->prev = j->link = 0;
    if (--c->count == 0) {
        ENSURE(c->head == 0);
        unlist_class(s, index);
        class_free_if_unused(s, index);
    }
}

void ready_park(struct state *s, uint32_t job) {
    struct job *j = job_at(s, job);
    struct flow *f = flow_at(s, j->flow);
    REQUIRE(f->paused);
    REQUIRE(!(j->flags & JOBF_PARKED));
    ready_remove(s, job);
    j->flags |= JOBF_PARKED;
    j->next = f->parked;
    if (f->parked) job_at(s, f->parked)->prev = job;
    f->parked = job;
    job_set_timer(s, job);
}

void ready_unpark(struct state *s, uint32_t job) {
    unpark(s, job);
    ready_push(s, job);
    ENSURE(job_at(s, job)->link != 0);
    job_set_timer(s, job);
}

void ready_drop_preference(struct state *s, uint32_t job) {
    struct job *j = job_at(s, job);
    REQUIRE(j->state == JOB_READY);
    j->flags |= JOBF_PREFER_OVER;
    if (!(j->flags & JOBF_PARKED)) {
        ready_remove(s, job);
        ready_push(s, job);
    }
    job_set_timer(s, job);
}
