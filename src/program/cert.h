/* cert.h: `reeve cert …`: certificates for TLS, made here (os/oscert.h) in the folder `tls` of the data directory. */
#ifndef REEVE_CERT_H
#define REEVE_CERT_H

#include "err.h"

/* All get the arguments after the verb. */
CHECKED enum err cert_init(int count, char **args, struct why *why);
CHECKED enum err cert_worker(int count, char **args, struct why *why);
CHECKED enum err cert_client(int count, char **args, struct why *why);
CHECKED enum err cert_revoke(int count, char **args, struct why *why);

#endif
