/* ossecret.h: a process that holds tokens and keys: other processes of its user, jobs above all, cannot read its memory
 * or the environment it was started with, nor trace it; and it leaves no core. */
#ifndef REEVE_OSSECRET_H
#define REEVE_OSSECRET_H

#include <stddef.h>

/* First of all. Programs that this process starts are not concerned: each exec begins anew. */
void ossecret_guard(void);
/* A variable of the environment, which then no longer has it: neither for children nor in /proc/PID/environ. "" = there
 * is none. */
void ossecret_take(const char *name, char *ret, size_t size);

#endif
