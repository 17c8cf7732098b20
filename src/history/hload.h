/* hload.h: rows on their way to the file, copied, in the order they came; and how far the history comes with them. */
#ifndef REEVE_HLOAD_H
#define REEVE_HLOAD_H

#include "arena.h"
#include "history.h"
#include "hput.h"
#include "vec.h"

struct hload {
    struct arena arena;
    struct vec items; /* struct hload_item */
    uint64_t bytes;
    uint64_t reach; /* 0 = nothing new */
    uint64_t lsn;   /* the highest that anything in it is of */
};

void hload_init(struct hload *l);
void hload_fini(struct hload *l);
void hload_clear(struct hload *l);
bool hload_is_empty(const struct hload *l);
void hload_part(struct hload *l, const struct history_part *part);
void hload_row(struct hload *l, const struct history_row *row);
void hload_reach(struct hload *l, uint64_t lsn);
/* All of it in one transaction. Done again after a failure, it has the same effect. */
CHECKED enum err hload_write(const struct hload *l, struct hput *to, struct why *why);

#endif
