# shellcheck shell=bash
# shellcheck disable=SC2154 # dir, src, wick and others are set by bench/run
# shellcheck disable=SC2034 # which also uses what is set here
# The groups on perf.data and on symbols; bench/run reads this file. They measure the way from a recording to a
# picture beside the programs that people use for it today.

units=${BENCH_UNITS:-12}
limit=${BENCH_LIMIT:-200}
hotspot=${HOTSPOT_PERFPARSER:-/usr/lib/x86_64-linux-gnu/libexec/hotspot-perfparser}
symbolize=${wick%/*}/bench/symbolize
cxx=${CXX:-g++}

find_data_peers() {
	if ! perf --version >/dev/null 2>&1; then
		missing[perf]=1 missing[perf-inline]=1
	fi
	[[ -x $hotspot ]] || missing[hotspot]=1
	command -v samply >/dev/null || missing[samply]=1
	[[ -x $symbolize ]] || missing[symbolize]=1
	command -v llvm-symbolizer >/dev/null || missing[llvm]=1
	command -v addr2line >/dev/null || missing[binutils]=1
}

# --- the program that is recorded --------------------------------------------

# Sets program (words of a command) and binary. Without BENCH_PROGRAM it is big.cpp, compiled once for every unit: with
# debug information and frame pointers, so that one program serves both ways of recording.
find_program() {
	local folder=$dir/big

	program=() binary=''
	if [[ -n ${BENCH_PROGRAM:-} ]]; then
		# shellcheck disable=SC2206 # words of a command
		program=($BENCH_PROGRAM)
		binary=$(realpath "$(command -v "${program[0]}")")
		return
	fi
	command -v "$cxx" >/dev/null || return 1
	binary=$folder/big-$units
	if [[ ! $binary -nt $src/big.cpp ]]; then
		printf 'compiling %s units of big.cpp, which takes minutes\n' "$units" >&2
		rm -rf "$folder"
		mkdir -p "$folder"
		seq 0 "$units" | xargs -P "$cpus" -I '{}' "$cxx" -std=c++17 -O2 -g -fno-omit-frame-pointer \
			-DUNIT='{}' -c -o "$folder/{}.o" "$src/big.cpp" 2>>"$log" || return 1
		"$cxx" -o "$binary" "$folder"/*.o 2>>"$log" || return 1
		rm -f "$folder"/*.o
	fi
}

# record_data NAME SECONDS PERF-OPTION...: $dir/data/NAME.data, made anew when the program is newer. SECONDS of CPU are
# what big gets; a program of BENCH_PROGRAM's runs as long as it does.
record_data() {
	local file=$dir/data/$1.data seconds=$2 run

	shift 2
	[[ ! $file -nt $binary ]] || return 0
	run=("${program[@]}")
	((${#run[@]} > 0)) || run=("$binary" "$seconds")
	mkdir -p "$dir/data"
	printf 'recording %s\n' "${file#"$top"/}" >&2
	# cpu-clock is there on every machine
	if ! perf record -q -e cpu-clock -o "$file.tmp" "$@" -- "${run[@]}" >/dev/null 2>>"$log" </dev/null &&
		[[ ! -s $file.tmp ]]; then
		return 1
	fi
	mv "$file.tmp" "$file"
}

# --- are the answers the same ------------------------------------------------

# As many samples in the picture as perf finds. What the stacks look like is compared by tests/conformance/perfdata.
check_data() {
	local row samples='' found

	for row in "${!names[@]}"; do
		if [[ ${kinds[row]} == perf && -z ${failed[row]:-} ]]; then
			samples=$(grep -c 'cpu-clock' "$out/$row.out" || true)
		fi
	done
	for row in "${!names[@]}"; do
		if [[ -n ${failed[row]:-} ]]; then
			mark_wrong "$row" "exit status ${failed[row]}"
			continue
		fi
		case ${kinds[row]} in
		wick)
			found=$(grep -o '<title>all ([0-9,]* samples' "$out/$row.out" | head -n 1 | tr -dc 0-9 || true)
			if [[ -n $samples && $found != "$samples" ]]; then
				mark_wrong "$row" "$found SAMPLES, NOT $samples"
			else
				verdict[row]="$found samples"
			fi
			;;
		perf) verdict[row]="$samples samples" ;;
		perf-inline)
			found=$(grep -c 'cpu-clock' "$out/$row.out" || true)
			verdict[row]="${stopped[row]:+stopped after $limit s: }$found samples"
			;;
		samply) verdict[row]='resolves no names' ;;
		*) verdict[row]='not compared' ;;
		esac
	done
}

check_report() {
	local row

	for row in "${!names[@]}"; do
		if [[ -n ${failed[row]:-} ]]; then
			mark_wrong "$row" "exit status ${failed[row]}"
		else
			verdict[row]="$(wc -c <"$out/$row.out") bytes"
		fi
	done
}

# Function chains, one a line. Constructors and destructors have several names for one piece of code.
chains() {
	awk 'BEGIN { RS = ""; FS = "\n" } { s = ""; for (i = 1; i < NF; i += 2) s = s ";" $i; print s }' |
		sed -E 's/([CD])[0-9]E/\1E/g'
}

check_symbols() {
	local row same

	same='not compared'
	if [[ -z ${missing[llvm]:-} && -z ${missing[symbolize]:-} ]]; then
		"$symbolize" --raw "$binary" <"$addresses" | chains >"$out/wick.chains"
		llvm-symbolizer --no-demangle --obj="$binary" <"$addresses" | chains >"$out/llvm.chains"
		same=$(paste -d '\n' "$out/wick.chains" "$out/llvm.chains" |
			awk 'NR % 2 { a = $0; next } { n++; same += a == $0 }
				END { printf "%.2f %% of the chains are llvm-symbolizer'\''s", 100 * same / n }')
	fi
	for row in "${!names[@]}"; do
		if [[ -n ${failed[row]:-} ]]; then
			mark_wrong "$row" "exit status ${failed[row]}"
		elif [[ ${kinds[row]} == symbolize ]]; then
			verdict[row]=$same
		fi
	done
}

# --- the groups --------------------------------------------------------------

# All programs that make something of a recording. perf with inlined functions takes minutes: it runs once, at most
# BENCH_LIMIT seconds.
data_rows() {
	local file=$1

	add wick 'wick flame' "$wick" flame --no-cache --count samples "$file" -o @OUT@
	add samply 'samply import' samply import --save-only -o @OUT@ "$file"
	add perf 'perf script --no-inline' env DEBUGINFOD_URLS= perf script --no-inline -i "$file"
	add hotspot hotspot-perfparser "$hotspot" --input "$file" --output @OUT@
	add perf-inline 'perf script' env DEBUGINFOD_URLS= timeout "$limit" perf script -i "$file"
}

# data_group NAME LABEL SECONDS PERF-OPTION...
data_group() {
	local name=$1 label=$2 seconds=$3 file=$dir/data/$1.data

	names=() kinds=() commands=() pin=()
	group=data-$name
	wanted || return 0
	shift 3
	if [[ -n ${missing[perf]:-} ]] || ! find_program || ! record_data "$name" "$seconds" "$@"; then
		say "$group skipped: nothing could be recorded, $log says why"
		return
	fi
	data_rows "$file"
	measure_group "$label $(($(stat -c %s "$file") / 1000000)) MB" "$file" check_data
}

# More than 2 GB, for wick alone: only when asked for by name
data_large_group() {
	local file=$dir/data/large.data

	names=() kinds=() commands=() pin=()
	group=data-large
	((${#only[@]} > 0)) && wanted || return 0
	if [[ -n ${missing[perf]:-} ]] || ! find_program ||
		! record_data large 4 -F 9999 --call-graph dwarf,65528 -m 64M; then
		say "$group skipped: nothing could be recorded, $log says why"
		return
	fi
	add wick 'wick flame' "$wick" flame --no-cache "$file" -o @OUT@
	add report 'wick report' "$wick" report --no-cache "$file"
	measure_group "large $(($(stat -c %s "$file") / 1000000)) MB" "$file" check_report
	rm -f "$file"
}

symbols_group() {
	# shellcheck disable=SC2016
	local ask='exec "$@" <"$0"'

	names=() kinds=() commands=() pin=(taskset -c "$cpu")
	group=symbols
	wanted || return 0
	if [[ -n ${missing[symbolize]:-} ]] || ! find_program; then
		say "$group skipped: no $symbolize (run make bench), or nothing to look at"
		return
	fi
	addresses=$dir/addresses.txt
	"$symbolize" --pick 10000 "$binary" >"$addresses"
	add symbolize 'wick (src/symbol)' sh -c "$ask" "$addresses" "$symbolize" "$binary"
	add llvm llvm-symbolizer sh -c "$ask" "$addresses" llvm-symbolizer --obj="$binary"
	add binutils 'addr2line -i -f -C' sh -c "$ask" "$addresses" addr2line -i -f -C -e "$binary"
	if [[ -n ${GIMLI_ADDR2LINE:-} ]]; then
		add gimli "gimli's addr2line" sh -c "$ask" "$addresses" "$GIMLI_ADDR2LINE" -i -f -C -e "$binary"
	fi
	measure_group '10,000 addresses' "$binary" check_symbols
}

data_groups() {
	data_group dwarf dwarf 8 -F 9999 --call-graph dwarf,16384 -m 32M
	data_group fp fp 24 -F 19999 -g -m 8M
	data_large_group
	symbols_group
}
