/* lineout.h: output of jobs, cut into whole lines and printed for people or programs. Pieces of a log end anywhere; a
 * line is printed when its end has come, or when nothing follows it any more. */
#ifndef REEVE_LINEOUT_H
#define REEVE_LINEOUT_H

#include "cli.h"

#define LINEOUT_BYTES_MAX ((size_t)1 << 20) /* a longer line is cut into several */

struct lineout_line {
    int64_t time_ms;
    uint8_t stream; /* enum wire_stream */
    struct slice text;
};

struct lineout_parts { /* of one attempt: lines that have no end yet, one per stream */
    struct buf text[WIRE_STREAM_COUNT];
    int64_t time_ms[WIRE_STREAM_COUNT];
};

typedef void (*lineout_fn)(void *ctx, const struct lineout_line *line);

void lineout_init(struct lineout_parts *p);
void lineout_fini(struct lineout_parts *p);
void lineout_cut(struct lineout_parts *p, const struct wire_log_piece *piece, lineout_fn each, void *ctx);
void lineout_flush(struct lineout_parts *p, lineout_fn each, void *ctx); /* what is left, as lines */

struct lineout { /* how lines are printed */
    struct cli *cli;
    bool plain, times;
    uint32_t width; /* of the longest name so far */
};

struct lineout_from {
    struct slice job;
    uint32_t number; /* of the job in its flow: gives its colour */
    uint32_t attempt;
};

void lineout_room(struct lineout *o, struct slice job); /* its name will come */
void lineout_print(struct lineout *o, const struct lineout_from *from, const struct lineout_line *line);
/* Something about the job itself, like "attempt 2": to standard error, with --json an object like the lines. */
void lineout_note(struct lineout *o, const struct lineout_from *from, const char *text);
struct slice lineout_short_name(struct slice job); /* without its flow */

#endif
