/* watch.c: see watch.h. A pattern is found by its text; for a prefix the text is looked up once for each length at
 * which anyone watches a prefix. */
#include "watch.h"

#include "panic.h"

#define WATCHES_MAX (UINT32_MAX - 1u)
#define TENANT_BYTES_MAX 255u

struct watch_text {
    uint8_t at[2 + 8 + 1 + TENANT_BYTES_MAX + STORE_KEY_BYTES_MAX];
    size_t len;
};

static struct slice text_slice(const struct watch_text *t) {
    return slice_of(t->at, t->len);
}

static void text_make(struct watch_text *ret, enum watch_kind kind, bool prefix, struct watch_where where,
                      struct slice pattern) {
                          REQUIRE((unsigned)kind < WATCH_KIND_COUNT);
    REQUIRE(where.tenant.len <= TENANT_BYTES_MAX);
    REQUIRE(pattern.len <= STORE_KEY_BYTES_MAX);
    uint8_t *at = ret->at;
    *at++ = (uint8_t)kind;
    *at++ = prefix;
    for (uint32_t i = 0; i < 8; i++) *at++ = (uint8_t)(where.flow.v >> 8 * i);
    *at++ = (uint8_t)where.tenant.len;
    if (where.tenant.len) memcpy(at, where.tenant.ptr, where.tenant.len);
    at += where.tenant.len;
    if (pattern.len) memcpy(at, pattern.ptr, pattern.len);
    ret->len = (size_t)(at - ret->at) + pattern.len;
}

static struct watch *watch_at(const struct watches *w, uint32_t i) {
    return pool_at(&w->all, i);
}

static struct slice watch_text(const void *ctx, uint32_t value) {
    return bytes_slice(watch_at(ctx, value)->text);
}

/* Length of the pattern inside a text, and the flow of its namespace. */
static size_t pattern_bytes(struct slice text) {
    return text.len - 11 - text.ptr[10];
}

static uint64_t text_flow(struct slice text) {
    uint64_t flow = 0;
    for (uint32_t i = 0; i < 8; i++) flow |= (uint64_t)text.ptr[2 + i] << 8 * i;
    return flow;
}

static void count_flow(struct watches *w, uint64_t flow, bool more) {
    uint32_t count = map_get(&w->by_flow, flow);
    REQUIRE(more || count > 0);
    count = more ? count + 1 : count - 1;
    if (count)
        map_put(&w->by_flow, flow, count);
    else
        map_del(&w->by_flow, flow);
}

void watches_init(struct watches *w) {
    memset(w, 0, sizeof *w);
    pool_init(&w->all, sizeof(struct watch), WATCHES_MAX);
    pool_init(&w->sessions, sizeof(struct watch_session), WATCHES_MAX);
    index_init(&w->by_text);
    map_init(&w->by_session);
    map_init(&w->by_flow);
}

void watches_fini(struct watches *w) {
    for (uint32_t i = 1; i <= w->all.high; i++)
        if (watch_at(w, i)->text) bytes_free(watch_at(w, i)->text);
    pool_fini(&w->all);
    pool_fini(&w->sessions);
    index_fini(&w->by_text);
    map_fini(&w->by_session);
    map_fini(&w->by_flow);
}

static struct watch_session *session_find(const struct watches *w, uint64_t session) {
    uint32_t index = map_get(&w->by_session, session);
    return index ? pool_at(&w->sessions, index) : NULL;
}

static struct watch_session *session_take(struct watches *w, uint64_t session) {
    struct watch_session *known = session_find(w, session);
    if (known) return known;
    uint32_t index = pool_alloc(&w->sessions);
    ENSURE(index != 0);
    map_put(&w->by_session, session, index);
    struct watch_session *fresh = pool_at(&w->sessions, index);
    fresh->number = session;
    return fresh;
}

static uint32_t find(const struct watches *w, uint64_t session, uint64_t id) {
    const struct watch_session *own = session_find(w, session);
    for (uint32_t i = own ? own->first : 0; i; i = watch_at(w, i)->next_own)
        if (watch_at(w, i)->id == id) return i;
    return 0;
}

bool watches_has(const struct watches *w, uint64_t session, uint64_t id) {
    return find(w, session, id) != 0;
}

uint32_t watches_of(const struct watches *w, uint64_t session) {
    const struct watch_session *own = session_find(w, session);
    return own ? own->count : 0;
}

void watches_add(struct watches *w, uint64_t session, uint64_t id, enum watch_kind kind, struct watch_where where,
                 struct slice pattern, bool prefix) {
    REQUIRE(find(w, session, id) == 0);
    struct watch_text text;
    text_make(&text, kind, prefix, where, pattern);
    uint32_t index = pool_alloc(&w->all);
    ENSURE(index != 0);
    struct watch *x = watch_at(w, index);
    uint32_t first = index_get(&w->by_text, text_slice(&text), watch_text, w);
    *x = (struct watch){.text = bytes_new(text_slice(&text)), .session = session, .id = id};
    if (first) { /* behind the first, which the table knows */
        x->prev = first;
        x->next = watch_at(w, first)->next;
        if (x->next) watch_at(w, x->next)->prev = index;
        watch_at(w, first)->next = index;
    } else {
        index_put(&w->by_text, text_slice(&text), index);
    }
    struct watch_session *own = session_take(w, session);
    x->next_own = own->first;
    if (own->first) watch_at(w, own->first)->prev_own = index;
    own->first = index;
    own->count++;
    if (prefix) w->prefix_lengths[kind][pattern.len]++;
    count_flow(w, where.flow.v, true);
}

static void remove_at(struct watches *w, struct watch_session *own, uint32_t index) {
    struct watch *x = watch_at(w, index);
    struct slice text = bytes_slice(x->text);
    REQUIRE(own->count > 0);
    REQUIRE(text.ptr[0] < WATCH_KIND_COUNT);
    if (text.ptr[1]) {
        uint32_t *count = &w->prefix_lengths[text.ptr[0]][pattern_bytes(text)];
        REQUIRE(*count > 0);
        (*count)--;
    }
    count_flow(w, text_flow(text), false);
    if (x->next) watch_at(w, x->next)->prev = x->prev;
    if (x->prev) {
        watch_at(w, x->prev)->next = x->next;
    } else {
        index_del(&w->by_text, text, index);
        if (x->next) index_put(&w->by_text, text, x->next);
    }
    if (x->next_own) watch_at(w, x->next_own)->prev_own = x->prev_own;
    if (x->prev_own)
        watch_at(w, x->prev_own)->next_own = x->next_own;
    else
        own->first = x->next_own;
    own->count--;
    bytes_free(x->text);
    pool_free(&w->all, index);
}

static void session_leave(struct watches *w, uint64_t session) {
    const struct watch_session *own = session_find(w, session);
    REQUIRE(own != NULL);
    if (own->count == 0) pool_free(&w->sessions, map_del(&w->by_session, session));
}

void watches_remove(struct watches *w, uint64_t session, uint64_t id) {
    uint32_t index = find(w, session, id);
    if (index == 0) return;
    remove_at(w, session_find(w, session), index);
    session_leave(w, session);
}

void watches_end(struct watches *w, uint64_t session) {
    struct watch_session *own = session_find(w, session);
    if (own == NULL) return;
    while (own->first) remove_at(w, own, own->first);
    session_leave(w, session);
}

static uint32_t each_of(const struct watches *w, const struct watch_text *text, watch_fn each, void *ctx) {
    uint32_t count = 0;
    for (uint32_t i = index_get(&w->by_text, text_slice(text), watch_text, w); i; i = watch_at(w, i)->next) {
        if (each) each(ctx, watch_at(w, i)->session, watch_at(w, i)->id);
        count++;
    }
    return count;
}

/* The end of a flow's namespace: seldom watched, so a walk over all watches may find who does. */
static uint32_t each_of_flow(const struct watches *w, uint64_t flow, watch_fn each, void *ctx) {
    uint32_t count = 0;
    if (map_get(&w->by_flow, flow) == 0) return 0;
    for (uint32_t i = 1; i <= w->all.high; i++) {
        const struct watch *x = watch_at(w, i);
        if (x->text == NULL || text_flow(bytes_slice(x->text)) != flow) continue;
        if (bytes_slice(x->text).ptr[0] != WATCH_KEY) continue;
        if (each) each(ctx, x->session, x->id);
        count++;
    }
    return count;
}

uint32_t watches_each(const struct watches *w, enum watch_kind kind, struct watch_where where, struct slice text,
                      watch_fn each, void *ctx) {
    if (w->all.count == 0) return 0;
    if (kind == WATCH_KEY && text.len == 0) return each_of_flow(w, where.flow.v, each, ctx);
    struct watch_text pattern;
    text_make(&pattern, kind, false, where, text);
    uint32_t count = each_of(w, &pattern, each, ctx);
    for (size_t len = 0; len <= text.len; len++) {
        if (w->prefix_lengths[kind][len] == 0) continue;
        text_make(&pattern, kind, true, where, slice_of(text.ptr, len));
        count += each_of(w, &pattern, each, ctx);
    }
    return count;
}
