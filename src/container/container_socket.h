/*
 * Names of containers from the socket of docker or podman, for users who may not read the files but may use the socket.
 * One request for all containers, with a time limit.
 */
#ifndef WICK_CONTAINER_CONTAINER_SOCKET_H
#define WICK_CONTAINER_CONTAINER_SOCKET_H

#include "container/container.h"

/* Fills in what is missing. `root` as in containers_list(). */
void container_socket_describe(struct containers *containers, const char *root);
/* The body of an HTTP answer with status 200; false: it is something else. */
bool container_socket_body(const char *answer, size_t size, const char **ret_body, size_t *ret_size);

#endif
