/* token_file.h: the files `tokens` and `sessions` of versions before tokens were records. They are read once, by the
 * server that begins identity in a journal, and renamed to *.taken-over when what they said is durable there. */
#ifndef REEVE_TOKEN_FILE_H
#define REEVE_TOKEN_FILE_H

#include "arena.h"
#include "disk.h"
#include "record.h"

struct token_file {
    struct rec_token_info *tokens; /* `hash` is SHA-256 of the token */
    uint32_t token_count;
    struct rec_session *ended;
    uint32_t ended_count;
    struct slice secret; /* that texts of the server are proved with; empty = the file is older than that */
};

/* ERR_NOT_FOUND: there is none. Memory is the arena's. */
CHECKED enum err token_file_load(struct disk *d, struct arena *arena, struct token_file *ret, struct why *why);
/* As those versions wrote it: for tests that begin with one. */
CHECKED enum err token_file_save(struct disk *d, const struct token_file *f, struct why *why);
/* They are not read again. ERR_OK when there are none. */
CHECKED enum err token_file_retire(struct disk *d, struct why *why);

#endif
