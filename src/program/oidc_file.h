/* oidc_file.h: reads the document of identity providers (oidc/issuers.h) with the files that it names. */
#ifndef REEVE_OIDC_FILE_H
#define REEVE_OIDC_FILE_H

#include "issuers.h"

/* YAML or JSON. Paths in it are meant from its own folder. A file with a client's secret must be its owner's alone. */
CHECKED enum err oidc_file_read(const char *path, const struct limits *limits, struct issuers **ret, struct why *why);

#endif
