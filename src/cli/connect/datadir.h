/* datadir.h: a server's data directory, as a program beside the server reads it: where the server listens, and the
 * tokens of its first start.
 *
 * A token that was found in a directory and not given in words belongs to the server of that directory. It goes to no
 * other: another server would refuse it, whatever else speaks for the connection, and would have seen it. */
#ifndef REEVE_DATADIR_H
#define REEVE_DATADIR_H

#include <stdbool.h>
#include <stddef.h>

/* The data directory of this folder, or of the nearest one above it that has one. False: there is none. */
bool datadir_near(char *ret, size_t size);
/* The first line of a file of the directory. False: there is none. */
bool datadir_line(const char *data, const char *name, char *ret, size_t size);
/* True: the server of this directory listens at this address: host:port, tls://host:port or unix:/path. The names of
 * this machine's loopback mean the same. */
bool datadir_listens(const char *data, const char *address);
/* The token in this file of the directory, if its server listens at the address; else "". */
void datadir_token(const char *data, const char *name, const char *address, char *ret, size_t size);

#endif
