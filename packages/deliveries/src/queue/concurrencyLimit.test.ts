import t from 'tap'
import { createConcurrencyLimit } from './workers.ts'

t.test('so many at a time, in the order in which they asked, whatever becomes of them', async (t) => {
  const inTurn = createConcurrencyLimit(2)
  const begun: number[] = []
  const ends: PromiseWithResolvers<void>[] = []
  const all = [0, 1, 2, 3].map((number) => {
    const end = Promise.withResolvers<void>()
    ends.push(end)
    return inTurn(async () => {
      begun.push(number)
      await end.promise
      return number
    })
  })
  const settled = Promise.allSettled(all)
  t.strictSame(begun, [0, 1])
  ends[1]?.reject(new Error('failed'))
  await t.rejects(Promise.resolve(all[1]), /failed/)
  t.strictSame(begun, [0, 1, 2], 'a failure gives its turn to the next one')
  for (const end of ends) end.resolve()
  await settled
  t.strictSame(begun, [0, 1, 2, 3])
  t.equal(await inTurn(async () => 4), 4, 'and the turns are there again')
})
