/* late_labels.h: what a flow is a run of, as far as Titan's SDK told it by its manifest, which comes after the flow.
 * Labels are made with a flow and stay; so it is kept in the flow's own namespace of the store, and goes with the flow.
 * Whoever shows or looks for labels of flows asks here. */
#ifndef REEVE_LATE_LABELS_H
#define REEVE_LATE_LABELS_H

#include "arena.h"
#include "view.h"

#define LATE_KEY_DAG "titan:dag"          /* the name of the DAG */
#define LATE_KEY_RUN "titan:agent_run_id" /* the run of an agent that it belongs to */
#define LATE_LABEL_RUN "agent_run_id"

/* What one of these keys says; empty = nothing. Valid until the next change of the state. */
struct slice late_label(const struct state *s, flow_id flow, const char *key);
/* As view_labels, and the run of an agent when only a manifest has told it. */
struct label;
uint32_t late_labels_get(const struct state *s, flow_id flow, struct arena *arena, const struct label **ret);

#endif
