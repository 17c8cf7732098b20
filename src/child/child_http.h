/* child_http.h: makes the request of an http job.
 *
 *     --child-http REQUEST ALLOWED RETRY_AFTER
 *
 * REQUEST is a file with a `http` message (proto/wire/wire_http.h), ALLOWED the addresses beyond the public ones that
 * the worker's owner allows. Variables are taken from the environment, which has the worker's secrets: what is printed
 * names them and never shows them. The answer becomes $REEVE_OUTPUT. If the answer is not an expected one and says
 * when to come again, the file RETRY_AFTER gets the milliseconds until then.
 *
 * Each connection goes to an address that was looked at in the moment of connecting (libcurl asks us for its sockets),
 * so a name that means something else the second time gains nothing. Proxies of the environment are not used,
 * redirects only as many as the job allows, and never from https to http. */
#ifndef REEVE_CHILD_HTTP_H
#define REEVE_CHILD_HTTP_H

#include "child.h"

enum child_http_exit {
    CHILD_HTTP_OK = 0,
    CHILD_HTTP_UNEXPECTED = 22, /* a status that is no success, and will not become one: no retry */
    CHILD_HTTP_AGAIN = 75,      /* no answer, or one that says "later" (408, 425, 429, 5xx): a retry may help */
    CHILD_HTTP_REFUSED = 78,    /* not a request that this worker makes, or an answer beyond its limits: no retry */
};

int child_http(const struct child_world *world, int count, char **args);

#endif
