// The Stripe adapter, with what it asks Stripe about a notification: the object of a thin event, and whether a refund gave
// money back.
// https://docs.stripe.com/api https://docs.stripe.com/event-destinations#thin-events
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { createPace } from '../pacing.ts'
import type { Provider, ProviderNotification } from '../provider.ts'
import { nullIfRejected, unreadableResponse } from '../responses.ts'
import { readTimedSignature, verifyTimedSignature } from '../timedSignature.ts'
import { withTimeLimits } from '../timeLimit.ts'
import { checkCredentials, createStripeApi, type StripeApi } from './api.ts'
import { createCatalog } from './catalog.ts'
import { cancelIntent, captureAuthorized, createIntent, findIntents, findPaymentId, retrieveIntent } from './intents.ts'
import { createMethods, createSetupIntent } from './methods.ts'
import { readEvent, readNotification, snapshotTypeOf } from './notifications.ts'
import {
  checkStripeAmount,
  idIn,
  paymentIdIn,
  type Refund,
  RefundedCharge,
  refundsOfMoney,
  releasedOf,
} from './objects.ts'
import { allRefundsOf, refundCharge } from './refunds.ts'

const signatureHeader = 'stripe-signature'

/**
 * @param options `secretKey`: secret or restricted, live or test; `webhookSecrets`: for the notifications' signatures,
 *   several during a rotation; `apiBase`: an origin; `timeoutMs`: for all attempts of a call together; `maxPerSecond`:
 *   calls, 0 for no limit
 */
export function createStripe(options: {
  readonly secretKey: string
  readonly webhookSecrets: readonly string[]
  readonly apiBase: string
  readonly timeoutMs: number
  readonly maxPerSecond: number
}): Provider {
  const pace = createPace({ perSecond: options.maxPerSecond })
  const api = createStripeApi({ ...options, pace })
  const isTestKey = /^[sr]k_test_/.test(options.secretKey)
  return withTimeLimits(options.timeoutMs, {
    id: 'stripe',
    checkAmount: checkStripeAmount,
    isTestMethod: (paymentMethodId) => isTestKey && /^pm_card_\w+$/.test(paymentMethodId),
    newPaymentId: null,

    createIntent: async (request) => createIntent(api, request),
    retrieveIntent: ({ provider_intent_id }) => retrieveIntent(api, provider_intent_id),
    findIntents: (paymentId) => findIntents(api, paymentId),
    findPaymentId: (ids) => findPaymentId(api, ids),
    cancelIntent: (request) => cancelIntent(api, request),
    // Once the payer has confirmed, Stripe captures by itself, or authorizes.
    captureIntent: null,
    captureAuthorized: async (request) => captureAuthorized(api, request),
    refund: async (request) => refundCharge(api, request),
    pagesExpire: false,

    createSetupIntent: (request) => createSetupIntent(api, request),
    methods: withTimeLimits(options.timeoutMs, createMethods(api)),
    readTime: () => api.readTime(),
    checkCredentials: () => checkCredentials(api),
    catalog: createCatalog(api),

    checkNotificationHeaders: (notification) => void readTimedSignature(signatureHeader, notification),
    async verifyNotification(notification) {
      verifyTimedSignature(signatureHeader, options.webhookSecrets, notification)
    },
    readNotification,
    completeNotification: (notification) => completeNotification(api, notification),
    pausedMs: () => pace.pausedMs(),
    close: () => api.close(),
  })
}

const anyObject = Compile(Type.Record(Type.String(), Type.Unknown()))

/** Where the objects of events are, by the beginning of the snapshot event's type. The first match counts. */
const resources = [
  ['payment_intent.', 'paymentIntents'],
  ['charge.dispute.', 'disputes'],
  ['charge.refund.', 'refunds'],
  ['charge.', 'charges'],
  ['refund.', 'refunds'],
  ['payment_method.', 'paymentMethods'],
  ['customer.subscription.', 'subscriptions'],
  ['customer.', 'customers'],
  ['invoice.', 'invoices'],
] as const

/**
 * Fetches the object of a thin event, which is then read like the snapshot event about the same change. Its object has the
 * present state, which may be newer than the event; its status follows from the event type.
 * @returns the notification, unchanged when it lacks nothing or Stripe does not know the object
 * @throws ProviderError
 */
async function completeNotification(api: StripeApi, notification: ProviderNotification): Promise<ProviderNotification> {
  const type = snapshotTypeOf(notification.provider_type)
  if (type === null && !isForeignRefund(notification)) return notification
  const complete = async () => {
    const whole = type === null ? notification : await withObject(notification, type, api)
    return isForeignRefund(whole) ? await checkedRefund(whole, api) : whole
  }
  return (await complete().catch(nullIfRejected)) ?? notification
}

async function withObject(
  notification: ProviderNotification,
  snapshotType: string,
  api: StripeApi,
): Promise<ProviderNotification> {
  const { object_id, provider_event_id: id, provider_type: type, occurred_at } = notification
  const [, resource] = resources.find(([start]) => snapshotType.startsWith(start)) ?? []
  if (!resource || object_id === null || !/^\w+$/.test(object_id)) return notification
  const { body: object } = await api.request(anyObject, (stripe) => stripe[resource].retrieve(object_id))
  if (object.id !== object_id) throw unreadableResponse('another_object')
  return readEvent(snapshotType, { id, type, occurred_at, object, previous: {} }, { isOurAccount: true })
}

/** Whether it reports a refund that was not made here. */
function isForeignRefund({ report }: ProviderNotification): boolean {
  return report?.about === 'refund' && report.refund_id === null
}

const charge = Compile(RefundedCharge)

/**
 * A refund that was not made here may only release an authorization. Its charge shows that, and which payment it is of.
 */
async function checkedRefund(notification: ProviderNotification, api: StripeApi): Promise<ProviderNotification> {
  const { report } = notification
  if (report?.about !== 'refund' || report.provider_payment_id === null) return notification
  const { provider_payment_id, provider_refund_id, provider_time, provider_event_id } = report
  const { body: refunded } = await api.request(charge, (stripe) =>
    stripe.charges.retrieve(provider_payment_id, { expand: ['refunds'] }),
  )
  const isRelease = releasedOf(refunded) > 0 && (await isReleasedBy(refunded, provider_refund_id, api))
  const provider_intent_id = report.provider_intent_id ?? idIn(refunded.payment_intent)
  const source = { provider_time, provider_event_id, provider_intent_id, provider_payment_id }
  return {
    ...notification,
    referenced_payment_id: notification.referenced_payment_id ?? paymentIdIn(refunded),
    report: isRelease ? { about: 'object', ...source } : { ...report, provider_intent_id },
  }
}

async function isReleasedBy(
  refunded: RefundedCharge,
  provider_refund_id: string | null,
  api: StripeApi,
): Promise<boolean> {
  const refunds = await allRefundsOf(refunded, api)
  const isIn = (list: readonly Refund[]) => list.some(({ id }) => id === provider_refund_id)
  return isIn(refunds) && !isIn(refundsOfMoney(refunded, refunds))
}
