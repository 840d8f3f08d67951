// Commands that open a payment and record the outcome of the calls that create its intent at the provider.
import { DomainError } from '../errors.ts'
import { type AmountParts, type Amounts, isCurrency, resolveAmounts } from '../money.ts'
import type { IntentRejection, PaymentEvent, PaymentInitiated } from './events.ts'
import { existingPayment, factsOf, isAbsorbing, noSecrets, type Payment, type PaymentState } from './payment.ts'

export type InitiatePayment = Omit<
  PaymentInitiated['data'],
  'amount_cents' | 'total_cents' | 'subtotal_cents' | 'tax_cents' | 'discount_cents' | 'project_id'
> &
  AmountParts

/**
 * The price of a payment: the currency in upper case, and all parts of the amount.
 * @throws DomainError `invalid_request` for a currency that does not exist or a total below 1, `amount_inconsistent`
 */
export function priceOf(parts: AmountParts & { readonly currency: string }): Amounts & { readonly currency: string } {
  const currency = parts.currency.toUpperCase()
  if (!isCurrency(currency)) throw invalidField('currency', 'is not an ISO 4217 currency code')
  const amounts = resolveAmounts(parts)
  if (amounts.total_cents < 1) throw invalidField('total_cents', 'must be at least 1')
  return { ...amounts, currency }
}

/** Opens a payment. @throws the errors of `priceOf` */
export function initiatePayment(command: InitiatePayment, state: PaymentState): PaymentEvent[] {
  if (state.status !== 'none') return []
  const price = priceOf(command)
  const project = command.metadata?.project_id
  return [
    {
      type: 'PaymentInitiated',
      data: {
        ...command,
        ...price,
        amount_cents: price.total_cents,
        project_id: typeof project === 'string' && project !== '' ? project : null,
      },
    },
  ]
}

function invalidField(field: string, message: string): DomainError {
  return new DomainError('invalid_request', `${field} ${message}`, { fields: [{ field, message }] })
}

/** Starts another create call, allowed when the last one had no effect. The process that records it makes the call. */
export function startAttempt(command: { readonly occurred_at: string }, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  const { intent_outcome: outcome } = payment
  if (payment.status !== 'failed' || outcome.kind !== 'rejected' || outcome.refusal !== 'provider_unavailable')
    return []
  const attempt = payment.attempt + 1
  return [{ type: 'PaymentAttemptStarted', data: { ...factsOf(payment, command.occurred_at), attempt } }]
}

/** Starts a create call for another intent, because the page of the unpaid one has expired. */
export function replaceIntent(command: { readonly occurred_at: string }, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  const isPayable = payment.status === 'pending' || payment.status === 'failed'
  if (!isPayable || payment.intent_outcome.kind !== 'created' || payment.requested !== null) return []
  const attempt = payment.attempt + 1
  return [{ type: 'PaymentAttemptStarted', data: { ...factsOf(payment, command.occurred_at), attempt } }]
}

type CallResult = { readonly occurred_at: string; readonly attempt: number }

/**
 * Records that the provider created the intent; a repeated response adds nothing. Reopens a payment that failed because
 * another process concluded that this call had no effect.
 */
export function recordIntentCreated(
  command: CallResult & {
    readonly provider_intent_id: string
    readonly client_secret: string | null
    readonly redirect_url?: string | null
  },
  state: PaymentState,
): PaymentEvent[] {
  const payment = existingPayment(state)
  if (payment.intent_outcome.kind === 'created') return []
  const { occurred_at, provider_intent_id, attempt } = command
  const { client_secret, redirect_url } = isAbsorbing(payment.status) ? noSecrets : command
  return [
    ...reopened(command, payment),
    {
      type: 'ProviderIntentCreated',
      data: {
        ...factsOf(payment, occurred_at),
        provider_intent_id,
        client_secret,
        redirect_url: redirect_url ?? null,
        attempt,
      },
    },
  ]
}

/**
 * Records that the call may or may not have reached the provider. Reopens a payment that failed because another call of the
 * same attempt had no effect: this one may have had one.
 */
export function recordOutcomeUnknown(
  command: CallResult & { readonly reason: string },
  state: PaymentState,
): PaymentEvent[] {
  const payment = existingPayment(state)
  if (isFinalOutcome(payment) || payment.intent_outcome.kind === 'unknown') return []
  const { occurred_at, attempt, reason } = command
  return [
    ...reopened(command, payment),
    { type: 'ProviderOutcomeUnknown', data: { ...factsOf(payment, occurred_at), attempt, reason } },
  ]
}

/** Records that the provider throttled the call. Another call of the same attempt may still have had an effect. */
export function recordCallThrottled(
  { occurred_at, attempt, reason }: CallResult & { readonly reason: string },
  state: PaymentState,
): PaymentEvent[] {
  const payment = existingPayment(state)
  if (payment.intent_outcome.kind !== 'open') return []
  return [{ type: 'ProviderCallThrottled', data: { ...factsOf(payment, occurred_at), attempt, reason } }]
}

/**
 * Records that the provider rejected the call or was never reached. The latter adds nothing when another call of the same
 * attempt was rejected, or its outcome is unknown.
 */
export function recordIntentRejected(
  command: CallResult & { readonly refusal: IntentRejection; readonly code: string; readonly message: string },
  state: PaymentState,
): PaymentEvent[] {
  const payment = existingPayment(state)
  if (isFinalOutcome(payment) || isAbsorbing(payment.status)) return []
  if (command.refusal === 'provider_unavailable' && payment.intent_outcome.kind !== 'open') return []
  return [
    {
      type: 'PaymentAttemptFailed',
      data: {
        ...factsOf(payment, command.occurred_at),
        provider_time: command.occurred_at,
        provider_event_id: null,
        provider_payment_id: null,
        failure_code: command.code,
        failure_message: command.message,
        refusal: command.refusal,
      },
    },
  ]
}

/** Whether the provider itself reported the outcome. It returns the same outcome for the same idempotency key. */
function isFinalOutcome({ intent_outcome: outcome }: Payment): boolean {
  return outcome.kind === 'created' || (outcome.kind === 'rejected' && outcome.refusal !== 'provider_unavailable')
}

/** Reopens a payment that failed only because its create call did. A failure that the provider reported stays. */
function reopened({ occurred_at, attempt }: CallResult, payment: Payment): PaymentEvent[] {
  const isFailedByCall =
    payment.status === 'failed' && payment.intent_outcome.kind === 'rejected' && payment.failures === 0
  return isFailedByCall ? [{ type: 'PaymentAttemptStarted', data: { ...factsOf(payment, occurred_at), attempt } }] : []
}
