/* demand.h: who hears of jobs that wait for room. A watcher gets the present demand, and again whenever it has changed,
 * at most every DEMAND_MS; while nobody watches this costs nothing. What is told is read from the state, so nothing has
 * to be counted along and nothing drifts. */
#ifndef REEVE_DEMAND_H
#define REEVE_DEMAND_H

#include "net.h"
#include "vec.h"

struct server;
struct request;

#define DEMAND_MS 100 /* a worker takes longer to start */

struct demands {
    struct vec watchers; /* struct watcher * */
    uint64_t seen_lsn, seen_commands; /* of the state that was last looked at */
    bool stale;      /* something happened since */
    int64_t next_ms; /* not before this is it looked at again */
};

void demand_init(struct server *s);
void demand_fini(struct server *s);
void demand_watch(struct server *s, struct request *r);
void demand_step(struct server *s);    /* at the end of a pass */
int64_t demand_next(struct server *s); /* when one is due though nothing happens */
bool demand_stop(struct server *s, conn_id conn, uint32_t request);
void demand_forget(struct server *s, conn_id conn);

#endif
