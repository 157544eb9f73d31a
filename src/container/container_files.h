/*
 * Names, images and labels of containers, from the files of their engines. Engines do not have to run. Others may own
 * these files: they are opened without following links to devices, and read up to a limit.
 */
#ifndef WICK_CONTAINER_CONTAINER_FILES_H
#define WICK_CONTAINER_CONTAINER_FILES_H

#include "container/container.h"

struct container_files;

/* `root` is "", or where the file system of the host is mounted; it must stay. */
struct container_files *container_files_new(const char *root);
/* NULL is allowed. */
void container_files_free(struct container_files *files);

/* Fills in what is known about a container with an engine, an id and a user. Texts go to the arena. */
void container_files_describe(struct container_files *files, struct container *container, struct arena *texts);

struct json_document;
/* What a list of docker says: the value `at` describes this container, and may fill in what is missing. */
void container_take_listed(struct container *container, const struct json_document *list, uint32_t at,
			   struct arena *texts);

#endif
