/* simwire.h: what clients want and are told, as frames of the wire (proto/wire/wire.h) and back. Translates, decides
 * nothing. What the wire cannot say yet goes through the server's back door instead (serverhost.h). */
#ifndef REEVE_SIMWIRE_H
#define REEVE_SIMWIRE_H

#include "frame.h"
#include "simmsg.h"
#include "wire_flow.h"

struct world;

bool simwire_says(const struct msg *m);
/* The tenant that the connection for it must act for; empty = all. */
struct slice simwire_tenant(const struct msg *m);
/* The file of that name, as clients send it: all that is in it follows from the name. */
struct wire_source simwire_source(struct slice name, struct arena *arena);
void simwire_put(struct world *w, const struct msg *m, uint32_t request, struct buf *out);

/* Adds a frame of an answer to it. False: it makes no sense. Jobs are told apart by name, ordinals are looked up. */
bool simwire_take(struct world *w, const struct frame *f, const struct msg *asked, struct msg *answer);

/* LSN of the state that a frame of the server shows; 0 = it shows none. */
uint64_t simwire_lsn(const struct frame *f);

#endif
