/* engine.h: the object that owns all state of one shard. Pure: no clock, no I/O, no threads of its own.
 *
 *      engine_begin(inputs)                       a pass begins: this is the time, this the randomness
 *      engine_command(cmd) …                      decide -> records -> apply; the answer is held
 *      engine_finish()                            timers, long consequences, dispatch, in the same batch
 *      engine_batch() -> batch                    what must become durable (or nothing)
 *          … the journal makes it durable, the caller may already begin the next pass …
 *      engine_durable(lsn)                        now everything up to lsn may be seen
 *      engine_effect() -> effect …                answers, dispatches, events, in order
 *
 * Guarantees: no effect comes out of engine_effect before the LSN it was computed from is durable, rejections and
 * reads included. A batch taken must be appended before the next one is taken (one append in flight). There is no
 * rollback: when an append is fenced or unknown, or the file fails, the engine is freed with everything it holds back.
 *
 * Recovery: engine_new, engine_load (a snapshot, optional), engine_replay for each later batch, then engine_resume. */
#ifndef REEVE_ENGINE_H
#define REEVE_ENGINE_H

#include "batch.h"
#include "command.h"
#include "effect.h"
#include "inputs.h"
#include "state_digest.h"
#include "watch.h"

struct engine;
struct state;  /* durable: state.h */
struct live;   /* volatile: live.h */
struct limits; /* limit.h */

struct engine *engine_new(uint32_t shard, const struct limits *limits);
void engine_free(struct engine *e);

/* Restores a snapshot into a fresh engine: feed the bytes in order, in any pieces, then end. */
CHECKED enum err engine_load(struct engine *e, struct slice piece, struct why *why);
CHECKED enum err engine_load_end(struct engine *e, struct why *why);
/* Applies a durable batch. Refuses a gap in the LSNs, a falling epoch and bytes that are no records. */
CHECKED enum err engine_replay(struct engine *e, const struct batch *batch, struct why *why);

/* The same, telling of each event as soon as its record is applied: for who tells the past again. */
typedef void (*engine_event_fn)(void *ctx, const struct engine *e, const struct effect *event);
CHECKED enum err engine_retell(struct engine *e, const struct batch *batch, engine_event_fn each, void *ctx,
                               struct why *why);

/* Takes over after recovery, as the owner in `epoch`: gives every known worker one full lease from now and derives all
 * outstanding effects. Begins a pass; the caller goes on with engine_finish. `build` is recorded. */
void engine_resume(struct engine *e, uint64_t epoch, struct slice build, const struct inputs *in);

void engine_begin(struct engine *e, const struct inputs *in);
/* Returns what was decided, for its caller only: the answer, and all else of the state, leaves when it is durable. */
enum err engine_command(struct engine *e, const struct command *cmd);
/* The same, but the answer is the caller's at once, without a token: it has to keep it, and all it says of the state,
 * until engine_lsn of this moment is durable. */
void engine_ask(struct engine *e, const struct command *cmd, struct reply *ret);
/* The option set that came with this key of a submit before, if it is still known; valid until the next command. */
const struct options *engine_set(const struct engine *e, struct slice key);
void engine_finish(struct engine *e);

/* The records of all passes since the last call. Returns false when there are none. The slice is valid until
 * engine_durable reports its last LSN. */
bool engine_batch(struct engine *e, struct batch *ret);
void engine_durable(struct engine *e, uint64_t lsn);
/* The next effect that may leave; valid until the next call. */
bool engine_effect(struct engine *e, struct effect *ret);

/* Whom a change or a message is for; how many they are. */
uint32_t engine_watchers(const struct engine *e, const struct effect *effect, watch_fn each, void *ctx);

/* Makes batches no larger than this, and submits so that a batch holds the largest: whichever of the settings is the
 * smallest wins. */
void engine_limits_fit(struct limits *l, uint64_t batch_bytes);
/* True when the open batch is so large that the caller should append before it feeds more commands. */
bool engine_is_full(const struct engine *e);
/* True when commands that write at most so much fit into the open batch, so that they become durable all or none. */
bool engine_has_room(const struct engine *e, uint64_t bytes, uint64_t records);
/* Whether a journal with that much room could promise a small submit what it may need. */
bool engine_takes_work(const struct engine *e, uint64_t journal_free_bytes);
/* True when the journal is nearly down to what was promised to accepted work and the open batch has less than
 * `fill_bytes`: the caller should wait a few milliseconds for more before it appends, so that what the journal adds to
 * a batch does not eat the promise. */
bool engine_should_fill(const struct engine *e, uint64_t fill_bytes);
/* True while a long consequence is waiting for its next step: call begin/finish again soon. */
bool engine_has_work(const struct engine *e);
/* When engine_finish must be called at the latest though nothing else happens; TIME_NEVER = no timer. */
wall_time engine_next_due(const struct engine *e);
mono_time engine_next_lease(const struct engine *e);

/* Of the present pass: what a reader of the store has to use. Before the owner begins: where time stands. */
wall_time engine_now(const struct engine *e);
uint64_t engine_lsn(const struct engine *e);  /* of the last record applied */
uint64_t engine_durable_lsn(const struct engine *e);
const struct state *engine_state(const struct engine *e);
const struct live *engine_live(const struct engine *e);

/* Of the durable state alone: equal for live, replayed, and snapshot plus tail. */
struct digest engine_digest(const struct engine *e);

/* Writes the durable state as a stream of bytes (docs/formats/snapshot.md) to `write`, in pieces. */
CHECKED enum err engine_snapshot(const struct engine *e, snapshot_write_fn write, void *ctx, struct why *why);

#endif
