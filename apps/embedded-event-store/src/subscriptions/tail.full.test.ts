// The end of the log in memory: its contents, its limits and its followers.
import t from 'tap'
import type { StoredEvent } from '../storage/storedEvent.ts'
import { createTail, type Tail } from './tail.ts'

const floorAtFirst = 10n
/** Same as in tail.ts. */
const maxEvents = 16_384
const maxBytes = 16 << 20

function eventAt(position: bigint, bytes = 0): StoredEvent {
  const about = { stream: 's', revision: position, eventId: '', type: 'T', isJson: false, createdTicks: 0n }
  return { ...about, position, metadata: Buffer.alloc(0), data: Buffer.alloc(bytes) }
}

function publish(tail: Tail, count: number, bytes = 0): void {
  for (let left = count; left > 0; left -= 1) {
    const position = tail.lastPosition + 1n
    tail.publish([eventAt(position, bytes)], position)
  }
}

/** The first position after which everything is in the tail. */
function floorOf(tail: Tail): bigint {
  for (let position = 0n; ; position += 1n) if (tail.after(position) !== undefined) return position
}

/** All positions that a follower gets from one position on. */
function followed(tail: Tail, from: bigint): bigint[] {
  const positions: bigint[] = []
  for (let cursor = from; ; ) {
    const events = tail.after(cursor)
    const last = events?.at(-1)
    if (events === undefined || last === undefined) return positions
    positions.push(...events.map((event) => event.position))
    cursor = last.position
  }
}

function from(first: bigint, last: bigint): bigint[] {
  return Array.from({ length: Number(last - first) + 1 }, (_, index) => first + BigInt(index))
}

t.test('the tail returns everything after its floor in order, and undefined before it', async (t) => {
  const tail = createTail(floorAtFirst)
  t.equal(tail.after(floorAtFirst - 1n), undefined)
  t.same(tail.after(floorAtFirst), [])
  publish(tail, 600)
  t.same(followed(tail, floorAtFirst), from(11n, 610n))
  t.same(followed(tail, 300n), from(301n, 610n))
  // A position that an append without events has taken.
  tail.publish([], 611n)
  t.equal(tail.lastPosition, 611n)
  t.same(tail.after(611n), [])
})

t.test('the tail drops its oldest events beyond its maximum number', async (t) => {
  const tail = createTail(floorAtFirst)
  publish(tail, 60_000)
  const floor = floorOf(tail)
  const held = Number(tail.lastPosition - floor)
  t.ok(held >= maxEvents && held < 1.1 * maxEvents, `${held} events`)
  t.equal(tail.after(floor - 1n), undefined)
  t.same(followed(tail, floor), from(floor + 1n, tail.lastPosition))
})

t.test('the tail drops its oldest events beyond its maximum size', async (t) => {
  const tail = createTail(floorAtFirst)
  const bytes = 40_000
  publish(tail, 20_000, 100)
  for (let round = 0; round < 3; round += 1) {
    publish(tail, 30_000, 10)
    publish(tail, 1_000, bytes)
    const floor = floorOf(tail)
    const held = Number(tail.lastPosition - floor) * bytes
    t.ok(held <= maxBytes && held > maxBytes - 3 * bytes, `${held} bytes`)
    t.same(followed(tail, floor), from(floor + 1n, tail.lastPosition))
  }
})

t.test('the tail keeps the bytes of its events, and not the messages that they came in', async (t) => {
  const tail = createTail(floorAtFirst)
  const message = Buffer.alloc(1 << 16)
  const data = message.subarray(100, 200)
  tail.publish([{ ...eventAt(11n), data, metadata: data }], 11n)
  const [kept] = tail.after(floorAtFirst) ?? []
  t.same([kept?.data, kept?.metadata], [data, data])
  for (const bytes of [kept?.data, kept?.metadata]) t.ok(bytes && bytes.buffer.byteLength < message.length)
})

t.test('one call of after returns a bounded slice with at least one event', async (t) => {
  const small = createTail(floorAtFirst)
  publish(small, 5_000)
  t.equal(small.after(floorAtFirst)?.length, 256)
  const large = createTail(floorAtFirst)
  publish(large, 20, 100_000)
  t.equal(large.after(floorAtFirst)?.length, 3)
  const huge = createTail(floorAtFirst)
  publish(huge, 2, 1 << 20)
  t.equal(huge.after(floorAtFirst)?.length, 1)
})

t.test('a follower is woken by the next event, by resume and by its signal', async (t) => {
  const gone = new AbortController()
  const tail = createTail(floorAtFirst)
  const follower = tail.follow(gone.signal)
  t.teardown(follower.stop)
  const woken = async (position: bigint, act: () => void) => {
    let isWoken = false
    const waiting = follower.changed(position).then(() => {
      isWoken = true
    })
    await Promise.resolve()
    t.notOk(isWoken, `waits at ${position}`)
    act()
    await waiting
  }
  await woken(10n, () => publish(tail, 1))
  await follower.changed(10n)
  await woken(11n, () => tail.resume(15n))
  t.equal(tail.after(11n), undefined, 'the missed events are not in the tail')
  await follower.changed(11n)
  t.same(tail.after(15n), [])
  await woken(15n, () => gone.abort())
  await follower.changed(15n)
})

t.test('resume at the last position keeps all events', async (t) => {
  const tail = createTail(floorAtFirst)
  publish(tail, 5)
  tail.resume(tail.lastPosition)
  t.same(followed(tail, floorAtFirst), from(11n, 15n))
  tail.resume(17n)
  publish(tail, 1)
  t.equal(tail.after(15n), undefined)
  t.same(followed(tail, 17n), [18n])
})
