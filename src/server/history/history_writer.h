/* history_writer.h: flows that ended, into the history.
 *
 * The state itself is the queue: a flow leaves memory only when the history says that it has it, so whatever the
 * history lacks after a crash is still there, and its position tells what that is. Rows are made in turns, a few
 * hundred jobs each, from the present state, and handed over when that is durable.
 *
 * A history that was lost begins empty: first the flows in memory are put, then those that have left it are made again
 * from the journal's archive (history_rebuild.h), beside everything else. */
#ifndef REEVE_HISTORY_WRITER_H
#define REEVE_HISTORY_WRITER_H

#include "flow_row.h"
#include "server_impl.h"
#include "vec.h"

struct history_rebuild;

struct history_writer {
    struct vec queue;    /* struct due, by LSN: flows to be put */
    uint32_t at;         /* the first of them that was not */
    uint64_t seen_lsn;   /* every flow that ended up to here is in the queue, or was */
    uint64_t put_lsn;    /* every flow that ended up to here was put */
    uint64_t lives;      /* of the history's file */
    bool has_put;        /* rows since the last word on how far we are */
    bool is_making;      /* the row of queue[at] is half made */
    struct flow_row row;
    struct arena arena;  /* of one part */
    struct history_rebuild *rebuild;
    int64_t rebuild_ms;  /* monotonic: not to be tried before */
    int64_t told_ms;     /* when its progress was told last */
};

extern const uint8_t history_writer_slot;

static inline struct history_writer *history_writer_of(const struct server *s) {
    return shard_part(server_shard(s), history_writer_slot);
}

/* ERR_CORRUPT: the history has seen records that the journal does not have. Before anything is written. */
CHECKED enum err history_writer_check(struct server *s, struct why *why);
/* How far the history has come; UINT64_MAX without one. */
uint64_t history_writer_durable(struct server *s);
/* Logs go after their flows: those of flows older than all in the history may, when it is whole. */
bool history_writer_keeps_log(struct server *s, uint64_t flow);
/* Flows that ended and are not durable in the history yet. */
uint64_t history_writer_lag(struct server *s);

#endif
