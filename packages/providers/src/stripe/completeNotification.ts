// Completes notifications: the object of a thin event, and whether a refund gave money back.
// https://docs.stripe.com/event-destinations#thin-events
import type Stripe from 'stripe'
import { Compile } from 'typebox/compile'
import type { ProviderNotification } from '../provider.ts'
import { checkResponse, nullIfRejected, unreadableResponse } from '../responses.ts'
import type { StripeApi, TimeLeft } from './api.ts'
import { idIn, objectIn, paymentIdIn } from './fields.ts'
import { readEvent, snapshotTypeOf } from './notifications.ts'
import { type Refund, RefundedCharge, refundsOfMoney, releasedOf } from './refundObject.ts'
import { allRefundsOf } from './refunds.ts'

type Retrieve = (stripe: Stripe, id: string, options: ReturnType<TimeLeft>) => Promise<unknown>

const retrieveRefund: Retrieve = (stripe, id, options) => stripe.refunds.retrieve(id, {}, options)

/** How the objects of events are read, by the beginning of the snapshot event's type. The first match counts. */
const resources: readonly (readonly [string, Retrieve])[] = [
  ['payment_intent.', (stripe, id, options) => stripe.paymentIntents.retrieve(id, {}, options)],
  ['charge.dispute.', (stripe, id, options) => stripe.disputes.retrieve(id, {}, options)],
  ['charge.refund.', retrieveRefund],
  ['charge.', (stripe, id, options) => stripe.charges.retrieve(id, {}, options)],
  ['refund.', retrieveRefund],
  ['payment_method.', (stripe, id, options) => stripe.paymentMethods.retrieve(id, {}, options)],
  ['customer.subscription.', (stripe, id, options) => stripe.subscriptions.retrieve(id, {}, options)],
  ['customer.', (stripe, id, options) => stripe.customers.retrieve(id, {}, options)],
  ['invoice.', (stripe, id, options) => stripe.invoices.retrieve(id, {}, options)],
]

/**
 * Fetches the object of a thin event, which is then read like the snapshot event about the same change. Its object has the
 * present state, which may be newer than the event; its status follows from the event type.
 * @returns the notification, unchanged when it lacks nothing or Stripe does not know the object
 * @throws ProviderError
 */
export async function completeNotification(
  api: StripeApi,
  notification: ProviderNotification,
): Promise<ProviderNotification> {
  const type = snapshotTypeOf(notification.provider_type)
  if (type === null && !isForeignRefund(notification)) return notification
  const completed = await api
    .call(async (stripe, timeLeft) => {
      const whole = type === null ? notification : await withObject(notification, type, stripe, timeLeft)
      return isForeignRefund(whole) ? await checkedRefund(whole, stripe, timeLeft) : whole
    })
    .catch(nullIfRejected)
  return completed ?? notification
}

async function withObject(
  notification: ProviderNotification,
  snapshotType: string,
  stripe: Stripe,
  timeLeft: TimeLeft,
): Promise<ProviderNotification> {
  const { object_id, provider_event_id: id, provider_type: type, occurred_at } = notification
  const [, retrieve] = resources.find(([start]) => snapshotType.startsWith(start)) ?? []
  if (!retrieve || object_id === null || !/^\w+$/.test(object_id)) return notification
  const found = objectIn(await retrieve(stripe, object_id, timeLeft()))
  if (found.id !== object_id) throw unreadableResponse('another_object')
  return readEvent(snapshotType, { id, type, occurred_at, object: found, previous: {} }, { isOurAccount: true })
}

/** Whether it reports a refund that was not made here. */
function isForeignRefund({ report }: ProviderNotification): boolean {
  return report?.about === 'refund' && report.refund_id === null
}

const charge = Compile(RefundedCharge)

/**
 * A refund that was not made here may only release an authorization. Its charge shows that, and which payment it is of.
 */
async function checkedRefund(
  notification: ProviderNotification,
  stripe: Stripe,
  timeLeft: TimeLeft,
): Promise<ProviderNotification> {
  const { report } = notification
  if (report?.about !== 'refund' || report.provider_payment_id === null) return notification
  const { provider_payment_id, provider_refund_id, provider_time, provider_event_id } = report
  const options = { expand: ['refunds'] }
  const refunded = checkResponse(charge, await stripe.charges.retrieve(provider_payment_id, options, timeLeft()))
  const isRelease = releasedOf(refunded) > 0 && (await isReleasedBy(refunded, provider_refund_id, stripe, timeLeft))
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
  stripe: Stripe,
  timeLeft: TimeLeft,
): Promise<boolean> {
  const refunds = await allRefundsOf(refunded, stripe, timeLeft)
  const isIn = (list: readonly Refund[]) => list.some(({ id }) => id === provider_refund_id)
  return isIn(refunds) && !isIn(refundsOfMoney(refunded, refunds))
}
