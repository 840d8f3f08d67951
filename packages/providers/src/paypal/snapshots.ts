// Reads orders with their authorizations, captures and refunds, and finds the payment that they belong to.

import type { PaymentStatus } from '@paylog/domain/payments/payment'
import type { StatusReport } from '@paylog/domain/payments/statusReports'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { instantAt } from '../lenient.ts'
import type { IntentSnapshot, ProviderIds, ReportedRefund } from '../provider.ts'
import type { ApiResponse } from '../providerApi.ts'
import { nullIfRejected, unreadableResponse } from '../responses.ts'
import { nullIfMissing, type PaypalApi } from './client.ts'
import {
  amountOf,
  Capture,
  captureFailure,
  captureReport,
  linkedAuthorization,
  linkedCapture,
  Money,
  orderIn,
  paymentIdIn,
  refundFailure,
  refundIdIn,
  refundStatuses,
  reportedMoney,
  statusIn,
  statusOfCapture,
} from './fields.ts'

const Authorization = Type.Object({ id: Code, status: Type.String(), amount: Money })
type Authorization = Static<typeof Authorization>

export const Refund = Type.Object({
  id: Code,
  status: Type.String(),
  amount: Type.Optional(Money),
  status_details: Type.Optional(Type.Object({ reason: Type.Optional(Code) })),
})
type Refund = Static<typeof Refund>

export const order = Compile(
  Type.Object({
    id: Code,
    status: Type.String(),
    purchase_units: Type.Array(
      Type.Object({
        amount: Type.Optional(Money),
        payments: Type.Optional(
          Type.Object({
            authorizations: Type.Optional(Type.Array(Authorization)),
            captures: Type.Optional(Type.Array(Capture)),
            refunds: Type.Optional(Type.Array(Refund)),
          }),
        ),
      }),
      { minItems: 1 },
    ),
  }),
)
type Order = ReturnType<typeof order.Parse>

type FoundOrder = { readonly order: Order; readonly snapshot: IntentSnapshot; readonly responded_at: string }

/**
 * The order's current state. `null` when PayPal does not know the order: unapproved orders expire after some hours.
 * That does not prove that it was never paid, because an order of another account is unknown in the same way.
 * @throws ProviderError
 */
export async function findOrder(api: PaypalApi, orderId: string): Promise<FoundOrder | null> {
  const found = await api.request(order, { method: 'GET', path: orderPath(orderId) }).catch(nullIfMissing)
  return found && foundOrder(found)
}

export function foundOrder({ body, responded_at }: ApiResponse<Order>): FoundOrder {
  return { order: body, snapshot: snapshotOf(body, responded_at), responded_at }
}

export const orderPath = (orderId: string) => `/v2/checkout/orders/${encodeURIComponent(orderId)}`

const orderStatuses: ReadonlyMap<string, PaymentStatus> = new Map([
  ['CREATED', 'pending'],
  ['SAVED', 'pending'],
  ['PAYER_ACTION_REQUIRED', 'pending'],
  ['APPROVED', 'processing'],
  // Without a completed or pending capture, all we know is that the payer has approved.
  ['COMPLETED', 'processing'],
  ['VOIDED', 'canceled'],
])

const authorizationStatuses: ReadonlyMap<string, PaymentStatus> = new Map([
  ['CREATED', 'processing'],
  ['PARTIALLY_CAPTURED', 'processing'],
  ['CAPTURED', 'processing'],
  ['PENDING', 'processing'],
  ['VOIDED', 'canceled'],
  ['EXPIRED', 'canceled'],
  ['DENIED', 'failed'],
])

/**
 * What the order says of its payment.
 * @param provider_time PayPal's time of the response
 * @throws ProviderError `unknown` when it is unreadable
 */
function snapshotOf(read: Order, provider_time: string): IntentSnapshot {
  const [capture, ...further] = capturesOf(read).filter((each) => statusOfCapture(each) === 'succeeded')
  const refunds = refundsOf(read, provider_time)
  const report: OwnReport = capture ? captureReport(capture) : unpaidReport(read)
  return {
    report: { ...report, provider_time, provider_event_id: null, provider_intent_id: read.id },
    further_charges: further.map((each) => ({
      provider_payment_id: each.id,
      ...amountOf(each.amount),
    })),
    awaits_capture: read.status === 'APPROVED' && report.provider_payment_id === null && !report.capturable_cents,
    ...(refunds.length > 0 && { refunds }),
  }
}

type OwnReport = Omit<StatusReport, 'provider_time' | 'provider_event_id' | 'provider_intent_id'>

/** The report in an order of which nothing is captured yet. */
function unpaidReport(read: Order): OwnReport {
  const captures = capturesOf(read)
  const authorized = authorizationsOf(read)
  const capturable_cents = openAuthorizations(read).reduce((sum, { open_cents }) => sum + open_cents, 0)
  const pending = captures.find(({ status }) => status === 'PENDING')
  if (pending) return { ...captureReport(pending), capturable_cents }
  const none = { provider_payment_id: null, ...amountOfOrder(read) }
  if (capturable_cents > 0) return { status: 'processing', ...none, capturable_cents }
  const lastFailed = read.status === 'COMPLETED' ? captures.at(-1) : undefined
  if (lastFailed) return captureReport(lastFailed)
  const authorization = authorized.at(-1)
  if (!authorization) return { status: statusIn(orderStatuses, read), ...none }
  const status = statusIn(authorizationStatuses, authorization)
  if (status === 'processing') return { status, ...none, capturable_cents }
  return { status, ...none, ...(status === 'failed' ? captureFailure('authorization_denied') : {}) }
}

function amountOfOrder(read: Order) {
  const amount = read.purchase_units[0]?.amount ?? authorizationsOf(read)[0]?.amount
  if (!amount) throw unreadableResponse('unreadable_answer')
  return amountOf(amount)
}

const paymentsOf = (read: Order) => read.purchase_units.flatMap(({ payments }) => payments ?? [])
const authorizationsOf = (read: Order) => paymentsOf(read).flatMap(({ authorizations }) => authorizations ?? [])

/** @returns the order's captures, the first first */
export const capturesOf = (read: Order): readonly Capture[] =>
  paymentsOf(read).flatMap(({ captures }) => captures ?? [])

type OpenAuthorization = { readonly id: string; readonly open_cents: number }

const openStatuses: ReadonlySet<string> = new Set(['CREATED', 'PARTIALLY_CAPTURED'])

/** The authorizations that can still be captured, and how much of each. */
export function openAuthorizations(read: Order): readonly OpenAuthorization[] {
  const captures = capturesOf(read).filter((capture) => statusOfCapture(capture) !== 'failed')
  return authorizationsOf(read)
    .filter(({ status }) => openStatuses.has(status))
    .map((authorization) => ({ id: authorization.id, open_cents: openCents(authorization, captures) }))
    .filter(({ open_cents }) => open_cents > 0)
}

/** The authorizations that hold, or may still come to hold, the payer's money. */
export function voidableAuthorizations(read: Order): readonly string[] {
  const voidable = authorizationsOf(read).filter(({ status }) => openStatuses.has(status) || status === 'PENDING')
  return voidable.map(({ id }) => id)
}

/** A final capture releases the rest. */
function openCents({ id, amount }: Authorization, captures: readonly Capture[]): number {
  const own = captures.filter((capture) => (linkedAuthorization(capture) ?? id) === id)
  if (own.some(({ final_capture }) => final_capture)) return 0
  return own.reduce((open, capture) => open - amountOf(capture.amount).amount_cents, amountOf(amount).amount_cents)
}

function refundsOf(read: Order, responded_at: string) {
  const refunds = paymentsOf(read).flatMap((payments) => payments.refunds ?? [])
  const captures = capturesOf(read)
  const provider_payment_id = captures.length === 1 ? (captures[0]?.id ?? null) : null
  return refunds.map((refund) =>
    reportedRefund(refund, { provider_intent_id: read.id, provider_payment_id, responded_at }),
  )
}

type RefundContext = {
  readonly provider_intent_id: string
  /** The capture, for when the refund does not link to it. */
  readonly provider_payment_id: string | null
  readonly responded_at: string
}

/**
 * Reads a refund in a response.
 * @throws ProviderError `unknown` for an unknown status
 */
export function reportedRefund(refund: Refund, context: RefundContext): ReportedRefund {
  const status = statusIn(refundStatuses, refund)
  return {
    provider_time: instantAt(refund, 'update_time') ?? instantAt(refund, 'create_time') ?? context.responded_at,
    provider_event_id: null,
    provider_intent_id: context.provider_intent_id,
    provider_payment_id: linkedCapture(refund) ?? context.provider_payment_id,
    refund_id: refundIdIn(refund),
    provider_refund_id: refund.id,
    ...(refund.amount ? reportedMoney(refund.amount) : { amount_cents: null, currency: null }),
    status,
    ...(status === 'failed' && { failure_code: refundFailure(refund.status, refund.status_details?.reason) }),
  }
}

const withId = Compile(Type.Object({ id: Code }))

/** Ids of another form are not sent: the object of a generic event may have any id. */
const idForm = /^[A-Za-z0-9-]{1,36}$/

/**
 * Finds the payment of a notification that does not name it: the order names it. Without an order id, the capture names
 * the payment or its order.
 * @throws ProviderError
 */
export async function findPaymentId(
  api: PaypalApi,
  { provider_intent_id, provider_payment_id }: ProviderIds,
): Promise<string | null> {
  /** `null` for an id that PayPal does not know. */
  async function read(path: string, id: string | null): Promise<unknown> {
    if (id === null || !idForm.test(id)) return null
    const found = await api.request(withId, { method: 'GET', path: `${path}/${id}` }).catch(nullIfRejected)
    if (found && found.body.id !== id) throw unreadableResponse('another_object')
    return found?.body ?? null
  }

  const capture = provider_intent_id === null ? await read('/v2/payments/captures', provider_payment_id) : null
  return paymentIdIn(capture) ?? paymentIdIn(await read('/v2/checkout/orders', provider_intent_id ?? orderIn(capture)))
}
