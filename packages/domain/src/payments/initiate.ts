// Commands that initiate a payment, start the calls that create its intent at the provider, and record the intent.
import { invalidFields } from '../errors.ts'
import { type AmountParts, type Amounts, isCurrency, resolveAmounts } from '../money.ts'
import type { PaymentEvent, PaymentInitiated } from './events.ts'
import {
  existingPayment,
  factsOf,
  isAbsorbing,
  noSecrets,
  openRequestOf,
  type Payment,
  type PaymentState,
} from './payment.ts'

/** With its price, which `priceOf` computes. */
export type InitiatePayment = Omit<PaymentInitiated['data'], 'amount_cents' | 'project_id'>

/**
 * The price of a payment: the currency in upper case, and all parts of the amount.
 * @throws DomainError `invalid_request` for a currency that does not exist or a total below 1, `amount_inconsistent`
 */
export function priceOf(parts: AmountParts & { readonly currency: string }): Amounts & { readonly currency: string } {
  const currency = parts.currency.toUpperCase()
  if (!isCurrency(currency)) throw invalidFields([{ field: 'currency', message: 'is not an ISO 4217 currency code' }])
  const amounts = resolveAmounts(parts)
  if (amounts.total_cents < 1) throw invalidFields([{ field: 'total_cents', message: 'must be at least 1' }])
  return { ...amounts, currency }
}

/** Initiates a payment, unless there is one with this id. */
export function recordInitiation(command: InitiatePayment, state: PaymentState): PaymentEvent[] {
  if (state.status !== 'none') return []
  const project = command.metadata?.project_id
  const project_id = typeof project === 'string' && project !== '' ? project : null
  return [{ type: 'PaymentInitiated', data: { ...command, amount_cents: command.total_cents, project_id } }]
}

/** Starts another create call, allowed when the last one had no effect. The process that records it makes the call. */
export function startAttempt(command: { readonly occurred_at: string }, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  const { rejection } = payment.create
  if (payment.status !== 'failed' || rejection?.code !== 'provider_unavailable') return []
  return [nextAttempt(payment, command)]
}

/** Starts a create call for another intent, because the page of the unpaid one has expired. */
export function replaceIntent(command: { readonly occurred_at: string }, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  const isPayable = payment.status === 'pending' || payment.status === 'failed'
  if (!isPayable || payment.create.outcome !== 'done' || openRequestOf(payment)) return []
  return [nextAttempt(payment, command)]
}

const nextAttempt = (payment: Payment, { occurred_at }: { readonly occurred_at: string }) =>
  attemptStarted(payment, { occurred_at, attempt: payment.create.attempt + 1 })

const attemptStarted = (payment: Payment, { occurred_at, attempt }: CallResult): PaymentEvent => ({
  type: 'PaymentAttemptStarted',
  data: { ...factsOf(payment, occurred_at), attempt },
})

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
  if (payment.create.outcome === 'done') return []
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

/** Reopens a payment that failed only because its create call did. A failure that the provider reported stays. */
export function reopened(result: CallResult, payment: Payment): PaymentEvent[] {
  const isFailedByCall = payment.status === 'failed' && payment.create.outcome === 'rejected' && payment.failures === 0
  return isFailedByCall ? [attemptStarted(payment, result)] : []
}
