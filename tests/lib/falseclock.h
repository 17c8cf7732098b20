/* falseclock.h: what a test starts sees a wall clock that is wrong, by as much as the test says and while it says so
 * (tests/shim/falseclock.c). Its own clock stays right. */
#ifndef REEVE_FALSECLOCK_H
#define REEVE_FALSECLOCK_H

#include <stdint.h>

void falseclock_begin(void);           /* for every program that is started from now on; right until it is set */
void falseclock_set(int64_t ahead_ms); /* at once, also in programs that run; below 0 = behind */
void falseclock_end(void);

#endif
