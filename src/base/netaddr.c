/* netaddr.c: see netaddr.h. */
#include "netaddr.h"

#include <arpa/inet.h>
#include <string.h>

#define IPV4_BYTES 4u

/* What is between the brackets, or before the only colon. */
static bool host_of(const char *text, char ret[NETADDR_TEXT_BYTES]) {
    const char *from = text, *colon = strchr(text, ':');
    size_t len = strlen(text);
    if (text[0] == '[') {
        const char *end = strchr(text, ']');
        if (end == NULL) return false;
        from = text + 1;
        len = (size_t)(end - from);
    } else if (colon != NULL && strchr(colon + 1, ':') == NULL) {
        len = (size_t)(colon - text);
    }
    if (len >= NETADDR_TEXT_BYTES) return false;
    memcpy(ret, from, len);
    ret[len] = 0;
    return true;
}

size_t netaddr_read(const char *text, uint8_t ret[NETADDR_BYTES_MAX]) {
    char host[NETADDR_TEXT_BYTES];
    if (!host_of(text, host)) return 0;
    if (inet_pton(AF_INET, host, ret) == 1) return IPV4_BYTES;
    return inet_pton(AF_INET6, host, ret) == 1 ? NETADDR_BYTES_MAX : 0;
}

bool netaddr_text(struct slice address, char ret[NETADDR_TEXT_BYTES]) {
    if (address.len != IPV4_BYTES && address.len != NETADDR_BYTES_MAX) return false;
    int family = address.len == IPV4_BYTES ? AF_INET : AF_INET6;
    return inet_ntop(family, address.ptr, ret, NETADDR_TEXT_BYTES) != NULL;
}
