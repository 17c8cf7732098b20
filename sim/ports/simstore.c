/* simstore.c: see simstore.h. */
#include "simstore.h"

#include "panic.h"
#include "sim_workload.h"
#include "view_store.h"
#include "world.h"

#define KEYS 6u
#define VALUES 5u

static const struct slice keys[KEYS] = {{(const uint8_t *)"a", 1},   {(const uint8_t *)"b", 1},
                                        {(const uint8_t *)"a/1", 3}, {(const uint8_t *)"a/2", 3},
                                        {(const uint8_t *)"set", 3}, {(const uint8_t *)"n", 1}};
static const struct slice values[VALUES] = {{(const uint8_t *)"0", 1},
                                            {(const uint8_t *)"17", 2},
                                            {(const uint8_t *)"red", 3},
                                            {(const uint8_t *)"blue", 4},
                                            {(const uint8_t *)"-5", 2}};

static struct slice any_key(struct simclient *c) {
    return keys[rng_below(&c->store_rng, KEYS)];
}

static struct slice any_value(struct simclient *c) {
    return values[rng_below(&c->store_rng, VALUES)];
}

static int64_t soon(struct simclient *c) {
    if (rng_below(&c->store_rng, 3)) return 0;
    return world_true(c->w).ms + rng_range(&c->store_rng, 5, rng_below(&c->store_rng, 2) ? 400 : 6000);
}

static void fill_entries(struct simclient *c, struct msg *m, uint32_t count) {
    struct store_entry *entries = ARENA_ARRAY(&m->arena, struct store_entry, count);
    for (uint32_t i = 0; i < count; i++) entries[i] = (struct store_entry){any_key(c), any_value(c)};
    m->cmd.as.store.entries = entries;
    m->cmd.as.store.entry_count = count;
}

/* A version that may well be the present one: the highest this client was ever told of the key. */
static uint64_t a_version(struct simclient *c, struct slice key) {
    for (uint32_t i = 0; i < KEYS; i++)
        if (slice_eq(keys[i], key)) return rng_below(&c->store_rng, 6) ? c->store_versions[i] : 0;
    return 0;
}

static void draw_change(struct simclient *c, struct msg *m) {
    struct cmd_store *s = &m->cmd.as.store;
    bool many = rng_below(&c->store_rng, 4) == 0;
    s->op = rng_below(&c->store_rng, 3) ? STORE_SET : STORE_DELETE;
    fill_entries(c, m, many ? 2 + rng_below(&c->store_rng, TRACE_STORE_MAX - 1) : 1);
    s->condition = (enum store_if)rng_below(&c->store_rng, STORE_IF_COUNT);
    if (rng_below(&c->store_rng, 3) == 0) s->condition = STORE_ALWAYS;
    s->value = any_value(c);
    s->version = a_version(c, s->entries[0].key);
    s->expires_ms = s->op == STORE_SET ? soon(c) : 0;
    s->keep_expiry = s->op == STORE_SET && rng_below(&c->store_rng, 4) == 0;
}

static void draw_members(struct simclient *c, struct msg *m) {
    struct cmd_store *s = &m->cmd.as.store;
    uint32_t count = 1 + rng_below(&c->store_rng, 3);
    struct slice *list = ARENA_ARRAY(&m->arena, struct slice, count);
    for (uint32_t i = 0; i < count; i++) list[i] = any_value(c);
    s->op = rng_below(&c->store_rng, 3) ? STORE_ADD : STORE_REMOVE;
    s->key = rng_below(&c->store_rng, 4) ? keys[4] : any_key(c);
    s->members = list;
    s->member_count = count;
}

static void draw_watch(struct simclient *c, struct msg *m) {
    struct cmd_store *s = &m->cmd.as.store;
    uint32_t what = rng_below(&c->store_rng, 4);
    s->op = what == 0 ? STORE_UNWATCH : what == 1 ? STORE_PUBLISH : STORE_WATCH;
    s->key = any_key(c);
    s->value = any_value(c);
    s->session = c->node;
    s->watch = 1 + rng_below(&c->store_rng, 20); /* the request that began it, perhaps */
    s->prefix = rng_below(&c->store_rng, 2);
    s->of_channel = rng_below(&c->store_rng, 2);
}

static void draw_command(struct simclient *c, struct msg *m) {
    struct cmd_store *s = &m->cmd.as.store;
    switch (rng_below(&c->store_rng, 10)) {
    case 0:
    case 1:
    case 2:
    case 3: draw_change(c, m); return;
    case 4:
    case 5: draw_members(c, m); return;
    case 6:
        s->op = STORE_INCREASE;
        s->key = rng_below(&c->store_rng, 2) ? keys[5] : any_key(c);
        s->number = rng_range(&c->store_rng, -3, 9);
        return;
    case 7:
    case 8:
        s->op = STORE_EXPIRE;
        s->key = any_key(c);
        s->expires_ms = rng_below(&c->store_rng, 4) ? soon(c) : 1;
        return;
    default: draw_watch(c, m); return;
    }
}

void simstore_act(struct simclient *c) {
    bool reads = rng_below(&c->store_rng, 3) == 0;
    struct msg *m = simclient_message(c, reads ? CMD_READ : CMD_STORE);
    m->cmd.tenant = workload_tenants[rng_below(&c->store_rng, WORKLOAD_TENANTS)];
    flow_id flow = {0};
    if (c->w->flows.count && rng_below(&c->store_rng, 3) == 0) {
        uint32_t back = (uint32_t)rng_skewed(&c->store_rng, c->w->flows.count - 1);
        flow = ((struct known_flow *)vec_at(&c->w->flows, c->w->flows.count - 1 - back))->id;
    }
    if (reads) {
        m->read = READ_STORE;
        m->read_flow = flow;
        m->key_count = 1 + rng_below(&c->store_rng, TRACE_STORE_MAX);
        for (uint32_t i = 0; i < m->key_count; i++) m->keys[i] = any_key(c);
    } else {
        m->cmd.as.store.flow = flow;
        draw_command(c, m);
        m->cmd.as.store.flow = flow;
    }
    simclient_ask(c, m);
}

/* ---- the server's side ---- */

static void add_member(void *ctx, struct slice member) {
    struct buf *out = ctx;
    buf_put_slice(out, member);
    buf_put_u8(out, 0);
}

static struct slice shown(const struct serverhost *s, struct msg *m, struct store_place place,
                          const struct item_view *item) {
    char text[24];
    if (item->kind == ITEM_TEXT) return arena_slice(&m->arena, item->value);
    if (item->kind == ITEM_NUMBER) {
        int len = snprintf(text, sizeof text, "%lld", (long long)item->number);
        return arena_slice(&m->arena, slice_of(text, (size_t)len));
    }
    struct buf members;
    struct slice last = {0};
    buf_init(&members, 4096);
    struct store_page page = {.after = slice_of(item->key.ptr, 0), .most = 2}; /* in several pages */
    while (view_members(engine_state(s->engine), engine_now(s->engine), place, item->key, &page, add_member, &members,
                        &last))
        page.after = last;
    struct slice ret = arena_slice(&m->arena, buf_slice(&members));
    buf_fini(&members);
    return ret;
}

/* What a reader of the store is shown at this moment of the sets that it asked for: the wire tells only how many. */
static void look(const struct serverhost *s, const struct msg *ask, struct msg *m) {
    struct store_place place = {ask->cmd.tenant, ask->read_flow};
    for (uint32_t i = 0; i < ask->key_count; i++) {
        struct item_view item;
        if (view_item(engine_state(s->engine), engine_now(s->engine), place, ask->keys[i], &item))
            m->items[i].value = shown(s, m, place, &item);
    }
}

static void count_watcher(void *ctx, uint64_t session, uint64_t id) {
    uint64_t *sum = ctx;
    *sum = *sum * 31 + session * 7 + id;
}

void simstore_released(struct serverhost *s, const struct effect *e) {
    const struct store_effect *x = &e->as.store;
    uint64_t sum = 0;
    engine_watchers(s->engine, e, count_watcher, &sum);
    WORLD_NOTE(s->w, e->kind, x->version, sum, "server: %s %.*s in %.*s/%lu, version %lu",
               e->kind == EFFECT_CHANGED ? "change of" : "message on", SLICE_FMT(x->key), SLICE_FMT(x->tenant),
               (unsigned long)x->flow.v, (unsigned long)x->version);
    if (x->version > e->lsn) world_red(s->w, "watch", "a change is told before its record");
}

/* ---- for the judges ---- */

static struct trace_bytes bytes(struct slice s) {
    return (struct trace_bytes){s.ptr, (uint32_t)s.len};
}

/* A namespace that is not there, or is another tenant's, is refused before it is read. */
static bool may_read(const struct serverhost *s, const struct msg *ask) {
    struct flow_view flow;
    if (ask->cmd.kind != CMD_READ || ask->read != READ_STORE) return false;
    if (ask->read_flow.v == 0) return true;
    return view_flow(engine_state(s->engine), ask->read_flow, &flow) && slice_eq(flow.tenant, ask->cmd.tenant);
}

static void tell_command(const struct cmd_store *c, struct trace_store *t) {
    static const enum trace_store_op ops[] = {
        [STORE_SET] = TB_SET, [STORE_DELETE] = TB_DELETE, [STORE_INCREASE] = TB_INCREASE,
        [STORE_ADD] = TB_ADD, [STORE_REMOVE] = TB_REMOVE, [STORE_EXPIRE] = TB_EXPIRE,
    };
    static const enum trace_store_if conditions[] = {
        [STORE_ALWAYS] = TI_ALWAYS,      [STORE_IF_ABSENT] = TI_ABSENT, [STORE_IF_PRESENT] = TI_PRESENT,
        [STORE_IF_VERSION] = TI_VERSION, [STORE_IF_VALUE] = TI_VALUE,
    };
    t->op = ops[c->op];
    t->condition = conditions[c->condition];
    t->version = c->version;
    t->value = bytes(c->value);
    t->number = c->number;
    t->expires_ms = c->expires_ms;
    t->keep_expiry = c->keep_expiry;
    t->keys[0] = bytes(c->key);
    t->count = c->entry_count ? c->entry_count : c->member_count;
    ENSURE(t->count <= TRACE_STORE_MAX);
    for (uint32_t i = 0; i < c->entry_count; i++) {
        t->keys[i] = bytes(c->entries[i].key);
        t->values[i] = bytes(c->entries[i].value);
    }
    for (uint32_t i = 0; i < c->member_count; i++) t->values[i] = bytes(c->members[i]);
}

void simstore_decided(struct serverhost *s, uint64_t call, struct peer_pending *p, const struct command *cmd,
                      uint64_t lsn_before) {
    bool changes = cmd->kind == CMD_STORE && cmd->as.store.op < STORE_PUBLISH;
    bool reads = cmd->kind == CMD_READ && p != NULL && may_read(s, p->ask);
    if (!changes && !reads) return;
    if (p != NULL && p->answer == NULL) p->answer = simmsg_new(&s->w->msgs, p->ask->node);
    if (p != NULL) p->answer->told = true;
    struct trace_entry e = {.kind = TA_STORE};
    struct trace_store *t = &e.as.store;
    t->call = call;
    t->lsn = engine_lsn(s->engine);
    t->recorded = t->lsn > lsn_before;
    t->decided_ms = engine_now(s->engine).ms;
    t->tenant = bytes(changes ? cmd->tenant : p->ask->cmd.tenant);
    if (changes) {
        t->flow = cmd->as.store.flow.v;
        tell_command(&cmd->as.store, t);
    } else {
        look(s, p->ask, p->answer);
        t->op = TB_READ;
        t->flow = p->ask->read_flow.v;
        t->count = p->ask->key_count;
        for (uint32_t i = 0; i < p->ask->key_count; i++) t->keys[i] = bytes(p->ask->keys[i]);
    }
    adapter_judge(&s->w->adapter, &e);
}

static void learn_version(struct simclient *c, struct slice key, uint64_t version) {
    for (uint32_t i = 0; i < KEYS; i++)
        if (slice_eq(keys[i], key)) c->store_versions[i] = version;
}

void simstore_answered(struct simclient *c, const struct msg *m) {
    struct trace_entry e = {.kind = TA_STORE_ANSWER};
    struct trace_store_answer *t = &e.as.store_answer;
    t->call = m->call;
    t->answer = adapter_answer(m->reply.err);
    t->number = m->reply.number;
    t->version = m->reply.version;
    for (uint32_t i = 0; i < m->key_count; i++) {
        t->items[i] = (struct trace_store_item){m->items[i].found, bytes(m->items[i].value), m->items[i].version,
                                                m->items[i].expires_ms};
        learn_version(c, m->keys[i], m->items[i].version);
    }
    const struct msg *asked = c->asking;
    if (asked && m->request == asked->request && asked->cmd.kind == CMD_STORE && asked->cmd.as.store.entry_count)
        learn_version(c, asked->cmd.as.store.entries[0].key, m->reply.version);
    adapter_judge(&c->w->adapter, &e);
}
