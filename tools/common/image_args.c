/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/image_args.h"

struct opk_image_options image_options(const struct image_args *args, const char *what)
{
	struct opk_image_options options = OPK_INIT(options);

	options.timeout_s = args->timeout > 86400 ? 86400 : (unsigned)args->timeout;
	options.progress = app_progress;
	options.progress_data = (void *)what;
	return options;
}
