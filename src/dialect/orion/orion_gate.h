/* orion_gate.h: who may come by Orion's listener. */
#ifndef REEVE_ORION_GATE_H
#define REEVE_ORION_GATE_H

#include "orion_session.h"
#include "server_impl.h"

/* Of the page that sends the request, when it may; else NULL. */
const struct slice *orion_origin(const struct server *s, const struct session *n);

#endif
