/* upload.h: blobs on their way in. Part of stream.h. */
#ifndef REEVE_UPLOAD_H
#define REEVE_UPLOAD_H

#include "net.h"

struct server;

void upload_init(struct server *s);
void upload_fini(struct server *s);
void upload_forget(struct server *s, conn_id conn);
void upload_no_space(struct server *s); /* refuses those that wait to become durable */
void upload_flushed(struct server *s); /* answers those that are durable now */

#endif
