/* decide_store.c: what may happen to the shared store. See store.h and decide.h.
 *
 * A key whose time is over is taken as absent; before anything is done to it, the record that removes it is written, as
 * the tick would have done a moment later. */
#include "decide.h"
#include "flow.h"
#include "mutant.h"
#include "panic.h"
#include "registry.h"
#include "store.h"
#include "timer.h"

#define ENTRY_RECORD_BYTES 64u /* beside key and value, with a record of its expiry before it */

struct place {         /* the namespace of a command */
    struct slice name; /* of the tenant */
    uint32_t tenant;   /* 0 = not seen yet */
    uint64_t flow;
    uint32_t space; /* 0 = it has no keys yet */
    uint64_t by;    /* flow whose job asks, when a schedule made it */
};

static enum err find_place(struct decision *d, const struct command *cmd, struct place *ret) {
    const struct state *s = d->state;
    flow_id flow = cmd->as.store.flow;
    *ret = (struct place){.name = cmd->tenant, .flow = flow.v};
    if (flow.v) {
        uint32_t index = 0;
        enum err e = decide_flow(d, cmd, flow, &index);
        if (e != ERR_OK) return e;
        ret->tenant = flow_at(s, index)->tenant;
        ret->name = bytes_slice(tenant_at(s, ret->tenant)->name);
    } else {
        enum err e = decide_name(d, cmd->tenant, "a tenant");
        if (e != ERR_OK) return e;
        ret->tenant = tenant_find(s, cmd->tenant);
    }
    ret->space = space_find(&s->store, ret->tenant, flow.v);
    return ERR_OK;
}

static enum err check_text(struct decision *d, struct slice text, const char *what) {
    if (text.len == 0) return refuse(d, ERR_INVALID, "%s must not be empty", what);
    if (text.len > (size_t)d->limits->store_key_bytes_max)
        return refuse(d, ERR_LIMIT, "%s is longer than %lld bytes (store_key_bytes_max)", what,
                      (long long)d->limits->store_key_bytes_max);
    return ERR_OK;
}

static enum err check_number(struct decision *d, uint32_t count) {
    if (count == 0) return refuse(d, ERR_INVALID, "name at least one key");
    if (count > d->limits->store_entries_max)
        return refuse(d, ERR_LIMIT, "%u keys or members at once are more than %lld (store_entries_max)", count,
                      (long long)d->limits->store_entries_max);
    return ERR_OK;
}

static enum err check_expiry(struct decision *d, int64_t expires_ms) {
    if (expires_ms == 0) return ERR_OK;
    if (expires_ms <= d->in->wall.ms) return refuse(d, ERR_INVALID, "the time to expire is in the past");
    if (expires_ms - d->in->wall.ms > d->limits->store_ttl_ms_max)
        return refuse(d, ERR_LIMIT, "the time to expire is too far away (store_ttl_ms_max)");
    return ERR_OK;
}

/* Room for `keys` more keys and `bytes` more bytes, and for the record itself. */
static enum err check_room(struct decision *d, const struct place *p, uint64_t keys, int64_t bytes, uint64_t record) {
    const struct state *s = d->state;
    const struct limits *l = d->limits;
    const struct tenant *t = p->tenant ? tenant_at(s, p->tenant) : NULL;
    if (t == NULL && s->tenants.count >= (uint64_t)l->tenants_max)
        return refuse(d, ERR_LIMIT, "there are %u tenants already (tenants_max)", s->tenants.count);
    if (record > (uint64_t)l->submit_bytes_max)
        return refuse(d, ERR_LIMIT, "%llu bytes at once are more than %lld (submit_bytes_max)",
                      (unsigned long long)record, (long long)l->submit_bytes_max);
    if (keys && s->store.item_count + keys > (uint64_t)l->store_keys_max)
        return refuse(d, ERR_BUSY, "the store has %llu keys already (store_keys_max)",
                      (unsigned long long)s->store.item_count);
    if (keys && (t ? t->store_keys : 0) + keys > (uint64_t)l->store_tenant_keys_max)
        return refuse(d, ERR_LIMIT, "the tenant has %llu keys already (store_tenant_keys_max)",
                      (unsigned long long)(t ? t->store_keys : 0));
    uint64_t own = p->space ? space_at(&s->store, p->space)->items : 0;
    if (keys && own + keys > (uint64_t)l->store_space_keys_max)
        return refuse(d, ERR_LIMIT, "the namespace has %llu keys already (store_space_keys_max)",
                      (unsigned long long)own);
    if (bytes > 0 && (t ? t->store_bytes : 0) + (uint64_t)bytes > (uint64_t)l->store_tenant_bytes_max)
        return refuse(d, ERR_LIMIT,
                      "the tenant's keys and values would take more than %lld bytes (store_tenant_bytes_max)",
                      (long long)l->store_tenant_bytes_max);
    if (d->in->journal_free_bytes != UINT64_MAX && s->reserved_bytes + record > d->in->journal_free_bytes)
        return refuse(d, ERR_NO_SPACE, "the journal has no room for it");
    return ERR_OK;
}

/* ---- keys ---- */

/* Schedules must know their own flows by it; a change by any other is nobody's. */
static uint64_t flow_of_schedule(struct decision *d, flow_id by) {
    uint32_t index = by.v ? flow_find(d->state, by) : 0;
    struct flow_head head;
    if (index == 0) return 0;
    flow_head_get(flow_at(d->state, index), d->arena, &head);
    return head.schedule.len ? by.v : 0;
}

static struct record *record_in(struct decision *d, const struct command *cmd, enum record_kind kind,
                                const struct place *p) {
    struct record *r = decide_record(d, kind, cmd);
    if (p->flow == 0) r->body.head.tenant = p->name;
    return r;
}

static void record_keys(struct decision *d, const struct command *cmd, enum record_kind kind, const struct place *p,
                        struct rec_store_item *keys, uint32_t count) {
    REQUIRE(count > 0);
    struct rec_store_keys *rec = &record_in(d, cmd, kind, p)->body.as_REC_STORE_DELETED;
    rec->flow = p->flow;
    if (cmd) rec->by = p->by;
    rec->keys = (struct tlv_list){keys, count};
}

static void record_expired(struct decision *d, const struct place *p, struct slice key) {
    struct rec_store_item *item = ARENA_NEW(d->arena, struct rec_store_item);
    item->text = key;
    record_keys(d, NULL, REC_STORE_EXPIRED, p, item, 1);
}

/* The item of a key that is about to be changed; NULL when there is none, or none any more. */
static const struct item *take_item(struct decision *d, const struct place *p, struct slice key) {
    const struct store *t = &d->state->store;
    uint32_t index = item_find(t, p->space, key);
    if (index == 0) return NULL;
    if (!item_is_over(item_at(t, index), d->in->wall)) return item_at(t, index);
    record_expired(d, p, key);
    return NULL;
}

/* What the record that was added last will have for an LSN. */
static uint64_t next_version(const struct decision *d) {
    REQUIRE(d->records->count > 0);
    return d->state->lsn + d->records->count;
}

/* Ascending by key; of those with the same key the last stays. Returns how many are left. Merges runs of doubling
 * length: stable, and nothing a caller sends makes it slow. */
static uint32_t sort_entries(struct decision *d, struct store_entry **entries, uint32_t count) {
    struct store_entry *from = *entries, *to = ARENA_ARRAY(d->arena, struct store_entry, count + 1);
    for (uint32_t run = 1; run < count; run *= 2) {
        for (uint32_t start = 0; start < count; start += 2 * run) {
            uint32_t mid = count - start < run ? count : start + run;
            uint32_t end = count - start < 2 * run ? count : start + 2 * run;
            uint32_t a = start, b = mid;
            for (uint32_t k = start; k < end; k++) {
                bool left = b == end || (a < mid && slice_cmp(from[a].key, from[b].key) <= 0);
                to[k] = left ? from[a++] : from[b++];
            }
        }
        struct store_entry *swap = from;
        from = to;
        to = swap;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (i + 1 == count || !slice_eq(from[i].key, from[i + 1].key)) from[kept++] = from[i];
    ENSURE(kept <= count);
    *entries = from;
    return kept;
}

static enum err copy_entries(struct decision *d, const struct cmd_store *c, struct store_entry **ret, uint32_t *count) {
    enum err e = check_number(d, c->entry_count);
    if (e != ERR_OK) return e;
    struct store_entry *copy = ARENA_ARRAY(d->arena, struct store_entry, c->entry_count);
    for (uint32_t i = 0; i < c->entry_count; i++) {
        copy[i] = c->entries[i];
        e = check_text(d, copy[i].key, "a key");
        if (e != ERR_OK) return e;
    }
    *ret = copy;
    *count = sort_entries(d, ret, c->entry_count);
    return ERR_OK;
}

static bool has_value(const struct item *it, struct slice value) {
    char text[STORE_NUMBER_BYTES];
    if (it == NULL || it->kind == ITEM_SET) return false;
    return slice_eq(it->kind == ITEM_NUMBER ? store_number_text(it->as.number, text) : bytes_slice(it->as.value),
                    value);
}

static enum err check_condition(struct decision *d, const struct cmd_store *c, const struct item *it) {
    uint64_t version = it ? it->version : 0;
    bool holds = true;
    switch (c->condition) {
    case STORE_ALWAYS: return ERR_OK;
    case STORE_IF_ABSENT: holds = it == NULL; break;
    case STORE_IF_PRESENT: holds = it != NULL; break;
    case STORE_IF_VERSION: holds = version == c->version; break;
    case STORE_IF_VALUE: holds = has_value(it, c->value); break;
    case STORE_IF_COUNT: return refuse(d, ERR_INVALID, "there is no such condition");
    }
    if (holds || MUTANT(store_cas_ignored)) return ERR_OK;
    d->reply->version = version;
    if (it == NULL) return refuse(d, ERR_CONFLICT, "the key does not exist");
    if (c->condition == STORE_IF_ABSENT) return refuse(d, ERR_CONFLICT, "the key exists");
    return refuse(d, ERR_CONFLICT, "the key has another value (version %llu)", (unsigned long long)version);
}

/* ---- set, delete ---- */

static enum err decide_set(struct decision *d, const struct command *cmd, const struct place *p) {
    const struct cmd_store *c = &cmd->as.store;
    struct store_entry *entries;
    uint32_t count;
    enum err e = copy_entries(d, c, &entries, &count);
    if (e == ERR_OK) e = check_expiry(d, c->expires_ms);
    if (e != ERR_OK) return e;
    struct rec_store_entry *list = ARENA_ARRAY(d->arena, struct rec_store_entry, count);
    uint64_t keys = 0, record = 0;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct slice key = entries[i].key, value = entries[i].value;
        if (value.len > (size_t)d->limits->store_value_bytes_max)
            return refuse(d, ERR_LIMIT, "a value is longer than %lld bytes (store_value_bytes_max)",
                          (long long)d->limits->store_value_bytes_max);
        const struct item *it = take_item(d, p, key);
        e = check_condition(d, c, it);
        if (e != ERR_OK) return e;
        keys += it == NULL;
        bytes += (int64_t)(STORE_ITEM_COST + key.len + value.len);
        if (it) bytes -= (int64_t)item_cost(&d->state->store, it);
        record += 2 * key.len + value.len + ENTRY_RECORD_BYTES;
        list[i] = (struct rec_store_entry){.key = key, .kind = ITEM_TEXT, .value = value, .expires_ms = c->expires_ms};
        if (c->keep_expiry && it && it->expires.ms != TIME_NEVER) list[i].expires_ms = it->expires.ms;
    }
    e = check_room(d, p, keys, bytes, record);
    if (e != ERR_OK) return e;
    struct rec_store_set *rec = &record_in(d, cmd, REC_STORE_SET, p)->body.as_REC_STORE_SET;
    rec->flow = p->flow;
    rec->by = p->by;
    rec->entries = (struct tlv_list){list, count};
    d->reply->version = next_version(d);
    d->reply->number = count;
    return ERR_OK;
}

static enum err decide_delete(struct decision *d, const struct command *cmd, const struct place *p) {
    struct store_entry *entries;
    uint32_t count, there = 0;
    enum err e = copy_entries(d, &cmd->as.store, &entries, &count);
    if (e != ERR_OK) return e;
    struct rec_store_item *keys = ARENA_ARRAY(d->arena, struct rec_store_item, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct item *it = take_item(d, p, entries[i].key);
        e = check_condition(d, &cmd->as.store, it);
        if (e != ERR_OK) return e;
        if (it) keys[there++].text = entries[i].key;
    }
    if (there) record_keys(d, cmd, REC_STORE_DELETED, p, keys, there);
    d->reply->number = there;
    return ERR_OK;
}

/* ---- one key ---- */

static enum err decide_count(struct decision *d, const struct command *cmd, const struct place *p) {
    const struct cmd_store *c = &cmd->as.store;
    const struct item *it = take_item(d, p, c->key);
    int64_t now = 0, then = 0;
    if (it && it->kind == ITEM_SET) return refuse(d, ERR_STATE, "the key holds a set, not a number");
    if (it && it->kind == ITEM_TEXT && !store_number(bytes_slice(it->as.value), &now))
        return refuse(d, ERR_STATE, "the value of the key is not a number");
    if (it && it->kind == ITEM_NUMBER) now = it->as.number;
    if (__builtin_add_overflow(now, c->number, &then)) return refuse(d, ERR_LIMIT, "the number would exceed 64 bits");
    int64_t bytes = it ? 0 : (int64_t)(STORE_ITEM_COST + c->key.len);
    enum err e = check_room(d, p, it == NULL, bytes, 2 * c->key.len + ENTRY_RECORD_BYTES);
    if (e != ERR_OK) return e;
    struct rec_store_entry *entry = ARENA_NEW(d->arena, struct rec_store_entry);
    *entry = (struct rec_store_entry){.key = c->key, .kind = ITEM_NUMBER, .number = then};
    if (it && it->expires.ms != TIME_NEVER) entry->expires_ms = it->expires.ms;
    struct rec_store_set *rec = &record_in(d, cmd, REC_STORE_SET, p)->body.as_REC_STORE_SET;
    rec->flow = p->flow;
    rec->by = p->by;
    rec->entries = (struct tlv_list){entry, 1};
    d->reply->number = then;
    d->reply->version = next_version(d);
    return ERR_OK;
}

static enum err decide_expire(struct decision *d, const struct command *cmd, const struct place *p) {
    const struct cmd_store *c = &cmd->as.store;
    const struct item *it = take_item(d, p, c->key);
    if (it == NULL) return ERR_OK;
    d->reply->number = 1;
    if (c->expires_ms != 0 && c->expires_ms <= d->in->wall.ms) { /* over at once */
        record_expired(d, p, c->key);
        return ERR_OK;
    }
    enum err e = check_expiry(d, c->expires_ms);
    if (e == ERR_OK && c->expires_ms) e = check_room(d, p, 0, 1, c->key.len + ENTRY_RECORD_BYTES);
    if (e != ERR_OK) return e;
    d->reply->version = it->version;
    if (it->expires.ms == (c->expires_ms ? c->expires_ms : TIME_NEVER)) return ERR_OK;
    struct rec_store_expiry *rec = &record_in(d, cmd, REC_STORE_EXPIRY, p)->body.as_REC_STORE_EXPIRY;
    rec->flow = p->flow;
    rec->key = c->key;
    rec->expires_ms = c->expires_ms;
    return ERR_OK;
}

/* ---- sets ---- */

/* The members of a command that are (or are not) in the set already, ascending, each once. */
static enum err pick_members(struct decision *d, const struct cmd_store *c, const struct item *it, bool present,
                             struct tlv_list *ret) {
    enum err e = check_number(d, c->member_count);
    if (e != ERR_OK) return e;
    struct store_entry *entries = ARENA_ARRAY(d->arena, struct store_entry, c->member_count);
    for (uint32_t i = 0; i < c->member_count; i++) {
        entries[i].key = c->members[i];
        e = check_text(d, c->members[i], "a member");
        if (e != ERR_OK) return e;
    }
    uint32_t count = sort_entries(d, &entries, c->member_count), picked = 0;
    struct rec_store_item *list = ARENA_ARRAY(d->arena, struct rec_store_item, count);
    for (uint32_t i = 0; i < count; i++) {
        bool is_in = it && member_find(&d->state->store, it->as.set, entries[i].key);
        if (is_in == present) list[picked++].text = entries[i].key;
    }
    *ret = (struct tlv_list){list, picked};
    return ERR_OK;
}

static enum err decide_members(struct decision *d, const struct command *cmd, const struct place *p) {
    const struct cmd_store *c = &cmd->as.store;
    bool adding = c->op == STORE_ADD;
    const struct item *it = take_item(d, p, c->key);
    if (it && it->kind != ITEM_SET) return refuse(d, ERR_STATE, "the key holds a value, not a set");
    struct tlv_list members;
    enum err e = pick_members(d, c, it, !adding, &members);
    if (e != ERR_OK) return e;
    const struct rec_store_item *list = members.at;
    uint64_t record = 2 * c->key.len + ENTRY_RECORD_BYTES;
    int64_t bytes = it || !adding ? 0 : (int64_t)(STORE_ITEM_COST + c->key.len);
    for (uint32_t i = 0; i < members.count; i++) {
        record += list[i].text.len + ENTRY_RECORD_BYTES;
        if (adding) bytes += (int64_t)(STORE_MEMBER_COST + list[i].text.len);
    }
    uint64_t held = it ? set_at(&d->state->store, it->as.set)->count : 0;
    if (adding && held + members.count > (uint64_t)d->limits->store_set_members_max)
        return refuse(d, ERR_LIMIT, "the set has %llu members already (store_set_members_max)",
                      (unsigned long long)held);
    if (adding) e = check_room(d, p, it == NULL, bytes, record);
    if (e != ERR_OK) return e;
    d->reply->number = MUTANT(store_count_wrong) ? c->member_count : members.count;
    d->reply->version = it ? it->version : 0;
    if (members.count == 0) return ERR_OK;
    struct rec_store_members *rec = &record_in(d, cmd, REC_STORE_MEMBERS, p)->body.as_REC_STORE_MEMBERS;
    rec->flow = p->flow;
    rec->by = p->by;
    rec->key = c->key;
    *(adding ? &rec->added : &rec->removed) = members;
    d->reply->version = !adding && held == members.count ? 0 : next_version(d);
    return ERR_OK;
}

/* ---- channels and watches ---- */

static enum err decide_publish(struct decision *d, const struct command *cmd, const struct place *p) {
    const struct cmd_store *c = &cmd->as.store;
    if (c->value.len > (size_t)d->limits->publish_bytes_max)
        return refuse(d, ERR_LIMIT, "the message is longer than %lld bytes (publish_bytes_max)",
                      (long long)d->limits->publish_bytes_max);
    struct store_effect message = {.tenant = p->name, .flow = {p->flow}, .key = c->key, .body = c->value};
    struct watch_where where = {p->name, {p->flow}};
    d->reply->number = watches_each(&d->live->watches, WATCH_CHANNEL, where, c->key, NULL, NULL);
    if (d->reply->number) effects_publish(d->effects, &message, d->state->lsn);
    return ERR_OK;
}

static enum err decide_watch(struct decision *d, const struct command *cmd) {
    const struct cmd_store *c = &cmd->as.store;
    const struct watches *w = &d->live->watches;
    if (c->session == 0 || c->watch == 0) return refuse(d, ERR_INVALID, "a watch needs a session and a number");
    if (c->key.len || !c->prefix) {
        enum err e = check_text(d, c->key, c->of_channel ? "a channel" : "a key");
        if (e != ERR_OK) return e;
    }
    if (watches_has(w, c->session, c->watch)) return ERR_OK;
    if (w->all.count >= (uint64_t)d->limits->watches_max)
        return refuse(d, ERR_BUSY, "there are %u watches already (watches_max)", w->all.count);
    if (watches_of(w, c->session) >= (uint64_t)d->limits->session_watches_max)
        return refuse(d, ERR_LIMIT, "the session has %u watches already (session_watches_max)",
                      watches_of(w, c->session));
    return ERR_OK;
}

/* ---- the door ---- */

enum err decide_store(struct decision *d, const struct command *cmd) {
    const struct cmd_store *c = &cmd->as.store;
    struct place p = {0};
    enum err e = ERR_OK;
    if (c->op == STORE_UNWATCH) /* also after its flow is gone */
        return c->session ? ERR_OK : refuse(d, ERR_INVALID, "a watch belongs to a session");
    e = find_place(d, cmd, &p);
    if (e != ERR_OK) return e;
    p.by = flow_of_schedule(d, c->by);
    bool of_key = c->op != STORE_SET && c->op != STORE_DELETE && c->op != STORE_WATCH;
    if (of_key) e = check_text(d, c->key, c->op == STORE_PUBLISH ? "a channel" : "a key");
    if (e != ERR_OK) return e;
    switch (c->op) {
    case STORE_SET: return decide_set(d, cmd, &p);
    case STORE_DELETE: return decide_delete(d, cmd, &p);
    case STORE_INCREASE: return decide_count(d, cmd, &p);
    case STORE_ADD:
    case STORE_REMOVE: return decide_members(d, cmd, &p);
    case STORE_EXPIRE: return decide_expire(d, cmd, &p);
    case STORE_PUBLISH: return decide_publish(d, cmd, &p);
    case STORE_WATCH: return decide_watch(d, cmd);
    case STORE_UNWATCH:
    case STORE_OP_COUNT: break;
    }
    return refuse(d, ERR_INVALID, "the store knows no such operation");
}

void decide_item_timer(struct decision *d, struct state *indices, uint32_t index) {
    const struct state *s = d->state;
    const struct item *it = item_at(&s->store, index);
    const struct store_space *space = space_at(&s->store, item_space(it));
    REQUIRE(it->expires.ms <= d->in->wall.ms);
    if (space->is_dropped) {
        timer_set(indices, TIMER_ITEM, index, (wall_time){TIME_NEVER});
        return;
    }
    struct place p = {
        .name = bytes_slice(tenant_at(s, space->tenant)->name), .tenant = space->tenant, .flow = space_flow(space)};
    record_expired(d, &p, item_key(it));
}
