import t from 'tap'
import { keepRunning } from './keepRunning.ts'

/** Each run fails with the next error, or ends for undefined; the last one aborts the signal. */
function failing(errors: readonly (Error | undefined)[]) {
  const stop = new AbortController()
  const remaining = [...errors]
  let runs = 0
  const run = async () => {
    runs += 1
    const error = remaining.shift()
    if (remaining.length === 0) stop.abort()
    if (error) throw error
  }
  return { run, signal: stop.signal, runs: () => runs }
}

t.test('keepRunning restarts work that fails or ends, until its signal aborts', async (t) => {
  const { run, signal, runs } = failing([new Error('unavailable'), undefined, new Error('unavailable'), undefined])
  await keepRunning(run, { signal, pauseMs: 1, onError: () => undefined })
  t.equal(runs(), 4)
})

t.test('keepRunning reports a failure that differs from the last one', async (t) => {
  const reported: unknown[] = []
  const errors = ['unavailable', 'unavailable', 'unavailable', 'no such table', 'unavailable', 'the last one'].map(
    (text) => new Error(text),
  )
  const { run, signal } = failing(errors)
  await keepRunning(run, { signal, pauseMs: 1, onError: (error) => reported.push(error) })
  t.same(reported, [errors[0], errors[3], errors[4]], 'not the one during the stop')
})

t.test('keepRunning throws a final failure and does not restart', async (t) => {
  const final = new RangeError('cannot be read')
  const { run, signal, runs } = failing([new Error('unavailable'), final, undefined])
  const isFinal = (error: unknown) => error instanceof RangeError
  await t.rejects(keepRunning(run, { signal, pauseMs: 1, isFinal, onError: () => undefined }), final)
  t.equal(runs(), 2)
})

t.test('an abort ends the pause of keepRunning', async (t) => {
  const stop = new AbortController()
  const startedAt = performance.now()
  await keepRunning(() => Promise.reject(new Error('unavailable')), {
    signal: stop.signal,
    pauseMs: 20_000,
    onError: () => setImmediate(() => stop.abort()),
  })
  t.ok(performance.now() - startedAt < 10_000)
})

t.test('keepRunning reports a repeated failure once a minute, and at once after a healthy run', async (t) => {
  let time = 0
  const reported: number[] = []
  /** The duration of each run in ms. */
  const short = Array.from({ length: 8 }, () => 9_000)
  const remaining = [0, ...short, 10_000, 9_999, 0]
  const stop = new AbortController()
  const run = async () => {
    const lasted = remaining.shift()
    if (lasted === undefined) return stop.abort()
    time += lasted
    throw new Error('unavailable')
  }
  await keepRunning(run, { signal: stop.signal, pauseMs: 0, onError: () => reported.push(time), now: () => time })
  t.same(reported, [0, 63_000, 82_000])
})
