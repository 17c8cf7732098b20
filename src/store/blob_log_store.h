/* blob_log_store.h: blobs and logs of one data directory with the one thread that makes them durable: what a server
 * opens.
 *
 *     blob_log_store_waits(v):          blob_log_store_kick(v)   hands over what waits, unless something is under way
 *     blob_log_store_fd is readable:    e = blob_log_store_take(v, &why)   then answer every put and log batch whose
 *                                       ticket is durable, and kick again
 *
 * ERR_NO_SPACE from blob_log_store_take harms nothing: kick again a second later. Any other error: stop the process.
 * Not threaded, what was kicked waits for blob_log_store_work; blob_log_store_step does all that waits at once. */
#ifndef REEVE_BLOB_LOG_STORE_H
#define REEVE_BLOB_LOG_STORE_H

#include "blob.h"
#include "flusher.h"
#include "joblog.h"

struct limits; /* limit.h */

struct blob_log_store {
    struct blobs *blobs;
    struct joblogs *logs;
    struct flusher *flusher;
    bool blobs_fly, logs_fly;
};

CHECKED enum err blob_log_store_open(struct blob_log_store *v, struct disk *disk, struct clock *clock,
                                     struct hasher *digest, const struct limits *limits, bool threaded,
                                     struct why *why);
void blob_log_store_close(
    struct blob_log_store *v); /* waits for what is under way; what was not handed over is lost, as in a crash */
/* Something may wait to be handed over; asked in each turn of the loop, so it costs a few loads. */
bool blob_log_store_waits(const struct blob_log_store *v);
bool blob_log_store_kick(struct blob_log_store *v); /* true: something is under way */
int blob_log_store_fd(const struct blob_log_store *v);
CHECKED enum err blob_log_store_take(struct blob_log_store *v,
                                     struct why *why); /* ERR_OK also when nothing has ended */
bool blob_log_store_work(struct blob_log_store *v);    /* not threaded: does what was kicked; false: there is nothing */
/* All that waits, here and now. */
CHECKED enum err blob_log_store_step(struct blob_log_store *v, struct why *why);

#endif
