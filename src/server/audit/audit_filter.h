/* audit_filter.h: which records of the audit trail a caller asks for, from the message in which he says so. */
#ifndef REEVE_AUDIT_FILTER_H
#define REEVE_AUDIT_FILTER_H

#include "arena.h"
#include "audit_record.h"
#include "server_impl.h"

/* Its slices are those of the message. */
CHECKED enum err audit_filter_of(struct server *s, const struct wire_audit *m, struct audit_filter *ret,
                                 struct why *why);
void audit_filter_keep(struct audit_filter *f, struct arena *arena); /* they are copied */

#endif
