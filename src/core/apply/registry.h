/* registry.h: tenants, pools, topics, workers and idempotency keys: things known by name. Part of apply; the lookups
 * serve decide as well. */
#ifndef REEVE_REGISTRY_H
#define REEVE_REGISTRY_H

#include "state.h"

uint32_t tenant_find(const struct state *s, struct slice name); /* 0 = not seen yet */
uint32_t tenant_take(struct state *s, struct slice name);       /* makes it when it is new, with weight 1 */
uint32_t pool_find(const struct state *s, struct slice name);
uint32_t pool_take(struct state *s, struct slice name);
void pool_apply(struct state *s, struct slice record, const struct rec_pool *rec);
uint32_t topic_find(const struct state *s, struct slice name);
void topic_apply(struct state *s, struct slice record, const struct rec_topic *rec);

uint32_t worker_find(const struct state *s, struct slice id);
/* A worker attached: new, or with new properties or a new incarnation. `number` 0 = the next free one. */
uint32_t worker_apply(struct state *s, const struct rec_worker *rec, uint32_t number);
void worker_forget(struct state *s, uint32_t worker);

uint32_t key_find(const struct state *s, uint32_t tenant, struct slice key, struct arena *scratch);
void key_add(struct state *s, uint32_t tenant, struct slice key, struct slice hash, uint64_t flow, uint32_t job_count,
             wall_time expires);
void key_forget(struct state *s, uint32_t key);

#endif
