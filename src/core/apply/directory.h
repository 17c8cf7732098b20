/* directory.h: tokens, secrets, ended sessions and login links. Part of apply; what they are: directory_state.h. */
#ifndef REEVE_DIRECTORY_H
#define REEVE_DIRECTORY_H

#include "objects.h"
#include "state.h"

void directory_init(struct directory *d);
void directory_fini(struct directory *d);
size_t directory_bytes(const struct directory *d);

/* 0 = there is none. */
uint32_t directory_token(const struct directory *d, struct slice id);
uint32_t directory_token_by_hash(const struct directory *d, struct slice hash);
/* Its place + 1; 0 = there is none. */
uint32_t directory_ticket(const struct directory *d, struct slice hash);
bool directory_is_admin(const struct token *t); /* one that locks nobody out as long as it is there */

void directory_begin(struct state *s, const struct rec_directory *r);
void directory_set_token(struct state *s, const struct rec_token_info *r);
void directory_end_token(struct state *s, struct slice id);
void directory_end_session(struct state *s, const struct rec_session *r);
void directory_add_ticket(struct state *s, const struct rec_ticket *r);
void directory_spend_ticket(struct state *s, struct slice hash);
void directory_set_secrets(struct state *s, const struct tlv_list *secrets);

/* Whether apply may take the record; `why` as in check.c. */
CHECKED enum err directory_check(const struct state *s, const struct record *r, struct why *why);
/* A snapshot's objects; ERR_CORRUPT when they do not fit together. */
CHECKED enum err directory_load(struct state *s, const struct snap_directory *o, struct why *why);
CHECKED enum err directory_load_token(struct state *s, const struct snap_token *o, struct arena *arena,
                                      struct why *why);
CHECKED enum err directory_load_session(struct state *s, const struct snap_session *o, struct why *why);
CHECKED enum err directory_load_ticket(struct state *s, const struct snap_ticket *o, struct why *why);

#endif
