/* realserver.h: the built program as a server in a directory of its own, started, killed and started again. */
#ifndef REEVE_REALSERVER_H
#define REEVE_REALSERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct realserver {
    char data[64];
    char address[64]; /* of its port; another one after each start */
    char socket[80];  /* unix:… */
    char admin[80], worker[80]; /* tokens */
    const char *flags[16];      /* further ones, set before the start */
    bool quiet;       /* it logs nothing when it is ready: look for its address instead */
    pid_t pid;        /* 0: it does not run */
    int errors;       /* its standard error */
};

const char *realserver_binary(void);
/* A port of this machine that nobody listens at, to be the same after a restart. */
void realserver_choose_address(char ret[64]);
void realserver_make(struct realserver *s); /* a directory, nothing running */
void realserver_start(struct realserver *s); /* returns when it is ready */
void realserver_refuses(struct realserver *s, const char *words); /* it must not start, and say why */
bool realserver_says(struct realserver *s, const char *words); /* waits until its log does */
void realserver_kill(struct realserver *s);  /* -9 */
int realserver_stop(struct realserver *s);   /* TERM; its exit code */
void realserver_remove(struct realserver *s);

#endif
