/* worker_config.h: the file that `reeve worker --config FILE` names: options by their names, and handlers.
 *
 *     slots: 8
 *     label: [zone=a, disk=ssd]
 *     handlers:
 *       RESIZE: [python3, /opt/jobs/resize.py, --quality, 80]
 *
 * An option without its dashes; with `_` or `-`. Flags go before what the file says, or are added to it where an option
 * may come several times. */
#ifndef REEVE_WORKER_CONFIG_H
#define REEVE_WORKER_CONFIG_H

#include "worker_options.h"

/* One value of one option, `--name` and all; ERR_NOT_FOUND: there is no such option. */
typedef enum err (*worker_config_fn)(struct worker_options *o, const char *option, char *value, struct why *why);

/* What it reads lives as long as the program. */
CHECKED enum err worker_config_read(struct worker_options *o, const char *path, worker_config_fn each,
                                    struct why *why);

#endif
