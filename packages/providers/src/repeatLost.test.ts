import t from 'tap'
import { ProviderError, type ProviderErrorKind } from './provider.ts'
import { repeatLost } from './repeatLost.ts'

/** Calls in turn; every call is told the time it has. Errors are thrown by their kind, everything else is an answer. */
function calls(...outcomes: readonly (ProviderErrorKind | Error | { readonly answer: string })[]) {
  const remaining: number[] = []
  const call = async (remainingMs: number) => {
    const outcome = outcomes[remaining.length]
    remaining.push(remainingMs)
    if (outcome === undefined) throw new Error('more calls than expected')
    if (typeof outcome === 'string') throw new ProviderError(outcome, `${outcome}_${remaining.length}`, 'words')
    if (outcome instanceof Error) throw outcome
    return outcome.answer
  }
  return { call, remaining }
}

t.test('an answer is an answer, and the call had all the time', async (t) => {
  const { call, remaining } = calls({ answer: 'yes' })
  t.equal(await repeatLost(3_000, call), 'yes')
  t.equal(remaining.length, 1)
  t.ok(Number(remaining[0]) > 2_900 && Number(remaining[0]) <= 3_000)
})

t.test('a call whose answer was lost is made twice more at most, each with less time', async (t) => {
  const recovered = calls('unknown', 'unknown', { answer: 'yes' })
  t.equal(await repeatLost(3_000, recovered.call), 'yes')
  const [first = 0, second = 0, third = 0] = recovered.remaining
  t.ok(second <= first - 190 && third <= second - 390, `pauses between ${recovered.remaining}`)
  const lost = calls('unknown', 'unknown', 'unknown', { answer: 'too late' })
  await t.rejects(repeatLost(3_000, lost.call), { kind: 'unknown', code: 'unknown_3' })
  t.equal(lost.remaining.length, 3)
})

t.test('what was lost stays unknown when a later call does not get through', async (t) => {
  const { call, remaining } = calls('unknown', 'unavailable')
  await t.rejects(repeatLost(3_000, call), { kind: 'unknown', code: 'unknown_1' })
  t.equal(remaining.length, 2)
})

t.test('what the provider says of a repeated call holds', async (t) => {
  for (const kind of ['declined', 'rejected', 'currency'] as const) {
    const { call, remaining } = calls('unknown', kind)
    t.match(await repeatLost(3_000, call).catch((error) => error), { kind })
    t.equal(remaining.length, 2, kind)
  }
})

t.test('nothing else is repeated', async (t) => {
  for (const kind of ['declined', 'rejected', 'currency', 'unavailable'] as const) {
    const { call, remaining } = calls(kind)
    t.match(await repeatLost(3_000, call).catch((error) => error), { kind })
    t.equal(remaining.length, 1, kind)
  }
  const broken = calls(new TypeError('a mistake of ours'))
  await t.rejects(repeatLost(3_000, broken.call), TypeError)
  const later = calls('unknown', new TypeError('a mistake of ours'))
  await t.rejects(repeatLost(3_000, later.call), TypeError)
})

t.test('there is no further call without time for it, and no waiting either', async (t) => {
  const started = performance.now()
  // So often that even the shortest pause would add up.
  for (let times = 0; times < 10; times++) {
    const { call, remaining } = calls('unknown', { answer: 'too late' })
    await t.rejects(repeatLost(400, call), { kind: 'unknown', code: 'unknown_1' })
    t.equal(remaining.length, 1)
  }
  t.ok(performance.now() - started < 1_500, 'given up before the time is over')
  const second = calls('unknown', 'unknown', { answer: 'too late' })
  await t.rejects(repeatLost(800, second.call), { kind: 'unknown', code: 'unknown_2' })
  t.equal(second.remaining.length, 2)
})
