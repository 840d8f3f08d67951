// Work that is begun again: how often, and what is said of its failures.
import t from 'tap'
import { keepRunning } from './keepRunning.ts'

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
  await keepRunning(run, { signal, pauseMs: 1, onError: () => undefined })
  t.equal(runs(), 4)
})

t.test('a failure is told when it is another one than the last', async (t) => {
  const told: unknown[] = []
  const errors = ['away', 'away', 'away', 'no such table', 'away', 'the last one'].map((text) => new Error(text))
  const { run, signal } = failing(errors)
  await keepRunning(run, { signal, pauseMs: 1, onError: (error) => told.push(error) })
  t.same(told, [errors[0], errors[3], errors[4]], 'and the one during the stop is not')
})

t.test('a final failure is thrown, and nothing is begun again', async (t) => {
  const final = new RangeError('cannot be read')
  const { run, signal, runs } = failing([new Error('away'), final, undefined])
  const isFinal = (error: unknown) => error instanceof RangeError
  await t.rejects(keepRunning(run, { signal, pauseMs: 1, isFinal, onError: () => undefined }), final)
  t.equal(runs(), 2)
})

t.test('a pause ends with the stop', async (t) => {
  const stop = new AbortController()
  const begunAt = performance.now()
  await keepRunning(() => Promise.reject(new Error('away')), {
    signal: stop.signal,
    pauseMs: 20_000,
    onError: () => setImmediate(() => stop.abort()),
  })
  t.ok(performance.now() - begunAt < 10_000)
})

t.test('what goes on is told again after a minute, and what begins anew at once', async (t) => {
  let time = 0
  const told: number[] = []
  /** How long each run lasts before it fails. */
  const short = Array.from({ length: 8 }, () => 9_000)
  const left = [0, ...short, 10_000, 9_999, 0]
  const stop = new AbortController()
  const run = async () => {
    const lasted = left.shift()
    if (lasted === undefined) return stop.abort()
    time += lasted
    throw new Error('away')
  }
  await keepRunning(run, { signal: stop.signal, pauseMs: 0, onError: () => told.push(time), now: () => time })
  t.same(told, [0, 63_000, 82_000])
})
