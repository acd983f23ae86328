#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# docs/examples compile against the installed library, through pkg-config, as strict C and C++, and print what the
# command prints. make check-long runs them all, in both languages, and links them as docs/library.md says.
# shellcheck disable=SC2086 # several words in one variable
. "${SOURCE:?}/tests/tap.sh"

command -v pkg-config >/dev/null || skip_all 'no pkg-config'
[ -f "$BUILD/.libs/liboffpeak.so" ] || skip_all "no shared library at $BUILD/.libs"
have_cupti || skip_all 'there is no libcupti'

warnings='-Wall -Wextra -Wshadow -pedantic -Werror'
sanitizers=
if nm -D "$BUILD/.libs/liboffpeak.so" 2>/dev/null | grep -q __asan_init; then
	sanitizers=-fsanitize=address,undefined
fi
unset MAKEFLAGS MFLAGS MAKELEVEL
parts='install-includeHEADERS install-pkgconfig install-libLTLIBRARIES'
is_long && parts=install
pass "make $parts" make -s -C "$BUILD" DESTDIR="$tmp/root" $parts
package=$(find "$tmp/root" -name liboffpeak.pc)
same 'liboffpeak.pc is installed' "$(echo "$package" | wc -w)" 1
PKG_CONFIG_PATH=${package%/*} PKG_CONFIG_SYSROOT_DIR=$tmp/root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
pass 'pkg-config finds the library' pkg-config --exists liboffpeak
flags=$(pkg-config --cflags liboffpeak) libraries=$(pkg-config --libs liboffpeak)
LD_LIBRARY_PATH=${package%/pkgconfig/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
names=$(for file in "$SOURCE"/docs/examples/*.c; do basename "$file" .c; done)
same 'examples' "$(echo "$names" | wc -w)" 7

# build FOLDER COMPILER...: all examples, each into $tmp/FOLDER.
build() {
	folder=$tmp/$1
	shift
	mkdir "$folder"
	for name in $names; do
		pass "$* $name.c" "$@" $warnings $flags $sanitizers -o "$folder/$name" "$SOURCE/docs/examples/$name.c" -x none $libraries
	done
}

# example FOLDER NAME ARGUMENTS...: it succeeds, and says nothing on stderr.
example() {
	last="docs/examples/$2"
	tap_program=$tmp/$1/$2
	shift 2
	tap_code=0
	"$tap_program" "$@" >"$tmp/out" 2>"$tmp/err" || tap_code=$?
	same "$last $*" "$tap_code $(head -n 5 "$tmp/err")" '0 '
}

metrics='dram__bytes.sum sm__cycles_elapsed.max gpu__time_duration.sum'

# written FOLDER: the recording that write makes has the values of the one that its image is of.
written() {
	sum=$(echo "$metrics" | tr ' ' ,)
	works eval "$simple" --metrics "$sum" --columns "$sum" --format csv
	cp "$tmp/out" "$tmp/wanted"
	example "$1" eval "$simple" $metrics
	same 'values that eval prints' "$(cat "$tmp/out")" "$(cat "$tmp/wanted")"
	works extract "$simple" --data "$tmp/image"
	example "$1" write "$simple" "$tmp/image" "$tmp/written.opk" one two three four five
	works verify "$tmp/written.opk"
	example "$1" eval "$tmp/written.opk" $metrics
	same 'values of what write wrote' "$(cat "$tmp/out")" "$(cat "$tmp/wanted")"
	example "$1" eval "$tmp/written.opk" range kernel
	same 'kernels of what write wrote' "$(paste -s -d ' ' "$tmp/out")" 'range,kernel 0,"one" 1,"two" 2,"three" 3,"four" 4,"five"'
}

# others FOLDER: the rest of them.
others() {
	works chips --format csv
	sed 1d "$tmp/out" | cut -d , -f 1 >"$tmp/wanted"
	example "$1" chips
	same 'chips' "$(cut -d ' ' -f 1 "$tmp/out")" "$(cat "$tmp/wanted")"
	out_has '^GH100 +Hopper +compute 9.0 +[0-9]{4} metrics, PM sampling$'
	works build --chip GH100 dram__bytes.sum,sm__cycles_elapsed.max -o "$tmp/wanted.opk"
	example "$1" build GH100 dram__bytes.sum,sm__cycles_elapsed.max "$tmp/built.opk"
	out_has '^custom on GH100: metrics 2, passes 1$'
	equal "$tmp/built.opk" "$tmp/wanted.opk"
	example "$1" arrow "$simple" "$simple"
	out_has '^gpu__time_duration.sum: g$' '^a batch of 10 rows$'
	example "$1" diff "$recordings/gh100-before.opk" "$recordings/gh100-after.opk" 'duration>500%'
	out_has '^kept: duration>500%: '
	example "$1" names GH100 'dram__bytes_r*'
	out_has '^dram__bytes_read  *counter '
	last='docs/examples/diff'
	"$tmp/$1/diff" "$recordings/gh100-before.opk" "$recordings/gh100-after.opk" 'duration>5%' >"$tmp/out" 2>"$tmp/err"
	same 'exit code for a broken rule' $? 1
	out_has '^broken: duration>5%: '
	last='docs/examples/eval'
	"$tmp/$1/eval" "$simple" dram__byte.sum >"$tmp/out" 2>"$tmp/err"
	same 'exit code for an unknown metric' $? 2
	err_has "dram__byte.sum"
}

# block FILE: the code block of docs/library.md below <!-- FILE -->.
block() {
	sed -n "/^<!-- $1 -->/,/^\`\`\`\$/p" "$SOURCE/docs/library.md" | sed '1,2d; $d'
}

# linked TOOL FILE COMMAND...: a project of chips.c and that file, which the commands build in $tmp/TOOL/out.
linked() {
	command -v "$1" >/dev/null || {
		skip "no $1"
		return
	}
	mkdir "$tmp/$1"
	cp "$SOURCE/docs/examples/chips.c" "$tmp/$1/chips.c"
	block "$2" >"$tmp/$1/$2"
	pass "$1 configures" sh -c "cd '$tmp/$1' && $3"
	pass "$1 builds" sh -c "cd '$tmp/$1' && $4"
	example "$1/out" chips
	out_has '^GH100 '
}

# What else is installed: the manual pages of functions and types. tests/install.sh has the rest.
if is_long; then
	same 'installed pages' "$(cd "$tmp/root" && find . -path '*/man3/*' | sed 's,.*/,,' | grep -cx 'opk_table_new\.3\|opk-tables\.3\|liboffpeak\.3')" 3
fi

have_cxx=no
if ${CXX:-c++} --version >/dev/null 2>&1; then
	have_cxx=yes
fi
# Two of them are linked, and all are compiled.
if ! is_long; then
	names='eval write'
	pass 'examples in C99' ${CC:-cc} -std=c99 $warnings $flags -fsyntax-only "$SOURCE"/docs/examples/*.c
	[ $have_cxx = no ] || pass 'examples in C++17' ${CXX:-c++} -std=c++17 $warnings $flags -fsyntax-only -x c++ "$SOURCE"/docs/examples/*.c
fi
build c ${CC:-cc} -std=c99
written c
is_long || finish
others c
for standard in c++11 c++17 c++20; do
	[ $have_cxx = yes ] || break
	build $standard ${CXX:-c++} -std=$standard -x c++
	written $standard
	others $standard
done
[ -n "$sanitizers" ] && finish
linked cmake CMakeLists.txt 'cmake -S . -B out' 'cmake --build out'
linked meson meson.build 'meson setup out' 'ninja -C out'
finish
