// Room: projector, tests only. Commands that keep coming while something else is tested.
import type { DomainEvent, Fold } from '@paylog/domain/messages'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { recordEvidence } from '@paylog/domain/payments/evidence'
import { paymentFold } from '@paylog/domain/payments/payment'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { EventStore } from '@paylog/event-store/eventStore'
import { addressStream, paymentMethodStream, paymentStream, productStream } from '@paylog/event-store/streamName'
import { createTestLog, open, user } from '@paylog/projections/testEvents'
import { keepAddress, offer, ofUser, saveMethod } from '@paylog/projections/testResources'

const metadata = { correlationId: 'c', causationId: 'c', actor: 'worker' }
const streamOf = { PaymentMethod: paymentMethodStream, Address: addressStream, Product: productStream }

/** Folds nothing: what is appended has been decided. */
const fold: Fold<null, RecordedDomainEvent> = { initialState: null, evolve: (state) => state }

/** One payment of u1, or something else, from its beginning to its end. */
async function happen(store: EventStore, turn: number): Promise<void> {
  const log = createTestLog()
  if (turn % 4 === 3) {
    saveMethod(log, ofUser('u1'))
    keepAddress(log, ofUser('u1'))
    offer(log)
    for (const { id, revision: _, position: __, ...event } of log.events) {
      const stream = Object.entries(streamOf).find(([name]) => event.type.startsWith(name))?.[1]
      if (stream) await store.handle({ stream: stream(id), fold, decide: () => [event], metadata })
    }
    return
  }
  const id = open(log, user('u1'))
  const opening = log.events.map(({ type, data }): DomainEvent => ({ type, data })) as PaymentEvent[]
  const stream = paymentStream(id)
  await store.handle({ stream, fold: paymentFold, decide: () => opening, metadata })
  for (const status of ['processing', 'succeeded'] as const) {
    const occurred_at = new Date().toISOString()
    const evidence = {
      occurred_at,
      provider_time: occurred_at,
      status,
      provider_event_id: `evt_${id}_${status}`,
      provider_intent_id: `pi_${id}`,
      provider_payment_id: `ch_${id}`,
      amount_cents: null,
      currency: null,
    }
    await store.handle({ stream, fold: paymentFold, decide: (state) => recordEvidence(evidence, state), metadata })
  }
}

/** Records so many things one after the other. */
export async function record(store: EventStore, count: number): Promise<void> {
  const lanes = Array.from({ length: 8 }, async (_, lane) => {
    for (let turn = lane; turn < count; turn += 8) await happen(store, turn)
  })
  await Promise.all(lanes)
}

/** Records one thing after the other until it is stopped. */
export function startTraffic(store: EventStore): { stop(): Promise<number> } {
  let isStopped = false
  let turns = 0
  const going = (async () => {
    while (!isStopped) await happen(store, turns++)
  })()
  return {
    async stop() {
      isStopped = true
      await going
      return turns
    },
  }
}
