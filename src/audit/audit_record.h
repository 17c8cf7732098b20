/* audit_record.h: one record of the journal as an entry of the audit trail: who, what, about what; and whether it is
 * one that somebody asked for. */
#ifndef REEVE_AUDIT_RECORD_H
#define REEVE_AUDIT_RECORD_H

#include "record.h"
#include "wtime.h"

#define AUDIT_TEXT_BYTES 512u /* of what a record says; the rest is left out */
#define AUDIT_NAME_BYTES 200u

struct audit_filter { /* what is 0 or empty does not choose */
    uint64_t flow;
    uint32_t job; /* of that flow: its ordinal + 1 */
    struct slice principal;
    struct slice tenant;
    struct slice kind;   /* of record, its word */
    struct slice verb;   /* what was done (audit_verb.h) */
    struct slice object; /* name of what it is about: a pool, a schedule, a key … */
    bool people;         /* only what someone did: with a principal */
    int64_t since_ms, until_ms;
};

struct audit_record {
    uint64_t lsn;
    int64_t time_ms;
    enum record_kind kind;
    struct slice principal;
    struct slice tenant; /* empty: that of its flow, or none */
    uint64_t flow;       /* that it is about; 0 = none */
    uint32_t ordinal;    /* of a job of it; UINT32_MAX = none */
    struct slice name;   /* of what it is about, if that is no flow */
    struct slice text;   /* the other fields, for people */
};

bool audit_fits(const struct audit_filter *f, const struct record *r, int64_t time_ms);
/* Its slices are those of the record, but for the text, which is in `text`. */
void audit_record_of(const struct record *r, uint64_t lsn, int64_t time_ms, char text[AUDIT_TEXT_BYTES],
                     struct audit_record *ret);
/* The flow, the job or the name that it is about, as it is told where no server knows names: f11, f11/#3. */
#define AUDIT_OBJECT_BYTES (AUDIT_NAME_BYTES + 40u)
void audit_object(uint32_t shard, const struct audit_record *r, char ret[AUDIT_OBJECT_BYTES]);

#endif
