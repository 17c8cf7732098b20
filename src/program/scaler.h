/* scaler.h: `reeve scaler`. */
#ifndef REEVE_SCALER_H
#define REEVE_SCALER_H

#include "err.h"

/* Gets the arguments after the verb. Returns when it was told to end and its workers have. */
CHECKED enum err scaler_run(int count, char **args, const char *build, struct why *why);

#endif
