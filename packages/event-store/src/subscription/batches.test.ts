// The batch buffer: batch sizes, timing and backpressure.
import t from 'tap'
import type { Recorded } from '../codec/codec.ts'
import { createBatchBuffer } from './batches.ts'

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

t.test('take returns everything in the buffer, at most maxBatch events', async (t) => {
  const buffer = createBatchBuffer(3)
  for (let n = 1; n <= 5; n++) await buffer.push(event(n))
  const first = await buffer.take()
  t.same(ids(first), [1, 2, 3])
  t.same(first.position, at(3))
  t.same(ids(await buffer.take()), [4, 5])
})

t.test('push waits while two batches are in the buffer', async (t) => {
  const buffer = createBatchBuffer(2)
  let pushed = 0
  const pushing = (async () => {
    for (let n = 1; n <= 9; n++) {
      await buffer.push(event(n))
      pushed = n
    }
  })()
  await new Promise(setImmediate)
  t.equal(pushed, 3, 'the fourth fills the buffer and waits')
  t.same(ids(await buffer.take()), [1, 2])
  await new Promise(setImmediate)
  t.equal(pushed, 5)
  buffer.end(new Error('over'))
  await pushing
})

t.test('a checkpoint is returned with or after the events before it, never earlier', async (t) => {
  const buffer = createBatchBuffer(2)
  await buffer.push(event(1))
  buffer.checkpoint(at(10))
  t.same((await buffer.take()).position, at(10))
  buffer.checkpoint(at(20))
  const alone = await buffer.take()
  t.same([alone.events, alone.position], [[], at(20)])
  for (const n of [21, 22, 23]) await buffer.push(event(n))
  buffer.checkpoint(at(30))
  t.same((await buffer.take()).position, at(22), 'one event is left')
  t.same((await buffer.take()).position, at(30))
  buffer.checkpoint(at(40))
  await buffer.push(event(41))
  t.same((await buffer.take()).position, at(41), 'the older checkpoint is dropped')
})

t.test('take returns pushed events before it throws the reason of end', async (t) => {
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

t.test('while collecting, take returns a batch only when it is full or the position is reached', async (t) => {
  const buffer = createBatchBuffer(3, 60_000)
  buffer.collectUntil(at(8))
  t.ok(buffer.isCollecting())
  const taken: number[][] = []
  const taking = (async () => {
    for (let batch = 0; batch < 4; batch++) taken.push(ids(await buffer.take()))
  })()
  const pushed = async (n: number) => {
    await buffer.push(event(n))
    await new Promise(setImmediate)
  }
  await pushed(1)
  buffer.checkpoint(at(2))
  await pushed(3)
  t.same(taken, [])
  await pushed(4)
  t.same(taken, [[1, 3, 4]])
  await pushed(5)
  t.same(taken.length, 1)
  buffer.checkpoint(at(8))
  await new Promise(setImmediate)
  t.same(taken, [[1, 3, 4], [5]])
  t.notOk(buffer.isCollecting())
  await pushed(9)
  t.same(taken.at(-1), [9])
  buffer.collectUntil(at(20))
  await pushed(10)
  t.same(taken.length, 3)
  await pushed(21)
  t.same(taken.at(-1), [10, 21], 'an event after the position counts, too')
  await taking
})

t.test('collecting ends after the batch delay, on collectUntil(undefined) and on end', async (t) => {
  const patient = createBatchBuffer(3, 20)
  patient.collectUntil(at(100))
  const begun = performance.now()
  const taking = patient.take()
  await patient.push(event(1))
  await patient.push(event(2))
  t.same(ids(await taking), [1, 2])
  t.ok(performance.now() - begun >= 19)
  patient.checkpoint(at(5))
  t.same((await patient.take()).position, at(5), 'a lone checkpoint')

  const never = createBatchBuffer(3, 60_000)
  for (const release of [() => never.collectUntil(undefined), () => never.end(new Error('over'))]) {
    never.collectUntil(at(100))
    const waiting = never.take()
    await never.push(event(1))
    release()
    t.same(ids(await waiting), [1])
  }
  await t.rejects(never.take(), /over/)
})
