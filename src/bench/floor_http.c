/* floor_http.c: a server of HTTP on osloop that reads nothing but where requests end and answers each with the same
 * bytes, in a process of its own: the floor of what HTTP could cost on this loop. */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench_impl.h"
#include "floor.h"
#include "osloop.h"
#include "panic.h"

#define END_BYTES 4u /* of a head; requests without a body */

static struct {
    struct net *net;
    struct slice answer;
} canned;

static void opened(void *ctx, conn_id c, const struct net_peer *peer) {
    (void)ctx, (void)c, (void)peer;
}

/* Requests are small and come whole: who sends them waits for each answer. */
static void received(void *ctx, conn_id c, struct slice bytes) {
    (void)ctx;
    for (const uint8_t *end; (end = memmem(bytes.ptr, bytes.len, "\r\n\r\n", END_BYTES)) != NULL;) {
        canned.net->ops->send(canned.net, c, canned.answer);
        size_t used = (size_t)(end - bytes.ptr) + END_BYTES;
        bytes = slice_of(bytes.ptr + used, bytes.len - used);
    }
}

static void drained(void *ctx, conn_id c) {
    (void)ctx, (void)c;
}

static void closed(void *ctx, conn_id c, const char *why) {
    (void)ctx, (void)c, (void)why;
}

static void pass(void *ctx) {
    (void)ctx;
}

static mono_time next(void *ctx) {
    (void)ctx;
    return (mono_time){TIME_NEVER};
}

_Noreturn static void serve(int told, struct slice answer) {
    static const struct net_handler handler = {opened, received, drained, closed, NULL};
    struct osloop *loop;
    struct why why;
    char address[OSLOOP_ADDRESS_MAX] = "";
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    ENSURE(osloop_open(128, &loop, &why) == ERR_OK);
    ENSURE(osloop_listen(loop, "127.0.0.1:0", &handler, address, &why) == ERR_OK);
    canned.net = osloop_net(loop);
    canned.answer = answer;
    osloop_own(loop, &(struct osloop_owner){pass, next, NULL});
    ENSURE(write(told, address, sizeof address) == (ssize_t)sizeof address);
    osloop_run(loop);
    _exit(0);
}

enum err floor_http_start(struct floor_server *s, struct slice answer, struct why *why) {
    int ends[2];
    char address[OSLOOP_ADDRESS_MAX] = "";
    if (pipe(ends) != 0) return why_set(why, ERR_IO, "no pipe");
    s->pid = fork();
    if (s->pid == 0) serve(ends[1], answer);
    close(ends[1]);
    bool well = s->pid > 0 && read(ends[0], address, sizeof address) == (ssize_t)sizeof address;
    close(ends[0]);
    if (!well) return why_set(why, ERR_IO, "the floor of HTTP did not start");
    snprintf(s->address, sizeof s->address, "%.63s", address);
    return ERR_OK;
}
