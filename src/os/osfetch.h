/* osfetch.h: port/fetch.h on Linux: this program again, as a child that makes one request (child/child_fetch.h). It is
 * told what to do on its standard input, where nobody else sees it, and answers on its standard output. */
#ifndef REEVE_OSFETCH_H
#define REEVE_OSFETCH_H

#include "fetch.h"
#include "osloop.h"

#define OSFETCH_CHILD "--child-fetch"

struct osfetch;

struct osfetch *osfetch_open(struct osloop *loop);
void osfetch_close(struct osfetch *o); /* before the loop; whoever still fetches ends */
struct fetcher *osfetch_fetcher(struct osfetch *o);

/* The same for programs that wait. What came is in the arena; ERR_OK also when it is no good answer. */
CHECKED enum err osfetch_once(const struct fetch_spec *spec, struct arena *arena, struct fetched *ret, struct why *why);

#endif
