/* hword.h: what is asked of the index of words (FTS5), in its language. */
#ifndef REEVE_HWORD_H
#define REEVE_HWORD_H

#include "buf.h"
#include "hdb.h"
#include "history.h"

/* Made once for a connection that asks: the words themselves, in order. */
#define HWORD_SETUP "CREATE VIRTUAL TABLE temp.term USING fts5vocab(main, word, instance);"

/* Has anything that the index sees: a letter or a digit. */
bool hword_has(struct slice text);
/* Empty when the index cannot help. */
CHECKED enum err hword_match(struct hdb *d, const struct history_query *q, struct buf *ret, struct why *why);

#endif
