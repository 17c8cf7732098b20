/* journal_verbs.h: `reeve journal …`: looking at a log without a server. */
#ifndef REEVE_JOURNAL_VERBS_H
#define REEVE_JOURNAL_VERBS_H

#include "err.h"

/* All get the arguments after the verb. */
CHECKED enum err journal_verify(int count, char **args, struct why *why);
CHECKED enum err journal_dump(int count, char **args, struct why *why);
CHECKED enum err journal_at(int count, char **args, struct why *why);
CHECKED enum err journal_compact(int count, char **args, struct why *why);

#endif
