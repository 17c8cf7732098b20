/* req_read.c: looking. Answers are made from the present state when the request is served, and held until that state
 * is durable. Lists come in pages that cost their size. */
#include <stdio.h>

#include "call.h"
#include "flow_list.h"
#include "history_request.h"
#include "items.h"
#include "reason_view.h"
#include "requests.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "target.h"

#define JOBS_PER_FRAME 1000u
#define PAGE_STANDARD 100u
#define PAGE_MAX 1000u
#define REASONS_MAX 200u /* of a page: each may look at every worker */
#define SCAN_MAX 100000u /* things looked at for one page; a page may then be short, with a cursor to go on */

static bool sees(const struct session *n, struct slice tenant) {
    return n->who.tenant[0] == 0 || slice_eq(tenant, slice_str(n->who.tenant));
}

/* ---- get ---- */

struct got_jobs {
    struct server *s;
    struct request *r;
    struct wire_got m;
    struct wire_job_view *list;
    uint32_t count, left;
};

/* Room for the next frame, and not more: mostly it is about one job. */
static void got_room(struct got_jobs *g) {
    g->list =
        ARENA_ARRAY(&g->s->frame_arena, struct wire_job_view, g->left < JOBS_PER_FRAME ? g->left : JOBS_PER_FRAME);
}

static void got_flush(struct got_jobs *g, bool more) {
    g->m.jobs = (struct tlv_list){g->list, g->count};
    wire_put(&g->s->out, WIRE_GOT, FRAME_ANSWER | (more ? FRAME_MORE : 0), g->r->id, &g->m);
    g->count = 0;
}

static void got_job(void *ctx, const struct job_view *job) {
    struct got_jobs *g = ctx;
    server_view_job(g->s, job, false, &g->list[g->count++]);
    g->left--;
    if (g->count < JOBS_PER_FRAME || g->left == 0) return;
    got_flush(g, true);
    /* The flow is told once, with the first frame. Frames are made one after the other, so memory is reused. */
    g->m.flow = (struct wire_flow_view){0};
    arena_reset(&g->s->frame_arena);
    got_room(g);
}

HANDLER(req_get) {
    const struct wire_get *m = r->message;
    struct target t;
    struct why why = {{0}};
    struct flow_view flow;
    struct call *c;
    struct job_view job;
    enum err e = target_look(s, r->session, m->target, &t, &job, &why);
    if (e == ERR_NOT_FOUND && history_request_look(s, r, m->target)) return;
    bool only_job = e == ERR_OK && !t.whole && r->only_item;
    if (e != ERR_OK || (!only_job && !view_flow(server_state(s), t.job.flow, &flow))) {
        call_fail(s, r, e != ERR_OK ? e : ERR_NOT_FOUND, why.text);
        return;
    }
    arena_reset(&s->frame_arena);
    buf_clear(&s->out);
    struct got_jobs g = {.s = s, .r = r, .m = {.lsn = engine_lsn(server_shard(s)->engine)}};
    g.left = !t.whole ? 1 : m->details ? flow.job_count : 0;
    got_room(&g);
    if (!only_job) server_view_flow(s, &flow, &g.m.flow);
    if (!t.whole && (job.ref.flow.v != 0 || view_job(server_state(s), t.job, &job)))
        server_view_job(s, &job, m->details, &g.list[g.count++]);
    else if (g.left > 0 && t.whole)
        view_each_job(server_state(s), flow.id, got_job, &g);
    if (s->out.len == 0) { /* one message is all */
        g.m.jobs = (struct tlv_list){g.list, g.count};
        call_show(s, r, WIRE_GOT, &g.m);
        return;
    }
    got_flush(&g, false);
    if (s->out.full)
        call_fail(s, r, ERR_LIMIT, "the flow is too large for one answer: list its jobs");
    else if ((c = call_open(s, r, 1)) != NULL)
        call_read(s, r, c, buf_slice(&s->out));
}

/* ---- lists ---- */

struct page {
    struct server *s;
    struct request *r;
    const struct wire_list *m;
    flow_id only; /* dead letters of this flow; 0 = of all */
    uint32_t most, count, looked, reasons;
    uint64_t cursor;   /* position to go on from */
    uint64_t next;     /* of the next page; 0 = there is none */
    uint64_t position; /* of the thing looked at */
    void *list;
    char mark[72]; /* likewise, of dead letters and questions */
};

static bool word_is_wanted(const struct tlv_list *words, const char *word) {
    const struct wire_name *names = words->at;
    for (uint32_t i = 0; i < words->count; i++)
        if (slice_eq(names[i].name, slice_str(word))) return true;
    return words->count == 0;
}

static bool in_time(const struct wire_list *m, wall_time t) {
    return (m->since_ms == 0 || t.ms >= m->since_ms) && (m->until_ms == 0 || t.ms < m->until_ms);
}

static bool state_is_wanted(const struct page *p, enum job_state state, enum job_cause cause) {
    bool is_upstream = state == JOB_FAILED && cause == CAUSE_UPSTREAM;
    if (is_upstream && word_is_wanted(&p->m->states, WIRE_UPSTREAM_FAILED)) return true;
    return !(is_upstream && p->m->apart) && word_is_wanted(&p->m->states, job_state_word(state));
}

static bool job_is_wanted(const struct page *p, const struct job_view *v) {
    return slice_begins(v->name, p->m->name) && in_time(p->m, v->since) && state_is_wanted(p, v->state, v->cause);
}

static bool dead_letter_is_wanted(const struct page *p, const struct job_view *v) {
    struct flow_view flow;
    if (p->only.v != 0 && v->ref.flow.v != p->only.v) return false;
    if (!job_is_wanted(p, v)) return false;
    return view_flow(server_state(p->s), v->ref.flow, &flow) && sees(p->r->session, flow.tenant);
}

static void look_why(struct page *p, const struct job_view *job, struct wire_job_view *shown) {
    struct wire_reason reason;
    reason_view(p->s, job, &reason);
    shown->code = reason.code;
    shown->waits_for = reason.text;
}

/* One job, if it is wanted: its state tells that of most. */
static void look_at_job(struct page *p, struct job_ref ref) {
    struct wire_job_view *list = p->list;
    enum job_state state;
    enum job_cause cause;
    struct job_view job;
    p->looked++;
    if (!view_job_state(server_state(p->s), ref, &state, &cause) || !state_is_wanted(p, state, cause)) return;
    if (!view_job(server_state(p->s), ref, &job) || !job_is_wanted(p, &job)) return;
    struct wire_job_view *shown = &list[p->count++];
    if (p->m->graph)
        server_view_node(p->s, &job, shown);
    else
        server_view_job(p->s, &job, false, shown);
    if (p->m->reasons && !job_state_is_terminal(state) && p->reasons++ < REASONS_MAX) look_why(p, &job, shown);
}

static bool page_has_room(const struct page *p) {
    return p->count < p->most && p->looked < SCAN_MAX;
}

/* From an item on; true: up to the last one. */
static bool list_items(struct page *p, flow_id flow, const struct expansion_view *x, uint64_t *item) {
    for (; *item < x->count && page_has_room(p); ++*item)
        look_at_job(p, (struct job_ref){flow, x->first + (uint32_t)*item});
    return *item == x->count;
}

static enum err list_items_of(struct page *p, flow_id flow, struct why *why) {
    struct expansion_view x = {0};
    struct job_view job;
    uint64_t item = p->cursor;
    if (!view_job_by_name(server_state(p->s), flow, p->m->items_of, &job))
        return why_set(why, ERR_INVALID, "the flow has no job %.*s", SLICE_FMT(p->m->items_of));
    if (job.item != UINT32_MAX || !job.has_items)
        return why_set(why, ERR_INVALID, "%.*s has no items: it has no `foreach`", SLICE_FMT(p->m->items_of));
    (void)view_expansion(server_state(p->s), job.ref, &x); /* none yet: an empty page */
    if (item < x.count && !list_items(p, flow, &x, &item)) p->next = item;
    return ERR_OK;
}

/* The place in a list of jobs and items: 0 is the job, from 1 on its items. A list without items counts jobs alone. */
#define PLACES (1ull << 21)
_Static_assert(PLACES > EXPAND_ITEMS_MAX + 1, "an item has no place");

static void list_own_jobs(struct page *p, flow_id flow, uint32_t count) {
    uint64_t places = p->m->items ? PLACES : 1, at = p->cursor / places, place = p->cursor % places;
    for (; at < count && page_has_room(p); at++, place = 0) {
        struct job_ref ref = {flow, (uint32_t)at};
        struct expansion_view x;
        if (place == 0) look_at_job(p, ref);
        if (!p->m->items || !view_expansion(server_state(p->s), ref, &x)) continue;
        uint64_t item = place > 0 ? place - 1 : 0;
        if (item < x.count && !list_items(p, flow, &x, &item)) {
            p->next = at * PLACES + item + 1;
            return;
        }
    }
    p->next = at < count ? at * places : 0;
}

static enum err list_jobs(struct page *p, flow_id flow, struct why *why) {
    struct flow_view v = {0};
    p->list = ARENA_ARRAY(&p->s->frame_arena, struct wire_job_view, p->most);
    if (p->m->items_of.len > 0) return list_items_of(p, flow, why);
    (void)view_flow(server_state(p->s), flow, &v);
    list_own_jobs(p, flow, v.job_count);
    return ERR_OK;
}

/* Dead letters and questions are walked from the last one of the page before. When that is gone (someone retried or
 * answered it), from the start, over as many as were passed. Its cursor is "passed.first.second". */
struct list_mark {
    uint64_t passed, first, second;
};

static bool mark_parse(struct slice text, struct list_mark *ret) {
    uint64_t *const to[] = {&ret->passed, &ret->first, &ret->second};
    uint32_t n = 0;
    *ret = (struct list_mark){0};
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '.' && n < 2)
            n++;
        else if (text.ptr[i] >= '0' && text.ptr[i] <= '9' && *to[n] < UINT64_MAX / 16)
            *to[n] = *to[n] * 10 + (text.ptr[i] - '0');
        else
            return false;
    return text.len == 0 || n == 2;
}

static void mark_put(struct page *p, const struct list_mark *m) {
    snprintf(p->mark, sizeof p->mark, "%llu.%llu.%llu", (unsigned long long)m->passed, (unsigned long long)m->first,
             (unsigned long long)m->second);
}

static enum err list_dead(struct page *p, struct wire_listed *ret, struct why *why) {
    const struct state *state = server_state(p->s);
    struct wire_job_view *list = ARENA_ARRAY(&p->s->frame_arena, struct wire_job_view, p->most);
    struct job_view v;
    struct list_mark m;
    if (!mark_parse(p->m->cursor, &m))
        return why_set(why, ERR_INVALID, "invalid cursor: it does not come from this server");
    uint32_t at = view_dead_place(state, (struct job_ref){{m.first}, (uint32_t)m.second});
    for (uint64_t skip = at == 0 ? m.passed : 0; skip > 0 && (at = view_dead_next(state, at, p->m->newest, &v)) != 0;)
        skip--;
    bool ended = at == 0 && m.passed > 0;
    while (!ended && p->count < p->most && p->looked < SCAN_MAX &&
           !(ended = (at = view_dead_next(state, at, p->m->newest, &v)) == 0)) {
        p->looked++;
        m = (struct list_mark){m.passed + 1, v.ref.flow.v, v.ref.ordinal};
        if (dead_letter_is_wanted(p, &v)) server_view_job(p->s, &v, false, &list[p->count++]);
    }
    if (!ended && view_dead_next(state, at, p->m->newest, &v) != 0) mark_put(p, &m);
    ret->jobs = (struct tlv_list){list, p->count};
    return ERR_OK;
}

static enum err list_questions(struct page *p, struct wire_listed *ret, struct why *why) {
    const struct state *state = server_state(p->s);
    struct wire_question_view *list = ARENA_ARRAY(&p->s->frame_arena, struct wire_question_view, p->most);
    struct question_view v;
    struct flow_view flow;
    struct list_mark m;
    if (!mark_parse(p->m->cursor, &m))
        return why_set(why, ERR_INVALID, "invalid cursor: it does not come from this server");
    uint32_t at = view_question_place(state, m.first);
    for (v.id.v = 0; at == 0 && m.first != 0 && v.id.v < m.first;) { /* it is gone: up to those behind it */
        uint32_t next = view_question_next(state, at, &v);
        if (next == 0 || v.id.v > m.first) break;
        at = next;
    }
    bool ended = false;
    while (p->count < p->most && p->looked < SCAN_MAX && !(ended = (at = view_question_next(state, at, &v)) == 0)) {
        p->looked++;
        m = (struct list_mark){m.passed + 1, v.id.v, 0};
        if (view_flow(state, v.job.flow, &flow) && sees(p->r->session, flow.tenant))
            server_view_question(p->s, &v, &list[p->count++]);
    }
    if (!ended && view_question_next(state, at, &v) != 0) mark_put(p, &m);
    ret->questions = (struct tlv_list){list, p->count};
    return ERR_OK;
}

/* Workers are few, and walked from the start; the cursor counts what was passed. */
static bool page_wants(struct page *p) {
    uint64_t at = p->position++;
    if (at < p->cursor) return false;
    if (p->count < p->most) return true;
    if (p->next == 0) p->next = at;
    return false;
}

static void one_worker(void *ctx, const struct worker_view *v) {
    struct page *p = ctx;
    if (v->info->tenant.len > 0 && !sees(p->r->session, v->info->tenant)) return;
    if (slice_begins(v->id, p->m->name) && page_wants(p))
        server_view_worker(p->s, v, &((struct wire_worker_view *)p->list)[p->count++]);
}

/* `name` is the worker here, not the beginning of a job's. */
static void one_run(void *ctx, const struct job_view *v) {
    struct page *p = ctx;
    struct flow_view flow;
    if (!view_flow(server_state(p->s), v->ref.flow, &flow) || !sees(p->r->session, flow.tenant)) return;
    if (word_is_wanted(&p->m->states, job_state_word(v->state)) && in_time(p->m, v->since) && page_wants(p))
        server_view_job(p->s, v, false, &((struct wire_job_view *)p->list)[p->count++]);
}

static enum err list_running(struct page *p, struct why *why) {
    struct worker_view v;
    enum err e = target_worker(p->s, p->r->session, p->m->name, &v, why);
    if (e != ERR_OK) return e;
    p->list = ARENA_ARRAY(&p->s->frame_arena, struct wire_job_view, p->most);
    view_each_run(server_state(p->s), v.number, one_run, p);
    return ERR_OK;
}

static enum err list_worker(struct page *p, struct why *why) {
    struct worker_view v;
    enum err e = target_worker(p->s, p->r->session, p->m->name, &v, why);
    if (e != ERR_OK) return e;
    p->list = ARENA_ARRAY(&p->s->frame_arena, struct wire_worker_view, 1);
    server_view_worker(p->s, &v, p->list);
    p->count = 1;
    return ERR_OK;
}

static enum err list_fill(struct page *p, struct wire_listed *ret, struct why *why) {
    struct server *s = p->s;
    flow_id flow = {0};
    enum err e = ERR_OK;
    switch ((enum wire_list_what)p->m->what) {
    case WIRE_LIST_FLOWS: break; /* flow_list.h */
    case WIRE_LIST_JOBS:
        if (p->m->flow.len == 0) return why_set(why, ERR_INVALID, "name the flow whose jobs are to be listed");
        e = target_flow(s, p->r->session, p->m->flow, &flow, why);
        if (e == ERR_OK) e = list_jobs(p, flow, why);
        ret->jobs = (struct tlv_list){p->list, p->count};
        return e;
    case WIRE_LIST_DEAD: return list_dead(p, ret, why);
    case WIRE_LIST_QUESTIONS: return list_questions(p, ret, why);
    case WIRE_LIST_WORKERS:
        p->list = ARENA_ARRAY(&s->frame_arena, struct wire_worker_view, p->most);
        view_each_worker(server_state(s), engine_live(server_shard(s)->engine), one_worker, p);
        ret->workers = (struct tlv_list){p->list, p->count};
        return ERR_OK;
    case WIRE_LIST_RUNNING:
        e = list_running(p, why);
        ret->jobs = (struct tlv_list){p->list, p->count};
        return e;
    case WIRE_LIST_WORKER:
        e = list_worker(p, why);
        ret->workers = (struct tlv_list){p->list, p->count};
        return e;
    case WIRE_LIST_COUNT: break;
    }
    return why_set(why, ERR_INVALID, "unknown list");
}

HANDLER(req_list) {
    const struct wire_list *m = r->message;
    struct why why = {{0}};
    struct page p = {.s = s, .r = r, .m = m, .most = m->most == 0 ? PAGE_STANDARD : m->most};
    struct wire_listed got = {.lsn = engine_lsn(server_shard(s)->engine)};
    char cursor[24];
    if (p.most > PAGE_MAX) p.most = PAGE_MAX;
    arena_reset(&s->frame_arena);
    enum err e = ERR_OK;
    bool marked = m->what == WIRE_LIST_DEAD || m->what == WIRE_LIST_QUESTIONS;
    if (!marked && !slice_decimal(m->cursor, &p.cursor))
        e = why_set(&why, ERR_INVALID, "invalid cursor: it does not come from this server");
    if (e == ERR_OK && m->what == WIRE_LIST_FLOWS) {
        flow_list_read(s, r, p.cursor, p.most);
        return;
    }
    if (e == ERR_OK && (m->labels.count > 0 || m->label.len > 0 || m->text.len > 0 || m->schedule.len > 0))
        e = why_set(&why, ERR_UNSUPPORTED, "only flows can be filtered by label, text or schedule");
    if (e == ERR_OK && m->what == WIRE_LIST_DEAD && m->flow.len > 0)
        e = target_flow(s, r->session, m->flow, &p.only, &why);
    if (e == ERR_OK) e = list_fill(&p, &got, &why);
    if (e == ERR_NOT_FOUND && m->what == WIRE_LIST_JOBS && history_request_look(s, r, m->flow)) return;
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    if (p.next != 0) {
        snprintf(cursor, sizeof cursor, "%llu", (unsigned long long)p.next);
        got.cursor = slice_str(cursor);
    }
    if (p.mark[0] != 0) got.cursor = slice_str(p.mark);
    call_show(s, r, WIRE_LISTED, &got);
}

/* ---- why, stats ---- */

HANDLER(req_why) {
    const struct wire_why *m = r->message;
    struct why why = {{0}};
    struct wire_reason got;
    struct job_view job;
    enum err e = target_job(s, r->session, m->job, &job, &why);
    if (e == ERR_NOT_FOUND && history_request_look(s, r, m->job)) return;
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    arena_reset(&s->frame_arena);
    reason_view(s, &job, &got);
    call_show(s, r, WIRE_REASON, &got);
}
