/* osbackground.h: port/background.h on Linux: a few threads, each started for one piece of work and gone with it. */
#ifndef REEVE_OSBACKGROUND_H
#define REEVE_OSBACKGROUND_H

#include "background.h"
#include "err.h"
#include "osloop.h"

struct osaside;

CHECKED enum err osaside_open(struct osloop *loop, struct osaside **ret, struct why *why);
void osaside_close(struct osaside *o); /* before the loop; waits for what is being done */
struct aside *osaside_port(struct osaside *o);

#endif
