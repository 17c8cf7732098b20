/* memo.c: see memo.h. */
#include "memo.h"

#include "flow.h"
#include "job_transition.h"
#include "mutant.h"
#include "panic.h"
#include "registry.h"
#include "timer.h"

/* What it costs to keep an entry, beside its result. */
#define ENTRY_BYTES 160u

static struct memo_job *of_job(const struct state *s, const struct job *j) {
    uint32_t index = j->extra ? extra_at(s, j->extra)->memo : 0;
    return index ? memo_job_at(s, index) : NULL;
}

/* ---- keys ---- */

static struct slice key_of(const void *ctx, uint32_t value) {
    return bytes_slice(memo_at(ctx, value)->key);
}

struct key_text {
    uint8_t at[4 + MEMO_KEY_BYTES];
};

static struct slice key_text(struct key_text *text, uint32_t tenant, struct slice key) {
    REQUIRE(key.len == MEMO_KEY_BYTES);
    memcpy(text->at, &tenant, 4);
    memcpy(text->at + 4, key.ptr, key.len);
    return slice_of(text->at, sizeof text->at);
}

struct slice memo_key(const struct memo *m) {
    struct slice text = bytes_slice(m->key);
    return slice_of(text.ptr + 4, text.len - 4);
}

uint32_t memo_find(const struct state *s, uint32_t tenant, struct slice key) {
    struct key_text text;
    return index_get(&s->memo_by_key, key_text(&text, tenant, key), key_of, s);
}

static uint32_t memo_take(struct state *s, uint32_t tenant, struct slice key) {
    uint32_t index = memo_find(s, tenant, key);
    if (index) return index;
    index = pool_alloc(&s->memos);
    ENSURE(index != 0);
    struct key_text text;
    struct slice own = key_text(&text, tenant, key);
    *memo_at(s, index) = (struct memo){.key = bytes_new(own), .tenant = tenant};
    index_put(&s->memo_by_key, own, index);
    return index;
}

static void free_if_unused(struct state *s, uint32_t index) {
    struct memo *m = memo_at(s, index);
    if (m->refs || memo_has_entry(m)) return;
    REQUIRE(m->waiting.head == 0);
    REQUIRE(m->waiting.tail == 0);
    REQUIRE(m->timer == 0);
    index_del(&s->memo_by_key, bytes_slice(m->key), index);
    memo_release_memory(m);
    pool_free(&s->memos, index);
}

void memo_release_memory(struct memo *m) {
    bytes_free(m->key);
    bytes_free(m->result);
    bytes_free(m->result_hash);
    bytes_free(m->artifacts);
}

/* ---- lists ---- */

static void append(struct state *s, struct memo_list *list, uint32_t index) {
    struct memo_job *x = memo_job_at(s, index);
    REQUIRE(!x->is_listed);
    REQUIRE(x->next == 0);
    REQUIRE((list->head == 0) == (list->tail == 0));
    x->is_listed = true;
    x->prev = list->tail;
    if (list->tail)
        memo_job_at(s, list->tail)->next = index;
    else
        list->head = index;
    list->tail = index;
}

/* Off whichever list: only the ends of a list know which it is. */
static void unlink_job(struct state *s, uint32_t index) {
    struct memo_job *x = memo_job_at(s, index);
    if (!x->is_listed) return;
    struct memo_list *waiting = &memo_at(s, x->memo)->waiting;
    if (x->prev)
        memo_job_at(s, x->prev)->next = x->next;
    else
        *(s->asking.head == index ? &s->asking.head : &waiting->head) = x->next;
    if (x->next)
        memo_job_at(s, x->next)->prev = x->prev;
    else
        *(s->asking.tail == index ? &s->asking.tail : &waiting->tail) = x->prev;
    x->next = x->prev = 0;
    x->is_listed = false;
}

void memo_ask(struct state *s, uint32_t job) {
    const struct job *j = job_at(s, job);
    struct memo_job *x = of_job(s, j);
    if (x == NULL) return;
    REQUIRE(j->state == JOB_READY || j->state == JOB_SUCCEEDED);
    append(s, &s->asking, extra_at(s, j->extra)->memo);
}

void memo_succeeded(struct state *s, uint32_t job) {
    const struct memo_job *x = of_job(s, job_at(s, job));
    if (x && x->from.flow.v == 0) memo_ask(s, job);
}

void memo_unask(struct state *s, const struct job *j) {
    if (of_job(s, j)) unlink_job(s, extra_at(s, j->extra)->memo);
}

static void move_to(struct state *s, uint32_t job, struct memo_list *list) {
    REQUIRE(job_at(s, job)->state == JOB_READY);
    uint32_t index = extra_at(s, job_at(s, job)->extra)->memo;
    unlink_job(s, index);
    append(s, list, index);
}

void memo_put_off(struct state *s, uint32_t job) {
    move_to(s, job, &s->asking);
}

void memo_wait(struct state *s, uint32_t job) {
    move_to(s, job, &memo_at(s, of_job(s, job_at(s, job))->memo)->waiting);
}

/* A result was kept: whoever waits for one asks again. All at once, however many they are. */
static void wake(struct state *s, struct memo *m) {
    if (m->waiting.head == 0) return;
    memo_job_at(s, m->waiting.head)->prev = s->asking.tail;
    if (s->asking.tail)
        memo_job_at(s, s->asking.tail)->next = m->waiting.head;
    else
        s->asking.head = m->waiting.head;
    s->asking.tail = m->waiting.tail;
    m->waiting = (struct memo_list){0};
}

/* ---- jobs ---- */

void memo_name(struct state *s, uint32_t job, struct slice key, bool is_rendered) {
    struct job *j = job_at(s, job);
    REQUIRE(j->state != JOB_READY);
    REQUIRE(j->state != JOB_SUCCEEDED);
    struct extra *x = job_extra(s, j);
    uint32_t memo = memo_take(s, flow_at(s, j->flow)->tenant, key);
    memo_at(s, memo)->refs++;
    if (x->memo) memo_unname(s, job);
    x->memo = pool_alloc(&s->memo_jobs);
    ENSURE(x->memo != 0);
    *memo_job_at(s, x->memo) = (struct memo_job){.job = job, .memo = memo, .is_rendered = is_rendered};
}

void memo_unname(struct state *s, uint32_t job) {
    const struct job *j = job_at(s, job);
    struct memo_job *x = of_job(s, j);
    if (x == NULL) return;
    uint32_t memo = x->memo;
    REQUIRE(memo_at(s, memo)->refs > 0);
    memo_unask(s, j);
    pool_free(&s->memo_jobs, extra_at(s, j->extra)->memo);
    extra_at(s, j->extra)->memo = 0;
    memo_at(s, memo)->refs--;
    free_if_unused(s, memo);
}

void memo_reset(struct state *s, uint32_t job) {
    struct memo_job *x = of_job(s, job_at(s, job));
    if (x == NULL) return;
    x->from = (struct job_ref){0};
    if (!x->is_rendered) return;
    memo_unname(s, job);
    struct rec_job rec;
    job_record(job_at(s, job), &s->scratch, &rec);
    if (rec.cache_key.len) memo_name(s, job, rec.cache_key, false);
}

/* ---- entries ---- */

uint64_t memo_cost(struct slice result, struct slice artifacts) {
    return ENTRY_BYTES + result.len + artifacts.len;
}

static void clear_entry(struct state *s, uint32_t index) {
    struct memo *m = memo_at(s, index);
    struct tenant *t = tenant_at(s, m->tenant);
    if (!memo_has_entry(m)) return;
    *(m->older ? &memo_at(s, m->older)->newer : &t->memo_oldest) = m->newer;
    *(m->newer ? &memo_at(s, m->newer)->older : &t->memo_newest) = m->older;
    uint64_t cost = memo_cost(bytes_slice(m->result), bytes_slice(m->artifacts));
    REQUIRE(t->memo_count > 0);
    REQUIRE(t->memo_bytes >= cost);
    t->memo_count--;
    t->memo_bytes -= cost;
    timer_set(s, TIMER_MEMO, index, (wall_time){TIME_NEVER});
    bytes_free(m->result);
    bytes_free(m->result_hash);
    bytes_free(m->artifacts);
    m->result = m->result_hash = m->artifacts = NULL;
    m->older = m->newer = 0;
    m->from = (struct job_ref){0};
}

static void set_entry(struct state *s, uint32_t index, struct job_ref from, wall_time expires, struct slice result,
                      struct slice result_hash, struct slice artifacts) {
    struct memo *m = memo_at(s, index);
    struct tenant *t = tenant_at(s, m->tenant);
    REQUIRE(from.flow.v != 0);
    clear_entry(s, index);
    m->from = from;
    m->expires = expires;
    m->result = bytes_new(result);
    m->result_hash = bytes_new(result_hash);
    m->artifacts = bytes_new(artifacts);
    m->older = t->memo_newest;
    *(m->older ? &memo_at(s, m->older)->newer : &t->memo_oldest) = index;
    t->memo_newest = index;
    t->memo_count++;
    t->memo_bytes += memo_cost(result, artifacts);
    timer_set(s, TIMER_MEMO, index, expires);
}

void memo_drop(struct state *s, uint32_t memo) {
    REQUIRE(memo != 0);
    REQUIRE(memo_has_entry(memo_at(s, memo)));
    clear_entry(s, memo);
    free_if_unused(s, memo);
}

void memo_keep(struct state *s, uint32_t job, wall_time expires) {
    const struct job *j = job_at(s, job);
    const struct memo_job *x = of_job(s, j);
    REQUIRE(x != NULL);
    REQUIRE(x->from.flow.v == 0); /* a result that was given is not given on */
    REQUIRE(j->state == JOB_SUCCEEDED);
    const struct extra *e = extra_at(s, j->extra);
    memo_unask(s, j);
    set_entry(s, x->memo, job_ref_of(s, j), expires, e->result, e->result_hash, e->artifacts);
    wake(s, memo_at(s, x->memo));
}

void memo_hit(struct state *s, uint32_t job) {
    struct job *j = job_at(s, job);
    struct memo_job *x = of_job(s, j);
    REQUIRE(x != NULL);
    REQUIRE(j->state == JOB_READY);
    const struct memo *m = memo_at(s, x->memo);
    REQUIRE(memo_has_entry(m));
    x->from = m->from;
    job_extra(s, j)->artifacts = arena_slice(&flow_at(s, j->flow)->arena, bytes_slice(m->artifacts));
    job_succeed(s, job, bytes_slice(m->result), bytes_slice(m->result_hash));
}

static bool is_same(struct job_ref a, struct job_ref b) {
    return a.flow.v == b.flow.v && a.ordinal == b.ordinal;
}

void memo_taint(struct state *s, const struct job *j) {
    const struct memo_job *x = of_job(s, j);
    if (x == NULL || MUTANT(memo_quarantined_served)) return;
    const struct memo *m = memo_at(s, x->memo);
    struct job_ref source = x->from.flow.v ? x->from : job_ref_of(s, j);
    if (memo_has_entry(m) && is_same(m->from, source)) memo_drop(s, x->memo);
}

/* ---- snapshots ---- */

struct snap_memo memo_object(const struct state *s, const struct memo *m) {
    return (struct snap_memo){.tenant = bytes_slice(tenant_at(s, m->tenant)->name),
                              .key = memo_key(m),
                              .flow = m->from.flow.v,
                              .ordinal = m->from.ordinal,
                              .expires_ms = m->expires.ms,
                              .result = bytes_slice(m->result),
                              .result_hash = bytes_slice(m->result_hash),
                              .artifacts = bytes_slice(m->artifacts)};
}

enum err memo_load(struct state *s, const struct snap_memo *o, struct why *why) {
    uint32_t tenant = tenant_find(s, o->tenant);
    bool fits = tenant != 0 && rec_artifacts_fit(o->artifacts) && o->key.len == MEMO_KEY_BYTES && o->flow != 0 &&
                o->expires_ms >= 0 && o->expires_ms / 4 <= TIME_MS_MAX;
    uint32_t memo = fits ? memo_find(s, tenant, o->key) : 0;
    if (!fits || (memo && memo_has_entry(memo_at(s, memo))))
        return why_set(why, ERR_CORRUPT, "a snapshot does not fit together: a result of nobody, or twice");
    set_entry(s, memo_take(s, tenant, o->key), (struct job_ref){{o->flow}, o->ordinal}, (wall_time){o->expires_ms},
              o->result, o->result_hash, o->artifacts);
    return ERR_OK;
}
