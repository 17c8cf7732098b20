/* audit_verbs.h: what the verbs of the audit trail share. */
#ifndef REEVE_AUDIT_VERBS_H
#define REEVE_AUDIT_VERBS_H

#include "cli.h"

CHECKED enum err audit_filter_flags(struct cli *c, struct wire_audit *ret); /* which records are asked for */
/* The journal in a data directory, to be read; a server may run beside it. */
CHECKED enum err audit_journal_open(struct cli *c, const char *data, struct cli_journal *ret);

#endif
