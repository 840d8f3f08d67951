import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { startHouse } from './testHouse.ts'

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
