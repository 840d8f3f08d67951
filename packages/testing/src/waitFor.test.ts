import t from 'tap'
import { waitFor } from './waitFor.ts'

t.test('gives what the condition gave, once it did', async (t) => {
  let looks = 0
  const found = await waitFor(
    async () => {
      looks += 1
      return looks === 3 && { rows: 0 }
    },
    { what: 'the third look' },
  )
  t.strictSame(found, { rows: 0 })
  t.equal(await waitFor(() => 0, { what: 'zero, which is something' }), 0)
})

t.test('names what it waited for in vain', async (t) => {
  await t.rejects(
    waitFor(() => undefined, { what: 'a webhook', timeoutMs: 30 }),
    { message: /30 ms .* a webhook/ },
  )
})

t.test('does not go on when the condition itself fails', async (t) => {
  await t.rejects(
    waitFor(
      () => {
        throw new Error('broken')
      },
      { what: 'nothing' },
    ),
    { message: 'broken' },
  )
})
