/* SPDX-License-Identifier: BSD-2-Clause */
#include "fake_nv.h"
