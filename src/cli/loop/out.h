/* out.h: printing. Tables with columns as wide as they must be, on a terminal not wider than that (but for -o wide),
 * colours on a terminal only, JSON one object a line. */
#ifndef REEVE_OUT_H
#define REEVE_OUT_H

#include <stdio.h>

#include "cli.h"
#include "json.h"
#include "vec.h"

enum out_colour { OUT_PLAIN, OUT_GREEN, OUT_RED, OUT_YELLOW, OUT_BLUE, OUT_GREY, OUT_BOLD };

struct out_table {
    struct cli *cli;
    uint32_t columns;
    struct vec cells; /* struct out_cell, row by row; the first row is the head */
};

void out_table_init(struct out_table *t, struct cli *c, uint32_t columns, const char *const *heads);
void out_cell(struct out_table *t, enum out_colour colour, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void out_slice(struct out_table *t, enum out_colour colour, struct slice s);
void out_table_end(struct out_table *t); /* prints it and forgets it */
bool out_is_cut(const struct cli *c);    /* tables have room on a terminal only as far as it is wide */

/* One JSON object and a line end, for what is no answer of the server (api_print.h). */
struct out_object {
    struct buf buf;
    struct json json;
};
void out_object_begin(struct out_object *o);
void out_object_end(struct out_object *o);

const char *out_paint(const struct cli *c, enum out_colour colour); /* "" when there are no colours */
const char *out_plain(const struct cli *c);                         /* back to normal */
enum out_colour out_state_colour(struct slice state);
const char *out_state_sign(struct slice state); /* one character */
#define OUT_STATES_MAX 14u
uint32_t out_state_number(struct slice state); /* OUT_STATES_MAX = an unknown one */
struct slice out_state_at(uint32_t number);
struct slice out_state_word(struct slice state); /* the same word, for ever; empty: it is unknown */
bool out_state_is_end(struct slice state);
/* Text from elsewhere, without what would command the terminal (utf8_shown). */
void out_clean(FILE *to, struct slice text);
/* A line, with its end, that has text from elsewhere in it, cleaned as a whole. */
void out_say(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define OUT_TIME_BYTES 32u
const char *out_age(int64_t now_ms, int64_t then_ms, char text[OUT_TIME_BYTES]); /* "5m", "-" when there is none */
const char *out_took(int64_t from_ms, int64_t to_ms, char text[OUT_TIME_BYTES]); /* the same, below 10s with ms */
const char *out_time(int64_t ms, char text[OUT_TIME_BYTES]);                     /* local, with seconds */
const char *out_bytes(uint64_t bytes, char text[OUT_TIME_BYTES]);

#endif
