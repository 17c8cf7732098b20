/* upload.h: blobs on their way in. Part of transfers.h. */
#ifndef REEVE_UPLOAD_H
#define REEVE_UPLOAD_H

#include "blob.h"
#include "net.h"

struct server;
struct session;

void upload_init(struct server *s);
void upload_fini(struct server *s);
void upload_forget(struct server *s, conn_id conn);
void upload_share(struct server *s);    /* before bytes are admitted: whether tenants share the disk */
void upload_no_space(struct server *s); /* refuses those that wait to become durable */
/* A blob in pieces: for the messages of native v2, and for a body of HTTP. ERR_BUSY of a part or an end: nothing was
 * taken, the same again when something was flushed. `bytes`: how many will come, 0 = not known. `expected` may be NULL.
 * The end is answered on the connection when
 * the blob is durable. */
CHECKED enum err upload_begin(struct server *s, const struct session *n, uint64_t bytes, const blob_hash *expected,
                              uint64_t *ret, struct why *why);
CHECKED enum err upload_part(struct server *s, uint64_t number, struct slice data, struct why *why);
CHECKED enum err upload_end(struct server *s, uint64_t number, uint32_t request, bool at_once, struct why *why);
void upload_drop(struct server *s, uint64_t number);

void upload_flushed(struct server *s); /* answers those that are durable now */

#endif
