/* lineout.c: see lineout.h. */
#include "lineout.h"

#include <stdio.h>

#include "out.h"

#define WIDTH_MAX 24u /* longer names push their own lines aside, not all others */

/* ---- whole lines ---- */

void lineout_init(struct lineout_parts *p) {
    *p = (struct lineout_parts){0};
    for (size_t i = 0; i < WIRE_STREAM_COUNT; i++) buf_init(&p->text[i], LINEOUT_BYTES_MAX);
}

void lineout_fini(struct lineout_parts *p) {
    for (size_t i = 0; i < WIRE_STREAM_COUNT; i++) buf_fini(&p->text[i]);
}

/* The line is the part and `end` behind it. */
static void line_is_whole(struct lineout_parts *p, uint8_t stream, struct slice end, lineout_fn each, void *ctx) {
    struct buf *part = &p->text[stream];
    struct lineout_line line = {p->time_ms[stream], stream, end};
    if (part->len > 0) {
        buf_put_slice(part, end);
        line.text = buf_slice(part);
    }
    if (line.text.len > 0 && line.text.ptr[line.text.len - 1] == '\r') line.text.len--;
    each(ctx, &line);
    buf_cut(part, 0);
}

void lineout_cut(struct lineout_parts *p, const struct wire_log_piece *piece, lineout_fn each, void *ctx) {
    uint8_t stream = piece->stream < WIRE_STREAM_COUNT ? piece->stream : WIRE_STREAM_OUT;
    struct buf *part = &p->text[stream];
    struct slice left = piece->data;
    while (left.len > 0) {
        const uint8_t *end = memchr(left.ptr, '\n', left.len);
        size_t len = end != NULL ? (size_t)(end - left.ptr) : left.len, room = LINEOUT_BYTES_MAX - part->len;
        if (part->len == 0) p->time_ms[stream] = piece->time_ms;
        bool whole = end != NULL && len <= room;
        if (len > room) len = room;
        if (whole || len == room)
            line_is_whole(p, stream, slice_of(left.ptr, len), each, ctx);
        else
            buf_put(part, left.ptr, len);
        len += whole;
        left = slice_of(left.ptr + len, left.len - len);
    }
}

void lineout_flush(struct lineout_parts *p, lineout_fn each, void *ctx) {
    for (uint8_t i = 0; i < WIRE_STREAM_COUNT; i++)
        if (p->text[i].len > 0) line_is_whole(p, i, (struct slice){0}, each, ctx);
}

/* ---- printing ---- */

struct slice lineout_short_name(struct slice job) {
    const uint8_t *slash = job.len > 0 ? memchr(job.ptr, '/', job.len) : NULL;
    size_t skip = slash != NULL ? (size_t)(slash - job.ptr) + 1 : 0;
    return slice_of(job.ptr + skip, job.len - skip);
}

/* Neighbours differ, and the same job of the same flow file has the same colour every time. */
static const char *colour_of(const struct cli *c, uint32_t number) {
    static const char *const colours[] = {"\033[36m", "\033[33m", "\033[35m", "\033[32m", "\033[34m",
                                          "\033[96m", "\033[93m", "\033[95m", "\033[92m", "\033[94m"};
    return c->colour ? colours[number % (sizeof colours / sizeof colours[0])] : "";
}

static void make_room(struct lineout *o, uint32_t width) {
    if (width > WIDTH_MAX) width = WIDTH_MAX;
    if (width > o->width) o->width = width;
}

void lineout_room(struct lineout *o, struct slice job) {
    make_room(o, (uint32_t)lineout_short_name(job).len);
}

static void print_name(struct lineout *o, const struct lineout_from *from) {
    struct slice name = lineout_short_name(from->job);
    char number[16] = "";
    if (from->attempt > 1) snprintf(number, sizeof number, "#%u", from->attempt);
    uint32_t width = (uint32_t)(name.len + strlen(number));
    make_room(o, width);
    printf("%s", colour_of(o->cli, from->number));
    out_clean(stdout, name);
    printf("%s%*s |%s ", number, width < o->width ? (int)(o->width - width) : 0, "", out_plain(o->cli));
}

static void begin_object(struct out_object *j, const struct lineout_from *from) {
    out_object_begin(j);
    json_key(&j->json, "job");
    json_text(&j->json, from->job);
    json_key(&j->json, "attempt");
    json_u64(&j->json, from->attempt);
}

void lineout_print(struct lineout *o, const struct lineout_from *from, const struct lineout_line *line) {
    static const char *const streams[] = {"out", "err", "note"};
    char when[OUT_TIME_BYTES];
    if (o->cli->json) {
        struct out_object j;
        begin_object(&j, from);
        json_key(&j.json, "stream");
        json_str(&j.json, streams[line->stream]);
        json_key(&j.json, "time_ms");
        json_i64(&j.json, line->time_ms);
        json_key(&j.json, "line");
        json_text(&j.json, line->text);
        out_object_end(&j);
        return;
    }
    if (!o->plain) print_name(o, from);
    if (o->times) printf("%s.%03d ", out_time(line->time_ms, when), (int)(line->time_ms % 1000));
    fwrite(line->text.ptr, 1, line->text.len, stdout);
    fputc('\n', stdout);
}

void lineout_note(struct lineout *o, const struct lineout_from *from, const char *text) {
    if (o->cli->json) {
        struct out_object j;
        begin_object(&j, from);
        json_key(&j.json, "note");
        json_str(&j.json, text);
        out_object_end(&j);
        return;
    }
    fflush(stdout);
    fprintf(stderr, "%s-- ", out_paint(o->cli, OUT_GREY));
    out_clean(stderr, lineout_short_name(from->job));
    fprintf(stderr, ": %s --%s\n", text, out_plain(o->cli));
}
