import { randomUUID } from 'node:crypto'
import { paymentStream } from '@paylog/event-store/streamName'
import { startProcess } from '@paylog/testing/processes'
import t from 'tap'
import { createReconcilerHarness } from '../testing/reconcilerHarness.ts'

const harness = await createReconcilerHarness(t)
const script = new URL('../main.ts', import.meta.url)
const env = { DATABASE_URL: harness.databaseUrl, EVENTSTORE_URL: harness.connectionString }

t.test('an undecodable event stops the worker with an error that names it', async (t) => {
  const id = randomUUID()
  const unknown = {
    id: randomUUID(),
    type: 'PaymentFrozen',
    contentType: 'application/json',
    data: {},
    metadata: {},
  } as const
  await harness.store.client.appendToStream(paymentStream(id), unknown)
  const worker = await startProcess(t, { script, env }).catch((error: Error) => error)
  const output = worker instanceof Error ? worker.message : (await worker.exited) && worker.output()
  t.match(output, /UnreadableEventError/)
  t.match(output, id)
  if (!(worker instanceof Error)) t.match(await worker.exited, { code: 1 })
})
