/* By the services for names; in a static program, which cannot load them, by /etc/passwd. */
#include "system/users.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

#ifdef WICK_STATIC
bool user_find(const char *name, uid_t *ret_user)
{
	FILE *file = fopen("/etc/passwd", "re");
	bool found = false;
	for (const struct passwd *user; file && !found && (user = fgetpwent(file));) {
		found = !strcmp(user->pw_name, name);
		*ret_user = user->pw_uid;
	}
	if (file)
		fclose(file);
	return found;
}
#else
bool user_find(const char *name, uid_t *ret_user)
{
	const struct passwd *user = getpwnam(name);
	if (user)
		*ret_user = user->pw_uid;
	return user;
}
#endif
