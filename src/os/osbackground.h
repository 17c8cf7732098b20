/* osbackground.h: port/background.h on Linux: a few threads, each started for one piece of work and gone with it. */
#ifndef REEVE_OSBACKGROUND_H
#define REEVE_OSBACKGROUND_H

#include "background.h"
#include "err.h"
#include "osloop.h"

struct osbackground;

CHECKED enum err osbackground_open(struct osloop *loop, struct osbackground **ret, struct why *why);
void osbackground_close(struct osbackground *o); /* before the loop; waits for what is being done */
struct background *osbackground_port(struct osbackground *o);

#endif
