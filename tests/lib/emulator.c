/* emulator.c: see emulator.h. */
#include "emulator.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"
#include "utf8.h"

static const struct emulator_cell blank = {.code = ' '};

static void wipe(struct emulator *m, int from_row, int from_col, int to_row) {
    for (int r = from_row; r <= to_row; r++)
        for (int c = r == from_row ? from_col : 0; c < m->cols; c++) m->cells[r][c] = blank;
}

void emulator_init(struct emulator *m, int rows, int cols) {
    *m = (struct emulator){0};
    emulator_resize(m, rows, cols);
}

void emulator_resize(struct emulator *m, int rows, int cols) {
    assert_true(rows > 0 && rows <= EMULATOR_ROWS_MAX && cols > 0 && cols <= EMULATOR_COLS_MAX);
    m->rows = rows;
    m->cols = cols;
    if (m->row >= rows) m->row = rows - 1;
    if (m->col >= cols) m->col = cols - 1;
    wipe(m, 0, 0, rows - 1);
}

static void line_feed(struct emulator *m) {
    if (++m->row < m->rows) return;
    m->row = m->rows - 1;
    memmove(m->cells[0], m->cells[1], sizeof m->cells[0] * (size_t)(m->rows - 1));
    wipe(m, m->row, 0, m->row);
    m->scrolled++;
}

static void put(struct emulator *m, uint32_t code) {
    if (m->wraps) {
        m->col = 0;
        line_feed(m);
        m->wraps = false;
    }
    m->cells[m->row][m->col] = m->pen;
    m->cells[m->row][m->col].code = code;
    if (m->col + 1 < m->cols)
        m->col++;
    else
        m->wraps = true;
}

static void set_pen(struct emulator *m, const char *args) {
    for (const char *at = args; *at != 0; at += strcspn(at, ";"), at += *at == ';') {
        int n = (int)strtol(at, NULL, 10);
        if (n == 0) m->pen = blank;
        if (n == 1) m->pen.is_bold = true;
        if (n == 7) m->pen.is_reverse = true;
        if (n >= 30) m->pen.colour = (uint8_t)n;
    }
    if (*args == 0) m->pen = blank;
}

static void set_mode(struct emulator *m, int mode, bool on) {
    if (mode == 25)
        m->is_hidden = !on;
    else if (mode == 1049)
        m->is_other = on;
    else
        fail_msg("a mode of the terminal that nothing should set: %d", mode);
    if (mode == 1049) {
        wipe(m, 0, 0, m->rows - 1);
        if (!on) m->row = m->col = 0;
    }
}

/* ESC [ args last */
static void command(struct emulator *m, const char *args, char last) {
    int n = (int)strtol(args + (*args == '?'), NULL, 10), times = n > 0 ? n : 1;
    m->wraps = m->wraps && last == 'm';
    switch (last) {
    case 'A': m->row = m->row > times ? m->row - times : 0; break;
    case 'B': m->row = m->row + times < m->rows ? m->row + times : m->rows - 1; break;
    case 'G': m->col = times <= m->cols ? times - 1 : m->cols - 1; break;
    case 'H': m->row = m->col = 0; break;
    case 'J': wipe(m, m->row, m->col, m->rows - 1); break;
    case 'K': wipe(m, m->row, m->col, m->row); break;
    case 'm': set_pen(m, args); break;
    case 'h': set_mode(m, n, true); break;
    case 'l': set_mode(m, n, false); break;
    default: fail_msg("a sequence that the terminal of the tests does not know: ESC [ %s %c", args, last);
    }
}

/* Bytes that it took; 0 = more must come. */
static size_t take(struct emulator *m, const uint8_t *at, size_t len) {
    if (at[0] == '\r') {
        m->col = 0;
        m->wraps = false;
    } else if (at[0] == '\n') {
        m->wraps = false;
        line_feed(m);
    } else if (at[0] == 0x1b) {
        size_t end = 2;
        char args[32];
        while (end < len && !(at[end] >= 0x40 && at[end] <= 0x7e)) end++;
        if (end >= len) return 0;
        if (at[1] != '[') fail_msg("a sequence that does not begin with ESC [");
        snprintf(args, sizeof args, "%.*s", (int)(end - 2), (const char *)at + 2);
        command(m, args, (char)at[end]);
        return end + 1;
    } else if (at[0] == 7) {
        return 1;
    } else {
        size_t n = utf8_sequence(slice_of(at, len));
        if (n == 0 && at[0] >= 0x80 && len < 4) return 0;
        if (n == 0 || at[0] < 0x20) fail_msg("byte %02x is no text", at[0]);
        uint32_t code = n > 1 ? at[0] & (0xffu >> (n + 1)) : at[0];
        for (size_t i = 1; i < n; i++) code = code << 6 | (at[i] & 0x3fu);
        put(m, code);
        return n;
    }
    return 1;
}

void emulator_feed(struct emulator *m, const void *bytes, size_t len) {
    const uint8_t *from = bytes;
    m->bytes += len;
    while (len > 0 || m->left_len > 0) {
        size_t n = len < sizeof m->left - m->left_len ? len : sizeof m->left - m->left_len;
        if (n > 0) memcpy(m->left + m->left_len, from, n);
        m->left_len += n;
        from += n;
        len -= n;
        size_t taken = 0;
        while (taken < m->left_len) {
            size_t step = take(m, m->left + taken, m->left_len - taken);
            if (step == 0) break;
            taken += step;
        }
        memmove(m->left, m->left + taken, m->left_len - taken);
        m->left_len -= taken;
        if (taken == 0) break;
    }
}

static size_t row_text(const struct emulator *m, int row, char *out) {
    size_t len = 0, end = 0;
    for (int c = 0; c < m->cols; c++) {
        if (m->cells[row][c].code == 0) continue;
        len += utf8_write(m->cells[row][c].code, (uint8_t *)out + len);
        if (m->cells[row][c].code != ' ') end = len;
    }
    out[end] = 0;
    return end;
}

const char *emulator_row(const struct emulator *m, int row) {
    static char text[EMULATOR_COLS_MAX * UTF8_BYTES_MAX + 1];
    assert_in_range(row, 0, m->rows - 1);
    row_text(m, row, text);
    return text;
}

const char *emulator_text(const struct emulator *m) {
    static char text[EMULATOR_ROWS_MAX * (EMULATOR_COLS_MAX * UTF8_BYTES_MAX + 2)];
    size_t len = 0;
    for (int r = 0; r < m->rows; r++) {
        len += row_text(m, r, text + len);
        text[len++] = '\n';
    }
    text[len] = 0;
    return text;
}

int emulator_find(const struct emulator *m, const char *text) {
    for (int r = 0; r < m->rows; r++)
        if (strstr(emulator_row(m, r), text) != NULL) return r;
    return -1;
}
