/* browser.c: see browser.h. */
#include "browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The browser outlives this program, and what it has to say is not for this terminal. */
enum err browser_open(struct cli *c, const char *url) {
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
