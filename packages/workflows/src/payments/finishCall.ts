// Finishes a create call that a crash or a lost answer left open.
import { recordIntentCreated } from '@paylog/domain/payments/initiate'
import { existingPayment, type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import type { PaymentStatus } from '@paylog/domain/payments/status'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { ProviderContext } from './askProvider.ts'
import { callProvider, isInFlight, recordIntentOwner } from './providerCall.ts'

/** PayPal keeps a key for six hours, Stripe for a day; later the same key would make another intent. */
const keyLifetimeMs = 5 * 60 * 60 * 1000

/**
 * Makes the payment's open call again, with its key. When that answers nothing, or the key is too old to mean anything,
 * the provider is searched for an intent that names the payment, and that one is taken.
 * @returns the payment as it is then; it is as it was when its call is not open, or its first caller may still be at it
 * @throws ProviderError when the search is not answered
 */
export async function finishCall(
  context: ProviderContext,
  known: LoadedState<PaymentState>,
): Promise<LoadedState<PaymentState>> {
  const { workflow, metadata } = context
  const payment = existingPayment(known.state)
  const { kind } = payment.intent_outcome
  if (kind === 'created' || kind === 'refused' || isInFlight(workflow, payment)) return known
  const isKeyOld = workflow.now().getTime() - Date.parse(payment.attempt_started_at) > keyLifetimeMs
  const adopted = isKeyOld ? await adoptFoundIntent(context, known) : known
  if (existingPayment(adopted.state).intent_outcome.kind === 'created') return adopted
  // A throttled call did nothing, so that this is as good as the first one.
  const call = kind === 'throttled' ? 'first' : 'repeated'
  const called = await callProvider(workflow, adopted, { metadata, call })
  return existingPayment(called.state).intent_outcome.kind === 'unknown' ? adoptFoundIntent(context, called) : called
}

/** An intent that may be paid already comes before one that is still open. */
const intentPreference: Readonly<Record<PaymentStatus, number>> = {
  succeeded: 0,
  processing: 1,
  pending: 2,
  failed: 3,
  canceled: 4,
}

async function adoptFoundIntent(
  { workflow, provider, metadata }: ProviderContext,
  known: LoadedState<PaymentState>,
): Promise<LoadedState<PaymentState>> {
  const payment = existingPayment(known.state)
  const found = (await provider.findIntents?.(payment.payment_id)) ?? []
  const [best] = found.toSorted((a, b) => intentPreference[a.status] - intentPreference[b.status])
  if (!best) return known
  const { provider_intent_id, client_secret } = best
  const { attempt } = payment
  await recordIntentOwner(workflow, payment, provider_intent_id, metadata)
  const handled = await workflow.store.handle({
    stream: paymentStream(payment.payment_id),
    fold: paymentFold,
    decide: (state) =>
      recordIntentCreated(
        { occurred_at: workflow.now().toISOString(), attempt, provider_intent_id, client_secret },
        state,
      ),
    metadata,
    known,
  })
  const kept = existingPayment(handled.state).provider_intent_id
  // Nobody was told of the others, and nobody shall be able to pay them as well.
  for (const other of found)
    if (other.provider_intent_id !== kept && isPayable(other.status))
      await provider.cancelIntent?.(other.provider_intent_id)
  return handled
}

const isPayable = (status: PaymentStatus) => status === 'pending' || status === 'failed'
