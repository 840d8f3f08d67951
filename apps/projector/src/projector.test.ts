import { projectorHarness } from '@paylog/projections/testing/projectorHarness'
import { startEventStore } from '@paylog/testing/eventStore'
import type { TestProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'

const eventStore = await startEventStore(t)
const { pay, projected, startProjector } = await projectorHarness(t, eventStore)
const ids: string[] = []
let standby: TestProcess

async function payMany(count: number): Promise<void> {
  for (let index = 0; index < count; index++) ids.push(await pay())
}

t.test('of two projectors one runs, and the standby takes over', async (t) => {
  const projector = await startProjector()
  await payMany(10)
  await projected(10)
  standby = await startProjector()
  await waitFor(() => standby.output().includes('another process holds the lock'), { what: 'the standby to wait' })
  await projector.kill('SIGKILL')
  await payMany(1)
  t.same(await projected(11), ids.toSorted(), 'each payment is projected once')
})

t.test('a projector catches up after an event store restart, and stops normally', async (t) => {
  await eventStore.kill()
  await eventStore.start()
  await payMany(5)
  t.same(await projected(16), ids.toSorted())
  await standby.stop()
  t.same(await standby.exited, { code: 0, signal: null })
})
