/* graph.c: see graph.h. */
#include "graph_text.h"

#include <stdio.h>

#include "job_text.h"
#include "lineout.h"

#define ASKED_MAX 256u /* jobs asked about at a time */

void graph_init(struct graph_text *g, struct cli *c) {
    *g = (struct graph_text){.c = c};
    vec_init(&g->jobs, sizeof(struct graph_text_job));
    index_init(&g->by_name);
    arena_init(&g->arena, 65536, (size_t)1 << 30);
}

void graph_fini(struct graph_text *g) {
    arena_fini(&g->arena);
    index_fini(&g->by_name);
    vec_fini(&g->jobs);
}

static struct graph_text_job *job_at(const struct graph_text *g, uint32_t i) {
    return vec_at(&g->jobs, i);
}

static struct slice name_of(const void *ctx, uint32_t value) {
    return job_at(ctx, value - 1)->name;
}

static uint32_t find(const struct graph_text *g, struct slice name) {
    return index_get(&g->by_name, name, name_of, g);
}

/* ---- what is known ---- */

/* States are few: the words of the table are used where it has them, so that changes take no memory. */
static struct slice word(struct graph_text *g, struct slice state) {
    struct slice known = out_state_word(state);
    return known.len > 0 ? known : arena_slice(&g->arena, state);
}

/* With `only` it is that job, or an item of it. */
static bool is_drawn(const struct graph_text *g, struct slice name) {
    if (!slice_begins(name, g->only)) return false;
    return g->only.len == 0 || name.len == g->only.len || name.ptr[g->only.len] == '[';
}

/* How it ended, or what its items do. */
static void note_end(struct graph_text *g, struct graph_text_job *j, const struct wire_job_view *v) {
    struct buf text;
    buf_init(&text, 4096);
    if (v->items > 0)
        job_text_items(v, &text);
    else
        job_text_end(v, &text);
    if (!slice_eq(j->cause, buf_slice(&text))) j->cause = arena_slice(&g->arena, buf_slice(&text));
    buf_fini(&text);
}

static enum err note_job(struct graph_text *g, const struct wire_job_view *v) {
    struct slice name = lineout_short_name(v->job);
    uint32_t i = find(g, name);
    if (!is_drawn(g, name)) return ERR_OK;
    if (i == 0) {
        if (g->jobs.count == GRAPH_JOBS_MAX)
            return cli_refuse(g->c, ERR_LIMIT, "the flow has more than %u jobs, too many to draw: use `reeve ls`",
                              GRAPH_JOBS_MAX);
        struct graph_text_job *j = vec_push(&g->jobs);
        j->name = arena_slice(&g->arena, name);
        i = g->jobs.count;
        index_put(&g->by_name, j->name, i);
    }
    struct graph_text_job *j = job_at(g, i - 1);
    j->state = word(g, job_text_state(v));
    j->attempt = v->attempt;
    j->items = v->items;
    note_end(g, j, v);
    return ERR_OK;
}

bool graph_change(struct graph_text *g, const struct wire_event *event) {
    uint32_t i = find(g, lineout_short_name(event->target));
    if (i == 0) return !is_drawn(g, lineout_short_name(event->target));
    struct graph_text_job *j = job_at(g, i - 1);
    struct wire_job_view now = {.state = event->to, .cause = event->cause};
    j->state = word(g, job_text_state(&now));
    if (j->items == 0 && !slice_eq(j->cause, event->cause)) j->cause = arena_slice(&g->arena, event->cause);
    if (event->attempt > 0) j->attempt = event->attempt;
    return true;
}

static enum err load_jobs(struct graph_text *g, struct slice target) {
    struct cli *c = g->c;
    struct client_frame f;
    struct wire_get m = {.target = target, .details = true};
    enum err e = client_ask(&c->client, WIRE_GET, &m, &f, c->why);
    while (e == ERR_OK) {
        const struct wire_got *got = f.message;
        const struct wire_job_view *jobs = got->jobs.at;
        if (g->flow.len == 0) {
            g->flow = arena_slice(&g->arena, got->flow.flow);
            g->name = arena_slice(&g->arena, got->flow.name);
        }
        for (uint32_t i = 0; e == ERR_OK && i < got->jobs.count; i++) e = note_job(g, &jobs[i]);
        if (e != ERR_OK || !(f.flags & FRAME_MORE)) return e;
        e = client_answer(&c->client, f.request, &f, c->why);
    }
    return e;
}

/* The items of a job, page by page; they have no parents but it. */
static enum err load_items(struct graph_text *g, uint32_t whole) {
    struct cli *c = g->c;
    struct client_frame f;
    struct wire_list m = {
        .what = WIRE_LIST_JOBS, .flow = g->flow, .items_of = job_at(g, whole)->name, .graph = true, .most = 1000};
    enum err e = ERR_OK;
    do {
        e = client_ask(&c->client, WIRE_LIST, &m, &f, c->why);
        if (e != ERR_OK) return e;
        const struct wire_listed *page = f.message;
        const struct wire_job_view *jobs = page->jobs.at;
        for (uint32_t i = 0; e == ERR_OK && i < page->jobs.count; i++) {
            e = note_job(g, &jobs[i]);
            uint32_t at = find(g, lineout_short_name(jobs[i].job));
            if (e != ERR_OK || at == 0 || job_at(g, at - 1)->is_known) continue;
            struct graph_text_job *j = job_at(g, at - 1);
            j->parents = ARENA_ARRAY(&g->arena, uint32_t, 1);
            j->parents[0] = whole;
            j->parent_count = 1;
            j->is_known = j->is_item = true;
        }
        m.cursor = arena_slice(&g->arena, page->cursor);
        client_forget(&c->client);
    } while (e == ERR_OK && m.cursor.len > 0);
    return e;
}

static enum err load_all_items(struct graph_text *g) {
    enum err e = ERR_OK;
    for (uint32_t i = 0, count = g->jobs.count; e == ERR_OK && i < count; i++)
        if (job_at(g, i)->items > 0) e = load_items(g, i);
    return e;
}

static void note_parents(struct graph_text *g, const struct wire_job_view *v) {
    const struct wire_name *names = v->parents.at;
    uint32_t i = find(g, lineout_short_name(v->job));
    if (i == 0) return;
    struct graph_text_job *j = job_at(g, i - 1);
    j->parents = ARENA_ARRAY(&g->arena, uint32_t, v->parents.count + 1);
    j->parent_count = 0;
    j->is_known = true;
    for (uint32_t k = 0; k < v->parents.count; k++) {
        uint32_t p = find(g, names[k].name);
        if (p != 0) j->parents[j->parent_count++] = p - 1;
    }
}

/* Parents come with one job at a time; many are asked about at once. */
static enum err load_parents(struct graph_text *g) {
    struct cli *c = g->c;
    uint32_t asked = 0, next = 0, request = 0, first = c->client.request_last;
    enum err e = ERR_OK;
    while (e == ERR_OK && (asked > 0 || next < g->jobs.count)) {
        for (; e == ERR_OK && asked < ASKED_MAX && next < g->jobs.count; next++) {
            char target[WIRE_TARGET_MAX + 1];
            if (job_at(g, next)->is_known) continue;
            snprintf(target, sizeof target, "%.*s/%.*s", SLICE_FMT(g->flow), SLICE_FMT(job_at(g, next)->name));
            struct wire_get m = {.target = slice_str(target), .details = true};
            e = client_send(&c->client, WIRE_GET, &m, &request, c->why);
            asked++;
        }
        struct client_frame f = {0};
        if (e == ERR_OK && asked > 0) e = client_next(&c->client, -1, &f, c->why);
        if (e != ERR_OK || f.op == 0 || f.request <= first) continue;
        e = client_refusal(&f, c->why);
        const struct wire_got *got = f.message;
        if (e == ERR_OK && f.op == WIRE_GOT && got->jobs.count == 1) note_parents(g, got->jobs.at);
        asked--;
        client_forget(&c->client);
    }
    return e;
}

static void hang(struct graph_text *g, uint32_t *last, uint32_t i) {
    const struct graph_text_job *j = job_at(g, i);
    if (last[j->under] != 0)
        job_at(g, last[j->under] - 1)->next = i + 1;
    else if (j->under != 0)
        job_at(g, j->under - 1)->first = i + 1;
    else
        g->root_first = i + 1;
    last[j->under] = i + 1;
}

/* Ordinals rise along the edges, so one pass is enough. Items come first under their foreach job. */
static void arrange(struct graph_text *g) {
    struct arena scratch;
    arena_init(&scratch, 65536, (size_t)64 << 20);
    uint32_t *last = ARENA_ARRAY(&scratch, uint32_t, g->jobs.count + 1);
    g->root_first = g->layer_count = 0;
    for (uint32_t i = 0; i < g->jobs.count; i++) {
        struct graph_text_job *j = job_at(g, i);
        j->under = j->first = j->next = j->layer = 0;
        for (uint32_t k = 0; k < j->parent_count; k++) {
            uint32_t p = j->parents[k];
            if (p >= i) continue;
            if (p + 1 > j->under) j->under = p + 1;
            if (job_at(g, p)->layer >= j->layer) j->layer = job_at(g, p)->layer + 1;
        }
        if (j->layer >= g->layer_count) g->layer_count = j->layer + 1;
    }
    for (uint32_t i = 0; i < g->jobs.count; i++)
        if (job_at(g, i)->is_item) hang(g, last, i);
    for (uint32_t i = 0; i < g->jobs.count; i++)
        if (!job_at(g, i)->is_item) hang(g, last, i);
    arena_fini(&scratch);
}

enum err graph_load(struct graph_text *g, struct slice target) {
    const uint8_t *slash = memchr(target.ptr, '/', target.len);
    if (slash != NULL) {
        g->unfolds = true;
        g->only = arena_slice(&g->arena, lineout_short_name(target));
        target = slice_of(target.ptr, (size_t)(slash - target.ptr));
    }
    enum err e = load_jobs(g, target);
    if (e == ERR_OK && g->only.len > 0 && find(g, g->only) == 0)
        return cli_refuse(g->c, ERR_NOT_FOUND, "flow %.*s has no job %.*s", SLICE_FMT(g->flow), SLICE_FMT(g->only));
    if (e == ERR_OK) e = load_parents(g);
    if (e == ERR_OK && g->unfolds) e = load_all_items(g);
    if (e == ERR_OK) arrange(g);
    return e;
}

/* ---- drawing ---- */

static void put(const struct graph_pen *pen, enum out_colour colour, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void put(const struct graph_pen *pen, enum out_colour colour, const char *format, ...) {
    char text[WIRE_TARGET_MAX + 64];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pen->put(pen->ctx, colour, slice_str(text));
}

static void draw_job(const struct graph_text *g, const struct graph_pen *pen, const struct graph_text_job *j,
                     struct slice lead, bool is_last) {
    pen->put(pen->ctx, OUT_GREY, lead);
    if (j->under != 0) put(pen, OUT_GREY, "%s", is_last ? "└─ " : "├─ ");
    put(pen, out_state_colour(j->state), "%s %.*s", out_state_sign(j->state), SLICE_FMT(j->name));
    if (j->attempt > 1) put(pen, OUT_PLAIN, " #%u", j->attempt);
    if (j->cause.len > 0) put(pen, OUT_PLAIN, " (%.*s)", SLICE_FMT(j->cause));
    const char *before = "  ← ";
    for (uint32_t k = 0; k < j->parent_count; k++) {
        if (j->parents[k] + 1 == j->under) continue;
        put(pen, OUT_GREY, "%s%.*s", before, SLICE_FMT(job_at(g, j->parents[k])->name));
        before = ", ";
    }
    pen->end_line(pen->ctx);
}

/* Depth first without recursion: the way down is in `under`, and what stands left of a line is the way. */
void graph_draw_tree(const struct graph_text *g, const struct graph_pen *pen) {
    struct buf lead;
    buf_init(&lead, 1u << 20);
    uint32_t at = g->root_first;
    while (at != 0) {
        const struct graph_text_job *j = job_at(g, at - 1);
        bool is_last = j->next == 0;
        draw_job(g, pen, j, buf_slice(&lead), is_last);
        if (j->first != 0) {
            if (j->under != 0) buf_put_slice(&lead, is_last ? SLICE("   ") : SLICE("│  "));
            at = j->first;
            continue;
        }
        while (at != 0 && job_at(g, at - 1)->next == 0) {
            at = job_at(g, at - 1)->under;
            if (at == 0 || job_at(g, at - 1)->under == 0) continue;
            /* One step up: "   " is three bytes, "│  " five. */
            bool was_last = job_at(g, at - 1)->next == 0;
            buf_cut(&lead, lead.len - (was_last ? 3 : 5));
        }
        if (at != 0) at = job_at(g, at - 1)->next;
    }
    buf_fini(&lead);
}

struct graph_tally {
    uint32_t by_state[OUT_STATES_MAX];
    uint32_t total, over;
};

static void count(struct graph_tally *t, const struct graph_text_job *j) {
    uint32_t i = out_state_number(j->state);
    if (i < OUT_STATES_MAX) t->by_state[i]++;
    t->over += out_state_is_end(j->state);
    t->total++;
}

static void draw_tally(const struct graph_pen *pen, const struct graph_tally *t, bool words) {
    for (uint32_t i = 0; i < OUT_STATES_MAX; i++) {
        if (t->by_state[i] == 0) continue;
        struct slice state = out_state_at(i);
        put(pen, out_state_colour(state), "%s %u", out_state_sign(state), t->by_state[i]);
        put(pen, OUT_PLAIN, words ? " %.*s  " : "%.*s  ", words ? (int)state.len : 0, (const char *)state.ptr);
    }
}

static void draw_bar(const struct graph_pen *pen, const struct graph_tally *t, uint32_t width) {
    uint32_t filled = t->total > 0 ? (uint32_t)((uint64_t)width * t->over / t->total) : 0;
    for (uint32_t i = 0; i < width; i++) put(pen, i < filled ? OUT_GREEN : OUT_GREY, "%s", i < filled ? "━" : "─");
    put(pen, OUT_PLAIN, " %u/%u  ", t->over, t->total);
}

void graph_draw_layers(const struct graph_text *g, uint32_t lines, const struct graph_pen *pen) {
    uint32_t step = lines > 0 ? (g->layer_count + lines - 1) / lines : 1;
    for (uint32_t from = 0; from < g->layer_count; from += step) {
        struct graph_tally t = {0};
        const struct graph_text_job *some = NULL;
        uint32_t to = from + step < g->layer_count ? from + step : g->layer_count;
        for (uint32_t i = 0; i < g->jobs.count; i++) {
            const struct graph_text_job *j = job_at(g, i);
            if (j->layer < from || j->layer >= to) continue;
            if (some == NULL) some = j;
            count(&t, j);
        }
        if (to - from > 1)
            put(pen, OUT_GREY, "layers %3u–%-3u ", from + 1, to);
        else
            put(pen, OUT_GREY, "layer %3u      ", from + 1);
        draw_bar(pen, &t, 16);
        draw_tally(pen, &t, false);
        if (some != NULL) put(pen, OUT_GREY, t.total > 1 ? "%.*s …" : "%.*s", SLICE_FMT(some->name));
        pen->end_line(pen->ctx);
    }
}

void graph_draw_legend(const struct graph_text *g, const struct graph_pen *pen) {
    struct graph_tally t = {0};
    for (uint32_t i = 0; i < g->jobs.count; i++) count(&t, job_at(g, i));
    draw_bar(pen, &t, 16);
    draw_tally(pen, &t, true);
    pen->end_line(pen->ctx);
}
