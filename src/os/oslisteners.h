/* oslisteners.h: which sockets listen at a TCP port of this machine, from /proc/net. */
#ifndef REEVE_OSLISTENERS_H
#define REEVE_OSLISTENERS_H

#include <stdint.h>

/* See net.h. */
uint64_t oslisteners_at(uint32_t port);

#endif
