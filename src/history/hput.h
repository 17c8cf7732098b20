/* hput.h: rows into the history's file, in transactions as large as the caller makes them, and out of it when they are
 * too old or too many. Putting a row again changes nothing; a row of a later state replaces the earlier one. */
#ifndef REEVE_HPUT_H
#define REEVE_HPUT_H

#include "buf.h"
#include "hdb.h"
#include "history.h"

enum hput_sql {
    HPUT_KNOWN,
    HPUT_FLOW,
    HPUT_WORD_DELETE,
    HPUT_WORD,
    HPUT_PART,
    HPUT_PART_STALE,
    HPUT_PART_DELETE,
    HPUT_FLOW_DELETE,
    HPUT_OLDEST,
    HPUT_SQL_COUNT
};

struct hput {
    struct hdb db;
    sqlite3_stmt *sql[HPUT_SQL_COUNT];
    void *zstd;
    struct buf packed; /* the part before, or the first part of the flow whose row has not come */
    struct buf first;
    uint64_t first_flow, first_lsn; /* whose; 0 = none */
    uint32_t part_count;            /* of that flow so far */
    uint64_t part_bytes;            /* packed */
    int64_t flows_added;            /* in this transaction, and what they take; may be negative */
    int64_t bytes_added;
};

CHECKED enum err hput_open(struct hput *p, const char *path, struct why *why);
void hput_close(struct hput *p);

CHECKED enum err hput_begin(struct hput *p, struct why *why);
CHECKED enum err hput_commit(struct hput *p, struct why *why); /* durable; a failed one is rolled back */
void hput_rollback(struct hput *p);
CHECKED enum err hput_part(struct hput *p, const struct history_part *part, struct why *why);
CHECKED enum err hput_row(struct hput *p, const struct history_row *row, struct why *why);
/* Everything that ended up to `lsn` is in it, once this is committed. Never goes back. */
CHECKED enum err hput_reach(struct hput *p, uint64_t lsn, struct why *why);

/* Removes some flows that finished before `before_ms`, or the oldest ones while all take more than `bytes_max`
 * (0 = no limit). *ret_more: there are more of them. Its own transaction. */
CHECKED enum err hput_trim(struct hput *p, int64_t before_ms, uint64_t bytes_max, uint32_t *ret_removed, bool *ret_more,
                           struct why *why);

#endif
