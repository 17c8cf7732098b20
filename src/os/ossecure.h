/* ossecure.h: port/secure.h by ostls. */
#ifndef REEVE_OSSECURE_H
#define REEVE_OSSECURE_H

#include "secure.h"

extern const struct secure_ops ossecure;

#endif
