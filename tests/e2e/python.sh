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
# shellcheck disable=SC2034 # used by who sources this
engines=(bpf ring)
if ! can why "$wick" record -q --engine bpf -F 999 -o probe -- "${pythons[0]}" shares.py 0.2 >/dev/null; then
	skip "Python" "$(head -n 1 why)"
	done_testing
fi

# The ring engine reads Python frames a moment after the sample. Where functions had returned, a stack has
# [python frame] for them. Of the others, few have the functions of another moment.
# known ENGINE FOLDER: the stacks without such frames, as a file; and sets `rare` to the share of wrong ones
# shellcheck disable=SC2034 # used by who sources this
known() {
	rare=0.001
	cp "$2/out.folded" "$2.known"
	[[ $1 == bpf ]] && return
	rare=0.03
	grep -vF '[python frame]' "$2/out.folded" >"$2.known"
}
# late ENGINE FOLDER: the share of stacks of Python that have such frames
late() {
	local late all
	late=$(sum "$2/out.folded" '\[python frame\]') all=$(sum "$2/out.folded" '')
	[[ $1 == ring ]] || late=0
	awk -v late="$late" -v all="$all" 'BEGIN { printf "%.4f\n", all ? late / all : 1 }'
}
# often_known ENGINE FOLDER: most stacks are known completely, even on a busy machine
often_known() {
	echo "$(late "$1" "$2") of the stacks are read late"
	awk -v late="$(late "$1" "$2")" 'BEGIN { exit !(late < 0.5) }'
}

# shown NAME COMMAND…: a check of which the figures are shown, passed or not
shown() {
	local name=$1
	shift
	"$@" 2>&1 | sed "s|^|# $name: |"
	check "$name" "$@"
}

# sum FILE PATTERN: weight of the folded stacks that match
sum() {
	[[ -f $1 ]] || problem "$1 was not written"
	grep -E -- "$2" "$1" | awk '{ n += $NF } END { printf "%.0f\n", n }'
}
