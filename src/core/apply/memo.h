/* memo.h: results that are used again. Part of apply, but for the lists, which decide walks.
 *
 * A job may carry a cache key: a hash of all that its result depends on, worked out by the shell. When such a job
 * succeeds its result is *kept* under (tenant, key) for a time; a job that becomes ready with the same key is given
 * that result instead of a worker (a *hit*). The entry is a fact of its own: it outlives the flow it came from. A
 * result that was quarantined, of its source or of a job that was given it, is kept no longer.
 *
 * Jobs that may have something to gain or to give stand on one list (`asking`): they became ready, or succeeded, since
 * decide last looked. Ready ones that found nothing wait at their key until a result is kept there. */
#ifndef REEVE_MEMO_H
#define REEVE_MEMO_H

#include "objects.h"
#include "state.h"

#define MEMO_KEY_BYTES 32u

/* The place of a key; 0 = no job has it and nothing is kept under it. */
uint32_t memo_find(const struct state *s, uint32_t tenant, struct slice key);
struct slice memo_key(const struct memo *m);
static inline bool memo_has_entry(const struct memo *m) { return m->from.flow.v != 0; }
/* What an entry counts against the bytes of its tenant. */
uint64_t memo_cost(struct slice result, struct slice artifacts);

/* A job is new and has that key, or gets another with its rendered spec (`is_rendered`). */
void memo_name(struct state *s, uint32_t job, struct slice key, bool is_rendered);
/* The job is about to be freed. */
void memo_unname(struct state *s, uint32_t job);
/* The job starts again: a key from a rendered spec is gone, as is where its result came from. */
void memo_reset(struct state *s, uint32_t job);

/* The job became ready or succeeded by itself; it left that state. Nothing for jobs without a key. */
void memo_ask(struct state *s, uint32_t job);
void memo_succeeded(struct state *s, uint32_t job); /* asks, unless the result is another's */
void memo_unask(struct state *s, const struct job *j);
/* Of decide, changing indices alone: the first that asks goes to the end; waits at its key. */
void memo_put_off(struct state *s, uint32_t job);
void memo_wait(struct state *s, uint32_t job);

/* The records. */
void memo_keep(struct state *s, uint32_t job, wall_time expires);
void memo_hit(struct state *s, uint32_t job);
void memo_drop(struct state *s, uint32_t memo);
/* The result of this job was judged unfit. */
void memo_taint(struct state *s, const struct job *j);

/* Loading and saving; the entries of a tenant come in order of age. */
CHECKED enum err memo_load(struct state *s, const struct snap_memo *o, struct why *why);
struct snap_memo memo_object(const struct state *s, const struct memo *m);
void memo_release_memory(struct memo *m);

#endif
