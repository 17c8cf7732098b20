/* authlab.c: see authlab.h. */
#include "authlab.h"

#include "osclock.h"
#include "osdigest.h"

void authlab_init(struct authlab *l) {
    struct why why = {{0}};
    memset(l, 0, sizeof *l);
    fixture_init(&l->r);
    tmpdisk_make(&l->disk);
    l->fresh = engine_new(0, &l->r.limits);
    assert_ok(auth_open(&l->auth, l->disk.disk, osclock(), osdigest(), 0, engine_state(l->fresh), &why));
    authlab_begin(l);
}

void authlab_fini(struct authlab *l) {
    auth_close(&l->auth);
    engine_free(l->fresh);
    tmpdisk_remove(&l->disk);
    fixture_check_digests(&l->r);
    fixture_fini(&l->r);
}

void authlab_begin(struct authlab *l) {
    struct command cmd;
    struct why why = {{0}};
    assert_true(auth_beginning(&l->auth, &cmd));
    assert_ok(fixture_command(&l->r, &cmd));
    assert_ok(auth_reopen(&l->auth, engine_state(l->r.engine), &why));
    assert_false(auth_beginning(&l->auth, &cmd));
    assert_ok(auth_begun(&l->auth, &why));
}

enum err authlab_restart(struct authlab *l, struct why *why) {
    auth_close(&l->auth);
    fixture_crash(&l->r);
    return auth_open(&l->auth, l->disk.disk, osclock(), osdigest(), 0, engine_state(l->r.engine), why);
}

static enum err ask(struct authlab *l, const struct cmd_identity *what) {
    struct command cmd = {.kind = CMD_IDENTITY};
    cmd.as.identity = *what;
    return fixture_command(&l->r, &cmd);
}

enum err authlab_token(struct authlab *l, const struct caller *c, wall_time now, struct minted_token *ret) {
    auth_mint(&l->auth, ret);
    struct rec_token_info info = auth_token_info(ret, c, now);
    return ask(l, &(struct cmd_identity){.op = IDENTITY_TOKEN_SET, .tokens = &info, .token_count = 1});
}

enum err authlab_revoke(struct authlab *l, const char *id) {
    return ask(l, &(struct cmd_identity){.op = IDENTITY_TOKEN_END, .id = slice_str(id)});
}

enum err authlab_logout(struct authlab *l, const char *who, uint64_t number, int64_t expires_ms) {
    struct rec_session x = {slice_str(who), number, expires_ms};
    return ask(l, &(struct cmd_identity){.op = IDENTITY_SESSION_END, .sessions = &x, .session_count = 1});
}
