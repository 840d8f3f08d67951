// Room: projector, tests only. A log, a database for the read models, and a projector between them.
import type { Fold } from '@paylog/domain/messages'
import { userOwner } from '@paylog/domain/owner'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/payment'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import { createEventStore } from '@paylog/event-store/eventStore'
import { addressStream, paymentMethodStream, paymentStream, productStream } from '@paylog/event-store/streamName'
import { listAddresses } from '@paylog/projections/addresses/queries'
import type { Queryable } from '@paylog/projections/namedQuery'
import { newestFirst } from '@paylog/projections/page'
import { listPaymentMethods } from '@paylog/projections/payment-methods/queries'
import { listPayments } from '@paylog/projections/payments/queries'
import { readModelDatabase } from '@paylog/projections/testDatabase'
import { createTestLog, type LoggedEvent, open, user } from '@paylog/projections/testEvents'
import { startEventStore } from '@paylog/testing/eventStore'
import { startProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'

/** Folds nothing: what is appended has been decided. */
const fold: Fold<null, RecordedDomainEvent> = { initialState: null, evolve: (state) => state }

const script = new URL('./main.ts', import.meta.url)
const replayScript = new URL('./testing/replayProgram.ts', import.meta.url)
const laterScript = new URL('./testing/laterProgram.ts', import.meta.url)
const metadata = { correlationId: 'c', causationId: 'c', actor: 'worker' }

/** A projector runs whenever a test starts one. */
export async function startHouse(t: Test) {
  const node = await startEventStore(t)
  const { databaseUrl, pool } = await readModelDatabase(t)
  const store = createEventStore({ connectionString: node.connectionString })
  t.teardown(() => store.close())
  const env = { DATABASE_URL: databaseUrl, EVENTSTORE_URL: node.connectionString, LOG_LEVEL: 'info' }

  return {
    node,
    databaseUrl,
    pool,
    store,
    startProjector: () => startProcess(t, { script, env }),
    /** The projector of a later version of the program, for payments only. */
    startLater: () => startProcess(t, { script: laterScript, env }),
    /** It tells its phases, the differences and how it ended in its output. */
    startReplay: (task: 'rebuild' | 'verify', projection: string) =>
      startProcess(t, { script: replayScript, env: { ...env, TASK: task, PROJECTION: projection } }),
    /** Records one event of a method, an address or a product, and returns its position. */
    async append({ id, revision, position: _, ...event }: LoggedEvent): Promise<bigint | undefined> {
      const stream = streamOf(event.type)(id)
      const loaded = await store.handle({ stream, fold, decide: () => [event], metadata })
      return loaded.position?.commit
    },
    /** Records a new payment with its intent. */
    async pay(): Promise<string> {
      const log = createTestLog()
      const id = open(log, user('u1'))
      await store.handle({
        stream: paymentStream(id),
        fold: paymentFold,
        decide: () => log.events.map(({ type, data }) => ({ type, data }) as PaymentEvent),
        metadata,
      })
      return id
    },
    /** The ids of all payments, once there are as many. */
    projected: (count: number) =>
      waitFor(
        async () => {
          const { items, total } = await listPayments(pool, {
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
          return total >= count && items.map(({ id }) => id).toSorted()
        },
        { what: `${count} payments in the read model` },
      ),
  }
}

/** How many methods and addresses can be read. */
export async function countsOf(pool: Queryable): Promise<{ methods: number; addresses: number }> {
  const asked = { owner: userOwner('u1'), guest_email: undefined, page: 1, limit: 1, ...newestFirst }
  const { total: methods } = await listPaymentMethods(pool, asked)
  const { total: addresses } = await listAddresses(pool, { ...asked, address_type: undefined })
  return { methods, addresses }
}

function streamOf(type: string) {
  if (type.startsWith('Address')) return addressStream
  return type.startsWith('Product') ? productStream : paymentMethodStream
}
