// Events beside those of payments: notifications about what is not ours.
import type { Subject } from '@paylog/domain/personalData'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import { providerEventStream, type StreamName } from '@paylog/event-store/streamName'
import type { Random } from './random.ts'

/** Events that are appended together. */
export type Appending = {
  readonly stream: StreamName
  /** Revision of the last event of the stream. */
  readonly after: bigint | 'no_stream'
  readonly events: readonly RecordedDomainEvent[]
  /** Whose personal data they hold. */
  readonly subject: Subject | null
}

/** The typical length of a payment notification. */
const bodyLength = 1_200

export function notification(moment: number, random: Random): Appending {
  const provider_event_id = `evt_${random.hex(24)}`
  const at = new Date(moment).toISOString()
  const facts = {
    provider_id: 'sandbox',
    provider_event_id,
    provider_type: 'payment_intent.succeeded',
    generic_type: 'payment.succeeded',
    provider_time: at,
    occurred_at: at,
  }
  const received: RecordedDomainEvent = {
    type: 'ProviderEventReceived',
    data: { ...facts, body: `{"object":"${'x'.repeat(bodyLength)}"}` },
  }
  const unmatched: RecordedDomainEvent = {
    type: 'ProviderEventUnmatched',
    data: {
      ...facts,
      object_id: `pi_${random.hex(24)}`,
      amount_cents: 1_200,
      currency: 'EUR',
      status: 'succeeded',
      customer_id: null,
      customer_email: null,
      subscription: null,
    },
  }
  return {
    stream: providerEventStream('sandbox', provider_event_id),
    after: 'no_stream',
    events: [received, unmatched],
    subject: null,
  }
}
