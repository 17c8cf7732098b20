/* authlab.h: identity without a server: an engine with nothing around it, a directory, and who is known by both. */
#ifndef REEVE_AUTHLAB_H
#define REEVE_AUTHLAB_H

#include "auth.h"
#include "engine_fixture.h"
#include "tmpdisk.h"

struct authlab {
    struct fixture r;
    struct tmpdisk disk;
    struct auth auth;
    struct engine *fresh; /* of a journal in which nothing was recorded yet */
};

void authlab_init(struct authlab *l); /* opened, as a first start: identity has begun */
void authlab_fini(struct authlab *l);
/* The server ends and is started again, with the journal and the directory as they are. */
enum err authlab_restart(struct authlab *l, struct why *why);
/* What `auth` wants recorded first is. */
void authlab_begin(struct authlab *l);
enum err authlab_token(struct authlab *l, const struct caller *c, wall_time now, struct minted_token *ret);
enum err authlab_revoke(struct authlab *l, const char *id);
enum err authlab_logout(struct authlab *l, const char *who, uint64_t number, int64_t expires_ms);

#endif
