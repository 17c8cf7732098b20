/* crashtest.h: `reeve crashtest`: this program as server and worker, killed again and again; nothing that was
 * acknowledged may be missing afterwards, and nothing may have run twice. */
#ifndef REEVE_CRASHTEST_H
#define REEVE_CRASHTEST_H

#include "err.h"

/* The arguments after the verb. ERR_CORRUPT: something was lost, or ran twice; it was told. */
enum err crashtest_run(int count, char **args, const char *build, struct why *why);

#endif
