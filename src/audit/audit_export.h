/* audit_export.h: the audit trail as lines of JSON, oldest first, for other programs: as evidence that can be checked
 * without the journal (audit_evidence.h), or as events of OCSF.
 *
 * An export that can be checked names every batch from a checkpoint on, by its hash, and gives the bytes of the records
 * that it shows:
 *
 *     {"what":"export", …}        where the chain stands before the first batch, and the checkpoint that says so
 *     {"what":"record", …}        who, what, about what; and the record's bytes
 *     {"what":"batch", …}         its head, and the hashes of its records; null for those that were shown
 *     {"what":"batches", …}       hashes of batches of which nothing is shown
 *     {"what":"checkpoint", …}    a signed checkpoint
 *     {"what":"end", …}           how far it goes
 *
 * A record that would tell a secret (of a token, of a key) is shown without its bytes, and proved by its hash alone.
 * Normative: docs/formats/proof.md. */
#ifndef REEVE_AUDIT_EXPORT_H
#define REEVE_AUDIT_EXPORT_H

#include <stdatomic.h>

#include "audit_record.h"
#include "journal.h"
#include "json.h"
#include "proof.h"

enum audit_format { AUDIT_JSONL, AUDIT_OCSF };

struct audit_export {
    struct journal *reader;
    struct hasher *hasher;
    const atomic_bool *stop; /* NULL = nothing stops it */
    const char *program;     /* its version, for the first line */
    enum audit_format format;
    struct audit_filter filter;
    uint64_t upto_lsn; /* not beyond: what is durable */
    bool is_stream;    /* it goes on and on: there is no last line */
    size_t page_bytes; /* about so many are put out by one call */
};

/* Puts out what comes after record *lsn, and moves that on: at first it is 0, and the lines begin at the checkpoint
 * before `filter.since_ms`, or with the journal. *ret_more: there is more to come; the page after it goes on from *lsn.
 * Whole batches only. ERR_BUSY: the journal is being moved into its archive; ERR_STATE: it is no longer wanted. */
CHECKED enum err audit_export_page(const struct audit_export *x, uint64_t *lsn, struct buf *out, bool *ret_more,
                                   struct why *why);

/* ---- lines, for those who check them ---- */

/* "record" and "checkpoint" with all their members but `bytes`; the object stays open. */
void audit_line_record(struct json *j, uint32_t shard, const struct audit_record *r, bool is_ocsf);
void audit_line_checkpoint(struct json *j, uint32_t shard, const struct checkpoint *c);
/* Whether its bytes may be shown. */
bool audit_shows_bytes(enum record_kind kind);

#endif
