/* verb_graph.c: a flow drawn in the terminal. Jobs come in their order, parents first, each under the parent that comes
 * last; what else it needs stands beside it. So every job is one line, however the graph looks. */
#include <stdio.h>

#include "map.h"
#include "out.h"
#include "verbs.h"

#define DRAWN_MAX 5000u

struct graph {
    struct cli *c;
    const struct wire_job_view **jobs;
    uint32_t count;
    struct index by_name;
    uint32_t *under;        /* position + 1 of the parent that it hangs under; 0 = none */
    uint32_t *first, *next; /* children that hang under it, position + 1 */
};

static struct slice short_name(struct slice job) {
    const uint8_t *slash = job.len > 0 ? memchr(job.ptr, '/', job.len) : NULL;
    size_t skip = slash != NULL ? (size_t)(slash - job.ptr) + 1 : 0;
    return slice_of(job.ptr + skip, job.len - skip);
}

static struct slice name_of(const void *ctx, uint32_t value) {
    const struct graph *g = ctx;
    return short_name(g->jobs[value - 1]->job);
}

static enum err load_names(struct graph *g, struct slice flow, struct vec *ret) {
    struct cli *c = g->c;
    struct client_frame f;
    struct wire_get m = {.target = flow, .details = true};
    enum err e = client_ask(&c->client, WIRE_GET, &m, &f, c->why);
    while (e == ERR_OK) {
        const struct wire_got *got = f.message;
        const struct wire_job_view *jobs = got->jobs.at;
        for (uint32_t i = 0; i < got->jobs.count; i++) *(struct slice *)vec_push(ret) = jobs[i].job;
        if (ret->count > DRAWN_MAX)
            return cli_refuse(c, ERR_LIMIT, "a flow of more than %u jobs is no picture: see `reeve ls %s`", DRAWN_MAX,
                              c->args[0]);
        if (!(f.flags & FRAME_MORE)) return ERR_OK;
        e = client_answer(&c->client, f.request, &f, c->why);
    }
    return e;
}

/* Parents come with one job at a time; all are asked for at once. */
static enum err load(struct graph *g) {
    struct cli *c = g->c;
    struct vec names;
    vec_init(&names, sizeof(struct slice));
    enum err e = load_names(g, slice_str(c->args[0]), &names);
    g->jobs = ARENA_ARRAY(&c->arena, const struct wire_job_view *, names.count + 1);
    uint32_t first = c->client.request_last + 1, request = 0;
    for (uint32_t i = 0; e == ERR_OK && i < names.count; i++) {
        struct wire_get m = {.target = *(struct slice *)vec_at(&names, i), .details = true};
        e = client_send(&c->client, WIRE_GET, &m, &request, c->why);
    }
    while (e == ERR_OK && g->count < names.count) {
        struct client_frame f;
        e = client_next(&c->client, -1, &f, c->why);
        if (e == ERR_OK && f.op != 0) e = client_refusal(&f, c->why);
        if (e != ERR_OK || f.op != WIRE_GOT) continue;
        const struct wire_got *got = f.message;
        if (got->jobs.count != 1) continue;
        g->jobs[f.request - first] = got->jobs.at;
        g->count++;
    }
    vec_fini(&names);
    return e;
}

static void arrange(struct graph *g) {
    struct arena *a = &g->c->arena;
    uint32_t *last = ARENA_ARRAY(a, uint32_t, g->count + 1);
    g->under = ARENA_ARRAY(a, uint32_t, g->count + 1);
    g->first = ARENA_ARRAY(a, uint32_t, g->count + 1);
    g->next = ARENA_ARRAY(a, uint32_t, g->count + 1);
    for (uint32_t i = 0; i < g->count; i++) index_put(&g->by_name, short_name(g->jobs[i]->job), i + 1);
    for (uint32_t i = 0; i < g->count; i++) {
        const struct wire_name *parents = g->jobs[i]->parents.at;
        for (uint32_t k = 0; k < g->jobs[i]->parents.count; k++) {
            uint32_t p = index_get(&g->by_name, parents[k].name, name_of, g);
            if (p > g->under[i] && p <= i) g->under[i] = p; /* ordinals rise along the edges */
        }
        uint32_t up = g->under[i];
        if (last[up] == 0)
            g->first[up] = i + 1;
        else
            g->next[last[up] - 1] = i + 1;
        last[up] = i + 1;
    }
}

static void draw_job(const struct graph *g, uint32_t i, struct slice lead, bool is_last, bool is_root) {
    const struct wire_job_view *v = g->jobs[i];
    const struct wire_name *parents = v->parents.at;
    const struct cli *c = g->c;
    printf("%.*s%s", SLICE_FMT(lead), is_root ? "" : is_last ? "└─ " : "├─ ");
    printf("%s%s ", out_paint(c, out_state_colour(v->state)), out_state_sign(v->state));
    out_clean(stdout, short_name(v->job));
    printf("%s", out_plain(c));
    if (v->attempt > 1) printf(" #%u", v->attempt);
    if (v->cause.len > 0) printf(" (%.*s)", SLICE_FMT(v->cause));
    const char *before = "  ← ";
    for (uint32_t k = 0; k < v->parents.count; k++) {
        if (g->under[i] != 0 && slice_eq(parents[k].name, short_name(g->jobs[g->under[i] - 1]->job))) continue;
        printf("%s%s", out_paint(c, OUT_GREY), before);
        out_clean(stdout, parents[k].name);
        printf("%s", out_plain(c));
        before = ", ";
    }
    printf("\n");
}

/* Depth first without recursion: the way down is in `under`, and what stands left of a line is the way. */
static void draw(const struct graph *g) {
    struct buf lead;
    buf_init(&lead, 1u << 20);
    uint32_t at = g->first[0];
    while (at != 0) {
        uint32_t i = at - 1;
        bool is_root = g->under[i] == 0, is_last = g->next[i] == 0;
        draw_job(g, i, buf_slice(&lead), is_last, is_root);
        if (g->first[at] != 0) {
            if (!is_root) buf_put_slice(&lead, is_last ? SLICE("   ") : SLICE("│  "));
            at = g->first[at];
            continue;
        }
        while (at != 0 && g->next[at - 1] == 0) {
            at = g->under[at - 1];
            if (at == 0 || g->under[at - 1] == 0) continue;
            /* One step up: "   " is three bytes, "│  " five. */
            bool was_last = g->next[at - 1] == 0;
            buf_cut(&lead, lead.len - (was_last ? 3 : 5));
        }
        if (at != 0) at = g->next[at - 1];
    }
    buf_fini(&lead);
}

enum err verb_graph(struct cli *c) {
    struct graph g = {.c = c};
    index_init(&g.by_name);
    enum err e = load(&g);
    if (e == ERR_OK && c->json)
        for (uint32_t i = 0; i < g.count; i++) out_json(&wire_job_view_desc, g.jobs[i]);
    if (e == ERR_OK && !c->json) {
        arrange(&g);
        draw(&g);
    }
    index_fini(&g.by_name);
    return e;
}
