/* verb_console.c: the console in a browser, by a link that works once. */
#include <stdio.h>

#include "api_print.h"
#include "browser.h"
#include "verbs.h"

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
    return cli_flag(c, "open") != NULL ? browser_open(c, url) : ERR_OK;
}
