# For the tests that record Python: sourced with the path of wick as first argument. Ends the test where there is no
# interpreter or nothing can be recorded; sets pythons (a path for each version) and engines, and copies the programs of
# tests/workloads/python to the folder of the test.
# shellcheck shell=bash
# shellcheck source=tests/e2e/recording.sh
. "$(dirname "${BASH_SOURCE[0]}")/recording.sh"

need_recording
cp "$sources"/python/*.py .

# find_pythons: sets pythons to one path of each version; first the two that get all checks: Debian's and the newest
find_pythons() {
	local candidate version
	local -A seen=()
	pythons=()
	# shellcheck disable=SC2086 # a list
	for candidate in /usr/bin/python3 ${PYTHONS:-} \
		$(printf '%s\n' {~,/root}/.pyenv/versions/3.*/bin/python3 | sort -t / -k 5rV); do
		version=$("$candidate" -c 'import sys, ctypes; print("%d.%d.%d%s" % (*sys.version_info[:3], sys.abiflags))' 2>/dev/null) || continue
		[[ $version =~ ^3\.([89]|1[0-9])\. && -z ${seen[$version]:-} ]] || continue
		seen[$version]=1
		pythons+=("$candidate")
	done
}
find_pythons
if ((${#pythons[@]} == 0)); then
	skip "Python" "no CPython 3.8 or later"
	done_testing
fi
# version PYTHON: such as 3.11
version() {
	"$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'
}
# The ring engine has no Python stacks.
# shellcheck disable=SC2034 # used by who sources this
engines=(bpf)
if ! can why "$wick" record -q --engine bpf -F 999 -o probe -- "${pythons[0]}" shares.py 0.2 >/dev/null; then
	skip "Python" "$(head -n 1 why)"
	done_testing
fi

# sum FILE PATTERN: weight of the folded stacks that match
sum() {
	[[ -f $1 ]] || problem "$1 was not written"
	grep -E -- "$2" "$1" | awk '{ n += $NF } END { printf "%.0f\n", n }'
}
