/* Users of the system by their names. */
#ifndef WICK_SYSTEM_USERS_H
#define WICK_SYSTEM_USERS_H

#include <stdbool.h>
#include <sys/types.h>

bool user_find(const char *name, uid_t *ret_user);

#endif
