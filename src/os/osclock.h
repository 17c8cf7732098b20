/* osclock.h: port/clock.h on Linux: CLOCK_REALTIME, CLOCK_MONOTONIC, getrandom. */
#ifndef REEVE_OSCLOCK_H
#define REEVE_OSCLOCK_H

#include "clock.h"

struct clock *osclock(void); /* one for the process, stateless, usable from every thread */

#endif
