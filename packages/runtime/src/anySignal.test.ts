// Signals whose sources nobody else keeps.
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { anySignal } from './anySignal.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
const closing = new AbortController()

/** @returns a signal of which one source has aborted and is gone, as after a restart of what it stopped */
async function stopped(of: (source: AbortSignal) => AbortSignal): Promise<AbortSignal> {
  let stopping: AbortController | undefined = new AbortController()
  const signal = of(stopping.signal)
  stopping.abort(new Error('stopped'))
  stopping = undefined
  await sleep(20)
  collectGarbage()
  await sleep(20)
  return signal
}

t.test('a signal to which nobody listens remembers the abort of a source that is gone', async (t) => {
  for (const signal of [
    await stopped((source) => anySignal(source, closing.signal)),
    await stopped((source) => anySignal(anySignal(closing.signal, source), new AbortController().signal)),
  ]) {
    t.ok(signal.aborted)
    t.throws(() => signal.throwIfAborted(), { message: 'stopped' })
  }
})

t.test('a signal aborts its listeners, and not without a reason', async (t) => {
  const stopping = new AbortController()
  const signal = anySignal(stopping.signal, closing.signal)
  t.notOk(signal.aborted)
  const reasons: unknown[] = []
  signal.addEventListener('abort', () => reasons.push(signal.reason))
  stopping.abort('now')
  t.same(reasons, ['now'])
})
