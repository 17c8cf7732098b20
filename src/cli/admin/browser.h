/* browser.h: opens an address in the user's browser. */
#ifndef REEVE_BROWSER_H
#define REEVE_BROWSER_H

#include "cli.h"

CHECKED enum err browser_open(struct cli *c, const char *url); /* ERR_NOT_FOUND: there is none */

#endif
