/* session_revocation.c: see session_revocation.h. An entry is a struct cookie; with the number 0 it stands for all of
 * its owner that expire until then. */
#include "session_revocation.h"

#include "small_file.h"

struct file_session {
    struct slice who;
    uint64_t number;
    int64_t expires_ms;
};

struct file_sessions {
    struct tlv_list ended;
};

static const struct tlv_field session_fields[] = {
    TLV_FIELD(1, TLV_TEXT, file_session, who, .max = COOKIE_WHO_BYTES - 1),
    TLV_FIELD(2, TLV_U64, file_session, number),
    TLV_FIELD(3, TLV_I64, file_session, expires_ms),
};
static const struct tlv_desc session_desc = TLV_DESC("session", file_session, session_fields);
static const struct tlv_field sessions_fields[] = {
    TLV_FIELD(1, TLV_LIST, file_sessions, ended, .max = SESSION_REVOCATIONS_MAX, .sub = &session_desc),
};
static const struct tlv_desc sessions_desc = TLV_DESC("sessions", file_sessions, sessions_fields);

static const struct small_file file = {
    "sessions", "REEVESE1", &sessions_desc,
    "the file of revoked sessions is damaged: cookies of browsers that logged out stay valid until they expire"};

enum err session_revocation_load(struct auth *a, struct why *why) {
    struct arena arena;
    struct file_sessions all;
    arena_init(&arena, 4096, SMALL_FILE_BYTES_MAX * 4);
    enum err e = small_file_load(&file, a->disk, &arena, &all, why);
    if (e == ERR_OK) {
        const struct file_session *list = all.ended.at;
        for (uint32_t i = 0; i < all.ended.count; i++) {
            struct cookie *c = vec_push(&a->ended);
            if (list[i].who.len > 0) memcpy(c->who, list[i].who.ptr, list[i].who.len);
            c->number = list[i].number;
            c->expires_ms = list[i].expires_ms;
        }
    }
    arena_fini(&arena);
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

static bool is_whose(const struct cookie *a, const struct cookie *b) {
    return strcmp(a->who, b->who) == 0;
}

bool session_revocation_has(const struct auth *a, const struct cookie *c) {
    for (uint32_t i = 0; i < a->ended.count; i++) {
        const struct cookie *e = vec_at(&a->ended, i);
        if (!is_whose(e, c)) continue;
        if (e->number == 0 ? c->expires_ms <= e->expires_ms : e->number == c->number && e->expires_ms == c->expires_ms)
            return true;
    }
    return false;
}

static enum err save(const struct auth *a, const struct vec *ended, struct why *why) {
    struct arena arena;
    arena_init(&arena, 4096, SMALL_FILE_BYTES_MAX * 4);
    struct file_session *list = ARENA_ARRAY(&arena, struct file_session, ended->count + 1);
    for (uint32_t i = 0; i < ended->count; i++) {
        const struct cookie *c = vec_at(ended, i);
        list[i] = (struct file_session){slice_str(c->who), c->number, c->expires_ms};
    }
    struct file_sessions all = {{list, ended->count}};
    enum err e = small_file_save(&file, a->disk, &all, why);
    arena_fini(&arena);
    return e;
}

/* Those that still mean something, and this one. */
static void gather(struct auth *a, const struct cookie *c, wall_time now, bool together, struct vec *ret) {
    struct cookie last = *c;
    struct caller who;
    struct why ignored;
    for (uint32_t i = 0; i < a->ended.count; i++) {
        const struct cookie *e = vec_at(&a->ended, i);
        if (e->expires_ms <= now.ms || cookie_caller(a, e->who, now, &who, &ignored) != ERR_OK) continue;
        if (together && is_whose(e, c)) {
            if (e->expires_ms > last.expires_ms) last.expires_ms = e->expires_ms;
            continue;
        }
        *(struct cookie *)vec_push(ret) = *e;
    }
    if (together) last.number = 0;
    *(struct cookie *)vec_push(ret) = last;
}

enum err session_revocation_add(struct auth *a, const struct cookie *c, wall_time now, struct why *why) {
    struct vec next;
    vec_init(&next, sizeof(struct cookie));
    gather(a, c, now, false, &next);
    if (next.count > SESSION_REVOCATIONS_MAX) {
        next.count = 0;
        gather(a, c, now, true, &next);
    }
    enum err e = next.count > SESSION_REVOCATIONS_MAX
                     ? why_set(why, ERR_LIMIT, "too many revoked sessions: revoke tokens instead")
                     : ERR_OK;
    if (e == ERR_OK) e = save(a, &next, why);
    if (e == ERR_OK) {
        struct vec before = a->ended;
        a->ended = next;
        next = before;
    }
    vec_fini(&next);
    return e;
}
