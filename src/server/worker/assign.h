/* assign.h: what the engine wants of workers, as messages to them: run this, stop that. */
#ifndef REEVE_ASSIGN_H
#define REEVE_ASSIGN_H

#include "server_impl.h"

/* An effect of kind assign, stop or drop. Assignments are gathered; whatever else goes to the worker flushes them. */
void assign_flush(struct server *s, struct session *n);

#endif
