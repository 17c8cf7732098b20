/* oslease.h: names that one process of this machine holds at a time, across programs, users and directories: an
 * abstract Unix socket for each. The kernel gives it back when its holder ends, however it ends. The machine is the
 * network namespace, as it is for ports. Jobs do not inherit a lease. */
#ifndef REEVE_OSLEASE_H
#define REEVE_OSLEASE_H

#include <stdbool.h>
#include <stdint.h>

/* The descriptor that holds the name, to be closed when it is not needed any more; -1 with errno: someone else has it
 * (EADDRINUSE), or there is no descriptor left. */
int oslease_take(const char *name);

/* A TCP port that nobody listens at and nobody else has taken; 0 = none is left. It is not one of those that the kernel
 * gives to outgoing connections, so it stays free until the one it was taken for listens there. */
uint32_t oslease_port(int *ret_fd);
bool oslease_is_free(uint32_t port); /* a service could listen there now */

#endif
