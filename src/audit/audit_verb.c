/* audit_verb.c: see audit_verb.h. */
#include "audit_verb.h"

#include "panic.h"

/* clang-format off */
static const struct audit_verb verbs[REC_KIND_END] = {
#define X(kind, verb, class, activity, object) [kind] = {verb, OCSF_##class, OCSF_##activity, object},
    AUDIT_VERB_TABLE(X)
#undef X
};

/* A kind of record without a row does not compile. */
enum verb_count {
#define X(kind, number, type, word, text) KIND_##kind,
    RECORD_TABLE(X)
#undef X
    KINDS
};
enum row_count {
#define X(kind, verb, class, activity, object) ROW_##kind,
    AUDIT_VERB_TABLE(X)
#undef X
    ROWS
};
/* clang-format on */
_Static_assert((int)KINDS == (int)ROWS, "AUDIT_VERB_TABLE has a row for each kind of record");

const struct audit_verb *audit_verb_of(enum record_kind kind) {
    REQUIRE((unsigned)kind < REC_KIND_END && verbs[kind].verb != NULL);
    return &verbs[kind];
}

const char *audit_class_name(enum ocsf_class class) {
    switch (class) {
    case OCSF_SCHEDULED: return "Scheduled Job Activity";
    case OCSF_ACCOUNT: return "Account Change";
    case OCSF_AUTH: return "Authentication";
    case OCSF_LIFECYCLE: return "Application Lifecycle";
    case OCSF_API: return "API Activity";
    }
    PANIC("a class that is in no row");
}
