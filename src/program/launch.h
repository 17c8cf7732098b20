/* launch.h: workers that the server starts on its own machine because someone asked it to. Each has a directory below
 * the server's (started/NAME, with its log); it is a process of its own, which lives on when the server is killed and
 * comes back to it, and is told to end when the server is stopped in order. */
#ifndef REEVE_LAUNCH_H
#define REEVE_LAUNCH_H

#include "server.h"

/* As server_launcher wants it; `ctx` is the data directory of the server. Any thread. */
enum err launch_worker(void *ctx, const struct server_launch *what, struct server_launched *ret, struct why *why);
/* Tells all of them to end, also those that an earlier server of this directory started. Does not wait. */
void launch_end_all(const char *data);

#endif
