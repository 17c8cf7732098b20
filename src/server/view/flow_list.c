/* flow_list.c: see flow_list.h. */
#include "flow_list.h"

#include <stdio.h>

#include "call.h"
#include "heap.h"
#include "history_request.h"
#include "late_labels.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "view_history.h"

#define LOOKED_MAX 20000u /* flows in memory looked at for one page; it may then be short, with a cursor to go on */
#define FRESH_MAX 4096u   /* flows that ended and are not in the history yet: with more, all in memory are looked at */
#define WORD_JOBS 256u    /* jobs of a running flow whose names are searched */
#define WORDS_MAX 32u

struct flow_list_entry {
    uint64_t flow;
    struct slice view; /* a flow_view message */
};

struct flow_list_found { /* in memory */
    struct flow_list_entry *at;
    uint32_t count, most, looked;
    uint64_t low; /* everything from here on up was looked at; 0 = all */
};

/* ---- what is wanted ---- */

static bool state_is_wanted(const struct wire_list *m, const struct flow_view *v) {
    const struct wire_name *states = m->states.at;
    for (uint32_t i = 0; i < m->states.count; i++)
        if (slice_eq(states[i].name, slice_str(flow_state_words[v->state]))) return true;
    return m->states.count == 0;
}

static bool labels_are_there(struct server *s, const struct wire_list *m, flow_id flow) {
    const struct wire_pair *wanted = m->labels.at;
    const struct label *own = NULL;
    bool has_key = m->label.len == 0;
    if (m->labels.count == 0 && has_key) return true;
    uint32_t count = late_labels_get(server_state(s), flow, &s->frame_arena, &own);
    for (uint32_t k = 0; k < count; k++) has_key |= slice_eq(own[k].key, m->label);
    if (!has_key) return false;
    for (uint32_t i = 0; i < m->labels.count; i++) {
        bool has = false;
        for (uint32_t k = 0; k < count; k++)
            has |= slice_eq(own[k].key, wanted[i].key) && slice_eq(own[k].value, wanted[i].value);
        if (!has) return false;
    }
    return true;
}

static uint8_t lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

static bool has_word(struct slice text, struct slice word) {
    for (size_t at = 0; at + word.len <= text.len; at++) {
        size_t i = 0;
        while (i < word.len && lower(text.ptr[at + i]) == lower(word.ptr[i])) i++;
        if (i == word.len) return true;
    }
    return word.len == 0;
}

static bool word_is_there(struct server *s, const struct flow_view *v, struct slice word) {
    const struct label *labels = NULL;
    struct job_view job;
    if (has_word(v->name, word)) return true;
    uint32_t count = late_labels_get(server_state(s), v->id, &s->frame_arena, &labels);
    for (uint32_t i = 0; i < count; i++)
        if (has_word(labels[i].key, word) || has_word(labels[i].value, word)) return true;
    for (uint32_t i = 0; i < v->job_count && i < WORD_JOBS; i++)
        if (view_job(server_state(s), (struct job_ref){v->id, i}, &job) && has_word(job.name, word)) return true;
    return false;
}

/* Words are looked for in flows that run; of those that are over the history knows more. */
static bool words_are_there(struct server *s, const struct wire_list *m, const struct flow_view *v) {
    struct slice rest = m->text;
    if (rest.len == 0) return true;
    if (v->state != FLOW_RUNNING && s->world.history != NULL) return false;
    for (uint32_t words = 0; rest.len > 0 && words < WORDS_MAX; words++) {
        size_t len = 0;
        while (len < rest.len && rest.ptr[len] > ' ') len++;
        if (!word_is_there(s, v, slice_of(rest.ptr, len))) return false;
        while (len < rest.len && rest.ptr[len] <= ' ') len++;
        rest = slice_of(rest.ptr + len, rest.len - len);
    }
    return true;
}

static bool job_is_there(struct server *s, const struct wire_list *m, const struct flow_view *v) {
    struct job_view job;
    return m->job.len == 0 || view_job_by_name(server_state(s), v->id, m->job, &job);
}

static bool is_wanted(struct server *s, const struct request *r, const struct flow_view *v) {
    const struct wire_list *m = r->message;
    const char *tenant = r->session->who.tenant;
    if (tenant[0] != 0 && !slice_eq(v->tenant, slice_str(tenant))) return false;
    if (m->schedule.len > 0 && !slice_eq(v->schedule, m->schedule)) return false;
    if (m->since_ms != 0 && v->created.ms < m->since_ms) return false;
    if (m->until_ms != 0 && v->created.ms >= m->until_ms) return false;
    return slice_begins(v->name, m->name) && state_is_wanted(m, v) && labels_are_there(s, m, v->id) &&
           job_is_there(s, m, v) && words_are_there(s, m, v);
}

/* ---- memory ---- */

static void look_at(struct server *s, const struct request *r, uint64_t id, struct arena *arena,
                    struct flow_list_found *f) {
    struct flow_view v;
    struct wire_flow_view shown;
    f->looked++;
    arena_reset(&s->frame_arena);
    if (!view_flow(server_state(s), (flow_id){id}, &v) || !is_wanted(s, r, &v)) return;
    server_view_flow(s, &v, &shown);
    buf_clear(&s->out);
    tlv_encode(&wire_flow_view_desc, &shown, &s->out);
    f->at[f->count++] = (struct flow_list_entry){id, arena_slice(arena, buf_slice(&s->out))};
}

/* Which flows in memory can be on the page: those on some shelves (view_history.h), and some one by one. */
struct memory_walk {
    uint32_t shelves;
    struct heap fresh;    /* over and not in the history yet; the highest number on top */
    uint64_t before, low; /* from below the one down to the other */
};

/* What shelves and numbers cannot tell. */
static bool asks_for_words(const struct wire_list *m) {
    return m->name.len > 0 || m->labels.count > 0 || m->label.len > 0 || m->job.len > 0 || m->text.len > 0 ||
           m->schedule.len > 0;
}

static uint32_t shelves_of(const struct wire_list *m) {
    const struct wire_name *states = m->states.at;
    uint32_t shelves = m->states.count == 0 ? VIEW_ALL : VIEW_KEPT;
    for (uint32_t i = 0; i < m->states.count; i++)
        for (uint32_t state = 0; state < FLOW_STATE_COUNT; state++)
            if (slice_eq(states[i].name, slice_str(flow_state_words[state]))) shelves |= VIEW_SHELF(state);
    return shelves;
}

/* The first number of a flow in memory that was created at `ms` or later. They rise with time, as in the history. */
static uint64_t first_since(struct server *s, int64_t ms) {
    const struct state *state = server_state(s);
    uint64_t low = 0, high = view_flow_last(state) + 1; /* everything up to `low` is too old, what is from `high` not */
    struct flow_view v;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2, at = view_flow_below(state, middle + 1, VIEW_ALL);
        if (at <= low)
            low = middle;
        else if (view_flow(state, (flow_id){at}, &v) && v.created.ms < ms)
            low = middle;
        else
            high = at;
    }
    return high;
}

/* Of flows that are over the history knows by its indices who has which name, label or word: in memory only those are
 * looked at that it cannot know yet. */
static void leave_to_history(struct server *s, struct memory_walk *w) {
    uint64_t *fresh = ARENA_ARRAY(&s->frame_arena, uint64_t, FRESH_MAX);
    struct history_stats now;
    s->world.history->ops->stats(s->world.history, &now);
    uint32_t count = view_ended_after(server_state(s), now.lsn, fresh, FRESH_MAX);
    if (count > FRESH_MAX) return;
    w->shelves &= VIEW_SHELF(FLOW_RUNNING) | VIEW_KEPT;
    for (uint32_t i = 0; i < count; i++) heap_push(&w->fresh, -(int64_t)fresh[i], fresh[i]);
}

static void walk_init(struct server *s, const struct wire_list *m, uint64_t cursor, struct memory_walk *w) {
    uint64_t last = view_flow_last(server_state(s));
    *w = (struct memory_walk){.shelves = shelves_of(m)};
    heap_init(&w->fresh, NULL, NULL);
    w->before = (cursor == 0 || cursor > last ? last : cursor) + 1;
    if (m->since_ms > 0) w->low = first_since(s, m->since_ms);
    if (m->until_ms > 0) {
        uint64_t end = first_since(s, m->until_ms);
        if (end < w->before) w->before = end;
    }
    if (s->world.history != NULL && asks_for_words(m)) leave_to_history(s, w);
}

/* The next one downwards, 0 = there is none. */
static uint64_t walk_next(struct server *s, struct memory_walk *w) {
    uint64_t at = view_flow_below(server_state(s), w->before, w->shelves);
    while (w->fresh.count > 0 && heap_top(&w->fresh)->ref >= w->before) (void)heap_pop(&w->fresh);
    if (w->fresh.count > 0 && heap_top(&w->fresh)->ref > at) at = heap_top(&w->fresh)->ref;
    if (at < w->low) at = 0;
    w->before = at;
    return at;
}

/* Those from `cursor` down, newest first. */
static void look_in_memory(struct server *s, const struct request *r, uint64_t cursor, struct arena *arena,
                           struct flow_list_found *f) {
    struct memory_walk w;
    uint64_t at = UINT64_MAX;
    walk_init(s, r->message, cursor, &w);
    while (f->count < f->most && f->looked < LOOKED_MAX && (at = walk_next(s, &w)) != 0) look_at(s, r, at, arena, f);
    f->low = at;
    heap_fini(&w.fresh);
}

/* ---- both ---- */

struct merge {
    struct server *s;
    struct request *r;
    struct wire_flow_view *list;
    uint32_t count, most;
    uint64_t last; /* the flow that was listed last */
};

static void put(struct merge *g, uint64_t flow, struct slice view) {
    struct why why;
    if (tlv_decode(&wire_flow_view_desc, view, TLV_SKIP_UNKNOWN, &g->s->frame_arena, &g->list[g->count], &why) !=
        ERR_OK) {
        server_log(g->s, SERVER_WARN, "history", "flow %llu cannot be read: %s", (unsigned long long)flow, why.text);
        return;
    }
    g->last = flow;
    g->count++;
}

/* Of a flow that is in memory, memory is right: its row is old when it ran again. With words, what is over is found by
 * its row alone. */
static void put_row(struct merge *g, const struct history_found *row) {
    const struct wire_list *m = g->r->message;
    struct flow_view v;
    if (!view_flow(server_state(g->s), (flow_id){row->flow}, &v) || (m->text.len > 0 && v.state != FLOW_RUNNING)) {
        put(g, row->flow, row->head);
    } else if (is_wanted(g->s, g->r, &v)) {
        server_view_flow(g->s, &v, &g->list[g->count++]);
        g->last = row->flow;
    }
}

static void answer(struct merge *g, uint64_t next) {
    struct server *s = g->s;
    char cursor[24];
    struct wire_listed got = {.lsn = engine_lsn(server_shard(s)->engine), .flows = {g->list, g->count}};
    if (next != 0) {
        snprintf(cursor, sizeof cursor, "%llu", (unsigned long long)next);
        got.cursor = slice_str(cursor);
    }
    got.partial = s->world.history != NULL && history_request_is_partial(s);
    call_show(s, g->r, WIRE_LISTED, &got);
}

static void then_list(struct server *s, struct request *r, struct history_request_wait *w,
                      const struct history_answer *a) {
    const struct flow_list_found *f = w->kept;
    struct merge g = {.s = s, .r = r, .most = f->most - 1};
    uint64_t low = f->low > a->next ? f->low : a->next; /* below it one of the two was not looked at */
    uint32_t i = 0, k = 0;
    g.list = ARENA_ARRAY(&s->frame_arena, struct wire_flow_view, f->most);
    while (g.count < g.most) {
        uint64_t memory = i < f->count ? f->at[i].flow : 0, row = k < a->count ? a->found[k].flow : 0;
        uint64_t flow = memory > row ? memory : row;
        if (flow == 0 || flow < low) break;
        if (memory == flow)
            put(&g, flow, f->at[i].view);
        else
            put_row(&g, &a->found[k]);
        i += memory == flow;
        k += row == flow;
    }
    bool full = g.count == g.most && (i < f->count || k < a->count || low != 0);
    answer(&g, full ? g.last - 1 : low != 0 ? low - 1 : 0);
}

/* Those that a flow in the history can be in, each once; none when it can be in any of them. */
static uint32_t states_of(const struct request *r, struct slice *ret) {
    uint32_t shelves = shelves_of(r->message), count = 0;
    if (((const struct wire_list *)r->message)->states.count == 0) return 0;
    for (uint32_t state = FLOW_RUNNING + 1; state < FLOW_STATE_COUNT; state++)
        if (shelves & VIEW_SHELF(state)) ret[count++] = slice_str(flow_state_words[state]);
    if (count == 0) ret[count++] = slice_str(flow_state_words[FLOW_RUNNING]); /* so that there is nothing */
    return count == FLOW_STATE_COUNT - 1 ? 0 : count;
}

static void query_of(struct server *s, struct request *r, uint64_t cursor, uint32_t most, struct history_query *ret) {
    const struct wire_list *m = r->message;
    const struct wire_pair *labels = m->labels.at;
    struct slice *state_list = ARENA_ARRAY(r->arena, struct slice, FLOW_STATE_COUNT);
    uint32_t state_count = states_of(r, state_list);
    struct slice *label_list = ARENA_ARRAY(r->arena, struct slice, m->labels.count + 1);
    for (uint32_t i = 0; i < m->labels.count; i++) {
        size_t room = labels[i].key.len + labels[i].value.len + 2;
        char *text = arena_alloc(r->arena, room);
        int len = snprintf(text, room, "%.*s=%.*s", SLICE_FMT(labels[i].key), SLICE_FMT(labels[i].value));
        label_list[i] = slice_of(text, (size_t)len);
    }
    *ret = (struct history_query){.before = cursor != 0 ? cursor + 1 : 0,
                                  .most = most,
                                  .tenant = slice_str(r->session->who.tenant),
                                  .name = m->name,
                                  .text = m->text,
                                  .job = m->job,
                                  .schedule = m->schedule,
                                  .states = state_list,
                                  .state_count = state_count,
                                  .labels = label_list,
                                  .label_count = m->labels.count,
                                  .label_key = m->label,
                                  .since_ms = m->since_ms,
                                  .until_ms = m->until_ms};
    (void)s;
}

void flow_list_read(struct server *s, struct request *r, uint64_t cursor, uint32_t most) {
    struct flow_list_found f = {.most = most + 1};
    if (s->world.history == NULL) {
        struct history_answer none = {0};
        struct history_request_wait alone = {.kept = &f};
        f.at = ARENA_ARRAY(r->arena, struct flow_list_entry, f.most);
        look_in_memory(s, r, cursor, r->arena, &f);
        then_list(s, r, &alone, &none);
        return;
    }
    struct history_query q;
    query_of(s, r, cursor, most + 1, &q);
    struct history_request_wait *w = history_request_ask(s, r, &q, then_list);
    if (w == NULL) return;
    f.at = ARENA_ARRAY(&w->arena, struct flow_list_entry, f.most);
    look_in_memory(s, r, cursor, &w->arena, &f);
    w->kept = ARENA_NEW(&w->arena, struct flow_list_found);
    *(struct flow_list_found *)w->kept = f;
}
