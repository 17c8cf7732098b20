/* backfill.h: those who have fallen behind the ring of events are told the past again, all by one reader of the
 * journal: it begins with the oldest position that somebody wants, and whoever it has not passed yet goes along. One
 * who does not take what is told is waited for a moment, then left where it is for the next run. When the reader has
 * come as far as the journal was when it was asked, those whom the ring can serve from there leave, and it is asked to
 * go on. */
#ifndef REEVE_BACKFILL_H
#define REEVE_BACKFILL_H

#include "event_blocks.h"
#include "replay.h"

struct server;

struct backfill {
    replay_id recall; /* 0 = nobody reads */
    struct buf in;    /* what it said and was not looked at yet */
    bool is_paused;
    bool is_short; /* more could be told, if a turn were longer */
    bool has_ended;
    struct event_block *block; /* told to nobody yet */
    struct position at;        /* all up to here was told */
    uint64_t upto;             /* how far it was asked to go */
    int64_t waits_ms;          /* since when one who goes along does not take it; 0 = all do */
    int64_t again_ms;          /* not to be started before */
    uint32_t failures;         /* one after the other */
};

void backfill_init(struct server *s);
void backfill_fini(struct server *s);
bool backfill_is_at_work(struct server *s); /* the journal is being read */
void backfill_step(struct server *s);
int64_t backfill_next(struct server *s); /* when a pass is due though nothing is said */

#endif
