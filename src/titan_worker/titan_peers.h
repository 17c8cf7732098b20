/* titan_peers.h: Titan's own workers as members of a Reeve cluster. Each that registers gets an agent (agent/agent.h),
 * which is a worker like any other for the server; but the processes of this one run on Titan's worker (remote.h).
 *
 * Such a worker is asked again and again how it is. While it does not answer its agent is silent too, so its lease ends
 * as that of any worker that is cut off, and what it ran is run elsewhere. One that answers again goes on as if it had
 * been cut off itself.
 *
 * It works in a pool of its own, which only jobs reach that came by Titan's protocol, or ask for it: it can run
 * scripts, archives and services, and nothing else. */
#ifndef REEVE_TITAN_PEERS_H
#define REEVE_TITAN_PEERS_H

#include "buf.h"
#include "clock.h"
#include "disk.h"
#include "limit.h"
#include "net.h"
#include "space.h"

#define TITAN_PEERS_POOL "titan"

struct titan_peers_options {
    struct clock *clock;
    struct net *net;
    const char *server; /* where the agents find it */
    const char *tenant, *build;
    struct limits limits;
    /* A directory of its own for each, by name: who it is, and what it has to run. `left` is told the names of spaces
     * that an earlier process left there. */
    enum err (*place)(void *ctx, const char *name, void (*left)(void *arg, const char *space), void *arg,
                      struct disk **ret_disk, struct space **ret_space, struct why *why);
    void (*unplace)(void *ctx, struct disk *disk, struct space *space);
    /* The first connection on which something is still on its way: what came on later ones waits for it. */
    conn_id (*pending)(void *ctx);
    void (*log)(void *ctx, const char *line);
    void *ctx;
};

struct titan_peers;

struct titan_peers *titan_peers_new(const struct titan_peers_options *o);
void titan_peers_free(struct titan_peers *m);
void titan_peers_pass(struct titan_peers *m);
mono_time titan_peers_next(struct titan_peers *m);
/* A frame of a worker, and from where; what it is answered. */
void titan_peers_hear(struct titan_peers *m, conn_id conn, const char *address, uint8_t opcode, struct slice body,
                      struct buf *ret);

#endif
