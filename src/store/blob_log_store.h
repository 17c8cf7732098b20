/* blob_log_store.h: blobs and logs of one data directory with the one thread that makes them durable: what a server
 * opens.
 *
 *     each turn of the loop:   vault_kick(v)             hands over what waits, unless something is under way
 *     vault_fd is readable:    e = vault_take(v, &why)   then answer every put and log batch whose ticket is durable,
 *                                                        and kick again
 *
 * ERR_NO_SPACE from vault_take harms nothing: kick again a second later. Any other error: stop the process. Not
 * threaded, what was kicked waits for vault_work; vault_step does all that waits at once. */
#ifndef REEVE_BLOB_LOG_STORE_H
#define REEVE_BLOB_LOG_STORE_H

#include "blob.h"
#include "flusher.h"
#include "joblog.h"
#include "limit.h"

struct vault {
    struct blobs *blobs;
    struct joblogs *logs;
    struct flusher *flusher;
    bool blobs_fly, logs_fly;
};

CHECKED enum err vault_open(struct vault *v, struct disk *disk, struct clock *clock, struct hasher *digest,
                            const struct limits *limits, bool threaded, struct why *why);
void vault_close(struct vault *v); /* waits for what is under way; what was not handed over is lost, as in a crash */
bool vault_kick(struct vault *v);  /* true: something is under way */
int vault_fd(const struct vault *v);
CHECKED enum err vault_take(struct vault *v, struct why *why); /* ERR_OK also when nothing has ended */
bool vault_work(struct vault *v); /* not threaded: does what was kicked; false: there is nothing */
/* All that waits, here and now. */
CHECKED enum err vault_step(struct vault *v, struct why *why);

#endif
