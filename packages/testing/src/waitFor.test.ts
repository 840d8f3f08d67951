import t from 'tap'
import { waitFor } from './waitFor.ts'

t.test('waitFor returns the first result of the condition other than undefined and false', async (t) => {
  let attempts = 0
  const found = await waitFor(
    async () => {
      attempts += 1
      return attempts === 3 && { rows: 0 }
    },
    { what: 'the third attempt' },
  )
  t.strictSame(found, { rows: 0 })
  t.equal(await waitFor(() => 0, { what: 'zero, which is a result' }), 0)
})

t.test('waitFor names the awaited condition in its timeout error', async (t) => {
  await t.rejects(
    waitFor(() => undefined, { what: 'a webhook', timeoutMs: 30 }),
    { message: /30 ms .* a webhook/ },
  )
})

t.test('waitFor rethrows an error of the condition', async (t) => {
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
