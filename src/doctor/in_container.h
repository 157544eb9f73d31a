/* Whether wick runs in a container, and what a container must be allowed so that wick can record in it. */
#ifndef WICK_DOCTOR_IN_CONTAINER_H
#define WICK_DOCTOR_IN_CONTAINER_H

#include "system/system.h"

/* "Docker", "Kubernetes", …, or NULL: in none. */
const char *in_container_type(const struct system *system);
/* In a container that does not allow everything. */
bool in_container_limited(const struct system *system);
/* The settings for docker and podman, Compose, and Kubernetes. */
void in_container_settings(struct buf *out);

#endif
