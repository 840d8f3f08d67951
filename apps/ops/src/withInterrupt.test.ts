import t from 'tap'
import { withInterrupt } from './withInterrupt.ts'

t.test('withInterrupt removes its signal handlers when the work ends', async (t) => {
  const listening = () => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM')
  const before = listening()
  const result = await withInterrupt(process.stderr, async (signal) => {
    t.equal(signal.aborted, false)
    return listening() - before
  })
  t.equal(result, 2)
  t.equal(listening(), before)
  await t.rejects(
    withInterrupt(process.stderr, async () => {
      throw new Error('on purpose')
    }),
    { message: 'on purpose' },
  )
  t.equal(listening(), before)
})
