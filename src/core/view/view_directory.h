/* view_directory.h: reading who may do what. As in view.h nothing is changed, and slices are valid until the next
 * command. */
#ifndef REEVE_VIEW_DIRECTORY_H
#define REEVE_VIEW_DIRECTORY_H

#include "record.h"
#include "wtime.h"

struct state;

struct token_view {
    struct slice id, name, tenant;
    uint32_t roles;
    enum principal_kind kind;
    int64_t created_ms, expires_ms;
};

bool view_is_new(const struct state *s);  /* nothing was ever recorded in this journal */
uint64_t view_log(const struct state *s); /* number of the journal; 0 = identity has not begun in it */
bool view_token_by_hash(const struct state *s, struct slice hash, struct token_view *ret);
bool view_token(const struct state *s, struct slice id, struct token_view *ret);
uint32_t view_token_count(const struct state *s);
/* The tokens one after the other: `after` 0 = the first. Returns its place, 0 = there are no more. */
uint32_t view_token_next(const struct state *s, uint32_t after, struct token_view *ret);
bool view_has_tenant_tokens(const struct state *s); /* one that is limited to a tenant */
/* One of the secrets, as they were given; false: there is none of that kind. */
bool view_secret(const struct state *s, enum secret_kind kind, struct rec_secret *ret);
bool view_session_has_ended(const struct state *s, struct slice who, uint64_t number, int64_t expires_ms);
/* Whose link that is; false: there is none, or its time is over. */
bool view_ticket(const struct state *s, wall_time now, struct slice hash, struct slice *ret_who);

#endif
