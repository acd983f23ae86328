# SPDX-License-Identifier: BSD-2-Clause
# Completion for fish: source this, or let make install put it into share/fish/vendor_completions.d.
# What there is to choose from, the command itself says: a line for each, with a blank after what is whole.

function __offpeak_complete
	set -l given
	set -l word (commandline -ct | string replace -r '^["\']' '')
	for before in (commandline -opc)
		if string match -qr -- '^--.*=' $before
			set -a given (string split -m 1 = -- $before)[1] = (string split -m 1 = -- $before)[2]
		else
			set -a given $before
		end
	end
	# fish wants whole words back.
	set -l option ''
	if string match -qr -- '^--.*=' $word
		set option (string split -m 1 = -- $word)[1]=
		set -a given (string split -m 1 = -- $word)[1] =
		set word (string split -m 1 = -- $word)[2]
	end
	set -l offers ($given[1] --complete (count $given) $given "$word" 2>/dev/null)
	set -l files $status
	for offer in $offers
		printf '%s%s\n' $option (string trim -r -- $offer)
	end
	if test $files = 0 -a -z "$offers"
		__fish_complete_path $option$word
	end
end

complete -c offpeak -f -a '(__offpeak_complete)'
complete -c offpeak-collect -f -a '(__offpeak_complete)'
