/* audit_journal.h: the journal of a data directory and its public key, for the verbs of the audit trail. */
#ifndef REEVE_AUDIT_JOURNAL_H
#define REEVE_AUDIT_JOURNAL_H

#include "cli.h"

CHECKED enum err audit_journal(const char *data, struct cli_journal *ret, struct why *why);
void audit_journal_close(struct cli_journal *j);
CHECKED enum err audit_key(const char *data, uint8_t ret[], struct why *why);

#endif
