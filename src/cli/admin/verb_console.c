/* verb_console.c: the console in a browser, by a link that works once. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api_print.h"
#include "out.h"
#include "verbs.h"

/* The browser outlives this program, and what it has to say is not for this terminal. */
static enum err open_browser(struct cli *c, const char *url) {
    const char *own = getenv("BROWSER"), *program = own != NULL && own[0] != 0 ? own : "xdg-open";
    const char *argv[] = {program, url, NULL};
    posix_spawn_file_actions_t files;
    pid_t pid;
    posix_spawn_file_actions_init(&files);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    int error = posix_spawnp(&pid, program, &files, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (error == 0) return ERR_OK;
    return cli_refuse(c, ERR_NOT_FOUND, "%s: %s; open the link yourself, or set BROWSER to a program that opens links",
                      program, strerrordesc_np(error));
}

enum err verb_console(struct cli *c) {
    struct client_frame f;
    struct wire_empty m = {0};
    enum err e = client_ask(&c->client, WIRE_LOGIN_NEW, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_login_link *got = f.message;
    char *url = arena_alloc(&c->arena, got->url.len + 1);
    if (got->url.len > 0) memcpy(url, got->url.ptr, got->url.len);
    if (c->json)
        api_print_answer(c, "POST /session/link", WIRE_LOGIN_LINK, got);
    else
        printf("%s\n", url);
    fflush(stdout);
    return cli_flag(c, "open") != NULL ? open_browser(c, url) : ERR_OK;
}
