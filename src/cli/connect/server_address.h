/* server_address.h: the address of a server as people write it.
 *
 *     HOST, HOST:PORT        plain TCP; port 7070 unless given
 *     tls://HOST[:PORT]      TLS
 *     ::1, [::1], [::1]:PORT IPv6; brackets are needed only before a port
 *     unix:/PATH             a socket of this machine
 *
 * The result always has its port, and IPv6 its brackets, so equal servers have equal texts. */
#ifndef REEVE_SERVER_ADDRESS_H
#define REEVE_SERVER_ADDRESS_H

#include "err.h"

#define SERVER_ADDRESS_BYTES_MAX 512u
#define SERVER_PORT_STANDARD "7070"

/* ERR_INVALID says which form to write instead. */
CHECKED enum err server_address_read(const char *text, char ret[SERVER_ADDRESS_BYTES_MAX], struct why *why);
/* What follows "tls://"; NULL: it is another kind of address. */
const char *server_address_tls(const char *address);

#endif
