/* SPDX-License-Identifier: BSD-2-Clause */
/* Our subscription to CUPTI's callbacks. */
#include "collect/subscriber.h"

/* NULL: none, or given up. If several threads unsubscribe at once, only one does. */
static CUpti_SubscriberHandle subscriber;
static bool forgotten; /* by CUPTI, which may give the handle to the next subscriber */

static struct {
	/* Held while a thread unsubscribes, or looks; a signal may end the program meanwhile. */
	pthread_mutex_t lock;
	bool too_late;
} leaving = { .lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP };

static CUpti_SubscriberHandle handle(void)
{
	return __atomic_load_n(&subscriber, __ATOMIC_ACQUIRE);
}

/*
 * From CUPTI 13.2 on several libraries may subscribe, if all use this call and allow sharing.
 * Before that, names show who subscribed first, such as Nsight.
 */
static CUptiResult subscribe_by_name(CUpti_SubscriberHandle *to, CUpti_CallbackFunc callback,
                                     char other[SUBSCRIBER_NAME], bool share)
{
	struct subscriber_params params = {
		.size = share ? offsetof(struct subscriber_params, share) + 1
		              : offsetof(struct subscriber_params, share),
		.name = "offpeak-collect",
		.other = other,
		.other_size = SUBSCRIBER_NAME,
		.share = share,
	};

	return target.cuptiSubscribe_v2(to, callback, NULL, &params);
}

CUptiResult subscriber_take(CUpti_CallbackFunc callback, char other[SUBSCRIBER_NAME], bool share)
{
	bool shares = target.cupti_version >= CUPTI_13_2;
	CUptiResult status = CUPTI_ERROR_INVALID_PARAMETER;
	CUpti_SubscriberHandle ours = NULL;

	memset(other, 0, SUBSCRIBER_NAME);
	if (target.cuptiSubscribe_v2 && share && shares)
		status = subscribe_by_name(&ours, callback, other, true);
	if (target.cuptiSubscribe_v2 && status && (share || !shares))
		status = subscribe_by_name(&ours, callback, other, false);
	other[SUBSCRIBER_NAME - 1] = '\0';
	if (status == CUPTI_ERROR_INVALID_PARAMETER)
		status = target.cuptiSubscribe(&ours, callback, NULL);
	forgotten = false;
	__atomic_store_n(&subscriber, status ? NULL : ours, __ATOMIC_RELEASE);
	return status;
}

bool subscriber_enable(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	return target_check("cuptiEnableCallback",
	                    target.cuptiEnableCallback(true, handle(), domain, id));
}

void subscriber_leave(void)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&leaving.lock);
	CUpti_SubscriberHandle ours = NULL;
	CUptiResult status = CUPTI_SUCCESS;

	if (held && !leaving.too_late)
		ours = __atomic_exchange_n(&subscriber, NULL, __ATOMIC_ACQ_REL);
	if (ours && !forgotten)
		status = target.cuptiUnsubscribe(ours);
	/* After a cuptiFinalize() of the program CUPTI no longer knows the handle. */
	if (status != CUPTI_ERROR_INVALID_PARAMETER)
		target_check("cuptiUnsubscribe", status);
}

static bool is_lost(void)
{
	uint32_t enabled;

	return handle()
	       && (forgotten
	           || target.cuptiGetCallbackState(&enabled, handle(), CUPTI_CB_DOMAIN_RESOURCE,
	                                           CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
	                      == CUPTI_ERROR_INVALID_PARAMETER);
}

void subscriber_forget(void)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&leaving.lock);

	forgotten = handle() != NULL;
}

bool subscriber_stay(void)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&leaving.lock);
	bool first = !leaving.too_late;

	leaving.too_late = true;
	return held && first && is_lost();
}

/* What a thread gives up meanwhile is not lost. */
bool subscriber_lost(void)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&leaving.lock);

	return !leaving.too_late && is_lost();
}
