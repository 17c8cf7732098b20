/* emulator.h: a terminal for tests, as far as our programs need one: it understands the sequences that src/term sends
 * (see its README) and fails on any other, so that a new one is noticed. */
#ifndef REEVE_EMULATOR_H
#define REEVE_EMULATOR_H

#include "slice.h"

#define EMULATOR_ROWS_MAX 200
#define EMULATOR_COLS_MAX 300

struct emulator_cell {
    uint32_t code;
    uint8_t colour; /* 0 = none, else the number of the sequence: 31, 90, … */
    bool is_bold, is_reverse;
};

struct emulator {
    int rows, cols, row, col;
    bool wraps;               /* the last column was written: the next character goes below */
    bool is_other, is_hidden; /* the other screen; the cursor */
    struct emulator_cell cells[EMULATOR_ROWS_MAX][EMULATOR_COLS_MAX];
    struct emulator_cell pen;
    uint8_t left[64]; /* the beginning of a sequence or character */
    size_t left_len;
    uint64_t bytes;   /* fed so far */
    uint32_t scrolled;
};

void emulator_init(struct emulator *m, int rows, int cols);
void emulator_resize(struct emulator *m, int rows, int cols); /* what was there is gone, as after a redraw */
void emulator_feed(struct emulator *m, const void *bytes, size_t len);
/* The row as text without blanks at its end, or all rows; valid until the next call. */
const char *emulator_row(const struct emulator *m, int row);
const char *emulator_text(const struct emulator *m);
/* The row on which this text is; -1 = on none. */
int emulator_find(const struct emulator *m, const char *text);

#endif
