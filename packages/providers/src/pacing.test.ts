import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createPace, delayAfter } from './pacing.ts'
import { ProviderError, type RateLimit } from './provider.ts'

const tooMany = (retryAfterMs: RateLimit['retryAfterMs'] = null) =>
  new ProviderError('unavailable', 'rate_limited', 'words', { rateLimit: { retryAfterMs } })

/** What a provider sees of calls, each of which fails with the next of the errors, if one is left. */
function provider(...errors: Error[]) {
  const begun: { readonly name: string; readonly at: number }[] = []
  let [underWay, most] = [0, 0]
  const call =
    (name: string, lastsMs = 0) =>
    async () => {
      begun.push({ name, at: performance.now() })
      most = Math.max(most, ++underWay)
      await sleep(lastsMs)
      underWay--
      const error = errors.shift()
      if (error) throw error
      return name
    }
  const gaps = () => begun.slice(1).map(({ at }, index) => at - (begun[index]?.at ?? 0))
  return { call, begun, gaps, names: () => begun.map(({ name }) => name), most: () => most }
}

const calls = (many: number) => Array.from({ length: many }, (_, index) => `call ${index}`)

t.test('begins no more calls a second than it may, in the order in which they came', async (t) => {
  const pace = createPace({ perSecond: 50, concurrency: 5 })
  const { call, gaps, names } = provider()
  const all = calls(20)
  t.same(await Promise.all(all.map((name) => pace(call(name)))), all)
  t.same(names(), all)
  const lastedMs = gaps().reduce((sum, gap) => sum + gap)
  t.ok(lastedMs >= 19 * 20 - 10 && Math.max(...gaps()) < 1_000, `a fiftieth of a second between any two: ${gaps()}`)
  t.equal(await pace(call('after a rest')), 'after a rest')
})

t.test('has no more calls under way than it may', async (t) => {
  const pace = createPace({ perSecond: 1_000, concurrency: 3 })
  const { call, most } = provider()
  await Promise.all(calls(12).map((name) => pace(call(name, 30))))
  t.equal(most(), 3)
})

t.test('a call that was turned away is made again later, and all others wait as long', async (t) => {
  const pace = createPace({ perSecond: 1_000, concurrency: 2, pausesMs: [80, 160] })
  const { call, gaps, names: begun } = provider(tooMany(), tooMany())
  const one = pace(call('one'))
  t.equal(await one, 'one')
  t.same(begun(), ['one', 'one', 'one'])
  const [first = 0, second = 0] = gaps()
  t.ok(first >= 80 && second >= 160, `pauses of ${gaps()}`)

  const busy = provider(tooMany())
  const answers = ['turned away', 'waits', 'waits too'].map((name) => pace(busy.call(name, 10)))
  t.same(await Promise.all(answers), ['turned away', 'waits', 'waits too'])
  // The second one was under way already.
  t.same(busy.names().slice(0, 2), ['turned away', 'waits'])
  t.ok(Number(busy.gaps()[1]) >= 70, `the rest came ${busy.gaps()[1]} ms later`)
})

t.test('a provider that says how long is left alone so long, within reason', async (t) => {
  const pace = createPace({ perSecond: 1_000, concurrency: 1, pausesMs: [10_000] })
  const { call, gaps } = provider(tooMany(100))
  await pace(call('one'))
  t.ok(Number(gaps()[0]) >= 100 && Number(gaps()[0]) < 5_000, `after ${gaps()}`)
  t.equal(delayAfter({ retryAfterMs: 86_400_000 }, 1), 30_000)
})

t.test('gives up a call that is turned away for ever', async (t) => {
  const pace = createPace({ perSecond: 1_000, concurrency: 1, pausesMs: [1, 2, 50] })
  const { call, gaps, names } = provider(tooMany(), tooMany(), tooMany(), tooMany())
  await t.rejects(pace(call('one')), { code: 'rate_limited' })
  t.equal(names().length, 4)
  t.equal(await pace(call('the next')), 'the next')
  t.ok(Number(gaps()[3]) >= 50, 'which waits as well')
})

t.test('a provider that turns everything away holds nobody longer than somebody waits', async (t) => {
  const pace = createPace({ perSecond: 1_000, concurrency: 4, pausesMs: [100, 100, 100], maxWaitMs: 300 })
  const all = calls(64)
  const { call, names: begun } = provider(...all.flatMap(() => [tooMany(), tooMany(), tooMany(), tooMany()]))
  const startedAt = performance.now()
  const ended = await Promise.allSettled(all.map((name) => pace(call(name))))
  const lastedMs = performance.now() - startedAt
  t.ok(
    ended.every((end) => end.status === 'rejected' && end.reason.code === 'rate_limited'),
    'also those that never had a turn',
  )
  t.ok(lastedMs < 2_000, `nor do those wait longer who come when the others give up: ${lastedMs} ms`)
  t.ok(begun().length < 16, `nor is it asked for each of them: ${begun().length} calls`)
})

t.test('every other failure is whose call it was', async (t) => {
  const pace = createPace({ perSecond: 1_000, concurrency: 1 })
  const down = new ProviderError('unavailable', 'econnrefused', 'words')
  const { call, names: begun } = provider(down, new TypeError('a mistake of ours'))
  await t.rejects(pace(call('down')), down)
  await t.rejects(pace(call('broken')), TypeError)
  t.equal(await pace(call('fine')), 'fine')
  t.same(begun(), ['down', 'broken', 'fine'])
})
