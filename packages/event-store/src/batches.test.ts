import t from 'tap'
import { createBatchBuffer } from './batches.ts'
import type { Recorded } from './codec.ts'

const at = (n: number) => ({ commit: BigInt(n), prepare: BigInt(n) })
const event = (n: number): Recorded => ({
  type: 'GuestTokenSeen',
  data: { guest_email: 'guest@example.com', occurred_at: '2026-01-01T00:00:00.000Z' },
  id: String(n),
  stream: 's',
  revision: BigInt(n),
  position: at(n),
  created: new Date(0),
  metadata: { correlationId: 'c', causationId: 'c', actor: 'anonymous', schema: 1 },
})
const ids = ({ events }: { events: readonly Recorded[] }) => events.map(({ id }) => Number(id))

t.test('a batch is what is there, at most as much as was asked for', async (t) => {
  const buffer = createBatchBuffer(3)
  for (let n = 1; n <= 5; n++) await buffer.push(event(n))
  const first = await buffer.take()
  t.same(ids(first), [1, 2, 3])
  t.same(first.position, at(3))
  t.same(ids(await buffer.take()), [4, 5])
})

t.test('whoever pushes waits while two batches are there', async (t) => {
  const buffer = createBatchBuffer(2)
  let pushed = 0
  const pushing = (async () => {
    for (let n = 1; n <= 9; n++) {
      await buffer.push(event(n))
      pushed = n
    }
  })()
  await new Promise(setImmediate)
  t.equal(pushed, 3, 'the fourth fills it, and waits')
  t.same(ids(await buffer.take()), [1, 2])
  await new Promise(setImmediate)
  t.equal(pushed, 5)
  buffer.end(new Error('over'))
  await pushing
})

t.test('a checkpoint is taken with what came before it, and never before', async (t) => {
  const buffer = createBatchBuffer(2)
  await buffer.push(event(1))
  buffer.checkpoint(at(10))
  t.same((await buffer.take()).position, at(10))
  buffer.checkpoint(at(20))
  const alone = await buffer.take()
  t.same([alone.events, alone.position], [[], at(20)])
  for (const n of [21, 22, 23]) await buffer.push(event(n))
  buffer.checkpoint(at(30))
  t.same((await buffer.take()).position, at(22), 'one event is still to come')
  t.same((await buffer.take()).position, at(30))
  buffer.checkpoint(at(40))
  await buffer.push(event(41))
  t.same((await buffer.take()).position, at(41), 'an older checkpoint says nothing any more')
})

t.test('what was pushed is handed out before the end is told', async (t) => {
  const buffer = createBatchBuffer(2)
  await buffer.push(event(1))
  buffer.end(new Error('first reason'))
  buffer.end(new Error('second reason'))
  t.same(ids(await buffer.take()), [1])
  await t.rejects(buffer.take(), /first reason/)
  const waiting = createBatchBuffer(2)
  const taking = waiting.take()
  waiting.end(new Error('over'))
  await t.rejects(taking, /over/)
})
