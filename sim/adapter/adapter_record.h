/* adapter_record.h: records and enums of core/ in the words of trace.h. Pure translation, used by adapter.c. */
#ifndef REEVE_ADAPTER_RECORD_H
#define REEVE_ADAPTER_RECORD_H

#include "arena.h"
#include "buf.h"
#include "effect.h"
#include "trace.h"
#include "wtime.h"

/* Takes one record off the cursor and fills kind, sum, principal and `as` of *ret. NULL, or what is wrong with it. */
const char *adapter_record(struct cursor *c, struct arena *arena, struct trace_entry *ret);
/* One line for people, into `out`; returns it. */
const char *adapter_record_text(const struct trace_entry *e, char *out, size_t len);

enum trace_state adapter_state(enum job_state s);
enum trace_cause adapter_cause(enum job_cause c);
enum trace_gate adapter_gate(enum gate g);
enum trace_stop adapter_stop(enum stop_cause s);
enum trace_outcome adapter_outcome(enum outcome o);
enum trace_flow_state adapter_flow_state(enum flow_state s);
enum trace_desired adapter_desired(enum service_desired d);
enum trace_stage adapter_stage(enum flow_stage stage);
enum trace_unwinding adapter_unwinding(enum unwinding u);

#endif
