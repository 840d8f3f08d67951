// Opening a payment, and recording how the call that creates its intent at the provider ended.
import { DomainError } from '../errors.ts'
import { type AmountParts, isCurrency, resolveAmounts } from '../money.ts'
import type { PaymentEvent, PaymentInitiated } from './events.ts'
import type { Payment, PaymentState } from './payment.ts'
import { isAbsorbing } from './status.ts'

export type InitiatePayment = Omit<
  PaymentInitiated['data'],
  'amount_cents' | 'total_cents' | 'subtotal_cents' | 'tax_cents' | 'discount_cents' | 'project_id'
> &
  AmountParts

/**
 * Opens a payment.
 * @throws DomainError `invalid_request` for a currency that does not exist or a total below 1, `amount_inconsistent`.
 */
export function initiatePayment(command: InitiatePayment, state: PaymentState): PaymentEvent[] {
  if (state.status !== 'none') return []
  const currency = command.currency.toUpperCase()
  if (!isCurrency(currency)) throw refusedField('currency', 'is not an ISO 4217 currency code')
  const amounts = resolveAmounts(command)
  if (amounts.total_cents < 1) throw refusedField('total_cents', 'must be at least 1')
  const project = command.metadata.project_id
  return [
    {
      type: 'PaymentInitiated',
      data: {
        ...command,
        ...amounts,
        amount_cents: amounts.total_cents,
        currency,
        project_id: typeof project === 'string' && project !== '' ? project : null,
      },
    },
  ]
}

function refusedField(field: string, message: string): DomainError {
  return new DomainError('invalid_request', `${field} ${message}`, { fields: [{ field, message }] })
}

/** What every event of a payment repeats about it. */
export function factsOf(payment: Payment, occurred_at: string) {
  const { payment_id, provider_id, total_cents: amount_cents, currency, payer, project_id } = payment
  return { payment_id, occurred_at, provider_id, amount_cents, currency, payer, project_id }
}

/** A payment that must be there, because its stream was read under its own id. */
export function existing(state: PaymentState): Payment {
  if (state.status === 'none') throw new DomainError('not_found', 'No payment with this id')
  return state
}

type CallResult = { readonly occurred_at: string; readonly attempt: number }

/** The provider created the intent. A second answer to the same question adds nothing. */
export function recordIntentCreated(
  command: CallResult & { readonly provider_intent_id: string; readonly client_secret: string | null },
  state: PaymentState,
): PaymentEvent[] {
  const payment = existing(state)
  if (payment.intent_outcome.kind === 'created') return []
  return [{ type: 'ProviderIntentCreated', data: { ...factsOf(payment, command.occurred_at), ...pick(command) } }]
}

const pick = ({ provider_intent_id, client_secret, attempt }: Parameters<typeof recordIntentCreated>[0]) => ({
  provider_intent_id,
  client_secret,
  attempt,
})

/** The call may or may not have reached the provider: the payment stays as it is until the truth is known. */
export function recordOutcomeUnknown(
  command: CallResult & { readonly reason: string },
  state: PaymentState,
): PaymentEvent[] {
  const payment = existing(state)
  const { kind } = payment.intent_outcome
  if (kind === 'created' || kind === 'unknown') return []
  const { occurred_at, attempt, reason } = command
  return [{ type: 'ProviderOutcomeUnknown', data: { ...factsOf(payment, occurred_at), attempt, reason } }]
}

/** The provider refused the call, or was surely never reached. */
export function recordIntentRefused(
  command: CallResult & { readonly code: string; readonly message: string; readonly retryable: boolean },
  state: PaymentState,
): PaymentEvent[] {
  const payment = existing(state)
  if (payment.intent_outcome.kind === 'created' || isAbsorbing(payment.status)) return []
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
        retryable: command.retryable,
      },
    },
  ]
}
