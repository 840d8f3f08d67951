// Events beside those of payments: provider notifications and intent owners.
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import { providerEventStream, providerIntentStream, type StreamName } from '@paylog/event-store/streamName'
import type { Random } from './random.ts'

/** Events that are appended together. */
export type Appending = {
  readonly stream: StreamName
  /** Revision of the last event of the stream. */
  readonly after: bigint | 'no_stream'
  readonly events: readonly RecordedDomainEvent[]
}

/** The typical length of a payment notification. */
const bodyLength = 1_200

export function ownedIntent(payment_id: string, random: Random): Appending {
  const provider_intent_id = `pi_${random.hex(24)}`
  const owned: RecordedDomainEvent = {
    type: 'ProviderIntentOwned',
    data: { payment_id, provider_id: 'sandbox', provider_intent_id },
  }
  return { stream: providerIntentStream('sandbox', provider_intent_id), after: 'no_stream', events: [owned] }
}

export function notificationOf(payment_id: string, moment: number, random: Random): Appending {
  const provider_event_id = `evt_${random.hex(24)}`
  const at = new Date(moment).toISOString()
  const facts = {
    provider_id: 'sandbox',
    provider_event_id,
    provider_type: 'payment_intent.succeeded',
    generic_type: 'payment.succeeded',
    occurred_at: at,
  }
  const received: RecordedDomainEvent = {
    type: 'ProviderEventReceived',
    data: { ...facts, received_at: at, body: `{"object":"${'x'.repeat(bodyLength)}"}` },
  }
  const applied: RecordedDomainEvent = {
    type: 'ProviderEventApplied',
    data: {
      ...facts,
      object_id: `pi_${random.hex(24)}`,
      amount_cents: 1_200,
      currency: 'EUR',
      status: 'succeeded',
      payment_id,
      payer: { id: null, type: 'guest', email: null },
      project_id: null,
    },
  }
  return {
    stream: providerEventStream('sandbox', provider_event_id),
    after: 'no_stream',
    events: [received, applied],
  }
}
