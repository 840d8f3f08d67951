// Work that is begun again: how often, and what is said of its failures.
import t from 'tap'
import { createNews, keepRunning } from './keepRunning.ts'

/** Fails as told, one run after the other, and stops when nothing is left. */
function failing(errors: readonly (Error | undefined)[]) {
  const stop = new AbortController()
  const left = [...errors]
  let runs = 0
  const run = async () => {
    runs += 1
    const error = left.shift()
    if (left.length === 0) stop.abort()
    if (error) throw error
  }
  return { run, signal: stop.signal, runs: () => runs }
}

t.test('work that fails or ends is begun again until it is stopped', async (t) => {
  const { run, signal, runs } = failing([new Error('away'), undefined, new Error('away'), undefined])
  await keepRunning(run, { signal, pauseMs: 1, complain: () => undefined })
  t.equal(runs(), 4)
})

t.test('a failure is told when it is another one than the last', async (t) => {
  const told: unknown[] = []
  const errors = ['away', 'away', 'away', 'no such table', 'away', 'the last one'].map((text) => new Error(text))
  const { run, signal } = failing(errors)
  await keepRunning(run, { signal, pauseMs: 1, complain: (error) => told.push(error) })
  t.same(told, [errors[0], errors[3], errors[4]], 'and the one during the stop is not')
})

t.test('a final failure is thrown, and nothing is begun again', async (t) => {
  const final = new RangeError('cannot be read')
  const { run, signal, runs } = failing([new Error('away'), final, undefined])
  const isFinal = (error: unknown) => error instanceof RangeError
  await t.rejects(keepRunning(run, { signal, pauseMs: 1, isFinal, complain: () => undefined }), final)
  t.equal(runs(), 2)
})

t.test('a pause ends with the stop', async (t) => {
  const stop = new AbortController()
  const running = keepRunning(() => Promise.reject(new Error('away')), {
    signal: stop.signal,
    pauseMs: 60_000,
    complain: () => setImmediate(() => stop.abort()),
  })
  await running
  t.pass('it did not last a minute')
})

t.test('what goes on is told again when it was told long enough ago', (t) => {
  let time = 0
  const isNews = createNews(60_000, () => time)
  const at = (ms: number, text: string) => {
    time = ms
    return isNews(text)
  }
  t.equal(at(0, 'away'), true)
  t.equal(at(59_999, 'away'), false)
  t.equal(at(60_000, 'away'), true)
  t.equal(at(60_001, 'no such table'), true)
  t.end()
})
