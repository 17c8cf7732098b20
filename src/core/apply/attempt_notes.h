/* attempt_notes.h: what is remembered of a job's attempts: who had it, when, and how it ended. For people and the
 * history alone: nothing is decided by it but who had the job last.
 *
 * A job has a chain of notes, newest first, at most NOTES_PER_JOB. The facts of an attempt that is over are kept as
 * bytes (snap_attempt), about 40 a note. Flows born under rules before NOTE_RULES keep the worker and nothing else. */
#ifndef REEVE_ATTEMPT_NOTES_H
#define REEVE_ATTEMPT_NOTES_H

#include "state.h"

struct snap_attempt;
struct snap_job;

/* An attempt was assigned; it is over, `rec` says how and `stop` why it had to. */
void note_open(struct state *s, struct job *j, uint32_t attempt, uint32_t worker_number);
void note_close(struct state *s, struct job *j, const struct run *run, enum stop_cause stop,
                const struct rec_ended *rec);
/* A verdict ended the job, for this reason. */
void note_verdict(struct state *s, struct job *j, struct slice reason);
void note_free_all(struct state *s, struct job *j);

/* Number of the worker that had the job last; 0 = none. */
static inline uint32_t job_worker(const struct state *s, const struct job *j) {
    uint32_t i = j->note;
    while (i && attempt_note_at(s, i)->worker == 0) i = attempt_note_at(s, i)->older;
    return i ? attempt_note_at(s, i)->worker : 0;
}

/* The facts of all attempts that have them, oldest first; how many. */
uint32_t note_facts(const struct state *s, const struct job *j, struct arena *arena, struct snap_attempt **ret);
/* The other way round. False: they do not fit together. */
CHECKED bool note_load(struct state *s, struct job *j, const struct snap_job *o);

#endif
