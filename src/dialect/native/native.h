/* native.h: native v2 as a dialect of a session. */
#ifndef REEVE_NATIVE_H
#define REEVE_NATIVE_H

#include "dialect.h"

extern const struct dialect_ops native_dialect;

#endif
