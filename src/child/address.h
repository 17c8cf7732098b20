/* address.h: which addresses a request may go to. Public ones; of the others (private, loopback, link-local, multicast,
 * those of a cloud's metadata …) what the worker's owner has listed. */
#ifndef REEVE_ADDRESS_H
#define REEVE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "err.h"

/* Reached from everywhere and by everyone: nothing is behind it that trusts who is near. */
bool address_is_public(const struct sockaddr *a);
/* Whether it is in the list: "10.0.0.0/8,::1", or "all". */
bool address_is_listed(const struct sockaddr *a, const char *list);
CHECKED enum err address_list_check(const char *list, struct why *why);

#endif
