/* out.c: see out.h. */
#include "out.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "panic.h"
#include "screen.h"
#include "utf8.h"
#include "vec.h"

#define OUT_COLUMNS_MAX 16u
#define OUT_GAP 2u /* between two columns */

struct cell {
    struct slice text;
    enum out_colour colour;
};

const char *out_paint(const struct cli *c, enum out_colour colour) {
    static const char *const codes[] = {"", "\033[32m", "\033[31m", "\033[33m", "\033[34m", "\033[90m", "\033[1m"};
    return c->colour ? codes[colour] : "";
}

const char *out_plain(const struct cli *c) {
    return c->colour ? "\033[0m" : "";
}

/* ---- tables ---- */

void out_table_init(struct out_table *t, struct cli *c, uint32_t columns, const char *const *heads) {
    t->cli = c;
    t->columns = columns;
    vec_init(&t->cells, sizeof(struct cell));
    for (uint32_t i = 0; i < columns; i++) out_cell(t, OUT_GREY, "%s", heads[i]);
}

void out_slice(struct out_table *t, enum out_colour colour, struct slice s) {
    struct cell *cell = vec_push(&t->cells);
    *cell = (struct cell){arena_slice(&t->cli->arena, s.len > 0 ? s : SLICE("-")), colour};
}

void out_cell(struct out_table *t, enum out_colour colour, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    out_slice(t, colour, slice_str(text));
}

void out_clean(FILE *to, struct slice text) {
    while (text.len > 0) {
        size_t shown = utf8_shown(text), len = shown > 0 ? shown : utf8_sequence(text);
        if (shown > 0)
            fwrite(text.ptr, 1, shown, to);
        else
            fputc('?', to);
        if (len == 0) len = 1;
        text = slice_of(text.ptr + len, text.len - len);
    }
}

void out_say(FILE *to, const char *format, ...) {
    char text[4096];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    out_clean(to, slice_str(text));
    fputc('\n', to);
}

/* Cells of a row that have room on the terminal; UINT32_MAX: it is none, or nothing is to be cut. */
static uint32_t row_width(const struct cli *c) {
    struct winsize size = {0};
    if (c->format == CLI_FORMAT_WIDE || !isatty(STDOUT_FILENO)) return UINT32_MAX;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : UINT32_MAX;
}

bool out_is_cut(const struct cli *c) {
    return row_width(c) != UINT32_MAX;
}

/* The widest columns give way, down to one cell, until a row has room. */
static void widths_fit(uint32_t *widths, uint32_t columns, uint32_t room) {
    for (;;) {
        uint32_t widest = 0, sum = OUT_GAP * (columns - 1);
        for (uint32_t i = 0; i < columns; i++) {
            sum += widths[i];
            if (widths[i] >= widths[widest]) widest = i;
        }
        if (sum <= room || widths[widest] <= 1) return;
        widths[widest]--;
    }
}

static void cell_print(const struct cli *c, const struct cell *cell, uint32_t width, bool is_last) {
    uint32_t own = screen_width(cell->text);
    bool is_cut = own > width;
    struct slice text = is_cut ? screen_cut(cell->text, width - 1) : cell->text;
    fputs(out_paint(c, cell->colour), stdout);
    out_clean(stdout, text);
    if (is_cut) fputs("…", stdout);
    if (cell->colour != OUT_PLAIN) fputs(out_plain(c), stdout);
    if (is_last)
        fputc('\n', stdout);
    else
        printf("%*s", (int)(width - (is_cut ? screen_width(text) + 1 : own) + OUT_GAP), "");
}

void out_table_end(struct out_table *t) {
    uint32_t widths[OUT_COLUMNS_MAX] = {0};
    const struct cell *cells = (const void *)t->cells.at;
    REQUIRE(t->columns > 0 && t->columns <= OUT_COLUMNS_MAX);
    for (uint32_t i = 0; i < t->cells.count; i++) {
        uint32_t w = screen_width(cells[i].text);
        if (w > widths[i % t->columns]) widths[i % t->columns] = w;
    }
    widths_fit(widths, t->columns, row_width(t->cli));
    for (uint32_t i = 0; i < t->cells.count; i++)
        cell_print(t->cli, &cells[i], widths[i % t->columns], i % t->columns == t->columns - 1);
    vec_fini(&t->cells);
}

/* ---- JSON ---- */

void out_object_begin(struct out_object *o) {
    buf_init(&o->buf, (size_t)512 << 20);
    json_init(&o->json, &o->buf);
    json_object(&o->json);
}

void out_object_end(struct out_object *o) {
    json_object_end(&o->json);
    fwrite(o->buf.at, 1, o->buf.len, stdout);
    fputc('\n', stdout);
    buf_fini(&o->buf);
}

/* ---- words ---- */

static const struct {
    const char *state, *sign;
    enum out_colour colour;
    bool is_end;
} states[] = {
    {"waiting", "·", OUT_GREY, false},   {"held", "?", OUT_YELLOW, false},
    {"ready", "○", OUT_PLAIN, false},    {"dispatched", "◔", OUT_BLUE, false},
    {"running", "●", OUT_BLUE, false},   {"checking", "◑", OUT_BLUE, false},
    {"succeeded", "✓", OUT_GREEN, true}, {"failed", "✗", OUT_RED, true},
    {"timed_out", "✗", OUT_RED, true},   {"cancelled", "–", OUT_YELLOW, true},
    {"denied", "✗", OUT_RED, true},      {"quarantined", "!", OUT_RED, true},
    {"skipped", "–", OUT_GREY, true},    {WIRE_UPSTREAM_FAILED, "✗", OUT_GREY, true},
};
_Static_assert(sizeof states / sizeof states[0] == OUT_STATES_MAX, "every state has its look");

uint32_t out_state_number(struct slice state) {
    uint32_t i = 0;
    while (i < OUT_STATES_MAX && !slice_eq(state, slice_str(states[i].state))) i++;
    return i;
}

struct slice out_state_at(uint32_t number) {
    return slice_str(states[number].state);
}

struct slice out_state_word(struct slice state) {
    uint32_t i = out_state_number(state);
    return i < OUT_STATES_MAX ? out_state_at(i) : (struct slice){0};
}

enum out_colour out_state_colour(struct slice state) {
    uint32_t i = out_state_number(state);
    return i < OUT_STATES_MAX ? states[i].colour : OUT_PLAIN;
}

const char *out_state_sign(struct slice state) {
    uint32_t i = out_state_number(state);
    return i < OUT_STATES_MAX ? states[i].sign : " ";
}

bool out_state_is_end(struct slice state) {
    uint32_t i = out_state_number(state);
    return i < OUT_STATES_MAX && states[i].is_end;
}

const char *out_age(int64_t now_ms, int64_t then_ms, char text[OUT_TIME_BYTES]) {
    int64_t s = now_ms > then_ms ? (now_ms - then_ms) / 1000 : 0;
    if (then_ms == 0)
        snprintf(text, OUT_TIME_BYTES, "-");
    else if (s < 120)
        snprintf(text, OUT_TIME_BYTES, "%llds", (long long)s);
    else if (s < 7200)
        snprintf(text, OUT_TIME_BYTES, "%lldm", (long long)(s / 60));
    else if (s < 172800)
        snprintf(text, OUT_TIME_BYTES, "%lldh", (long long)(s / 3600));
    else
        snprintf(text, OUT_TIME_BYTES, "%lldd", (long long)(s / 86400));
    return text;
}

const char *out_took(int64_t from_ms, int64_t to_ms, char text[OUT_TIME_BYTES]) {
    int64_t ms = to_ms > from_ms ? to_ms - from_ms : 0;
    if (ms >= 10000) return out_age(to_ms, from_ms, text);
    if (ms < 1000)
        snprintf(text, OUT_TIME_BYTES, "%lldms", (long long)ms);
    else
        snprintf(text, OUT_TIME_BYTES, "%lld.%llds", (long long)(ms / 1000), (long long)(ms % 1000 / 100));
    return text;
}

const char *out_time(int64_t ms, char text[OUT_TIME_BYTES]) {
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    if (ms == 0 || localtime_r(&seconds, &parts) == NULL)
        snprintf(text, OUT_TIME_BYTES, "-");
    else
        strftime(text, OUT_TIME_BYTES, "%Y-%m-%d %H:%M:%S", &parts);
    return text;
}

const char *out_bytes(uint64_t bytes, char text[OUT_TIME_BYTES]) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    size_t unit = 0;
    for (; v >= 1024 && unit < 4; unit++) v /= 1024;
    snprintf(text, OUT_TIME_BYTES, unit == 0 ? "%.0f %s" : "%.1f %s", v, units[unit]);
    return text;
}
