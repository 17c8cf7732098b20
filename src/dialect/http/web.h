/* web.h: all connections that speak HTTP, for the passes of the server (http_dialect.h). */
#ifndef REEVE_WEB_H
#define REEVE_WEB_H

#include "http_dialect.h"

void web_init(struct server *s);
void web_fini(struct server *s);

void web_unstick(struct server *s);   /* the disk has taken something: bodies that wait for it go on */
void web_step(struct server *s);      /* the end of each pass: connections whose answer is out */
int64_t web_expire(struct server *s); /* ends what is too slow; when the next one is due */

#endif
