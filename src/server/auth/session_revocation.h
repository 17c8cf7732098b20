/* session_revocation.h: sessions of browsers that ended before their time. A cookie is checked without a record of it
 * (cookie.h), so that it is over has to be kept, durably and until it would have expired: in the file `sessions`. */
#ifndef REEVE_SESSION_REVOCATION_H
#define REEVE_SESSION_REVOCATION_H

#include "cookie.h"

#define SESSION_REVOCATIONS_MAX 16384u /* more than there can be tokens: whoever has many, all of them end together */

CHECKED enum err session_revocation_load(struct auth *a, struct why *why);
bool session_revocation_has(const struct auth *a, const struct cookie *c);
/* Durable when it returns. */
CHECKED enum err session_revocation_add(struct auth *a, const struct cookie *c, wall_time now, struct why *why);

#endif
