/* top_data.c: what `reeve top` asks the server, and what becomes of the answers. */
#include <stdio.h>

#include "top.h"

#define TAIL_BYTES 4096u
#define FOLLOW_BYTES 65536u

/* ---- asking ---- */

static enum err ask(struct top *t, enum wire_op op, const void *message, uint32_t *ret_request) {
    return client_send(&t->c->client, op, message, ret_request, t->c->why);
}

static enum err ask_list(struct top *t, struct top_view *v, uint8_t what) {
    struct wire_list m = {.what = what, .most = TOP_ROWS_MAX};
    if (v->kind == TOP_JOBS) m.flow = slice_str(v->target), m.reasons = true;
    const uint8_t *slash = m.flow.len > 0 ? memchr(m.flow.ptr, '/', m.flow.len) : NULL;
    if (slash != NULL) { /* the items of a foreach job */
        m.items_of = lineout_short_name(m.flow);
        m.flow.len -= m.items_of.len + 1;
    }
    /* Without a filter what has room is enough, and one more to know that there is more. */
    uint32_t wanted = v->at + t->screen.rows + 50u;
    if (v->filter[0] == 0 && wanted < m.most) m.most = wanted;
    return ask(t, WIRE_LIST, &m, &v->parts[TOP_PART_MAIN].request);
}

static enum err ask_job(struct top *t, struct top_view *v) {
    struct wire_get get = {.target = slice_str(v->target), .details = true};
    struct wire_why why = {slice_str(v->target)};
    struct wire_logs logs = {.job = slice_str(v->target), .tail_bytes = TAIL_BYTES};
    enum err e = ask(t, WIRE_GET, &get, &v->parts[TOP_PART_MAIN].request);
    if (e == ERR_OK) e = ask(t, WIRE_WHY, &why, &v->parts[TOP_PART_WHY].request);
    if (e == ERR_OK && v->parts[TOP_PART_LOG].request == 0)
        e = ask(t, WIRE_LOGS, &logs, &v->parts[TOP_PART_LOG].request);
    return e;
}

static enum err ask_log(struct top *t, struct top_view *v) {
    struct wire_logs m = {.job = slice_str(v->target), .attempt = v->attempt, .follow = true};
    if (v->parts[TOP_PART_LOG].request != 0) return ERR_OK;
    if (v->attempt == 0) m.tail_bytes = FOLLOW_BYTES;
    return ask(t, WIRE_LOGS, &m, &v->parts[TOP_PART_LOG].request);
}

enum err top_ask_view(struct top *t, struct top_view *v) {
    struct wire_page page = {.most = TOP_ROWS_MAX};
    v->is_dirty = false;
    v->asked_ms = top_now_ms(t);
    switch (v->kind) {
    case TOP_FLOWS: return ask_list(t, v, WIRE_LIST_FLOWS);
    case TOP_WORKERS: return ask_list(t, v, WIRE_LIST_WORKERS);
    case TOP_QUESTIONS: return ask_list(t, v, WIRE_LIST_QUESTIONS);
    case TOP_DEAD: return ask_list(t, v, WIRE_LIST_DEAD);
    case TOP_JOBS: return ask_list(t, v, WIRE_LIST_JOBS);
    case TOP_SERVICES: return ask(t, WIRE_SERVICE_LS, &page, &v->parts[TOP_PART_MAIN].request);
    case TOP_JOB: return ask_job(t, v);
    case TOP_LOG: return v->is_answered ? ERR_OK : ask_log(t, v);
    case TOP_ASK:
    case TOP_HELP:
    case TOP_KIND_COUNT: break;
    }
    return ERR_OK;
}

enum err top_ask_stats(struct top *t) {
    struct wire_empty m = {0};
    t->ticked_ms = top_now_ms(t);
    return ask(t, WIRE_STATS, &m, &t->stats_request);
}

/* ---- numbers ---- */

uint64_t top_number(const struct top *t, const char *name) {
    for (uint32_t i = 0; i < t->numbers.count; i++) {
        const struct top_number *n = vec_at(&t->numbers, i);
        if (slice_eq(n->name, slice_str(name))) return n->amount;
    }
    return 0;
}

static void hear_stats(struct top *t, const struct wire_stats *m) {
    const struct wire_amount *list = m->numbers.at;
    arena_reset(&t->numbers_arena);
    t->numbers.count = 0;
    for (uint32_t i = 0; i < m->numbers.count; i++) {
        struct top_number *n = vec_push(&t->numbers);
        *n = (struct top_number){arena_slice(&t->numbers_arena, list[i].name), list[i].amount};
    }
    struct top_sample s = {.ms = top_now_ms(t),
                           .started = top_number(t, "entered_dispatched"), /* a short one is never seen running */
                           .succeeded = top_number(t, "entered_succeeded"),
                           .failed = top_number(t, "entered_failed") + top_number(t, "entered_timed_out") +
                                     top_number(t, "entered_denied") + top_number(t, "entered_quarantined"),
                           .syncs = top_number(t, "journal_syncs")};
    const struct top_sample *last = &t->samples[(t->sample_count + TOP_SAMPLES - 1) % TOP_SAMPLES];
    if (t->sample_count > 0 && s.syncs < last->syncs) t->sample_count = 0; /* another process of the server */
    t->samples[t->sample_count++ % TOP_SAMPLES] = s;
}

/* Over the last three seconds: calmer than one, and still of now. */
void top_rates(const struct top *t, struct top_sample *ret) {
    uint32_t back = t->sample_count > 4 ? 3 : t->sample_count > 0 ? t->sample_count - 1 : 0;
    *ret = (struct top_sample){0};
    if (back == 0) return;
    const struct top_sample *a = &t->samples[(t->sample_count - 1 - back) % TOP_SAMPLES];
    const struct top_sample *b = &t->samples[(t->sample_count - 1) % TOP_SAMPLES];
    uint64_t ms = b->ms > a->ms ? (uint64_t)(b->ms - a->ms) : 1;
    ret->started = (b->started - a->started) * 1000000 / ms;
    ret->succeeded = (b->succeeded - a->succeeded) * 1000000 / ms;
    ret->failed = (b->failed - a->failed) * 1000000 / ms;
    ret->syncs = (b->syncs - a->syncs) * 1000000 / ms;
}

/* ---- hearing ---- */

static void hear_workers(struct top *t, const struct wire_listed *m) {
    const struct wire_worker_view *list = m->workers.at;
    t->slots = t->slots_active = t->workers_here = 0;
    for (uint32_t i = 0; i < m->workers.count; i++) {
        if (!list[i].attached) continue;
        t->slots += list[i].slots;
        t->slots_active += list[i].active;
        t->workers_here++;
    }
}

static void hear_main(struct top *t, struct top_view *v, const struct client_frame *f) {
    int64_t now = top_wall_ms(t);
    bool is_page = f->op == WIRE_LISTED;
    if (is_page && v->kind == TOP_FLOWS) top_rows_flows(v, f->message, now);
    if (is_page && (v->kind == TOP_JOBS || v->kind == TOP_DEAD)) top_rows_jobs(v, f->message, now);
    if (is_page && v->kind == TOP_QUESTIONS) top_rows_questions(v, f->message, now);
    if (is_page && v->kind == TOP_WORKERS) {
        top_rows_workers(v, f->message);
        hear_workers(t, f->message);
    }
    if (f->op == WIRE_SERVICE_LIST && v->kind == TOP_SERVICES) top_rows_services(v, f->message, now);
    if (f->op == WIRE_GOT && v->kind == TOP_JOB) {
        const struct wire_got *got = f->message;
        if (got->jobs.count > 0) top_rows_job(v, got->jobs.at);
    }
    v->note[0] = 0;
    v->is_answered = true;
}

/* One attempt is over and another has begun: it is followed in turn. */
static void follow_next(struct top_view *v) {
    if (v->kind != TOP_LOG || v->parts[TOP_PART_LOG].request != 0 || v->attempt_last <= v->attempt) return;
    v->attempt = v->attempt_last;
    v->is_answered = false;
    v->is_dirty = true;
    v->note[0] = 0;
}

static void hear_log(struct top_view *v, const struct client_frame *f, bool is_last) {
    const struct wire_log_data *m = f->message;
    v->attempt = m->attempt;
    top_rows_log(v, v->kind, m);
    if (v->kind == TOP_LOG && is_last) {
        v->is_answered = true;
        snprintf(v->note, sizeof v->note, "attempt %u is over", m->attempt);
        follow_next(v);
    }
}

static void hear_view(struct top *t, struct top_view *v, const struct client_frame *f) {
    bool is_last = !(f->flags & FRAME_MORE);
    for (size_t i = 0; i < TOP_PART_COUNT; i++) {
        if (v->parts[i].request == 0 || v->parts[i].request != f->request) continue;
        t->is_stale = true;
        if (is_last) v->parts[i].request = 0;
        if (client_refusal(f, t->c->why) != ERR_OK) {
            if (i == TOP_PART_MAIN) {
                top_part_clear(&v->parts[i]);
                snprintf(v->note, sizeof v->note, "%s", t->c->why->text);
            }
            v->is_answered = true;
        } else if (i == TOP_PART_MAIN) {
            hear_main(t, v, f);
        } else if (i == TOP_PART_WHY && f->op == WIRE_REASON) {
            top_rows_why(v, f->message);
        } else if (i == TOP_PART_LOG && f->op == WIRE_LOG_DATA) {
            hear_log(v, f, is_last);
        }
    }
}

static void hear_events(struct top *t, const struct wire_events *m) {
    const struct wire_event *list = m->events.at;
    struct top_view *v = top_view(t);
    v->is_dirty = true;
    for (uint32_t i = 0; v->kind == TOP_LOG && i < m->events.count; i++) {
        if (!slice_eq(list[i].target, slice_str(v->target))) continue;
        if (list[i].attempt > v->attempt_last) v->attempt_last = list[i].attempt;
    }
    follow_next(v);
}

static void hear_action(struct top *t, const struct client_frame *f) {
    enum err e = client_refusal(f, t->c->why);
    const struct wire_accepted *m = f->message;
    const struct wire_result *results = f->op == WIRE_ACCEPTED ? m->results.at : NULL;
    t->action_request = 0;
    t->message_style = SCREEN_GREEN;
    snprintf(t->message, sizeof t->message, "%s %s", t->action.target, t->action.done);
    if (e == ERR_OK && results != NULL && m->results.count > 0 && results[0].code.len > 0) {
        e = ERR_STATE;
        snprintf(t->c->why->text, sizeof t->c->why->text, "%.*s", SLICE_FMT(results[0].message));
    }
    if (e != ERR_OK) {
        t->message_style = SCREEN_RED;
        snprintf(t->message, sizeof t->message, "%s", t->c->why->text);
    }
    top_view(t)->is_dirty = t->is_stale = true;
}

enum err top_hear(struct top *t, const struct client_frame *f) {
    if (f->request == 0) return ERR_OK;
    for (uint32_t i = 0; i < TOP_PANE_COUNT; i++) hear_view(t, &t->panes[i], f);
    for (uint32_t i = 0; i < t->depth; i++) hear_view(t, &t->deep[i], f);
    if (f->request == t->events_request && f->op == WIRE_EVENTS) hear_events(t, f->message);
    if (f->request == t->action_request) hear_action(t, f);
    if (f->request == t->stats_request) {
        t->stats_request = 0;
        t->is_stale = true;
        if (f->op == WIRE_NUMBERS) hear_stats(t, f->message);
        if (f->op == WIRE_ERROR) return client_refusal(f, t->c->why); /* nothing here can be looked at */
    }
    return ERR_OK;
}
