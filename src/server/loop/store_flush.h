/* store_flush.h: the server's blobs and logs on their way to the disk: what waits is handed to the store's thread once
 * in a pass, and when it is durable the parts that wait for it hear so (`stored` in part.h). */
#ifndef REEVE_STORE_FLUSH_H
#define REEVE_STORE_FLUSH_H

struct server;

void store_flush_kick(
    struct server *s); /* at the end of a pass: hands over what waits, unless something is under way */

#endif
