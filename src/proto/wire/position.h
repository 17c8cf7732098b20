/* position.h: where an event stands in the journal: the record it comes from, and which of that record's events it is.
 * As text "LSN.ORDINAL", or "LSN" alone for the last event of that record. Positions rise and are never used again. */
#ifndef REEVE_POSITION_H
#define REEVE_POSITION_H

#include "buf.h"

#define POSITION_TEXT_BYTES 40u

struct position {
    uint64_t lsn;
    uint32_t ordinal;
};

/* Behind everything that a record says. */
static inline struct position position_end_of(uint64_t lsn) {
    return (struct position){lsn, UINT32_MAX};
}

static inline bool position_is_after(struct position a, struct position b) {
    return a.lsn != b.lsn ? a.lsn > b.lsn : a.ordinal > b.ordinal;
}

bool position_read(struct slice text, struct position *ret); /* false: it is none */
struct slice position_text(struct position at, char room[POSITION_TEXT_BYTES]);

#endif
