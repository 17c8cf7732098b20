/* hload.c: see hload.h. */
#include "hload.h"

#define LOAD_BYTES_MAX ((size_t)1 << 30)
#define ITEM_BYTES 256u /* about what an item costs beside its texts */

struct hload_item {
    bool is_part;
    union {
        struct history_part part;
        struct history_row row;
    } as;
};

void hload_init(struct hload *l) {
    *l = (struct hload){0};
    arena_init(&l->arena, 65536, LOAD_BYTES_MAX);
    vec_init(&l->items, sizeof(struct hload_item));
}

void hload_fini(struct hload *l) {
    arena_fini(&l->arena);
    vec_fini(&l->items);
}

/* A large one gives its memory back: the next is small, mostly. */
void hload_clear(struct hload *l) {
    if (l->bytes > 1u << 20) {
        hload_fini(l);
        hload_init(l);
        return;
    }
    arena_reset(&l->arena);
    l->items.count = 0;
    l->bytes = l->reach = l->lsn = 0;
}

bool hload_is_empty(const struct hload *l) {
    return l->items.count == 0 && l->reach == 0;
}

void hload_part(struct hload *l, const struct history_part *part) {
    struct hload_item *i = vec_push(&l->items);
    i->is_part = true;
    i->as.part = *part;
    i->as.part.body = arena_slice(&l->arena, part->body);
    l->bytes += part->body.len + ITEM_BYTES;
    if (part->lsn > l->lsn) l->lsn = part->lsn;
}

void hload_row(struct hload *l, const struct history_row *row) {
    struct hload_item *i = vec_push(&l->items);
    struct history_row *to = &i->as.row;
    struct slice *const texts[] = {&to->tenant, &to->name, &to->state,  &to->schedule,
                                   &to->labels, &to->jobs, &to->errors, &to->head};
    *to = *row;
    if (row->lsn > l->lsn) l->lsn = row->lsn;
    l->bytes += ITEM_BYTES;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        l->bytes += texts[k]->len;
        *texts[k] = arena_slice(&l->arena, *texts[k]);
    }
}

void hload_reach(struct hload *l, uint64_t lsn) {
    l->reach = lsn;
    l->bytes += ITEM_BYTES; /* whatever is there has some: they tell whether it waits */
    if (lsn > l->lsn) l->lsn = lsn;
}

enum err hload_write(const struct hload *l, struct hput *to, struct why *why) {
    enum err e = hput_begin(to, why);
    for (uint32_t i = 0; e == ERR_OK && i < l->items.count; i++) {
        const struct hload_item *item = vec_at(&l->items, i);
        e = item->is_part ? hput_part(to, &item->as.part, why) : hput_row(to, &item->as.row, why);
    }
    if (e == ERR_OK && l->reach > 0) e = hput_reach(to, l->reach, why);
    if (e == ERR_OK) return hput_commit(to, why);
    hput_rollback(to);
    return e;
}
