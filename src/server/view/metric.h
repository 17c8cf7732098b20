/* metric.h: the numbers of the server, one table: what each is called in /metrics and in GET /api/v1/stats, what it
 * counts, how long it lasts and where it stands in a sample. The exposition, the list of stats and docs/metrics.md come
 * from it. A new number is a member of `struct sample`, filled in req_stats.c, and a line in metric.c.
 *
 * Nothing here is counted for the sake of a metric alone but what the process does (syncs, answers): all else is read
 * from the state or from the tally that the journal's records make (tally.h), so that no restart makes it drift. */
#ifndef REEVE_METRIC_H
#define REEVE_METRIC_H

#include "buf.h"
#include "tally.h"
#include "view.h"
#include "wire.h"

#define SYNC_BOUND_COUNT 13u
#define SYNC_SLOTS (1u + SYNC_BOUND_COUNT + 1u) /* sum in microseconds, then one count per bound and one behind them */
#define ANSWER_CLASS_COUNT 6u                   /* of HTTP, by the first digit of the status */

extern const uint32_t metric_sync_bounds_us[SYNC_BOUND_COUNT];

struct sample { /* all members are uint64_t, or arrays of it */
    struct state_counts counts;
    uint64_t tally[TALLY_COUNT];
    uint64_t blocks[BLOCK_COUNT];
    uint64_t lsn, epoch;
    uint64_t clock_apart_s, clock_steps, accepting_work;
    uint64_t workers_attached, slots, slots_used, queued, sagas_open, ended_badly;
    uint64_t connections, calls, requests, busy;
    uint64_t syncs, sync[SYNC_SLOTS];
    uint64_t answers[ANSWER_CLASS_COUNT];
    uint64_t logins, logins_failed, http_limited;
    uint64_t followers, dropped_events, reopens;
    uint64_t blob_bytes, blobs_swept, log_bytes, room_bytes;
    uint64_t history_flows, history_bytes, history_lsn, history_lag, history_rebuilding;
    uint64_t audit_unsigned, audit_forward_lag, audit_forward_failing, audit_forward_failures;
    uint64_t recovery_records, recovery_adopted, recovery_again, recovery_lost;
};

enum metric_type { METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM, METRIC_TYPE_COUNT };
extern const char *const metric_type_words[];

enum metric_life {
    METRIC_NOW,     /* as it is, read from the state */
    METRIC_FOREVER, /* counted by the journal's records: a restart changes nothing */
    METRIC_PROCESS, /* since this process started */
    METRIC_LIFE_COUNT
};
extern const char *const metric_life_words[];

struct metric {
    const char *name; /* for Prometheus */
    const char *stat; /* in the stats; of a family, what is before _WORD; NULL = it is not there */
    enum metric_type type;
    enum metric_life life;
    uint32_t offset; /* in the sample */
    const char *text;
    const char *of;    /* the name elsewhere of this metric of ours; NULL = it is ours */
    const char *label; /* of a family: its only label */
    const char *(*word)(uint32_t i);
    uint32_t first, count;  /* of a family: members of the array */
    bool sparse;            /* of a family: members that are 0 are left out of the stats */
    const uint32_t *bounds; /* of a histogram */
    uint32_t bound_count;
    uint32_t per_second; /* how many of its units a second has */
};

const struct metric *metric_table(uint32_t *ret_count);
void metric_expose(const struct sample *s, struct buf *out); /* text format 0.0.4 */
/* The stats, in `arena`. */
struct tlv_list metric_stats(const struct sample *s, struct arena *arena);

struct server;
void sample_take(struct server *s, struct sample *ret);

#endif
