// Records events continuously while something else is tested.
import { setTimeout as pause } from 'node:timers/promises'
import { userOwner } from '@paylog/domain/actor'
import type { DomainEvent, Fold } from '@paylog/domain/events'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { subjectNamed } from '@paylog/domain/personalData'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { EventStore } from '@paylog/event-store/eventStore'
import {
  addressStream,
  auditTrailStream,
  defaultChoiceStream,
  paymentMethodStream,
  paymentStream,
  productStream,
} from '@paylog/event-store/streamName'
import type { Test } from 'tap'
import {
  addAddressTo,
  addMethodTo,
  addPaymentTo,
  addProductTo,
  createLogFixture,
  ofUser,
  setDefaultIn,
  user,
} from './logFixture.ts'
import type { LoggedEvent } from './logKeys.ts'

const metadata = { correlationId: 'c', causationId: 'c', actor: 'worker' }
const streams = {
  PaymentMethod: paymentMethodStream,
  Address: addressStream,
  Default: defaultChoiceStream,
  Product: productStream,
  Administrator: auditTrailStream,
}

/** The stream of an event, by the beginning of its type. */
export function streamOf({ type, id }: LoggedEvent): string {
  const [, stream = paymentStream] = Object.entries(streams).find(([name]) => type.startsWith(name)) ?? []
  return stream(id)
}

/** Whose methods and addresses these are. */
const subject = subjectNamed(userOwner('u1'))

/** An empty fold: the appended events are already decided. */
const fold: Fold<null, RecordedDomainEvent> = { initialState: null, evolve: (state) => state }

/** Records a new payment of u1 with its intent. @returns its id */
export async function openPayment(store: EventStore): Promise<string> {
  const log = createLogFixture()
  const id = addPaymentTo(log, user('u1'))
  const opening = log.events.map(({ type, data }): DomainEvent => ({ type, data })) as PaymentEvent[]
  await store.handle({ stream: paymentStream(id), fold: paymentFold, decide: () => opening, metadata })
  return id
}

/** Records an event of a method, address, default or product. @returns its position */
export async function append(store: EventStore, logged: LoggedEvent): Promise<bigint | undefined> {
  const { id: _, revision: __, position: ___, sealed: ____, ...event } = logged
  const { position } = await store.handle({ stream: streamOf(logged), fold, decide: () => [event], metadata, subject })
  return position?.commit
}

/** Records a product with this many events. */
export async function recordChangedProduct(store: EventStore, count: number): Promise<void> {
  const log = createLogFixture()
  const product_id = addProductTo(log)
  const added = log.events.map(({ type, data }): DomainEvent => ({ type, data })) as RecordedDomainEvent[]
  const occurred_at = '2026-03-02T10:00:00.000Z'
  const changes = Array.from({ length: count - 1 }, (_, number) => ({
    type: 'ProductChanged' as const,
    data: { product_id, occurred_at, changes: { description: `number ${number}` } },
  }))
  await store.handle({ stream: productStream(product_id), fold, decide: () => [...added, ...changes], metadata })
}

/** Records a whole payment of u1, or another resource. */
async function recordOne(store: EventStore, turn: number): Promise<void> {
  if (turn % 4 === 3) {
    const log = createLogFixture()
    setDefaultIn(log, { chosen_id: addMethodTo(log, ofUser('u1')) })
    addAddressTo(log, ofUser('u1'))
    addProductTo(log)
    for (const event of log.events) await append(store, event)
    return
  }
  const id = await openPayment(store)
  for (const status of ['processing', 'succeeded'] as const) {
    const occurred_at = new Date().toISOString()
    const report = {
      occurred_at,
      provider_time: occurred_at,
      status,
      provider_event_id: `evt_${id}_${status}`,
      provider_intent_id: `pi_${id}`,
      provider_payment_id: `ch_${id}`,
      amount_cents: null,
      currency: null,
    }
    const stream = paymentStream(id)
    await store.handle({ stream, fold: paymentFold, decide: (state) => recordStatus(report, state), metadata })
  }
}

/** Records this many resources one after the other. */
export async function record(store: EventStore, count: number): Promise<void> {
  const lanes = Array.from({ length: 8 }, async (_, lane) => {
    for (let turn = lane; turn < count; turn += 8) await recordOne(store, turn)
  })
  await Promise.all(lanes)
}

/** Without a pause, a two-core machine would have no time for the tested code. */
const betweenTurnsMs = 10

/** Records resources until stopped, at the latest until the end of the test. */
export function startTraffic(t: Test, store: EventStore): { stop(): Promise<number> } {
  let isStopped = false
  let turns = 0
  const running = (async () => {
    for (; !isStopped; turns += 1) {
      await recordOne(store, turns)
      await pause(betweenTurnsMs)
    }
  })()
  async function stop() {
    isStopped = true
    await running
    return turns
  }
  t.teardown(stop)
  return { stop }
}
