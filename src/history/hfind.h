/* hfind.h: questions to the history's file. A page costs its size, or HFIND_LOOKED_MAX rows at most: everything is
 * walked from the newest flow to the oldest along an index (words, state, tenant or the flows themselves), and what the
 * index cannot tell is looked at row by row. */
#ifndef REEVE_HFIND_H
#define REEVE_HFIND_H

#include "arena.h"
#include "hdb.h"
#include "history.h"

#define HFIND_LOOKED_MAX 20000u

/* `ret` is filled from the arena; its err and why tell of a failure. True: the file itself is damaged, and not only
 * what one row says. */
bool hfind(struct hdb *d, const struct history_query *q, struct arena *arena, struct history_answer *ret);

#endif
