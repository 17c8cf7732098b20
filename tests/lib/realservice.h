/* realservice.h: a service for tests of services: the test program itself, started again with --serve DIR by a worker.
 * It notes each start in DIR/starts ("attempt pid"), notes in DIR/twice that another one of it lived when it started,
 * and answers HTTP at $PORT with "attempt pid word": 200, or 503 while DIR/sick is there. While DIR/deaf is there it
 * does not listen; DIR/listens is there once it did. */
#ifndef REEVE_REALSERVICE_H
#define REEVE_REALSERVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* First in main: does not return when the program is to be the service. */
void realservice_main(int argc, char **argv);
const char *realservice_self(void); /* path of this program */

struct realservice_answer {
    int status; /* of HTTP; 0 = nobody answers */
    uint32_t attempt;
    pid_t pid;
    char word[32]; /* the argument behind DIR */
};
struct realservice_answer realservice_ask(uint32_t port);

uint32_t realservice_starts(const char *dir);
bool realservice_was_twice(const char *dir);

#endif
