/* titan_keys.h: keys of the store that are made from the state, as Titan's store has them: `job:<id>:status`,
 * `payload`, `priority`, `delay`, `worker`, `result`, and the sets `system:active_jobs` and `system:live_workers`. They
 * are read, never written. */
#ifndef REEVE_TITAN_KEYS_H
#define REEVE_TITAN_KEYS_H

#include <stdbool.h>

#include "buf.h"

struct server;

/* False: there is no such key. */
bool titan_key_get(struct server *s, uint32_t tenant, struct slice key, struct buf *ret);
/* Each member of such a set, until `each` returns false. */
bool titan_key_members(struct server *s, uint32_t tenant, struct slice key,
                       bool (*each)(void *arg, struct slice member), void *arg);

#endif
