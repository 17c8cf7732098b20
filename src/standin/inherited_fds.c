/* inherited_fds.c: see inherited_fds.h. */
#include "inherited_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FORM "listen=%d orion=%d control=%d mark=%d kills=%u killed=%d died=%lld"

void inherited_fds_give(const struct inherited_fds *h) {
    const int fds[] = {h->listen, h->orion, h->control, h->mark};
    char text[160];
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0) (void)fcntl(fds[i], F_SETFD, 0);
    snprintf(text, sizeof text, FORM, h->listen, h->orion, h->control, h->mark, h->kills, h->killed,
             (long long)h->died_ms);
    setenv(INHERITED_FDS_VARIABLE, text, 1);
}

bool inherited_fds_take(struct inherited_fds *ret) {
    const char *text = getenv(INHERITED_FDS_VARIABLE);
    int killed = 0;
    long long died = 0;
    *ret = (struct inherited_fds){.listen = -1, .orion = -1, .control = -1, .mark = -1};
    if (text == NULL) return false;
    bool whole =
        sscanf(text, FORM, &ret->listen, &ret->orion, &ret->control, &ret->mark, &ret->kills, &killed, &died) == 7;
    ret->died_ms = died;
    ret->killed = killed != 0;
    unsetenv(INHERITED_FDS_VARIABLE);
    const int fds[] = {ret->listen, ret->orion, ret->control, ret->mark};
    for (size_t i = 0; whole && i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0) (void)fcntl(fds[i], F_SETFD, FD_CLOEXEC);
    return whole;
}

enum err inherited_fds_map(int mark, volatile struct playground_mark **ret, struct why *why) {
    void *at = mmap(NULL, sizeof(struct playground_mark), PROT_READ | PROT_WRITE, MAP_SHARED, mark, 0);
    if (at == MAP_FAILED) return why_set(why, ERR_IO, "the memory of the supervisor: %s", strerrordesc_np(errno));
    *ret = at;
    return ERR_OK;
}
