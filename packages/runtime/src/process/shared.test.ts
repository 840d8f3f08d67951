import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { reused } from './shared.ts'

t.test('a result is used again until it is too old, and a failure by those only who waited for it', async (t) => {
  let reads = 0
  const read = reused(200, async () => {
    reads += 1
    await pause(10)
    if (reads === 1) throw new Error('not yet')
    return reads
  })
  const failed = await Promise.allSettled([read(), read()])
  t.same(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  t.same(await Promise.all([read(), read()]), [2, 2])
  t.equal(await read(), 2)
  await pause(250)
  t.equal(await read(), 3)
})
