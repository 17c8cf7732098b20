/* ask_read.c: looking. Answers are made from the present state when the request is served, and held until that state
 * is durable. Lists come in pages that cost their size. */
#include <stdio.h>

#include "call.h"
#include "flowlist.h"
#include "past.h"
#include "route.h"
#include "session.h"
#include "show.h"
#include "target.h"

#define JOBS_PER_FRAME 1000u
#define PAGE_STANDARD 100u
#define PAGE_MAX 1000u
#define SCAN_MAX 100000u /* things looked at for one page; a page may then be short, with a cursor to go on */

/* Sends what is in s->out, once it is durable. */
static void answer_held(struct server *s, struct request *r) {
    struct call *c = call_open(s, r, 1);
    if (c != NULL) call_read(s, r, c, buf_slice(&s->out));
}

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
    g->list = ARENA_ARRAY(&g->s->show, struct wire_job_view, g->left < JOBS_PER_FRAME ? g->left : JOBS_PER_FRAME);
}

static void got_flush(struct got_jobs *g, bool more) {
    g->m.jobs = (struct tlv_list){g->list, g->count};
    wire_put(&g->s->out, WIRE_GOT, FRAME_ANSWER | (more ? FRAME_MORE : 0), g->r->id, &g->m);
    g->count = 0;
}

static void got_job(void *ctx, const struct job_view *job) {
    struct got_jobs *g = ctx;
    show_job(g->s, job, false, &g->list[g->count++]);
    g->left--;
    if (g->count < JOBS_PER_FRAME || g->left == 0) return;
    got_flush(g, true);
    /* The flow is told once, with the first frame. Frames are made one after the other, so memory is reused. */
    g->m.flow = (struct wire_flow_view){0};
    arena_reset(&g->s->show);
    got_room(g);
}

void ask_get(struct server *s, struct request *r) {
    const struct wire_get *m = r->message;
    struct target t;
    struct why why = {{0}};
    struct flow_view flow;
    enum err e = target_find(s, r->session, m->target, &t, &why);
    if (e == ERR_NOT_FOUND && past_look(s, r, m->target)) return;
    if (e != ERR_OK || !view_flow(server_state(s), t.job.flow, &flow)) {
        call_fail(s, r, e != ERR_OK ? e : ERR_NOT_FOUND, why.text);
        return;
    }
    arena_reset(&s->show);
    buf_clear(&s->out);
    struct got_jobs g = {.s = s, .r = r, .m = {.lsn = engine_lsn(s->engine)}};
    g.left = !t.whole ? 1 : m->details ? flow.job_count : 0;
    got_room(&g);
    show_flow(s, &flow, &g.m.flow);
    struct job_view job;
    if (!t.whole && view_job(server_state(s), t.job, &job))
        show_job(s, &job, m->details, &g.list[g.count++]);
    else if (g.left > 0 && t.whole)
        view_each_job(server_state(s), flow.id, got_job, &g);
    got_flush(&g, false);
    if (s->out.full)
        call_fail(s, r, ERR_LIMIT, "the flow is too large to be shown at once: list its jobs");
    else
        answer_held(s, r);
}

/* ---- lists ---- */

struct page {
    struct server *s;
    struct request *r;
    const struct wire_list *m;
    uint32_t most, count, looked;
    uint64_t cursor;   /* position to go on from */
    uint64_t next;     /* of the next page; 0 = there is none */
    uint64_t position; /* of the thing looked at */
    void *list;
};

static bool word_is_wanted(const struct tlv_list *words, const char *word) {
    const struct wire_name *names = words->at;
    for (uint32_t i = 0; i < words->count; i++)
        if (slice_eq(names[i].name, slice_str(word))) return true;
    return words->count == 0;
}

static bool begins(struct slice text, struct slice with) {
    return text.len >= with.len && (with.len == 0 || memcmp(text.ptr, with.ptr, with.len) == 0);
}

static bool in_time(const struct wire_list *m, wall_time t) {
    return (m->since_ms == 0 || t.ms >= m->since_ms) && (m->until_ms == 0 || t.ms < m->until_ms);
}

static bool job_is_wanted(struct page *p, const struct job_view *v) {
    struct flow_view flow;
    if (!begins(v->name, p->m->name) || !in_time(p->m, v->since)) return false;
    if (!word_is_wanted(&p->m->states, job_state_word(v->state))) return false;
    return view_flow(server_state(p->s), v->ref.flow, &flow) && sees(p->r->session, flow.tenant);
}

static void list_jobs(struct page *p, flow_id flow) {
    struct wire_job_view *list = ARENA_ARRAY(&p->s->show, struct wire_job_view, p->most);
    struct flow_view v;
    (void)view_flow(server_state(p->s), flow, &v);
    uint64_t i = p->cursor;
    for (; i < v.job_count && p->count < p->most && p->looked < SCAN_MAX; i++, p->looked++) {
        struct job_view job;
        if (view_job(server_state(p->s), (struct job_ref){flow, (uint32_t)i}, &job) && job_is_wanted(p, &job))
            show_job(p->s, &job, false, &list[p->count++]);
    }
    p->next = i < v.job_count ? i : 0;
    p->list = list;
}

/* Lists without an order of their own are walked from the start; the cursor counts what was passed. */
static bool page_wants(struct page *p) {
    uint64_t at = p->position++;
    if (at < p->cursor) return false;
    if (p->count < p->most) return true;
    if (p->next == 0) p->next = at;
    return false;
}

static void dead_letter(void *ctx, const struct job_view *v) {
    struct page *p = ctx;
    if (job_is_wanted(p, v) && page_wants(p)) show_job(p->s, v, false, &((struct wire_job_view *)p->list)[p->count++]);
}

static void one_question(void *ctx, const struct question_view *v) {
    struct page *p = ctx;
    struct flow_view flow;
    if (!view_flow(server_state(p->s), v->job.flow, &flow) || !sees(p->r->session, flow.tenant)) return;
    if (page_wants(p)) show_question(p->s, v, &((struct wire_question_view *)p->list)[p->count++]);
}

static void one_worker(void *ctx, const struct worker_view *v) {
    struct page *p = ctx;
    if (v->info->tenant.len > 0 && !sees(p->r->session, v->info->tenant)) return;
    if (begins(v->id, p->m->name) && page_wants(p))
        show_worker(p->s, v, &((struct wire_worker_view *)p->list)[p->count++]);
}

static enum err list_fill(struct page *p, struct wire_listed *ret, struct why *why) {
    struct server *s = p->s;
    flow_id flow = {0};
    enum err e = ERR_OK;
    switch ((enum wire_list_what)p->m->what) {
    case WIRE_LIST_FLOWS: break; /* flowlist.h */
    case WIRE_LIST_JOBS:
        if (p->m->flow.len == 0) return why_set(why, ERR_INVALID, "jobs of which flow? Name one");
        e = target_flow(s, p->r->session, p->m->flow, &flow, why);
        if (e == ERR_OK) list_jobs(p, flow);
        ret->jobs = (struct tlv_list){p->list, p->count};
        return e;
    case WIRE_LIST_DEAD:
        p->list = ARENA_ARRAY(&s->show, struct wire_job_view, p->most);
        view_each_dead_letter(server_state(s), dead_letter, p);
        ret->jobs = (struct tlv_list){p->list, p->count};
        return ERR_OK;
    case WIRE_LIST_QUESTIONS:
        p->list = ARENA_ARRAY(&s->show, struct wire_question_view, p->most);
        view_each_question(server_state(s), one_question, p);
        ret->questions = (struct tlv_list){p->list, p->count};
        return ERR_OK;
    case WIRE_LIST_WORKERS:
        p->list = ARENA_ARRAY(&s->show, struct wire_worker_view, p->most);
        view_each_worker(server_state(s), engine_live(s->engine), one_worker, p);
        ret->workers = (struct tlv_list){p->list, p->count};
        return ERR_OK;
    case WIRE_LIST_COUNT: break;
    }
    return why_set(why, ERR_INVALID, "there is no such list");
}

static bool cursor_parse(struct slice text, uint64_t *ret) {
    uint64_t v = 0;
    if (text.len > 19) return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        v = v * 10 + (text.ptr[i] - '0');
    }
    *ret = v;
    return true;
}

void ask_list(struct server *s, struct request *r) {
    const struct wire_list *m = r->message;
    struct why why = {{0}};
    struct page p = {.s = s, .r = r, .m = m, .most = m->most == 0 ? PAGE_STANDARD : m->most};
    struct wire_listed got = {.lsn = engine_lsn(s->engine)};
    char cursor[24];
    if (p.most > PAGE_MAX) p.most = PAGE_MAX;
    arena_reset(&s->show);
    enum err e = ERR_OK;
    if (!cursor_parse(m->cursor, &p.cursor)) e = why_set(&why, ERR_INVALID, "that cursor is none of this server's");
    if (e == ERR_OK && r->session->job.job.flow.v != 0 && m->what != WIRE_LIST_JOBS)
        e = why_set(&why, ERR_FORBIDDEN, "a job may list the jobs of its own flow, nothing else");
    if (e == ERR_OK && m->what == WIRE_LIST_FLOWS) {
        flowlist_ask(s, r, p.cursor, p.most);
        return;
    }
    if (e == ERR_OK && (m->labels.count > 0 || m->text.len > 0))
        e = why_set(&why, ERR_UNSUPPORTED, "only flows can be searched by label or text");
    if (e == ERR_OK) e = list_fill(&p, &got, &why);
    if (e == ERR_NOT_FOUND && m->what == WIRE_LIST_JOBS && past_look(s, r, m->flow)) return;
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    if (p.next != 0) {
        snprintf(cursor, sizeof cursor, "%llu", (unsigned long long)p.next);
        got.cursor = slice_str(cursor);
    }
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_LISTED, FRAME_ANSWER, r->id, &got);
    answer_held(s, r);
}

/* ---- why, stats ---- */

void ask_why(struct server *s, struct request *r) {
    const struct wire_why *m = r->message;
    struct why why = {{0}};
    struct why_job reason;
    struct job_view job, parent;
    struct worker_view worker;
    enum err e = target_job(s, r->session, m->job, &job, &why);
    if (e == ERR_NOT_FOUND && past_look(s, r, m->job)) return;
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    (void)view_why(server_state(s), engine_live(s->engine), s->limits, job.ref, &reason);
    arena_reset(&s->show);
    struct wire_reason got = {.lsn = engine_lsn(s->engine),
                              .job = show_job_name(s, &job),
                              .state = slice_str(job_state_word(job.state)),
                              .parents_open = reason.parents_open,
                              .limit = reason.limit,
                              .question = reason.question.v};
    show_reason(s, &reason, &got);
    struct wire_job_view shown;
    if (job_state_is_terminal(job.state)) show_job(s, &job, false, &shown);
    if (job_state_is_terminal(job.state) && shown.reason.len > 0) got.text = shown.reason;
    bool ends = reason.block == BLOCK_TIME || reason.block == BLOCK_PREFERENCE || reason.block == BLOCK_QUESTION ||
                reason.block == BLOCK_RATE_LIMIT || reason.block == BLOCK_OUTSIDE;
    if (ends && reason.until.ms != TIME_NEVER) got.until_ms = reason.until.ms;
    if (reason.block == BLOCK_OUTSIDE || slice_eq(got.gate, SLICE("external"))) show_outside(s, &job, &reason, &got);
    if (reason.block == BLOCK_PARENTS && reason.parent.ordinal != UINT32_MAX &&
        view_job(server_state(s), reason.parent, &parent))
        got.parent = show_job_name(s, &parent);
    if ((reason.block == BLOCK_STOPPING || reason.block == BLOCK_START) &&
        view_worker(server_state(s), NULL, reason.worker, &worker))
        got.worker = worker.id;
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_REASON, FRAME_ANSWER, r->id, &got);
    answer_held(s, r);
}

static struct wire_amount named(struct arena *arena, const char *group, const char *word, uint64_t amount) {
    char *name = arena_alloc(arena, 40);
    snprintf(name, 40, "%s_%s", group, word);
    return (struct wire_amount){slice_str(name), amount};
}

/* Besides sums: `jobs_STATE` are there now, `entered_STATE` came into it since the start of this process, and of those
 * that are ready `ready_REASON` are held back by it. */
struct tlv_list ask_stats_list(struct server *s, struct arena *arena) {
    struct state_counts n;
    uint64_t blocks[BLOCK_COUNT];
    view_ready_blocks(server_state(s), engine_live(s->engine), s->limits, blocks);
    view_counts(server_state(s), engine_live(s->engine), &n);
    struct packs_stats blobs, logs;
    blobs_stats(s->vault.blobs, &blobs);
    joblogs_stats(s->vault.logs, &logs);
    struct history_stats past = {0};
    if (s->world.history != NULL) s->world.history->ops->stats(s->world.history, &past);
    const struct wire_amount fixed[] = {
        {SLICE("flows"), n.flows},
        {SLICE("flows_running"), n.flows_running},
        {SLICE("jobs"), n.jobs},
        {SLICE("workers"), n.workers},
        {SLICE("questions"), n.questions},
        {SLICE("services"), n.services},
        {SLICE("idempotency_keys"), n.keys},
        {SLICE("dead_letters"), n.dead_letters},
        {SLICE("store_keys"), n.store_keys},
        {SLICE("limits"), n.limits},
        {SLICE("stale_refused"), n.stale_refused},
        {SLICE("state_bytes"), n.bytes},
        {SLICE("journal_reserved_bytes"), n.reserved_bytes},
        {SLICE("journal_syncs"), s->sync_count},
        {SLICE("epoch"), s->epoch},
        {SLICE("connections"), s->sessions.count},
        {SLICE("calls"), s->calls.count},
        {SLICE("requests"), s->request_count},
        {SLICE("busy"), s->busy_count},
        {SLICE("logins"), s->logins.count},
        {SLICE("logins_failed"), s->logins.failed_count},
        {SLICE("http_limited"), s->logins.limited_count},
        {SLICE("blob_bytes"), blobs.file_bytes},
        {SLICE("blobs_swept"), s->sweep.total_dropped},
        {SLICE("log_bytes"), logs.file_bytes},
        {SLICE("history_flows"), past.flows},
        {SLICE("history_bytes"), past.bytes},
        {SLICE("history_lsn"), past.lsn},
        {SLICE("history_lag_flows"), project_lag(s)},
        {SLICE("followers"), s->herald.followers.count},
        {SLICE("dropped_events"), s->herald.dropped},
        {SLICE("history_rebuilding"), s->world.history != NULL && past.state != HISTORY_WHOLE},
        {SLICE("recovery_records"), s->playground.recovery.records},
        {SLICE("recovery_adopted"), s->playground.recovery.attempts_adopted},
        {SLICE("recovery_again"), s->playground.recovery.attempts_again},
        {SLICE("recovery_lost"), s->playground.recovery.lost},
    };
    uint32_t count = sizeof fixed / sizeof fixed[0];
    struct wire_amount *all = ARENA_ARRAY(arena, struct wire_amount, count + 2 * JOB_STATE_COUNT + BLOCK_COUNT);
    memcpy(all, fixed, sizeof fixed);
    for (uint32_t i = 0; i < JOB_STATE_COUNT; i++)
        all[count++] = named(arena, "jobs", job_state_word((enum job_state)i), n.by_state[i]);
    for (uint32_t i = 0; i < JOB_STATE_COUNT; i++)
        all[count++] = named(arena, "entered", job_state_word((enum job_state)i), s->feed.entered[i]);
    for (uint32_t i = 0; i < BLOCK_COUNT; i++)
        if (blocks[i] > 0) all[count++] = named(arena, "ready", block_word((enum block)i), blocks[i]);
    return (struct tlv_list){all, count};
}

void ask_stats(struct server *s, struct request *r) {
    struct wire_stats got = {.lsn = engine_lsn(s->engine), .numbers = ask_stats_list(s, r->arena)};
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_NUMBERS, FRAME_ANSWER, r->id, &got);
    answer_held(s, r);
}
