/* audit.h: records of the journal and its archive as an audit trail: newest first, by filter, a page at a time. The
 * pieces of the journal are read from the newest backwards, and only as far as the page needs, by a reader (journal.h),
 * so beside a live server; meant for a thread that keeps nobody waiting. */
#ifndef REEVE_AUDIT_H
#define REEVE_AUDIT_H

#include <stdatomic.h>

#include "arena.h"
#include "journal.h"
#include "record.h"
#include "wtime.h"

#define AUDIT_TEXT_BYTES 512u   /* of what a record says; the rest is left out */
#define AUDIT_PIECES_MAX 8u     /* read for one page, which may then be short, with a cursor to go on */

struct audit_query { /* what is 0 or empty does not choose */
    uint64_t upto_lsn; /* not above it */
    uint32_t most;
    uint64_t flow;
    struct slice principal;
    struct slice kind; /* its word */
    bool people;       /* only what someone did: with a principal */
    int64_t since_ms, until_ms;
};

struct audit_record {
    uint64_t lsn;
    int64_t time_ms;
    enum record_kind kind;
    struct slice principal;
    uint64_t flow;    /* that it is about; 0 = none */
    uint32_t ordinal; /* of a job of it; UINT32_MAX = none */
    struct slice name; /* of what it is about, if that is no flow */
    struct slice text; /* the other fields, for people */
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
