/* serve.h: `reeve serve` and `reeve config`. */
#ifndef REEVE_SERVE_H
#define REEVE_SERVE_H

#include "err.h"

/* Both get the arguments after the verb. The first returns when the server was stopped. */
CHECKED enum err serve_run(int count, char **args, const char *build, struct why *why);
CHECKED enum err serve_config(int count, char **args, struct why *why);

#endif
