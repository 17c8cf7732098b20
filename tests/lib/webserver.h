/* webserver.h: a small HTTP server on 127.0.0.1, in a process of its own, that does what its paths say:
 *
 *     /echo            200, JSON: method, path, headers and body of the request
 *     /status/N        answers with that status
 *     /flaky/N/NAME    503 with Retry-After the first N times, then 200
 *     /later/N/NAME    503 with Retry-After: N the first time, then 200: how long after the first
 *     /job/N/NAME      {"state": "running"} the first N times, then {"state": "done", "answer": 42}
 *     /goto?URL        302 to that URL; /goto307?URL 307
 *     /huge            a body that never ends
 *     /heads           headers that never end
 *     /slow            a byte now and then, for ever
 *     /binary          bytes that are no text
 *
 * NAMEs count apart. Every request is written to a file before it is answered. */
#ifndef REEVE_WEBSERVER_H
#define REEVE_WEBSERVER_H

#include <stdint.h>
#include <sys/types.h>

struct webserver {
    pid_t pid;
    uint16_t port;
    char log[96];
};

void webserver_start(struct webserver *w); /* dies with the test */
void webserver_stop(struct webserver *w);
/* What was asked so far, as it came; valid until the next call. */
const char *webserver_asked(const struct webserver *w);
uint32_t webserver_count(const struct webserver *w, const char *words); /* how often that is in it */

#endif
