import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { type CallPriority, createPace, ownRateLimitCode, type Pace, withPriority } from './pacing.ts'
import { remainingMs, withTimeLimit } from './timeLimit.ts'

const minuteMs = 60_000

/** Starts calls and records which started when. */
function caller(pace: Pace) {
  const started: { readonly name: string; readonly at: number }[] = []
  const begin = performance.now()
  const call = async (priority: CallPriority, name: string = priority, ms = minuteMs) => {
    await withTimeLimit(ms, () => withPriority(priority, () => pace.acquire()))
    started.push({ name, at: performance.now() - begin })
  }
  const calls = (priority: CallPriority, many: number) =>
    Promise.all(Array.from({ length: many }, () => call(priority)))
  return { started, call, calls, names: () => started.map(({ name }) => name) }
}

/** The highest number of calls that started within one second. */
function mostPerSecond(started: readonly { readonly at: number }[]): number {
  const within = ({ at: first }: { readonly at: number }) =>
    started.filter(({ at }) => at >= first && at < first + 990).length
  return Math.max(...started.map(within))
}

t.test('a pace starts at most perSecond calls within a second, the first ones at once', async (t) => {
  const { started, calls } = caller(createPace({ perSecond: 10 }))
  await calls('payer', 25)
  t.ok(Number(started[9]?.at) < 500, `the tenth after ${started[9]?.at} ms`)
  t.ok(Number(started[24]?.at) >= 2_000 && Number(started[24]?.at) < 5_000, `the last after ${started[24]?.at} ms`)
  t.ok(mostPerSecond(started) <= 10, `${mostPerSecond(started)} within a second`)
})

t.test("waiting calls start in the order of their priority, payers' calls first [10.2-pacing]", async (t) => {
  const { call, calls, names } = caller(createPace({ perSecond: 2 }))
  await calls('payer', 2)
  const order = ['reconciler', 'background', 'notification', 'payer', 'payer'] as const
  await Promise.all(order.map((priority) => call(priority)))
  t.same(names().slice(2), ['payer', 'payer', 'notification', 'background', 'reconciler'])
})

t.test("calls of lower priorities are spread evenly and leave room for a payer's call to start at once", async (t) => {
  for (const [priority, most] of [
    ['reconciler', 6],
    ['background', 10],
    ['notification', 10],
  ] as const) {
    const { started, call, calls } = caller(createPace({ perSecond: 10 }))
    const others = calls(priority, 12)
    await sleep(300)
    const calledAt = performance.now()
    await call('payer')
    t.ok(performance.now() - calledAt < 250, priority)
    await others
    const theirs = started.filter(({ name }) => name === priority)
    t.ok(mostPerSecond(theirs) <= most, `${mostPerSecond(theirs)} of ${priority} within a second`)
    t.ok(
      theirs.slice(1).every(({ at }, index) => at - Number(theirs[index]?.at) >= 80),
      'no two at the same time',
    )
  }
})

t.test('a pace without a limit starts every call at once', async (t) => {
  const { started, calls } = caller(createPace({ perSecond: 0 }))
  await Promise.all([calls('payer', 500), calls('reconciler', 500)])
  t.equal(started.length, 1_000)
  t.ok(Number(started.at(-1)?.at) < 1_000)
})

t.test('a call that cannot start in time is unavailable and leaves the queue', async (t) => {
  const pace = createPace({ perSecond: 1, patienceMs: 50 })
  const { call, calls, names } = caller(pace)
  await calls('payer', 1)
  const late = { kind: 'unavailable', code: ownRateLimitCode, rateLimit: { retryAfterMs: null } }
  await t.rejects(call('reconciler', 'late'), late)
  const next = call('payer', 'next')
  const before = performance.now()
  await t.rejects(call('payer', 'behind', 1_000), late, 'the queue is longer than its time')
  t.ok(performance.now() - before < 400, 'fails at once')
  await next
  t.same(names(), ['payer', 'next'])
})

t.test('a throttled call pauses calls of the same and lower priorities, but never payers’ calls', async (t) => {
  const priorities = ['payer', 'notification', 'background', 'reconciler'] as const
  for (const [throttled, resumed] of [
    ['payer', ['payer']],
    ['background', ['payer', 'notification']],
    ['reconciler', ['payer', 'notification', 'background']],
  ] as const) {
    const pace = createPace({ perSecond: 100 })
    const { started, call } = caller(pace)
    withPriority(throttled, () => pace.pause(700))
    await Promise.all(priorities.map((priority) => call(priority)))
    const early = started.filter(({ at }) => at < 500).map(({ name }) => name)
    t.same(early, resumed, `after ${throttled}`)
    t.ok(started.slice(early.length).every(({ at }) => at >= 690))
  }
})

t.test('only background calls have a patience', async (t) => {
  const pace = createPace({ perSecond: 0, patienceMs: 123 })
  const patience = (priority: CallPriority) => withPriority(priority, () => pace.patienceMs())
  t.same((['payer', 'notification', 'background', 'reconciler'] as const).map(patience), [0, 0, 123, 123])
  t.equal(pace.patienceMs(), 0, 'the default priority is payer')
  t.equal(await withPriority('background', () => sleep(5).then(() => pace.patienceMs())), 123)
})

t.test('a payer’s call loses the time it waited, a background call keeps all of its time', async (t) => {
  const pace = createPace({ perSecond: 1 })
  const leftAfter = (priority: CallPriority, ms: number) =>
    withTimeLimit(ms, () => withPriority(priority, () => pace.acquire().then(remainingMs)))
  t.ok((await leftAfter('payer', 3_000)) > 2_500)
  const startedAt = performance.now()
  const left = await leftAfter('payer', 3_000)
  const waitedMs = performance.now() - startedAt
  t.ok(Math.abs(3_000 - waitedMs - left) < waitedMs / 2, `${left} ms after ${waitedMs} ms`)
  const kept = await leftAfter('reconciler', 500)
  t.ok(kept > 250 && kept <= 500, `${kept} ms`)
})

t.test(
  'work from a queue does not wait for a pause of more than a second: its calls fail with the pause',
  async (t) => {
    const pace = createPace({ perSecond: 1 })
    const queued = { pausedMs: 0, wasThrottled: false }
    const inQueue = <Result>(work: () => Result) =>
      withTimeLimit(minuteMs, () => withPriority('reconciler', work, queued))
    withPriority('reconciler', () => pace.pause(500))
    t.equal(
      inQueue(() => pace.pausedMs()),
      0,
      'a short one',
    )
    await inQueue(() => pace.acquire())
    const waiting = inQueue(() => pace.acquire())
    const others = caller(pace).call('reconciler')
    inQueue(() => pace.pause(3_000))
    await t.rejects(waiting, { kind: 'unavailable', code: ownRateLimitCode })
    await t.rejects(
      inQueue(() => pace.acquire()),
      { code: ownRateLimitCode },
    )
    t.ok(queued.wasThrottled && queued.pausedMs > 1_000 && queued.pausedMs <= 3_000, `${queued.pausedMs} ms`)
    t.equal(
      withPriority('payer', () => pace.pausedMs()),
      0,
    )
    await others
  },
)
