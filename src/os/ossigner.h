/* ossigner.h: port/signer.h by OpenSSL. The private key is a file that its owner alone may read, made when there is
 * none: PEM, as `openssl pkey` reads it. */
#ifndef REEVE_OSSIGNER_H
#define REEVE_OSSIGNER_H

#include "err.h"
#include "signer.h"

#define AUDIT_KEY_FILE "audit.key" /* in the data directory */

extern const struct sign_checker ossigner_checker;

/* *ret_made: there was no file, and now there is. ERR_FORBIDDEN: others may read it. */
CHECKED enum err ossigner_open(const char *path, struct signer **ret, bool *ret_made, struct why *why);
void ossigner_close(struct signer *s); /* fine with NULL */
/* The public key alone. ERR_NOT_FOUND: there is no file. */
CHECKED enum err ossigner_public(const char *path, uint8_t ret[SIGNER_KEY_BYTES], struct why *why);

#endif
