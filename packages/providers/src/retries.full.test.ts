import t from 'tap'
import { ownRateLimitCode } from './pacing.ts'
import { ProviderError, type ProviderErrorKind } from './provider.ts'
import { withRetries } from './retries.ts'

/** A pace that records its pauses. */
function paceOf(patienceMs = 0) {
  const pauses: number[] = []
  return { pauses, pause: (ms: number) => void pauses.push(ms), patienceMs: () => patienceMs }
}

const repeated = <Result>(timeoutMs: number, call: (remainingMs: number) => Promise<Result>) =>
  withRetries({ timeoutMs, pace: paceOf() }, call)

const throttled = (retryAfterMs: number | null = null, code = 'rate_limited') =>
  new ProviderError('unavailable', code, 'message', { rateLimit: { retryAfterMs } })

/** Calls with the given outcomes, which record their remaining time. A kind or an error is thrown. */
function calls(...outcomes: readonly (ProviderErrorKind | Error | { readonly value: string })[]) {
  const remaining: number[] = []
  const call = async (remainingMs: number) => {
    const outcome = outcomes[remaining.length]
    remaining.push(remainingMs)
    if (outcome === undefined) throw new Error('more calls than expected')
    if (typeof outcome === 'string') throw new ProviderError(outcome, `${outcome}_${remaining.length}`, 'message')
    if (outcome instanceof Error) throw outcome
    return outcome.value
  }
  return { call, remaining }
}

t.test('withRetries returns the first response, and the call gets the whole time', async (t) => {
  const { call, remaining } = calls({ value: 'yes' })
  t.equal(await repeated(3_000, call), 'yes')
  t.equal(remaining.length, 1)
  t.ok(Number(remaining[0]) > 2_900 && Number(remaining[0]) <= 3_000)
})

t.test('a call whose response was lost is retried at most twice, each time with less time [10.2-repeat]', async (t) => {
  const recovered = calls('unknown', 'unknown', { value: 'yes' })
  t.equal(await repeated(3_000, recovered.call), 'yes')
  const [first = 0, second = 0, third = 0] = recovered.remaining
  t.ok(second <= first - 190 && third <= second - 390, `pauses between ${recovered.remaining}`)
  const lost = calls('unknown', 'unknown', 'unknown', { value: 'too late' })
  await t.rejects(repeated(3_000, lost.call), { kind: 'unknown', code: 'unknown_3' })
  t.equal(lost.remaining.length, 3)
})

t.test('a lost call stays unknown when its retry cannot be sent', async (t) => {
  const { call, remaining } = calls('unknown', 'unavailable')
  await t.rejects(repeated(3_000, call), { kind: 'unknown', code: 'unknown_1' })
  t.equal(remaining.length, 2)
})

t.test('a retry’s definite error replaces the unknown outcome', async (t) => {
  for (const kind of ['declined', 'rejected', 'currency'] as const) {
    const { call, remaining } = calls('unknown', kind)
    t.match(await repeated(3_000, call).catch((error) => error), { kind })
    t.equal(remaining.length, 2, kind)
  }
})

t.test('withRetries does not retry definite and unexpected errors', async (t) => {
  for (const kind of ['declined', 'rejected', 'currency', 'unavailable'] as const) {
    const { call, remaining } = calls(kind)
    t.match(await repeated(3_000, call).catch((error) => error), { kind })
    t.equal(remaining.length, 1, kind)
  }
  const broken = calls(new TypeError('a bug'))
  await t.rejects(repeated(3_000, broken.call), TypeError)
  const later = calls('unknown', new TypeError('a bug'))
  await t.rejects(repeated(3_000, later.call), TypeError)
})

t.test('withRetries gives up at once when there is no time for another attempt', async (t) => {
  const started = performance.now()
  // Many times, so that even short pauses would add up.
  for (let times = 0; times < 10; times++) {
    const { call, remaining } = calls('unknown', { value: 'too late' })
    await t.rejects(repeated(400, call), { kind: 'unknown', code: 'unknown_1' })
    t.equal(remaining.length, 1)
  }
  t.ok(performance.now() - started < 1_500, 'given up before the time is over')
  const second = calls('unknown', 'unknown', { value: 'too late' })
  await t.rejects(repeated(800, second.call), { kind: 'unknown', code: 'unknown_2' })
  t.equal(second.remaining.length, 2)
})

t.test('a throttled call is retried until it succeeds', async (t) => {
  const { call, remaining } = calls(throttled(), throttled(), throttled(), { value: 'yes' })
  const pace = paceOf()
  t.equal(await withRetries({ timeoutMs: 5_000, pace }, call), 'yes')
  const [first = 0, second = 0, third = 0, fourth = 0] = remaining
  t.ok(first - second >= 200 && second - third >= 400 && third - fourth >= 800, `longer pauses between ${remaining}`)
  t.equal(pace.pauses.length, 3, 'each pauses the pace')
})

t.test(
  'a throttled call is retried after the provider’s retry-after, even without retries of lost responses',
  async (t) => {
    const { call, remaining } = calls(throttled(600), { value: 'yes' })
    t.equal(await withRetries({ timeoutMs: 5_000, pace: paceOf(), maxRetries: 0 }, call), 'yes')
    const [first = 0, second = 0] = remaining
    t.ok(first - second >= 600 && first - second < 2_000, `a pause between ${remaining}`)
  },
)

t.test('a throttled call is retried once at the end when retry-after exceeds the time limit', async (t) => {
  const recovered = calls(throttled(60_000), { value: 'yes' })
  t.equal(await repeated(1_000, recovered.call), 'yes')
  t.ok(
    Number(recovered.remaining[1]) > 100 && Number(recovered.remaining[1]) <= 260,
    `with ${recovered.remaining[1]} ms`,
  )
  const { call, remaining } = calls(...Array.from({ length: 20 }, () => throttled()))
  const startedAt = performance.now()
  await t.rejects(repeated(1_000, call), { kind: 'unavailable', code: 'rate_limited' })
  t.ok(performance.now() - startedAt >= 600 && performance.now() - startedAt < 3_000, 'not before the time is over')
  t.ok(remaining.length >= 3 && remaining.length <= 6, `${remaining.length} calls`)
})

t.test('a lost call stays unknown when its retries are throttled', async (t) => {
  const { call } = calls('unknown', ...Array.from({ length: 20 }, () => throttled()))
  await t.rejects(repeated(1_000, call), { kind: 'unknown', code: 'unknown_1' })
  const recovered = calls('unknown', throttled(), 'unknown', { value: 'yes' })
  t.equal(await repeated(5_000, recovered.call), 'yes')
})

t.test('a throttled background call is retried beyond its time limit, each attempt with the whole time', async (t) => {
  const { call, remaining } = calls(throttled(700), throttled(700), { value: 'yes' })
  const pace = paceOf(10_000)
  t.equal(await withRetries({ timeoutMs: 500, pace }, call), 'yes')
  t.ok(
    remaining.every((ms) => ms > 400 && ms <= 500),
    `${remaining}`,
  )
})

t.test('a call that our own rate limit stops is not retried and fails with the previous error', async (t) => {
  const { call, remaining } = calls(throttled(null, ownRateLimitCode))
  const pace = paceOf()
  await t.rejects(withRetries({ timeoutMs: 5_000, pace }, call), { code: ownRateLimitCode })
  t.same([remaining.length, pace.pauses], [1, []])
  await t.rejects(repeated(2_000, calls(throttled(), throttled(null, ownRateLimitCode)).call), { code: 'rate_limited' })
  await t.rejects(repeated(2_000, calls('unknown', throttled(null, ownRateLimitCode)).call), { code: 'unknown_1' })
})
