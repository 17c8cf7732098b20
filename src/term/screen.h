/* screen.h: a picture made of cells, and what must be sent to a terminal that shows the picture before it.
 *
 * A frame: screen_clear, screen_put as often as needed, screen_flush. Only cells that differ are sent. A screen is the
 * whole terminal, or (`is_inline`) rows below the line on which the cursor stood when the first frame was flushed. */
#ifndef REEVE_SCREEN_H
#define REEVE_SCREEN_H

#include "arena.h"
#include "buf.h"

#define SCREEN_ROWS_MAX 1000u
#define SCREEN_COLS_MAX 1000u
#define SCREEN_BYTES_MAX ((size_t)32 << 20) /* of a frame: every cell with its own style and place */

/* A style is a colour and any of the bits behind it. */
enum screen_style {
    SCREEN_PLAIN,
    SCREEN_RED,
    SCREEN_GREEN,
    SCREEN_YELLOW,
    SCREEN_BLUE,
    SCREEN_MAGENTA,
    SCREEN_CYAN,
    SCREEN_WHITE,
    SCREEN_GREY,
    SCREEN_COLOURS = 15, /* mask */
    SCREEN_BOLD = 16,
    SCREEN_REVERSE = 32
};

struct screen_cell {
    uint32_t code; /* 0: the second half of a character of double width */
    uint8_t style;
};

struct screen {
    uint16_t rows, cols;
    bool is_inline, has_colours;
    bool is_known; /* the terminal shows `shown` */
    struct screen_cell *next, *shown;
    struct arena arena;
    uint16_t row, col;               /* where the terminal's cursor is; col == cols: beyond the last cell */
    uint16_t cursor_row, cursor_col; /* where it is to stay */
    uint8_t style;                   /* that the terminal has set */
};

void screen_init(struct screen *s, bool is_inline, bool has_colours);
void screen_fini(struct screen *s);
void screen_resize(struct screen *s, uint32_t rows, uint32_t cols); /* within the limits above; all is drawn anew */
void screen_lost(struct screen *s);                                 /* someone else wrote: all is drawn anew */
void screen_clear(struct screen *s);
/* Puts as much of the text as has room in `width` cells, a cut one with an ellipsis at its end; returns the cells it
 * took. What lies outside the screen is left out. */
uint32_t screen_put(struct screen *s, uint32_t row, uint32_t col, uint32_t width, uint8_t style, struct slice text);
uint32_t screen_print(struct screen *s, uint32_t row, uint32_t col, uint32_t width, uint8_t style, const char *format,
                      ...) __attribute__((format(printf, 6, 7)));
void screen_style(struct screen *s, uint32_t row, uint32_t col, uint32_t width, uint8_t bits); /* adds them */
void screen_cursor(struct screen *s, uint32_t row, uint32_t col);
void screen_flush(struct screen *s, struct buf *out);
/* The last line of the picture becomes a line of the terminal's own: the cursor goes below. */
void screen_leave(struct screen *s, struct buf *out);
/* The frame as plain lines, for a file; colours as the screen has them. */
void screen_text(const struct screen *s, struct buf *out);

uint32_t screen_width(struct slice text);                   /* cells that it takes */
struct slice screen_cut(struct slice text, uint32_t width); /* the beginning of it that has room in so many cells */

#endif
