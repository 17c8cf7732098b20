/* screen.c: see screen.h. */
#include "screen.h"

#include <stdarg.h>
#include <stdio.h>

#include "panic.h"
#include "utf8.h"

#define GAP_MAX 6u /* so many cells that did not change are sent again rather than jumped over */

static const struct screen_cell blank = {' ', SCREEN_PLAIN};

void screen_init(struct screen *s, bool is_inline, bool has_colours) {
    *s = (struct screen){.is_inline = is_inline, .has_colours = has_colours};
    arena_init(&s->arena, 65536, (size_t)SCREEN_ROWS_MAX * SCREEN_COLS_MAX * sizeof(struct screen_cell) * 4);
}

void screen_fini(struct screen *s) {
    arena_fini(&s->arena);
}

void screen_resize(struct screen *s, uint32_t rows, uint32_t cols) {
    s->rows = (uint16_t)(rows < 1 ? 1 : rows > SCREEN_ROWS_MAX ? SCREEN_ROWS_MAX : rows);
    s->cols = (uint16_t)(cols < 1 ? 1 : cols > SCREEN_COLS_MAX ? SCREEN_COLS_MAX : cols);
    arena_reset(&s->arena);
    s->next = ARENA_ARRAY(&s->arena, struct screen_cell, (size_t)s->rows * s->cols);
    s->shown = ARENA_ARRAY(&s->arena, struct screen_cell, (size_t)s->rows * s->cols);
    screen_clear(s);
    screen_lost(s);
}

void screen_lost(struct screen *s) {
    s->is_known = false;
}

void screen_clear(struct screen *s) {
    for (size_t i = 0; i < (size_t)s->rows * s->cols; i++) s->next[i] = blank;
    s->cursor_row = s->cursor_col = 0;
}

/* ---- characters ---- */

struct range {
    uint32_t first, last;
};

static bool is_in(uint32_t code, const struct range *ranges, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i].first && code <= ranges[i].last) return true;
    return false;
}

/* Cells that a character takes. 0: marks that stand on others, and what turns the direction of writing; they are left
 * out. Coarse on purpose: names are mostly ASCII, and a wrong width costs the look of one line. */
static uint32_t width_of(uint32_t code) {
    static const struct range none[] = {{0x300, 0x36f},   {0x61c, 0x61c},   {0x1ab0, 0x1aff},
                                        {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x206f},
                                        {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}};
    static const struct range wide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
                                        {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
                                        {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
    if (code < 0x300) return 1;
    if (is_in(code, none, sizeof none / sizeof none[0])) return 0;
    return is_in(code, wide, sizeof wide / sizeof wide[0]) ? 2 : 1;
}

/* The next character; what is none, or would command the terminal, is a question mark. */
static uint32_t take(struct slice *text) {
    size_t n = utf8_sequence(*text);
    uint32_t code = text->ptr[0];
    if (n > 1) code &= 0xffu >> (n + 1);
    for (size_t i = 1; i < n; i++) code = code << 6 | (text->ptr[i] & 0x3fu);
    *text = slice_of(text->ptr + (n > 0 ? n : 1), text->len - (n > 0 ? n : 1));
    return n == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0) ? '?' : code;
}

uint32_t screen_width(struct slice text) {
    uint32_t width = 0;
    while (text.len > 0) width += width_of(take(&text));
    return width;
}

struct slice screen_cut(struct slice text, uint32_t width) {
    struct slice rest = text;
    size_t len = 0;
    for (uint32_t cells; rest.len > 0 && (cells = width_of(take(&rest))) <= width; width -= cells)
        len = text.len - rest.len;
    return slice_of(text.ptr, len);
}

/* ---- a frame ---- */

static void set(struct screen *s, uint32_t row, uint32_t col, uint32_t code, uint8_t style) {
    if (row < s->rows && col < s->cols) s->next[(size_t)row * s->cols + col] = (struct screen_cell){code, style};
}

uint32_t screen_put(struct screen *s, uint32_t row, uint32_t col, uint32_t width, uint8_t style, struct slice text) {
    uint32_t used = 0;
    if (row >= s->rows || col >= s->cols) return 0;
    if (width > s->cols - col) width = s->cols - col;
    bool is_cut = text.len > width && screen_width(text) > width;
    uint32_t room = is_cut && width > 0 ? width - 1 : width;
    while (text.len > 0) {
        uint32_t code = take(&text), cells = width_of(code);
        if (used + cells > room) break;
        if (cells == 0) continue;
        set(s, row, col + used, code, style);
        if (cells == 2) set(s, row, col + used + 1, 0, style);
        used += cells;
    }
    if (is_cut && width > 0) set(s, row, col + used++, 0x2026, style);
    return used;
}

uint32_t screen_print(struct screen *s, uint32_t row, uint32_t col, uint32_t width, uint8_t style, const char *format,
                      ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return screen_put(s, row, col, width, style, slice_str(text));
}

void screen_style(struct screen *s, uint32_t row, uint32_t col, uint32_t width, uint8_t bits) {
    for (uint32_t i = col; row < s->rows && i < s->cols && i < col + width; i++)
        s->next[(size_t)row * s->cols + i].style |= bits;
}

void screen_cursor(struct screen *s, uint32_t row, uint32_t col) {
    s->cursor_row = (uint16_t)(row < s->rows ? row : s->rows - 1u);
    s->cursor_col = (uint16_t)(col < s->cols ? col : s->cols - 1u);
}

/* ---- bytes ---- */

static bool cell_eq(struct screen_cell a, struct screen_cell b) {
    return a.code == b.code && a.style == b.style;
}

static void put_style(const struct screen *s, struct buf *out, uint8_t style) {
    static const char *const colours[16] = {"", ";31", ";32", ";33", ";34", ";35", ";36", ";37", ";90"};
    const char *colour = s->has_colours ? colours[style & SCREEN_COLOURS] : "";
    buf_printf(out, "\033[0%s%s%sm", style & SCREEN_BOLD ? ";1" : "", style & SCREEN_REVERSE ? ";7" : "",
               colour != NULL ? colour : "");
}

static void put_cell(struct screen *s, struct buf *out, struct screen_cell cell) {
    uint8_t bytes[UTF8_BYTES_MAX];
    if (cell.code == 0) return; /* the character before it has drawn it */
    if (cell.style != s->style) put_style(s, out, cell.style);
    s->style = cell.style;
    buf_put(out, bytes, utf8_write(cell.code, bytes));
}

static void move(struct screen *s, struct buf *out, uint32_t row, uint32_t col) {
    if (row < s->row) buf_printf(out, "\033[%uA", s->row - row);
    if (row > s->row) buf_printf(out, "\033[%uB", row - s->row);
    if (col != s->col || s->col >= s->cols) {
        if (col == 0)
            buf_put_u8(out, '\r');
        else
            buf_printf(out, "\033[%uG", col + 1);
    }
    s->row = (uint16_t)row;
    s->col = (uint16_t)col;
}

/* From here to the end of the row there is nothing. */
static bool is_blank_from(const struct screen *s, const struct screen_cell *row, uint32_t col) {
    for (; col < s->cols; col++)
        if (!cell_eq(row[col], blank)) return false;
    return true;
}

static void draw_row(struct screen *s, struct buf *out, uint32_t row) {
    const struct screen_cell *next = s->next + (size_t)row * s->cols, *shown = s->shown + (size_t)row * s->cols;
    for (uint32_t col = 0; col < s->cols; col++) {
        if (cell_eq(next[col], shown[col])) continue;
        if (next[col].code == 0 && col > 0) col--; /* the half of a wide one that is drawn whole */
        if (is_blank_from(s, next, col)) {
            move(s, out, row, col);
            if (s->style != SCREEN_PLAIN) put_style(s, out, s->style = SCREEN_PLAIN);
            buf_put_slice(out, SLICE("\033[K"));
            return;
        }
        uint32_t gap = col - s->col;
        if (s->row == row && s->col < col && gap <= GAP_MAX)
            while (s->col < col) put_cell(s, out, next[s->col++]);
        move(s, out, row, col);
        put_cell(s, out, next[col]);
        s->col++;
        while (col + 1 < s->cols && next[col + 1].code == 0) col++, s->col++;
    }
}

/* Nothing is known of what is there: rows are made, or wiped. */
static void begin(struct screen *s, struct buf *out) {
    put_style(s, out, s->style = SCREEN_PLAIN);
    if (s->is_inline) {
        if (s->row > 0) buf_printf(out, "\033[%uA", s->row);
        buf_put_slice(out, SLICE("\r\033[J"));
        for (uint32_t i = 1; i < s->rows; i++) buf_put_slice(out, SLICE("\r\n"));
        s->row = (uint16_t)(s->rows - 1u);
    } else {
        buf_put_slice(out, SLICE("\033[H\033[J"));
        s->row = 0;
    }
    s->col = 0;
    for (size_t i = 0; i < (size_t)s->rows * s->cols; i++) s->shown[i] = blank;
    s->is_known = true;
}

void screen_flush(struct screen *s, struct buf *out) {
    REQUIRE(s->next != NULL);
    if (!s->is_known) begin(s, out);
    for (uint32_t row = 0; row < s->rows; row++) draw_row(s, out, row);
    if (s->style != SCREEN_PLAIN) put_style(s, out, s->style = SCREEN_PLAIN);
    move(s, out, s->cursor_row, s->cursor_col);
    memcpy(s->shown, s->next, (size_t)s->rows * s->cols * sizeof *s->next);
}

void screen_leave(struct screen *s, struct buf *out) {
    move(s, out, s->rows - 1u, 0);
    buf_put_slice(out, SLICE("\r\n"));
    s->row = s->col = 0;
    s->is_known = false;
}

void screen_text(const struct screen *s, struct buf *out) {
    struct screen lines = *s;
    lines.style = SCREEN_PLAIN;
    for (uint32_t row = 0; row < s->rows; row++) {
        const struct screen_cell *cells = s->next + (size_t)row * s->cols;
        for (uint32_t col = 0; col < s->cols && !is_blank_from(s, cells, col); col++) {
            struct screen_cell cell = cells[col];
            if (!s->has_colours) cell.style = SCREEN_PLAIN;
            put_cell(&lines, out, cell);
        }
        if (lines.style != SCREEN_PLAIN) put_style(&lines, out, lines.style = SCREEN_PLAIN);
        buf_put_u8(out, '\n');
    }
}
