# For the tests that record: sourced with the path of wick as first argument. Makes a folder for the test and goes
# there; TAP lines, programs of tests/workloads, and what is asked of a profile.
#
# A test must not pass because wick crashed or did nothing. So every call of wick goes through `exits CODE`, or its exit
# code is compared with `test $? = CODE`; a file that a check reads is one that this call wrote.
# shellcheck shell=bash
set -uo pipefail
wick=$(realpath "${1:?usage: a test WICK}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sources=$here/../workloads
work=$(mktemp -d)
# Pages of a file in tmpfs never come from a disk.
[[ $(stat -f -c %T "$work") != tmpfs ]] || { rmdir "$work" && work=$(mktemp -d -p /var/tmp); }
chmod 1777 "$work"
running=() # processes that are ended with the test
at_exit=() # commands
# shellcheck disable=SC2317 # called by the trap
clean_up() {
	local command
	((${#running[@]})) && kill -KILL "${running[@]}" 2>/dev/null
	for command in "${at_exit[@]}"; do
		eval "$command"
	done
	cd / && rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 143' TERM # the time limit of tests/run
trap 'exit 130' INT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache TMPDIR=$work
# A sanitizer's report has an exit code that is none of wick's own.
: "${ASAN_OPTIONS=allocator_may_return_null=1:exitcode=199}" "${UBSAN_OPTIONS=exitcode=199}"
export ASAN_OPTIONS UBSAN_OPTIONS
unset DURATION SAMPLING_FREQ DEBUGINFOD_URLS
# What events of an ordinary user are called.
user_only=
# shellcheck disable=SC2034 # used by who sources this
((EUID == 0 || $(</proc/sys/kernel/perf_event_paranoid) < 2)) || user_only=:u
number=0
problems=$work/problems # of commands since the last check
# Seconds that one command may take.
step_limit=120

ok() {
	number=$((number + 1))
	echo "ok $number - $1"
}
not_ok() {
	number=$((number + 1))
	echo "not ok $number - $1"
	shift
	printf '%s\n' "$@" | cut -c 1-300 | sed 's/^/# /'
}
# skip NAME WHY: a crash before it is no reason to skip, but fails
skip() {
	if [[ -s $problems ]]; then
		not_ok "$1" "$(<"$problems")"
		rm "$problems"
		return
	fi
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# limited COMMAND…: under the time limit of one command; functions run as they are
limited() {
	if [[ $(type -t "$1") == file ]]; then
		timeout -k 5 "$step_limit" "$@"
	else
		"$@"
	fi
}
# problem TEXT: fails the next check. Works in a subshell too.
problem() {
	echo "$1" >>"$problems"
}
# exits CODE COMMAND…: runs it; another exit code is a problem. CODE may be a list: 0,130. Its status is the command's.
exits() {
	local codes=$1 status
	shift
	limited "$@"
	status=$?
	[[ ,$codes, == *,$status,* ]] || problem "exit code $status instead of $codes: $*"
	return "$status"
}
# ended CODE PID: waits for a process that was started in the background; its exit code is that
ended() {
	local status
	wait "$2" 2>/dev/null
	status=$?
	[[ ,$1, == *,$status,* ]] || problem "exit code $status instead of $1 of process $2"
	return "$status"
}
# check NAME COMMAND…: a test that passes when the command does, and all commands before it did what they should
check() {
	local name=$1 said status
	shift
	said=$(limited "$@" 2>&1)
	status=$?
	((status < 124)) || said+=$'\n'"status $status of $1"
	# What a file holds in which something was looked for in vain
	[[ $1 == grep && -f ${!#} ]] && said+="${!#}:"$'\n'"$(head -n 8 "${!#}" | cut -c 1-200)"
	if [[ -s $problems ]]; then
		not_ok "$name" "$(<"$problems")" "$said"
		rm "$problems"
	elif ((status)); then
		not_ok "$name" "$said"
	else
		ok "$name"
	fi
}
# not COMMAND…: succeeds when it ends with 1, as test, grep, diff and cmp do; an error of theirs is no success
not() {
	"$@"
	(($? == 1))
}

# can WHY-FILE COMMAND…: whether the machine lets wick do it. It may say no in its own words, with exit code 1, which
# then are in the file. Anything else is a problem.
can() {
	local file=$1 status
	shift
	limited "$@" 2>"$file"
	status=$?
	((status == 0)) && return 0
	if ((status != 1)) || ! grep -q '^wick: ' "$file"; then
		problem "exit code $status, which is no refusal: $*; $(head -n 5 "$file")"
	fi
	return 1
}

compile() { # NAME FLAG…: a program of tests/workloads
	local name=$1
	shift
	"${CC:-gcc}" -g -O1 -fomit-frame-pointer "$@" -o "$name" "$sources/$name.c" || exit 1
}
# find_rustc: sets rustc to a compiler that works, or to nothing. That of rustup, first in the path, needs the user's home.
# shellcheck disable=SC2034 # used by who sources this
find_rustc() {
	for rustc in rustc /usr/bin/rustc; do
		"$rustc" --version >/dev/null 2>&1 && return
	done
	rustc=
}
# need_tool TOOL NAME: ends the test where a tool is missing
need_tool() {
	command -v "$1" >/dev/null && return
	skip "$2" "$1 is missing"
	done_testing
}

# Ends the test where the kernel refuses perf events.
need_recording() {
	need_tool "${CC:-gcc}" recordings
	compile loops
	can why "$wick" record -q -F 999 -o probe -- ./loops 0.05 && return
	skip "recordings" "$(head -n 1 why)"
	done_testing
}
done_testing() {
	if [[ -s $problems ]]; then
		check "the last commands did what they should" true
	fi
	echo "1..$number"
	exit 0
}

# count FOLDER PATTERN: samples of the stacks that match an extended regular expression
count() {
	[[ -f $1/out.folded ]] || problem "$1/out.folded was not written"
	grep -E -- "$2" "$1/out.folded" | awk '{ n += $NF } END { printf "%.0f\n", n }'
}
# silent_about PATTERN FOLDER FILE: something was recorded into the folder, and no line of the file matches
silent_about() {
	[[ -s $2/out.folded ]] && not grep -E -- "$1" "$3"
}
# until COMMAND…: tries for half a minute; when that does not help it is a problem
until_true() {
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.1
	done
	problem "waited 30 s in vain for: $*"
	return 1
}
# until_recorded FOLDER: waits until what is being recorded there has samples
until_recorded() {
	until_true "$wick" fold "$1"
}
# until_runs PID: waits until a process that was just started has used CPU time, so that it executes what it should
until_runs() {
	until_true has_run "$1"
}
has_run() {
	local fields
	read -ra fields <"/proc/$1/stat" && ((fields[13] + fields[14] > 0))
}
# until_asleep PID NAME THREADS: waits until a process executes the program NAME and all of its threads sleep
until_asleep() {
	until_true is_asleep "$@"
}
is_asleep() {
	[[ $(<"/proc/$1/comm") == "$2" && $(cat "/proc/$1"/task/*/status | grep -c '^State:[[:blank:]]*S') == "$3" ]]
}
# until_recording PID: waits until wick, as this process, has turned its events on and waits for them
until_recording() {
	until_true is_recording "$1"
}
is_recording() {
	[[ $(<"/proc/$1/wchan") == *@(ep_poll|epoll)* ]]
}
# absent NAME WHY: a tool that tests do without if it is not there, because Debian 12 has no package of it or a large
# one; in CI that is no failure
absent() {
	if [[ ${CI:-} == true ]]; then
		echo "# $1: $2"
	else
		skip "$1" "$2"
	fi
}

# --- chance: what is sampled fails a check by chance once in a million times ---

# share FOLDER PART WHOLE EXPECTED: the share of PART among WHOLE is EXPECTED, as far as so many samples can tell:
# within 5.5 standard errors of a binomial distribution. Chance alone exceeds 4.9 once in a million times; shares of
# repeated recordings were seen to spread by 0.8 to 1.1 standard errors, and there are some thirty such checks.
share() {
	local part whole
	part=$(count "$1" "$2") whole=$(count "$1" "$3")
	is_share "$part" "$whole" "$4"
}
is_share() { # PART WHOLE EXPECTED
	awk -v part="$1" -v whole="$2" -v p="$3" 'BEGIN {
		if (whole < 100) { printf "only %d samples\n", whole; exit 1 }
		error = sqrt(p * (1 - p) / whole)
		off = part / whole - p
		printf "%d of %d is %.4f; expected %.4f, standard error %.4f\n", part, whole, part / whole, p, error
		exit off > 5.5 * error || off < -5.5 * error
	}'
}
# seldom BAD ALL RATE [LEAST]: of ALL samples, LEAST (100) at least, each is bad with the probability RATE at most.
# False when so many bad ones would then be seen once in a million times.
seldom() {
	awk -v bad="$1" -v all="$2" -v p="$3" -v least="${4:-100}" 'BEGIN {
		# Probability of fewer than `bad`: the terms of the binomial distribution, one from the other.
		term = all * log(1 - p)
		for (i = 0; i < bad && i <= all; i++) {
			below += exp(term)
			term += log((all - i) / (i + 1) * p / (1 - p) + 1e-300)
		}
		printf "%d of %d are bad; at most %g of them should be\n", bad, all, p
		exit !(all >= least && 1 - below >= 1e-6)
	}'
}

thread_start='_start|clone3?|__clone3?|__GI___clone3?|[^;]*_fork[^;]*'
# whole FOLDER: the stacks reach the start of their thread, all but one of 500. At its end a thread has no memory of user
# space any more.
whole() {
	local all good begin="^[^;]*;(($thread_start)[; ]|entry_SYSCALL[^;]*;.*;do_exit[; ])"
	all=$(count "$1" '') good=$(count "$1" "$begin")
	grep -vE "$begin" "$1/out.folded" | head -n 3
	seldom $((all - good)) "$all" 0.002
}
# three_to_one NAME FOLDER COMMAND…: what the command records into the folder has the shares 3:1
three_to_one() {
	local name=$1 folder=$2
	shift 2
	exits 0 "$@"
	check "$name" share "$folder" ';three( |;)' ';(three|one)( |;)' 0.75
}
