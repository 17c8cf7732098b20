/* shard.h: one engine, its journal, and everything that is derived from them. Opened, closed and opened again as a
 * whole: closing drops its calls, ends the parts of the shard in reverse order and frees the engine. Opening reads
 * snapshot and journal and begins the parts.
 *
 * An append that was fenced, or of which nobody knows whether it happened, loses the shard: what its engine decided
 * since the last durable record may be in the journal or not. From that moment nothing of the engine leaves; the next
 * pass closes every connection that has spoken, unanswered, throws the engine away and opens the shard again, with a
 * higher epoch (server.c, reopen). To those outside it is a restart of the server: they connect again, workers attach
 * with what they run, and what was not answered is asked again. The writer stays open, and so does all that is not
 * derived from the state: listeners, blobs and logs, tokens, the history. See docs/adr/0127.
 *
 * A pass of a shard (server.c calls these in turn):
 *
 *     shard_take       what the journal's thread has finished; more may leave
 *     shard_release    effects that are durable leave, each to the parts that asked for its kind
 *     shard_begin      a pass of the engine begins, with its inputs
 *     shard_step       the parts that have a turn; they may send commands
 *     shard_finish     the engine finishes the pass; the records are appended, here or by the journal's thread
 *     shard_flush      the parts that have a turn; nothing may be decided any more */
#ifndef REEVE_SHARD_H
#define REEVE_SHARD_H

#include "arena.h"
#include "batch.h"
#include "engine.h"
#include "journal.h"
#include "metric.h"
#include "part.h"
#include "pool.h"
#include "vec.h"
#include "writer.h"
#include "wtime.h"

struct server;

enum shard_state {
    SHARD_OWNED,
    SHARD_LOST,   /* an append was fenced, or nobody knows whether it happened: to be opened again */
    SHARD_FAILED, /* a write or a sync failed: the process stops */
};

enum append_state { APPEND_NONE, APPEND_AWAY, APPEND_FULL };

struct shard_append {
    enum append_state state;
    struct batch batch;        /* on its way */
    int64_t again_ms;          /* full: when it is tried again */
    int64_t last_ms;           /* 0 = sealed since */
    int64_t fill_by_ms;        /* 0 = not waiting for more */
    uint64_t bytes;            /* since the last compaction */
    uint64_t given_us;         /* when the last batch was given to the journal */
    uint64_t room_bytes;       /* of the journal when it was last asked, less what was appended since */
    int64_t room_ms;           /* when it was asked */
    uint64_t sync_count;       /* batches and seals made durable by this process */
    uint64_t sync[SYNC_SLOTS]; /* how long appends took */
    bool is_trimming, is_compacting;
};

struct shard {
    uint32_t number;
    enum shard_state state;
    struct server *server; /* its loop thread */
    struct journal *journal;
    struct writer *writer;
    struct engine *engine;
    uint64_t epoch;
    uint64_t generation;        /* how often it was opened: a call of an earlier one is never answered */
    int64_t reopen_ms;          /* lost: monotonic, not before this */
    uint64_t opened_sync_count; /* what append.sync_count was when it was opened */

    struct batch_clock clock;
    char clock_note[200];
    int64_t clock_step_ms; /* found when it was opened, for the first pass */
    uint64_t clock_steps;  /* how often this process has set it right */
    bool clock_is_apart;   /* by more than drift, and the log says so */
    uint64_t seed;         /* of the randomness of passes */
    bool stood_still;      /* before the present pass: another comes at once */

    struct shard_append append;
    uint64_t recovered_records; /* read behind the snapshot when it was opened, */
    int64_t recovered_ms;       /* in this time */

    struct pool calls; /* struct call */
    uint64_t call_last;
    uint64_t command_count;

    /* ---- parts, by slot; sets have a bit for each ---- */
    struct arena birth; /* holds the states of the parts of this shard */
    void *parts[PARTS_MAX];
    int64_t due[PARTS_MAX];             /* what next_due said last */
    int64_t due_first;                  /* the earliest of them */
    uint64_t ready;                     /* were woken */
    uint64_t visited;                   /* had one in the present pass */
    uint64_t touched;                   /* had an effect in the present round */
    uint64_t step_moved;                /* how far the state was when those that follow it had their steps */
    bool is_flushing;                   /* nothing may be decided */
    uint64_t taking[EFFECT_KIND_COUNT]; /* take effects of a kind */
    uint64_t with_step, with_flush, with_due, with_decided, with_leaving;
    uint64_t wake_with_state, wake_with_fds, wake_with_pass;
};

/* It was lost before, by this process. */
static inline bool shard_is_reopened(const struct shard *h) {
    return h->generation > 1;
}

/* The resolver, server_shard(s) in server_impl.h, tells which shard something of a server belongs to. A server has one.
 * Nobody else reads s->shard. */

void part_wake(struct shard *h, uint8_t slot);            /* it has a turn, in this pass or the next */
void part_attend(struct shard *h, uint8_t slot, bool on); /* while on, it has a turn in every pass */
/* While on, the part is given effects of this kind, which it named in `effects`. They are from the start. */
void part_takes(struct shard *h, uint8_t slot, enum effect_kind kind, bool on);
/* For `init`: as this server is set up there is nothing to do for the part, neither turns nor effects. */
void part_retire(struct shard *h, uint8_t slot);

/* The state of a part. A part of the server has the same in all shards of it. */
void *shard_part(const struct shard *h, uint8_t slot);

/* Reads snapshot and journal and becomes the owner; nothing is derived yet, and nothing decided. */
CHECKED enum err shard_open(struct shard *h, struct why *why);
void shard_start(struct shard *h); /* the parts begin, and the engine goes on with what it was doing */
void shard_close(struct shard *h); /* all but the writer; sessions have ended, and nothing is being appended */

void shard_take(struct shard *h);
void shard_release(struct shard *h);
void shard_begin(struct shard *h);
void shard_step(struct shard *h);
void shard_finish(struct shard *h);
void shard_flush(struct shard *h);
/* When its next pass is due though nothing comes; `now` = at once. */
int64_t shard_next(struct shard *h, int64_t now);

void shard_parts_init(struct shard *h, enum part_scope scope);
void shard_parts_fini(struct shard *h, enum part_scope scope); /* in reverse order */
void shard_conn_gone(struct shard *h, conn_id conn);
bool shard_stop_stream(struct shard *h, conn_id conn, uint32_t request);
void shard_stored(struct shard *h, enum err e);
bool shard_is_idle(const struct shard *h); /* nothing that was asked is still to be answered */

/* How far the machine's clock is ahead of the journal's, as of now; below 0: behind. And what there is to say of it;
 * NULL: nothing. */
int64_t shard_clock_apart(struct shard *h);
const char *shard_clock_note(struct shard *h);

uint64_t shard_room(struct shard *h); /* bytes that the journal may still promise to new work */

#endif
