/* console_assets.h: the files of the console that were built into this program (tools/embed.sh); none when it was built
 * without the console. */
#ifndef REEVE_CONSOLE_ASSETS_H
#define REEVE_CONSOLE_ASSETS_H

#include "asset.h"

extern const struct assets console_assets;

#endif
