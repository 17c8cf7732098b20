/* check_graph.h: no process begins before the jobs it depends on have ended as it needs them to. */
#ifndef REEVE_CHECK_GRAPH_H
#define REEVE_CHECK_GRAPH_H

#include "check_history.h"

void *check_graph_new(void);
void check_graph_free(void *notes);
bool check_graph_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
