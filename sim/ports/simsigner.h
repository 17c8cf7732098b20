/* simsigner.h: port/signer.h without a secret: a signature is two hashes over key and message. It proves nothing, and
 * is the same in every run. */
#ifndef REEVE_SIMSIGNER_H
#define REEVE_SIMSIGNER_H

#include "signer.h"

struct signer *simsigner(void);
extern const struct sign_checker simsigner_checker;

#endif
