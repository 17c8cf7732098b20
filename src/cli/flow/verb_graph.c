/* verb_graph.c: `reeve graph`, once or, with --watch, drawn again in place whenever a job changes. What happens between
 * two events is told by the server from the present state on, so a picture is never older than the last event. */
#include <stdio.h>
#include <time.h>

#include "api_print.h"
#include "graph_text.h"
#include "screen.h"
#include "tty.h"
#include "verbs.h"

#define REDRAW_MS 50
#define AGAIN_MS 250
#define AWAY_MS_MAX 60000

/* ---- on paper ---- */

static void print_text(void *ctx, enum out_colour colour, struct slice text) {
    const struct cli *c = ctx;
    fputs(out_paint(c, colour), stdout);
    out_clean(stdout, text);
    if (colour != OUT_PLAIN) fputs(out_plain(c), stdout);
}

static void print_end(void *ctx) {
    (void)ctx;
    fputc('\n', stdout);
}

/* ---- on a screen ---- */

struct canvas {
    struct screen *screen;
    uint32_t row, col;
};

static void draw_text(void *ctx, enum out_colour colour, struct slice text) {
    static const uint8_t styles[] = {SCREEN_PLAIN, SCREEN_GREEN, SCREEN_RED, SCREEN_YELLOW,
                                     SCREEN_CYAN,  SCREEN_GREY,  SCREEN_BOLD};
    struct canvas *v = ctx;
    v->col += screen_put(v->screen, v->row, v->col, v->screen->cols, styles[colour], text);
}

static void draw_end(void *ctx) {
    struct canvas *v = ctx;
    v->row++;
    v->col = 0;
}

struct graph_watch {
    struct cli *c;
    struct graph_text graph;
    struct screen screen;
    bool draws;                    /* else changes are told line by line */
    bool is_dirty, is_bad, is_new; /* new: something came that is not in the picture */
    bool is_waited;                /* the flow is over; what has happened may still be on its way */
    bool is_away;
    int64_t attached_ms;
    uint32_t events_request, wait_request;
    int64_t drawn_ms;
};

static int64_t now_ms(const struct graph_watch *w) {
    return w->c->world->clock->mono(w->c->world->clock).ms;
}

/* The head, the jobs or as many layers as there is room for, the legend. */
static void draw(struct graph_watch *w) {
    uint32_t rows = 0, cols = 0, jobs = w->graph.jobs.count;
    struct canvas canvas = {.screen = &w->screen};
    struct graph_pen pen = {draw_text, draw_end, &canvas};
    struct buf out;
    tty_size(&rows, &cols);
    uint32_t room = rows > 4 ? rows - 3 : 1; /* for the head, the legend, and a line on which the cursor rests */
    bool is_tree = jobs <= room;
    uint32_t layers = w->graph.layer_count < room ? w->graph.layer_count : room;
    uint32_t step = layers > 0 ? (w->graph.layer_count + layers - 1) / layers : 1;
    uint32_t lines = is_tree ? jobs : (w->graph.layer_count + step - 1) / step;
    if (w->screen.rows != lines + 3 || w->screen.cols != cols) screen_resize(&w->screen, lines + 3, cols);
    screen_clear(&w->screen);
    draw_text(&canvas, OUT_BOLD, w->graph.flow);
    draw_text(&canvas, OUT_PLAIN, SLICE(" "));
    draw_text(&canvas, OUT_PLAIN, w->graph.name);
    if (w->is_away) draw_text(&canvas, OUT_RED, SLICE("  connection lost"));
    draw_end(&canvas);
    if (is_tree)
        graph_draw_tree(&w->graph, &pen);
    else
        graph_draw_layers(&w->graph, room, &pen);
    graph_draw_legend(&w->graph, &pen);
    screen_cursor(&w->screen, lines + 2, 0); /* whatever ends this, the next line is a new one */
    buf_init(&out, SCREEN_BYTES_MAX);
    screen_flush(&w->screen, &out);
    tty_write(buf_slice(&out));
    buf_fini(&out);
    w->is_dirty = false;
    w->drawn_ms = now_ms(w);
}

/* ---- watching ---- */

/* The flow as it is now, and what happens from now on. */
static enum err attach(struct graph_watch *w) {
    struct cli *c = w->c;
    struct wire_name name = {slice_str(c->args[0])}, flow = {slice_of(name.name.ptr, strcspn(c->args[0], "/"))};
    struct wire_follow events = {.targets = {&flow, 1}, .state_first = true}; /* items have events of their own */
    struct wire_wait wait = {.targets = {&name, 1}};
    struct wire_stop stop = {.request = w->events_request};
    uint32_t ignored = 0;
    enum err e = ERR_OK;
    if (w->events_request != 0) e = client_send(&c->client, WIRE_STOP, &stop, &ignored, c->why);
    if (e == ERR_OK) e = graph_load(&w->graph, name.name);
    if (e == ERR_OK) e = client_send(&c->client, WIRE_FOLLOW, &events, &w->events_request, c->why);
    if (e == ERR_OK) e = client_send(&c->client, WIRE_WAIT, &wait, &w->wait_request, c->why);
    w->is_new = w->is_waited = w->is_bad = false;
    w->is_dirty = true;
    w->attached_ms = now_ms(w);
    return e;
}

static enum err come_back(struct graph_watch *w) {
    struct timespec t = {0, AGAIN_MS * 1000000L};
    enum err e = ERR_UNKNOWN;
    client_close(&w->c->client);
    w->is_away = true;
    if (w->draws) draw(w);
    for (int waited = 0; e == ERR_UNKNOWN && waited < AWAY_MS_MAX; waited += AGAIN_MS) {
        nanosleep(&t, NULL);
        e = cli_connect(w->c);
    }
    w->is_away = false;
    w->events_request = w->wait_request = 0;
    return e == ERR_OK ? attach(w) : e;
}

static void tell(const struct graph_watch *w, const struct wire_event *event) {
    if (w->c->json) {
        api_print_line(w->c, &wire_event_desc, event);
    } else if (!w->draws) {
        printf("%s ", out_state_sign(event->to));
        out_clean(stdout, event->target);
        printf(" %.*s\n", SLICE_FMT(event->to));
    }
    fflush(stdout);
}

static void hear_events(struct graph_watch *w, const struct wire_events *m) {
    const struct wire_event *list = m->events.at;
    w->is_new |= m->gap;
    for (uint32_t i = 0; i < m->events.count; i++) {
        if (!slice_eq(list[i].kind, SLICE("job"))) continue;
        w->is_new |= !graph_change(&w->graph, &list[i]);
        if (list[i].from.len > 0 || w->c->json) tell(w, &list[i]); /* programs begin with the present state */
    }
    w->is_dirty = true;
}

/* Events of the end may come after it: the stream is ended, and with its last frame we have them. */
static enum err hear_end(struct graph_watch *w, const struct client_frame *f) {
    const struct wire_waited *m = f->message;
    const struct wire_job_view *over = m->over.at;
    struct wire_stop stop = {.request = w->events_request};
    uint32_t ignored = 0;
    for (uint32_t i = 0; i < m->over.count; i++) w->is_bad |= !slice_eq(over[i].state, SLICE("succeeded"));
    if (f->flags & FRAME_MORE) return ERR_OK;
    w->is_waited = true;
    return w->events_request == 0 ? ERR_OK : client_send(&w->c->client, WIRE_STOP, &stop, &ignored, w->c->why);
}

static enum err hear(struct graph_watch *w, const struct client_frame *f) {
    enum err e = client_refusal(f, w->c->why);
    if (f->request == w->wait_request) return e == ERR_OK ? hear_end(w, f) : e;
    if (f->request != w->events_request || w->events_request == 0) return ERR_OK;
    if (!(f->flags & FRAME_MORE)) w->events_request = 0; /* that was all; one that is over has none */
    if (e == ERR_OK && f->op == WIRE_EVENTS) hear_events(w, f->message);
    return ERR_OK;
}

static enum err step(struct graph_watch *w) {
    int64_t due = w->drawn_ms + REDRAW_MS - now_ms(w);
    bool must_draw = w->draws && w->is_dirty;
    struct client_frame f;
    if (tty_changed()) {
        screen_lost(&w->screen);
        must_draw = w->draws;
    }
    if (must_draw && due <= 0) draw(w);
    bool reattaches = w->is_new && !w->is_waited;
    int64_t again = w->attached_ms + AGAIN_MS - now_ms(w); /* many items may begin and end in that time */
    int64_t wait = must_draw && due > 0 ? due : reattaches ? (again > 0 ? again : 0) : -1;
    enum err e = client_next(&w->c->client, (int)wait, &f, w->c->why);
    if (e == ERR_OK && f.op != 0) e = hear(w, &f);
    client_forget(&w->c->client);
    if (e == ERR_OK && reattaches && again <= 0) e = attach(w);
    return e == ERR_UNKNOWN ? come_back(w) : e;
}

static void finish(struct graph_watch *w) {
    struct graph_pen paper = {print_text, print_end, w->c};
    if (w->draws) {
        draw(w);
    } else if (!w->c->json) {
        graph_draw_tree(&w->graph, &paper);
        graph_draw_legend(&w->graph, &paper);
    }
    if (w->is_bad) w->c->exit_code = EXIT_ENDED_BADLY;
}

static enum err watch(struct cli *c) {
    struct graph_watch w = {.c = c};
    graph_init(&w.graph, c);
    w.graph.unfolds = cli_flag(c, "items") != NULL;
    screen_init(&w.screen, true, c->colour);
    enum err e = attach(&w);
    w.draws = e == ERR_OK && !c->json && tty_open(TTY_DRAWING);
    while (e == ERR_OK && !(w.is_waited && w.events_request == 0)) e = step(&w);
    if (e == ERR_OK) e = graph_load(&w.graph, slice_str(c->args[0]));
    if (e == ERR_OK) finish(&w);
    tty_close();
    screen_fini(&w.screen);
    graph_fini(&w.graph);
    return e;
}

/* ---- once ---- */

/* For programs: the jobs with their parents, as the route of HTTP has them. */
static enum err print_jobs(struct cli *c) {
    struct slice target = slice_str(c->args[0]);
    size_t len = strcspn(c->args[0], "/");
    struct wire_list m = {.what = WIRE_LIST_JOBS,
                          .flow = slice_of(target.ptr, len),
                          .graph = true,
                          .items = cli_flag(c, "items") != NULL,
                          .most = 1000};
    struct api_print answer;
    enum err e = ERR_OK;
    if (len < target.len) m.items_of = slice_of(target.ptr + len + 1, target.len - len - 1);
    api_print_begin(&answer, c, "/flows/{flow}/graph");
    do {
        struct client_frame f;
        e = client_ask(&c->client, WIRE_LIST, &m, &f, c->why);
        if (e != ERR_OK) break;
        const struct wire_listed *page = f.message;
        api_print_page(&answer, f.op, page);
        m.cursor = page->cursor;
    } while (m.cursor.len > 0);
    api_print_end(&answer);
    return e;
}

enum err verb_graph(struct cli *c) {
    struct graph_text g;
    struct graph_pen paper = {print_text, print_end, c};
    if (cli_flag(c, "watch") != NULL) return watch(c);
    if (c->json) return print_jobs(c);
    graph_init(&g, c);
    g.unfolds = cli_flag(c, "items") != NULL;
    enum err e = graph_load(&g, slice_str(c->args[0]));
    if (e == ERR_OK) graph_draw_tree(&g, &paper);
    graph_fini(&g);
    return e;
}
