/* req_store.c: the shared store of keys over the wire. */
#include "call.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"
#include "target.h"
#include "view_store.h"

#define PAGE_STANDARD 100u
#define PAGE_MAX 1000u
#define KV_UNSENT_MAX (1u << 20)

static struct slice tenant_of(const struct session *n) {
    return n->who.tenant[0] != 0 ? slice_str(n->who.tenant) : SLICE("default");
}

static enum err space_of(struct server *s, const struct request *r, struct slice flow, flow_id *ret, struct why *why) {
    if (flow.len == 0) {
        *ret = (flow_id){0};
        return ERR_OK;
    }
    return target_flow(s, r->session, flow, ret, why);
}

static void send_store(struct server *s, struct request *r, struct command *cmd, enum err e, const struct why *why) {
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    cmd->kind = CMD_STORE;
    cmd->tenant = tenant_of(r->session);
    if (e == ERR_OK)
        call_command(s, r, c, 0, cmd);
    else
        call_refuse(s, r, c, 0, e, why->text);
}

HANDLER(req_kv_change) {
    static const enum store_op ops[WIRE_KV_OP_COUNT] = {STORE_SET,    STORE_DELETE, STORE_INCREASE, STORE_ADD,
                                                        STORE_REMOVE, STORE_EXPIRE, STORE_PUBLISH};
    const struct wire_kv_change *m = r->message;
    struct command cmd = {0};
    struct why why = {{0}};
    struct store_entry *entries = ARENA_ARRAY(r->arena, struct store_entry, m->entries.count + 1);
    struct slice *members = ARENA_ARRAY(r->arena, struct slice, m->members.count + 1);
    const struct wire_kv_entry *from = m->entries.at;
    const struct wire_kv_key *keys = m->members.at;
    for (uint32_t i = 0; i < m->entries.count; i++) entries[i] = (struct store_entry){from[i].key, from[i].value};
    for (uint32_t i = 0; i < m->members.count; i++) members[i] = keys[i].text;
    cmd.as.store = (struct cmd_store){.op = ops[m->op],
                                      .entries = entries,
                                      .entry_count = m->entries.count,
                                      .condition = (enum store_if)m->condition,
                                      .version = m->version,
                                      .key = m->key,
                                      .value = m->value,
                                      .number = m->number,
                                      .members = members,
                                      .member_count = m->members.count,
                                      .expires_ms = m->expires_ms,
                                      .keep_expiry = m->keep_expiry,
                                      .by = r->session->job.job.flow};
    enum err e = space_of(s, r, m->flow, &cmd.as.store.flow, &why);
    send_store(s, r, &cmd, e, &why);
}

/* ---- reading ---- */

struct kv_page {
    struct server *s;
    struct wire_kv_item *items;
    struct wire_kv_key *members;
    uint32_t count;
};

static void page_item(void *ctx, const struct item_view *v) {
    struct kv_page *p = ctx;
    p->items[p->count++] = (struct wire_kv_item){.key = v->key,
                                                 .kind = slice_str(item_kind_words[v->kind]),
                                                 .value = v->value,
                                                 .number = v->kind == ITEM_SET ? v->members : v->number,
                                                 .version = v->version,
                                                 .expires_ms = v->expires.ms == TIME_NEVER ? 0 : v->expires.ms};
}

static void page_member(void *ctx, struct slice member) {
    struct kv_page *p = ctx;
    p->members[p->count++].text = member;
}

HANDLER(req_kv_get) {
    const struct wire_kv_get *m = r->message;
    struct why why = {{0}};
    struct store_place place = {.tenant = tenant_of(r->session)};
    enum err e = space_of(s, r, m->flow, &place.flow, &why);
    if (e == ERR_OK && m->members && m->keys.count != 1)
        e = why_set(&why, ERR_INVALID, "name the set whose members are to be listed");
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    uint32_t most = m->most == 0 ? PAGE_STANDARD : m->most > PAGE_MAX ? PAGE_MAX : m->most;
    uint32_t room = m->keys.count > most ? m->keys.count : most;
    struct store_page page = {.prefix = m->prefix, .after = m->after, .most = most};
    struct kv_page p = {.s = s};
    struct wire_kv_items got = {.lsn = engine_lsn(server_shard(s)->engine)};
    const struct wire_kv_key *keys = m->keys.at;
    wall_time now = engine_now(server_shard(s)->engine);
    const struct state *state = server_state(s);
    if (m->members) {
        p.members = ARENA_ARRAY(r->arena, struct wire_kv_key, room);
        if (!view_members(state, now, place, keys[0].text, &page, page_member, &p, &got.after)) got.after.len = 0;
        got.members = (struct tlv_list){p.members, p.count};
    } else {
        struct item_view v;
        p.items = ARENA_ARRAY(r->arena, struct wire_kv_item, room);
        for (uint32_t i = 0; i < m->keys.count; i++)
            if (view_item(state, now, place, keys[i].text, &v)) page_item(&p, &v);
        if (m->keys.count == 0 && !view_items(state, now, place, &page, page_item, &p, &got.after)) got.after.len = 0;
        got.items = (struct tlv_list){p.items, p.count};
    }
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_KV_ITEMS, FRAME_ANSWER, r->id, &got);
    if (s->out.len > (size_t)s->limits->frame_bytes_max)
        call_refuse(s, r, c, 0, ERR_LIMIT, "the answer is too large: ask for fewer keys");
    else
        call_read(s, r, c, buf_slice(&s->out));
}

/* ---- watching ---- */

/* A watch with the id of another one takes its place. */
static void note_watch(struct u32vec *ids, uint32_t request) {
    for (uint32_t i = 0; i < ids->count; i++)
        if (ids->at[i] == request) return;
    u32vec_push(ids, request);
}

HANDLER(req_kv_watch) {
    const struct wire_kv_watch *m = r->message;
    struct command cmd = {0};
    struct why why = {{0}};
    cmd.as.store = (struct cmd_store){.op = STORE_WATCH,
                                      .key = m->key,
                                      .session = r->session->conn.v,
                                      .watch = r->id,
                                      .prefix = m->prefix,
                                      .of_channel = m->channel};
    enum err e = space_of(s, r, m->flow, &cmd.as.store.flow, &why);
    r->session->watches = true;
    note_watch(&r->session->watch_ids, r->id);
    send_store(s, r, &cmd, e, &why);
}

static bool stop(struct shard *h, void *own, conn_id conn, uint32_t request) {
    struct server *s = h->server;
    struct session *n = session_of(s, conn);
    (void)own;
    struct u32vec *ids = &n->watch_ids;
    uint32_t at = 0;
    while (at < ids->count && ids->at[at] != request) at++;
    if (at == ids->count) return false;
    ids->at[at] = ids->at[--ids->count];
    struct command cmd = {.kind = CMD_STORE, .tenant = tenant_of(n)};
    cmd.as.store = (struct cmd_store){.op = STORE_UNWATCH, .session = conn.v, .watch = request};
    server_command(s, conn, 0, &cmd);
    struct wire_kv_event m = {.lsn = engine_durable_lsn(server_shard(s)->engine)};
    session_answer(s, n, request, WIRE_KV_EVENT, &m);
    return true;
}

struct store_told {
    struct server *s;
    struct wire_kv_event m;
    const struct store_effect *x;
};

static void tell(void *ctx, uint64_t session, uint64_t watch) {
    struct store_told *t = ctx;
    struct session *n = session_of(t->s, (conn_id){session});
    if (n == NULL) return;
    if (n->dialect->changed != NULL) {
        n->dialect->changed(t->s, n, watch, t->x);
        return;
    }
    if (!session_may_be_told(t->s, n, KV_UNSENT_MAX)) {
        n->kv_gap = true;
        return;
    }
    t->m.gap = n->kv_gap;
    n->kv_gap = false;
    session_send(t->s, n, WIRE_KV_EVENT, FRAME_ANSWER | FRAME_MORE, (uint32_t)watch, &t->m);
}

static void effect(struct shard *h, void *own, const struct effect *e) {
    (void)own;
    struct server *s = h->server;
    const struct store_effect *x = &e->as.store;
    struct store_told t = {s, {.lsn = e->lsn, .key = x->key, .version = x->version, .body = x->body}, x};
    (void)engine_watchers(server_shard(s)->engine, e, tell, &t);
}

const struct server_part store_watch_part = {.name = "store_watch",
                                             .scope = PART_OF_SHARD,
                                             .effects = EFFECT_BIT(EFFECT_CHANGED) | EFFECT_BIT(EFFECT_PUBLISHED),
                                             .effect = effect,
                                             .stop = stop};
