# For the tests that record: sourced with the path of wick as first argument. Makes a folder for the test and goes
# there; TAP lines, programs of tests/workloads, and what is asked of a profile.
# shellcheck shell=bash
set -uo pipefail
wick=$(realpath "${1:?usage: a test WICK}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sources=$here/../workloads
work=$(mktemp -d)
chmod 777 "$work"
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache
unset DURATION SAMPLING_FREQ
number=0

ok() {
	number=$((number + 1))
	echo "ok $number - $1"
}
not_ok() {
	number=$((number + 1))
	echo "not ok $number - $1"
	shift
	printf '# %s\n' "$@"
}
# check NAME COMMAND…: a test that passes when the command does
check() {
	local name=$1 said
	shift
	if said=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "$said"; fi
}
skip() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

compile() { # NAME FLAG…: a program of tests/workloads
	local name=$1
	shift
	"${CC:-gcc}" -g -O1 -fomit-frame-pointer "$@" -o "$name" "$sources/$name.c" || exit 1
}

# Ends the test where the kernel refuses perf events.
need_recording() {
	compile loops
	if ! "$wick" record -q -F 999 -o probe -- ./loops 0.05 2>why; then
		skip "recordings" "$(head -n 1 why)"
		done_testing
	fi
}
done_testing() {
	echo "1..$number"
	exit 0
}

# count FOLDER PATTERN: samples of the stacks that match an extended regular expression
count() {
	grep -E -- "$2" "$1/out.folded" | awk '{ n += $NF } END { print n + 0 }'
}
# until_recorded FOLDER: waits until what is being recorded there has samples
until_recorded() {
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		"$wick" fold "$1" >/dev/null 2>&1 && return
		sleep 0.1
	done
}

# share FOLDER PART WHOLE EXPECTED: the share of PART among WHOLE is EXPECTED within three standard errors
share() {
	local part whole
	part=$(count "$1" "$2") whole=$(count "$1" "$3")
	awk -v part="$part" -v whole="$whole" -v p="$4" 'BEGIN {
		if (whole < 100) { printf "only %d samples\n", whole; exit 1 }
		error = sqrt(p * (1 - p) / whole)
		printf "%d of %d is %.4f; expected %.4f, standard error %.4f\n", part, whole, part / whole, p, error
		off = part / whole - p
		exit off > 3 * error || off < -3 * error
	}'
}
# whole FOLDER: at least 99.5 % of the stacks reach the start of their thread
whole() {
	local all good
	all=$(count "$1" '') good=$(count "$1" '^[^;]*;(_start|clone3?|__clone3?|__GI___clone3?|[^;]*_fork[^;]*);')
	echo "$good of $all stacks are whole"
	((all > 0 && good * 1000 >= all * 995))
}

# three_to_one NAME FOLDER COMMAND…: what the command records into the folder has the shares 3:1. Chance alone exceeds
# three standard errors once in 370 times: then it is recorded once more.
three_to_one() {
	local name=$1 folder=$2 parts=(';three( |;)' ';(three|one)( |;)' 0.75)
	shift 2
	"$@"
	if ! share "$folder" "${parts[@]}" >/dev/null; then
		rm -rf "$folder"
		"$@"
	fi
	check "$name" share "$folder" "${parts[@]}"
}
