/* titan_files.h: named files of Titan's dialect, for those who run them. */
#ifndef REEVE_TITAN_FILES_H
#define REEVE_TITAN_FILES_H

#include "titan_session.h"

#define TITAN_FILE_PREFIX "titan:file:" /* of the keys that name them */

/* Stores a blob; WIRE_BLOB_KEPT when it is durable. */
void titan_keep(struct server *s, struct session *n, struct slice bytes, titan_told_fn then);
/* A file by a name that may be one; said as DEPLOY_SCRIPT is. */
void titan_file_put(struct server *s, struct session *n, struct slice name, struct slice bytes);
struct slice titan_file_key(struct session *n, struct slice name);                /* in the arena of the talk */
bool titan_file_hash(struct slice value, struct arena *arena, struct slice *ret); /* what such a key says */

#endif
