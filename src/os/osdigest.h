/* osdigest.h: port/digest.h by OpenSSL. */
#ifndef REEVE_OSDIGEST_H
#define REEVE_OSDIGEST_H

#include "digest.h"

struct hasher *osdigest(void); /* one for the process, usable from every thread */

#endif
