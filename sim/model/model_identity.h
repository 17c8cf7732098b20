/* model_identity.h: tokens, login links and ended sessions as the second model sees them: lists that are searched from
 * the front. What is hashed or encrypted means nothing here; equal bytes are the same secret. */
#ifndef REEVE_MODEL_IDENTITY_H
#define REEVE_MODEL_IDENTITY_H

#include "model_job.h"

bool model_identity_record(struct model *m, const struct trace_identity *r, char *text);
/* Whether the one who gave it may say yes where a person is asked. */
bool model_identity_may_approve(enum trace_principal kind);
void model_identity_free(struct model *m);

#endif
