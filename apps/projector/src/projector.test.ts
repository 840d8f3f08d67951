import { projectorHarness } from '@paylog/projections/testing/projectorHarness'
import { startEventStore } from '@paylog/testing/eventStore'
import type { TestProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'

const eventStore = await startEventStore(t)
const { pay, projected, startProjector } = await projectorHarness(t, eventStore)
const ids: string[] = []
let projector: TestProcess

async function payMany(count: number): Promise<void> {
  for (let index = 0; index < count; index++) ids.push(await pay())
}

t.test('recorded payments can be read, before and after the projector is killed', async (t) => {
  await payMany(10)
  projector = await startProjector()
  const paying = payMany(30)
  await projected(15)
  await projector.kill('SIGKILL')
  await paying
  projector = await startProjector()
  t.same(await projected(40), ids.toSorted(), 'each payment is projected once')
})

t.test('of two projectors one runs, and the standby takes over', async (t) => {
  const standby = await startProjector()
  await waitFor(() => standby.output().includes('another process holds the lock'), { what: 'the standby to wait' })
  await projector.kill('SIGKILL')
  await payMany(1)
  t.same(await projected(41), ids.toSorted())
  projector = standby
})

t.test('a projector catches up after an event store restart, and stops normally', async (t) => {
  await eventStore.kill()
  await eventStore.start()
  await payMany(5)
  t.same(await projected(46), ids.toSorted())
  await projector.stop()
  t.same(await projector.exited, { code: 0, signal: null })
})
