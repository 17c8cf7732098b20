/* simstore.h: what the clients of a world do with the store, and what they are shown of it. Part of simclient and
 * serverhost. Few keys and few values, so that everything meets: several clients count, swap, add and expire the same
 * keys in the namespaces of two tenants and of flows that may be forgotten meanwhile. */
#ifndef REEVE_SIMSTORE_H
#define REEVE_SIMSTORE_H

#include "simpeer.h"

struct simclient;
struct serverhost;

/* Fills a command about the store, or a read of some of its keys, and sends it. */
void simstore_act(struct simclient *c);
/* A change or a message leaves the server. */
void simstore_released(struct serverhost *s, const struct effect *e);
/* A command was decided, or its answer arrived: told to the judges. Its client, and with it `p`, may be gone. */
void simstore_decided(struct serverhost *s, uint64_t call, struct peer_pending *p, const struct command *cmd,
                      uint64_t lsn_before);
void simstore_answered(struct simclient *c, const struct msg *m);

#endif
