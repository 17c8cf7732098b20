/* server_choice.h: which server a verb talks to, and with which token: the first of these that is there.
 *
 *     --server, --context or --data    of the verb, else of the shell that it was typed in
 *     REEVE_SERVER, REEVE_CONTEXT, REEVE_DATA
 *     .reeve here or in a parent folder
 *     the context in use
 *
 * A folder with a server of its own comes before the context in use, as the settings of a repository come before those
 * of its user: what is tried out beside a local server must not reach another one by accident. The other way round, a
 * command that was meant for elsewhere finds a local server, which costs nothing.
 *
 * The choice is made once: a context that is put to use meanwhile concerns the next command. */
#ifndef REEVE_SERVER_CHOICE_H
#define REEVE_SERVER_CHOICE_H

#include "cli.h"

/* The choice of the verb, or of the shell, whose connection it can then borrow. */
CHECKED enum err server_choice(struct cli *c, const struct client_place **ret, struct why *why);
/* The data directory of this machine that is meant, whatever server is. */
const char *server_choice_data(struct cli *c);
bool server_choice_is_own(const struct cli *c); /* the verb names a server itself */
/* After nobody answered: what else the user could have meant, behind the reason. */
void server_choice_explain(struct cli *c, struct why *why);
/* What comes before the context in use, for people; NULL: nothing does. */
const char *server_choice_nearer(struct cli *c);

#endif
