/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake's one subscriber, and the names of its statuses. */
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/fake_cupti.h"

enum { MAX_ID = 1024 };

struct CUpti_Subscriber_st {
	CUpti_CallbackFunc callback;
	void *data;
	bool wanted[CUPTI_CB_DOMAIN_SIZE][MAX_ID];
};

static struct CUpti_Subscriber_st only;
static CUpti_SubscriberHandle subscriber; /* NULL: nobody */

static const char *const domains[CUPTI_CB_DOMAIN_SIZE] = {
	"invalid", "driver", "runtime", "resource", "synchronize", "nvtx", "state",
};

void callbacks_emit(int domain, uint32_t id, const void *data)
{
	CUpti_SubscriberHandle who = __atomic_load_n(&subscriber, __ATOMIC_ACQUIRE);

	if (who && id < MAX_ID && who->wanted[domain][id])
		who->callback(who->data, (CUpti_CallbackDomain)domain, id, data);
}

static int subscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *data)
{
	if (!out || !callback)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (subscriber || fake_number("FAKE_GPU_OTHER_PROFILER", 0))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	cupti_driver();
	memset(&only, 0, sizeof only);
	only.callback = callback;
	only.data = data;
	*out = &only;
	__atomic_store_n(&subscriber, &only, __ATOMIC_RELEASE);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *data)
{
	return FAKE_CALL(CUptiResult, subscribe(out, callback, data), "%s", "");
}

static int check(CUpti_SubscriberHandle who)
{
	return who && who == subscriber ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static int unsubscribe(CUpti_SubscriberHandle who)
{
	if (check(who))
		return CUPTI_ERROR_INVALID_PARAMETER;
	__atomic_store_n(&subscriber, NULL, __ATOMIC_RELEASE);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle who)
{
	return FAKE_CALL(CUptiResult, unsubscribe(who), "%s", "");
}

static bool valid_domain(CUpti_CallbackDomain domain)
{
	return domain > CUPTI_CB_DOMAIN_INVALID && domain < CUPTI_CB_DOMAIN_SIZE;
}

static int enable(CUpti_SubscriberHandle who, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                  bool on)
{
	if (check(who) || !valid_domain(domain) || id >= MAX_ID)
		return CUPTI_ERROR_INVALID_PARAMETER;
	who->wanted[domain][id] = on;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle who,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	return FAKE_CALL(CUptiResult, enable(who, domain, id, on), "%u %s %u", on,
	                 valid_domain(domain) ? domains[domain] : "?", id);
}

static int enable_domain(CUpti_SubscriberHandle who, CUpti_CallbackDomain domain, bool on)
{
	if (check(who) || !valid_domain(domain))
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (CUpti_CallbackId id = 0; id < MAX_ID; id++)
		who->wanted[domain][id] = on;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t on, CUpti_SubscriberHandle who, CUpti_CallbackDomain domain)
{
	return FAKE_CALL(CUptiResult, enable_domain(who, domain, on), "%u %s", on,
	                 valid_domain(domain) ? domains[domain] : "?");
}

#define NAME(status)                                                                               \
	{                                                                                          \
		status, #status                                                                    \
	}
static const struct {
	CUptiResult status;
	const char *name;
} names[] = {
	NAME(CUPTI_SUCCESS),
	NAME(CUPTI_ERROR_INVALID_PARAMETER),
	NAME(CUPTI_ERROR_INVALID_DEVICE),
	NAME(CUPTI_ERROR_INVALID_CONTEXT),
	NAME(CUPTI_ERROR_INVALID_OPERATION),
	NAME(CUPTI_ERROR_OUT_OF_MEMORY),
	NAME(CUPTI_ERROR_HARDWARE),
	NAME(CUPTI_ERROR_NOT_INITIALIZED),
	NAME(CUPTI_ERROR_INVALID_STREAM),
	NAME(CUPTI_ERROR_HARDWARE_BUSY),
	NAME(CUPTI_ERROR_NOT_SUPPORTED),
	NAME(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES),
	NAME(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED),
	NAME(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES),
	NAME(CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED),
	NAME(CUPTI_ERROR_INVALID_CHIP_NAME),
	NAME(CUPTI_ERROR_UNKNOWN),
};

CUptiResult cuptiGetResultString(CUptiResult status, const char **text)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (names[i].status == status) {
			*text = names[i].name;
			return CUPTI_SUCCESS;
		}
	}
	return CUPTI_ERROR_INVALID_PARAMETER;
}
