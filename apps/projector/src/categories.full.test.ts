// Several projections in one projector: each gets the events of its category, and stops and skips on its own.

import { randomUUID } from 'node:crypto'
import { jsonEvent } from '@eventstore/db-client'
import { userOwner } from '@paylog/domain/actor'
import { paymentMethodFold, removePaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import {
  addressStream,
  auditTrailStream,
  defaultChoiceStream,
  idempotentRequestStream,
  paymentMethodStream,
  paymentStream,
  productStream,
} from '@paylog/event-store/streamName'
import { liveCheckpoint, livePositions } from '@paylog/projections/apply/checkpoints'
import { projections } from '@paylog/projections/registry'
import {
  addAddressTo,
  addMethodTo,
  addProductTo,
  createLogFixture,
  ofUser,
} from '@paylog/projections/testing/logFixture'
import { countsOf, projectorHarness } from '@paylog/projections/testing/projectorHarness'
import { append } from '@paylog/projections/testing/traffic'
import { notifyWaitingReads } from '@paylog/projections/waitingReads'
import { readItem } from '@paylog/queries/lists/lists'
import { paymentMethodList } from '@paylog/queries/payment-methods/queries'
import { productList } from '@paylog/queries/products/queries'
import type { TestProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'

const occurred_at = '2026-03-01T10:00:00.000Z'
const unreadable = () => jsonEvent({ type: 'PaymentTeleported', data: {} })

const { pay, projected, startProjector, store, pool } = await projectorHarness(t)
let projector: TestProcess

t.test('each projection gets the events of its category, and none gets idempotency keys', async (t) => {
  const log = createLogFixture()
  const id = addMethodTo(log, ofUser('u1'))
  log.record(paymentMethodFold, id, (state) => removePaymentMethod({ occurred_at, by: 'owner' }, state))
  addMethodTo(log, { ...ofUser('u1'), payment_method_id: id, alias: 'again' })
  addAddressTo(log, ofUser('u1'))
  const product = addProductTo(log)
  // Appended first, so that a projection that wrongly receives it stops before the awaited events.
  await store.client.appendToStream(idempotentRequestStream(randomUUID()), unreadable())
  for (const event of log.events) await append(store, event)
  projector = await startProjector()
  await waitFor(async () => (await countsOf(pool)).addresses === 1, { what: 'the address' })
  const method = () => readItem(pool, paymentMethodList, { id, owner: userOwner('u1') })
  await waitFor(async () => (await method())?.revision === 2n, { what: 'the method to be projected' })
  t.match(await method(), { item: { alias: 'again' } })
  await waitFor(() => readItem(pool, productList, { id: product }), { what: 'the product' })
  const notes = await Promise.all(projections.map(({ name }) => liveCheckpoint(pool, name)))
  t.ok(notes.every((checkpoint) => checkpoint?.stopped_because == null))
})

t.test('a projection that reads wait for skips events of other projections at once', async (t) => {
  const others = projections.map(({ name }) => name).filter((name) => name !== 'addresses')
  const log = createLogFixture()
  for (let round = 0; round < 3; round++) {
    addAddressTo(log, ofUser('u1'))
    const [event] = log.events.slice(-1)
    const position = event && (await append(store, event))
    const late = async () => {
      const positions = await livePositions(pool)
      return projections.map(({ name }) => name).filter((name) => (positions.get(name) ?? -1n) < (position ?? 0n))
    }
    await waitFor(async () => !(await late()).includes('addresses'), { what: 'the address projection' })
    t.same(await late(), others, 'projections that do not receive the event stay behind')
    await notifyWaitingReads(pool, ['payments'])
    await waitFor(async () => !(await late()).includes('payments'), { what: 'the payment projection' })
    t.same(await late(), others.slice(1), 'other projections are not notified')
  }
})

t.test('an unreadable event stops only its projection, which logs it and stores the reason', async (t) => {
  const id = await pay()
  await projected(1)
  await store.client.appendToStream(paymentStream(randomUUID()), unreadable())
  const stopped = () => liveCheckpoint(pool, 'payments').then((checkpoint) => checkpoint?.stopped_because ?? '')
  await waitFor(async () => (await stopped()) !== '', { what: 'the stop reason' })
  t.match(await stopped(), /PaymentTeleported.*unknown type/)
  t.match(projector.output(), /PaymentTeleported/)
  await pay()
  const before = await countsOf(pool)
  const log = createLogFixture()
  addMethodTo(log, ofUser('u1'))
  addAddressTo(log, ofUser('u1'))
  for (const event of log.events) await append(store, event)
  const othersContinue = async () => {
    const { methods, addresses } = await countsOf(pool)
    return methods === before.methods + 1 && addresses === before.addresses + 1
  }
  await waitFor(othersContinue, { what: 'the other projections to continue' })
  await projector.stop()
  projector = await startProjector()
  await waitFor(() => projector.output().includes('the projection stops'), { what: 'the projection to stop again' })
  t.same(await projected(1), [id], 'a restart does not skip the event')
})

t.test('a projector exits when all its projections have stopped', async (t) => {
  for (const stream of [paymentMethodStream, addressStream, defaultChoiceStream, productStream, auditTrailStream])
    await store.client.appendToStream(stream(randomUUID()), unreadable())
  t.same(await projector.exited, { code: 1, signal: null })
  for (const { name } of projections)
    t.match((await liveCheckpoint(pool, name))?.stopped_because ?? '', /PaymentTeleported/, name)
})
