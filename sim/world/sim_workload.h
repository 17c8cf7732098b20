/* workload.h: what clients ask for: flows of every shape with every option, drawn from the seed.
 *
 * Every job that is drawn can end: some worker offers what it asks for, its times are short, its process is finite. So
 * when a run is over and a job is not, the product is to blame. */
#ifndef REEVE_SIM_WORKLOAD_H
#define REEVE_SIM_WORKLOAD_H

#include "rng.h"
#include "simmsg.h"

struct world;
struct workerhost;

#define WORKLOAD_TENANTS 2u
extern const struct slice workload_tenants[WORKLOAD_TENANTS];
uint32_t workload_tenant(struct slice name); /* which of them */
extern const struct slice workload_pools[2];
extern const struct slice workload_topics[2];
#define WORKLOAD_KEYS 3u
#define WORKLOAD_RATES 2u
extern const struct slice workload_keys[WORKLOAD_KEYS];
extern const struct slice workload_rates[WORKLOAD_RATES];

#define WORKLOAD_SERVICES 3u
extern const struct slice workload_services[WORKLOAD_SERVICES];
#define WORKLOAD_SETS 2u
extern const struct slice workload_sets[WORKLOAD_SETS]; /* services with replicas, as many as that at most */
#define WORKLOAD_REPLICAS 4u

/* What the worker at `node` offers. Each serves one tenant; the first of each tenant offers everything. */
void workload_worker(struct workerhost *v, struct rng *r);

/* Fills the command of `m` with a submit of some jobs; returns how many. */
uint32_t workload_submit(struct world *w, struct rng *r, struct msg *m);
uint32_t workload_large(struct world *w, struct rng *r, struct msg *m);
/* … with an addition to a flow. */
uint32_t workload_add(struct world *w, struct rng *r, struct msg *m, flow_id flow, uint32_t tenant, bool more);

/* … with a change of some limit of some tenant. */
void workload_limit(struct rng *r, struct cmd_limit *c);
/* … with a schedule that ends by itself after some seconds. */
void workload_schedule(struct world *w, struct rng *r, struct msg *m);
struct slice workload_schedule_name(struct arena *arena, uint32_t n);
#define WORKLOAD_SCHEDULES 3u

struct slice workload_cache_key(struct arena *arena, struct rng *r);
struct slice workload_hash(struct arena *arena, uint64_t what); /* 32 bytes */

#endif
