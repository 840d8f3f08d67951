// Reads an order with its authorizations, captures and refunds.
import type { Evidence } from '@paylog/domain/payments/evidence'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import type { IntentSnapshot } from '../provider.ts'
import { unreadableResponse } from '../responses.ts'
import {
  amountOf,
  Capture,
  captureEvidence,
  captureFailure,
  linkedAuthorization,
  Money,
  statusIn,
  statusOfCapture,
} from './fields.ts'
import { Refund, reportedRefund } from './refunds.ts'

const Authorization = Type.Object({ id: Code, status: Type.String(), amount: Money })
type Authorization = Static<typeof Authorization>

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
export type Order = ReturnType<typeof order.Parse>

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
export function snapshotOf(read: Order, provider_time: string): IntentSnapshot {
  const [capture, ...further] = capturesOf(read).filter((each) => statusOfCapture(each) === 'succeeded')
  const refunds = refundsOf(read, provider_time)
  const evidence: OwnEvidence = capture ? captureEvidence(capture) : unpaidEvidence(read)
  return {
    evidence: { ...evidence, provider_time, provider_event_id: null, provider_intent_id: read.id },
    further_charges: further.map((each) => ({
      provider_payment_id: each.id,
      amount_cents: captureEvidence(each).amount_cents,
    })),
    awaits_capture: read.status === 'APPROVED' && evidence.provider_payment_id === null && !evidence.capturable_cents,
    ...(refunds.length > 0 && { refunds }),
  }
}

type OwnEvidence = Omit<Evidence, 'provider_time' | 'provider_event_id' | 'provider_intent_id'>

/** The evidence in an order of which nothing is captured yet. */
function unpaidEvidence(read: Order): OwnEvidence {
  const captures = capturesOf(read)
  const authorized = authorizationsOf(read)
  const capturable_cents = openAuthorizations(read).reduce((sum, { open_cents }) => sum + open_cents, 0)
  const pending = captures.find(({ status }) => status === 'PENDING')
  if (pending) return { ...captureEvidence(pending), capturable_cents }
  const none = { provider_payment_id: null, ...amountOfOrder(read) }
  if (capturable_cents > 0) return { status: 'processing', ...none, capturable_cents }
  const lastFailed = read.status === 'COMPLETED' ? captures.at(-1) : undefined
  if (lastFailed) return captureEvidence(lastFailed)
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

export type OpenAuthorization = { readonly id: string; readonly open_cents: number }

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
