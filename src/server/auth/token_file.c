/* token_file.c: see token_file.h. */
#include "token_file.h"

#include <stdio.h>

#include "small_file.h"
#include "tlv.h"

#define NAME_MAX_BYTES 128u
#define TOKENS_MAX 100000u
#define SESSIONS_MAX 16384u
#define TOKENS_NAME "tokens"
#define SESSIONS_NAME "sessions"
#define RETIRED ".taken-over"

struct file_tokens {
    struct tlv_list tokens; /* of rec_token_info */
    struct slice secret;
};

struct file_sessions {
    struct tlv_list ended; /* of rec_session */
};

static const struct tlv_field token_fields[] = {
    TLV_FIELD(1, TLV_TEXT, rec_token_info, id, .max = TOKEN_ID_BYTES - 1),
    TLV_FIELD(2, TLV_HASH, rec_token_info, hash),
    TLV_FIELD(3, TLV_TEXT, rec_token_info, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(4, TLV_TEXT, rec_token_info, tenant, .max = NAME_MAX_BYTES),
    TLV_FIELD(5, TLV_U32, rec_token_info, roles),
    TLV_FIELD(6, TLV_I64, rec_token_info, created_ms),
    TLV_FIELD(7, TLV_I64, rec_token_info, expires_ms),
};
static const struct tlv_desc token_desc = TLV_DESC("token", rec_token_info, token_fields);
static const struct tlv_field tokens_fields[] = {
    TLV_FIELD(1, TLV_LIST, file_tokens, tokens, .max = TOKENS_MAX, .sub = &token_desc),
    TLV_FIELD(2, TLV_HASH, file_tokens, secret),
};
static const struct tlv_desc tokens_desc = TLV_DESC(TOKENS_NAME, file_tokens, tokens_fields);

static const struct tlv_field session_fields[] = {
    TLV_FIELD(1, TLV_TEXT, rec_session, who, .max = 23),
    TLV_FIELD(2, TLV_U64, rec_session, number),
    TLV_FIELD(3, TLV_I64, rec_session, expires_ms),
};
static const struct tlv_desc session_desc = TLV_DESC("session", rec_session, session_fields);
static const struct tlv_field sessions_fields[] = {
    TLV_FIELD(1, TLV_LIST, file_sessions, ended, .max = SESSIONS_MAX, .sub = &session_desc),
};
static const struct tlv_desc sessions_desc = TLV_DESC(SESSIONS_NAME, file_sessions, sessions_fields);

static const struct small_file tokens_file = {
    TOKENS_NAME, "REEVETK1", &tokens_desc,
    "the file `tokens` of an earlier version is damaged: restore it from a backup, or remove it and make new tokens "
    "over the Unix socket (reeve token new)"};
static const struct small_file sessions_file = {
    SESSIONS_NAME, "REEVESE1", &sessions_desc,
    "the file `sessions` of an earlier version is damaged: remove it; cookies of browsers that logged out stay valid "
    "until they expire"};

enum err token_file_load(struct disk *d, struct arena *arena, struct token_file *ret, struct why *why) {
    struct file_tokens tokens = {0};
    struct file_sessions sessions = {0};
    enum err e = small_file_load(&tokens_file, d, arena, &tokens, why);
    if (e != ERR_OK) return e;
    e = small_file_load(&sessions_file, d, arena, &sessions, why);
    if (e != ERR_OK && e != ERR_NOT_FOUND) return e;
    struct rec_token_info *list = tokens.tokens.at;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tokens.tokens.count; i++)
        if (list[i].hash.len > 0 && list[i].roles != 0 && list[i].id.len > 0) list[kept++] = list[i];
    *ret = (struct token_file){.tokens = list, .token_count = kept, .secret = tokens.secret};
    if (e == ERR_OK) {
        ret->ended = sessions.ended.at;
        ret->ended_count = sessions.ended.count;
    }
    return ERR_OK;
}

enum err token_file_save(struct disk *d, const struct token_file *f, struct why *why) {
    struct file_tokens tokens = {{f->tokens, f->token_count}, f->secret};
    struct file_sessions sessions = {{f->ended, f->ended_count}};
    enum err e = f->ended_count > 0 ? small_file_save(&sessions_file, d, &sessions, why) : ERR_OK;
    return e == ERR_OK ? small_file_save(&tokens_file, d, &tokens, why) : e;
}

static enum err retire(struct disk *d, const char *name, struct why *why) {
    char to[32];
    disk_file f;
    enum err e = d->ops->open(d, name, DISK_READ, &f, why);
    if (e == ERR_NOT_FOUND) return ERR_OK;
    if (e != ERR_OK) return e;
    d->ops->close(d, f);
    snprintf(to, sizeof to, "%s" RETIRED, name);
    return d->ops->rename(d, name, to, why);
}

enum err token_file_retire(struct disk *d, struct why *why) {
    enum err e = retire(d, TOKENS_NAME, why);
    if (e == ERR_OK) e = retire(d, SESSIONS_NAME, why);
    return e == ERR_OK ? d->ops->sync_dir(d, "", why) : e;
}
