/* joblog.h: what attempts print. Per attempt one stream of bytes with offsets; each piece tells stdout from stderr and
 * carries the time at which the worker read it.
 *
 * Thousands of small logs share packs and syncs (pack.h), and the same three steps make them durable. An append is to
 * memory and readable at once, so a follower sees what a writer wrote without a disk between them; it is durable when
 * joblogs_durable() reaches its ticket, and only then the worker may forget it and DONE may name it.
 *
 * Idempotent by offset: bytes that are there already are accepted once, a gap is refused with the offset expected.
 * Of a log that passes its cap the head and the tail are kept (half each); what was cut between is told in bytes. */
#ifndef REEVE_JOBLOG_H
#define REEVE_JOBLOG_H

#include "pack.h"

struct log_key {
    uint64_t flow;
    uint32_t shard;
    uint32_t ordinal;
    uint32_t attempt;
};

enum log_stream { LOG_STDOUT = 0, LOG_STDERR = 1 };

struct log_piece {
    uint32_t stream; /* enum log_stream */
    wall_time time;
    struct slice bytes;
};

struct joblogs_options {
    uint64_t pack_bytes;
    uint64_t pending_bytes_max;
    uint64_t reserve_bytes;
    uint32_t logs_max; /* attempts with a log */
};

struct joblogs;

CHECKED enum err joblogs_open(struct disk *disk, struct clock *clock, const struct joblogs_options *o,
                              struct joblogs **ret, struct why *why);
void joblogs_close(struct joblogs *l);

struct log_state {
    uint64_t end;       /* offset after the last byte ever taken */
    uint64_t cut_begin; /* bytes [cut_begin, cut_end) were dropped; equal when none were */
    uint64_t cut_end;
    uint64_t ticket; /* of the last append: `end` is durable when this is */
    bool synced;     /* it is */
};

/* `offset` is that of the first byte of the first piece. `bytes_max` is the attempt's cap, 0 = none. `ret` tells how
 * far the log is now. ERR_CONFLICT: a gap (ret->end is the offset expected). ERR_BUSY, ERR_NO_SPACE: some of it may
 * have been taken (ret->end tells); send the rest again later. */
CHECKED enum err joblogs_append(struct joblogs *l, const struct log_key *key, uint64_t offset,
                                const struct log_piece *pieces, uint32_t count, uint64_t bytes_max,
                                struct log_state *ret, struct why *why);
/* All zero when nothing was appended. */
void joblogs_state(const struct joblogs *l, const struct log_key *key, struct log_state *ret);
uint64_t joblogs_durable(const struct joblogs *l);

/* Hands out pieces from `offset` on, up to about `bytes_max` bytes (at least one extent), and says where to go on; at
 * the end `ret_next` = `offset`. An offset inside the cut goes on behind it. ERR_CORRUPT names file and byte.
 * `offset_of_piece` may be after `offset` asked for, when a cut lies between. */
typedef void (*log_piece_fn)(void *ctx, uint64_t offset_of_piece, const struct log_piece *piece);
CHECKED enum err joblogs_read(const struct joblogs *l, struct pack_reader *r, const struct log_key *key,
                              uint64_t offset, uint64_t bytes_max, log_piece_fn each, void *ctx, uint64_t *ret_next,
                              struct why *why);
void joblogs_reader_init(const struct joblogs *l, struct pack_reader *r); /* end it with pack_reader_fini */

/* Lets go of logs that `keep` does not want, some at a time from `*cursor` (0 = the first) on; true: all were asked.
 * After a restart logs may be back that were let go before: ask again. */
typedef bool (*log_keep_fn)(void *ctx, const struct log_key *key);
bool joblogs_sweep(struct joblogs *l, uint32_t *cursor, uint32_t count_max, log_keep_fn keep, void *ctx);
void joblogs_drop(struct joblogs *l, const struct log_key *key); /* fine when there is none */

/* As in pack.h: one at a time. */
bool joblogs_wait(const struct joblogs *l); /* as packs_wait */
bool joblogs_flush_begin(struct joblogs *l);
void joblogs_flush_run(struct joblogs *l);
CHECKED enum err joblogs_flush_end(struct joblogs *l, struct why *why);

void joblogs_stats(const struct joblogs *l, struct packs_stats *ret);
CHECKED enum err joblogs_damage(const struct joblogs *l, struct why *why);

/* The body of an entry: pieces one after the other. Exposed for the fuzzer. False: it makes no sense. */
bool joblog_pieces_decode(struct slice body, uint64_t offset, uint64_t skip_to, log_piece_fn each, void *ctx,
                          uint64_t *ret_bytes);

#endif
