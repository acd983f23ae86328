#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# offpeak.h alone compiles in strict C and in C++, also when included twice, and its functions
# have C names in C++.
. "${SOURCE:?}/tests/tap.sh"

# In C++ a function hides a struct of its name: -Wshadow says so.
warnings='-pedantic -Wall -Wextra -Wshadow -Werror'
printf '#include "offpeak.h"\n' >"$tmp/once.c"
printf '#include "offpeak.h"\n#include "offpeak.h"\n' >"$tmp/twice.c"
cat >"$tmp/use.c" <<'C'
#include "offpeak.h"
int use(const char *path);
int use(const char *path)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_ctx *ctx;
	struct opk_file *file;

	if (opk_ctx_new(&ctx, &options) || opk_file_open(&file, ctx, path))
		return 1;
	opk_file_free(file);
	opk_ctx_free(ctx);
	return 0;
}
C
cp "$tmp/use.c" "$tmp/init.cc"
printf '#include "offpeak.h"\nconst char *use() { return opk_version(); }\n' >"$tmp/use.cc"
cp "$tmp/once.c" "$tmp/once.cc"
cp "$tmp/twice.c" "$tmp/twice.cc"

# compile COMPILER STANDARD FILE: $warnings is several arguments, and so may be the compiler.
compile() {
	# shellcheck disable=SC2086
	pass "$3 as $2" $1 -std="$2" $warnings -I "$SOURCE/lib" -c "$tmp/$3" -o "$tmp/$3.o"
}

for standard in c99 c11 gnu11; do
	for file in once.c twice.c use.c; do
		compile "${CC:-cc}" "$standard" "$file"
	done
done

# CXX may name a compiler that configure did not find.
if ${CXX:-c++} --version >/dev/null 2>&1; then
	for standard in c++11 c++17; do
		for file in once.cc twice.cc use.cc init.cc; do
			compile "${CXX:-c++}" "$standard" "$file"
		done
	done
	if command -v nm >/dev/null; then
		same 'name of opk_version() in C++' \
			"$(nm "$tmp/use.cc.o" | awk '$1 == "U" && /opk_version/ { print $2 }')" opk_version
	fi
else
	skip 'no C++ compiler'
fi

# The header's version is the library's, as a text and as a number.
version=$(sed -n 's/^#define OPK_VERSION_M[A-Z]* \([0-9]*\)$/\1/p; s/^#define OPK_VERSION_PATCH \([0-9]*\)$/\1/p' "$SOURCE/lib/offpeak.h" | paste -s -d .)
run 0 --version
same 'version in offpeak.h' "$(tr -d '\n' <"$tmp/out" | sed 's/.* //')" "$version"
finish
