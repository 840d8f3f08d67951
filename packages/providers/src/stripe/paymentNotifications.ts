// What Stripe's events about payments say: a status, a refund, a dispute.
import { DomainError } from '@paylog/domain/errors'
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Statement } from '../provider.ts'
import { fromStripeAmount } from './amounts.ts'
import { amountIn, codeIn, currencyIn, emailIn, idIn, objectIn, type StripeObject } from './fields.ts'
import type { Details, Said } from './notificationKinds.ts'
import { evidenceOf, PaymentIntent } from './paymentIntent.ts'

const paymentIntent = Compile(PaymentIntent)
const uuid = Compile(Type.String({ format: 'uuid' }))

/**
 * An event about an intent. The type says what happened; the object is how it was then.
 * @throws DomainError `invalid_request`: a success over no amount could not be told from one over another amount
 */
export function intentDetails({ id, occurred_at, object }: Said, status: PaymentStatus): Partial<Details> {
  if (!paymentIntent.Check(object)) {
    const [first] = paymentIntent.Errors(object)
    throw new DomainError('invalid_request', `The event is not valid: ${first?.instancePath} ${first?.message}`)
  }
  const evidence = evidenceOf(object, status, { provider_event_id: id, provider_time: occurred_at })
  if (evidence === null) throw new DomainError('invalid_request', 'The event is not valid: the amount is a fraction')
  return {
    amount_cents: evidence.amount_cents,
    currency: evidence.currency,
    customer_email: emailIn(object.receipt_email),
    claimed_payment_id: claimIn(object),
    statement: { about: 'status', ...evidence },
  }
}

/** An intent that came into being: of ours there is nothing new in it, and of another system's it says what it is. */
export function mentionDetails(said: Said): Partial<Details> {
  const { statement, ...details } = intentDetails(said, 'pending')
  return statement ? { ...details, statement: mention(said, statement.provider_intent_id, null) } : details
}

export function chargeDetails(said: Said): Partial<Details> {
  const { object } = said
  return {
    ...moneyIn(object),
    claimed_payment_id: claimIn(object),
    statement: mention(said, idIn(object.payment_intent), idIn(object.id)),
  }
}

function mention(said: Said, provider_intent_id: string | null, provider_payment_id: string | null): Statement {
  const { id: provider_event_id, occurred_at: provider_time } = said
  return { about: 'mention', provider_time, provider_event_id, provider_intent_id, provider_payment_id }
}

/** `amount_refunded` is the sum of all refunds of the charge, so this one is what was added. */
export function refundDetails(said: Said): Partial<Details> {
  const { object, previous } = said
  const currency = currencyIn(object.currency)
  const [sum, before] = [amountIn(object.amount_refunded), amountIn(previous.amount_refunded)]
  const refunded_cents = sum === null || before === null || !currency ? null : fromStripeAmount(sum - before, currency)
  const [latest] = listIn(object.refunds)
  return {
    ...moneyIn(object),
    claimed_payment_id: claimIn(object),
    statement: statement(said, idIn(object.id), {
      about: 'refund',
      refund_id: idIn(latest),
      refunded_cents: refunded_cents !== null && refunded_cents >= 0 ? refunded_cents : null,
    }),
  }
}

export function disputeDetails(said: Said): Partial<Details> {
  const { object } = said
  const money = moneyIn(object)
  return {
    ...money,
    statement: statement(said, idIn(object.charge), {
      about: 'dispute',
      dispute_id: idIn(object.id),
      dispute_status: codeIn(object.status)?.toLowerCase() ?? 'unknown',
      disputed_cents: money.amount_cents,
    }),
  }
}

type About =
  | Pick<Extract<Statement, { about: 'refund' }>, 'about' | 'refund_id' | 'refunded_cents'>
  | Pick<Extract<Statement, { about: 'dispute' }>, 'about' | 'dispute_id' | 'dispute_status' | 'disputed_cents'>

function statement({ id, occurred_at, object }: Said, chargeId: string | null, about: About): Statement {
  return {
    ...about,
    provider_time: occurred_at,
    provider_event_id: id,
    provider_intent_id: idIn(object.payment_intent),
    provider_payment_id: chargeId,
  }
}

function moneyIn(object: StripeObject) {
  const [amount, currency] = [amountIn(object.amount), currencyIn(object.currency)]
  return { amount_cents: amount === null || currency === null ? null : fromStripeAmount(amount, currency), currency }
}

/** The payment that the object names as ours. Others write what they like under the same name. */
function claimIn(object: StripeObject): string | null {
  const { payment_id } = objectIn(object.metadata)
  return uuid.Check(payment_id) ? payment_id : null
}

function listIn(list: unknown): readonly unknown[] {
  const { data } = objectIn(list)
  return Array.isArray(data) ? data : []
}
