import t from 'tap'
import { ownRateLimitCode } from './pacing.ts'
import { ProviderError, type ProviderErrorKind } from './provider.ts'
import { withRetries } from './retries.ts'
import { remainingMs, withTimeLimit } from './timeLimit.ts'

/** A pace that records its pauses. */
function paceOf(patienceMs = 0) {
  const pauses: number[] = []
  return { pauses, pause: (ms: number) => void pauses.push(ms), patienceMs: () => patienceMs }
}

const repeated = <Result>(
  timeoutMs: number,
  attempt: () => Promise<Result>,
  { pace = paceOf(), isRepeatable = true } = {},
) => withTimeLimit(timeoutMs, () => withRetries({ pace, isRepeatable }, attempt))

const throttled = (retryAfterMs: number | null = null, code = 'rate_limited') =>
  new ProviderError('unavailable', code, 'message', { rateLimit: { retryAfterMs } })

/** Attempts with the given outcomes, which record their remaining time. A kind or an error is thrown. */
function attempts(...outcomes: readonly (ProviderErrorKind | Error | { readonly value: string })[]) {
  const remaining: number[] = []
  const attempt = async () => {
    const outcome = outcomes[remaining.length]
    remaining.push(remainingMs())
    if (outcome === undefined) throw new Error('more attempts than expected')
    if (typeof outcome === 'string') throw new ProviderError(outcome, `${outcome}_${remaining.length}`, 'message')
    if (outcome instanceof Error) throw outcome
    return outcome.value
  }
  return { attempt, remaining }
}

const failure = (kind: ProviderErrorKind) => ({ name: 'ProviderError', kind })

t.test('a request whose response was lost is repeated at most twice, after longer pauses [10.2-repeat]', async (t) => {
  const recovered = attempts('unknown', 'unknown', { value: 'yes' })
  t.equal(await repeated(3_000, recovered.attempt), 'yes')
  const [first = 0, second = 0, third = 0] = recovered.remaining
  t.ok(first > 2_900 && second <= first - 190 && third <= second - 390, `pauses between ${recovered.remaining}`)
  const lost = attempts('unknown', 'unknown', 'unknown', { value: 'too late' })
  await t.rejects(repeated(3_000, lost.attempt), { kind: 'unknown', code: 'unknown_3' })
})

t.test('an unknown outcome stays unknown when no other attempt arrives, and gives way to a definite one', async (t) => {
  const unsent = attempts('unknown', 'unavailable')
  await t.rejects(repeated(3_000, unsent.attempt), { kind: 'unknown', code: 'unknown_1' })
  const limited = attempts('unknown', ...Array.from({ length: 20 }, () => throttled()))
  await t.rejects(repeated(1_000, limited.attempt), { kind: 'unknown', code: 'unknown_1' })
  const recovered = attempts('unknown', throttled(), 'unknown', { value: 'yes' })
  t.equal(await repeated(5_000, recovered.attempt), 'yes')
  for (const kind of ['declined', 'rejected', 'currency'] as const)
    await t.rejects(repeated(3_000, attempts('unknown', kind).attempt), failure(kind))
})

t.test('definite and unexpected errors are final', async (t) => {
  for (const kind of ['declined', 'rejected', 'currency', 'unavailable'] as const)
    await t.rejects(repeated(3_000, attempts(kind).attempt), failure(kind))
  await t.rejects(repeated(3_000, attempts(new TypeError('a bug')).attempt), TypeError)
  await t.rejects(repeated(3_000, attempts('unknown', new TypeError('a bug')).attempt), TypeError)
})

t.test('a lost request is given up at once when there is no time for another attempt', async (t) => {
  const started = performance.now()
  // Many times, so that even short pauses would add up.
  for (let times = 0; times < 10; times++) {
    const { attempt } = attempts('unknown', { value: 'too late' })
    await t.rejects(repeated(400, attempt), { kind: 'unknown', code: 'unknown_1' })
  }
  t.ok(performance.now() - started < 1_500, 'given up before the time is over')
})

t.test('a throttled request is repeated until it succeeds, also one that is not repeatable', async (t) => {
  const { attempt, remaining } = attempts(throttled(), throttled(), throttled(600), { value: 'yes' })
  const pace = paceOf()
  t.equal(await repeated(5_000, attempt, { pace, isRepeatable: false }), 'yes')
  const [first = 0, second = 0, third = 0, fourth = 0] = remaining
  t.ok(first - second >= 200 && second - third >= 400 && third - fourth >= 600, `longer pauses between ${remaining}`)
  t.equal(pace.pauses.length, 3, 'each pauses the pace')
})

t.test('a throttled request is repeated once at the end when retry-after exceeds the time limit', async (t) => {
  const recovered = attempts(throttled(60_000), { value: 'yes' })
  t.equal(await repeated(1_000, recovered.attempt), 'yes')
  const [, last = 0] = recovered.remaining
  t.ok(last > 100 && last <= 260, `with ${last} ms`)
  const { attempt, remaining } = attempts(...Array.from({ length: 20 }, () => throttled()))
  await t.rejects(repeated(1_000, attempt), { kind: 'unavailable', code: 'rate_limited' })
  t.ok(remaining.length >= 3 && remaining.length <= 6, `${remaining.length} attempts`)
})

t.test('the pauses of a throttled background call do not count as its time', async (t) => {
  const { attempt, remaining } = attempts(throttled(700), throttled(700), { value: 'yes' })
  t.equal(await repeated(500, attempt, { pace: paceOf(10_000) }), 'yes')
  t.ok(
    remaining.every((ms) => ms > 300 && ms < 510),
    `${remaining}`,
  )
})

t.test('a request that our own rate limit stops is not repeated and fails with the previous error', async (t) => {
  const own = throttled(null, ownRateLimitCode)
  const pace = paceOf()
  await t.rejects(repeated(5_000, attempts(own).attempt, { pace }), { code: ownRateLimitCode })
  t.same(pace.pauses, [])
  await t.rejects(repeated(2_000, attempts(throttled(), own).attempt), { code: 'rate_limited' })
  await t.rejects(repeated(2_000, attempts('unknown', own).attempt), { code: 'unknown_1' })
})
