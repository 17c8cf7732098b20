/* osreplay.h: port/replay.h on Linux: this program again, as a child that replays the journal in the background and
 * writes what it has to say into a socket. The child ends by itself when nobody listens any more. */
#ifndef REEVE_OSREPLAY_H
#define REEVE_OSREPLAY_H

#include "err.h"
#include "osloop.h"
#include "replay.h"

/* The first argument of the child; then: locator of the journal, LSN, ordinal, flow, most. It is told how far to go on
 * its standard input, 8 bytes little-endian each time, and tells on its standard output. */
#define OSREPLAY_CHILD "--child-recall"

struct osreplay;

struct osreplay *osreplay_open(struct osloop *loop, const char *locator);
void osreplay_close(struct osreplay *o); /* before the loop; whoever still reads ends */
struct replayer *osreplay_replayer(struct osreplay *o);

#endif
