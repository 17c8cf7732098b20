/* top_draw.c: a frame of `reeve top`: three lines about the server, the tabs, the view, and a line at the foot. */
#include <stdio.h>

#include "top.h"

#define HEAD_ROWS 3u
#define TABS_ROW 4u
#define VIEW_ROW 5u
#define LABEL_WIDTH 14u
#define FLEX_LEAST 12u /* with less, other columns go */

struct top_column {
    const char *title;
    uint8_t most; /* cells; 0 = all that is left */
    uint8_t drop; /* where there is no room, the highest goes first; 0 = never */
    bool is_bar, is_right;
};

#define JOB_COLUMNS                                                                                      \
    {                                                                                                    \
        {"JOB", 32, 0, false, false}, {"STATE", 13, 0, false, false}, {"CAUSE", 12, 3, false, false},    \
            {"TRY", 7, 2, false, true}, {"WORKER", 20, 4, false, false}, {"SINCE", 6, 1, false, true}, { \
            "REASON", 0, 0, false, false                                                                 \
        }                                                                                                \
    }

static const struct top_column columns[TOP_JOBS + 1][TOP_COLUMNS_MAX] = {
    [TOP_FLOWS] = {{"FLOW", 12, 0, false, false},
                   {"NAME", 0, 0, false, false},
                   {"STATE", 13, 0, false, false},
                   {"PROGRESS", 16, 3, true, false},
                   {"DONE", 13, 1, false, true},
                   {"RUN", 6, 4, false, true},
                   {"BAD", 6, 2, false, true},
                   {"TOOK", 5, 5, false, true}},
    [TOP_WORKERS] = {{"WORKER", 32, 0, false, false},
                     {"STATE", 10, 0, false, false},
                     {"POOL", 16, 2, false, false},
                     {"SLOTS", 16, 3, true, false},
                     {"BUSY", 9, 0, false, true},
                     {"CPU", 6, 4, false, true},
                     {"OFFERS", 0, 0, false, false}},
    [TOP_QUESTIONS] = {{"JOB", 32, 0, false, false},
                       {"WAITS FOR", 10, 0, false, false},
                       {"VOTES", 6, 2, false, true},
                       {"ROLE", 12, 3, false, false},
                       {"SINCE", 6, 1, false, true},
                       {"ASKS", 0, 0, false, false}},
    [TOP_SERVICES] = {{"SERVICE", 24, 0, false, false},
                      {"STATE", 12, 0, false, false},
                      {"HEALTHY", 7, 0, false, false},
                      {"PORT", 5, 2, false, true},
                      {"RESTARTS", 8, 1, false, true},
                      {"WORKER", 24, 3, false, false},
                      {"SINCE", 6, 4, false, true},
                      {"JOB, OR WHY NOT", 0, 0, false, false}},
    [TOP_DEAD] = JOB_COLUMNS,
    [TOP_JOBS] = JOB_COLUMNS,
};

static const char *const tabs[TOP_PANE_COUNT] = {"Flows", "Workers", "Questions", "Services", "Dead letters"};
static const char *const tab_numbers[TOP_PANE_COUNT] = {"flows", "workers", "questions", "services", "dead_letters"};

/* ---- the head ---- */

static uint32_t put(struct top *t, uint32_t row, uint32_t col, uint8_t style, const char *text) {
    return col + screen_put(&t->screen, row, col, t->screen.cols, style, slice_str(text));
}

static void put_right(struct top *t, uint32_t row, uint8_t style, const char *text) {
    uint32_t width = screen_width(slice_str(text)) + 1;
    if (width < t->screen.cols) (void)put(t, row, t->screen.cols - width, style, text);
}

/* "label 12.4/s  " */
static uint32_t put_rate(struct top *t, uint32_t row, uint32_t col, const char *label, uint64_t milli, uint8_t style) {
    col = put(t, row, col, SCREEN_GREY, label) + 1;
    uint8_t shown = milli > 0 ? (uint8_t)(style | SCREEN_BOLD) : SCREEN_PLAIN;
    return col +
           screen_print(&t->screen, row, col, 20, shown, milli < 100000 ? "%.1f/s" : "%.0f/s", (double)milli / 1000) +
           2;
}

static uint32_t put_count(struct top *t, uint32_t row, uint32_t col, const char *label, uint64_t count, uint8_t style) {
    col = put(t, row, col, SCREEN_GREY, label) + 1;
    uint8_t shown = count > 0 ? (uint8_t)(style | SCREEN_BOLD) : SCREEN_PLAIN;
    return col + screen_print(&t->screen, row, col, 20, shown, "%llu", (unsigned long long)count) + 2;
}

/* Jobs done in each of the last seconds, the newest at the right. */
static void draw_spark(struct top *t, uint32_t row, uint32_t col) {
    static const char *const levels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint64_t most = 1, done[TOP_SAMPLES];
    uint32_t count = t->sample_count < TOP_SAMPLES ? t->sample_count : TOP_SAMPLES, width = t->screen.cols - 1u;
    if (count < 2 || col + 8 > width) return;
    uint32_t n = count - 1 < width - col ? count - 1 : width - col;
    for (uint32_t i = 0; i < n; i++) {
        const struct top_sample *b = &t->samples[(t->sample_count - n + i) % TOP_SAMPLES];
        const struct top_sample *a = &t->samples[(t->sample_count - n + i - 1) % TOP_SAMPLES];
        done[i] = b->succeeded - a->succeeded + b->failed - a->failed;
        if (done[i] > most) most = done[i];
    }
    for (uint32_t i = 0; i < n; i++)
        (void)put(t, row, width - n + i, done[i] > 0 ? SCREEN_GREEN : SCREEN_GREY, levels[done[i] * 7 / most]);
}

/* Why ready jobs do not run: "capacity 12, key_limit 3". */
static uint32_t draw_reasons(struct top *t, uint32_t row, uint32_t col) {
    const char *before = "(";
    for (uint32_t i = 0; i < t->numbers.count; i++) {
        const struct top_number *n = vec_at(&t->numbers, i);
        if (n->name.len <= 6 || memcmp(n->name.ptr, "ready_", 6) != 0 || n->amount == 0) continue;
        col += screen_print(&t->screen, row, col, t->screen.cols, SCREEN_YELLOW, "%s%.*s %llu", before,
                            (int)n->name.len - 6, (const char *)n->name.ptr + 6, (unsigned long long)n->amount);
        before = ", ";
    }
    return before[0] == ',' ? put(t, row, col, SCREEN_YELLOW, ")") + 2 : col;
}

static void draw_head(struct top *t) {
    struct top_sample rates;
    char text[128];
    top_rates(t, &rates);
    uint32_t col = put(t, 0, 1, SCREEN_BOLD, "reeve top");
    (void)put(t, 0, col + 2, SCREEN_GREY, t->c->client.address);
    if (t->away_since_ms != 0) {
        snprintf(text, sizeof text, " connection lost %llds ago ",
                 (long long)(top_now_ms(t) - t->away_since_ms) / 1000);
        put_right(t, 0, SCREEN_RED | SCREEN_REVERSE, text);
    } else {
        put_right(t, 0, SCREEN_GREY, out_time(top_wall_ms(t), text) + 11); /* the time of day */
    }
    col = put_rate(t, 1, 1, "started", rates.started, SCREEN_CYAN);
    col = put_rate(t, 1, col, "done", rates.succeeded, SCREEN_GREEN);
    col = put_rate(t, 1, col, "failed", rates.failed, SCREEN_RED);
    col = put_rate(t, 1, col, "syncs", rates.syncs, SCREEN_PLAIN);
    draw_spark(t, 1, col + 1);
    col = put_count(t, 2, 1, "running", top_number(t, "jobs_running") + top_number(t, "jobs_dispatched"), SCREEN_CYAN);
    if (t->slots > 0) {
        col = put(t, 2, col, SCREEN_GREY, "slots") + 1;
        col += screen_print(&t->screen, 2, col, 24, SCREEN_PLAIN, "%u/%u", t->slots_active, t->slots) + 2;
    }
    col = put_count(t, 2, col, "waiting", top_number(t, "jobs_waiting"), SCREEN_PLAIN);
    col = put_count(t, 2, col, "held", top_number(t, "jobs_held"), SCREEN_YELLOW);
    col = put_count(t, 2, col, "ready", top_number(t, "jobs_ready"), SCREEN_PLAIN);
    (void)draw_reasons(t, 2, col > 1 ? col - 1 : col);
}

/* In the depth, the way there in place of the tabs: "Flows › f3k9a › train". */
static uint32_t draw_way(struct top *t) {
    uint32_t col = put(t, TABS_ROW, 1, SCREEN_GREY, tabs[t->pane]);
    for (uint32_t i = 0; i < t->depth; i++) {
        const struct top_view *v = &t->deep[i];
        static const char *const words[] = {
            [TOP_JOBS] = "", [TOP_JOB] = "", [TOP_LOG] = "output of ", [TOP_ASK] = "decide on ", [TOP_HELP] = "keys"};
        bool is_last = i + 1 == t->depth;
        struct slice name = slice_str(v->target);
        if (i > 0 && t->deep[i - 1].kind != TOP_JOB) name = lineout_short_name(name);
        if (v->kind == TOP_LOG && i > 0) name = (struct slice){0};
        col = put(t, TABS_ROW, col, SCREEN_GREY, " › ");
        col += screen_print(&t->screen, TABS_ROW, col, t->screen.cols, is_last ? SCREEN_BOLD : SCREEN_GREY, "%s%.*s",
                            name.len > 0 || v->kind != TOP_LOG ? words[v->kind] : "output", SLICE_FMT(name));
        if (v->kind == TOP_LOG && v->attempt > 0)
            col += screen_print(&t->screen, TABS_ROW, col, 16, SCREEN_GREY, " #%u", v->attempt);
    }
    return col;
}

static uint32_t draw_tabs(struct top *t) {
    uint32_t col = 1;
    for (uint32_t i = 0; i < TOP_PANE_COUNT; i++) {
        uint8_t style = i == t->pane ? SCREEN_REVERSE | SCREEN_BOLD : SCREEN_PLAIN;
        uint64_t count = top_number(t, tab_numbers[i]);
        col += screen_print(&t->screen, TABS_ROW, col, 40, style, " %u %s %llu ", i + 1, tabs[i],
                            (unsigned long long)count);
    }
    return col;
}

static void draw_place(struct top *t) {
    const struct top_view *v = top_view(t);
    uint32_t col = t->depth > 0 ? draw_way(t) : draw_tabs(t);
    if (v->filter[0] != 0 && !t->is_filtering)
        screen_print(&t->screen, TABS_ROW, col + 1, 80, SCREEN_YELLOW, "/%s", v->filter);
}

/* ---- the view ---- */

struct layout {
    uint32_t width[TOP_COLUMNS_MAX]; /* 0 = not shown */
    uint32_t count;
};

static uint32_t total(const struct layout *l) {
    uint32_t sum = 1;
    for (uint32_t i = 0; i < l->count; i++) sum += l->width[i] > 0 ? l->width[i] + 2 : 0;
    return sum;
}

/* Each column as wide as it must be; the one without a limit takes the rest. */
static struct layout arrange(const struct top *t, const struct top_view *v, const uint32_t *list, uint32_t count) {
    const struct top_column *table = columns[v->kind];
    struct layout l = {.count = 0};
    uint32_t flex = 0;
    for (; l.count < TOP_COLUMNS_MAX && table[l.count].title != NULL; l.count++) {
        uint32_t i = l.count, width = (uint32_t)strlen(table[i].title);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t w = screen_width(top_row_at(v, list[k])->text[i]);
            if (w > width) width = w;
        }
        if (table[i].is_bar) width = table[i].most;
        if (table[i].most == 0) flex = i, width = FLEX_LEAST;
        l.width[i] = table[i].most > 0 && width > table[i].most ? table[i].most : width;
    }
    while (total(&l) > t->screen.cols) {
        uint32_t worst = TOP_COLUMNS_MAX;
        for (uint32_t i = 0; i < l.count; i++)
            if (l.width[i] > 0 && table[i].drop > 0 && (worst == TOP_COLUMNS_MAX || table[i].drop > table[worst].drop))
                worst = i;
        if (worst == TOP_COLUMNS_MAX) break;
        l.width[worst] = 0;
    }
    if (total(&l) < t->screen.cols) l.width[flex] += t->screen.cols - total(&l);
    return l;
}

static void draw_bar(struct top *t, uint32_t row, uint32_t col, uint32_t width, const struct top_row *r, uint8_t bits) {
    uint32_t amounts[] = {r->done, r->bad, r->active};
    static const uint8_t colours[] = {SCREEN_GREEN, SCREEN_RED, SCREEN_CYAN};
    uint64_t sum = 0;
    uint32_t at = 0;
    for (size_t k = 0; k < 3; k++) {
        sum += amounts[k];
        uint32_t end = r->total > 0 ? (uint32_t)((sum * width + r->total / 2) / r->total) : 0;
        if (end == at && amounts[k] > 0 && at < width) end = at + 1; /* a little is not nothing */
        for (; at < end && at < width; at++) (void)put(t, row, col + at, colours[k] | bits, "━");
    }
    for (; at < width; at++) (void)put(t, row, col + at, SCREEN_GREY | bits, "─");
}

static void draw_row(struct top *t, const struct top_view *v, const struct layout *l, uint32_t row,
                     const struct top_row *r, bool is_selected) {
    uint32_t col = 1;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct top_column *c = &columns[v->kind][i];
        uint32_t width = l->width[i];
        if (width == 0) continue;
        uint8_t style = is_selected ? SCREEN_BOLD : r->style[i];
        uint32_t have = screen_width(r->text[i]), skip = c->is_right && have < width ? width - have : 0;
        if (c->is_bar)
            draw_bar(t, row, col, width, r, 0);
        else
            screen_put(&t->screen, row, col + skip, width - skip, style, r->text[i]);
        col += width + 2;
    }
    if (is_selected) screen_style(&t->screen, row, 0, t->screen.cols, SCREEN_REVERSE);
}

static void draw_titles(struct top *t, const struct top_view *v, const struct layout *l) {
    uint32_t col = 1;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct top_column *c = &columns[v->kind][i];
        uint32_t len = (uint32_t)strlen(c->title), width = l->width[i];
        if (width == 0) continue;
        (void)put(t, VIEW_ROW, col + (c->is_right && len < width ? width - len : 0), SCREEN_GREY, c->title);
        col += width + 2;
    }
}

static void draw_list(struct top *t, struct top_view *v, const uint32_t *list, uint32_t count, uint32_t room) {
    struct layout l = arrange(t, v, list, count);
    (void)top_selected(t); /* puts `at` where the selection is */
    if (v->at < v->first) v->first = v->at;
    if (v->at >= v->first + room) v->first = v->at - room + 1;
    if (v->first + room > count) v->first = count > room ? count - room : 0;
    draw_titles(t, v, &l);
    for (uint32_t i = 0; i < room && v->first + i < count; i++)
        draw_row(t, v, &l, VIEW_ROW + 1 + i, top_row_at(v, list[v->first + i]),
                 v->first + i == v->at && !t->is_printing);
}

static void draw_lines(struct top *t, struct top_view *v, const uint32_t *list, uint32_t count, uint32_t room) {
    if (v->kind == TOP_LOG && v->is_at_end) v->first = count > room ? count - room : 0;
    if (v->first + room > count) {
        v->first = count > room ? count - room : 0;
        v->is_at_end = true;
    }
    for (uint32_t i = 0; i < room && v->first + i < count; i++) {
        const struct top_row *r = top_row_at(v, list[v->first + i]);
        uint32_t row = VIEW_ROW + 1 + i, width = t->screen.cols - 1u;
        screen_put(&t->screen, row, 1, r->is_line ? width : LABEL_WIDTH, r->style[0], r->text[0]);
        if (!r->is_line) screen_put(&t->screen, row, 1 + LABEL_WIDTH, width - LABEL_WIDTH, r->style[1], r->text[1]);
    }
}

static const char *nothing_of(const struct top_view *v) {
    static const char *const words[] = {
        [TOP_FLOWS] = "no flows yet: `reeve submit FILE`, or `reeve run -- COMMAND`",
        [TOP_WORKERS] = "no workers: `reeve worker` starts one",
        [TOP_QUESTIONS] = "no open approvals",
        [TOP_SERVICES] = "no services",
        [TOP_DEAD] = "no dead letters: every failed job was handled",
        [TOP_JOBS] = "no jobs",
        [TOP_JOB] = "",
        [TOP_LOG] = "no output yet",
        [TOP_ASK] = "",
        [TOP_HELP] = "",
    };
    if (v->note[0] != 0) return v->note;
    return v->filter[0] != 0 ? "no row matches the filter" : v->is_answered ? words[v->kind] : "…";
}

static void draw_view(struct top *t) {
    struct top_view *v = top_view(t);
    struct arena a;
    uint32_t count = 0, room = t->screen.rows > VIEW_ROW + 2u ? t->screen.rows - VIEW_ROW - 2u : 1;
    arena_init(&a, 16384, (size_t)64 << 20);
    const uint32_t *list = top_rows_shown(v, &a, &count);
    if (top_is_list(v->kind))
        draw_list(t, v, list, count, room);
    else
        draw_lines(t, v, list, count, room);
    if (count == 0) (void)put(t, VIEW_ROW + 1, 1, SCREEN_GREY, nothing_of(v));
    if (count > room) {
        char place[48];
        snprintf(place, sizeof place, "%u–%u of %u", v->first + 1, v->first + room < count ? v->first + room : count,
                 count);
        put_right(t, HEAD_ROWS, SCREEN_GREY, place); /* the row between head and tabs */
    }
    arena_fini(&a);
}

/* ---- the foot ---- */

static void draw_foot(struct top *t) {
    static const char *const keys[] = {
        [TOP_FLOWS] = "enter jobs  c cancel  r rerun  p pause  / filter  tab next  ? keys  q quit",
        [TOP_WORKERS] = "p drain  / filter  tab next  ? keys  q quit",
        [TOP_QUESTIONS] = "enter job  a decide  / filter  tab next  ? keys  q quit",
        [TOP_SERVICES] = "enter job  l output  c stop  r restart  / filter  tab next  ? keys  q quit",
        [TOP_DEAD] = "enter job  r retry  l output  / filter  tab next  ? keys  q quit",
        [TOP_JOBS] = "enter job  l output  c cancel  r retry  / filter  ? keys  esc back",
        [TOP_JOB] = "l output  c cancel  r retry  up down  ? keys  esc back",
        [TOP_LOG] = "up down page  end follows  / filter  ? keys  esc back",
        [TOP_ASK] = "a approve  x reject  esc back",
        [TOP_HELP] = "esc back",
    };
    uint32_t row = t->screen.rows - 1u;
    const struct top_view *v = top_view(t);
    if (t->is_filtering) {
        edit_draw(&t->filter, &t->screen, row, SLICE("/"));
    } else if (t->is_confirming) {
        uint32_t col = put(t, row, 1, SCREEN_YELLOW | SCREEN_BOLD, t->action.text);
        (void)put(t, row, col, SCREEN_BOLD, "? y/n");
    } else if (t->message[0] != 0) {
        (void)put(t, row, 1, t->message_style, t->message);
    } else {
        (void)put(t, row, 1, SCREEN_GREY, keys[v->kind]);
    }
    if (v->kind == TOP_LOG && v->note[0] != 0) put_right(t, row, SCREEN_GREY, v->note);
}

void top_draw(struct top *t) {
    screen_clear(&t->screen);
    draw_head(t);
    draw_place(t);
    draw_view(t);
    draw_foot(t);
    t->is_stale = false;
}
