/* view_directory.c: see view_directory.h. */
#include "view_directory.h"

#include "directory.h"
#include "state.h"

static struct token_view shown(const struct token *t) {
    return (struct token_view){.id = t->id,
                               .name = t->name,
                               .tenant = t->tenant,
                               .roles = t->roles,
                               .kind = (enum principal_kind)t->kind,
                               .created_ms = t->created_ms,
                               .expires_ms = t->expires_ms};
}

bool view_is_new(const struct state *s) {
    return s->lsn == 0;
}

uint64_t view_log(const struct state *s) {
    return s->directory.log;
}

static bool show(const struct state *s, uint32_t token, struct token_view *ret) {
    if (token == 0) return false;
    *ret = shown(token_at(&s->directory, token));
    return true;
}

bool view_token_by_hash(const struct state *s, struct slice hash, struct token_view *ret) {
    return show(s, directory_token_by_hash(&s->directory, hash), ret);
}

bool view_token(const struct state *s, struct slice id, struct token_view *ret) {
    return show(s, directory_token(&s->directory, id), ret);
}

uint32_t view_token_count(const struct state *s) {
    return s->directory.tokens.count;
}

uint32_t view_token_next(const struct state *s, uint32_t after, struct token_view *ret) {
    const struct directory *d = &s->directory;
    for (uint32_t i = after + 1; i <= d->tokens.high; i++) {
        if (token_at(d, i)->record == NULL) continue;
        *ret = shown(token_at(d, i));
        return i;
    }
    return 0;
}

bool view_has_tenant_tokens(const struct state *s) {
    return s->directory.tenant_tokens > 0;
}

bool view_secret(const struct state *s, enum secret_kind kind, struct rec_secret *ret) {
    const struct directory *d = &s->directory;
    for (uint32_t i = 0; i < d->secrets.count; i++) {
        const struct secret *x = secret_at(d, i);
        if (x->kind != kind) continue;
        *ret = (struct rec_secret){x->number, x->kind, bytes_slice(x->sealed)};
        return true;
    }
    return false;
}

bool view_session_has_ended(const struct state *s, struct slice who, uint64_t number, int64_t expires_ms) {
    const struct directory *d = &s->directory;
    for (uint32_t i = 0; i < d->ended.count; i++) {
        const struct ended_session *x = ended_session_at(d, i);
        if (!slice_eq(slice_str(x->who), who)) continue;
        if (x->number == 0 ? expires_ms <= x->expires_ms : x->number == number && x->expires_ms == expires_ms)
            return true;
    }
    return false;
}

bool view_ticket(const struct state *s, wall_time now, struct slice hash, struct slice *ret_who) {
    uint32_t place = directory_ticket(&s->directory, hash);
    if (place == 0) return false;
    const struct ticket *t = ticket_at(&s->directory, place - 1);
    *ret_who = slice_str(t->who);
    return t->expires_ms > now.ms;
}
