import { randomUUID } from 'node:crypto'
import { jsonEvent } from '@eventstore/db-client'
import { paymentFold } from '@paylog/domain/payments/payment'
import { createEventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { liveCheckpoint } from '@paylog/projections/checkpoints'
import { userOwner } from '@paylog/domain/owner'
import { listPayments } from '@paylog/projections/payments/queries'
import { readModelDatabase } from '@paylog/projections/testDatabase'
import { createTestLog, open, user } from '@paylog/projections/testEvents'
import { startEventStore } from '@paylog/testing/eventStore'
import { startProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'

const script = new URL('./main.ts', import.meta.url)
const metadata = { correlationId: 'c', causationId: 'c', actor: 'worker' }

/** A log, a database for the read model, and a projector between them whenever a test starts one. */
async function startHouse(t: Test) {
  const node = await startEventStore(t)
  const { databaseUrl, pool } = await readModelDatabase(t)
  const store = createEventStore({ connectionString: node.connectionString })
  t.teardown(() => store.close())
  const env = { DATABASE_URL: databaseUrl, EVENTSTORE_URL: node.connectionString, LOG_LEVEL: 'info' }

  return {
    node,
    pool,
    store,
    startProjector: () => startProcess(t, { script, env }),
    /** Records a new payment with its intent. */
    async pay(): Promise<string> {
      const log = createTestLog()
      const id = open(log, user('u1'))
      await store.handle({
        stream: paymentStream(id),
        fold: paymentFold,
        decide: () => log.events.map(({ type, data }) => ({ type, data }) as (typeof log.events)[number]),
        metadata,
      })
      return id
    },
    /** The ids of all payments, once there are as many. */
    projected: (count: number) =>
      waitFor(
        async () => {
          const { payments, total } = await listPayments(pool, {
            owner: userOwner('u1'),
            status: undefined,
            search: undefined,
            guest_email: undefined,
            created_after: undefined,
            created_before: undefined,
            orderBy: 'created_at',
            orderDir: 'asc',
            page: 1,
            limit: 1_000,
            withMethod: false,
          })
          return total >= count && payments.map(({ id }) => id).toSorted()
        },
        { what: `${count} payments in the read model` },
      ),
  }
}

async function payMany(pay: () => Promise<string>, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) ids.push(await pay())
  return ids
}

t.test('what is recorded can be read, before and after the projector was killed', async (t) => {
  const { pay, projected, startProjector } = await startHouse(t)
  const ids = await payMany(pay, 20)
  const projector = await startProjector()
  const paying = payMany(pay, 60)
  await projected(30)
  await projector.kill('SIGKILL')
  ids.push(...(await paying))
  await startProjector()
  t.same(await projected(80), ids.toSorted(), 'nothing is lost and nothing is there twice')
})

t.test('of two projectors one runs, and the other takes over', async (t) => {
  const { pay, projected, startProjector } = await startHouse(t)
  const active = await startProjector()
  const ids = [await pay()]
  await projected(1)
  const standby = await startProjector()
  await waitFor(() => standby.output().includes('another process holds the lock'), { what: 'the standby to wait' })
  await active.kill('SIGKILL')
  ids.push(await pay())
  t.same(await projected(2), ids.toSorted())
  await standby.stop()
  t.same(await standby.exited, { code: 0, signal: null })
})

t.test('an event store that dies and comes back is caught up with', async (t) => {
  const { pay, projected, startProjector, node } = await startHouse(t)
  await startProjector()
  const ids = [await pay()]
  await projected(1)
  await node.kill()
  await node.start()
  ids.push(...(await payMany(pay, 5)))
  t.same(await projected(6), ids.toSorted())
})

t.test('an event that cannot be read stops the projection loudly, and leaves a note', async (t) => {
  const { pay, projected, startProjector, store, pool } = await startHouse(t)
  const projector = await startProjector()
  const id = await pay()
  await projected(1)
  await store.client.appendToStream(
    paymentStream(randomUUID()),
    jsonEvent({ type: 'PaymentTeleported', data: { payment_id: id } }),
  )
  t.same(await projector.exited, { code: 1, signal: null })
  t.match(projector.output(), /PaymentTeleported/)
  const stopped = await liveCheckpoint(pool, 'payments')
  t.match(stopped?.stopped_because ?? '', /PaymentTeleported.*unknown type/)
  await pay()
  const again = await startProjector()
  t.same(await again.exited, { code: 1, signal: null }, 'starting again does not skip it')
  t.same(await projected(1), [id])
})
