/* check_store.c: see check_store.h.
 *
 * Commands are told in the order in which they were decided, with the LSN of the state behind them; they are kept until
 * that LSN is durable, and only then done to the table here: what a crash swallows never happened. The answer that
 * follows is compared when it arrives. The ends of flows come as records and are put between the commands by LSN.
 * Values are texts: a number is its text, a set its members in order, each with a 0 behind it. */
#include "check_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "panic.h"

#define VALUE_MAX 256u

struct value {
    uint8_t at[VALUE_MAX];
    uint32_t len;
};

struct store_key { /* one line of the table */
    struct check_bytes tenant;
    uint64_t flow;
    struct check_bytes key;
    bool there;
    bool is_set;
    struct value value;
    uint64_t version;
    int64_t expires_ms; /* 0 = never */
};

struct store_command {       /* not yet durable, or not yet answered */
    struct trace_store told; /* with copies of what it points at */
    struct trace_store_answer answer;
    struct value shown[TRACE_STORE_MAX]; /* the values of answer.items, which do not point at them: it moves */
    bool done;
    bool refused; /* it should have changed something and made no record: for want of room, or wrongly */
};

struct store_end { /* a flow was forgotten */
    uint64_t lsn, flow;
};

struct store_notes {
    struct store_key *keys;
    uint32_t key_count;
    struct store_command *commands; /* in the order of their decision */
    uint32_t command_count, next; /* those before `next` are done */
    struct store_end *ends;
    uint32_t end_count, end_next;
};

/* ---- copies ---- */

static struct trace_bytes copy(struct trace_bytes b) {
    struct check_bytes c = check_bytes_copy(b);
    return (struct trace_bytes){c.at, c.len};
}

static void drop(struct trace_bytes b) {
    union {
        const uint8_t *from;
        uint8_t *to;
    } at = {.from = b.at};
    free(at.to);
}

static void command_drop(struct store_command *c) {
    drop(c->told.tenant);
    drop(c->told.value);
    for (uint32_t i = 0; i < TRACE_STORE_MAX; i++) {
        drop(c->told.keys[i]);
        drop(c->told.values[i]);
    }
}

void *check_store_new(void) {
    struct store_notes *n = calloc(1, sizeof *n);
    REQUIRE(n != NULL);
    return n;
}

void check_store_free(void *notes) {
    struct store_notes *n = notes;
    for (uint32_t i = 0; i < n->command_count; i++) command_drop(&n->commands[i]);
    for (uint32_t i = 0; i < n->key_count; i++) {
        free(n->keys[i].tenant.at);
        free(n->keys[i].key.at);
    }
    free(n->keys);
    free(n->commands);
    free(n->ends);
    free(n);
}

static bool equal(struct trace_bytes a, struct trace_bytes b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static void value_set(struct value *v, const void *at, size_t len) {
    REQUIRE(len <= VALUE_MAX);
    if (len) memcpy(v->at, at, len);
    v->len = (uint32_t)len;
}

static struct trace_bytes value_view(const struct value *v) {
    return (struct trace_bytes){v->at, v->len};
}

/* ---- the table ---- */

static struct store_key *key_line(struct store_notes *n, const struct trace_store *c, struct trace_bytes key) {
    for (uint32_t i = 0; i < n->key_count; i++) {
        struct store_key *k = &n->keys[i];
        bool same_space = c->flow ? k->flow == c->flow : k->flow == 0 && check_bytes_equal(k->tenant, c->tenant);
        if (same_space && check_bytes_equal(k->key, key)) return k;
    }
    n->keys = check_grow(n->keys, n->key_count, sizeof *n->keys);
    struct store_key *k = &n->keys[n->key_count++];
    *k = (struct store_key){.tenant = check_bytes_copy(c->tenant), .flow = c->flow, .key = check_bytes_copy(key)};
    return k;
}

/* The line of a key, with what time has done to it. */
static struct store_key *key_now(struct store_notes *n, const struct trace_store *c, struct trace_bytes key) {
    struct store_key *k = key_line(n, c, key);
    if (k->there && k->expires_ms != 0 && k->expires_ms <= c->decided_ms) k->there = false;
    if (!k->there) {
        k->value.len = 0;
        k->is_set = false;
        k->version = 0;
        k->expires_ms = 0;
    }
    return k;
}

static bool number_of(const struct store_key *k, long long *ret) {
    char text[VALUE_MAX + 1], again[32];
    if (!k->there) {
        *ret = 0;
        return true;
    }
    if (k->is_set) return false;
    memcpy(text, k->value.at, k->value.len);
    text[k->value.len] = 0;
    *ret = strtoll(text, NULL, 10);
    snprintf(again, sizeof again, "%lld", *ret);
    return strcmp(text, again) == 0;
}

/* Where a member stands in a set, or where it would stand. */
static bool member_at(const struct store_key *k, struct trace_bytes member, uint32_t *ret) {
    uint32_t at = 0;
    while (at < k->value.len) {
        uint32_t len = (uint32_t)strlen((const char *)k->value.at + at);
        uint32_t common = len < member.len ? len : member.len;
        int order = memcmp(k->value.at + at, member.at, common);
        if (order == 0) order = len < member.len ? -1 : len > member.len;
        *ret = at;
        if (order == 0) return true;
        if (order > 0) return false;
        at += len + 1;
    }
    *ret = at;
    return false;
}

static bool member_put(struct store_key *k, struct trace_bytes member, bool in) {
    uint32_t at;
    if (member_at(k, member, &at) == in) return false;
    uint32_t len = member.len + 1;
    if (in) {
        REQUIRE(k->value.len + len < VALUE_MAX);
        memmove(k->value.at + at + len, k->value.at + at, k->value.len - at);
        memcpy(k->value.at + at, member.at, member.len);
        k->value.at[at + member.len] = 0;
        k->value.len += len;
    } else {
        memmove(k->value.at + at, k->value.at + at + len, k->value.len - at - len);
        k->value.len -= len;
    }
    return true;
}

/* ---- doing it ---- */

static bool condition_holds(const struct trace_store *c, const struct store_key *k) {
    switch (c->condition) {
    case TI_ALWAYS: return true;
    case TI_ABSENT: return !k->there;
    case TI_PRESENT: return k->there;
    case TI_VERSION: return k->version == c->version;
    case TI_VALUE: return k->there && !k->is_set && equal(value_view(&k->value), c->value);
    case TI_COUNT: break;
    }
    PANIC("no such condition");
}

static void give(struct store_key *k, const void *value, size_t len, uint64_t lsn) {
    k->there = true;
    k->is_set = false;
    k->version = lsn;
    value_set(&k->value, value, len);
}

/* Set and delete: all keys or none. */
static void do_change(struct store_notes *n, const struct trace_store *c, struct trace_store_answer *a) {
    bool past = c->op == TB_SET && c->expires_ms != 0 && c->expires_ms <= c->decided_ms;
    if (past) {
        a->answer = TN_REFUSED;
        return;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        if (condition_holds(c, key_now(n, c, c->keys[i]))) continue;
        a->answer = TN_CONFLICT;
        return;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        struct store_key *k = key_now(n, c, c->keys[i]);
        bool again = false;
        for (uint32_t b = 0; b < i; b++) again |= equal(c->keys[b], c->keys[i]);
        if (c->op == TB_DELETE) {
            a->number += k->there;
            k->there = false;
            continue;
        }
        a->number += !again;
        int64_t expires_ms = c->keep_expiry && k->expires_ms != 0 ? k->expires_ms : c->expires_ms;
        give(k, c->values[i].at, c->values[i].len, c->lsn);
        k->expires_ms = expires_ms;
        a->version = c->lsn;
    }
}

static void do_increase(struct store_key *k, const struct trace_store *c, struct trace_store_answer *a) {
    char text[32];
    long long number;
    if (!number_of(k, &number)) {
        a->answer = TN_STATE;
        return;
    }
    a->number = number + c->number;
    int len = snprintf(text, sizeof text, "%lld", (long long)a->number);
    give(k, text, (size_t)len, c->lsn);
    a->version = c->lsn;
}

static void do_members(struct store_key *k, const struct trace_store *c, struct trace_store_answer *a) {
    if (k->there && !k->is_set) {
        a->answer = TN_STATE;
        return;
    }
    for (uint32_t i = 0; i < c->count; i++) a->number += member_put(k, c->values[i], c->op == TB_ADD);
    if (a->number) k->version = c->lsn;
    k->there = k->is_set = k->value.len > 0;
    if (!k->there) k->version = 0;
    a->version = k->version;
}

static void do_expire(struct store_key *k, const struct trace_store *c, struct trace_store_answer *a) {
    if (!k->there) return;
    a->number = 1;
    k->expires_ms = c->expires_ms;
    if (c->expires_ms != 0 && c->expires_ms <= c->decided_ms) k->there = false;
    a->version = k->there ? k->version : 0;
}

static void do_read(struct store_notes *n, struct store_command *c) {
    for (uint32_t i = 0; i < c->told.count; i++) {
        const struct store_key *k = key_now(n, &c->told, c->told.keys[i]);
        c->shown[i] = k->value;
        c->answer.items[i] =
            (struct trace_store_item){.found = k->there, .version = k->version, .expires_ms = k->expires_ms};
    }
}

static void do_operation(struct store_notes *n, struct store_command *c) {
    const struct trace_store *t = &c->told;
    struct trace_store_answer *a = &c->answer;
    switch (t->op) {
    case TB_READ: do_read(n, c); return;
    case TB_SET:
    case TB_DELETE: do_change(n, t, a); return;
    case TB_INCREASE: do_increase(key_now(n, t, t->keys[0]), t, a); return;
    case TB_ADD:
    case TB_REMOVE: do_members(key_now(n, t, t->keys[0]), t, a); return;
    case TB_EXPIRE: do_expire(key_now(n, t, t->keys[0]), t, a); return;
    case TB_OP_COUNT: break;
    }
    PANIC("no such command");
}

static bool same_key(const struct store_key *a, const struct store_key *b) {
    if (a->there != b->there) return false;
    return !a->there || (a->version == b->version && a->expires_ms == b->expires_ms);
}

/* What has no record has not happened: the keys are put back, and it is remembered that they were to change. */
static void do_unrecorded(struct store_notes *n, struct store_command *c) {
    struct store_key before[TRACE_STORE_MAX];
    uint32_t count = c->told.op == TB_ADD || c->told.op == TB_REMOVE ? 1 : c->told.count;
    if (count == 0) count = 1;
    for (uint32_t i = 0; i < count; i++) before[i] = *key_now(n, &c->told, c->told.keys[i]);
    do_operation(n, c);
    for (uint32_t i = count; i-- > 0;) {
        struct store_key *k = key_line(n, &c->told, c->told.keys[i]);
        if (!same_key(k, &before[i])) c->refused = true;
        *k = before[i];
    }
}

static void do_command(struct store_notes *n, const struct check_history *h, struct store_command *c) {
    const struct trace_store *t = &c->told;
    struct trace_store_answer *a = &c->answer;
    const struct check_flow *flow = t->flow ? check_history_flow(h, t->flow) : NULL;
    bool theirs = flow && check_bytes_equal(flow->tenant, t->tenant);
    c->done = true;
    *a = (struct trace_store_answer){.call = t->call, .answer = TN_OK};
    if (t->flow && t->op != TB_READ && (!theirs || (flow->forgotten_lsn && flow->forgotten_lsn <= t->lsn))) {
        a->answer = TN_MISSING;
        return;
    }
    if (t->flow && !theirs) return; /* a read sees nothing */
    if (t->recorded)
        do_operation(n, c);
    else
        do_unrecorded(n, c);
}

static void end_flow(struct store_notes *n, uint64_t flow) {
    for (uint32_t i = 0; i < n->key_count; i++)
        if (n->keys[i].flow == flow) n->keys[i].there = false;
}

/* Everything up to this LSN has happened for good. */
static void do_upto(struct store_notes *n, const struct check_history *h, uint64_t lsn) {
    for (;;) {
        const struct store_end *end = n->end_next < n->end_count ? &n->ends[n->end_next] : NULL;
        struct store_command *c = n->next < n->command_count ? &n->commands[n->next] : NULL;
        if (end && end->lsn <= lsn && (c == NULL || end->lsn <= c->told.lsn)) {
            end_flow(n, end->flow);
            n->end_next++;
        } else if (c && c->told.lsn <= lsn) {
            do_command(n, h, c);
            n->next++;
        } else {
            return;
        }
    }
}

/* ---- entries ---- */

static void decided(struct store_notes *n, const struct trace_store *t) {
    n->commands = check_grow(n->commands, n->command_count, sizeof *n->commands);
    struct store_command *c = &n->commands[n->command_count++];
    *c = (struct store_command){.told = *t};
    c->told.tenant = copy(t->tenant);
    c->told.value = copy(t->value);
    for (uint32_t i = 0; i < TRACE_STORE_MAX; i++) {
        c->told.keys[i] = copy(t->keys[i]);
        c->told.values[i] = copy(t->values[i]);
    }
}

static bool same_item(const struct trace_store_item *a, const struct trace_store_item *b, const struct value *v) {
    if (a->found != b->found) return false;
    return !a->found || (equal(a->value, value_view(v)) && a->version == b->version && a->expires_ms == b->expires_ms);
}

static bool compare(const struct store_command *c, const struct trace_store_answer *a, char *text) {
    const struct trace_store_answer *want = &c->answer;
    if (a->answer == TN_BUSY && !c->told.recorded) return true; /* no room, too much at once: others judge that */
    if (c->refused) return check_object(text, "operation %d was answered and made no record", (int)c->told.op);
    if (a->answer != want->answer)
        return check_object(text, "operation %d was answered %d and should be %d", (int)c->told.op, (int)a->answer,
                            (int)want->answer);
    for (uint32_t i = 0; c->told.op == TB_READ && i < c->told.count; i++) {
        if (same_item(&a->items[i], &want->items[i], &c->shown[i])) continue;
        return check_object(text, "a read of key %.*s showed version %llu (%s), it has version %llu (%s) at %lld",
                            (int)c->told.keys[i].len, (const char *)c->told.keys[i].at,
                            (unsigned long long)a->items[i].version, a->items[i].found ? "there" : "absent",
                            (unsigned long long)want->items[i].version, want->items[i].found ? "there" : "absent",
                            (long long)c->told.decided_ms);
    }
    if (want->answer != TN_OK || c->told.op == TB_READ) return true;
    if (a->number != want->number || a->version != want->version)
        return check_object(text, "operation %d was answered %lld, version %llu and should be %lld, version %llu",
                            (int)c->told.op, (long long)a->number, (unsigned long long)a->version,
                            (long long)want->number, (unsigned long long)want->version);
    return true;
}

static bool answered(struct store_notes *n, const struct check_history *h, const struct trace_store_answer *a,
                     char *text) {
    do_upto(n, h, h->durable_lsn); /* what was decided on a state that was durable already */
    for (uint32_t i = n->command_count; i-- > 0;) {
        const struct store_command *c = &n->commands[i];
        if (c->told.call != a->call) continue;
        if (!c->done) return check_object(text, "an answer about the store came before its record was durable");
        return compare(c, a, text);
    }
    return true;
}

static void restarted(struct store_notes *n, const struct check_history *h, uint64_t head) {
    do_upto(n, h, head);
    while (n->command_count > n->next) command_drop(&n->commands[--n->command_count]);
    n->end_count = n->end_next;
}

/* What was over by the wrong clock stays over. */
static void clock_set(struct store_notes *n, const struct check_history *h, const struct trace_entry *e) {
    do_upto(n, h, e->lsn - 1);
    for (uint32_t i = 0; i < n->key_count; i++) {
        struct store_key *k = &n->keys[i];
        if (k->there && k->expires_ms != 0 && k->expires_ms <= e->time_ms) k->there = false;
    }
}

bool check_store_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    struct store_notes *n = notes;
    if (trace_is_record(e->kind) && e->replayed) return true;
    switch ((int)e->kind) {
    case TR_FORGOTTEN:
        n->ends = check_grow(n->ends, n->end_count, sizeof *n->ends);
        n->ends[n->end_count++] = (struct store_end){e->lsn, e->as.job.flow};
        return true;
    case TR_CLOCK: clock_set(n, h, e); return true;
    case TA_STORE: decided(n, &e->as.store); return true;
    case TA_STORE_ANSWER: return answered(n, h, &e->as.store_answer, text);
    case TW_DURABLE: do_upto(n, h, e->as.durable.lsn); return true;
    case TW_RESTARTED: restarted(n, h, e->as.restarted.head); return true;
    default: return true;
    }
}
