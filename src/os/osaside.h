/* osaside.h: port/aside.h on Linux: a few threads, each started for one piece of work and gone with it. */
#ifndef REEVE_OSASIDE_H
#define REEVE_OSASIDE_H

#include "aside.h"
#include "err.h"
#include "osloop.h"

struct osaside;

CHECKED enum err osaside_open(struct osloop *loop, struct osaside **ret, struct why *why);
void osaside_close(struct osaside *o); /* before the loop; waits for what is being done */
struct aside *osaside_port(struct osaside *o);

#endif
