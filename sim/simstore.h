/* simstore.h: what the clients of a world do with the store, and what they are shown of it. Part of simclient and
 * simserver. Few keys and few values, so that everything meets: several clients count, swap, add and expire the same
 * keys in the namespaces of two tenants and of flows that may be forgotten meanwhile. */
#ifndef REEVE_SIMSTORE_H
#define REEVE_SIMSTORE_H

#include "simnet.h"

struct simclient;
struct simserver;

/* Fills a command about the store, or a read of some of its keys, and sends it. */
void simstore_act(struct simclient *c);
/* What a reader of the store is shown at this moment; into the answer. */
void simstore_look(const struct simserver *s, const struct msg *ask, struct msg *answer);
/* A change or a message leaves the server. */
void simstore_released(struct simserver *s, const struct effect *e);
/* A command was decided, or its answer arrived: told to the judges. */
void simstore_decided(struct simserver *s, uint64_t call, const struct msg *m, uint64_t lsn_before);
void simstore_answered(struct simclient *c, const struct msg *m);

#endif
