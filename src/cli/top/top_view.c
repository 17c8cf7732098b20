/* top_view.c: views of `reeve top`: their rows, which of them is selected, and how one lies over another. */
#include "top.h"

#include <stdio.h>

#include "panic.h"

#define ROWS_BYTES_MAX ((size_t)256 << 20)

void top_view_init(struct top_view *v, enum top_kind kind, const char *target) {
    *v = (struct top_view){.kind = kind, .is_dirty = true, .is_at_end = true};
    snprintf(v->target, sizeof v->target, "%s", target);
    lineout_init(&v->lines);
    for (size_t i = 0; i < TOP_PART_COUNT; i++) {
        arena_init(&v->parts[i].arena, 16384, ROWS_BYTES_MAX);
        vec_init(&v->parts[i].rows, sizeof(struct top_row));
    }
}

void top_view_fini(struct top_view *v) {
    lineout_fini(&v->lines);
    for (size_t i = 0; i < TOP_PART_COUNT; i++) {
        arena_fini(&v->parts[i].arena);
        vec_fini(&v->parts[i].rows);
    }
}

void top_part_clear(struct top_part *p) {
    arena_reset(&p->arena);
    p->rows.count = 0;
}

bool top_is_list(enum top_kind kind) {
    return kind <= TOP_JOBS;
}

struct top_view *top_view(struct top *t) {
    return t->depth > 0 ? &t->deep[t->depth - 1] : &t->panes[t->pane];
}

uint32_t top_row_count(const struct top_view *v) {
    uint32_t count = 0;
    for (size_t i = 0; i < TOP_PART_COUNT; i++) count += v->parts[i].rows.count;
    return count;
}

struct top_row *top_row_at(const struct top_view *v, uint32_t i) {
    const struct top_part *p = v->parts;
    for (; i >= p->rows.count; p++) i -= p->rows.count;
    return vec_at(&p->rows, i);
}

/* Without regard to case, in any column. */
static bool passes(const struct top_row *row, const char *filter) {
    size_t len = strlen(filter);
    if (len == 0) return true;
    for (size_t k = 0; k < TOP_COLUMNS_MAX; k++)
        for (size_t i = 0; i + len <= row->text[k].len; i++)
            if (strncasecmp((const char *)row->text[k].ptr + i, filter, len) == 0) return true;
    return false;
}

uint32_t *top_rows_shown(const struct top_view *v, struct arena *a, uint32_t *ret_count) {
    uint32_t count = top_row_count(v), shown = 0;
    uint32_t *list = ARENA_ARRAY(a, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++)
        if (passes(top_row_at(v, i), v->filter)) list[shown++] = i;
    *ret_count = shown;
    return list;
}

/* The selection stays on its thing while rows come, go and change places; if it is gone, on its place. */
static void settle(struct top_view *v, const uint32_t *list, uint32_t count) {
    for (uint32_t i = 0; i < count && v->selected[0] != 0; i++)
        if (slice_eq(top_row_at(v, list[i])->id, slice_str(v->selected))) {
            v->at = i;
            return;
        }
    if (v->at >= count) v->at = count > 0 ? count - 1 : 0;
}

static void select_at(struct top_view *v, const uint32_t *list, uint32_t count) {
    if (count > 0) snprintf(v->selected, sizeof v->selected, "%.*s", SLICE_FMT(top_row_at(v, list[v->at])->id));
}

const struct top_row *top_selected(struct top *t) {
    struct top_view *v = top_view(t);
    uint32_t count = 0;
    struct arena a;
    arena_init(&a, 16384, ROWS_BYTES_MAX);
    const uint32_t *list = top_rows_shown(v, &a, &count);
    settle(v, list, count);
    const struct top_row *row = count > 0 ? top_row_at(v, list[v->at]) : NULL;
    arena_fini(&a);
    return row;
}

void top_view_move(struct top *t, int64_t rows, bool to_edge) {
    struct top_view *v = top_view(t);
    uint32_t count = 0;
    struct arena a;
    arena_init(&a, 16384, ROWS_BYTES_MAX);
    const uint32_t *list = top_rows_shown(v, &a, &count);
    uint32_t *at = top_is_list(v->kind) ? &v->at : &v->first;
    if (top_is_list(v->kind)) settle(v, list, count);
    int64_t to = to_edge ? (rows < 0 ? 0 : (int64_t)count - 1) : (int64_t)*at + rows;
    if (to >= (int64_t)count) to = (int64_t)count - 1;
    *at = to > 0 ? (uint32_t)to : 0;
    v->is_at_end = to_edge && rows > 0;
    if (top_is_list(v->kind)) select_at(v, list, count);
    arena_fini(&a);
}

void top_push(struct top *t, enum top_kind kind, const char *target) {
    if (t->depth == TOP_DEPTH_MAX) return;
    top_view_init(&t->deep[t->depth++], kind, target);
}

void top_pop(struct top *t) {
    REQUIRE(t->depth > 0);
    struct top_view *v = &t->deep[t->depth - 1];
    uint32_t request = v->parts[TOP_PART_LOG].request, ignored = 0;
    struct wire_stop m = {.request = request};
    /* A log that is no longer looked at is not followed; if that cannot be said, the server is away anyway. */
    if (v->kind == TOP_LOG && request != 0 && t->c->client.fd >= 0 &&
        client_send(&t->c->client, WIRE_STOP, &m, &ignored, t->c->why) != ERR_OK)
        t->c->why->text[0] = 0;
    top_view_fini(v);
    t->depth--;
    top_view(t)->is_dirty = true;
}
