/* quota.c: see quota.h. */
#include "quota.h"

#include "class.h"
#include "flow.h"
#include "mutant.h"
#include "panic.h"
#include "timer.h"

#define NAME_BYTES_MAX 255u
#define HEAD_BYTES 5u /* u32 tenant, u8 kind; never leave the process: byte order does not matter */

/* ---- names ---- */

static struct slice quota_text(const void *ctx, uint32_t value) {
    return bytes_slice(quota_at(ctx, value)->text);
}

static struct slice make_text(uint8_t at[HEAD_BYTES + NAME_BYTES_MAX], uint32_t tenant, enum limit_kind kind,
                              struct slice name) {
    REQUIRE(name.len > 0);
    REQUIRE(name.len <= NAME_BYTES_MAX);
    memcpy(at, &tenant, 4);
    at[4] = (uint8_t)kind;
    memcpy(at + HEAD_BYTES, name.ptr, name.len);
    return slice_of(at, HEAD_BYTES + name.len);
}

uint32_t quota_find(const struct state *s, uint32_t tenant, enum limit_kind kind, struct slice name) {
    uint8_t at[HEAD_BYTES + NAME_BYTES_MAX];
    if (tenant == 0 || name.len == 0 || name.len > NAME_BYTES_MAX) return 0;
    return index_get(&s->quota_by_text, make_text(at, tenant, kind, name), quota_text, s);
}

uint32_t quota_take(struct state *s, uint32_t tenant, enum limit_kind kind, struct slice name) {
    REQUIRE(kind == LIMIT_KEY || kind == LIMIT_RATE);
    uint32_t index = quota_find(s, tenant, kind, name);
    if (index) return index;
    uint8_t at[HEAD_BYTES + NAME_BYTES_MAX];
    struct slice text = make_text(at, tenant, kind, name);
    index = pool_alloc(&s->quotas);
    ENSURE(index != 0);
    *quota_at(s, index) = (struct quota){.text = bytes_new(text), .tenant = tenant, .kind = (uint8_t)kind};
    index_put(&s->quota_by_text, text, index);
    return index;
}

struct slice quota_name(const struct quota *q) {
    struct slice text = bytes_slice(q->text);
    ENSURE(text.len > HEAD_BYTES);
    return slice_of(text.ptr + HEAD_BYTES, text.len - HEAD_BYTES);
}

/* A name that nobody set and nobody uses is forgotten. An open attempt holds its job, and so its profile. */
static void free_if_unused(struct state *s, uint32_t index) {
    struct quota *q = quota_at(s, index);
    if (q->is_set || q->refs) return;
    ENSURE(q->taken == 0 || MUTANT(key_not_returned));
    ENSURE(q->waiting == 0);
    timer_set(s, TIMER_QUOTA, index, (wall_time){TIME_NEVER});
    index_del(&s->quota_by_text, bytes_slice(q->text), index);
    bytes_free(q->text);
    q->text = NULL;
    pool_free(&s->quotas, index);
}

/* ---- rates ---- */

uint64_t quota_level(const struct quota *q, wall_time now) {
    uint64_t full = q->burst * TOKEN;
    if (q->kind != LIMIT_RATE || !q->is_set || now.ms <= q->filled.ms) return q->level;
    REQUIRE(q->rate_milli > 0);
    uint64_t lacking = full > q->level ? full - q->level : 0;
    uint64_t rate = MUTANT(rate_refilled_twice) ? q->rate_milli * 2 : q->rate_milli;
    uint64_t elapsed_ms = (uint64_t)(now.ms - q->filled.ms);
    if (elapsed_ms > lacking / rate) return full; /* also keeps the product in range */
    return q->level + elapsed_ms * rate;
}

/* When it will hold a whole token; asked of one that holds none. */
static wall_time next_token(const struct quota *q) {
    REQUIRE(q->level < TOKEN);
    uint64_t lacking = TOKEN - q->level;
    return (wall_time){q->filled.ms + (int64_t)((lacking + q->rate_milli - 1) / q->rate_milli)};
}

static void fill(struct quota *q, wall_time now) {
    q->level = quota_level(q, now);
    if (now.ms > q->filled.ms) q->filled = now;
}

/* ---- setting ---- */

static void set_rate(struct quota *q, const struct rec_limit *rec, wall_time now) {
    REQUIRE(quota_rate_is_sound(rec->rate_milli, rec->burst));
    bool was_set = q->is_set;
    if (was_set) fill(q, now);
    q->rate_milli = rec->rate_milli;
    q->burst = rec->burst;
    uint64_t full = q->burst * TOKEN;
    /* a change brings no tokens: what was spent before stays spent */
    if (!was_set || q->level > full) q->level = full;
    q->filled = now;
}

static void clear(struct state *s, uint32_t index) {
    struct quota *q = quota_at(s, index);
    q->is_set = false;
    q->width = 0;
    q->rate_milli = q->burst = q->level = 0;
    q->filled.ms = 0;
    timer_set(s, TIMER_QUOTA, index, (wall_time){TIME_NEVER});
}

static void set_tenant(struct tenant *t, const struct rec_limit *rec) {
    t->running_max = rec->clear ? 0 : rec->running;
    t->queued_max = rec->clear ? 0 : rec->queued;
    t->bytes_max = rec->clear ? 0 : rec->bytes;
}

void quota_set(struct state *s, uint32_t tenant, const struct rec_limit *rec) {
    REQUIRE(tenant != 0);
    if (rec->kind == LIMIT_TENANT) {
        set_tenant(tenant_at(s, tenant), rec);
        return;
    }
    uint32_t index = quota_take(s, tenant, rec->kind, rec->name);
    struct quota *q = quota_at(s, index);
    class_release(s, index); /* the next round looks at them with the new numbers */
    if (rec->clear) {
        clear(s, index);
        free_if_unused(s, index);
        return;
    }
    if (rec->kind == LIMIT_RATE)
        set_rate(q, rec, s->now);
    else
        q->width = rec->width;
    q->is_set = true;
}

/* ---- use ---- */

void quota_ref(struct state *s, struct profile *p) {
    const struct tlv_list *lists[] = {&p->options.demand.keys, &p->options.demand.rates};
    const enum limit_kind kinds[] = {LIMIT_KEY, LIMIT_RATE};
    uint32_t most = lists[0]->count + lists[1]->count;
    if (most == 0) return;
    REQUIRE(p->quota_count == 0);
    p->quotas = ARENA_ARRAY(&p->arena, uint32_t, most);
    for (uint32_t k = 0; k < 2; k++) {
        const struct name_item *items = lists[k]->at;
        for (uint32_t i = 0; i < lists[k]->count; i++) {
            if (items[i].name.len == 0) continue; /* decide lets none pass; a file might */
            uint32_t index = quota_take(s, p->tenant, kinds[k], items[i].name);
            quota_at(s, index)->refs++;
            p->quotas[p->quota_count++] = index;
        }
    }
    ENSURE(p->quota_count <= most);
}

void quota_unref(struct state *s, struct profile *p) {
    for (uint32_t i = 0; i < p->quota_count; i++) {
        struct quota *q = quota_at(s, p->quotas[i]);
        REQUIRE(q->refs > 0);
        q->refs--;
        free_if_unused(s, p->quotas[i]);
    }
    p->quota_count = 0;
}

void quota_count_run(struct state *s, const struct job *j, int sign) {
    const struct profile *p = profile_at(s, j->profile);
    struct tenant *t = tenant_at(s, p->tenant);
    REQUIRE(sign > 0 || t->running > 0);
    t->running += (uint32_t)sign;
    if (MUTANT(key_not_returned) && sign < 0) return;
    for (uint32_t i = 0; i < p->quota_count; i++) {
        struct quota *q = quota_at(s, p->quotas[i]);
        if (q->kind != LIMIT_KEY) continue;
        REQUIRE(sign > 0 || q->taken > 0);
        q->taken += (uint32_t)sign;
        if (sign < 0 && q->waiting) class_release(s, p->quotas[i]);
    }
}

void quota_count_job(struct state *s, const struct job *j, int sign) {
    struct tenant *t = tenant_at(s, flow_at(s, j->flow)->tenant);
    uint64_t bytes = j->part == PART_CHILD ? 0 : job_text(j).len; /* a child has the message of its foreach job */
    REQUIRE(sign > 0 || t->queued > 0);
    REQUIRE(sign > 0 || t->queued_bytes >= bytes);
    t->queued += (uint64_t)(int64_t)sign;
    t->queued_bytes += (uint64_t)(int64_t)sign * bytes;
}

/* Saturates: decide sees to it that a token is there, and a file must not make us panic. */
void quota_spend(struct state *s, const struct job *j) {
    const struct profile *p = profile_at(s, j->profile);
    for (uint32_t i = 0; i < p->quota_count; i++) {
        struct quota *q = quota_at(s, p->quotas[i]);
        if (q->kind != LIMIT_RATE || !q->is_set) continue;
        fill(q, s->now);
        q->level = q->level > TOKEN ? q->level - TOKEN : 0;
    }
}

/* ---- holding ---- */

static bool key_is_taken(const struct quota *q) {
    REQUIRE(q->kind == LIMIT_KEY);
    uint64_t width = quota_width(q);
    if (MUTANT(limit_off_by_one)) width++;
    return q->taken >= width;
}

bool quota_holds(const struct state *s, const struct class_ *c, wall_time now, struct hold *ret) {
    for (uint32_t i = 0; i < c->quota_count; i++) { /* keys come first */
        const struct quota *q = quota_at(s, c->quotas[i]);
        if (q->kind == LIMIT_KEY && key_is_taken(q)) {
            *ret = (struct hold){LIMIT_KEY, c->quotas[i], {TIME_NEVER}};
            return true;
        }
        if (q->kind == LIMIT_RATE && q->is_set && quota_level(q, now) < TOKEN) {
            *ret = (struct hold){LIMIT_RATE, c->quotas[i], next_token(q)};
            ENSURE(ret->until.ms > now.ms);
            return true;
        }
    }
    const struct tenant *t = tenant_at(s, c->tenant);
    if (t->running_max == 0 || t->running < t->running_max || MUTANT(running_unlimited)) return false;
    *ret = (struct hold){LIMIT_TENANT, 0, {TIME_NEVER}};
    return true;
}
