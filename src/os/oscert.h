/* oscert.h: a small certificate authority in a directory, so that TLS needs no other tool:
 *
 *     ca.pem       the authority; everybody may read it
 *     ca.key       its key: whoever has it can make servers and workers
 *     server.pem   key and certificate of the server
 *     NAME.pem     key and certificate of a worker or a client, and the authority: all that it needs
 *
 * Keys are P-256 and in files of mode 0600. A certificate that is made again replaces its file; the one before stays
 * valid until it expires. */
#ifndef REEVE_OSCERT_H
#define REEVE_OSCERT_H

#include <stdint.h>

#include "err.h"

#define OSCERT_NAME_MAX 40u  /* of a worker: as long as its id can begin */
#define OSCERT_HOSTS_MAX 64u /* names and addresses in one certificate */
#define OSCERT_CA_DAYS 3650

/* Makes the authority unless it is there, and a server's certificate for these names and addresses. */
CHECKED enum err oscert_server(const char *dir, const char *const *hosts, uint32_t host_count, int days,
                               struct why *why);
/* For a worker (role "worker", perhaps bound to a tenant) or a client. The authority must be there. */
CHECKED enum err oscert_peer(const char *dir, const char *name, const char *role, const char *tenant, int days,
                             struct why *why);

#define OSCERT_REVOKED "revoked" /* in the folder: a line for each, its serial number in hex and its name */
#define OSCERT_SERIAL_MAX 128u

/* Puts a certificate on the list of those that servers do not believe any more: that of NAME.pem, or the one with this
 * serial number in hex. The number in `ret_serial`. */
CHECKED enum err oscert_revoke(const char *dir, const char *which, char ret_serial[OSCERT_SERIAL_MAX], struct why *why);
struct oscert_view {  /* of the first certificate in a file */
    int64_t ends_s;   /* of the clock of the world */
    char names[1024]; /* that it is for, separated by blanks; as many as fit */
};

/* ERR_NOT_FOUND: there is no such file; ERR_CORRUPT: no certificate is in it, or one with another key than the file. */
CHECKED enum err oscert_look(const char *path, struct oscert_view *ret, struct why *why);

#endif
