/* mutant.c: which deliberate defect is active. Exists in the mutation build only. */
#include "mutant.h"

#ifdef REEVE_MUTANTS
enum mutant mutant_active = MUTANT_none;
#endif
