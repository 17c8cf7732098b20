/* ossignature.h: port/signature.h by OpenSSL. */
#ifndef REEVE_OSSIGNATURE_H
#define REEVE_OSSIGNATURE_H

#include "signature.h"

struct verifier *ossignature(void); /* one for the process, usable from every thread */

#endif
