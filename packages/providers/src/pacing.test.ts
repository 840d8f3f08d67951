import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { type CallPriority, createPace, ownRateLimitCode, type Pace, withPriority } from './pacing.ts'

const aMinute = 60_000

/** Starts calls, and notes which started and when. */
function caller(pace: Pace) {
  const started: { readonly name: string; readonly at: number }[] = []
  const begin = performance.now()
  const call = async (urgency: CallPriority, name: string = urgency, ms = aMinute) => {
    await withPriority(urgency, () => pace.acquire(ms))
    started.push({ name, at: performance.now() - begin })
  }
  const calls = (urgency: CallPriority, many: number) => Promise.all(Array.from({ length: many }, () => call(urgency)))
  return { started, call, calls, names: () => started.map(({ name }) => name) }
}

/** The most calls that started within any second. */
function mostPerSecond(started: readonly { readonly at: number }[]): number {
  const within = ({ at: first }: { readonly at: number }) =>
    started.filter(({ at }) => at >= first && at < first + 990).length
  return Math.max(...started.map(within))
}

t.test('at most so many calls start within a second, and the first of them at once', async (t) => {
  const { started, calls } = caller(createPace({ perSecond: 10 }))
  await calls('payer', 25)
  t.ok(Number(started[9]?.at) < 500, `the tenth after ${started[9]?.at} ms`)
  t.ok(Number(started[24]?.at) >= 2_000 && Number(started[24]?.at) < 5_000, `the last after ${started[24]?.at} ms`)
  t.ok(mostPerSecond(started) <= 10, `${mostPerSecond(started)} within a second`)
})

t.test("calls of others start behind payers' calls, in the order of their urgency [10.2-pacing]", async (t) => {
  const { call, calls, names } = caller(createPace({ perSecond: 2 }))
  await calls('payer', 2)
  const order = ['reconciler', 'background', 'notification', 'payer', 'payer'] as const
  await Promise.all(order.map((urgency) => call(urgency)))
  t.same(names().slice(2), ['payer', 'payer', 'notification', 'background', 'reconciler'])
})

t.test("calls of others are spread over a second and leave turns, so that a payer's call starts at once", async (t) => {
  for (const [urgency, most] of [
    ['reconciler', 6],
    ['background', 10],
    ['notification', 10],
  ] as const) {
    const { started, call, calls } = caller(createPace({ perSecond: 10 }))
    const others = calls(urgency, 12)
    await sleep(300)
    const askedAt = performance.now()
    await call('payer')
    t.ok(performance.now() - askedAt < 250, urgency)
    await others
    const theirs = started.filter(({ name }) => name === urgency)
    t.ok(mostPerSecond(theirs) <= most, `${mostPerSecond(theirs)} of ${urgency} within a second`)
    t.ok(
      theirs.slice(1).every(({ at }, index) => at - Number(theirs[index]?.at) >= 80),
      'none at the same time',
    )
  }
})

t.test('without a limit every call starts at once', async (t) => {
  const { started, calls } = caller(createPace({ perSecond: 0 }))
  await Promise.all([calls('payer', 500), calls('reconciler', 500)])
  t.equal(started.length, 1_000)
  t.ok(Number(started.at(-1)?.at) < 1_000)
})

t.test('a call without a turn in its time is unavailable, and leaves its place to others', async (t) => {
  const pace = createPace({ perSecond: 1, patienceMs: 50 })
  const { call, calls, names } = caller(pace)
  await calls('payer', 1)
  const late = { kind: 'unavailable', code: ownRateLimitCode, rateLimit: { retryAfterMs: null } }
  await t.rejects(call('reconciler', 'late'), late)
  const next = call('payer', 'next')
  const before = performance.now()
  await t.rejects(call('payer', 'behind', 1_000), late, 'the queue is longer than its time')
  t.ok(performance.now() - before < 400, 'which is known at once')
  await next
  t.same(names(), ['payer', 'next'])
})

t.test('a throttled call pauses calls of its urgency and those behind it, never payers', async (t) => {
  const urgencies = ['payer', 'notification', 'background', 'reconciler'] as const
  for (const [throttled, resumed] of [
    ['payer', ['payer']],
    ['background', ['payer', 'notification']],
    ['reconciler', ['payer', 'notification', 'background']],
  ] as const) {
    const pace = createPace({ perSecond: 100 })
    const { started, call } = caller(pace)
    withPriority(throttled, () => pace.pause(700))
    await Promise.all(urgencies.map((urgency) => call(urgency)))
    const early = started.filter(({ at }) => at < 500).map(({ name }) => name)
    t.same(early, resumed, `after ${throttled}`)
    t.ok(started.slice(early.length).every(({ at }) => at >= 690))
  }
})

t.test('calls that nobody waits for have patience, and the others have not', async (t) => {
  const pace = createPace({ perSecond: 0, patienceMs: 123 })
  const patience = (urgency: CallPriority) => withPriority(urgency, () => pace.patienceMs())
  t.same((['payer', 'notification', 'background', 'reconciler'] as const).map(patience), [0, 0, 123, 123])
  t.equal(pace.patienceMs(), 0, 'a call whose urgency nobody names is a payer’s')
  t.equal(await withPriority('background', () => sleep(5).then(() => pace.patienceMs())), 123)
})

t.test('a call has the time that is left after its turn, or all of it when nobody waits', async (t) => {
  const pace = createPace({ perSecond: 1 })
  const turn = (urgency: CallPriority, ms: number) => withPriority(urgency, () => pace.acquire(ms))
  t.ok((await turn('payer', 3_000)) > 2_500)
  const left = await turn('payer', 3_000)
  t.ok(left > 1_400 && left < 2_000, `${left} ms after a second`)
  t.equal(await turn('reconciler', 100), 100)
})
