import t from 'tap'
import { createConcurrencyLimit } from './workers.ts'

t.test('a concurrency limit of two runs two calls at a time, in call order, also after a failure', async (t) => {
  const limited = createConcurrencyLimit(2)
  const started: number[] = []
  const ends: PromiseWithResolvers<void>[] = []
  const all = [0, 1, 2, 3].map((number) => {
    const end = Promise.withResolvers<void>()
    ends.push(end)
    return limited(async () => {
      started.push(number)
      await end.promise
      return number
    })
  })
  const settled = Promise.allSettled(all)
  t.strictSame(started, [0, 1])
  ends[1]?.reject(new Error('failed'))
  await t.rejects(Promise.resolve(all[1]), /failed/)
  t.strictSame(started, [0, 1, 2], 'a failure frees its slot')
  for (const end of ends) end.resolve()
  await settled
  t.strictSame(started, [0, 1, 2, 3])
  t.equal(await limited(async () => 4), 4, 'all slots are free again')
})
