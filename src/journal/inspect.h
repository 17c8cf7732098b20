/* inspect.h: what a person may ask of a journal: is it whole, what is in it. Read-only, also beside a live server. */
#ifndef REEVE_INSPECT_H
#define REEVE_INSPECT_H

#include "disk.h"
#include "journal.h"

struct inspect_report {
    uint32_t segment_count; /* with a header, archive included */
    uint32_t archived_count;
    uint64_t batch_count;
    uint64_t mark_count;
    uint64_t payload_bytes;
    uint64_t first_lsn; /* oldest record still there, 0 = none */
    uint64_t last_lsn;
    uint64_t epoch;
    bool sealed;        /* nothing but a mark follows the last batch */
    uint32_t snapshot_count; /* whole ones */
    uint64_t snapshot_lsn;   /* of the newest whole one */
};

/* Every byte of every segment and snapshot is read. ERR_CORRUPT names the first damage. */
CHECKED enum err inspect_verify(struct disk *d, struct inspect_report *ret, struct why *why);
/* How many records of each kind there are; `ret` has REC_KIND_END places. */
CHECKED enum err inspect_count(struct disk *d, uint64_t ret[], struct why *why);
/* One line of JSON per record with from <= LSN <= to. */
CHECKED enum err inspect_dump(struct disk *d, uint64_t from, uint64_t to, struct byte_sink *out, struct why *why);

#endif
