#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Tests docs/metric-sets.md and README.md: their sets can be planned, and wrong ones get the messages shown; the JSON Schema
# accepts all good sets and refuses wrong ones.
. "${SOURCE:?}/tests/tap.sh"

document=$SOURCE/docs/metric-sets.md chips=

# Writes each block of yaml to N.yaml or N.wrong.yaml, and the text after a wrong one to N.wrong.text.
awk '
/^```yaml wrong$/ { file = ++n ".wrong.yaml"; next }
/^```yaml$/ { file = ++n ".yaml"; next }
/^```text$/ { file = n ".wrong.text"; next }
/^```$/ { file = ""; next }
file != "" { print > file }' "$document"
same 'blocks of yaml' "$([ "$(ls ./*.yaml | wc -l)" -ge 8 ] && echo enough)" enough
sed -n '/^```yaml$/,/^```$/p' "$SOURCE/README.md" | sed '/^```/d' >0.yaml
same 'the set of README.md' "$(sed -n 's/^name: //p' 0.yaml)" reads

if have_cupti 130000; then
	chips=yes
fi

section 'wrong sets'
# The second message and the rest are about a chip.
first() {
	awk '/^offpeak:/ && n++ { exit } { print }' "$1"
}
for file in *.wrong.yaml; do
	name=$(sed -n 's/^name: //p' "$file")
	cp "$file" "$name.yaml"
	run 4 sets --check "$name.yaml"
	first "$tmp/err" >got
	first "${file%.yaml}.text" >wanted
	equal got wanted
	if [ -n "$chips" ]; then
		equal err "${file%.yaml}.text"
	fi
done

section 'right sets'
if [ -n "$chips" ]; then
	for file in [0-9]*.yaml; do
		case $file in *.wrong.yaml) continue ;; esac
		run 0 sets --check "$file" --chip GH100,GB202
		same "$file: chips that are ok" "$(grep -c ',ok$' "$tmp/out")" 2
	done 2>/dev/null
	mkdir build
	works build --chip GH100 ./0.yaml -o build/reads.opk
	gives '[c["metric"] for c in j["columns"] if c["column"] == "read"] == ["dram__bytes_op_read.sum"]' plan --chip GB202 ./0.yaml
	name=$(grep -l '^name: levels' [0-9]*.yaml)
	shows l1tex__t_sectors.sum plan --chip GH100 "./$name" --param level=l1tex
	# The table on the page is what the command prints.
	cp "$(grep -l '^name: dram$' [0-9]*.yaml)" dram.yaml
	sed -n '/^    \$ offpeak sets --check .*dram/,/^$/p' "$document" | sed -n 's/^    //p' | sed 1d >table
	run 0 sets --check ./dram.yaml --chip GH100,GB202
	equal out table
else
	skip 'no libcupti of 13.0 or later: the examples are not planned'
fi

section 'the shipped sets'
for file in "$SOURCE"/data/sets/*.yaml; do
	name=${file##*/}
	grep -q "^| .*\`${name%.yaml}\`" "$document" || echo "$name"
done >unnamed
same 'sets that the table lacks' "$(cat unnamed)" ''

section 'the schema'
if ! python3 -c 'import jsonschema, yaml' 2>/dev/null; then
	skip 'no jsonschema or yaml for python3'
	finish
fi
cat >validate.py <<'END'
import json, sys, yaml
from jsonschema import Draft202012Validator
schema = json.load(open(sys.argv[1]))
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
for path in sys.argv[2:]:
    try:
        document = yaml.safe_load(open(path))
    except Exception as e:
        print(path, "no YAML")
        continue
    errors = list(validator.iter_errors(document))
    print(path.rsplit("/", 1)[-1], errors[0].message[:100] if errors else "valid")
END
schema=$SOURCE/docs/metric-set.schema.json
python3 validate.py "$schema" "$SOURCE"/data/sets/*.yaml "$SOURCE"/tests/files/good-*.yaml \
	"$SOURCE"/tests/files/parts/[!b]*.yaml $(ls [0-9]*.yaml | grep -v wrong) >valid 2>&1
same 'good sets that the schema refuses' "$(grep -v ' valid$' valid)" ''
same 'good sets' "$([ "$(wc -l <valid)" -gt 60 ] && echo enough)" enough
# Errors of form, which a schema can detect.
for name in unknown-key key-case no-name no-metrics metrics-empty metrics-map profiler profiler-list chips-text \
	chips-empty chip-twice version-zero version-text item-no-kind item-two-kinds item-key group-in-group \
	group-no-metrics any-empty else changes-map change-nothing change-key as-name constant-no-value constant-name \
	derived-key derived-none derived-list include-text include-twice parameter-list root-list root-text; do
	echo "$SOURCE/tests/files/bad-$name.yaml"
done >wrong
python3 validate.py "$schema" $(cat wrong) >invalid 2>&1
same 'bad sets that the schema accepts' "$(grep ' valid$' invalid)" ''
same 'bad sets' "$(wc -l <invalid)" "$(wc -l <wrong)"

section 'installation'
same 'docs/metric-set.schema.json in Makefile.am' "$(grep -c 'docs/metric-set.schema.json' "$SOURCE/Makefile.am")" 1
finish
