/* audit.h: records of the journal and its archive as an audit trail: newest first, by filter, a page at a time. The
 * pieces of the journal are read from the newest backwards, and only as far as the page needs, by a reader (journal.h),
 * so beside a live server; meant for a thread that keeps nobody waiting. */
#ifndef REEVE_AUDIT_H
#define REEVE_AUDIT_H

#include <stdatomic.h>

#include "arena.h"
#include "audit_record.h"
#include "journal.h"

#define AUDIT_PIECES_MAX 8u /* read for one page, which may then be short, with a cursor to go on */

struct audit_query {
    uint64_t upto_lsn; /* not above it */
    uint32_t most;
    struct audit_filter filter;
};

struct audit_page {
    struct audit_record *at; /* newest first */
    uint32_t count;
    uint64_t next; /* upto_lsn of the next page; 0 = that was all */
};

/* The page is in `arena`. Whoever sets `stop` wants it no longer: it ends soon, with ERR_STATE. */
CHECKED enum err audit_read(struct journal *reader, const struct audit_query *q, const atomic_bool *stop,
                            struct arena *arena, struct audit_page *ret, struct why *why);

#endif
