// Opening a payment: record the intention, ask the provider, record the answer. The provider is called between two
// decisions and never inside one, so that a crash at any point leaves a record from which the call can be finished.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/messages'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import {
  existing,
  type InitiatePayment,
  initiatePayment,
  recordIntentCreated,
  recordIntentRefused,
  recordOutcomeUnknown,
} from '@paylog/domain/payments/initiate'
import { type Payment, type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import { intentOwnerFold } from '@paylog/domain/provider-events/events'
import type { LogPosition } from '@paylog/event-store/codec'
import { type Handled, type Loaded, newStream } from '@paylog/event-store/eventStore'
import { paymentStream, providerIntentStream } from '@paylog/event-store/streamName'
import { type Provider, ProviderError, type ProviderIntent } from '@paylog/providers/provider'
import type { Workflow } from './context.ts'

export type OpenedPayment = {
  readonly payment: Payment
  readonly revision: bigint
  /** Of the payment's last event. */
  readonly position: LogPosition
  /** True when an earlier request with the same key had opened it already. */
  readonly replayed: boolean
  /** Why the provider did not create the intent; the payment is on record all the same. */
  readonly refusal: DomainError | undefined
}

export type OpenPayment = { readonly command: InitiatePayment; readonly metadata: EventMetadata }

/**
 * A create call that another request began may still be under way for this long: the provider's time limit and the
 * appends around it.
 */
const inFlightMs = 20_000

/**
 * Opens the payment that the command describes, or finds the one that the same Idempotency-Key opened before.
 * @throws DomainError `provider_not_enabled`, `idempotency_key_reused`, `idempotency_key_in_flight`,
 *   `event_store_unavailable`, and the refusals of `initiatePayment`
 */
export async function openPayment(workflow: Workflow, { command, metadata }: OpenPayment): Promise<OpenedPayment> {
  const provider = enabledProvider(workflow, command.provider_id)
  const initiated = await workflow.store.handle<PaymentState, PaymentEvent>({
    stream: paymentStream(command.payment_id),
    fold: paymentFold,
    decide: (state) => initiatePayment(command, state),
    metadata,
    known: newStream(paymentFold),
  })
  const payment = existing(initiated.state)
  if (initiated.events.length > 0) return createIntent(workflow, provider, initiated, payment.attempt, metadata)
  if (payment.request_fingerprint !== command.request_fingerprint)
    throw new DomainError('idempotency_key_reused', 'This Idempotency-Key was used with another request')
  return repeated(workflow, provider, initiated, metadata)
}

/** @throws DomainError `provider_not_enabled` */
export function enabledProvider({ providers }: Workflow, id: string): Provider {
  const provider = providers.get(id)
  if (provider) return provider
  throw new DomainError('provider_not_enabled', 'This provider is unknown or not enabled', {
    enabled: [...providers.keys()],
  })
}

/** What a second request with the same key gets, depending on how the first one's call ended. */
async function repeated(
  workflow: Workflow,
  provider: Provider,
  found: Handled<PaymentState, PaymentEvent>,
  metadata: EventMetadata,
): Promise<OpenedPayment> {
  const payment = existing(found.state)
  const outcome = payment.intent_outcome
  switch (outcome.kind) {
    case 'unknown':
      return opened(found, { replayed: true })
    case 'created':
      return { ...opened(found, { replayed: true }), payment: await asFirstAnswered(workflow, payment.payment_id) }
    case 'refused':
      if (outcome.retryable) return createIntent(workflow, provider, found, payment.attempt + 1, metadata)
      return opened(found, { replayed: true, refusal: refusalOf(payment) })
    case 'open':
      if (workflow.now().getTime() - Date.parse(payment.created_at) < inFlightMs)
        throw new DomainError('idempotency_key_in_flight', 'The first request with this key is still being worked on', {
          payment_id: payment.payment_id,
        })
      return createIntent(workflow, provider, found, payment.attempt, metadata)
  }
}

/** The payment as it was when its first request was answered. */
async function asFirstAnswered({ store }: Workflow, paymentId: string): Promise<Payment> {
  const { state } = await store.load<PaymentState, PaymentEvent>(
    paymentStream(paymentId),
    paymentFold,
    'ProviderIntentCreated',
  )
  return existing(state)
}

async function createIntent(
  workflow: Workflow,
  provider: Provider,
  found: Loaded<PaymentState>,
  attempt: number,
  metadata: EventMetadata,
): Promise<OpenedPayment> {
  const payment = existing(found.state)
  const record = recorder(workflow, found, metadata)
  try {
    const intent = await provider.createIntent({
      payment_id: payment.payment_id,
      idempotency_key: attempt === 1 ? payment.payment_id : `${payment.payment_id}-${attempt}`,
      amount_cents: payment.total_cents,
      currency: payment.currency,
      description: payment.description ?? payment.concept,
      payment_method_id: payment.payment_method_id,
    })
    await ownIntent(workflow, payment, intent, metadata)
    return opened(
      await record((state, occurred_at) => recordIntentCreated({ occurred_at, attempt, ...intent }, state)),
      { replayed: false },
    )
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const { kind, code, message } = error
    const handled = await record((state, occurred_at) =>
      kind === 'unknown'
        ? recordOutcomeUnknown({ occurred_at, attempt, reason: code }, state)
        : recordIntentRefused(
            { occurred_at, attempt, code: refusalCode[kind], message, retryable: kind === 'unavailable' },
            state,
          ),
    )
    return opened(handled, { replayed: false, refusal: refusalOf(existing(handled.state)) })
  }
}

/**
 * Points from the intent to the payment. Recorded before the payment learns of its intent: when the provider reports
 * on an intent, its payment is then always found.
 */
async function ownIntent({ store }: Workflow, payment: Payment, intent: ProviderIntent, metadata: EventMetadata) {
  const { payment_id, provider_id } = payment
  const { provider_intent_id } = intent
  await store.handle({
    stream: providerIntentStream(provider_id, provider_intent_id),
    fold: intentOwnerFold,
    decide: (owner) =>
      owner === null
        ? [{ type: 'ProviderIntentOwned' as const, data: { payment_id, provider_id, provider_intent_id } }]
        : [],
    metadata,
    known: newStream(intentOwnerFold),
  })
}

function recorder({ store, now }: Workflow, known: Loaded<PaymentState>, metadata: EventMetadata) {
  const { payment_id } = existing(known.state)
  return (decide: (state: PaymentState, occurred_at: string) => PaymentEvent[]) =>
    store.handle<PaymentState, PaymentEvent>({
      stream: paymentStream(payment_id),
      fold: paymentFold,
      decide: (state) => decide(state, now().toISOString()),
      metadata,
      known,
    })
}

const refusalCode = {
  declined: 'payment_declined',
  rejected: 'provider_rejected',
  unavailable: 'provider_unavailable',
} as const

/** What the caller is told when the provider created no intent, or when nobody knows; nothing when it did. */
function refusalOf(payment: Payment): DomainError | undefined {
  const outcome = payment.intent_outcome
  const details = { payment_id: payment.payment_id }
  if (outcome.kind === 'unknown')
    return new DomainError(
      'provider_outcome_unknown',
      'The provider did not answer; the outcome is being found out',
      details,
    )
  if (outcome.kind !== 'refused') return undefined
  const code = Object.values(refusalCode).find((each) => each === outcome.code) ?? 'provider_rejected'
  return new DomainError(code, outcome.message, details)
}

function opened(
  handled: Handled<PaymentState, PaymentEvent>,
  how: { readonly replayed: boolean; readonly refusal?: DomainError | undefined },
): OpenedPayment {
  const { state, revision, position } = handled
  if (revision === 'no_stream' || !position) throw new Error('A payment without events')
  return { payment: existing(state), revision, position, replayed: how.replayed, refusal: how.refusal }
}
