/* model_cause.c: see model_cause.h. */
#include "model_cause.h"

#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "panic.h"

struct model_value {
    struct trace_bytes tenant, key, value; /* copies; of a set without a value: its members are below */
    struct trace_bytes *members;
    uint32_t member_count;
};

static struct trace_bytes copy(struct trace_bytes b) {
    uint8_t *at = malloc(b.len + 1u);
    REQUIRE(at != NULL);
    if (b.len) memcpy(at, b.at, b.len);
    return (struct trace_bytes){at, b.len};
}

static void drop(struct trace_bytes b) {
    free((void *)(uintptr_t)b.at);
}

static bool same(struct trace_bytes a, struct trace_bytes b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* ---- what keys hold ---- */

static struct model_value *find(const struct model *m, struct trace_bytes tenant, struct trace_bytes key) {
    for (uint32_t i = 0; i < m->value_count; i++)
        if (same(m->values[i].tenant, tenant) && same(m->values[i].key, key)) return &m->values[i];
    return NULL;
}

static void empty(struct model_value *v) {
    drop(v->value);
    for (uint32_t i = 0; i < v->member_count; i++) drop(v->members[i]);
    free(v->members);
    v->value = (struct trace_bytes){0};
    v->members = NULL;
    v->member_count = 0;
}

static void forget(struct model *m, struct model_value *v) {
    empty(v);
    drop(v->tenant);
    drop(v->key);
    *v = m->values[--m->value_count];
}

static struct model_value *learn(struct model *m, struct trace_bytes tenant, struct trace_bytes key) {
    struct model_value *grown = realloc(m->values, (m->value_count + 1u) * sizeof *grown);
    REQUIRE(grown != NULL);
    m->values = grown;
    m->values[m->value_count] = (struct model_value){.tenant = copy(tenant), .key = copy(key)};
    return &m->values[m->value_count++];
}

void model_values_free(struct model *m) {
    while (m->value_count > 0) forget(m, &m->values[0]);
    free(m->values);
}

static void member_drop(struct model_value *v, struct trace_bytes member) {
    for (uint32_t i = 0; i < v->member_count; i++) {
        if (!same(v->members[i], member)) continue;
        drop(v->members[i]);
        v->members[i] = v->members[--v->member_count];
        return;
    }
}

static void member_add(struct model_value *v, struct trace_bytes member) {
    member_drop(v, member);
    struct trace_bytes *grown = realloc(v->members, (v->member_count + 1u) * sizeof *grown);
    REQUIRE(grown != NULL);
    v->members = grown;
    v->members[v->member_count++] = copy(member);
}

unsigned model_cause_change(struct model *m, const struct trace_change *r, uint32_t i) {
    struct model_value *v = find(m, r->tenant, r->keys[i]);
    if (r->what == TCHANGE_GONE) {
        if (v == NULL) return 0;
        forget(m, v);
        return TRACE_KEY_DELETED;
    }
    if (r->what == TCHANGE_SET) {
        bool is_new = v == NULL || v->member_count > 0 || !same(v->value, r->values[i]);
        if (v == NULL) v = learn(m, r->tenant, r->keys[i]);
        empty(v);
        v->value = copy(r->values[i]);
        return TRACE_KEY_SET | (is_new ? TRACE_KEY_CHANGED : 0);
    }
    if (v == NULL) v = learn(m, r->tenant, r->keys[i]);
    for (uint32_t k = 0; k < r->added_count; k++) member_add(v, r->added[k]);
    for (uint32_t k = 0; k < r->removed_count; k++) member_drop(v, r->removed[k]);
    if (v->member_count > 0) return TRACE_KEY_SET | TRACE_KEY_CHANGED;
    forget(m, v);
    return TRACE_KEY_DELETED;
}

/* ---- what waits ---- */

bool model_cause_matches(const struct trace_schedule *set, struct trace_bytes key) {
    if (set->when == 0 || set->key.len > key.len || (!set->key_prefix && set->key.len != key.len)) return false;
    return set->key.len == 0 || memcmp(set->key.at, key.at, set->key.len) == 0;
}

void model_line_take(struct model_line *line, uint32_t at) {
    drop(line->at[at].key);
    line->count--;
    memmove(&line->at[at], &line->at[at + 1], (line->count - at) * sizeof *line->at);
}

void model_line_clear(struct model_line *line) {
    while (line->count > 0) model_line_take(line, 0);
    free(line->at);
    *line = (struct model_line){0};
}

uint32_t model_line_put(struct model_line *line, struct trace_bytes key, bool alone, int64_t now_ms) {
    uint32_t left = 0, found = UINT32_MAX;
    for (uint32_t i = line->count; alone && i > 0; i--) {
        if (same(line->at[i - 1].key, key)) continue;
        model_line_take(line, i - 1);
        left++;
    }
    for (uint32_t i = 0; i < line->count; i++)
        if (same(line->at[i].key, key)) found = i;
    if (found == UINT32_MAX && line->count == MODEL_LINE_MAX) {
        line->at[line->count - 1].count++;
        return left;
    }
    if (found == UINT32_MAX) {
        struct model_waiting_key *grown = realloc(line->at, (line->count + 1u) * sizeof *grown);
        REQUIRE(grown != NULL);
        line->at = grown;
        found = line->count++;
        line->at[found] = (struct model_waiting_key){.key = copy(key)};
    }
    line->at[found].count++;
    line->at[found].since_ms = now_ms;
    return left;
}
