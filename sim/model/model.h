/* model.h: a second, naive implementation of the job rules, to hold the first one against.
 *
 * It reads records as trace entries in the order of LSNs and knows, after each, the state every job must be in. It is
 * slow and plain on purpose: arrays, scans over the whole flow, whatever can be looked up anew is looked up anew. It
 * shares no code, no header and no idea of data structure with src/core (tests/layering/independence.sh checks it).
 *
 * Guarantees: model_apply changes nothing when it objects. Must not: guess. What the rules leave open (the jitter of a
 * retry, the step at which a long consequence reaches a job) is compared as a range or not at all; MODEL.md says which.
 *
 * After a restart of the server make a new model and feed it the records that were recovered. */
#ifndef REEVE_MODEL_H
#define REEVE_MODEL_H

#include <stddef.h>

#include "trace.h"

struct model;

#define MODEL_TEXT_BYTES 320

struct model *model_new(void);
void model_free(struct model *m);

/* Takes one record (other entries are ignored). False when no correct engine could have written it in this state;
 * `text` then says why. */
bool model_apply(struct model *m, const struct trace_entry *e, char text[MODEL_TEXT_BYTES]);

/* Compares with everything an engine says of its flows and jobs. False and the first difference as text. Flows that
 * settle, and flows that wait for jobs of such a flow, are left out. */
bool model_compare(const struct model *m, const struct trace_flow_now *flows, uint32_t flow_count,
                   const struct trace_job_state *jobs, uint32_t job_count, char text[MODEL_TEXT_BYTES]);

/* The same for services. */
bool model_compare_services(const struct model *m, const struct trace_service_now *services, uint32_t count,
                            char text[MODEL_TEXT_BYTES]);
/* The same for schedules. */
bool model_compare_schedules(const struct model *m, const struct trace_schedule_now *now, uint32_t count,
                             char text[MODEL_TEXT_BYTES]);
/* The same for results that are kept. */
bool model_compare_memos(const struct model *m, const struct trace_memo *now, uint32_t count,
                         char text[MODEL_TEXT_BYTES]);
/* At the end of a run: every slot up to that time was dealt with. */
bool model_schedules_done(const struct model *m, int64_t time_ms, char text[MODEL_TEXT_BYTES]);

/* What the model itself thinks; false when it knows no such flow or job (or has forgotten it). */
bool model_flow(const struct model *m, uint64_t flow, struct trace_flow_now *ret);
/* Takes the next compensation that a record made a job; false when there is none. */
bool model_made(struct model *m, struct trace_undo *ret);
/* The same for versions of services. */
bool model_version_made(struct model *m, struct trace_version *ret);

bool model_job(const struct model *m, uint64_t flow, uint32_t ordinal, struct trace_job_state *ret);

const char *model_state_word(enum trace_state s);
const char *model_cause_word(enum trace_cause c);
const char *model_gate_word(enum trace_gate g);

#endif
